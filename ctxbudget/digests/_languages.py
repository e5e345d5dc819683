r"""What a file of each language defines: one pattern for the top of a file, one for what stands inside.

The first group that matched is the name. Patterns look at single lines and are bounded, so that a minified file of ten
megabytes costs no more than reading it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """How to find definitions: ``outer`` first, ``inner`` where a part of a file holds none. Both begin with the
    line end before, so that a text is searched with one put in front: to look for line ends is many times as fast as
    to try at every character whether a line begins there.
    """

    outer: re.Pattern[str]
    inner: re.Pattern[str] | None = None
    verb: str = "defines"


def _lines(*patterns: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(rf"\n(?:{'|'.join(patterns)})", re.MULTILINE | flags)


_PYTHON = Language(
    _lines(r"(?:async )?def (\w+)", r"class (\w+)", r"([A-Za-z_]\w*)[ \t]*(?::[^=\n]{1,80})?=(?!=)"),
    _lines(r"[ \t]+(?:async )?def (\w+)", r"[ \t]+class (\w+)"),
)
_SCRIPT = Language(
    _lines(
        r"(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?"
        r"(?:function\*?|class|interface|type|enum|namespace|const enum|const|let|var) ([A-Za-z_$][\w$]*)",
        r"(?:module\.)?exports\.([A-Za-z_$][\w$]*)[ \t]*=",
    ),
    _lines(
        r"[ \t]+(?:public |private |protected |static |async |get |set )*"
        r"([A-Za-z_$][\w$]*)\([^()\n]{0,120}\)[^;\n]{0,60}\{",
        r"[ \t]+(?:const|let|function) ([A-Za-z_$][\w$]*)",
    ),
)
_GO = Language(_lines(r"func (?:\([^)\n]{0,80}\) ?)?(\w+)", r"type (\w+)", r"(?:var|const) (\w+)"))
_RUST = Language(
    _lines(
        r"(?:pub(?:\([^)\n]{0,30}\))? )?(?:async |unsafe |const |extern \"C\" )*"
        r"(?:fn|struct|enum|trait|mod|type|static|union) (\w+)",
        r"(?:pub )?const (\w+)",
        r"macro_rules! (\w+)",
        r"impl(?:<[^>\n]{0,60}>)? (?:[\w:<>, ]{1,60} for )?(\w+)",
    ),
    _lines(r"[ \t]+(?:pub(?:\([^)\n]{0,30}\))? )?(?:async |unsafe |const )*fn (\w+)"),
)
_JAVA = Language(
    _lines(
        r"[ \t]{0,4}(?:@\w+ )?(?:public |private |protected |internal |static |final |abstract |sealed |data |open "
        r"|partial |case )*"
        r"(?:class|interface|enum|record|object|struct|protocol|trait|extension) (\w+)",
        r"(?:public |private |internal |suspend |inline )*(?:fun|func|def) (?:<[^>\n]{0,40}> ?)?(?:\w+\.)?(\w+)",
    ),
    _lines(
        r"[ \t]+(?:public|private|protected|internal|static|final|override|abstract|async|suspend)"
        r"[\w<>\[\], .?]{0,100}? (\w+)\(",
        r"[ \t]+(?:override )?(?:fun|func|def) (\w+)",
    ),
)
_C = Language(
    _lines(
        r"[ \t]*#[ \t]*define (\w+)",
        r"(?:typedef )?(?:struct|class|enum|union|namespace)(?: class)? (\w+)[^;\n]*$",
        r"[A-Za-z_][\w \t*&:<>,]{0,120}?[ *&]((?:\w+::)*~?\w+)\([^;\n]*$",
    )
)
_RUBY = Language(_lines(r"[ \t]*(?:class|module) ([\w:]+)", r"[ \t]*def ((?:self\.)?\w+[?!=]?)"))
_ELIXIR = Language(
    _lines(
        r"[ \t]*(?:defmodule|defprotocol|defimpl) ([\w.]+)",
        r"[ \t]*(?:def|defp|defmacro|defguard) ([\w]+[?!]?)",
        r"config (:\w+(?:, [\w.:]+(?=[,\n]))?)",
    )
)
_PHP = Language(
    _lines(
        r"[ \t]*(?:abstract |final |readonly )*(?:class|interface|trait|enum) (\w+)",
        r"[ \t]*(?:public |private |protected |static |final |abstract )*function &?(\w+)",
    )
)
_SHELL = Language(_lines(r"(?:function )?([\w-]+) ?\(\)[ \t]*\{?[ \t]*$", r"(?:export |readonly )*([A-Za-z_]\w*)="))
_SQL = Language(
    _lines(
        r"[ \t]*create (?:or replace )?(?:temp(?:orary)? |unique |materialized )*"
        r"(?:table|view|index|function|procedure|trigger|type|schema) (?:if not exists )?([\w.\"`\[\]]+)",
        r"[ \t]*alter table ([\w.\"`\[\]]+)",
        flags=re.IGNORECASE,
    )
)
_SECTIONS = Language(_lines(r"\[+([^\]\n]{1,80})\]"), _lines(r"([\w.-]+)[ \t]*="), "holds")
_YAML = Language(_lines(r"([A-Za-z_\"'][\w .\"'/-]{0,60}):(?:[ \t]|$)"), _lines(r"[ \t]+([A-Za-z_][\w.-]*):"), "holds")
_ENV = Language(_lines(r"(?:export )?([A-Za-z_][\w.-]*)[ \t]*="), None, "sets")
_CSS = Language(_lines(r"([.#@:]?[A-Za-z][^{}\n;]{0,80}?)[ \t]*\{"), None, "styles")
_SCHEMA = Language(_lines(r"[ \t]*(?:message|service|enum|type|input|interface|scalar|union|model|rpc) (\w+)"))
_TARGETS = Language(_lines(r"([\w./%-]+)[ \t]*:(?!=)"), None, "makes")
_STAGES = Language(_lines(r"FROM (\S+)", r"(?:ENTRYPOINT|CMD) (.{1,80})"), None, "builds from")
_HEADINGS = Language(_lines(r"#{1,6}[ \t]+(\S.{0,100})", r"(\S.{0,100})\n(?:={3,}|-{3,})[ \t]*$"), None, "headings")

LANGUAGES: dict[str, Language] = {
    suffix: language
    for language, suffixes in (
        (_PYTHON, ".py .pyi .pyx .ipy"),
        (_SCRIPT, ".js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte .astro"),
        (_GO, ".go"),
        (_RUST, ".rs"),
        (_JAVA, ".java .kt .kts .cs .scala .swift .groovy .dart"),
        (_C, ".c .h .cc .cpp .cxx .hpp .hh .m .cu"),
        (_RUBY, ".rb .rake gemfile rakefile"),
        (_ELIXIR, ".ex .exs"),
        (_PHP, ".php"),
        (_SHELL, ".sh .bash .zsh .bats"),
        (_SQL, ".sql"),
        (_SECTIONS, ".toml .ini .cfg .conf .lock .editorconfig .service"),
        (_YAML, ".yml .yaml"),
        (_ENV, ".env .properties .example"),
        (_CSS, ".css .scss .less"),
        (_SCHEMA, ".proto .graphql .gql .prisma"),
        (_TARGETS, "makefile .mk justfile"),
        (_STAGES, "dockerfile containerfile"),
        (_HEADINGS, ".md .mdx .markdown .rst .adoc readme changelog"),
    )
    for suffix in suffixes.split()
}
"""By the ending of a file's name, or by the whole name, in lower case."""

PROSE = _HEADINGS
"""For text of which nothing else is known."""
