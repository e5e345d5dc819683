"""What is said of a trace."""

from dataclasses import replace

import pytest

from ctxbudget.renderers import _sentences
from ctxbudget.trace import Calibration, Outcome


@pytest.mark.parametrize(
    "fit, said",
    [
        (None, "not calibrated"),
        (
            Calibration(1.31, 17_902, 55, 0.006, True),
            "calibrated on 55 calls: 17,902 + 1.310 x counted, median error 0.6 %",
        ),
        (
            Calibration(1.3, 0, 1, None, False, "1 call with usage, 6 are needed"),
            "not calibrated on 1 call: 0 + 1.300 x counted, 1 call with usage, 6 are needed",
        ),
    ],
)
def test_how_counts_became_the_providers(report, fit, said):
    assert _sentences.calibration(replace(report.traces[0], calibration=fit)) == said


def test_whose_tokenizer_it_is(report):
    assert _sentences.counting(report.traces[0]) == "counted with o200k_base"
    assert _sentences.counting(replace(report.traces[0], encoding_exact=False)).endswith(", not the model's own")


def test_what_is_reserved(report):
    assert "1,000 tokens (--window), 200 of them reserved for the reply" in _sentences.window(
        replace(report.traces[0], reserve=200)
    )


@pytest.mark.parametrize(
    "outcome, said",
    [
        (Outcome(True, None, "exit_status"), "success (by exit_status)"),
        (Outcome(False, 0.25, "reward"), "failure, score 0.25 (by reward)"),
        (Outcome(None, None, "info"), "open (by info)"),
    ],
)
def test_the_recorded_outcome(report, outcome, said):
    assert ("Outcome", said) in list(_sentences.facts(replace(report.traces[0], outcome=outcome)))


def test_usage_that_is_only_a_total(report):
    trace = report.traces[0]
    said = dict(_sentences.facts(replace(trace, usage=replace(trace.usage, split_known=False))))
    assert said["Billed"] == "8 calls, total 7,520, not all of it split into kinds"


def test_how_the_reading_went(report):
    trace = report.traces[0]
    parse = replace(trace.parse, records_ok=9, damaged_places=1, partial_tail=True, skipped={"ping": 3})
    said = dict(_sentences.facts(replace(trace, parse=parse)))
    assert said["Records"] == "9 read, 0 bad, 1 damaged place, the last one cut off; not used: 3 ping"
