"""The public names, and what they do for a program."""

import io

import pytest

import ctxbudget
from ctxbudget.errors import UsageError
from ctxbudget.sizes import tokens

NAMES = [
    "CheckReport", "Comparison", "CtxbudgetError", "Exported", "Fragment", "Kind", "Look", "Options", "Prepared",
    "Report", "RunReport", "Trace", "TraceReport", "Turn", "Usage", "analyze", "check", "compare", "export",
    "from_json", "load", "prepare", "render", "replay",
]  # fmt: skip

SESSION = """{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"yes"}]}"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(SESSION, encoding="utf-8")
    return path


def test_the_public_names_are_these():
    assert ctxbudget.__all__ == NAMES
    assert all(getattr(ctxbudget, name).__module__.startswith("ctxbudget.") for name in NAMES)
    assert set(NAMES) <= set(dir(ctxbudget))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ctxbudget.nothing


def test_a_path_a_string_and_a_trace_give_the_same_report(file):
    by_path = ctxbudget.analyze(file, window=1000)
    assert by_path == ctxbudget.analyze(str(file), window=1000)
    assert by_path == ctxbudget.analyze(ctxbudget.load(str(file)), window=1000)
    assert by_path == ctxbudget.analyze(ctxbudget.load(str(file))[0], window=1000)


def test_render_and_read_back(file):
    report = ctxbudget.analyze(file)
    out = io.BytesIO()
    ctxbudget.render(report, "json", out)
    assert ctxbudget.from_json(out.getvalue()) == report.traces[0]


@pytest.mark.parametrize("options", [{"window": 0}, {"window": -5}, {"reserve": -1}, {"window": 10, "reserve": 10}])
def test_what_cannot_be_measured_against_is_refused(file, options):
    with pytest.raises(UsageError):
        ctxbudget.analyze(file, **options)


@pytest.mark.parametrize(
    "window, reserve, kept", [(200_000, 64_000, 64_000), (272_000, 128_000, 128_000), (8_192, 0, 0)]
)
def test_a_reserve_does_not_change_the_base(file, window, reserve, kept):
    trace = ctxbudget.analyze(file, window=window, reserve=reserve).traces[0]
    assert trace.reserve == kept
    assert trace.peak.utilization == trace.peak.tokens / window


@pytest.mark.parametrize(
    "text, number",
    [("200000", 200_000), ("200k", 200_000), ("1M", 1_000_000), ("1.5m", 1_500_000), ("120,000", 120_000)],
)
def test_sizes(text, number):
    assert tokens(text, "--window") == number


@pytest.mark.parametrize("text", ["", "k", "-1", "1e9", "200 kB", "٣", "1.5.5", "nan"])
def test_no_sizes(text):
    with pytest.raises(UsageError):
        tokens(text, "--window")
