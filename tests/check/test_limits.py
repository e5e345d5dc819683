"""Limits: read exactly, passed at their value and broken just above it, whoever asks for them."""

import base64
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget import load, sizes
from ctxbudget.checking import check
from ctxbudget.config import Settings
from ctxbudget.config.budget import Budget, Cap
from ctxbudget.errors import UsageError
from ctxbudget.sizes import Amount


@pytest.mark.parametrize(
    "text, share, tokens",
    [
        ("75%", Fraction(3, 4), None),
        ("75 %", Fraction(3, 4), None),
        ("0.75", Fraction(3, 4), None),
        (".5", Fraction(1, 2), None),
        ("1", Fraction(1), None),
        ("33.333%", Fraction(33333, 100000), None),
        ("110%", Fraction(11, 10), None),
        ("20k", None, 20_000),
        ("1.5M", None, 1_500_000),
        ("120,000", None, 120_000),
        ("101", None, 101),
    ],
)
def test_an_amount_is_read_exactly(text, share, tokens):
    assert sizes.amount(text, "--max") == Amount(tokens, share)


@pytest.mark.parametrize("text", ["", "0", "0%", "-5%", "80", "2", "x", "75%%", "1e3", "nan", "٣%", "5 kB"])
def test_what_is_no_amount_is_refused(text):
    with pytest.raises(UsageError) as error:
        sizes.amount(text, "--max")
    assert error.value.hint


@given(st.integers(1, 10**7), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_share_is_exact_at_its_edge(base, top, below):
    share = Fraction(top, below)
    most = Amount(share=share).of(base)
    assert most <= share * base < most + 1


EDGES = [
    # the largest prompt, the window, the flags, whether it passes
    (750, 1_000, {}, True),
    (751, 1_000, {}, False),
    (749, 999, {}, True),  # 75 % of 999 is 749.25
    (750, 999, {}, False),
    (800, 1_000, {"max": "80%"}, True),
    (801, 1_000, {"max": "0.8"}, False),
    (501, 100_000, {"max": "501"}, True),
    (502, 100_000, {"max": "501"}, False),
    (1_000, 1_000, {"max": "100%"}, True),
    (1_001, 1_000, {"max": "100%"}, False),
]


@pytest.mark.parametrize("peak, window, flags, passes", EDGES)
def test_the_fullest_turn_passes_at_the_limit(session, peak, window, flags, passes):
    """Neither the last turn nor the sum counts; and what the provider reports does, not our count."""
    path = session(f"{peak}_{window}.jsonl", [100, peak, 300])
    report = check(path, window=window, rules=None, **flags)
    row = report.checked[0]
    assert (row.peak.tokens, row.peak.turn, row.peak.reported) == (peak, 2, True)
    assert [one.id for one in row.failures if one.id == "CB102"] == ([] if passes else ["CB102"])
    assert row.peak.near is False
    if not passes:
        (broken,) = [one for one in row.failures if one.id == "CB102"]
        assert (broken.measured, broken.turn, broken.reported) == (peak, 2, True)
        assert broken.measured == broken.limit + 1
        assert report.exit_code == 1


def test_of_equally_full_turns_the_first_is_the_peak(session):
    row = check(session("equal.jsonl", [100, 900, 300, 900, 899]), window=1_000).checked[0]
    assert (row.peak.turn, row.failures[0].turn) == (2, 2)


def test_the_parts_of_one_result_count_together(session):
    """A call may be answered by a text and a picture; each alone would be within the limit."""
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (900).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    picture = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png).decode()}
    parts = [{"type": "text", "text": "first " * 300}, {"type": "image", "source": picture}]
    path = session("parts.jsonl", [None, None], results=[parts])
    (trace,) = load(str(path))
    answers = [one for one in trace.entering(trace.turns[1]) if one.answers]
    whole = sum(one.tokens for one in answers)
    assert len(answers) == 2
    assert check(path, window=100_000, max_result=str(whole)).failures == []
    (broken,) = check(path, window=100_000, max_result=str(whole - 1)).failures
    assert (broken.id, broken.measured) == ("CB105", whole)
    assert broken.fragment == max(answers, key=lambda one: one.tokens).id


def sized(session, name="layers.jsonl"):
    results = ["a " * 40, "b " * 400, "c " * 60]
    return session(name, [None, None, None, None], results=results)


@pytest.mark.parametrize(
    "option, rule, turn, line", [("max_layer", "CB103", 5, 8), ("growth", "CB104", 3, 5), ("max_result", "CB105", 3, 5)]
)
def test_every_other_limit_has_the_same_edge(session, option, rule, turn, line):
    path = sized(session)
    size = by_hand(path)[rule]

    def at(tokens):
        given = {"observation": str(tokens)} if option == "max_layer" else str(tokens)
        report = check(path, window=100_000, **{option: given})
        return report, [one for one in report.checked[0].failures if one.id == rule]

    assert at(size)[1] == []
    report, (broken,) = at(size - 1)
    assert (broken.measured, broken.level, broken.tool) == (size, "error", "Read")
    assert (broken.turn, broken.line) == (turn, line)
    assert broken.resource.endswith(f"part_{turn - 1}.py")
    assert report.exit_code == 1


def by_hand(path):
    """The sizes, summed from the fragments themselves."""
    (trace,) = load(str(path))
    came = trace.entering(trace.turns[2])
    observed = [one.tokens for one in trace.fragments if one.kind.value in {"call", "result"}]
    return {
        "CB103": sum(observed),
        "CB104": sum(one.tokens for one in came),
        "CB105": sum(one.tokens for one in came if one.answers),
    }


SIDES = [
    # tokens, of a whole, against a limit: what is shown
    (150_000, 200_000, 150_000, "75.00 %"),
    (150_001, 200_000, 150_000, "75.01 %"),  # 75.0005 %
    (150_006, 200_000, 150_000, "75.01 %"),
    (150_030, 200_000, 150_000, "75.02 %"),
    (149_999, 200_000, 150_000, "75.00 %"),
    (151_845, 200_000, 150_000, "75.92 %"),
    (99_999, 300_000, 99_999, "33.33 %"),
    (100_000, 300_000, 99_999, "33.34 %"),
    (199_999, 300_000, 199_999, "66.66 %"),  # 66.67 % would be above
    (1_000, 999, 999, "100.11 %"),
    (310_000, 200_000, 150_000, "155.00 %"),
    (2_500_000, 200_000, 150_000, "1,250.00 %"),
    (1, 1_000_000, 750_000, "0.00 %"),
]


@pytest.mark.parametrize("tokens, whole, most, shown", SIDES)
def test_a_share_is_told_on_its_own_side_of_the_limit(tokens, whole, most, shown):
    assert sizes.beside_limit(tokens, whole, most) == shown


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.integers(1, 10_000))
def test_no_share_contradicts_the_verdict(tokens, whole, share):
    """A limit of ``share`` hundredths of a percent."""
    limit = Amount(share=Fraction(share, 10_000))
    text = sizes.beside_limit(tokens, whole, limit.of(whole))
    shown = Fraction(text.removesuffix(" %").replace(",", "")) / 100
    assert (shown > limit.share) is (tokens > limit.of(whole))
    assert abs(shown - Fraction(tokens, whole)) <= Fraction(1, 10_000)


def test_what_is_just_above_reads_above_everywhere(session, run, tmp_path):
    session("just.jsonl", [100, 75_003, 300], into=tmp_path)
    for form in ("text", "markdown", "junit", "sarif", "github", "json"):
        page = run("check", "just.jsonl", "--window", "100k", "--format", form, cwd=tmp_path).stdout.decode()
        assert "75.01 %" in page
        assert "75.00 %" not in page
        assert "75.0 %" not in page
    session("just.jsonl", [100, 20], into=tmp_path / "two")
    session("over.jsonl", [100, 75_001], into=tmp_path / "two")
    table = run("check", "two", "--window", "100k", cwd=tmp_path).stdout.decode()
    assert "75,001    75.01 %  75,000" in table


def test_a_budget_file_and_flags_mean_the_same(session):
    path = session("same.jsonl", [100, 900])
    by_flag = check(path, window=1_000, max="80%").checked[0].failures
    settings = Settings(budget=Budget(hard_threshold=sizes.amount("0.8", "x")))
    by_file = check(path, window=1_000, settings=settings).checked[0].failures
    assert [(one.id, one.limit, one.key) for one in by_flag] == [(one.id, one.limit, one.key) for one in by_file]


def test_a_soft_threshold_warns_and_the_hard_one_fails(session):
    path = session("soft.jsonl", [100, 850])

    def levels(hard):
        budget = Budget(soft_threshold=sizes.amount("0.7", "x"), hard_threshold=sizes.amount(hard, "x"))
        report = check(path, window=1_000, settings=Settings(budget=budget))
        return [one.level for one in report.checked[0].failures], report.exit_code

    assert levels("0.9") == (["warning"], 0)
    assert levels("0.8") == (["error"], 1), "one failure, not a warning besides"


def test_a_soft_threshold_alone_leaves_the_whole_window(session):
    path = session("only_soft.jsonl", [100, 850])
    budget = Budget(soft_threshold=sizes.amount("0.8", "x"))
    report = check(path, window=1_000, settings=Settings(budget=budget))
    assert [(one.level, one.limit) for one in report.checked[0].failures] == [("warning", 800)]
    assert report.checked[0].peak.limit == 1_000


def test_shares_of_a_file_are_of_its_own_whole(session):
    path = session("own.jsonl", [100, 850])
    budget = Budget(max_input_tokens=1_000, hard_threshold=sizes.amount("0.8", "x"))
    (broken,) = [one for one in check(path, settings=Settings(budget=budget)).checked[0].failures if one.id == "CB102"]
    assert (broken.limit, broken.limit_text) == (800, "80 % of the budget")


def test_a_flag_takes_the_place_of_the_file(session):
    path = session("flag.jsonl", [100, 850])
    budget = Budget(max_input_tokens=100, soft_threshold=sizes.amount("0.1", "x"))
    report = check(path, window=1_000, max="90%", settings=Settings(budget=budget))
    assert report.checked[0].failures == []


def test_half_the_window_at_once_is_a_warning_where_nobody_asked(session):
    path = session("half.jsonl", [None, None], results=["word " * 700, "x"])
    report = check(path, window=1_000)
    levels = {one.id: one.level for one in report.checked[0].failures}
    assert levels == {"CB102": "error", "CB104": "warning", "CB105": "warning"}
    asked = check(path, window=1_000, max="1000%", growth="10%").checked[0].failures
    assert {one.id: one.level for one in asked} == {"CB104": "error", "CB105": "warning"}


def test_layers_of_either_scheme(session):
    path = sized(session, "schemes.jsonl")
    budget = Budget(layers={"working_memory": Cap(max_tokens=Amount(tokens=101))})
    report = check(path, window=100_000, max_layer={"observation": "101"}, settings=Settings(budget=budget))
    assert [one.layer for one in report.checked[0].failures] == ["observation", "working_memory"]


def test_a_flag_takes_the_place_of_a_cap_only_in_its_own_scheme():
    """Both schemes have a layer called system; only one has tools. This file does not hold its tools, which counts as
    system: it is held against the sum of two limits where both are of one scheme."""
    path = "sample_traces/migrate_module.jsonl"

    def told(scheme=None, **caps):
        budget = Budget(layers={name: Cap(max_tokens=Amount(tokens=most)) for name, most in caps.items()})
        flags = {"max": "100%", "max_layer": {"system": "17k"}, "scheme": scheme}
        report = check(path, **flags, settings=Settings(budget=budget))
        said = [text for text in report.limits if text.startswith("layer")]
        return said, [(one.layer, one.limit) for one in report.failures]

    flag = "layer system: 17,000 (--max-layer system)"
    assert told() == ([flag], [("system", 17_000)])
    assert told(system=16_000) == ([flag], [("system", 17_000)])
    assert told(tools=9_000) == ([flag, "layer tools: 9,000 (budget)"], [("system", 17_000)])
    assert told(system=16_000, tools=1_000)[0] == [
        flag, "layer system: 16,000 (budget)", "layer tools: 1,000 (budget)",
    ]  # fmt: skip
    assert told("window", system=16_000, tools=923)[0] == [flag, "layer tools: 923 (budget)"]
    assert told("window", system=16_000, tools=923)[1] == []
    assert told("window", system=16_000, tools=922)[1] == [("system and tools", 17_922)]


@pytest.mark.parametrize(
    "layers, words",
    [
        ({"observations": "5%"}, "unknown layer 'observations'"),
        ({"observation": "5%", "retrieval": "5%"}, "layers of different schemes"),
    ],
)
def test_layers_nobody_has_are_refused(session, layers, words):
    with pytest.raises(UsageError) as error:
        check(sized(session), window=1_000, max_layer=layers)
    assert words in error.value.message
    assert error.value.hint
