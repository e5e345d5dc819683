r"""How test runners say what passed and what failed: a pattern for the summary, one for a failure, one for its error.

``summary`` matches the line (or lines) with the counts; ``failure`` names a failing test in its first group, and its
error in the second where the line holds it; ``error`` finds the first line of an error behind the name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Framework:
    """One runner's wording. ``rest`` takes over where ``failure`` finds nothing."""

    name: str
    begins: str
    """How the line of each summary begins, in few steps: what is looked for first, for all runners at once."""
    summary: re.Pattern[str]
    failure: re.Pattern[str]
    error: re.Pattern[str]
    rest: re.Pattern[str] | None = None
    section: str = ""
    """What stands before the name where the errors have a section of their own."""


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_RAISED = _p(
    r"^[ \t]*(?:E[ \t]+)?((?:[\w.]*(?:Error|Exception|Failure|Failed|Warning|Interrupt|Exit)\b|panic|assert\w*)[^\n]*)$"
)

FRAMEWORKS = (
    Framework(
        "pytest",
        r"=*[ ]?(?:no tests|\d+ [pfesxd])",
        _p(
            r"^=*[ ]?((?:no tests ran|\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b)"
            r"[^\n]{0,200}? in [\d.]+s[^\n]{0,100}?)[ =]{0,200}$"
        ),
        _p(r"^(?:FAILED|ERROR) (\S+::.+?|\S+?\.py)(?: - ([^\n]*))?$"),
        _p(r"^E[ \t]+([^\n]+)$"),
        _p(r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(.+?) _{3,}$"),
        section="_",
    ),
    Framework(
        "unittest",
        r"Ran \d",
        _p(r"^Ran (\d+ tests?) in [\d.]+s\n+((?:OK|FAILED|NO TESTS RAN)[^\n]*)$"),
        _p(r"^(?:FAIL|ERROR): (\S+)(?: [^\n]*)?()$"),
        _p(r"^((?!File|Traceback)[A-Za-z_][\w.]*(?:Error|Exception|Failure|Exit|Interrupt)\b[^\n]*)$"),
    ),
    Framework(
        "jest",
        r"Tests:",
        _p(r"^Tests:[ \t]+([^\n]*\d+ total)$"),
        _p(r"^[ \t]+● ([^\n]+? \u203a [^\n]+)()$"),
        _p(r"^[ \t]+(?!at )([A-Z]\w*Error[^\n]*|expect\([^\n]*|Expected[^\n]*|[^\s\u203a●][^\n]{8,})$"),
        _p(r"^[ \t]+● ([^\n]+)()$"),
    ),
    Framework(
        "vitest",
        r"[ \t]+Tests",
        _p(r"^[ \t]+Tests[ \t]+([^\n]*\(\d+\))$"),
        _p(r"^[ \t]*FAIL[ \t]+([^\n]+? > [^\n]+)()$"),
        _p(r"^([A-Z]\w*Error:[^\n]*|Error:[^\n]*)$"),
        _p(r"^[ \t]*[×✗] ([^\n]+?)(?: \d+ ?ms)?()$"),
    ),
    Framework(
        "mocha",
        r"[ \t]+\d+ passing",
        _p(r"^[ \t]+(\d+ passing)[^\n]*(\n[ \t]+\d+ (?:pending|failing))*"),
        _p(r"^[ \t]+\d+\) ((?:[^\n]+\n[ \t]+){0,3}?[^\n]+):()\n\n"),
        _p(r"^[ \t]+([A-Z]?\w*Error[^\n]*)$"),
    ),
    Framework(
        "cargo",
        r"test result: ",
        _p(r"^test result: (?:\w+)\. (\d+ passed; \d+ failed[^\n;]*; \d+ ignored)[^\n]*$"),
        _p(r"^test (\S+)(?: - [^\n]*?)? \.\.\. FAILED()$"),
        _p(r"^thread '[^'\n]*'[^\n]* panicked at (?:'([^\n]*)', \S+|[^\n]*:\n[^\n]+)$"),
        section="----",
    ),
    Framework(
        "exunit",
        r"\d+ \w+, ",
        _p(r"^((?:\d+ \w+, )*\d+ tests?, \d+ failures?[^\n]*)$"),
        _p(r"^[ \t]+\d+\) ((?:test|doctest|property) [^\n]+?) \([\w.]+\)()$"),
        _p(r"^[ \t]+((?:\*\* \(|Assertion |Expected |match |code:)[^\n]*)$"),
    ),
    Framework(
        "rspec",
        r"\d+ ex",
        _p(r"^(\d+ examples?, \d+ failures?[^\n]*)$"),
        _p(r"^rspec (\S+) # ([^\n]*)$"),
        _p(r"^[ \t]+((?:expected|Failure/Error)[^\n]*)$"),
    ),
    Framework(
        "junit",
        r"(?:\[\w+\] )?Tests run",
        _p(r"^(?:\[\w+\] )?(Tests run: \d+, Failures: \d+, Errors: \d+(?:, Skipped: \d+)?)[^\n]*$"),
        _p(r"^\[ERROR\][ \t]+([A-Z][\w.$]*\.\w+)(?::\d+)?[ »:]+([^\n]*)$"),
        _RAISED,
    ),
    Framework(
        "gradle",
        r"\d+ test",
        _p(r"^(\d+ tests? completed(?:, \d+ failed)?(?:, \d+ skipped)?)$"),
        _p(r"^([A-Z][\w.$]* > [^\n]+?) FAILED()$"),
        _p(r"^[ \t]+([\w.]+(?:Error|Exception)[^\n]*)$"),
    ),
    Framework(
        "phpunit",
        r"Tests: \d|OK \(",
        _p(r"^(?:(Tests: \d+, Assertions: \d+[^\n]*)|OK \((\d+ tests?, \d+ assertions?)\))$"),
        _p(r"^\d+\) ([\w\\]+::[^\n]+)()$"),
        _p(r"^(?!\d+\))(\S[^\n]+)$"),
    ),
    Framework(
        "dotnet",
        r"(?:Passed|Failed)!",
        _p(r"^(?:Passed|Failed)![ \t]+-[ \t]+(Failed:[ \t]+\d+, Passed:[ \t]+\d+, Skipped:[ \t]+\d+)[^\n]*$"),
        _p(r"^[ \t]+Failed (\S+)(?: \[[^\n]*\])?()$"),
        _p(r"^[ \t]+(?!Error Message)([A-Z][^\n]+)$"),
    ),
    Framework(
        "tap",
        r"# (?:tests|pass) ",
        _p(r"^# (?:tests|pass) \d+(?:\n# \w+ [\d.]+)*"),
        _p(r"^[ \t]*not ok \d+ -? ?([^\n#]+?)(?: #[^\n]*)?()$"),
        _p(r"^[ \t]+(?:error|message): ?['\"|]?-?([^\n]*?)['\"]?$"),
    ),
)
"""In the order in which they are tried; the first whose summary is there wins."""

GO = Framework(
    "go",
    r"(?:ok|FAIL|---|\?)[ \t]+[\w./-]",
    _p(r"^(?:ok|FAIL|---|\?)[ \t]+[\w./-]+[ \t]+(?:[\d.]+s|\([^)\n]*\)|\[[^\]\n]*\])"),
    _p(r"^[ \t]*--- FAIL: (\S+)(?: \([^)\n]*\))?()$"),
    _p(r"^[ \t]+(\S+\.go:\d+: [^\n]*)$"),
)
"""``go test`` has no line of counts: its marks are counted."""

GENERIC = Framework(
    "generic",
    r"",
    _p(
        r"^([^\n]{0,120}?\b\d[\d,]*(?: of \d[\d,]*)? (?:\w+ )?(?:passed|failed|failures?|passing|failing)\b[^\n]{0,120}"
        r"|[^\n]{0,60}\b(?:passed|failed|failures)[:=][ \t]*\d+[^\n]{0,120})$"
    ),
    _p(r"^[ \t]*(?:FAIL(?:ED)?|ERROR|not ok|✗|✘|✕|×|❌)[:\s][ \t]*(\S[^\n]*?)()[ \t]*$"),
    _p(r"^[ \t]+(\S[^\n]*)$"),
)
"""For runners of which nothing is known: a line that counts what passed and failed, lines that begin with FAIL."""
