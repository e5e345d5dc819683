"""JUnit XML, which every service of continuous integration shows: a suite per trace, a case per rule.

It holds to the Jenkins schema junit-10.xsd, that pytest's ``xunit2`` family holds to as well: no attributes of other
families, ``time`` always 0, since equal inputs give equal bytes.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ctxbudget.renderers._check_sentences import named, peak, unmeasured, warned, whole
from ctxbudget.safe import log_line, xml_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.renderers import Look
    from ctxbudget.report.check import CheckedTrace, CheckReport, Failure

suffix = ".xml"

MEASURED = "measured"
"""The case that every trace has: it passes where there is a measurement, so that no suite is green for want of one."""

_OUTCOMES = {"error": "error", "warning": "skipped", "note": "skipped"}


def render(report: CheckReport, look: Look, out: BinaryIO) -> None:
    """Write the suites; ``look`` changes nothing."""
    del look
    root = Element("testsuites", {"name": "ctxbudget check"})
    for trace in report.checked:
        root.append(_suite(trace))
    if report.warnings or not report.checked:
        root.append(_whole(report))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    root.set("time", "0")
    indent(root)
    out.write(tostring(root, encoding="utf-8", xml_declaration=True))
    out.write(b"\n")


def _suite(trace: CheckedTrace) -> Element:
    suite = Element("testsuite", {"name": xml_text(named(trace))})
    _measured(suite, trace)
    by_rule = sorted(trace.failures, key=lambda failure: failure.id)
    for rule, failures in groupby(by_rule, key=lambda failure: (failure.id, failure.name)):
        _rule(suite, " ".join(rule), list(failures))
    return _counted(suite)


def _rule(suite: Element, name: str, failures: list[Failure]) -> None:
    """One case for all failures of a rule: its name stays the same when turns and lines move."""
    case = _case(suite, name)
    texts = [_text(failure) for failure in failures]
    failing = next((failure for failure in failures if failure.fails), None)
    if failing is not None:
        _said(SubElement(case, "failure"), failing.name, failing.message, texts)
    elif all(failure.known for failure in failures):
        _said(SubElement(case, "skipped"), "known", "known to the baseline", texts)
    else:
        SubElement(case, "system-out").text = _joined(texts)


def _measured(suite: Element, trace: CheckedTrace) -> None:
    case = _case(suite, MEASURED)
    if trace.reason:
        _said(
            SubElement(case, _OUTCOMES[unmeasured(trace)]),
            trace.status,
            trace.reason,
            [[trace.hint]] if trace.hint else [],
        )
    elif trace.peak is not None:
        SubElement(case, "system-out").text = _joined([[peak(trace, trace.peak)]])


def _whole(report: CheckReport) -> Element:
    """What is to be said of the check as a whole: a case for each warning, and for a check of nothing at all."""
    suite = Element("testsuite", {"name": "ctxbudget check"})
    outcome = _OUTCOMES[warned(report)]
    for code, warnings in groupby(sorted(report.warnings, key=lambda each: each.code), key=lambda each: each.code):
        texts = [[each.message] for each in warnings]
        _said(SubElement(_case(suite, code), outcome), code, texts[0][0], texts)
    if not report.checked:
        _said(SubElement(_case(suite, MEASURED), outcome), "empty", "there was no trace to check", [])
    return _counted(suite)


def _counted(suite: Element) -> Element:
    for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(sum(1 for _ in suite.iter(tag))))
    suite.set("time", "0")
    return suite


def _case(suite: Element, name: str) -> Element:
    return SubElement(suite, "testcase", {"classname": suite.get("name", ""), "name": xml_text(name), "time": "0"})


def _said(element: Element, type_name: str, message: str, texts: Iterable[list[str]]) -> None:
    element.set("type", xml_text(type_name))
    element.set("message", xml_text(message))
    element.text = _joined(texts) or None


def _text(failure: Failure) -> list[str]:
    known = ", known to the baseline" if failure.known else ", worse than the baseline" if failure.worse else ""
    first, *rest = whole(failure)
    return [f"{failure.level}{known}: {first}", *rest]


def _joined(texts: Iterable[list[str]]) -> str:
    """Texts of several lines each, a blank line between them; no line is a command to a log that it is printed to."""
    return "\n\n".join("\n".join(log_line(xml_text(line)) for line in lines) for lines in texts)
