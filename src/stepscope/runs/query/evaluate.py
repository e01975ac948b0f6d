"""Compile a syntax tree into a predicate over runs.

A tree becomes nested closures once, so that evaluating it costs about a microsecond per run. Text matching is
substring search or a simple glob: user patterns never reach a regular expression.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from stepscope.runs.query.fields import Field
from stepscope.runs.query.literals import Literal
from stepscope.runs.query.parser import AllOf, AnyOf, Compare, Node, Not, Word

Predicate = Callable[["Queryable", float], bool]
_Test = Callable[[Any], bool]

_MAX_TEXT = 20_000
"""How much of a very long text (notes) is searched."""
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Queryable(Protocol):
    """Anything a query can be evaluated on."""

    def value(self, field: Field, now: float) -> Any:
        """The field's value: a number, text, a bool, a list of text, or None."""


def compile_tree(node: Node) -> Predicate:
    """The predicate of a tree: `predicate(run, now)`."""
    if isinstance(node, AllOf):
        every = [compile_tree(part) for part in node.parts]
        return lambda run, now: all(part(run, now) for part in every)
    if isinstance(node, AnyOf):
        some = [compile_tree(part) for part in node.parts]
        return lambda run, now: any(part(run, now) for part in some)
    if isinstance(node, Not):
        inner = compile_tree(node.part)
        return lambda run, now: not inner(run, now)
    if isinstance(node, Word):
        return _word(node.text)
    return _compare(node)


def _word(text: str) -> Predicate:
    matches = contains(f"*{text}*" if _is_glob(text) else text)
    fields = [Field("run", name) for name in ("name", "project", "tags")]

    def found(run: Queryable, now: float) -> bool:
        return any(matches(one) for field in fields for one in _each(run.value(field, now)))

    return found


def _compare(node: Compare) -> Predicate:
    field = node.field
    if node.operator == "null":
        return lambda run, now: run.value(field, now) is None
    negated = node.operator in ("!=", "!~")
    kind = {"!=": "=", "!~": "~"}.get(node.operator, node.operator)
    tests = [_test(field, kind, value) for value in node.values]
    test = tests[0] if len(tests) == 1 else lambda value: any(one(value) for one in tests)
    many = field.source != "metric" and field.type in ("tags", "any")

    def holds(run: Queryable, now: float) -> bool:
        value = run.value(field, now)
        if value is None:  # a run without the field: every comparison is false, including !=
            return False
        found = any(map(test, _each(value))) if many else test(value)
        return found is not negated

    return holds


def _test(field: Field, kind: str, value: Literal) -> _Test:
    if kind == "~":
        matches = contains(value.text)
        return lambda found: matches(_as_text(found))
    if kind in ("=", "in"):
        return _equals(value)
    return _ordered(field, kind, value)


def _equals(value: Literal) -> _Test:
    text, number = value.text, value.number
    if value.kind == "date":
        return lambda found: (_is_number(found) and number <= found < value.until) or found == text
    if value.kind in ("number", "duration"):
        if number != number:  # NaN: the one value that is not equal to itself
            return lambda found: (_is_number(found) and found != found) or found == text
        return lambda found: (_is_number(found) and found == number) or found == text
    if value.kind == "bool":
        return lambda found: found is bool(number) or (isinstance(found, str) and found.lower() == text.lower())
    return lambda found: _as_text(found) == text


def _ordered(field: Field, kind: str, value: Literal) -> _Test:
    compare = _ORDER[kind]
    if field.type == "text" or value.kind in ("text", "bool"):
        return lambda found: isinstance(found, str) and compare(found, value.text)
    # A date is an interval: before its start, or after its end.
    if value.kind == "date":
        if kind in ("<", ">="):
            return lambda found: _is_number(found) and compare(found, value.number)
        flipped = operator.lt if kind == "<=" else operator.ge
        return lambda found: _is_number(found) and flipped(found, value.until)
    return lambda found: _is_number(found) and compare(found, value.number)


def contains(pattern: str) -> Callable[[str], bool]:
    """Whether a text contains the pattern, ignoring case; with `*` or `?`, whether all of it matches the glob."""
    lowered = pattern.lower()
    if _is_glob(pattern):
        return lambda text: glob(lowered, text[:_MAX_TEXT].lower())
    return lambda text: lowered in text[:_MAX_TEXT].lower()


def glob(pattern: str, text: str) -> bool:
    """Whether `text` matches a pattern of `*` (anything) and `?` (one character).

    The pieces between stars are searched from left to right without
    backtracking.
    """
    first, *rest = pattern.split("*")
    if not rest:
        return len(first) == len(text) and _fits(first, text, 0)
    *middle, last = rest
    if len(text) < len(first) + len(last) or not _fits(first, text, 0):
        return False
    if not _fits(last, text, len(text) - len(last)):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = _find(piece, text, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _find(piece: str, text: str, start: int, end: int) -> int:
    """The first match of a glob piece, or -1. Its longest run without `?` is searched at C speed."""
    if "?" not in piece:
        return text.find(piece, start, end)
    anchor = max(piece.split("?"), key=len)
    offset = piece.find(anchor)
    at = start
    while at + len(piece) <= end:
        at = text.find(anchor, at + offset, end) - offset
        if at < start or at + len(piece) > end:
            return -1
        if _fits(piece, text, at):
            return at
        at += 1
    return -1


def _fits(piece: str, text: str, at: int) -> bool:
    if "?" not in piece:
        return text.startswith(piece, at)
    part = text[at : at + len(piece)]
    return len(part) == len(piece) and all(one in ("?", other) for one, other in zip(piece, part, strict=True))


def _is_glob(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _each(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        yield from value
    elif value is not None:
        yield value
