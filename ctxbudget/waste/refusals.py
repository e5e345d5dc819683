"""Whether an edit was made, by what its answer says: not every format marks a failure."""

from __future__ import annotations

import re

_REFUSED = re.compile(
    r"(?<![\w/.-])(?:errors?|failed|failure|fatal|invalid|refused|rejected|denied|aborted|cancell?ed"
    r"|cannot|could not|can't|unable|no (?:match|replacement|changes?|such file)|did not (?:match|appear)"
    r"|(?:not|n't) (?:applied|changed|found|saved|exist|made|unique|match|been (?:read|applied|made)))"
    r"(?![\w/]|[.-]\w|[\"']?\s*:\s*(?:null|none|false|0|\"\"|\[\]))",
    re.IGNORECASE,
)
_LOOKED_AT = 240
"""Characters of the first line. What follows may be the file, which may speak of errors."""


def refused(answer: str) -> bool:
    """Whether the first line of an answer says that nothing was changed."""
    first = answer.lstrip().partition("\n")[0]
    return _REFUSED.search(first[:_LOOKED_AT]) is not None
