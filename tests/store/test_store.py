"""The content-addressed store: what it keeps, how it is written, what it says of what is wrong."""

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.store import SHOWN, Store, StoreError, key_of

TEXTS = ["", "id,day\n1,2\n", "../../etc/passwd", "lone \ud800 surrogate", "ünï€ode 🎭", "a\r\nb\x00c"]


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return Store(tmp_path / "kept") if request.param == "folder" else Store()


@pytest.mark.parametrize("text", TEXTS)
def test_what_was_put_comes_back_by_its_key_and_by_its_beginning(store, text):
    key = store.put(text)
    assert key == key_of(text)
    assert store.get(key) == store.get(key[:SHOWN]) == text
    assert key in store
    assert len(store) == 1


@given(st.lists(st.text(), max_size=6))
@settings(max_examples=50, deadline=None)
def test_any_texts(texts):
    store = Store()
    keys = [store.put(text) for text in texts]
    assert [store.get(key) for key in keys] == texts
    assert len(store) == len(set(texts))


def test_what_is_not_there_and_what_is_not_certain(store):
    with pytest.raises(StoreError, match="nothing under abc"):
        store.get("abc")
    store.put("one")
    store.put("two")
    with pytest.raises(StoreError, match="several texts"):
        store.get("")
    with pytest.raises(StoreError, match="nothing under ec"):
        store.get("../etc/x")


def test_only_the_owner_may_read(tmp_path):
    os.umask(0)
    try:
        store = Store(tmp_path / "kept")
        key = store.put("x")
    finally:
        os.umask(0o022)
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "kept" / key).stat().st_mode) == 0o600
    assert [one.name for one in (tmp_path / "kept").iterdir()] == [key]


def test_a_changed_file_is_refused_and_healed_by_the_next_put(tmp_path):
    store = Store(tmp_path)
    key = store.put("the table")
    (tmp_path / key).write_text("another table")
    with pytest.raises(StoreError, match="was changed") as raised:
        store.get(key)
    assert raised.value.exit_code == 2
    assert raised.value.hint
    store.put("the table")
    assert store.get(key) == "the table"


def test_what_is_there_and_whole_is_not_written_again(tmp_path):
    store = Store(tmp_path)
    key = store.put("x")
    before = (tmp_path / key).stat().st_ino
    store.put("x")
    assert (tmp_path / key).stat().st_ino == before


def test_strangers_in_the_folder_are_no_keys(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ("A" * 64)).write_text("mine")
    store = Store(tmp_path)
    key = store.put("x")
    (tmp_path / ".abc.part").write_text("half a file")
    assert len(store) == 1
    assert store.get(key[:1]) == "x"


def test_a_link_under_a_name_is_replaced_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    folder = tmp_path / "kept"
    store = Store(folder)
    (folder / key_of("x")).symlink_to(outside)
    store.put("x")
    assert outside.read_text() == "mine"
    assert not (folder / key_of("x")).is_symlink()


def test_a_folder_that_cannot_be_one(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used as a store"):
        Store(tmp_path / "file")


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StoreError, match="No space left"):
        store.put("x")
    assert list(tmp_path.iterdir()) == []


WRITER = """
import sys
from pathlib import Path
from ctxbudget.store import Store
store = Store(Path(sys.argv[1]))
for round in range(3):
    for number in range(40):
        text = f"text {number} " * 2_000
        assert store.get(store.put(text)) == text
"""


def test_two_processes_at_once(tmp_path):
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "kept")]) for _ in range(2)]
    assert [one.wait(timeout=120) for one in running] == [0, 0]
    files = list((tmp_path / "kept").iterdir())
    assert len(files) == 40
    assert all(hashlib.sha256(file.read_bytes()).hexdigest() == file.name for file in files)
