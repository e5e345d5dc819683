"""The theatre's payments portal as HTML pages, and a browser that reads them the way an agent's browser does.

A snapshot is what a screen reader would find: one line per element that means something, with a reference.
"""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from casefile import DAYS, LIMIT, STAFF, euros, payments, vendors

if TYPE_CHECKING:
    from collections.abc import Iterable

FRAME = """<header><a href="/portal">Harbour Lane payments</a></header>
<nav><a href="/portal/vendors">Vendors</a><a href="/portal/approvals/10">Approvals</a>\
<a href="/portal/users">Users</a><a href="/portal/settings">Settings</a></nav>
<main><h1>{title}</h1>{body}</main>
<footer><p>Signed in as reviewer (read only)</p></footer>"""

ROLES = {
    "header": "banner",
    "nav": "navigation",
    "main": "main",
    "footer": "contentinfo",
    "h1": "heading",
    "table": "table",
    "tr": "row",
    "th": "columnheader",
    "td": "cell",
    "a": "link",
    "p": "paragraph",
    "button": "button",
    "label": "text",
    "input": "textbox",
}
HOLDERS = ("header", "nav", "main", "footer", "table", "tr")


def page(path: str) -> tuple[str, str]:
    """Return title and HTML of a page of the portal."""
    first, _, rest = path.removeprefix("/portal").strip("/").partition("/")
    title, body = {
        "": _home,
        "vendors": _vendor if rest else _vendors,
        "approvals": _approvals,
        "users": _users,
        "settings": _settings,
    }[first](rest)
    return title, FRAME.format(title=escape(title), body=body)


def _table(head: str, rows: Iterable[Iterable[object]]) -> str:
    top = "".join(f"<th>{name}</th>" for name in head.split(","))
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _date(day: int) -> str:
    month = next(m for m in range(1, 13) if day <= sum(DAYS[:m]))
    return f"{day - sum(DAYS[: month - 1])}.{month}."


def _home(_rest: str) -> tuple[str, str]:
    return "Overview", f"<p>{len(payments())} payments in 2025</p><p>Nothing waits for approval</p>"


def _vendors(_rest: str) -> tuple[str, str]:
    rows = payments().values()
    counts = {code: sum(p.vendor == code for p in rows) for code in vendors()}
    listed = ((code, name, f"…{account}", counts[code]) for code, (name, account) in sorted(vendors().items()))
    return "Vendors", _table("Code,Name,Account,Payments", listed)


def _vendor(code: str) -> tuple[str, str]:
    name, account = vendors()[code]
    own = [(n, p) for n, p in payments().items() if p.vendor == code]
    since = f"<p>Account ending in {account}</p><p>{len(own)} payments, {euros(sum(p.cents for _, p in own))}</p>"
    listed = ((n, _date(p.day), euros(p.cents), STAFF[p.by][0]) for n, p in own[-40:])
    created = "<p>Created 29.8. by Marlow Wick</p>" if own[0][1].day > 240 else "<p>Created before 2025</p>"
    return f"{code} {name}", since + created + _table("Payment,Date,Amount,Approved by", listed)


def _approvals(month: str) -> tuple[str, str]:
    late = [(n, p) for n, p in payments().items() if p.month == int(month) and p.minute >= 1_080]
    cells = ((n, p.vendor, euros(p.cents), f"{p.minute // 60}:{p.minute % 60:02}", STAFF[p.by][0]) for n, p in late)
    return f"Approvals after 18:00, month {month}", _table("Payment,Vendor,Amount,Time,Person", cells)


def _users(_rest: str) -> tuple[str, str]:
    rows = ((short, name, job, f"…{account}", "active") for short, (name, job, account) in STAFF.items())
    return "Users", _table("Short,Name,Job,Salary account,State", rows)


def _settings(_rest: str) -> tuple[str, str]:
    fields = {"Second approval above": euros(LIMIT), "Session ends after minutes": "30", "Export format": "csv"}
    body = "".join(f'<label>{name}</label><input value="{value}">' for name, value in fields.items())
    return "Settings", body + "<button>Save</button>"


class Reader(HTMLParser):
    """Turns a page into the lines of a snapshot; ``boxes`` is what a picture of it would show."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.boxes: list[tuple[int, str]] = []
        self._depth = 0
        self._tag = ""
        self._link = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element: holders get their line at once, the others when their text comes."""
        self._tag, found = tag, dict(attrs)
        self._link = found.get("href") or ""
        if tag in HOLDERS:
            self._add(tag, "")
            self._depth += 1
        elif tag == "input":
            self._add(tag, found.get("value") or "")

    def handle_data(self, data: str) -> None:
        """Give the open element its name."""
        if data.strip() and self._tag:
            self._add(self._tag, data.strip())

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        self._depth -= tag in HOLDERS
        self._tag = ""

    def _add(self, tag: str, name: str) -> None:
        label = f' "{name}"' if name else ""
        level = " [level=1]" if tag == "h1" else ""
        colon = ":" if tag in HOLDERS else ""
        self.lines.append(f"{'  ' * self._depth}- {ROLES[tag]}{label}{level} [ref=e{len(self.lines) + 1}]{colon}")
        self.boxes.append((self._depth, tag))
        if self._link:
            self.lines.append(f"{'  ' * (self._depth + 1)}- /url: {self._link}")
            self._link = ""


def snapshot(path: str) -> Reader:
    """Open a page and read it."""
    reader = Reader()
    reader.feed(page(path)[1])
    return reader
