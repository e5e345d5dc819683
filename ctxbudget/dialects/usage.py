"""Anybody's usage → the words of OpenAI chat: cached tokens inside the prompt, reasoning inside the completion."""

from __future__ import annotations

from typing import Any

from ctxbudget.records.values import tokens


def counts(raw: Any) -> dict[str, Any]:
    """``prompt_tokens``, ``completion_tokens`` and their details; empty if there are no counts.

    Known are OpenAI chat, Responses and LangChain (``input_tokens``, inclusive, with details), Anthropic and Bedrock
    (``input_tokens`` without the cached ones, with ``cache_…_input_tokens`` beside), Gemini (thoughts beside the
    candidates), the Vercel AI SDK (``inputTokens``, inclusive), and other camel case of JavaScript clients.
    """
    match raw:
        case {"prompt_tokens": _} | {"completion_tokens": _}:
            return dict(raw)
        case {"promptTokenCount": prompt}:
            said, thought = tokens(raw.get("candidatesTokenCount")), tokens(raw.get("thoughtsTokenCount"))
            prompt = tokens(prompt) + tokens(raw.get("toolUsePromptTokenCount"))
            return _counts(prompt, said + thought, read=raw.get("cachedContentTokenCount"), reasoning=thought or None)
        case {"promptTokens": prompt, "completionTokens": said}:
            return _counts(prompt, said)
        case {"inputTokens": prompt} if "cacheReadInputTokens" not in raw:
            read, spent = _details(raw, "inputTokenDetails"), _details(raw, "outputTokenDetails")
            return _counts(
                prompt,
                raw.get("outputTokens"),
                read=read.get("cacheReadTokens", raw.get("cachedInputTokens")),
                write=read.get("cacheWriteTokens"),
                reasoning=spent.get("reasoningTokens", raw.get("reasoningTokens")),
            )
        case {"inputTokens": prompt}:
            return _exclusive(raw, prompt, raw.get("outputTokens"), "cacheReadInputTokens", "cacheWriteInputTokens")
        case {"input_tokens": prompt} if "cache_read_input_tokens" in raw or "cache_creation_input_tokens" in raw:
            names = ("cache_read_input_tokens", "cache_creation_input_tokens")
            return _exclusive(raw, prompt, raw.get("output_tokens"), *names)
        case {"input_tokens": prompt}:
            return _inclusive(raw, prompt)
    return {}


def _inclusive(raw: dict[str, Any], prompt: Any) -> dict[str, Any]:
    read, spent = (_details(raw, f"{side}_token_details", f"{side}_tokens_details") for side in ("input", "output"))
    return _counts(
        prompt,
        raw.get("output_tokens"),
        read=read.get("cache_read", read.get("cached_tokens")),
        write=read.get("cache_creation"),
        reasoning=spent.get("reasoning", spent.get("reasoning_tokens")),
    )


def _details(raw: dict[str, Any], *names: str) -> dict[str, Any]:
    return next((found for name in names if isinstance(found := raw.get(name), dict)), {})


def _exclusive(raw: dict[str, Any], prompt: Any, said: Any, read: str, write: str) -> dict[str, Any]:
    cached, written = tokens(raw.get(read)), tokens(raw.get(write))
    return _counts(tokens(prompt) + cached + written, said, read=cached, write=written)


def _counts(prompt: Any, said: Any, *, read: Any = None, write: Any = None, reasoning: Any = None) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": said,
        "prompt_tokens_details": {"cached_tokens": read, "cache_creation_tokens": write},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
