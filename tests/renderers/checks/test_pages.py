"""The answer of a check for people, on a terminal and as the comment of a pull request."""

from dataclasses import replace

import pytest

from ctxbudget.renderers import markdown
from ctxbudget.report.loading import from_json
from ctxbudget.trace import Warning as TraceWarning


def test_the_verdict_comes_first_and_what_it_means_last(check_report, shown):
    lines = shown(check_report).splitlines()
    assert lines[0] == "Context budget could not check: 5 traces, 1 over a limit, 2 not measured"
    assert lines[-1].split(maxsplit=1) == ["Result", "not everything could be checked (exit code 2)"]


@pytest.mark.parametrize(
    "status, exit_code, verdict",
    [
        ("clean", 0, "Context budget passed: 1 trace"),
        ("violated", 1, "Context budget failed: 1 trace, 1 over a limit"),
    ],
)
def test_one_trace_in_full(make, shown, status, exit_code, verdict):
    text = shown(make.report([make.trace(status=status)], exit_code))
    assert text.startswith(f"{verdict}\n\nlogs/a.jsonl\nclaude-code · m · 30 turns · window 200,000 tokens (the harn")
    assert "turn 24 (logs/a.jsonl:48): 118,204 tokens reported (~117,000 by our count), 59.10 % of the window" in text


@pytest.mark.parametrize(
    "name, excused, said",
    [
        ("terminal", False, "\nerror unmeasured: logs/d.jsonl: no turn\n"),
        ("terminal", True, "\nnote unmeasured: logs/d.jsonl: no turn\n"),
        ("github", False, "::error file=logs/d.jsonl,title=unmeasured::"),
        ("github", True, "::notice file=logs/d.jsonl,title=unmeasured::"),
        ("junit", False, "<error type="),
        ("junit", True, "<skipped type="),
        ("sarif", False, '{"level":"error","descriptor"'),
        ("sarif", True, '{"level":"note","descriptor"'),
    ],
)
def test_what_was_not_measured_is_an_error_unless_that_was_allowed(make, shown, name, excused, said):
    """Whatever else is wrong with the check."""
    row = make.unread("logs/d.jsonl", "unmeasured", "no turn", "", excused=excused)
    for exit_code in (2, 0):
        assert said in shown(make.report([row], exit_code), name)


@pytest.mark.parametrize(
    "text, shown_as", [("42,000", "42,000 tokens (--max)"), ("75 %", "75 % = 42,000 tokens (--max)")]
)
def test_a_limit_is_said_once(make, shown, text, shown_as):
    one = make.failure(limit=42_000, limit_text=text)
    assert f"  limit    {shown_as}\n" in shown(make.report([make.trace(failures=[one])]))


def test_a_check_that_fails_for_a_warning_says_so(make, shown):
    warned = make.report([make.trace()], 2, warnings=[TraceWarning("must-keep-unseen", "no prompt holds 'x'")])
    assert shown(warned).startswith("Context budget could not check: 1 trace, see the warnings\n")


def test_an_estimate_says_how_far_it_is_off(make, shown):
    for error, said in ((None, "its error unknown"), (0.02, "give or take 2.0 %")):
        peak = replace(make.trace().peak, reported=False, error=error)
        assert f"~118,204 tokens, estimated, {said}, 59.10 %" in shown(make.report([make.trace(peak=peak)]))


def test_a_peak_that_may_be_on_either_side_is_marked(make, shown):
    def peak(**given):
        return replace(make.trace().peak, reported=False, **given)

    known, unknown = peak(error=0.02, near=True), peak(error=None, near=True)
    said = {"": "the limit lies within the error of the estimate", "a": "the limit is within 20 % of the estimate"}
    assert f"; {said['']}\n" in shown(make.report([make.trace(peak=known)]))
    assert f", its error unknown, 59.10 % of the window; limit 90,000 (75 %, --max); {said['a']}\n" in shown(
        make.report([make.trace(peak=unknown)])
    )
    two = shown(make.report([make.trace(peak=known), make.trace("b.jsonl", peak=peak(error=0.01, near=False))]))
    assert "  *~118,204    59.10 %" in two
    assert "   ~118,204    59.10 %" in two
    assert f"\n* {said['']}\n" in two
    both = shown(make.report([make.trace(peak=known), make.trace("b.jsonl", peak=unknown)]))
    assert f"\n* {said['']}, or {said['a']}\n" in both


def test_nothing_to_check(make, shown):
    assert shown(make.report([], 2)).startswith("Context budget could not check: nothing to check\n")


def test_a_failure_says_everything(check_report, shown):
    text = shown(check_report)
    for said in (
        "error CB102 over the budget: turn 24 holds 118,204 tokens, 28,204 over 90,000\n",
        "  at       logs/a.jsonl:48, turn 24\n",
        "  what     result of Read, src/app.py (observation), fragment f120\n",
        "  limit    75 % of the window = 90,000 tokens (--max)\n",
        "  way down collect-garbage would have brought it to ~70,000\n",
        "           ctxbudget replay logs/a.jsonl --strategy collect-garbage\n",
        "error CB103 layer over its budget (worse): ",
        "error CB103 layer over its budget (known): ",
        "logs/z.jsonl  CB102  12,345\n",
        "Baseline   base.json: 2 known, 3 new, 1 worse, 1 entry stale\n",
    ):
        assert said in text, said


@pytest.mark.parametrize("width", [20, 40, 80])
def test_it_fits_a_narrow_terminal(check_report, shown, width):
    text = shown(check_report, width=width)
    assert max(map(len, text.splitlines())) <= max(width, 45)  # numbers and the shortest words are never cut


def test_as_markdown(check_report, shown):
    text = shown(check_report, "markdown")
    assert text.startswith("## Context budget could not check: 5 traces, 1 over a limit, 2 not measured\n")
    assert "| `violated` | `logs/a.jsonl` | 30 | 24 | 118,204 | 59.10 % | 90,000 | 6 |\n" in text
    assert "- **error** `CB102 over the budget`: `turn 24 holds 118,204 tokens, 28,204 over 90,000`\n" in text
    assert "  - at: `logs/a.jsonl:48, turn 24`\n" in text


@pytest.mark.parametrize("failures, length", [(2000, 10), (3, 100_000)])
def test_a_comment_never_grows_too_long(make, shown, failures, length):
    found = [make.failure(message="x" * length) for _ in range(failures)]
    text = shown(make.report([make.trace(failures=found)]), "markdown")
    assert len(text) < 65_536
    assert len(text.encode()) < 262_144
    assert text.startswith("## Context budget failed")
    assert "\nShortened: " in text
    assert text.endswith("- **Result**: `a limit is violated (exit code 1)`\n")
    assert len(text) > markdown.COMMENT - 1000 or length > 10


def test_json_there_and_back(check_report, shown):
    assert from_json(shown(check_report, "json")) == check_report
