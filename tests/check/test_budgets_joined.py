"""Budgets in their parts: thresholds in order, overrides setting by setting, the scheme of layers, and what of them
the ``priority`` preset takes over."""

import pytest

from ctxbudget import config
from ctxbudget.config import document, shown
from ctxbudget.config.driven import driven
from ctxbudget.errors import ConfigError
from ctxbudget.strategy.naming import find


def settings(text):
    return config.read(document.Document("ctxbudget.yaml", text))


def budget(**given):
    return settings({"context_budget": given})


ORDERS = [
    # of the whole budget, of an override; whether the two thresholds of either can be in order
    ({"soft_threshold": 0.7, "hard_threshold": 0.7}, {}, True),
    ({"soft_threshold": 0.71, "hard_threshold": 0.7}, {}, False),
    ({"soft_threshold": "115k", "hard_threshold": 0.9}, {}, True),  # of a window that only the trace tells
    ({"soft_threshold": "115k", "hard_threshold": 0.9, "max_input_tokens": 120_000}, {}, False),
    ({"soft_threshold": "108k", "hard_threshold": 0.9, "max_input_tokens": 120_000}, {}, True),
    ({"soft_threshold": 0.7, "hard_threshold": 0.9}, {"hard_threshold": 0.6}, False),
    ({"soft_threshold": 0.7, "hard_threshold": 0.9}, {"soft_threshold": 0.5, "hard_threshold": 0.6}, True),
]


@pytest.mark.parametrize("whole, override, right", ORDERS)
def test_the_soft_threshold_is_below_the_hard_one_everywhere(whole, override, right):
    overrides = [{"paths": ["long/**"], **override}] if override else []
    if right:
        budget(**whole, overrides=overrides)
    else:
        with pytest.raises(ConfigError) as error:
            budget(**whole, overrides=overrides)
        assert "is above hard_threshold" in error.value.message


def test_an_override_changes_a_layer_setting_by_setting():
    layer = {"max_tokens": 40_000, "pinned": True}
    over = {"paths": ["*.jsonl"], "layers": {"observation": {"max_tokens": 90_000}}}
    held = budget(layers={"observation": layer}, overrides=[over]).budget_for("a.jsonl").layers["observation"]
    assert (held.max_tokens.tokens, held.pinned) == (90_000, True)


@pytest.mark.parametrize("own, preferred, expected", [(None, None, "agent"), ("window", None, "window"),
                                                      ("window", "agent", "agent")])  # fmt: skip
def test_a_layer_that_both_schemes_have_is_of_the_projects(own, preferred, expected):
    found = settings({"scheme": own} if own else {})
    assert found.scheme_holding(("system",), preferred).name == expected


def test_of_capped_layers_only_those_that_can_shrink_drive_the_preset():
    layers = {"system": 18_000, "tools": 24_000, "working_memory": 42_000, "retrieval": 36_000}
    capped = budget(layers={name: {"max_tokens": most} for name, most in layers.items()}).budget
    stages = driven(find("priority"), capped).stages
    assert {name: when for stage in stages for name, when in (stage.when_layer or {}).items()} == {
        "working_memory": 42_001,
    }  # fmt: skip


def test_without_thresholds_the_preset_keeps_its_own_shares_of_the_budget():
    plain = find("priority").stages
    of_window = driven(find("priority"), budget().budget).stages
    assert [stage.when for stage in of_window] == [stage.when for stage in plain]
    of_budget = driven(find("priority"), budget(max_input_tokens=100_000).budget).stages
    assert [stage.when for stage in of_budget if stage.when] == [stage.when * 100_000 for stage in plain if stage.when]


@pytest.mark.parametrize(
    "given, hard",
    [
        ({}, "75 % of the window"),
        ({"soft_threshold": 0.7}, "100 % of the window"),
        ({"max_input_tokens": 120_000}, "120,000"),
        ({"max_input_tokens": 120_000, "soft_threshold": 0.7}, "120,000"),
        ({"max_input_tokens": 120_000, "hard_threshold": 0.9}, "90 %"),
    ],
)
def test_the_hard_threshold_that_holds_is_shown(given, hard):
    rows = {row.key: row.value for row in shown.rows(budget(**given))}
    assert rows["context_budget.hard_threshold"] == hard
