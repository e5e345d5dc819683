"""What a pull request may bring: settings, baselines and traces made to break the gate. None does."""

import json
import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget import config
from ctxbudget.checking import check, fitting
from ctxbudget.config import document, located
from ctxbudget.errors import ConfigError, CtxbudgetError
from ctxbudget.layers import AGENT
from ctxbudget.loaders import Options

KEYS = [
    "context_budget",
    "layers",
    "system",
    "max_tokens",
    "overrides",
    "paths",
    "check",
    "severity",
    "window",
    "CB102",
]
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(KEYS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), values, max_size=4))
def test_any_table_is_settings_or_one_error(table):
    try:
        config.read(document.Document("x.toml", table))
    except ConfigError as error:
        assert error.message.startswith("x.toml")
        assert "\n" not in error.message.replace("\\n", "")


@given(st.text(max_size=60) | values.map(json.dumps))
def test_any_text_is_yaml_or_one_error(text):
    try:
        table, lines = located.parsed(text, "x.yaml")
    except ConfigError as error:
        assert error.message.startswith("x.yaml")
    else:
        assert set(lines) >= {(key,) for key in table}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        "<<: {context_budget: {growth: 1}}\n",
        "? {a: b}\n: 3\n",
        "a: !!binary aGk=\n",
        "%YAML 9.9\n---\na: 1\n",
        "--- a\n--- b\n",
        "a: \x00\n",
        "{" * 3000,
        "- " * 3000,
        "a:\n" + "".join(f"{' ' * depth}b:\n" for depth in range(1, 400)),
    ],
)
def test_yaml_that_grows_or_builds_is_refused(tmp_path, text):
    path = tmp_path / "ctxbudget.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        config.discover(tmp_path)


def test_a_file_that_is_no_settings(tmp_path):
    large = b"#" * 1_000_001
    for name, data, words in (
        ("ctxbudget.yaml", b"\xff\xfe\x00", "not UTF-8"),
        ("ctxbudget.toml", large, "larger than 1,000,000 bytes"),
        ("ctxbudget.yaml", large, "larger than 1,000,000 bytes"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ConfigError) as error:
            config.discover(tmp_path)
        assert words in error.value.message
        (tmp_path / name).unlink()
    (tmp_path / "ctxbudget.yaml").mkdir()
    assert config.discover(tmp_path).source is None


EVIL = (
    "\x1b]0;owned\x07\n::error::x\r\n::set-env name=X::y\n##[add-path]/x\n##vso[task.setvariable]x\n"
    "<script>x</script>\n=1+1 @octocat ![x](http://e.vil)"
    " \u202e\u2066`$(ls)` ]]> </failure> &amp; | {0} \ufffe \ud800 \u2028\x85 %0A::debug::z"
)
FILE = "::error::a%0A,b=c:<b>\u202e;=1+1 [x](y) `q`.jsonl"
ACTING = {"Cc", "Zl", "Zp", "Cs"}


def test_a_trace_that_shouts(session, run, tmp_path):
    path = session("evil\u202e.jsonl", [100, 900], tool=f"Read{EVIL}", results=[EVIL * 40], into=tmp_path)
    done = run("check", path.name, "--window", "1000", "--growth", "1%", cwd=tmp_path)
    assert done.returncode == 1
    assert not any(harm in done.stdout.decode() for harm in ("\x1b", "\x07", "\u202e", "\r"))
    assert not any(line.startswith("::") for line in done.stdout.decode().splitlines())
    shown = run("config", "init", path.name, cwd=tmp_path)
    assert shown.returncode == 0
    assert "\u202e" not in shown.stdout.decode()
    (tmp_path / "ctxbudget.yaml").write_bytes(shown.stdout)
    assert config.discover(tmp_path).budget.layers


@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github", "markdown"])
def test_from_the_file_to_every_output_nothing_acts(session, run, tmp_path, form):
    session(FILE, [100, 900, 300], tool=f"Read{EVIL}", model=f"claude{EVIL}", results=[EVIL * 40], into=tmp_path)
    arguments = ["check", ".", "--window", "1000", "--growth", "1%", "--must-keep", EVIL]
    done = run(*arguments, "--format", form, cwd=tmp_path)
    page = done.stdout.decode()
    assert done.returncode == 2, "a fact that nothing held"
    assert "CB102" in page
    for text in (page, done.stderr.decode()):
        assert "##[" not in text
        assert not any(unicodedata.category(c) in ACTING for c in text if c != "\n" and form != "json")
        ours = form == "github" and text is page
        assert ours or not any(line.lstrip().startswith("::") for line in text.splitlines())
    if form == "github":
        starts = {line.partition(" ")[0] for line in page.splitlines() if line.startswith("::")}
        assert starts - {"::group::Context"} == {"::error", "::warning", "::endgroup::"}
    if form in {"json", "sarif"}:
        json.loads(page)
    if form == "junit":
        ET.fromstring(page)  # noqa: S314 - our own output
    if form == "markdown":
        outside = re.sub(r"(`+).*?\1", "", page)
        assert not any(harm in outside for harm in ("<", "e.vil", "@octocat", "]("))


@pytest.mark.parametrize("pattern", ["/(a+)+$/", "/[/", "/x{9999999}/"])
def test_a_pattern_that_takes_for_ever_costs_one_trace(session, pattern):
    path = session("slow.jsonl", [100, 200], results=["a" * 40 + "!"])
    try:
        report = check(path, window=1_000, must_keep=[pattern])
    except CtxbudgetError as error:
        assert error.hint
    else:
        assert report.exit_code == 2


def test_thousands_of_failures_are_told_apart(session):
    path = session("many.jsonl", [None] * 1_000, results=["w " * 30] * 1_000)
    report = check(path, max="1000M", max_result="0.02k", growth="0.02k", window=10**9)
    assert len(report.failures) > 1_500
    assert len({one.key for one in report.failures}) == len(report.failures)


def test_fitting_to_several(tmp_path, session):
    """One whose window is unknown is enough to leave the windows out; of equal amounts the first seen is named."""
    chat = {"messages": [{"role": "user", "content": "hi " * 600}, {"role": "assistant", "content": "yes"}]}
    (tmp_path / "chat.json").write_text(json.dumps(chat), encoding="utf-8")
    paths = [tmp_path / "chat.json", *(session(name, [100, 900], into=tmp_path) for name in ("a.jsonl", "b.jsonl"))]
    for order in (paths, paths[::-1]):
        fit = fitting.fitted(fitting.read([str(path) for path in order], Options(), None, []), AGENT)
        named = next(path.name for path in order if path.suffix == ".jsonl")
        assert fit.fullest is None
        assert fit.peak.seen == f"seen: 900 at most ({named}, turn 2)"
    assert fitting.fitted(fitting.read([str(paths[1])], Options(), None, []), AGENT).fullest is not None


def test_fitting_reads_what_it_can(tmp_path, session):
    session("a.jsonl", [100, 900], into=tmp_path)
    (tmp_path / "b.jsonl").write_text('{"type": "user"', encoding="utf-8")
    skipped: list[str] = []
    paths = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]
    fit = fitting.fitted(fitting.read(paths, Options(), None, skipped), AGENT)
    assert fit.traces == 1
    assert "# not read: b.jsonl" in fitting.written(fit, AGENT, skipped)
