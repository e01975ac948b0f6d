"""Regular expressions in linear time: RE2 reads each text once, so no pattern can hang the server.

The page uses the same syntax (`web/src/lib/pattern.ts`); `tests/views/patterns.json` tests both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope.errors import MissingExtra, QueryError

Fits = Callable[[str], bool]


def compile_pattern(pattern: str) -> Fits:
    """Whether the pattern occurs in a text. Case is ignored unless the pattern has capitals.

    >>> compile_pattern("nan|inf$")("loss: NaN at step 3")
    True
    """
    return _occurs(_compiled(pattern, pattern == pattern.lower()))


def line_filter(pattern: str) -> Fits:
    """Whether any line of a text could match: checking many lines at once is much faster than one by one.

    >>> could = line_filter("^nan$")
    >>> could("inf\\nnan\\n"), could("inf\\nnano\\n")
    (True, False)
    """
    if "\\A" in pattern or "\\z" in pattern:  # these refer to the ends of the text, not of its lines
        return lambda text: True
    occurs = _occurs(_compiled(f"(?m){pattern}", pattern == pattern.lower()))
    return lambda text: occurs(text.replace("\r", "\n"))


def _occurs(compiled: Any) -> Fits:
    # Bytes, because for str the package also counts characters up to each match. A lone surrogate cannot be encoded.
    return lambda text: compiled.search(text.encode("utf-8", "replace")) is not None


def _compiled(pattern: str, fold: bool) -> Any:
    try:
        import re2
    except ImportError:
        raise MissingExtra("searching by pattern", "google-re2") from None
    options = re2.Options()
    options.case_sensitive = not fold
    options.dot_nl = True
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(pattern.encode("utf-8", "replace"), options)
    except re2.error as error:
        raise _unreadable(pattern, error.args[0].decode("utf-8", "replace")) from None


def _unreadable(pattern: str, message: str) -> QueryError:
    """RE2 ends its message with the offending part of the pattern."""
    fault, _, part = message.rpartition(": ")
    position = max(0, pattern.find(part)) if fault else len(pattern) - 1
    return QueryError(f"the pattern cannot be read: {message}", pattern, position)
