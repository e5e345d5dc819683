"""Programs that shells run: what the words of each say about files, URLs and patterns."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ctxbudget.resources import classes
from ctxbudget.resources.found import Found
from ctxbudget.resources.names import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

UNKNOWN = Found(classes.SHELL)
"""A command that does something nobody here can name."""

_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-place")
_SENDS = re.compile(
    r"-X(?!GET|HEAD)[A-Z]+|-[dF]|--(?:data|form|json|upload-file|post-(?:data|file)|body-)|(?:POST|PUT|PATCH|DELETE)\Z"
)
"""Options of curl and wget that send a body, and methods as httpie has them."""
_SCRIPTED = re.compile(r"-\w*[ef]\Z")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[:/]|$)|localhost\b")
_SWITCH = re.compile(r"/[A-Za-z]{1,3}(?::\w*)?\Z")
_COSMETIC = frozenset("rRnEHFPGsaIN")
_VALUED: Mapping[str, frozenset[str]] = {
    family: frozenset(options.split())
    for family, options in {
        "grep": "-A -B -C -m -f -d -D -j -M --max-count --context --max-depth --after-context --before-context",
        "globs": "-g --glob --iglob -t --type -T --type-not --include --exclude --exclude-dir",
        "patterns": "-e --regexp --pattern -Pattern -pattern",
        "cat": "-w -s -v -i -l -r -Encoding -encoding -TotalCount -Tail -Head --line-range --style --language --theme",
        "ls": "-I -L -w -P --ignore --level -Filter -Include -Exclude -Depth",
        "touch": "-d -t -r -m -s --mode --date -Value -ItemType -Encoding",
        "fd": "-e -t -d -E --extension --type --max-depth --exclude",
    }.items()
}
"""Options that take the next word, by the family of programs they belong to."""


def base_name(word: str) -> str:
    """The program a word names, without directory, ``.exe`` and case."""
    return word.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


def operands(words: list[str], family: str = "") -> list[str]:
    """The words that are neither options nor an option's value."""
    valued, found, skip = _VALUED.get(family, frozenset()), list[str](), False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and len(word) > 1:
            skip = word in valued
        else:
            found.append(word)
    return found


def _cat(words: list[str]) -> Found:
    files = operands(words, "cat")
    counts = {word.lower(): value for word, value in pairwise(words) if word.startswith("-")}
    for option, tail in (("-totalcount", False), ("-head", False), ("-tail", True)):
        if (count := counts.get(option, "")).isdecimal() and len(count) < 10:
            return Found(classes.READ, tuple(files), (-int(count), -1) if tail else (1, int(count)))
    return Found(classes.READ, tuple(files)) if files else UNKNOWN


def _type(words: list[str]) -> Found:
    """``type f`` shows a file on Windows; in a POSIX shell it says what a name stands for."""
    shown = tuple(word for word in operands(words) if "." in word or "\\" in word or "/" in word)
    return Found(classes.READ, shown) if shown else UNKNOWN


def _grep(words: list[str]) -> Found:
    """Pattern, files and globs, and the options that change what is printed (``-A 10``, ``-l``, ``-i``)."""
    taken = _taken(words)
    rest, where = taken[""], taken["globs"]
    if "--files" in words:
        return Found(classes.LIST, (*rest, *where), label="--files")
    patterns = taken["patterns"] or rest[:1]
    rest = rest if taken["patterns"] else rest[1:]
    label = with_options(" | ".join(patterns), [option for option in taken["grep"] if option])
    return Found(classes.SEARCH, (*rest, *where), label=label) if patterns else UNKNOWN


def _taken(words: list[str]) -> dict[str, list[str]]:
    """The words of a grep by what they are: patterns and globs given as options, other options, and the rest."""
    taken: dict[str, list[str]] = {"patterns": [], "globs": [], "grep": [], "": []}
    pending = ""
    for word in words:
        name, equals, value = word.partition("=")
        if pending:
            taken[pending].append(word)
            pending = ""
        elif word.startswith("-") and len(word) > 1:
            family = next((family for family in ("patterns", "globs", "grep") if name in _VALUED[family]), "grep")
            pending = family if name in _VALUED[family] and not equals else ""
            if family == "grep":
                taken["grep"].append(_telling(word))
            elif equals:
                taken[family].append(value)
        else:
            taken[""].append(word)
    return taken


def _telling(option: str) -> str:
    """An option of grep without the letters that do not change what is found (``-rn``, ``-E``, ``--color``)."""
    if option.startswith("--"):
        silent = option == "--" or option.startswith(("--color", "--line-number", "--no-heading", "--recursive"))
        return "" if silent else option
    kept = "".join(letter for letter in option[1:] if letter not in _COSMETIC)
    return f"-{kept}" if kept else ""


def with_options(query: str, options: list[str]) -> str:
    """A query and what else decides the result: ``def f (-A 10)``."""
    return f"{query} ({' '.join(options)})" if options else query


def _find(words: list[str]) -> Found:
    start = next((place for place, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))
    tests = words[start:]
    if any(word in {"-delete", "-fprint", "-ok", "-okdir"} for word in tests):
        return UNKNOWN
    for option, program in pairwise(tests):
        if option in {"-exec", "-execdir"} and base_name(program) not in vocabulary().shell["harmless"]:
            return UNKNOWN
    named = len(tests) == 2 and tests[0] in {"-name", "-iname", "-path"}
    return Found(classes.SEARCH, tuple(words[:start]), label=tests[1] if named else " ".join(tests) or "*")


def _fd(words: list[str]) -> Found:
    if {"-x", "-X", "--exec", "--exec-batch"} & set(words):
        return UNKNOWN
    rest = operands(words, "fd")
    return Found(classes.SEARCH, tuple(rest[1:]), label=rest[0] if rest else "*")


def _ls(words: list[str]) -> Found:
    shown = [word for word in operands(words, "ls") if not _SWITCH.match(word)]
    deep = any("R" in word or word.lower() == "-recurse" for word in words if word.startswith("-"))
    return Found(classes.LIST, tuple(shown or ["."]), label="-R" if deep else None)


def _tree(words: list[str]) -> Found:
    options = [word for word in words if word not in operands(words, "ls")]
    return Found(classes.LIST, tuple(operands(words, "ls") or ["."]), label=" ".join(["tree", *options]))


def _curl(words: list[str]) -> Found:
    """A page that is fetched; a request that sends something is more than looking."""
    methods = [after for option, after in pairwise(words) if option in {"-X", "--request", "--method", "-Method"}]
    if any(_SENDS.match(word) for word in words) or any(word.upper() not in {"GET", "HEAD"} for word in methods):
        return UNKNOWN
    urls = [word for word in words if "://" in word and not word.startswith("-")]
    urls = urls or [word for word in operands(words) if _HOST.match(word)]
    return Found(classes.FETCH, tuple(urls[:1])) if urls else UNKNOWN


def _sed(words: list[str]) -> Found:
    """``sed -i``, ``perl -pi``: the files behind the script. Without ``-i`` the output is no longer the file."""
    if not any(_IN_PLACE.match(word) for word in words):
        return UNKNOWN
    scripts = [word for option, word in pairwise(words) if _SCRIPTED.match(option)]
    rest = [word for word in operands(words) if word and word not in scripts]
    files = rest if scripts or any(word.startswith("--expression") for word in words) else rest[1:]
    return Found(classes.EDIT, tuple(files)) if files else UNKNOWN


def _last(words: list[str]) -> Found:
    rest = operands(words, "touch")
    return Found(classes.WRITE, tuple(rest[-1:]), weak=True)


def _each(words: list[str]) -> Found:
    return Found(classes.WRITE, tuple(operands(words, "touch")), weak=True)


def _put(words: list[str]) -> Found:
    return Found(classes.WRITE, tuple(operands(words, "touch")[:1]))


def _tee(words: list[str]) -> Found | None:
    files = tuple(word for word in operands(words) if not word.startswith("/dev/"))
    return Found(classes.WRITE, files) if files else None


def _git(words: list[str]) -> Found:
    """The sub-commands that look into files or change some; the rest is unknown."""
    while words[:1] and words[0].startswith("-"):
        words = words[2 if words[0] in {"-C", "-c"} else 1 :]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb == "grep":
        return _grep([word for word in rest if word != "--"])
    if verb == "ls-files":
        return Found(classes.LIST, tuple(operands(rest)), label="git ls-files")
    if verb in {"apply", "am"}:
        return Found(classes.EDIT, label=" ".join(["git", *words]))
    if verb == "checkout" and "--" in rest:
        return Found(classes.WRITE, tuple(rest[rest.index("--") + 1 :]), weak=True)
    if verb in {"restore", "rm", "mv"}:
        return (_last if verb == "mv" else _each)(rest)
    return UNKNOWN


def _patch(words: list[str]) -> Found:
    rest = tuple(operands(words)[:1])
    return Found(classes.EDIT, rest, label=None if rest else " ".join(["patch", *words]))


def _open(words: list[str]) -> Found:
    """SWE-agent's ``open FILE [LINE]``."""
    return Found(classes.READ, tuple(words[:1])) if words else UNKNOWN


def _edit(_words: list[str]) -> Found:
    """SWE-agent's ``edit 10:20`` changes the open file, which the command does not name."""
    return Found(classes.EDIT)


def _create(words: list[str]) -> Found:
    return Found(classes.CREATE, tuple(words[:1])) if words else UNKNOWN


def _search(words: list[str]) -> Found:
    return Found(classes.SEARCH, tuple(words[1:2]), label=words[0]) if words else UNKNOWN


def _handlers() -> dict[str, Callable[[list[str]], Found | None]]:
    table: dict[Callable[[list[str]], Found | None], str] = {
        _cat: "cat bat batcat nl less more tac get-content gc zcat",
        _type: "type",
        _grep: "grep egrep fgrep rg ripgrep ag ack zgrep select-string sls findstr pcregrep",
        _find: "find",
        _fd: "fd fdfind",
        _tree: "tree",
        _ls: "ls ll dir exa eza get-childitem gci",
        _curl: "curl wget iwr invoke-webrequest irm invoke-restmethod http https lynx w3m",
        _sed: "sed gsed perl ruby",
        _last: "cp mv ln install rsync copy move copy-item move-item copy cpi mi",
        _each: "rm touch mkdir rmdir unlink truncate del erase remove-item ri new-item ni md rd shred",
        _put: "set-content add-content out-file sc ac",
        _tee: "tee tee-object",
        _git: "git",
        _patch: "patch",
        _open: "open",
        _edit: "edit",
        _create: "create",
        _search: "search_dir search_file find_file",
    }
    return {name: handler for handler, named in table.items() for name in named.split()}


PROGRAMS: Mapping[str, Callable[[list[str]], Found | None]] = _handlers()
"""Program → what its words say; None: nothing by itself."""
