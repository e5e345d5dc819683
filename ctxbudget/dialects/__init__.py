"""Messages in anybody's words → chat messages (OpenAI's, the common tongue of the loaders that read recordings).

Tracing tools store what a framework gave them: OpenAI chat messages, Anthropic blocks, OpenTelemetry parts, Gemini
contents, Bedrock, LangChain objects, Vercel model messages, Responses items, and all of it again as JSON in a string.
A message is told by itself, since one list may mix them. The outcome uses ``role`` (system, user, assistant, tool),
``content`` (text or parts), ``tool_calls``, ``tool_call_id``, ``is_error``; thinking is a part of its own.
"""

from ctxbudget.dialects.exchange import exchange
from ctxbudget.dialects.messages import chat, joined, message, system, tools
from ctxbudget.dialects.parts import answered
from ctxbudget.dialects.usage import counts

__all__ = ["answered", "chat", "counts", "exchange", "joined", "message", "system", "tools"]
