"""Writes a run as SWE-agent stores it: the history, and for every step the exact prompt that was sent.

Calls are text: the last fenced block of a reply. Older observations are elided from the prompts, as the history
processor of SWE-agent does it, so the prompt of a step is not simply everything before it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from meter import count

if TYPE_CHECKING:
    from script import Call, Outcome, Turn

KEPT = 5
"""So many of the newest observations are sent whole; the task, which counts as the first one, always is."""
PRICE = (2.0, 8.0)
"""Dollars for a million tokens sent and received."""


class SweAgent:
    """The growing trajectory of one run."""

    def __init__(self, environment: str, config: dict[str, Any]) -> None:
        self.environment = environment
        self.config = config
        self.history: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        self.sent = self.received = 0

    def bytes(self, submission: str) -> bytes:
        """Return the file, with what was submitted."""
        cost = (self.sent * PRICE[0] + self.received * PRICE[1]) / 1_000_000
        stats = {"instance_cost": round(cost, 6), "tokens_sent": self.sent, "tokens_received": self.received}
        info = {"swe_agent_version": "1.1.0", "exit_status": "submitted", "submission": submission}
        run = {
            "trajectory": self.steps,
            "history": self.history,
            "info": info | {"model_stats": stats | {"api_calls": len(self.steps)}},
            "replay_config": json.dumps(self.config),
            "environment": self.environment,
        }
        return (json.dumps(run, ensure_ascii=False, indent=1) + "\n").encode()

    def say(self, role: str, kind: str, text: str) -> None:
        """Write a message of the beginning: system prompt, demonstration or task."""
        self.history.append({"role": role, "content": text, "agent": "main", "message_type": kind})
        if kind == "demonstration":
            self.history[-1]["is_demo"] = True

    def user(self, text: str) -> None:
        """Write the task."""
        self.say("user", "observation", text)

    def reply(self, turn: Turn) -> None:
        """Write one step: the prompt as it was sent, and the reply with its action in a fence."""
        action = turn.calls[0].arguments["action"].strip()
        response = f"{turn.say}\n```\n{action}\n```"
        query = elided(self.history)
        self.sent += sum(count(message["content"]) + 4 for message in query) + 3
        self.received += count(response)
        parts = {"thought": turn.say, "action": action}
        self.steps.append({"action": action, "observation": "", "response": response, "thought": turn.say})
        self.steps[-1]["query"] = query
        entry = {"role": "assistant", "content": response, "agent": "main", "message_type": "action"}
        self.history.append(entry | parts)

    def result(self, _call: Call, outcome: Outcome) -> None:
        """Write the observation of the step, with the prompt line that follows it in the history."""
        state = outcome.display
        step = self.steps[-1] | {"observation": outcome.text, "state": state, "execution_time": 0.1, "extra_info": {}}
        order = ("action", "observation", "response", "state", "thought", "execution_time", "query", "extra_info")
        self.steps[-1] = {key: step[key] for key in order}
        foot = f"(Open file: {state['open_file']})\n(Current directory: {state['working_dir']})\nbash-$"
        self.say("user", "observation", f"{outcome.text or 'The command had no output.'}\n{foot}")


def elided(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the history with all but the newest observations reduced to one line."""
    seen = [i for i, message in enumerate(history) if message["message_type"] == "observation"]
    old = set(seen[1:-KEPT])
    return [reduced(message) if i in old else message for i, message in enumerate(history)]


def reduced(message: dict[str, Any]) -> dict[str, Any]:
    """Return an observation as one line that tells how many it had."""
    lines = len(message["content"].splitlines())
    return message | {"content": f"Old environment output: ({lines} lines omitted)"}
