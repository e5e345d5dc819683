"""The table of observations: real-shaped results and calls, each with its exact digest.

The files beside this one are documentation and test in one. ``python tests/digests/test_table.py`` writes the digests
of today into them, to be read before they are committed.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ctxbudget.digests import DIGESTERS, digest
from ctxbudget.digests._observed import observe
from ctxbudget.resources import resource
from ctxbudget.tokens import counter
from ctxbudget.trace import Fragment, Kind, Origin

HERE = Path(__file__).parent
SHORT, ROOMY = 60, 400
count = counter("o200k_base").count


@dataclass(frozen=True, slots=True)
class Observation:
    """One row of the table."""

    row: dict[str, Any]

    @property
    def text(self) -> str:
        if self.row.get("call"):
            return f"{self.row['tool']} {json.dumps(self.row['args'])}"
        line, numbers = self.row.get("line", ""), range(1, self.row.get("times", 0) + 1)
        body = "".join(line.replace("{n}", str(n)).replace("{d}", str(n % 9 + 1)) + "\n" for n in numbers)
        return self.row.get("before", "") + body + self.row.get("after", self.row.get("text", ""))

    def fragment(self) -> Fragment:
        """As a loader would give it: the call was made in the reply of turn 8."""
        spoken, asks, media = self.row.get("spoken"), bool(self.row.get("call")), self.row.get("media", 0)
        text, tool = self.text, self.row.get("tool")
        counted = count(text)
        kind = Kind(spoken) if spoken else Kind.MEDIA if media else Kind.CALL if asks else Kind.RESULT
        return Fragment(
            "t9.1", kind, text, media or counted, counted, 9, "u", 4,
            "user" if spoken else "assistant" if asks else "tool", Origin("x.jsonl", 1),
            call=None if spoken else "c1", tool=tool, error=bool(self.row.get("error")), estimated=bool(media),
            resource=resource(tool, self.row["args"]) if tool else None,
        )  # fmt: skip

    def digest(self, cap: int) -> str:
        return digest(self.fragment(), cap, count, hints=self.row.get("hints", ()), ok=self.row.get("ok"))


def observations(path: Path) -> list[Observation]:
    return [Observation(row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["observation"]]


TABLE = [each for path in sorted(HERE.glob("*.toml")) for each in observations(path)]


@pytest.mark.parametrize("observation", TABLE, ids=lambda each: each.row["name"])
def test_each_observation_has_exactly_this_digest(observation):
    row, fragment = observation.row, observation.fragment()
    for cap, expected in ((SHORT, row["digest"]), (ROOMY, row.get("roomy", row["digest"]))):
        found = observation.digest(cap)
        assert found == expected
        assert count(found) <= min(cap, fragment.tokens)


def test_there_are_enough_of_them():
    assert len(TABLE) >= 60


def test_every_digester_is_shown_at_work():
    digesters, _ = DIGESTERS.working()
    winners = set()
    for observation in TABLE:
        seen = observe(observation.fragment(), SHORT)
        scores = {name: digester.score(seen) for name, digester in digesters.items()}
        assert all(0 <= score <= 1 for score in scores.values())
        winners.add(max(scores, key=scores.__getitem__))
    assert winners == set(digesters)


@pytest.mark.parametrize("name", DIGESTERS.names())
def test_every_digester_says_what_it_is_for(name):
    assert len(DIGESTERS.describe(name)) > 20


def _written(text: str) -> str:
    return f"'''\n{text}'''" if "\n" in text else json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Write the digests of today into the files."""
    old = re.compile(r"^(?:digest|roomy) = (?:'''.*?'''|\"[^\n]*\")\n", re.MULTILINE | re.DOTALL)
    for path in sorted(HERE.glob("*.toml")):
        head, *blocks = path.read_text(encoding="utf-8").split("[[observation]]\n")
        for place, (block, observation) in enumerate(zip(blocks, observations(path), strict=True)):
            short, roomy = observation.digest(SHORT), observation.digest(ROOMY)
            more = f"roomy = {_written(roomy)}\n" if roomy != short else ""
            blocks[place] = f"{old.sub('', block).rstrip()}\ndigest = {_written(short)}\n{more}"
        path.write_text(head + "\n".join(f"[[observation]]\n{block}" for block in blocks), encoding="utf-8")


if __name__ == "__main__":
    main()
