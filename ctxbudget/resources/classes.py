"""The closed set of tool classes: what a call does to what it works on."""

from __future__ import annotations

READ = "read"
"""Brings in a file, or the lines of ``span``."""
SEARCH = "search"
"""Looks in the workspace: grep, glob, find, a code index."""
LIST = "list"
"""Lists names: a directory, a tree."""
EDIT = "edit"
"""Changes a part of something that is there."""
WRITE = "write"
"""Puts a whole file in place, or moves or removes one."""
CREATE = "create"
"""Makes something new: a file, a directory."""
SHELL = "shell"
"""Runs a command or code of which nothing more exact can be said."""
TEST = "test"
"""Runs tests."""
FETCH = "fetch"
"""Brings in a page by its URL."""
RETRIEVAL = "retrieval"
"""Asks a knowledge base, a web search, a vector store, a database or a service."""
BROWSER = "browser"
"""Drives a page: opens it, clicks, takes a snapshot of its elements."""
SCREENSHOT = "screenshot"
"""A picture of a page or a screen."""
IMAGE = "image"
"""Brings in or makes a picture."""
PLAN = "plan"
"""Writes or reads the plan or the to-do list."""
DELEGATE = "delegate"
"""Hands work to another agent."""
ASK = "ask"
"""Asks the user."""
MEMORY = "memory"
"""Keeps notes outside the conversation, or brings them back."""
ACT = "act"
"""Changes something outside the workspace: books, sends, updates a record."""
OTHER = "other"
"""None of these: thinks, finishes, calculates."""

CLASSES = frozenset({
    READ, SEARCH, LIST, EDIT, WRITE, CREATE, SHELL, TEST, FETCH, RETRIEVAL, BROWSER, SCREENSHOT, IMAGE, PLAN, DELEGATE,
    ASK, MEMORY, ACT, OTHER,
})  # fmt: skip
"""All of them."""

CHANGING = frozenset({EDIT, WRITE, CREATE, ACT})
"""After such a call an earlier copy of its target is stale."""

READING = frozenset({READ, SEARCH, LIST, FETCH, RETRIEVAL, IMAGE})
"""The result of such a call is a copy of its target, or what was found there."""

UNSURE = frozenset({DELEGATE, BROWSER, MEMORY})
"""Such a call may change something, and does not say what. A shell command may too, unless it only looks."""
