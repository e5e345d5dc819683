"""A view → the messages of a request that every provider accepts: each call with its result right behind it.

What the recording itself left broken is mended here, with a note: a call without a result gets one that says so, a
result without its call becomes text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.exports.parts import Call, Conversation, Result, Said, Text
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.exports.parts import Part
    from ctxbudget.exports.reading import Blocks
    from ctxbudget.trace import Fragment, Trace

MISSING = "[no result of this call was recorded]"
ORPHAN = "[a result whose call is not in this context]"
BEGINS = "[the recording begins here]"
NOTHING = "[no message was recorded]"
RESULTS = frozenset({Kind.RESULT, Kind.RETRIEVAL, Kind.MEDIA})


def conversation(trace: Trace, fragments: Iterable[Fragment], blocks: Blocks) -> Conversation:
    """The messages that hold the fragments of a view, in their order."""
    return Writer(trace, blocks).write(list(fragments))


class Writer:
    """Puts the messages of one request together."""

    def __init__(self, trace: Trace, blocks: Blocks) -> None:
        """``trace`` tells how its agent made its calls; ``blocks`` reads what has no text."""
        self._blocks = blocks
        self._written = _written_calls(trace)
        self._made = Conversation()
        self._results: dict[tuple[str, str], Result] = {}
        self._asking: set[tuple[str, str]] = set()
        self._told: set[tuple[str, str]] = set()
        self._spot: tuple[int, str] | None = None
        self._origin: object = None

    def write(self, fragments: list[Fragment]) -> Conversation:
        """The conversation."""
        for fragment in fragments:
            self._collect(fragment)
        for fragment in fragments:
            self._add(fragment)
        self._answer()
        made = self._made
        made.said = [said for said in made.said if said.parts]
        first = next((said for said in made.said if said.role != "system"), None)
        if first is None or first.role != "user":
            at = sum(1 for _ in _leading(made.said))
            made.said.insert(at, Said("user", [Text(BEGINS if first else NOTHING)]))
            made.note("the first message is not a user's: one was put before it")
        return made

    # ── results, which are told behind their calls ─────────────────────────────────────────────────────────────

    def _collect(self, fragment: Fragment) -> None:
        """Take the parts of a result together, wherever they stand."""
        if not fragment.answers or self._is_written(fragment):
            return
        result = self._results.setdefault(_key(fragment), Result(_key(fragment)))
        result.error = result.error or fragment.error
        if fragment.kind is Kind.MEDIA and fragment.form is None:
            result.media.append(self._blocks.media(fragment))
        elif not (fragment.estimated or fragment.hidden):
            result.texts.append(fragment.text)

    def _answer(self) -> None:
        """Tell the results of the calls in the last message: the model has said all of it."""
        last = self._made.said[-1] if self._made.said else None
        calls = [part for part in last.parts if isinstance(part, Call)] if last else []
        waiting = [call for call in calls if call.key not in self._told]
        if not waiting:
            return
        results: list[Part] = []
        for call in waiting:
            found = self._results.get(call.key)
            if found is None:
                self._made.note("a call has no result in the recording: one was put in that says so")
            results.append(found or Result(call.key, [MISSING], error=True))
            self._told.add(call.key)
        self._made.said.append(Said("user", results))
        self._spot = None

    # ── everything, message by message ─────────────────────────────────────────────────────────────────────────

    def _add(self, fragment: Fragment) -> None:
        if fragment.kind is Kind.TOOL_DEFINITIONS and fragment.form is None and self._define(fragment):
            return
        if fragment.answers and not self._is_written(fragment):
            if _key(fragment) not in self._told and not self._asked(fragment):
                self._put(fragment, "user", self._orphan(fragment))
            return
        role = fragment.role if fragment.role in {"system", "assistant"} else "user"
        part = self._part(fragment)
        if part is None:
            return
        before = self._words() if self._spot == (fragment.message, role) else ""
        self._put(fragment, role, part)
        if fragment.asks and fragment.form is None and self._is_written(fragment):
            self._restore(fragment, before)

    def _asked(self, fragment: Fragment) -> bool:
        last = self._made.said[-1] if self._made.said else None
        return last is not None and any(isinstance(one, Call) and one.key == _key(fragment) for one in last.parts)

    def _put(self, fragment: Fragment, role: str, part: Part) -> None:
        """Into the message that the fragment belongs to, or a new one. Pieces of one block are one text again."""
        if self._spot != (fragment.message, role):
            self._answer()
            self._made.said.append(Said(role))
            self._spot, self._origin = (fragment.message, role), None
        parts = self._made.said[-1].parts
        whole = fragment.origin if fragment.form is None and fragment.origin.line else None
        last = parts[-1] if parts else None
        if isinstance(part, Text) and isinstance(last, Text) and whole is not None and whole == self._origin:
            last.text += part.text
        else:
            parts.append(part)
        self._origin = whole

    def _words(self) -> str:
        return "".join(part.text for part in self._made.said[-1].parts if isinstance(part, Text))

    def _restore(self, call: Fragment, before: str) -> None:
        """A reply with a call written as text, as it was written, where nothing of it is missing."""
        whole = self._blocks.reply(call, before)
        if whole is not None:
            self._made.said[-1].parts = [Text(whole)]

    def _part(self, fragment: Fragment) -> Part | None:
        """What a fragment is in a request; None, with a note, where the recording has nothing to send."""
        if fragment.kind is Kind.THINKING and fragment.form is None:
            thinking = self._blocks.thinking(fragment)
            if thinking is None and fragment.text:
                self._made.note("thinking has no signature in the file, and is left out")
            elif thinking is None:
                self._made.note("a hidden part of a reply is not in the file, and is left out")
            return thinking
        if fragment.asks and fragment.kind not in RESULTS and not self._is_written(fragment):
            return Call(self._new(_key(fragment)), fragment.tool or "tool", arguments(fragment))
        if fragment.kind is Kind.MEDIA and fragment.form is None:
            return self._blocks.media(fragment)
        if fragment.hidden or (fragment.estimated and not fragment.text):
            what = "system prompt, tool definitions" if fragment.kind is Kind.UNSEEN else fragment.kind.value
            self._made.note(f"{fragment.tokens:,} tokens ({what}) are billed and not in the file: left out")
            return None
        return Text(fragment.text) if fragment.text.strip() else None

    def _new(self, key: tuple[str, str]) -> tuple[str, str]:
        """The key of a call; a second call under the same id is another one."""
        while key in self._asking:
            key = key[0], f"{key[1]}+"
        self._asking.add(key)
        return key

    def _orphan(self, fragment: Fragment) -> Text:
        self._made.note("a result has no call before it: it is sent as text")
        self._results.pop(_key(fragment), None)
        return Text(f"{ORPHAN}\n{fragment.text}".rstrip())

    def _is_written(self, fragment: Fragment) -> bool:
        """Whether it belongs to a call that the agent wrote as text: it is sent as text too."""
        return fragment.call is not None and _key(fragment) in self._written

    def _define(self, fragment: Fragment) -> bool:
        """Take up tool definitions, one or a list of them; False where they are no JSON."""
        found = _parsed(fragment.text)
        tools = [tool for tool in (found if isinstance(found, list) else [found]) if isinstance(tool, dict)]
        self._made.tools += tools
        return bool(tools)


def arguments(call: Fragment) -> dict[str, Any]:
    """The arguments of a call as an object: those recorded, else what stands in their place under one name."""
    text = call.text.removeprefix(f"{call.tool} ")
    if call.form is not None:
        return {"cleared": call.text}
    found = _parsed(text)
    return found if isinstance(found, dict) else {"input": text} if text else {}


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return None


def _key(fragment: Fragment) -> tuple[str, str]:
    return fragment.unit, str(fragment.call)


def _written_calls(trace: Trace) -> frozenset[tuple[str, str]]:
    """Calls made as text: their arguments are no object, and what answers them is a user's message.

    A server's own tools, whose results stand in the reply itself, are told as text as well.
    """
    raw = {_key(one) for one in trace.fragments if _is_raw(one)}
    by_user = {_key(one) for one in trace.fragments if one.answers and one.role == "user"}
    answered = {_key(one) for one in trace.fragments if one.answers}
    inside = {_key(one) for one in trace.fragments if one.asks and one.kind in RESULTS}
    as_text = raw & by_user
    return frozenset(as_text | inside | ((raw - answered) if as_text else set()))


def _is_raw(fragment: Fragment) -> bool:
    if not fragment.asks or fragment.kind in RESULTS:
        return False
    return not isinstance(_parsed(fragment.text.removeprefix(f"{fragment.tool} ")), dict)


def _leading(said: list[Said]) -> Iterable[Said]:
    for one in said:
        if one.role != "system":
            return
        yield one
