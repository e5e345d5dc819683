"""Repair what the recording left broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ctxbudget.trace import Edit, Form, Fragment
from ctxbudget.view import cut, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "repair-pairs"
