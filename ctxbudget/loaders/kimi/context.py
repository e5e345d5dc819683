"""The context file of Kimi CLI: its messages as they stand, with the size of each prompt and reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.kimi.steps import Call, Result
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.loaders.kimi.talk import Talk
    from ctxbudget.records import Record

COMPACTED = "<system>Previous context has been compacted"
"""First words of a summary; what it stands for is in another file."""
OWN_WORDS = ("<system>", "<system-reminder>")
"""First words of messages that the client writes itself."""


def say(talk: Talk, records: Iterator[Record], start: Start) -> None:  # noqa: ARG001 - all tellers are called alike
    """Say a context to ``talk``. The size before a reply is its prompt, the one behind it the prompt and the reply."""
    found = list(records)
    size, asked = 0, False
    for at, record in enumerate(found):
        data = mapping(record.data)
        match data.get("role"):
            case "_system_prompt":
                talk.system(string(data.get("content")) or "", [], record.line)
            case "_usage":
                size, asked = tokens(data.get("token_count")), True
            case "_checkpoint":
                continue
            case "assistant":
                _reply(talk, data, record.line)
                after = mapping(found[at + 1].data) if at + 1 < len(found) else {}
                talk.done(_usage(size if asked else 0, after), None)
                asked = False
            case "tool":
                call = string(data.get("tool_call_id")) or "?"
                talk.result(Result(record.line, call, data.get("content"), _failed(data.get("content"))))
            case "user" | "system":
                talk.message(data.get("content"), record.line, _kind(data.get("content")))
            case _:
                talk.skipped["record without a known role, skipped"] += 1


def _reply(talk: Talk, data: dict[str, Any], line: int) -> None:
    talk.begin(line)
    content = data.get("content")
    for part in [content] if isinstance(content, str) else items(content):
        talk.part(part, line)
    for call in items(data.get("tool_calls")):
        facts = mapping(mapping(call).get("function"))
        if tool := string(facts.get("name")):
            talk.call(Call(line, string(mapping(call).get("id")), tool, facts.get("arguments")))
        else:
            talk.skipped["call without a name, skipped"] += 1


def _usage(prompt: int, after: dict[str, Any]) -> Usage | None:
    """What the sizes around a reply tell; how much of the prompt was cached they do not."""
    total = tokens(after.get("token_count")) if after.get("role") == "_usage" else 0
    if not prompt:
        return None
    output = max(0, total - prompt)
    return Usage(input=prompt, output=output, total=prompt + output, final=total > prompt)


def _kind(content: Any) -> Kind:
    first = content if isinstance(content, str) else mapping(next(iter(items(content)), None)).get("text")
    if isinstance(first, str) and first.startswith(COMPACTED):
        return Kind.SUMMARY
    return Kind.INJECTED if isinstance(first, str) and first.startswith(OWN_WORDS) else Kind.USER


def _failed(content: Any) -> bool:
    first = content if isinstance(content, str) else mapping(next(iter(items(content)), None)).get("text")
    return isinstance(first, str) and first.startswith("<system>ERROR")
