"""A project's settings: where they are found, what they may say, and what a mistake is told."""

import pytest

import ctxbudget
from ctxbudget.config import Settings, discover
from ctxbudget.errors import ConfigError
from ctxbudget.trace import Kind

SAMPLE = "sample_traces/refund_support.json"


@pytest.fixture
def project(tmp_path):
    def write(text, name="ctxbudget.toml"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_without_a_file_the_defaults_hold(tmp_path):
    (tmp_path / ".git").mkdir()
    assert discover(tmp_path) == Settings()


@pytest.mark.parametrize("name,head", [("ctxbudget.toml", ""), ("pyproject.toml", "[tool.ctxbudget]\n")])
def test_both_files_say_the_same(project, name, head):
    folder = project(head + 'window = "120k"\nreserve = 8000\nscheme = "window"\n', name)
    found = discover(folder)
    assert (found.window, found.reserve, found.scheme) == (120_000, 8_000, "window")
    assert found.source == str(folder / name)


def test_the_nearest_file_counts_and_the_repository_is_the_end(project):
    folder = project("window = 1000\n")
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    assert discover(inner).window == 1_000
    (folder / "a" / ".git").mkdir()
    assert discover(inner) == Settings()


def test_a_pyproject_without_our_table_is_passed_over(project):
    (project("[tool.other]\nx = 1\n", "pyproject.toml") / ".git").mkdir()
    assert discover(project("", "other.toml")) == Settings()


@pytest.mark.parametrize(
    "text,words",
    [
        ("windw = 1", "unknown setting 'windw'"),
        ("window = 'many'", "is no number of tokens"),
        ("window = 0", "too small"),
        ("scheme = 'agnt'", "unknown scheme 'agnt'"),
        ("tool_classes = 3", "tool_classes is not a table"),
        ("[tool_classes]\nx = 'reed'", "unknown class 'reed'"),
        ("[layers]\nkindz = {}", "unknown setting in [layers] 'kindz'"),
        ("[layers.kinds]\nretrieva = 'x'", "unknown kind 'retrieva'"),
        ("[layers.tools]\nx = 3", "tools.x is not a name"),
        ("window = ", "Invalid value"),
    ],
)
def test_a_mistake_names_the_file_and_the_nearest(project, text, words):
    folder = project(text)
    with pytest.raises(ConfigError) as error:
        discover(folder)
    assert words in error.value.message
    assert str(folder / "ctxbudget.toml") in error.value.message
    assert error.value.hint


def test_settings_reach_the_report():
    settings = Settings(window=9_000, tools={"search_kb": "knowledge"}, tool_classes={"lookup_*": "plan"}, source="x")
    trace = ctxbudget.analyze(SAMPLE, settings=settings).traces[0]
    assert (trace.window, trace.window_source) == (9_000, "configuration")
    assert trace.layers[-1] == "knowledge"
    assert trace.turns[-1].layers["knowledge"] > 5_000
    assert trace.turns[-1].kinds["plan"] > 0


def test_an_argument_wins_over_a_setting():
    trace = ctxbudget.analyze(
        SAMPLE, window=7_000, scheme="window", settings=Settings(window=9_000, scheme="agent")
    ).traces[0]
    assert (trace.window, trace.scheme) == (7_000, "window")


def test_a_kind_may_move_to_a_layer_of_its_own():
    settings = Settings(kinds={Kind.RETRIEVAL: "knowledge"})
    assert settings.laid_out(None).layers == ("system", "task", "state", "reasoning", "observation", "knowledge")
