"""Base64 and hex inside text: named and measured, never carried."""

from __future__ import annotations

import re

from ctxbudget.digests._wording import number

LONGEST_ID = 200
"""Characters of base64 below which it may be an id, a signature or a token that later work needs. Hex is taken for a
blob from 129 digits on: SHA-512 has 128."""
_LEAST = 129

_RUN = re.compile(
    r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?:;[\w=-]+)*;base64,[A-Za-z0-9+/_=%-]{16,}"
    r"|(?:(?<=\n)|\A)(?:[A-Za-z0-9+/]{60,76}\r?\n){3,}[A-Za-z0-9+/]{60,76}={0,2}"
    r"(?:\r?\n(?:[A-Za-z0-9+/]{4}){0,18}(?:[A-Za-z0-9+/]{2,3}={1,2}|[A-Za-z0-9+/]{4})(?=\s|\Z))?"
    r"|(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{129,}={0,2}"
)
_URL = ";base64,"
_WORTH_IT = re.compile(r"[A-Za-z0-9+/=_%-]{60}")
"""Without this no URL is long enough to be named."""
_LINE = re.compile(r"\n[A-Za-z0-9+/]{60}")
_LONG = re.compile(r"[A-Za-z0-9+/_-]{129}")
_SPACED = re.compile(r"(?:.{0,128} ){1,500}", re.DOTALL)
"""As far as a space comes at least every ``_LEAST`` characters; bounded, since what is matched is kept meanwhile."""
_BROKEN = re.compile(r"(?:.{0,128}[ \n]){1,500}", re.DOTALL)
_HEX = re.compile(r"[0-9a-fA-F]+\Z")


def without_blobs(text: str) -> str:
    """``text`` with ``[base64, 12,345 characters]`` for each long run of base64, and the like for hex and data URLs."""
    return _RUN.sub(_named, text) if _may_hold(text) else text


def _may_hold(text: str) -> bool:
    """Whether there may be a run. Nearly every text has none, and this tells it many times as fast as ``_RUN``."""
    if ";" in text and _URL in text:  # one sign is found many times as fast as several
        return _WORTH_IT.search(text) is not None
    if not _unbroken(text, _SPACED):  # so no run of letters, nor one of lines
        return False
    return _LINE.search(text) is not None or (_unbroken(text, _BROKEN) and _LONG.search(text) is not None)


def _unbroken(text: str, broken: re.Pattern[str]) -> bool:
    """Whether anywhere ``_LEAST`` characters stand without a blank. Looks from the last blank of each stretch on."""
    at, last = 0, len(text) - _LEAST
    while at <= last:
        found = broken.match(text, at)
        if found is None:
            return True
        at = found.end()
    return False


def _named(run: re.Match[str]) -> str:
    text = run[0]
    if text.startswith("data:"):
        return f"[{run['type'] or 'data'}, base64, {number(len(text))} characters]"
    if _HEX.match(text) and len(set(text[:4000])) > 8:
        return f"[hex, {number(len(text))} characters]"
    if len(text) < LONGEST_ID or not _encoded(text[:4000]):
        return text
    return f"[base64, {number(len(text))} characters]"


def _encoded(text: str) -> bool:
    """Whether it looks like bytes, not like a long path or one letter again and again."""
    mixed = re.search(r"[A-Z]", text) and re.search(r"[a-z]", text) and re.search(r"\d", text)
    return bool(mixed) and sum(map(text.count, "/-_")) < len(text) * 0.08 and len(set(text)) > 20
