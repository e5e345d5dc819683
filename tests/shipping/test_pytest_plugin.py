"""The fixture ``ctx_budget``, in test suites of their own."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

import ctxbudget.checking
import ctxbudget.renderers.terminal  # noqa: F401 - the suites inside forget what they import: all find these

pytest_plugins = ["pytester"]


@pytest.fixture
def suite(pytester, traces):
    """Run one test of a suite whose root holds ``traces/``."""

    def run(body, *arguments):
        pytester.makepyfile(f"def test_it(ctx_budget):\n    {body}\n")
        (pytester.path / "traces").symlink_to(traces / "traces")
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    return run


def test_pytest_finds_it():
    (point,) = (point for point in entry_points(group="pytest11") if point.name == "ctxbudget")
    assert point.value == "ctxbudget.pytest_plugin"


@pytest.mark.parametrize(
    "body",
    [
        'ctx_budget("traces/small.json")',
        'ctx_budget("traces/large.json", max="75%")',
        'ctx_budget("traces/large.json", "traces/small.json", max="2k", max_result="50%", growth="20k")',
        'assert ctx_budget("traces/large.json").checked[0].peak.tokens > 500',
        'assert not ctx_budget("traces", allow_empty=True).failures',
        'ctx_budget("traces/large.json", window=100_000, strategy="none")',
        'import ctxbudget; ctx_budget(ctxbudget.load("traces/small.json")[0])',
        'import pathlib; ctx_budget(pathlib.Path("traces/small.json"))',
    ],
)
def test_a_trace_within_its_budget_passes(suite, body):
    suite(body).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "body, said",
    [
        ('ctx_budget("traces/large.json", max="500")', ["*Context budget failed: 1 trace, 1 over a limit*", "*CB102*"]),
        ('ctx_budget("traces", max="500")', ["*Context budget failed: 2 traces, 1 over a limit*"]),
        ('ctx_budget("traces/none.json")', ["*could not check*", "*no such file*"]),
        ('ctx_budget("traces/*.jsonl")', ["*could not check*"]),
        ("ctx_budget()", ["*"]),
        ('ctx_budget("traces/large.json", window=500)', ["*CB101*"]),
    ],
)
def test_one_beyond_it_or_not_measured_fails_with_the_whole_answer(suite, body, said):
    result = suite(body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(said)
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_a_mistake_is_told_with_its_hint(suite):
    result = suite('ctx_budget("traces/large.json", max="lots")')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*UsageError: *lots*", "*hint: *"])


def test_a_budget_file_at_the_root_holds(suite, pytester):
    pytester.makefile(".toml", ctxbudget="[context_budget]\nmax_input_tokens = 600\nhard_threshold = 0.9")
    result = suite('ctx_budget("traces/large.json")')
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*ctxbudget.toml*"])


def test_another_one_by_name(suite, pytester):
    pytester.makefile(".toml", own="[context_budget]\nmax_input_tokens = 600\nhard_threshold = 0.9")
    result = suite('ctx_budget("traces/small.json"); ctx_budget("traces/large.json", config="own.toml")')
    result.stdout.fnmatch_lines(["*own.toml*"])


def test_it_serves_fixtures_of_any_scope(pytester, traces):
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture(scope="session")
        def checked(ctx_budget):
            return ctx_budget({str(traces / "traces")!r})

        def test_it(checked):
            assert checked.totals.clean == 2
        """
    )
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_it_costs_nothing_until_it_is_used():
    code = "import sys, pytest; was = set(sys.modules); import ctxbudget.pytest_plugin; print(set(sys.modules) - was)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert eval(done.stdout) == {"ctxbudget", "ctxbudget.pytest_plugin"}  # noqa: S307 - our own output
