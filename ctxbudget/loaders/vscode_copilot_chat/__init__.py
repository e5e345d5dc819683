"""VS Code Copilot Chat: sessions (chatSessions/<id>.json, .jsonl) and exported chat replays (.chatreplay.json).

Where: ``<VS Code user folder>/workspaceStorage/<hash>/chatSessions/<id>.json`` (version 3), newer ``.jsonl`` (a log of changes); a replay is exported from the chat's debug view.
Seen: in a session the user's messages as they were rendered, every round of calls with its results, summaries; in a replay every request whole, with system prompt and tool schemas.
Unseen: in a session system prompt and tool schemas, and in older ones the window; in a replay thinking.
Counts: a replay has the usage of every call, inclusive; a session has none up to 2025, since then the last prompt and the summed output of each request, and of every round where a ``.jsonl`` holds the changes one by one.

Rules: microsoft/vscode-copilot-chat 0.31 (``src/extension/prompt/common``, ``src/extension/log``) and microsoft/vscode
``chatModel.ts``, ``objectMutationLog.ts``, to 2026. A round is one call of the model. A summary stands for all rounds up to the
one that it names. Tool results are stored as the tree of their rendering.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.loaders.vscode_copilot_chat import replay, session
from ctxbudget.loaders.vscode_copilot_chat.changes import states
from ctxbudget.message_lists import opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

_SESSION = re.compile(rb'"(?:responder|requester)Username"\s*:')
_REPLAY = re.compile(rb'"(?:totalPrompts|requestMessages|totalLogEntries|logCount)"\s*:')


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A session with its two names and its requests, or a replay with its prompts and their logs."""
    for value in opening(head)[:5]:
        match value:
            case {"requests": list()} if _SESSION.search(head):
                return 0.95
            case {"kind": 0, "v": {"requests": list()}} if _SESSION.search(head) or b'"initialLocation"' in head:
                return 0.95
            case {"prompts": list()} | {"prompt": _, "logs": list()} if _REPLAY.search(head):
                return 0.95
    # the requests may begin behind the head: pictures stand before them
    return 0.85 if _SESSION.search(head) and b'"initialLocation"' in head else 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session, or the conversations that a replay's requests are of."""
    found = states(reading)
    for data in found:
        if "requests" in data:
            yield session.trace(data, start, reading.parse, numbered=len(found) > 1)
        else:
            yield from replay.traces(data, start, reading)
