"""A notation for small traces, and back.

``S30 T90 U10 | R4 c1:8 r1:700 | H20 c2:8 r2:300 A5 U9`` reads: a system prompt of 30 tokens, tool definitions of 90,
a user text of 10; then what enters at the second turn: reasoning, a call, its result; and so on. ``|`` begins a turn.

    S system  T tools  X unseen  M memory file  U user  I injected  R reasoning  H thinking  A answer
    c1:8 a call  p1:8 a call of a plan tool  r1:8 its result  v1:8 a retrieval result  m1:8 media  (numbers pair them)
    c1=Read:8 names the tool   r1!:8 failed   U9* is pinned   r1:8&U5 stand in one message

Consecutive assistant parts are one message and, with their results, one unit. A token is a word: count with ``words``.
"""

import re

from ctxbudget.trace import Compaction, Edit, Form, Fragment, Kind, Origin, Resource, Source, Trace, Turn

LETTERS = {
    "S": Kind.SYSTEM_PROMPT, "T": Kind.TOOL_DEFINITIONS, "X": Kind.UNSEEN, "M": Kind.MEMORY_FILE, "U": Kind.USER,
    "I": Kind.INJECTED, "R": Kind.REASONING, "H": Kind.THINKING, "A": Kind.ANSWER, "c": Kind.CALL, "p": Kind.PLAN,
    "r": Kind.RESULT, "v": Kind.RETRIEVAL, "m": Kind.MEDIA,
}  # fmt: skip
_PART = re.compile(r"(?P<letter>[A-Za-z])(?P<call>\d*)(?:=(?P<tool>\w+))?(?P<error>!?)(?::?(?P<size>\d+))?(?P<pin>\*?)")
CLASSES = {"Read": "read", "Bash": "shell", "Grep": "search", "Edit": "edit", "Write": "write", "Todo": "plan"}


class Sketched(Trace):
    """A trace that shows itself as the sketch it was made from."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"sketch({self.source.label!r})" + (f" with {len(self.recorded)} compactions" if self.recorded else "")

    def _repr_pretty_(self, printer, cycle) -> None:  # noqa: ARG002 - the name its caller uses
        printer.text(repr(self))


def words(text: str) -> int:
    """The counter of sketched traces: a token is a word."""
    return len(text.split())


def filler(name: str, size: int) -> str:
    """``size`` words on lines of ten, the first of them telling whose they are."""
    every = [name, *(f"w{number}" for number in range(1, size))][:size]
    return "\n".join(" ".join(every[at : at + 10]) for at in range(0, size, 10))


def sketch(text: str, *, recorded: tuple[Compaction, ...] = (), texts: dict[str, str] | None = None) -> Trace:
    """The trace that a sketch draws. ``texts`` gives the text of some fragments by their label (``r1``, ``U2``)."""
    fragments: list[Fragment] = []
    turns = []
    calls: dict[str, Fragment] = {}
    counts: dict[str, int] = {}
    message, role_before = -1, ""
    for index, turn in enumerate(text.split("|"), 1):
        start = len(fragments)
        for number, part in enumerate(turn.replace("&", " &").split()):
            together = part.startswith("&")
            found = _PART.fullmatch(part.lstrip("&"))
            assert found is not None, part
            letter, call = found["letter"], found["call"]
            kind = LETTERS[letter]
            if letter in "STXMUIRHA":
                size, call = int(call), ""
            else:
                size = int(found["size"])
            role = _role(letter)
            if not (together or (role == "assistant" and role_before == "assistant" and number > 0)):
                message += 1
            role_before = role
            counts[letter] = counts.get(letter, 0) + 1
            label = f"{letter}{call or counts[letter]}"
            asked = calls.get(call)
            unit = (
                f"u{message}"
                if letter in "cp"
                else asked.unit
                if letter in "rvm" and asked
                else f"t{index}.{len(fragments) - start}"
            )
            tool = found["tool"] or (
                asked.tool if asked else "Todo" if letter == "p" else "Read" if letter in "crvm" else None
            )
            body = (texts or {}).get(label, filler(label, size))
            target = Resource(CLASSES[tool], f"{tool}-{call}.py") if tool else None
            fragment = Fragment(
                f"t{index}.{len(fragments) - start}", kind, body, words(body), words(body), index, unit, message, role,
                Origin("sketch", len(fragments) + 1), call or None, tool, target,
                bool(found["error"]), bool(found["pin"]),
            )  # fmt: skip
            if letter in "cp":
                calls[call] = fragment
            fragments.append(fragment)
        turns.append(Turn(index, start, len(fragments), pending=False))
    return Sketched(Source("sketch", "sketch", label=text), tuple(fragments), tuple(turns), recorded=recorded)


def _role(letter: str) -> str:
    if letter in "STX":
        return "system"
    if letter in "RHAcp":
        return "assistant"
    return "tool" if letter in "rvm" else "user"


def compaction(turn: int, removed: str, text: str = "", form: Form = Form.SUMMARY) -> Compaction:
    """A recorded compaction before a turn: removes fragments by id (separated by spaces), puts in a user text."""
    size = words(text)
    put = Fragment(
        f"c{turn}.0", Kind.SUMMARY, text, size, size, turn, f"c{turn}.0", 9_000 + turn, "user", Origin("sketch", 0)
    )
    return Compaction(
        turn, Edit("recorded", tuple(removed.split()), (put,) if text else (), form, "auto compaction"), "auto"
    )


def until(trace: Trace, turn: int) -> Trace:
    """The trace cut after a turn."""
    turns = trace.turns[:turn]
    recorded = tuple(one for one in trace.recorded if one.turn <= turn)
    return Trace(trace.source, trace.fragments[: turns[-1].stop], turns, recorded=recorded)


def shown(fragments) -> str:
    """Fragments as a sketch would write them; stand-ins with their form in place of their size."""
    letters = {kind: letter for letter, kind in LETTERS.items()} | {Kind.SUMMARY: "Y"}
    parts = []
    for one in fragments:
        size = f"~{one.form}" if one.form else f":{one.tokens}" if one.call else str(one.tokens)
        parts.append(f"{letters.get(one.kind, '?')}{one.call or ''}{size}")
    return " ".join(parts)
