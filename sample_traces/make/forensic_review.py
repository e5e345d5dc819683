"""Story 4: an agent reviews a year of payments with a shell and a browser (Codex rollout)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from casefile import fill
from codex import Codex, Thread
from pages import page, snapshot
from pictures import HEIGHT, WIDTH, draw_page
from project import HERE, workspace
from script import Outcome, load, play
from shell import run
from stamps import draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from project import Workspace

HOME = "/work/case"
SITE = "http://portal.harbour.example"
ENVIRONMENT = f"""<environment_context>
  <cwd>{HOME}</cwd>
  <approval_policy>never</approval_policy>
  <sandbox_mode>read-only</sandbox_mode>
  <network_access>restricted</network_access>
  <shell>bash</shell>
</environment_context>"""


@dataclass(slots=True)
class Desk:
    """What the reviewer works with: a shell over the papers, a browser on the portal, a plan."""

    place: Workspace
    open: str = "/portal"

    def table(self) -> dict[str, Callable[..., Outcome]]:
        """Return the tools by name."""
        browser = {"navigate": self.navigate, "snapshot": self.snapshot, "take_screenshot": self.screenshot}
        tools = {f"mcp__browser__browser_{name}": tool for name, tool in browser.items()}
        return tools | {"shell_command": self.shell, "update_plan": self.plan}

    def shell(self, command: str, **_options: object) -> Outcome:
        """Run a command line over the papers."""
        ran = run(self.place, command)
        wall = (draw(command, 4) + 1) / 10
        text = f"Exit code: {ran.code}\nWall time: {wall} seconds\nOutput:\n{ran.out}"
        return Outcome(text, error=bool(ran.code))

    def plan(self, plan: list[dict[str, str]], explanation: str = "") -> Outcome:
        """Take a new plan."""
        del plan, explanation  # the terminal shows them
        return Outcome("Plan updated")

    def navigate(self, url: str) -> Outcome:
        """Open a page."""
        self.open = url.removeprefix(SITE)
        return Outcome(f"Opened {url}\nTitle: {page(self.open)[0]}")

    def snapshot(self) -> Outcome:
        """Read the open page as a screen reader would."""
        lines = "\n".join(snapshot(self.open).lines)
        return Outcome(f"Page URL: {SITE}{self.open}\nPage title: {page(self.open)[0]}\nPage snapshot:\n{lines}")

    def screenshot(self) -> Outcome:
        """Take a picture of the open page."""
        picture = draw_page(snapshot(self.open).boxes)
        return Outcome(f"Screenshot of {SITE}{self.open}, {WIDTH} x {HEIGHT}", images=(picture,))


def build() -> dict[str, bytes]:
    """Play the story over freshly written papers; the file by name."""
    with workspace("case", HOME) as place:
        fill(place)
        thread = Thread(
            name="forensic_review",
            cwd=HOME,
            model="gpt-5.2-codex",
            start="2026-02-10T08:30:12",
            instructions=(HERE / "scripts" / "forensic_review.md").read_text(encoding="utf-8"),
            environment=ENVIRONMENT,
            overhead=6_480,
        )
        book = Codex(thread)
        play(load("forensic_review"), Desk(place).table(), book)
    return {"forensic_review.jsonl": book.bytes()}
