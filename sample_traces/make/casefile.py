"""The data of `forensic_review`: a year of payments of an invented theatre, with some that should not be there.

Everything is drawn from hashes, so that the 4,200 rows are the same on every machine. What is wrong is planted
on purpose: payments split below the approval limit, invoices paid twice, an account that belongs to a colleague.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from stamps import draw

if TYPE_CHECKING:
    from project import Workspace

ROWS = 4_200
FIRST = 20_001
SPLIT, TWICE = "V31", "V08"
WORDS = "Alder Birch Cedar Dune Ember Fjord Grove Heath Ivory Jetty Knoll Larch Moor North Orchard Pier"
TRADES = "Print Catering Lighting Timber Textiles Cleaning Transport Sound Paints Ticketing Flowers Security"
STAFF = {
    "kt": ("Kaja Thorn", "director", "5521"),
    "rb": ("Ruben Bell", "accounts", "7340"),
    "mw": ("Marlow Wick", "stage manager", "9917"),
    "os": ("Odile Sand", "front of house", "1286"),
    "ph": ("Piet Hale", "costumes", "6604"),
}
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
LIMIT = 50_000
"""Above this many cents a second person has to approve."""


@dataclass(frozen=True, slots=True)
class Payment:
    """One row of the bank's export; the day counts from 1 January."""

    day: int
    vendor: str
    cents: int
    by: str
    minute: int
    """Minute of the day at which it was approved."""

    @property
    def month(self) -> int:
        """The month, from 1."""
        return next(m for m in range(1, 13) if self.day <= sum(DAYS[:m]))


@cache
def vendors() -> dict[str, tuple[str, str]]:
    """Return name and last digits of the account of every vendor."""
    words, trades = WORDS.split(), TRADES.split()
    names = {f"V{n:02}": f"{words[n * 37 % 16]} {trades[n * 37 % 192 // 16]}" for n in range(1, 61)}
    made = {code: (name, f"{draw(f'account/{code}', 9000) + 1000}") for code, name in names.items()}
    return made | {SPLIT: ("Brightwater Staging", STAFF["mw"][2])}


def _ordinary(n: int) -> Payment:
    others = [f"V{code:02}" for code in range(1, 61) if f"V{code:02}" != SPLIT]
    vendor = others[draw(f"{n}/vendor", len(others))]
    cents = 800 + draw(f"{n}/cents", 240) * draw(f"{n}/times", 240) + draw(f"{n}/odd", 100)
    by = ("kt", "rb", "rb", "rb", "os", "ph", "mw")[draw(f"{n}/by", 7)]
    return Payment(draw(f"{n}/day", 365) + 1, vendor, cents, "kt" if cents > LIMIT else by, 540 + draw(f"{n}/at", 480))


def _split(n: int) -> Payment:
    day = 246 + n // 2 * 5
    return Payment(day, SPLIT, 47_000 + draw(f"split/{n}", 2_990), "mw", 1_170 + draw(f"late/{n}", 150))


@cache
def payments() -> dict[int, Payment]:
    """Return all payments by id, in the order of their days."""
    made = [_split(n) for n in range(36)]
    firsts = [Payment(20 + 55 * n, TWICE, 21_000 + 1_733 * n, "rb", 600 + n) for n in range(6)]
    made += firsts + [replace(first, day=first.day + 2, minute=first.minute + 31) for first in firsts]
    made += [_ordinary(n) for n in range(ROWS - len(made))]
    made.sort(key=lambda payment: (payment.day, payment.minute, payment.vendor, payment.cents))
    return dict(enumerate(made, FIRST))


def euros(cents: int) -> str:
    """Return an amount as text."""
    return f"{cents // 100}.{cents % 100:02}"


def fill(place: Workspace) -> None:
    """Write the data files of the case."""
    rows = payments()
    table = [f"{n},{p.day},{p.vendor},{euros(p.cents)},{p.by}" for n, p in rows.items()]
    _write(place, "data/payments.csv", ["id,day,vendor,amount,by", *table])
    _write(place, "data/vendors.csv", ["vendor,name,account", *(f"{v},{n},{a}" for v, (n, a) in vendors().items())])
    staff = [f"{short},{name},{job},{account}" for short, (name, job, account) in STAFF.items()]
    _write(place, "data/staff.csv", ["by,name,job,account", *staff])
    for month in range(1, 13):
        own = {n: p for n, p in rows.items() if p.month == month}
        _write(place, f"logs/portal-{month:02}.log", [_logged(n, p) for n, p in own.items()])
        _write(place, f"minutes/2025-{month:02}.md", _minutes(month, own))


def _write(place: Workspace, path: str, lines: list[str]) -> None:
    place.write(path, "".join(f"{line}\n" for line in lines))


def _logged(number: int, payment: Payment) -> str:
    date = payment.day - sum(DAYS[: payment.month - 1])
    moment = f"{payment.month:02}-{date:02} {payment.minute // 60:02}:{payment.minute % 60:02}"
    two = "yes" if payment.cents > LIMIT else "no"
    return f"{moment} approve id={number} vendor={payment.vendor} by={payment.by} two={two}"


def _minutes(month: int, own: dict[int, Payment]) -> list[str]:
    largest = sorted(own.items(), key=lambda item: -item[1].cents)[:4]
    people = sorted({payment.by for payment in own.values()})
    counts = [f"{STAFF[by][0]} {sum(payment.by == by for payment in own.values())}" for by in people]
    names = vendors()
    return [
        f"# Minutes of the finance evening, month {month} of 2025",
        "",
        f"Present: {', '.join(STAFF[by][0] for by in people)}.",
        "",
        f"{len(own)} payments, together {euros(sum(payment.cents for payment in own.values()))}. The largest:",
        "",
        *(f"* {number}: {euros(p.cents)} to {names[p.vendor][0]} ({p.vendor}), day {p.day}" for number, p in largest),
        "",
        f"Approvals by person: {', '.join(counts)}.",
        "",
        TOPICS[month % len(TOPICS)],
    ]


TOPICS = (
    "The roof above the workshop leaks again. Kaja asks for two offers before the next evening.",
    "The season brochure goes to print a week earlier than last year. No objections.",
    "Odile reports that the card machine at the bar loses its connection on full evenings. To be replaced.",
    "Piet asks for a bigger budget for costumes of the winter play; put off until the ticket figures are in.",
    "Ruben reminds everybody that receipts belong in the portal on the same day.",
)
