"""What harnesses put round the output of a tool: taken off, the exit status kept.

Codex: ``Exit code: 1``, ``Wall time: …``, ``Output:``. Claude Code: ``Exit code 1``, ``<tool_use_error>``, and
reminders at the end. SWE-agent: ``OBSERVATION:``, ``[File: … (31 lines total)]``, and a prompt at the end. OpenHands:
``EXECUTION RESULT of``, ``[Command finished with exit code 0]``. mini-SWE-agent: ``<returncode>``. Gemini CLI:
``Command:`` … ``Exit Code:``.
"""

from __future__ import annotations

import re

_FRONT = re.compile(
    r"\s*(?:"
    r"(?:OBSERVATION|Observation|EXECUTION RESULT of \[[^\]\n]*\]):[ \n]"
    r"|(?:Chunk ID: [^\n]*\n)?(?:Exit code: (?P<codex>-?\d+)\n)?Wall time: [^\n]*\n"
    r"(?:Process exited with code (?P<exited>-?\d+)\n)?(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?"
    r"(?:Output:\n)?(?:Total output lines: \d+\n+)?"
    r"|(?:Error: )?Exit code (?P<claude>\d+)(?:\n|\Z)"
    r"|<returncode>(?P<mini>-?\d+)</returncode>\s*<output>\n?"
    r"|<tool_use_error>"
    r"|Here's the result of running `cat -n` on [^\n]*:\n"
    r"|The file \S+ has been (?:edited|updated)\. Here's the result of running `cat -n` on a snippet of [^\n]*:\n"
    r"|\[File: [^\n]*\(\d+ lines total\)\]\n(?:\(\d+ more lines? above\)\n)?"
    r")"
)
_BACK = re.compile(
    r"(?:"
    r"<system-reminder>(?:(?!<system-reminder>).)*</system-reminder>"
    r"|</tool_use_error>|</output>"
    r"|\((?:Open file|Current directory): [^\n]*\)|bash-\$"
    r"|\(\d+ more lines? below\)"
    r"|\[(?:Current working directory|Python interpreter): [^\n]*\]"
    r"|\[(?:The command completed|Command finished) with exit code (?P<code>-?\d+)\.?\]"
    r")\s*\Z",
    re.DOTALL,
)
_GEMINI = re.compile(
    r"Command: [^\n]*\nDirectory: [^\n]*\n(?:Stdout|Output): (?P<out>.*?)\n(?:Stderr|Error): ", re.DOTALL
)
_GEMINI_BEGINS = "Command: "
_GEMINI_CODE = re.compile(r"\nExit Code: (-?\d+)\n")
_ENDS = ("system-reminder>", "_error>", "output>", ")", "bash-$", "]")
_REACH = 4_000
"""Characters at the end in which a trailer lies."""
_LAYERS = 6
_NOTHING = re.compile(r"\s*(?:\([^()\n]*no output\)|[^\n]*(?:had no|not produce any) output\.?)\s*\Z", re.IGNORECASE)
"""How harnesses say that there was nothing."""
_SILENT = 100


def unwrapped(text: str) -> tuple[str, int | None]:
    """The output itself, and the exit status where the envelope names one."""
    status, start = None, 0
    for _ in range(_LAYERS):
        if (front := _FRONT.match(text, start)) is None:
            break
        status, start = _code(front, status), front.end()
    stop = len(text)
    for _ in range(_LAYERS):
        if (back := _trailer(text, start, stop)) is None:
            break
        status, stop = _code(back, status), stop - len(back[0])
    body = text[start:stop]
    if len(body) < _SILENT and _NOTHING.match(body):
        return "", status
    if body.startswith(_GEMINI_BEGINS) and (gemini := _GEMINI.match(body)):
        code = _GEMINI_CODE.search(body, gemini.end())
        return gemini["out"], int(code[1]) if code else status
    return body, status


def _trailer(text: str, start: int, stop: int) -> re.Match[str] | None:
    """The last trailer that ends at ``stop``. Cheap where there is none: most outputs end otherwise."""
    end = text[max(start, stop - 40) : stop].rstrip()
    if not end.endswith(_ENDS):
        return None
    return _BACK.search(text[max(start, stop - _REACH) : stop])


def _code(match: re.Match[str], known: int | None) -> int | None:
    given = next((value for value in match.groupdict().values() if value is not None), None)
    return known if given is None else int(given)
