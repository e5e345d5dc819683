"""The pages: their Python runs, their commands exist, and what is generated is fresh."""

import re
import runpy
import shlex
from pathlib import Path

import pytest

from ctxbudget import handbook
from ctxbudget.cli import app
from ctxbudget.loaders import LOADERS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language):
    return [
        pytest.param(text, id=f"{page.name}-{number}")
        for page in PAGES
        for number, (name, text) in enumerate(FENCE.findall(page.read_text(encoding="utf-8")), 1)
        if name == language
    ]


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(compile(code, "page", "exec"), {})  # noqa: S102 - our own pages
    assert "print(" not in code or capsys.readouterr().out.strip()


@pytest.mark.parametrize("text", blocks("console"))
def test_commands_have_the_flags_that_pages_show(text):
    import typer

    commands = typer.main.get_command(app).commands
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        words = shlex.split(line.removeprefix("$ ").partition("  # ")[0])
        if not line.startswith("$ ctxbudget "):
            continue
        command = commands[words[1]]
        command = getattr(command, "commands", {}).get(words[2], command) if len(words) > 2 else command
        known = {flag for parameter in command.params for flag in parameter.opts}
        assert {word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word)} <= known, line


def test_the_page_of_strategies_is_fresh():
    page = runpy.run_path(str(ROOT / "docs" / "handbook.py"))["page"]()
    assert (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8") == page, "run: python docs/handbook.py"


def test_the_page_of_findings_is_fresh():
    page = runpy.run_path(str(ROOT / "docs" / "findings.py"))["page"]()
    assert (ROOT / "docs" / "findings.md").read_text(encoding="utf-8") == page, "run: python docs/findings.py"


def test_the_readme_tells_each_command_once_and_the_index_each_page():
    import typer

    rows = re.findall(r"^\| `ctxbudget (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(typer.main.get_command(app).commands)
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in PAGES[1:]:
        assert page.name == "README.md" or index.count(f"({page.name})") == 1, page.name


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)


@pytest.mark.parametrize("entries", [handbook.strategies(), handbook.passes()], ids=["strategies", "passes"])
def test_everything_is_documented(entries):
    assert len(entries) >= 6
    for entry in entries:
        assert entry.description.endswith(".")
        assert all((entry.keeps, entry.costs, entry.fails, entry.use_when)), entry.name
        for name, _, text in entry.options:
            assert text, f"{entry.name}.{name} has no docstring"


def test_a_name_or_an_alias_picks_one():
    assert [entry.name for entry in handbook.strategies("window")] == ["sliding-window"]
    assert [entry.name for entry in handbook.passes("hard-limit")] == ["hard-limit"]
    assert {entry.name for entry in handbook.strategies("quota")} == {"category-budget"}


def formats():
    return runpy.run_path(str(ROOT / "docs" / "formats.py"))


def test_the_page_of_formats_is_fresh():
    assert (ROOT / "docs" / "formats.md").read_text(encoding="utf-8") == formats()["page"](), (
        "run: python docs/formats.py"
    )


@pytest.mark.parametrize("name", LOADERS.names())
def test_every_format_says_where_it_lies_and_how_far_to_trust_it(name):
    made = formats()
    assert list(made["facts"](name)) == list(made["LABELS"])
    assert made["title"](name).endswith(".")


def test_the_script_on_garbage_tells_what_is_freed_and_lost(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["garbage.py"])
    runpy.run_path(str(ROOT / "docs" / "garbage.py"), run_name="__main__")
    first, second = capsys.readouterr().out.split("recursive-summary: ")
    assert first.startswith("collect-garbage: frees 7,424 of 151,829 tokens at turn 55\n")
    assert second.startswith("frees 123,253 of 151,829 tokens")
    assert "constraints lost: 0 of 2" in first


def test_the_readme_names_every_format():
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Formats")[2]
    assert set(re.findall(r"`([a-z-]+)`", table.partition("The bytes")[0])) == set(LOADERS.names())
