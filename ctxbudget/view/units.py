"""Units: all calls of one reply and all their results, as far as they have been born and as far as they are live."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from ctxbudget.trace import Fragment


class Units:
    """Members of every unit that has a call or a result; fragments alone in their unit are not listed here.

    ``open`` is the unit of the newest reply while one of its calls has no result: it cannot be dropped.
    """

    __slots__ = ("answers", "born", "live", "open", "orphans", "starts", "waiting")

    def __init__(self) -> None:
        """No unit yet."""
        self.born: dict[str, list[Fragment]] = {}
        self.live: dict[str, dict[int, Fragment]] = {}
        self.open: str | None = None
        self.starts: list[int] = []
        """Place of the first call of each unit, in order."""
        self.answers: list[int] = []
        """Place of the first part of each result, in order."""
        self.waiting: dict[str, dict[str | None, Fragment]] = {}
        """Calls without a result so far, by unit; all but those of ``open`` were interrupted."""
        self.orphans: dict[str, Fragment] = {}
        """Results whose call was never recorded."""

    def enter(self, place: int, fragment: Fragment) -> None:
        """A recorded fragment entered the log."""
        if fragment.call is None:
            if self.open is not None and fragment.role == "assistant" and not self._same_reply(fragment):
                self.open = None
            return
        members = self.born.get(fragment.unit)
        if members is None:
            members = self.born[fragment.unit] = []
        if fragment.role == "assistant":
            self._asked(place, fragment, not members)
        else:
            self._answered(place, fragment, members)
        members.append(fragment)

    def _same_reply(self, fragment: Fragment) -> bool:
        return self.open is not None and self.born[self.open][0].message == fragment.message

    def _asked(self, place: int, fragment: Fragment, new: bool) -> None:
        if new:
            self.open = fragment.unit
            self.starts.append(place)
        self.waiting.setdefault(fragment.unit, {})[fragment.call] = fragment

    def _answered(self, place: int, fragment: Fragment, members: list[Fragment]) -> None:
        roles = [one.role for one in members if one.call == fragment.call]
        asked = roles.count("assistant")
        if asked == len(roles):
            self.answers.append(place)
        if not asked:
            self.orphans[fragment.id] = fragment
        waiting = self.waiting.get(fragment.unit)
        if waiting is None:
            return
        waiting.pop(fragment.call, None)
        if not waiting:
            del self.waiting[fragment.unit]
            if fragment.unit == self.open:
                self.open = None

    def add(self, place: int, fragment: Fragment) -> bool:
        """A fragment with a call came into the view; True where it is the first of its unit there."""
        members = self.live.get(fragment.unit)
        if members is None:
            self.live[fragment.unit] = {place: fragment}
            return True
        members[place] = fragment
        return False

    def drop(self, place: int, fragment: Fragment) -> bool:
        """A fragment with a call left the view; True where it was the last of its unit there."""
        members = self.live[fragment.unit]
        del members[place]
        if not members:
            del self.live[fragment.unit]
        return not members

    def members(self, fragment: Fragment) -> Collection[Fragment]:
        """The live fragments of its unit, in no special order; itself where it is alone."""
        return (fragment,) if fragment.call is None else self.live.get(fragment.unit, {}).values()

    def parted(self, unit: str) -> bool:
        """Whether the view holds less of a unit than has been born of it."""
        return len(self.live.get(unit, ())) < len(self.born[unit])

    def unpaired(self, unit: str) -> str:
        """What is wrong with a unit's pairs in the view, empty where nothing is.

        What the recording itself does not hold cannot be missed: a call whose result has not entered, a result
        whose call was never there.
        """
        live = self.live.get(unit)
        if not live or not self.parted(unit):
            return ""
        calls = {fragment.call for fragment in live.values() if fragment.asks}
        results = {fragment.call for fragment in live.values() if not fragment.asks}
        if calls == results:
            return ""
        born = self.born.get(unit, ())
        asked = {fragment.call for fragment in born if fragment.asks}
        answered = {fragment.call for fragment in born if not fragment.asks}
        if any(call in asked and call not in calls for call in results):
            return "a result without its call"
        if any(call in answered and call not in results for call in calls):
            return "a call without its result"
        return ""
