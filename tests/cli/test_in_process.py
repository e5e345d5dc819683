"""The same command inside this process: what its flags become, cheaply and for the coverage."""

import gc
import signal
from io import BytesIO, StringIO, TextIOWrapper

import pytest

from ctxbudget import analysis, listings
from ctxbudget.cli import complete, main, outputs, progress
from ctxbudget.errors import TraceError, UnknownName
from ctxbudget.output import Output


@pytest.fixture
def run(capfdbinary):
    """Exit code, output and errors of a command."""

    def of(*arguments):
        code = main([str(argument) for argument in arguments])
        done = capfdbinary.readouterr()
        return code, done.out.decode(), done.err.decode()

    return of


def test_analyze_list_help_and_version(run, session, tmp_path):
    assert "Layers at the peak" in run("analyze", session)[1]
    assert run("analyze", session, "-o", tmp_path / "x.csv") == (0, "", "")
    assert run("analyze", session, "--window", "100", "--fail-on", "error")[0] == 1
    assert "claude-code" in run("list", "formats")[1]
    assert run("--version")[0] == run("--help")[0] == run()[0] == 0


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["analize"], "error: no such command 'analize'\nhint: did you mean 'analyze'?\n"),
        (["list", "--nothing"], "error: no such option: --nothing\nhint: see: ctxbudget list --help\n"),
        (["analyze", "nothing.jsonl"], "error: nothing.jsonl: no such file\nhint: "),
        (["analyze", "x", "--format", "parquets"], "error: unknown format 'parquets'\nhint: did you mean 'parquet'?\n"),
        (["analyze", "x", "--by", "tool", "--table", "turns"], "error: --by is for the answer"),
    ],
)
def test_errors(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_an_interrupt_is_130(run, monkeypatch, session):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(analysis, "analyze", interrupted)
    assert run("analyze", session) == (130, "", "")


def test_a_bug_of_ours_keeps_its_traceback(monkeypatch, session):
    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(analysis, "analyze", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["analyze", str(session)])


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.mark.parametrize(
    "environment, colors",
    [
        ({"TERM": "xterm"}, "standard"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "truecolor"),
        ({"TERM": "dumb"}, None),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, "standard"),
        ({"FORCE_COLOR": "2"}, "256"),
        ({"FORCE_COLOR": "3"}, "truecolor"),
        ({"TERM": "xterm", "FORCE_COLOR": "0"}, None),
        ({"TERM": "xterm", "NO_COLOR": "1"}, None),
        ({"TERM": "xterm", "NO_COLOR": ""}, "standard"),
        ({"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "3"}, None),
    ],
)
def test_colours(environment, colors):
    assert outputs._colors(Terminal(), environment) == colors
    assert outputs._colors(StringIO(), environment) == (colors if "FORCE_COLOR" in environment else None)


def test_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    assert outputs._width(Terminal(), {"COLUMNS": "44"}) == outputs._width(StringIO(), {"COLUMNS": "44"}) == 44
    assert outputs._width(StringIO(), {}) is None


def test_a_file_gets_no_colour_and_no_width():
    look = outputs.look(Output("x.txt"), by="tool", table=None, children=True)
    assert (look.colors, look.width, look.encoding, look.by, look.children) == (None, None, "utf-8", "tool", True)


@pytest.mark.parametrize(
    "given, renderer",
    [
        ((None, None), "terminal"),
        ((None, "-"), "terminal"),
        (("table", "x.json"), "terminal"),
        ((None, "x.JSON"), "json"),
        ((None, "x"), "terminal"),
        ((None, "a.b/x.md"), "markdown"),
    ],
)
def test_the_renderer(given, renderer):
    assert outputs.choose(*given) == renderer


def test_a_bar_only_where_someone_watches(monkeypatch):
    monkeypatch.setattr("sys.stderr", TextIOWrapper(BytesIO()))
    with progress.reading() as told:
        assert told is None
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with progress.reading() as told:
        told("nothing.jsonl", 0, 1)
        assert screen.getvalue() == ""
        for number in range(20):
            told(f"\x1b{number}.jsonl", number, 20)
    assert r"reading \x1b0.jsonl" in screen.getvalue()


def test_names_are_completed():
    assert "codex" in complete.formats("co")
    assert all(name.startswith("co") for name in complete.formats("co"))
    assert complete.schemes("") == ["agent", "window"]
    assert "table" in complete.outputs("t")
    assert complete.breakdowns("k") == ["kind"]
    assert complete.tables("re") == ["resources"]
    assert complete.levels("w") == ["warning"]
    assert complete.run_tables("l") == ["layers", "lives", "losses"]
    assert complete.apis("o") == ["openai"]
    assert complete.strategies("sliding") == ["sliding-window"]
    assert set(complete.listings("")) == {*listings.LISTINGS, *listings.DESCRIBED}


def test_lists():
    assert [row.cells[0] for row in listings.listing("estimators").rows] == ["bpe", "chars4", "ema", "anchored"]
    assert listings.listing("models", "claude-opus-4-5").rows
    assert {row.cells[0] for row in listings.listing("layers").rows} == {"agent", "window"}
    assert "codex" in {row.cells[0] for row in listings.listing("formats").rows}
    with pytest.raises(UnknownName):
        listings.listing("format")


def test_of_several_files_some_may_fail(session, tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    report = analysis.analyze([session, tmp_path / "empty.jsonl"])
    assert len(report.traces) == 1
    assert report.single is None
    assert [each.path for each in report.unreadable] == [str(tmp_path / "empty.jsonl")]
    assert report.unreadable[0].reason
    for one in (tmp_path / "empty.jsonl", str(tmp_path / "*.jsonl"), tmp_path):
        with pytest.raises(TraceError, match="empty"):
            analysis.analyze(one)
    (tmp_path / "blank.jsonl").write_bytes(b"\n\n")
    with pytest.raises(TraceError, match="none of 2 files can be read"):
        analysis.analyze(tmp_path)
    with pytest.raises(TraceError, match="no such file"):
        analysis.analyze([session, tmp_path / "nothing.jsonl"])


def test_files_are_told_before_they_are_read(session):
    told = []
    analysis.analyze(session, on_file=lambda *each: told.append(each))
    assert told == [(str(session), 0, 1)]


def test_findings_of_sub_agents_count(session):
    report = analysis.analyze(session, window=100)
    assert analysis.failing(report, "error")
    assert not analysis.failing(analysis.analyze(session, window=10_000_000), "error")
    with pytest.raises(UnknownName):
        analysis.failing(report, "bad")


def test_a_caller_s_process_stays_as_it_is(run, session):
    signals, collecting = signal.getsignal(signal.SIGPIPE), gc.isenabled()
    run("analyze", session)
    assert (signal.getsignal(signal.SIGPIPE), gc.isenabled()) == (signals, collecting)
