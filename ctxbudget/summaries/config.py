"""Which endpoint makes the summaries: flags and environment, nothing else.

No configuration file that was merely found may name a URL to which transcripts are sent.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import MissingExtra, UsageError
from ctxbudget.safe import unicode_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

URL, MODEL, KEY = "CTXBUDGET_LLM_URL", "CTXBUDGET_LLM_MODEL", "CTXBUDGET_LLM_KEY"
"""Environment variables."""
_PATH = "/chat/completions"
_HOST = re.compile(r"[\w.-]*|[0-9a-fA-F:.]+")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to connect, between two pieces of an answer, and for a whole attempt."""

    connect: float = 10.0
    read: float = 120.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class Config:
    """An OpenAI-compatible endpoint. Make it with ``configured``, which checks it."""

    url: str
    """In full, ``…/chat/completions``."""
    model: str
    key: str = field(default="", repr=False)
    """Sent as a bearer token and shown nowhere; empty where the endpoint wants none."""
    timeouts: Timeouts = Timeouts()

    @property
    def shown(self) -> str:
        """The URL without its query, for messages."""
        return self.url.partition("?")[0]


def configured(
    url: str | None = None,
    model: str | None = None,
    key: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    timeouts: Timeouts | None = None,
) -> Config:
    """The endpoint by flags first, then by the environment.

    Raises UsageError where URL or model is missing, or where URL or key cannot be used; MissingExtra without the
    HTTP library.
    """
    env = os.environ if environ is None else environ
    given = url or env.get(URL, "")
    named = model or env.get(MODEL, "")
    if not given:
        raise UsageError("no endpoint for summaries", hint=f"give --llm-url, or set {URL}")
    if not named:
        raise UsageError("no model for summaries", hint=f"give --llm-model, or set {MODEL}")
    return Config(
        _endpoint(given.strip()), unicode_text(named.strip()), _token(key or env.get(KEY, "")), timeouts or Timeouts()
    )


def cache_folder(path: Path) -> Path:
    """The folder for cached answers, made where it is not there yet, for its owner only.

    Raises UsageError where it cannot be made.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot keep answers in {path}: {error.strerror or error}", hint="or give --no-cache"
        ) from None
    return path


def library() -> Any:
    """The HTTP library; raises MissingExtra where it is not installed."""
    try:
        import httpx2  # noqa: PLC0415 - only where a model is asked
    except ImportError:
        raise MissingExtra("summarising with a model", "llm") from None
    return httpx2


def _endpoint(given: str) -> str:
    """The URL to post to: https anywhere, http only to this machine, no user name or password in it."""
    httpx2 = library()
    try:
        url = httpx2.URL(given)
    except (httpx2.InvalidURL, ValueError):
        raise UsageError("the endpoint's URL cannot be read", hint="such as https://api.example.com/v1") from None
    if not _HOST.fullmatch(url.host) or (url.port or 0) > 65_535:
        raise UsageError("the endpoint's URL cannot be read", hint="such as https://api.example.com/v1")
    if url.userinfo:
        raise UsageError("the endpoint's URL holds a user name or password", hint=f"put the key in {KEY}")
    if url.scheme not in {"http", "https"} or not url.host:
        raise UsageError("the endpoint's URL is no http(s) URL", hint="such as https://api.example.com/v1")
    if url.scheme == "http" and not _loopback(url.host):
        raise UsageError(f"the endpoint {url.host} would get the transcript unencrypted", hint="give its https URL")
    path = url.path.rstrip("/")
    return str(url.copy_with(path=path if path.endswith(_PATH) else path + _PATH, fragment=None))


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _token(key: str) -> str:
    """The key without blanks round it. What a header cannot carry is refused here, without being shown."""
    token = key.strip()
    if not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError("the endpoint's key holds characters that no key has", hint=f"look at {KEY}")
    return token
