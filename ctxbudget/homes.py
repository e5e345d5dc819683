"""Where the agents of this machine keep their sessions. Places are looked at, nothing is ever written there.

The folders and the variables that move them are those of the products' own documentation and sources, as of 2026:
Claude Code (``CLAUDE_CONFIG_DIR``), Codex (``CODEX_HOME``), Gemini CLI (``GEMINI_CLI_HOME`` is the parent of
``.gemini``), OpenCode (``XDG_DATA_HOME`` on every system), Copilot CLI (``COPILOT_HOME``), pi
(``PI_CODING_AGENT_DIR``), Qwen Code (``QWEN_RUNTIME_DIR``, else ``QWEN_HOME``), Kimi (``KIMI_SHARE_DIR``, and
``KIMI_CODE_HOME`` of Kimi Code), Goose (``GOOSE_PATH_ROOT``), Cline and Roo (the storage of their VS Code extension).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True, slots=True)
class Home:
    """The sessions of one agent.

    ``moved`` are environment variables, the first one that is set counts, each with the folder below it; ``usual``
    are the folders otherwise (``~`` is the user's). ``files`` are patterns below those folders.
    """

    agent: str
    moved: tuple[tuple[str, str], ...]
    usual: tuple[str, ...]
    files: tuple[str, ...]

    def roots(self, environment: Mapping[str, str], home: Path) -> Iterator[Path]:
        """The folders to look in, whether they are there or not."""
        for variable, below in self.moved:
            if value := environment.get(variable, "").strip():
                yield _absolute(value, home) / below
                return
        for folder in self.usual:
            expanded = folder.replace("%APPDATA%", environment.get("APPDATA", "~/AppData/Roaming"))
            yield _absolute(expanded, home)

    def find(self, environment: Mapping[str, str], home: Path) -> Iterator[Path]:
        """The session files that are there; a folder that cannot be read has none."""
        for root in self.roots(environment, home):
            for pattern in self.files:
                yield from _matching(root, pattern)


_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_PLACES = ("~/.config", "~/Library/Application Support", "%APPDATA%")
_EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline")
_STORED = "User/globalStorage"

HOMES = (
    Home(
        "claude",
        (("CLAUDE_CONFIG_DIR", "projects"),),
        ("~/.claude/projects", "~/.config/claude/projects"),
        ("*/*.jsonl",),
    ),
    Home(
        "codex",
        (("CODEX_HOME", ""),),
        ("~/.codex",),
        ("sessions/**/rollout-*.jsonl", "sessions/**/rollout-*.jsonl.zst", "archived_sessions/*.jsonl"),
    ),
    Home(
        "gemini",
        (("GEMINI_CLI_HOME", ".gemini/tmp"),),
        ("~/.gemini/tmp",),
        ("*/chats/session-*.json", "*/chats/session-*.jsonl"),
    ),
    Home("opencode", (("XDG_DATA_HOME", "opencode"),), ("~/.local/share/opencode",), ("opencode.db",)),
    Home(
        "copilot",
        (("COPILOT_HOME", "session-state"),),
        ("~/.copilot/session-state",),
        ("*/events.jsonl", "*.jsonl"),
    ),
    Home("pi", (("PI_CODING_AGENT_DIR", "sessions"),), ("~/.pi/agent/sessions",), ("*/*.jsonl",)),
    Home(
        "qwen",
        (("QWEN_RUNTIME_DIR", "projects"), ("QWEN_HOME", "projects")),
        ("~/.qwen/projects",),
        ("*/chats/*.jsonl",),
    ),
    Home("kimi", (("KIMI_SHARE_DIR", "sessions"),), ("~/.kimi/sessions",), ("*/*/wire.jsonl",)),
    Home("kimi", (("KIMI_CODE_HOME", "sessions"),), ("~/.kimi-code/sessions",), ("**/agents/main/wire.jsonl",)),
    Home(
        "goose",
        (("GOOSE_PATH_ROOT", "data/sessions"), ("XDG_DATA_HOME", "goose/sessions")),
        ("~/.local/share/goose/sessions", "%APPDATA%/Block/goose/data/sessions"),
        ("sessions.db", "*.jsonl"),
    ),
    Home(
        "cline",
        (),
        tuple(
            f"{place}/{editor}/{_STORED}/{extension}/tasks"
            for place in _PLACES
            for editor in _EDITORS
            for extension in _EXTENSIONS
        ),
        ("*/api_conversation_history.json",),
    ),
)
"""Every agent whose sessions are found, in the order they are named in help and errors."""

AGENTS = tuple(dict.fromkeys(home.agent for home in HOMES))

SUBAGENT = "agent-"
"""Claude Code's sub-agents of older versions lie beside the sessions, under names that begin so; a session names
them, and they are no sessions of their own."""


def files(environment: Mapping[str, str] | None = None, home: Path | None = None) -> Iterator[tuple[str, Path]]:
    """Every session file with its agent, each file once."""
    environment = os.environ if environment is None else environment
    seen: set[Path] = set()
    for place in HOMES:
        for path in place.find(environment, home or Path.home()):
            if path not in seen and not path.name.startswith(SUBAGENT):
                seen.add(path)
                yield place.agent, path


def _absolute(folder: str, home: Path) -> Path:
    """The folder, with ``~`` as that home."""
    return home / folder[2:] if folder.startswith("~/") else Path(folder)


def _matching(root: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from sorted(path for path in root.glob(pattern) if path.is_file())
    except (OSError, ValueError):  # unreadable, or a NUL in a variable
        return
