"""JSON: the contract, and back again."""

from dataclasses import replace

import jsonschema
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxbudget.analysis import analyze
from ctxbudget.errors import ConfigError
from ctxbudget.report import schema
from ctxbudget.report.loading import from_json

KEYS = [
    "schema", "tool", "source", "window", "window_source", "window_known", "reserve", "scheme", "encoding",
    "encoding_exact", "calibration", "layers", "turns", "peak", "context", "usage", "usage_main", "messages", "pairs",
    "parse", "outcome", "compactions", "constraints", "by_layer", "by_kind", "by_tool", "by_resource", "growth",
    "waste", "estimators", "fragments", "shown_turn", "children", "findings", "warnings",
]  # fmt: skip


def test_one_trace_is_one_object(report, shown):
    text = shown(report, "json")
    assert text.endswith("}\n")
    assert list(orjson.loads(text)) == KEYS


def test_several_are_a_list_with_totals(trace, shown):
    data = orjson.loads(shown(analyze([trace, trace], window=1000), "json"))
    assert list(data) == ["schema", "tool", "traces", "totals", "unreadable"]
    assert data["totals"]["traces"] == 2
    assert data["totals"]["usage"]["calls"] == data["traces"][0]["usage"]["calls"]


def test_the_layers_of_a_turn_add_up(report, shown):
    for turn in orjson.loads(shown(report, "json"))["turns"]:
        assert sum(turn["layers"].values()) == sum(turn["kinds"].values()) == turn["tokens"]


@pytest.mark.parametrize("turn", [None, 3])
def test_there_and_back(trace, shown, turn):
    one = analyze(trace, window=1000, fragments=True, estimators=True, turn=turn)
    assert from_json(shown(one, "json")) == one.single
    two = analyze([trace, trace])
    assert from_json(shown(two, "json").encode()) == two


def test_it_holds_to_the_shipped_schema(report, trace, shown):
    shipped = orjson.loads(schema.FILE.read_bytes())
    jsonschema.Draft202012Validator.check_schema(shipped)
    for each in (report, analyze([trace, trace])):
        jsonschema.validate(orjson.loads(shown(each, "json")), shipped)
    wrong = orjson.loads(shown(report, "json")) | {"more": 1}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, shipped)


def test_the_shipped_schema_is_that_of_the_dataclasses():
    assert schema.FILE.read_bytes() == schema.text(), "run: python -m ctxbudget.report.schema"


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda data: data | {"schema": 99}, "not a report of schema 1, but 99"),
        (lambda data: data | {"windw": 1}, "unknown key 'windw'"),
        (lambda data: {key: data[key] for key in data if key != "peak"}, "lacks the key 'peak'"),
        (lambda data: data | {"window": "big"}, "report.window is str, not int"),
        (lambda data: data | {"turns": {}}, "report.turns is dict, not list"),
        (lambda data: data | {"turns": [1]}, r"report.turns\[0\] is int, not an object"),
        (lambda _: [], "not a report of schema 1, but None"),
    ],
)
def test_anything_else_is_refused_with_its_place(report, shown, change, message):
    data = change(orjson.loads(shown(report, "json")))
    with pytest.raises(ConfigError, match=message):
        from_json(orjson.dumps(data))


def test_no_json_is_refused():
    with pytest.raises(ConfigError, match="not a report"):
        from_json(b"{")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(st.characters(categories=["Cs", "L", "Cc"]), min_size=1))
def test_any_text_is_valid_utf8(report, shown, with_text, text):
    hostile = replace(report, traces=[with_text(report.traces[0], text)])
    data = orjson.loads(shown(hostile, "json"))
    assert data["source"]["path"] == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert data["children"][0]["turns"][0]["tokens"] == report.traces[0].children[0].turns[0].tokens
