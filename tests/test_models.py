"""Which window applies, by which rule; what the list says of a model."""

import pytest

from ctxbudget import models
from ctxbudget.trace import Compaction, Edit, Source, Trace, Turn, Usage


def trace(agent=None, model=None, window=None, prompts=(), compactions=()):
    turns = tuple(Turn(at, 0, 0, model, Usage(input=prompt, total=prompt)) for at, prompt in enumerate(prompts, 1))
    recorded = tuple(Compaction(1, Edit("recorded", ()), trigger, pre) for trigger, pre in compactions)
    return Trace(Source("x", "native", agent), (), turns, model, window, recorded=recorded)


@pytest.mark.parametrize(
    "given,tokens,rule,known",
    [
        ({"window": 272_000}, 272_000, "recorded", True),
        ({"agent": "claude-code", "compactions": [("auto", 167_117)]}, 200_000, "automatic compaction", True),
        ({"agent": "claude-code", "compactions": [("auto", 966_000)]}, 1_000_000, "automatic compaction", True),
        (
            {"agent": "claude-code", "model": "claude-opus-4-6", "compactions": [("manual", 142_431)]},
            200_000,
            "default",
            True,
        ),
        ({"agent": "claude-code", "model": "claude-opus-4-6", "prompts": [310_000]}, 1_000_000, "variant", True),
        ({"agent": "claude-code", "model": "claude-sonnet-4-5", "prompts": [310_000]}, 1_000_000, "variant", True),
        ({"model": "gpt-4o", "prompts": [310_000]}, 400_000, "assumed", False),
        ({"agent": "codex", "model": "gpt-5-codex"}, 258_400, "default", True),
        ({"model": "gpt-4o"}, 128_000, "list value", True),
        ({"model": "openai/gpt-4o"}, 128_000, "list value", True),
        ({"model": "nobody-knows-it"}, 200_000, "assumed", False),
        ({"prompts": [5_000_000]}, 5_000_000, "assumed", False),
        ({"window": 50_000, "prompts": [95_500], "model": "gpt-4o"}, 128_000, "list value", True),
    ],
)
def test_the_first_rule_that_holds(given, tokens, rule, known):
    window = models.window_of(trace(**given))
    assert (window.tokens, window.known) == (tokens, known)
    assert rule in window.rule


def test_flag_beats_configuration_beats_the_trace():
    recorded = trace(window=272_000)
    assert models.window_of(recorded, flag=64_000, config=32_000).tokens == 64_000
    assert models.window_of(recorded, config=32_000).tokens == 32_000


def test_prices_are_listed_per_million():
    price = models.price_of("claude-sonnet-4-5")
    assert (price.input, price.cache_read, price.cache_write, price.output) == (3.0, 0.3, 3.75, 15.0)
    assert models.price_of("nobody-knows-it") is None
    assert models.price_of(None) is None
