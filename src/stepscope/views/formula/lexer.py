"""Split a formula into tokens, in one pass.

A name may contain `/`, `.`, `:` and digits, so `val/acc` is one name; a hyphen is always a minus, and any other name
can be quoted: `"val-acc"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stepscope.errors import QueryError
from stepscope.runs.query.lexer import scanned

MAX_LENGTH = 500
_QUOTES = "\"'`"
_INSIDE = "_/.:"


@dataclass(frozen=True)
class Token:
    kind: Literal["name", "number", "operator", "(", ")", ",", "end"]
    text: str
    start: int
    quoted: bool = False


def tokens(text: str) -> list[Token]:
    """The tokens of a formula, terminated by an `end` token."""
    return [*scanned("formula", text, MAX_LENGTH, _next), Token("end", "", len(text))]


def _next(text: str, at: int) -> tuple[Token, int]:
    char = text[at]
    if char in "(),":
        return Token(char, char, at), at + 1  # type: ignore[arg-type]
    if text.startswith("**", at):
        return Token("operator", "^", at), at + 2
    if char in "+-*/%^":
        return Token("operator", char, at), at + 1
    if char in _QUOTES:
        return _quoted(text, at)
    if (char.isdigit() and char.isascii()) or (char == "." and text[at + 1 : at + 2].isdigit()):
        return _number(text, at)
    if char.isalpha() or char == "_":
        return _name(text, at)
    raise QueryError(f"{char!r} has no meaning in a formula; a name that contains it needs quotes", text, at)


def _quoted(text: str, start: int) -> tuple[Token, int]:
    end = text.find(text[start], start + 1)
    if end < 0:
        raise QueryError(f"this quote is never closed; expected {text[start]} after the name", text, start)
    return Token("name", text[start + 1 : end], start, quoted=True), end + 1


def _number(text: str, start: int) -> tuple[Token, int]:
    end = _digits(text, start)
    if text[end : end + 1] == ".":
        end = _digits(text, end + 1)
    if text[end : end + 1] in ("e", "E"):
        sign = end + 2 if text[end + 1 : end + 2] in ("+", "-") else end + 1
        exponent = _digits(text, sign)
        end = exponent if exponent > sign else end
    return Token("number", text[start:end], start), end


def _digits(text: str, at: int) -> int:
    while at < len(text) and text[at] in "0123456789":
        at += 1
    return at


def _name(text: str, start: int) -> tuple[Token, int]:
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] in _INSIDE):
        end += 1
    while text[end - 1] in "/.:":  # `loss/ 2` divides; a name does not end with a slash
        end -= 1
    return Token("name", text[start:end], start), end
