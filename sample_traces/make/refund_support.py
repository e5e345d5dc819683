"""Story 2: a support agent, an overdue invoice and a refund that may not have gone through (OpenAI chat)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from openai_chat import OpenAIChat, function
from project import HERE, bundle
from script import Outcome, load, play
from stamps import token

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 240.0
"""What REF-12 allows on an overdue invoice."""
BACK = 14 * 60 + 52
"""The minute of the day at which the gateway answers again."""

TOOLS = [
    function("lookup_invoice", "State, dates, items and amounts of one invoice.", "invoice", invoice="Its number."),
    function(
        "lookup_return", "Returns that the warehouse has booked for an invoice.", "invoice", invoice="Its number."
    ),
    function("search_kb", "Search the articles of the support desk; the three best.", "query", query="A few words."),
    function(
        "issue_refund",
        "Send a refund to the payment gateway. Not repeatable without knowing the state of the first attempt.",
        "invoice amount policy",
        invoice="The invoice that it belongs to.",
        amount="number: In dollars.",
        policy="The policy under which it is paid, for instance REF-01.",
    ),
    function("get_refund_status", "State of a refund request.", "request_id", request_id="The id of the request."),
    function("track_parcel", "State of the parcel of an order.", "order", order="Number of the order."),
    function(
        "update_address",
        "Change the address on file.",
        "customer street postcode place",
        customer="Number of the customer.",
        street="Street and house number.",
        postcode="Five digits.",
        place="Town; for the hills with the name of the valley.",
    ),
    function(
        "open_case",
        "Open a case for the workshop or another team.",
        "kind invoice article text",
        kind="warranty, delivery or payments.",
        invoice="The invoice that it belongs to.",
        article="The article.",
        text="What happened, in one or two sentences.",
    ),
    function(
        "order_part",
        "Order spare parts for a customer.",
        "customer article pieces",
        customer="Number of the customer.",
        article="Number of the part.",
        pieces="number: How many.",
        case="The warranty case, if it is free of charge because of one.",
    ),
    function(
        "send_summary",
        "Send a summary to the mail address on file.",
        "customer text",
        customer="Number of the customer.",
        text="The summary.",
    ),
]


@dataclass(slots=True)
class Desk:
    """The data of the desk, and a clock that every call moves on by a few minutes."""

    files: dict[str, str] = field(default_factory=lambda: bundle("support"))
    minute: int = 14 * 60 + 17
    attempts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def table(self) -> dict[str, Callable[..., Outcome]]:
        """Return the tools by name, each answering in JSON."""
        names = (tool["function"]["name"] for tool in TOOLS)
        return {name: self._timed(getattr(self, name)) for name in names}

    def _timed(self, tool: Callable[..., dict[str, Any]]) -> Callable[..., Outcome]:
        def call(**arguments: object) -> Outcome:
            self.minute += 4
            answer = tool(**arguments)
            return Outcome(json.dumps(answer, ensure_ascii=False), error="error" in answer)

        return call

    def _rows(self, name: str, **wanted: str) -> list[dict[str, Any]]:
        rows = json.loads(self.files[f"data/{name}.json"])
        return [row for row in rows if all(row[key] == value for key, value in wanted.items())]

    def lookup_invoice(self, invoice: str) -> dict[str, Any]:
        """Give an invoice with its customer."""
        rows = self._rows("invoices", invoice=invoice.lstrip("#"))
        if not rows:
            return {"error": {"code": "not_found", "message": f"There is no invoice {invoice}."}}
        name = self._rows("customers", customer=rows[0]["customer"])[0]["name"]
        return {"as_of": self._now(), "customer_name": name} | rows[0]

    def lookup_return(self, invoice: str) -> dict[str, Any]:
        """Give the returns of an invoice."""
        return {"returns": self._rows("returns", invoice=invoice)}

    def search_kb(self, query: str) -> dict[str, Any]:
        """Give the three articles that hold most of the words; a word in the title counts four times."""
        words = set(re.findall(r"[a-z]{3,}", query.lower()))
        scored = [(self._score(text, words), path) for path, text in self.files.items() if path.startswith("kb/")]
        best = sorted((item for item in scored if item[0]), key=lambda item: (-item[0], item[1]))[:3]
        return {"query": query, "hits": [{"score": score, "article": self.files[path]} for score, path in best]}

    def _score(self, text: str, words: set[str]) -> int:
        title, _, body = text.lower().partition("\n")
        return sum(4 * len(re.findall(rf"\b{word}", title)) + len(re.findall(rf"\b{word}", body)) for word in words)

    def issue_refund(self, invoice: str, amount: float, policy: str) -> dict[str, Any]:
        """Send a refund, within the limit, if the gateway answers."""
        done = sum(each["amount"] for each in self.attempts.values() if each["state"] == "settled")
        if done + amount > LIMIT:
            return {"error": {"code": "limit", "message": f"{policy} allows {LIMIT - done:.2f} more on {invoice}."}}
        request = f"rq-{token(f'{invoice}/{len(self.attempts)}', 10, '0123456789abcdef')}"
        state = "settled" if self.minute >= BACK else "not_received"
        self.attempts[request] = {"invoice": invoice, "amount": amount, "policy": policy, "state": state}
        if state == "settled":
            return {"request_id": request, "refund": "RF-20931", "sent": self._now()} | self.attempts[request]
        message = "The payment gateway did not answer within 30 seconds (HTTP 504). The state is unknown."
        return {"error": {"code": "gateway_timeout", "message": message, "request_id": request, "at": self._now()}}

    def get_refund_status(self, request_id: str) -> dict[str, Any]:
        """Give what the gateway knew at the last full hour."""
        if self.minute // 60 == 14:
            return {"request_id": request_id, "state": "pending", "next_comparison": "15:00"}
        return {"request_id": request_id, "compared": f"{self.minute // 60}:00"} | self.attempts[request_id]

    def track_parcel(self, order: str) -> dict[str, Any]:
        """Give the parcel of an order."""
        return self._rows("parcels", order=order)[0]

    def update_address(self, customer: str, street: str, postcode: str, place: str) -> dict[str, Any]:
        """Save an address if the postcode has five digits."""
        if not re.fullmatch(r"\d{5}", postcode):
            return {"error": {"code": "postcode", "message": f"A postcode has five digits, not {len(postcode)}."}}
        return {"customer": customer, "saved": self._now(), "street": street, "postcode": postcode, "place": place}

    def open_case(self, kind: str, invoice: str, article: str, text: str) -> dict[str, Any]:
        """Open a case."""
        return {"case": "WC-6072", "kind": kind, "invoice": invoice, "article": article, "text": text, "state": "open"}

    def order_part(self, customer: str, article: str, pieces: int, case: str = "") -> dict[str, Any]:
        """Order a part, free of charge if there is a case."""
        price = 0.0 if case else 4.8 * pieces
        return {"order": "5533", "customer": customer, "article": article, "pieces": pieces, "price": price}

    def send_summary(self, customer: str, text: str) -> dict[str, Any]:
        """Send a mail."""
        mail = self._rows("customers", customer=customer)[0]["mail"]
        return {"sent_to": mail, "words": len(text.split()), "at": self._now()}

    def _now(self) -> str:
        return f"2026-02-02 {self.minute // 60}:{self.minute % 60:02}"


def build() -> dict[str, bytes]:
    """Play the conversation; the file by name."""
    system = (HERE / "scripts" / "refund_support.md").read_text(encoding="utf-8").strip()
    book = OpenAIChat("gpt-4.1", system, TOOLS)
    play(load("refund_support"), Desk().table(), book)
    return {"refund_support.json": book.bytes()}
