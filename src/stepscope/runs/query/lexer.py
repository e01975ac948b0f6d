"""Split a run query into tokens. One pass without regular expressions, in linear time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from stepscope.errors import QueryError

MAX_LENGTH = 2000
"""Longer queries are rejected, to bound the work of a hostile one."""

T = TypeVar("T")
_OPERATORS = ("==", "!=", "<=", ">=", "!~", "=", "<", ">", "~")
_KEYWORDS = frozenset(("and", "or", "not", "in", "is"))
_BREAKS = frozenset("()=!<>~,\"'")
_SPELLINGS = {"&": "and", "|": "or", "!": "not"}
_JOINS = {"&&": "and", "||": "or"}


@dataclass(frozen=True)
class Token:
    """A token. A `name` keeps its parts, so that quoted text is never mistaken for a keyword or field."""

    kind: Literal["name", "keyword", "operator", "(", ")", ",", "end"]
    text: str
    start: int
    parts: tuple[tuple[str, bool], ...] = ()

    @property
    def quoted(self) -> bool:
        """Whether all of it was quoted: a string, not a word."""
        return len(self.parts) == 1 and self.parts[0][1]


def tokens(query: str) -> list[Token]:
    """The tokens of a query, terminated by an `end` token."""
    return [*scanned("query", query, MAX_LENGTH, _next), Token("end", "", len(query))]


def scanned(what: str, text: str, most: int, read: Callable[[str, int], tuple[T, int]]) -> list[T]:
    """The tokens of a text of at most `most` characters: `read` returns the one at a position and where it ends."""
    if len(text) > most:
        raise QueryError(f"the {what} has {len(text):,} characters; the maximum is {most:,}", text[:60], 60)
    found: list[T] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = read(text, at)
        found.append(token)
    return found


def _next(query: str, at: int) -> tuple[Token, int]:
    char = query[at]
    if char in "(),":
        return Token(char, char, at), at + 1  # type: ignore[arg-type]
    for operator in _OPERATORS:
        if query.startswith(operator, at):
            return Token("operator", "=" if operator == "==" else operator, at), at + len(operator)
    if query[at : at + 2] in _JOINS:
        return Token("keyword", _JOINS[query[at : at + 2]], at), at + 2
    if char in _SPELLINGS:
        raise QueryError(f"{char!r} has no meaning here; write '{_SPELLINGS[char]}'", query, at)
    return _name(query, at)


def _plain_part(query: str, start: int) -> tuple[str, int]:
    at = start
    while at < len(query) and not query[at].isspace() and query[at] not in _BREAKS:
        at += 1
    return query[start:at], at


def _name(query: str, start: int) -> tuple[Token, int]:
    """A word, a number, a string, or quoted and plain parts side by side: `config."two words"`."""
    parts: list[tuple[str, bool]] = []
    at = start
    while at < len(query) and not query[at].isspace():
        if query[at] in "\"'":
            if parts and (parts[-1][1] or not parts[-1][0].endswith((".", "/"))):
                break
            text, at = _string(query, at)
            parts.append((text, True))
        elif query[at] in _BREAKS or (parts and query[at] not in "./"):
            break
        else:
            text, at = _plain_part(query, at)
            parts.append((text, False))
    text = "".join(part for part, _ in parts)
    if len(parts) == 1 and not parts[0][1] and text.lower() in _KEYWORDS:
        return Token("keyword", text.lower(), start), at
    return Token("name", text, start, tuple(parts)), at


def _string(query: str, start: int) -> tuple[str, int]:
    quote = query[start]
    letters: list[str] = []
    at = start + 1
    while at < len(query):
        char = query[at]
        if char == quote:
            return "".join(letters), at + 1
        if char == "\\" and at + 1 < len(query):
            at += 1
            char = query[at]
        letters.append(char)
        at += 1
    raise QueryError(f"this quote is never closed; expected {quote} after the text", query, start)
