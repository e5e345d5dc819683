"""SARIF 2.1.0, for code scanning and editors: a result per failure, a notification per trace that was not measured.

Static Analysis Results Interchange Format 2.1.0 (OASIS, 2020), and what GitHub asks beyond it (docs.github.com, "SARIF
support for code scanning"): a rule's descriptions and relative URIs. Fingerprints keep a result the same when lines
move; ``primaryLocationLineHash`` is not among them, since GitHub's uploader makes it from the file itself.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote

from ctxbudget.findings import RULES
from ctxbudget.findings.catalogue import pages
from ctxbudget.renderers._check_sentences import looked_at, named, unmeasured, warned, whole
from ctxbudget.renderers.json import dumped
from ctxbudget.report.check import COULD_NOT
from ctxbudget.safe import unicode_text, visible

if TYPE_CHECKING:
    from ctxbudget.findings.catalogue import Page
    from ctxbudget.renderers import Look
    from ctxbudget.report.check import CheckedTrace, CheckReport, Failure

suffix = ".sarif"

SCHEMA = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
FINGERPRINT = "ctxbudget/v1"

_WORD = re.compile(r"\w+")
_MARKUP = re.compile(r"[\\\[\]]")


def render(report: CheckReport, look: Look, out: BinaryIO) -> None:
    """Write one run; ``look`` changes nothing."""
    del look
    name, _, version = report.tool.partition(" ")
    run = {
        "tool": {"driver": {"name": name, "semanticVersion": version, "rules": [_rule(page) for page in pages()]}},
        "automationDetails": {"id": "ctxbudget/"},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(failure) for failure in report.failures],
    }
    out.write(dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}))


def _rule(page: Page) -> dict[str, Any]:
    rule = page.rule
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in _WORD.findall(rule.name)),
        "shortDescription": _message([rule.name[:1].upper() + rule.name[1:]]),
        "fullDescription": _message([page.what]),
        "help": {
            **_message([page.why, "", page.fix, "", f"ctxbudget explain {rule.id}"]),
            "markdown": f"**Why**: {page.why}\n\n**Fix**: {page.fix}\n\n`ctxbudget explain {rule.id}`",
        },
        "defaultConfiguration": {"level": rule.level},
    }


def _invocation(report: CheckReport) -> dict[str, Any]:
    noted = [_notification(trace) for trace in report.checked if trace.reason]
    noted += [
        {"level": warned(report), "descriptor": {"id": each.code}, "message": _message([each.message])}
        for each in report.warnings
    ]
    return {
        "executionSuccessful": report.exit_code != COULD_NOT,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": noted,
    }


def _notification(trace: CheckedTrace) -> dict[str, Any]:
    hint = f" ({trace.hint})" if trace.hint else ""
    return {
        "level": unmeasured(trace),
        "descriptor": {"id": trace.status},
        "message": _message([f"{named(trace)}: {trace.reason}{hint}"]),
        "locations": [{"physicalLocation": _place(trace.path, None)}],
    }


def _result(failure: Failure) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": _place(failure.path, failure.line)}
    if failure.fragment is not None:
        location["logicalLocations"] = [{"name": visible(failure.fragment), "kind": "fragment"}]
        location["message"] = _message([looked_at(failure)])
    result = {
        "ruleId": failure.id,
        "ruleIndex": next(number for number, rule in enumerate(RULES) if rule.id == failure.id),
        "level": failure.level,
        "message": _message(whole(failure)),
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: f"{failure.key}:{visible(failure.path)}"},
        "properties": _properties(failure),
    }
    if failure.known:
        result["suppressions"] = [{"kind": "external", "justification": "known to the baseline"}]
    return result


def _properties(failure: Failure) -> dict[str, Any]:
    """What tools may want to sort by; tokens, and turns that count from 1."""
    given = {
        "turn": failure.turn,
        "measured": failure.measured,
        "limit": failure.limit,
        "reported": failure.reported,
        "near": failure.near,
        "layer": failure.layer,
        "tool": failure.tool,
        "resource": failure.resource,
    }
    return {
        key: visible(value) if isinstance(value, str) else value for key, value in given.items() if value is not None
    }


def _place(path: str, line: int | None) -> dict[str, Any]:
    """Where: a URI relative to the root of the sources, or a whole one where an absolute path was given."""
    file = PurePath(path)
    uri = quote(unicode_text(file.as_posix()))
    artifact = {"uri": f"file://{uri}"} if file.is_absolute() else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    place: dict[str, Any] = {"artifactLocation": artifact}
    if line is not None:
        place["region"] = {"startLine": line}
    return place


def _message(lines: list[str]) -> dict[str, str]:
    """A plain text message: square brackets would make links of it, braces placeholders (SARIF 2.1.0, 3.11.5 and 6)."""
    text = "\n".join(map(visible, lines))
    return {"text": _MARKUP.sub(r"\\\g<0>", text).replace("{", "{{").replace("}", "}}")}
