"""Files written whole or not at all."""

import os
import stat

import pytest

from ctxbudget.errors import OutputExists, UsageError
from ctxbudget.output import open_output


def write(path, data=b"new", **options):
    with open_output(str(path), **options).writing() as stream:
        stream.write(data)


def test_a_new_file(tmp_path):
    write(tmp_path / "x.json")
    assert (tmp_path / "x.json").read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]


def test_its_rights_are_those_of_any_new_file(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    write(tmp_path / "x.json")
    assert stat.S_IMODE((tmp_path / "x.json").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def test_it_is_there_only_when_it_is_whole(tmp_path):
    with open_output(str(tmp_path / "x.json")).writing() as stream:
        stream.write(b"half")
        stream.flush()
        assert not (tmp_path / "x.json").exists()
    assert (tmp_path / "x.json").exists()


def test_what_is_there_stays_unless_forced_and_if_it_fails(tmp_path):
    file = tmp_path / "x.json"
    file.write_bytes(b"old")
    with pytest.raises(OutputExists):
        open_output(str(file))
    with pytest.raises(ZeroDivisionError):
        _fail(file)
    assert file.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["x.json"]
    write(file, force=True)
    assert file.read_bytes() == b"new"


def _fail(file):
    with open_output(str(file), force=True).writing() as stream:
        stream.write(b"half")
        raise ZeroDivisionError


def test_a_link_stays_a_link(tmp_path):
    file = tmp_path / "x.json"
    file.write_bytes(b"old")
    (tmp_path / "link.json").symlink_to(file)
    write(tmp_path / "link.json", force=True)
    assert (tmp_path / "link.json").is_symlink()
    assert file.read_bytes() == b"new"


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs a device")  # noqa: PTH110
def test_a_device_is_written_and_not_replaced():
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116


def test_an_input_is_never_an_output(tmp_path):
    file = tmp_path / "session.jsonl"
    file.write_bytes(b"{}")
    with pytest.raises(UsageError, match="it is the trace itself"):
        open_output(str(file), force=True, inputs=[str(file)])
    open_output(str(tmp_path / "x"), inputs=[str(file), "-", "nothing"])


@pytest.mark.parametrize("path", ["no\0where", "x" * 5000])
def test_an_impossible_name_is_a_clean_error(path):
    with pytest.raises(UsageError, match="cannot write"):
        write(path)


def test_standard_output(capfdbinary):
    for path in (None, "-"):
        assert open_output(path).is_stdout
    with open_output(None).writing() as stream:
        stream.write(b"\xff\x00")
    assert capfdbinary.readouterr().out == b"\xff\x00"
