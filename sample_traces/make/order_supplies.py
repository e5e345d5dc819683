"""Story 3: an agent orders everything for a pottery class and has a ceiling to keep (Anthropic messages)."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anthropic_messages import AnthropicMessages, tool
from project import HERE, bundle
from script import Outcome, load, play

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0}
TOOLS = [
    tool("list_groups", "The groups of the catalogue, with the number of articles in each."),
    tool(
        "search_catalogue",
        "Search names and descriptions; the six best, with price, stock and weight.",
        "query",
        query=TEXT | {"description": "A few words."},
        group=TEXT | {"description": "Only this group."},
    ),
    tool("get_article", "Everything about one article: delivery, discount, what goes with it.", "sku", sku=TEXT),
    tool("check_stock", "Whether a number of pieces can be sent now.", "sku pieces", sku=TEXT, pieces=COUNT),
    tool(
        "set_line",
        "Put a line into the cart, change its number, or take it out with 0.",
        "sku pieces",
        sku=TEXT,
        pieces=COUNT,
    ),
    tool("view_cart", "The lines of the cart, without discount and freight."),
    tool("get_quote", "The binding price of the cart: goods, discount, freight and total."),
    tool("place_order", "Order the cart at its quoted total. This is final.", "total name", total=TEXT, name=TEXT),
]


SMALL = {"for", "the", "and", "with"}
"""Words that a search leaves out."""


@dataclass(slots=True)
class Supplier:
    """The catalogue and the cart of one customer. Amounts are whole cents inside and text outside."""

    articles: dict[str, dict[str, str]] = field(default_factory=dict)
    cart: dict[str, int] = field(default_factory=dict)

    def table(self) -> dict[str, Callable[..., Outcome]]:
        """Return the tools by name, each answering in JSON."""
        rows = csv.DictReader(bundle("pottery")["catalogue.csv"].splitlines())
        self.articles = {row["sku"]: row for row in rows}
        return {each["name"]: _answering(getattr(self, each["name"])) for each in TOOLS}

    def list_groups(self) -> dict[str, Any]:
        """Count the articles by group."""
        groups = [article["group"] for article in self.articles.values()]
        return {"groups": {group: groups.count(group) for group in dict.fromkeys(groups)}}

    def search_catalogue(self, query: str, group: str = "") -> dict[str, Any]:
        """Give the articles that hold most of the words; a word in the name counts three times."""
        words = {word.rstrip("s") for word in re.findall(r"[a-z]{3,}", query.lower())} - SMALL
        scored = []
        for sku, article in self.articles.items():
            name, text = article["name"].lower(), article["text"].lower()
            score = sum(3 * (word in name) + (word in text) for word in words)
            if score and group in ("", article["group"]):
                scored.append((-score, sku))
        keys = ("sku", "name", "price", "unit", "stock", "weight_kg", "text")
        hits = [{key: self.articles[sku][key] for key in keys} for _, sku in sorted(scored)[:6]]
        return {"query": query, "found": len(scored), "hits": hits}

    def get_article(self, sku: str) -> dict[str, Any]:
        """Give one article with everything that hangs on it."""
        if sku not in self.articles:
            return {"error": f"There is no article {sku}."}
        article = self.articles[sku]
        discount = "5 % from 10 pieces" if _cents(article["price"]) < 10_000 else "none"
        near = [other for other, row in self.articles.items() if row["group"] == article["group"] and other != sku]
        return article | {
            "discount": discount,
            "same_group": near[:4],
            "returns": "30 days, unused, freight not refunded",
        }

    def check_stock(self, sku: str, pieces: int) -> dict[str, Any]:
        """Say whether there is enough."""
        stock = int(self.articles[sku]["stock"])
        if pieces <= stock:
            return {"sku": sku, "pieces": pieces, "available": True}
        missing = {"stock": stock, "rest_after_days": self.articles[sku]["lead_days"]}
        return {"sku": sku, "pieces": pieces, "available": False} | missing

    def set_line(self, sku: str, pieces: int) -> dict[str, Any]:
        """Change a line of the cart."""
        if pieces > int(self.articles[sku]["stock"]):
            return {"error": f"Only {self.articles[sku]['stock']} of {sku} in stock."}
        self.cart = {key: number for key, number in (self.cart | {sku: pieces}).items() if number}
        return {"sku": sku, "pieces": pieces, "lines_in_cart": len(self.cart)}

    def view_cart(self) -> dict[str, Any]:
        """Give the lines of the cart."""
        names = {sku: self.articles[sku]["name"] for sku in self.cart}
        lines = {
            sku: {"name": names[sku], "pieces": n, "amount": _dollars(self._amount(sku))}
            for sku, n in self.cart.items()
        }
        return {"lines": [{"sku": sku} | line for sku, line in lines.items()]}

    def get_quote(self) -> dict[str, Any]:
        """Sum up the cart: 5 % off ten or more of an article below $100, freight of $35 and $0.62 a kilogram."""
        goods = sum(self._amount(sku) for sku in self.cart)
        off = sum(self._amount(sku) // 20 for sku, n in self.cart.items() if n >= 10 and self._price(sku) < 10_000)
        grams = sum(round(float(self.articles[sku]["weight_kg"]) * 1000) * n for sku, n in self.cart.items())
        freight = 3_500 + grams * 62 // 1000
        figures = {"goods": goods, "discount": -off, "freight": freight, "total": goods - off + freight}
        return {"lines": len(self.cart), "weight_kg": grams / 1000} | {k: _dollars(v) for k, v in figures.items()}

    def place_order(self, total: str, name: str) -> dict[str, Any]:
        """Order, if the total is the quoted one."""
        quoted = self.get_quote()["total"]
        if total.replace("$", "").replace(",", "") != quoted:
            return {"error": f"The quoted total is {quoted}."}
        pieces = sum(self.cart.values())
        return {"order": "KW-20417", "for": name, "lines": len(self.cart), "pieces": pieces, "total": quoted}

    def _price(self, sku: str) -> int:
        return _cents(self.articles[sku]["price"])

    def _amount(self, sku: str) -> int:
        return self._price(sku) * self.cart[sku]


def _answering(work: Callable[..., dict[str, Any]]) -> Callable[..., Outcome]:
    def call(**arguments: object) -> Outcome:
        answer = work(**arguments)
        return Outcome(json.dumps(answer, ensure_ascii=False), error="error" in answer)

    return call


def _cents(text: str) -> int:
    return round(float(text) * 100)


def _dollars(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}.{abs(cents) % 100:02}"


def build() -> dict[str, bytes]:
    """Play the conversation; the file by name."""
    system = (HERE / "scripts" / "order_supplies.md").read_text(encoding="utf-8").strip()
    book = AnthropicMessages("claude-sonnet-4-5-20250929", system, TOOLS)
    play(load("order_supplies"), Supplier().table(), book)
    return {"order_supplies.json": book.bytes()}
