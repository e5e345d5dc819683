"""OpenAI's words: chat messages, the common tongue of gateways and tracing tools, and items of the Responses API."""
