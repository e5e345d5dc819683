"""Counts are exact, offline, and survive any text; every model name finds a tokenizer."""

from __future__ import annotations

import base64
import gzip
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from ctxbudget.errors import MissingExtra, TokenizerError, UnknownName
from ctxbudget.tokens import Encoding, counter, encoding_for, engines, families, family, prior

CASES = Path(__file__).parents[2] / "shared" / "cases"
ENGINES = [name for name in ("quicktok", "tiktoken") if importlib.util.find_spec(name)]
ENCODINGS = ["o200k_base", "cl100k_base"]
needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the cases lie beside the checkout")
each_engine = pytest.mark.parametrize("engine", ENGINES)
each_encoding = pytest.mark.parametrize("encoding", ENCODINGS)


@cache
def reference(encoding: str) -> tiktoken.Encoding:
    """tiktoken's own definition of the encoding, with the ranks of the wheel in place of a download."""
    folder = Path(importlib.util.find_spec("bpe_openai").submodule_search_locations[0]) / "data"
    lines = gzip.decompress((folder / f"{encoding}.tiktoken.gz").read_bytes()).split()
    ranks = {base64.b64decode(token): int(rank) for token, rank in zip(lines[::2], lines[1::2], strict=True)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ranks)
        return tiktoken.Encoding(**getattr(openai_public, encoding)())


def texts_of(case: str) -> list[str]:
    lines = (CASES / case / "session.jsonl").read_text(encoding="utf-8").splitlines()
    messages = [json.loads(line)["message"] for line in lines]
    return [message["content"] for message in messages if message["role"] == "user"]


# ── exact ────────────────────────────────────────────────────────────────────────────────────────────────────────

ODD = st.sampled_from([
    *(" ", "  ", "\n", "\r\n", "\t", "\u3000", "\u00a0", "\u0085", "\0", "\x7f", "\u200d", "//", "/*", "_"),
    *("<|endoftext|>", "<|im_start|>", "'s", "'LL", "don't", "123", "4567", "ß", "é", "e\u0301", "漢字"),
    *("\ud83d", "🙂", "\U0001f469\u200d\U0001f467", "\u01c5", "\u02b0", "\u0410", "\u0627", "\u0e01"),
])  # fmt: skip
TEXT = st.text() | st.lists(ODD | st.text(max_size=5), max_size=30).map("".join)


@each_engine
@each_encoding
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=20))
def test_counts_are_those_of_tiktoken(engine, encoding, texts):
    """quicktok differs by one token in some 121 of 3.4 million adversarial texts, and that must not fail a build."""
    counts = counter(encoding, engine).count_all(texts)
    expected = [len(reference(encoding).encode_ordinary(text)) for text in texts]
    worst = max(abs(count - wanted) for count, wanted in zip(counts, expected, strict=True))
    assert worst <= (1 if engine == "quicktok" else 0)


@each_engine
@each_encoding
def test_source_files_count_exactly(engine, encoding):
    count = counter(encoding, engine).count
    for file in sorted(Path(engines.__file__).parents[1].rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        assert count(text) == len(reference(encoding).encode_ordinary(text))


@each_engine
@each_encoding
def test_special_tokens_are_plain_text(engine, encoding):
    for text in ("<|endoftext|>", "a<|endofprompt|>b", "<|fim_prefix|><|im_start|>"):
        assert counter(encoding, engine).count(text) == len(reference(encoding).encode(text, disallowed_special=()))
    assert counter(encoding, engine).count("<|endoftext|>") > 1


@each_engine
def test_a_lone_surrogate_counts_as_a_replacement_character(engine):
    one = counter("o200k_base", engine)
    assert one.count("a\ud83d b\udc00") == one.count("a\ufffd b\ufffd")
    assert one.count("\ud83d\ude00") == one.count("\U0001f600")
    assert one.count_all(["x", "\ud83d", ""]) == [1, one.count("\ufffd"), 0]


# ── any text ─────────────────────────────────────────────────────────────────────────────────────────────────────

RUNS = [
    " ",
    "\t",
    "\n",
    "\r\n",
    "\u3000",
    "a",
    "A",
    "aB",
    "=",
    "=-",
    "1",
    "é",
    "漢",
    "🙂",
    "\u0301",
    "'",
    "\0",
    " a",
    "/",
]


@each_engine
@each_encoding
@pytest.mark.parametrize("piece", RUNS, ids=ascii)
def test_a_run_of_a_million_characters_is_counted_in_time(engine, encoding, piece):
    start = time.monotonic()
    many = counter(encoding, engine).count("start" + piece * (1_200_000 // len(piece)) + "end")
    assert time.monotonic() - start < 20
    few = counter(encoding, engine).count("start" + piece * (12_000 // len(piece)) + "end")
    assert 0.9 < many / few / 100 < 1.1


@each_encoding
@pytest.mark.parametrize("piece", [" ", "\t", "\n", "\u3000", " \n", "\t "], ids=ascii)
def test_blanks_in_pieces_count_like_blanks_at_once(encoding, piece):
    text = "start" + piece * (400_000 // len(piece)) + "end"
    count = counter(encoding, "tiktoken").count(text)
    cuts = len(list(engines.between_blanks(text))) - 1
    assert cuts == 3
    assert abs(count - len(reference(encoding).encode_ordinary(text))) <= cuts * (len(piece) > 1)


def test_only_long_blanks_are_cut():
    for text in ("", "a b", "x" * 500_000, "a " * 300_000, " " * engines.LONG_RUN):
        assert list(engines.between_blanks(text)) == [text]
    pieces = list(engines.between_blanks(" " * (2 * engines.LONG_RUN + 1)))
    assert [len(piece) for piece in pieces] == [engines.LONG_RUN, engines.LONG_RUN, 1]


@each_engine
def test_a_million_blanks_leave_nothing_on_stderr(engine):
    script = "from ctxbudget.tokens import counter; print(counter().count('a' + ' ' * 1_200_000 + 'b'))"
    environment = os.environ | {engines.ENGINE_VARIABLE: engine}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert run.stderr == ""
    assert 9_000 < int(run.stdout) < 10_000


# ── engines ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def fresh():
    engines._counter.cache_clear()
    yield
    engines._counter.cache_clear()


@pytest.mark.usefixtures("fresh")
@each_engine
def test_no_engine_touches_the_network(engine, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/nowhere")
    assert counter("cl100k_base", engine).count("hello world") == 2


def test_the_fastest_engine_is_chosen_and_named():
    assert counter().engine == ENGINES[0]
    assert counter().name == "o200k_base"


@pytest.mark.usefixtures("fresh")
def test_the_environment_can_force_an_engine(monkeypatch):
    monkeypatch.setenv(engines.ENGINE_VARIABLE, "tiktoken")
    assert counter().engine == "tiktoken"
    monkeypatch.setenv(engines.ENGINE_VARIABLE, "fasttok")
    with pytest.raises(UnknownName, match="fasttok"):
        counter()


@pytest.mark.usefixtures("fresh")
def test_without_any_engine_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(engines, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    with pytest.raises(TokenizerError, match="o200k_base") as error:
        counter()
    assert "pip install" in error.value.hint


@pytest.mark.usefixtures("fresh")
def test_a_vocabulary_that_was_tampered_with_is_refused(monkeypatch):
    monkeypatch.setitem(engines.VOCABULARIES, "cl100k_base", engines.Vocabulary("x", "0" * 64))
    with pytest.raises(TokenizerError, match="not OpenAI's"):
        counter("cl100k_base", "tiktoken")


def test_an_unknown_encoding_suggests_the_nearest():
    with pytest.raises(UnknownName, match="o200k_bas") as error:
        counter("o200k_bas")
    assert "o200k_base" in error.value.hint


@pytest.mark.skipif(importlib.util.find_spec("ctok") is not None, reason="the extra is installed")
def test_the_claude_vocabulary_asks_for_its_extra():
    with pytest.raises(MissingExtra) as error:
        counter("claude")
    assert "ctxbudget[claude]" in error.value.hint


@pytest.mark.skipif(importlib.util.find_spec("ctok") is None, reason="needs the extra claude")
def test_the_claude_vocabulary_counts_without_the_frame_of_a_message():
    assert counter("claude").count_all(["hello, world", "", "\ud83d"]) == [3, 0, counter("claude").count("\ufffd")]
    assert counter("claude-4.7").count("hello, world") == 4
    assert counter("claude").engine == "ctok"


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "model, name, encoding, exact",
    [
        ("gpt-4o", "gpt", "o200k_base", True),
        ("gpt-4o-mini-2024-07-18", "gpt", "o200k_base", True),
        ("gpt-4.1", "gpt", "o200k_base", True),
        ("GPT-4.5-preview", "gpt", "o200k_base", True),
        ("openai/gpt-5-mini", "gpt", "o200k_base", True),
        ("gpt-5.1-codex-max", "gpt", "o200k_base", True),
        ("codex-mini-latest", "gpt", "o200k_base", True),
        ("openai:o3", "gpt", "o200k_base", True),
        ("o4-mini-2025-04-16", "gpt", "o200k_base", True),
        ("chatgpt-4o-latest", "gpt", "o200k_base", True),
        ("openai/gpt-oss-120b", "gpt", "o200k_base", True),
        ("gpt-4", "gpt-4", "cl100k_base", True),
        ("gpt-4-0613", "gpt-4", "cl100k_base", True),
        ("gpt-4-1106-preview", "gpt-4", "cl100k_base", True),
        ("gpt-4-turbo-2024-04-09", "gpt-4", "cl100k_base", True),
        ("azure/gpt4-128k", "gpt-4", "cl100k_base", True),
        ("gpt-3.5-turbo", "gpt-4", "cl100k_base", True),
        ("azure/gpt-35-turbo", "gpt-4", "cl100k_base", True),
        ("claude-3-5-sonnet-20241022", "claude", "o200k_base", False),
        ("claude-sonnet-4-20250514", "claude", "o200k_base", False),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude", "o200k_base", False),
        ("claude-opus-4@20250514", "claude", "o200k_base", False),
        ("anthropic/claude-opus-4.6", "claude", "o200k_base", False),
        ("claude-haiku-4-5-20251001[1m]", "claude", "o200k_base", False),
        ("sonnet", "claude", "o200k_base", False),
        ("claude-opus-4-7", "claude-4.7", "o200k_base", False),
        ("anthropic/claude-opus-4.8-20260601", "claude-4.7", "o200k_base", False),
        ("claude-sonnet-5", "claude-4.7", "o200k_base", False),
        ("gemini-2.5-pro", "gemini", "o200k_base", False),
        ("deepseek/deepseek-chat", "deepseek", "o200k_base", False),
        ("deepseek-r1-distill-llama-70b", "deepseek", "o200k_base", False),
        ("qwen2.5:1.5b", "qwen", "o200k_base", False),
        ("meta-llama/Llama-3.1-8B", "llama", "o200k_base", False),
        ("kimi-k2", "other", "o200k_base", False),
        ("foo1", "other", "o200k_base", False),
        ("", "other", "o200k_base", False),
        (None, "other", "o200k_base", False),
    ],
)
def test_every_model_name_finds_its_family_and_an_encoding(model, name, encoding, exact):
    assert family(model) == name
    assert encoding_for(model) == Encoding(encoding, exact)
    assert 0.9 < prior(model) < 2


@given(st.text(max_size=60))
def test_any_model_name_finds_an_encoding(model):
    assert encoding_for(model).name in ENCODINGS
    assert prior(model) > 0


def test_priors_go_by_content_and_by_what_counts():
    assert prior("claude-opus-4-6", content="python") == 1.25
    assert prior("claude-opus-4-7", content="spanish") > prior("claude-opus-4-6", content="spanish")
    assert prior("gemini-3-pro", content="klingon") == prior("gemini-3-pro")
    assert prior("gpt-5") == prior(None) == 1.0
    assert prior("claude-opus-4-7", "claude-4.7") == families.FRAMED


# ── cases from real use ──────────────────────────────────────────────────────────────────────────────────────────


@needs_cases
@each_engine
def test_cases_from_real_use(engine):
    o200k, cl100k = (counter(encoding, engine) for encoding in ENCODINGS)
    assert (o200k.count(texts_of("C90")[0]), cl100k.count(texts_of("C90")[0])) == (38, 35)
    assert o200k.count_all(texts_of("C95")) == [144, 140, 816, 300]
    assert cl100k.count_all(texts_of("C95")) == [232, 120, 860, 300]
    result = next(text for text in texts_of("C62") if isinstance(text, list))[0]["content"]
    text = result if isinstance(result, str) else result[0]["text"]
    assert (o200k.count(text), cl100k.count(text)) == (779, 719)
    assert o200k.count("start" + " " * 990_000 + "end") == 7737
    assert cl100k.count(" " * 1_000_000) == 7813
