"""One request to an OpenAI-compatible endpoint: ``POST {url}/chat/completions``, and an answer that is what it claims.

Only the URL the user named is contacted: no proxy of the environment, no redirect. Every wait is bounded, so is the
size of an answer; at most five attempts are made. The key goes into one header and into nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable  # noqa: TC003 - a field of a dataclass
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import CtxbudgetError
from ctxbudget.safe import visible
from ctxbudget.summaries.answers import Malformed, answer, complaint, without
from ctxbudget.summaries.config import KEY, Config, library
from ctxbudget.summaries.summary import SummaryError

if TYPE_CHECKING:
    import httpx2

    from ctxbudget.summaries.cache import Answer
    from ctxbudget.summaries.prompts import Messages

ATTEMPTS = 5
LARGEST = 4 * 2**20
"""Bytes of an answer; a summary has thousands."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds before the second attempt, doubled for each one after it; the most that ``Retry-After`` may ask for."""
_SAID = 200
"""Characters of a connection error that are shown."""
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses after which another attempt may work."""
_UNUSABLE = frozenset({400, 413, 422})
"""Statuses that speak of what was sent: too long for the model, mostly. Another span may work."""


class EndpointError(CtxbudgetError):
    """The endpoint cannot be used at all: not reached, key refused, no such model, not what it should be.

    It ends the run: notices in place of summaries would say nothing about the strategy.
    """


class _Again(Exception):
    """Another attempt may work; ``pause`` is what the endpoint asks for, in seconds."""

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.pause = reason, pause


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Asks the model of a configuration."""

    config: Config
    sleep: Callable[[float], None] = time.sleep

    def ask(self, messages: Messages) -> Answer:
        """The model's answer; its text may be empty.

        Raises SummaryError where the endpoint refuses what was sent, EndpointError where it cannot be used.
        """
        for attempt in range(ATTEMPTS):
            try:
                return self._attempt(messages)
            except _Again as again:
                pause = FIRST_PAUSE * 2**attempt if again.pause is None else again.pause
                if attempt == ATTEMPTS - 1 or pause > LONGEST_PAUSE:
                    raise self._given_up(again.reason, attempt + 1, pause) from None
                self.sleep(pause)
        raise AssertionError  # the last attempt returns or raises

    def _given_up(self, reason: str, attempts: int, pause: float) -> EndpointError:
        if attempts < ATTEMPTS:
            return EndpointError(
                f"{self.config.shown}: {reason}", hint=f"it asks to wait {pause:,.0f} s; try again then"
            )
        return EndpointError(f"{self.config.shown}: {reason}, {attempts} attempts", hint="is the endpoint up?")

    def _attempt(self, messages: Messages) -> Answer:
        status, headers, body = within(self.config.timeouts.total, lambda stop: self._exchange(messages, stop))
        if status != 200:
            raise self._refusal(status, headers, body)
        try:
            return answer(body, self.config.key)
        except Malformed as bad:
            if bad.broken:
                raise _Again(str(bad)) from None
            raise EndpointError(f"{self.config.shown}: {bad}", hint="is it an OpenAI-compatible endpoint?") from None

    def _exchange(self, messages: Messages, stop: Event) -> tuple[int, httpx2.Headers, bytes]:
        """Send the request and read the answer, as long as somebody waits for it."""
        httpx2 = library()
        times = self.config.timeouts
        timeout = httpx2.Timeout(times.read, connect=times.connect)
        body = {"model": self.config.model, "messages": [{"role": role, "content": text} for role, text in messages]}
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "ctxbudget"}
        if self.config.key:
            headers["Authorization"] = f"Bearer {self.config.key}"
        try:
            with (
                httpx2.Client(trust_env=False, follow_redirects=False, timeout=timeout) as client,
                client.stream("POST", self.config.url, json=body, headers=headers) as response,
            ):
                return response.status_code, response.headers, _body(response, stop)
        except httpx2.HTTPError as error:
            said = visible(without(self.config.key, str(error)))[:_SAID]
            raise _Again(f"{type(error).__name__}: {said}" if said else type(error).__name__) from None

    def _refusal(self, status: int, headers: httpx2.Headers, body: bytes) -> Exception:
        """What a status other than 200 means for us."""
        shown = self.config.shown
        if 300 <= status < 400:
            host = _host(headers.get("location", ""))
            return EndpointError(
                f"{shown}: redirects to {visible(host)}", hint="redirects are not followed; give the final URL"
            )
        if status in {401, 403}:
            return EndpointError(f"{shown}: the key was refused (HTTP {status})", hint=f"look at {KEY}")
        said = visible(complaint(body, self.config.key))
        told = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if status in _BUSY:
            return _Again(told, _retry_after(headers))
        if status in _UNUSABLE:
            return SummaryError(f"the endpoint refused the request, {told}")
        return EndpointError(f"{shown}: {told}", hint="look at the URL and the name of the model")


def within(seconds: float, work: Callable[[Event], Any]) -> Any:
    """What ``work`` gives, or _Again once the time is over: name look-up and trickling headers count too.

    It runs in a thread that is left alone then; the event tells it that nobody waits any more.
    """
    stop, done = Event(), list[Any]()

    def run() -> None:
        try:
            done.append((True, work(stop)))
        except Exception as error:  # noqa: BLE001 - raised again where it belongs
            done.append((False, error))

    thread = Thread(target=run, daemon=True, name="ctxbudget-endpoint")
    thread.start()
    try:
        thread.join(seconds)
    finally:
        stop.set()
    if not done:
        raise _Again(f"no answer within {seconds:g} s")
    fine, value = done[0]
    if not fine:
        raise value
    return value


def _body(response: httpx2.Response, stop: Event) -> bytes:
    """The bytes of an answer, up to LARGEST."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise _Again("the answer is compressed, which was not asked for")
    read = bytearray()
    for chunk in response.iter_raw():
        read += chunk
        if len(read) > LARGEST:
            raise EndpointError(f"the endpoint's answer is larger than {LARGEST:,} bytes")
        if stop.is_set():
            raise _Again("nobody waits any more")
    return bytes(read)


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds that ``Retry-After`` asks for: a number, or a date seen from the endpoint's own clock."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(headers["date"]) if "date" in headers else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError):
        return None


def _host(location: str) -> str:
    try:
        return library().URL(location).host or "another path"
    except Exception:  # noqa: BLE001 - whatever stands there, it is not followed
        return "something that is no URL"
