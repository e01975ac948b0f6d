"""Parse tokens into a tree: recursive descent with one function per grammar level.

query      := or
or         := and ("or" and)*
and        := not ("and" not)*
not        := "not" not | "(" or ")" | word+ | comparison
comparison := field operator value | field ["not"] "in" "(" value ("," value)* ")" | field "is" ["not"] "null"
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn, get_args

from stepscope.errors import QueryError
from stepscope.records import Status
from stepscope.runs.query.fields import ALIASES, STATS, Field, close_fields, resolve
from stepscope.runs.query.lexer import Token, tokens
from stepscope.runs.query.literals import Literal, literal

MAX_DEPTH = 40
"""Maximum nesting of parentheses and `not`."""

_VALUE = 'a value, such as 0.01, failed or "some text"'


@dataclass(frozen=True)
class AllOf:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class AnyOf:
    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Not:
    part: Node


@dataclass(frozen=True)
class Word:
    """A plain word: the run's name, project or a tag contains it."""

    text: str


@dataclass(frozen=True)
class Compare:
    """`operator` is one of = != < <= > >= ~ !~ in null."""

    field: Field
    operator: str
    values: tuple[Literal, ...]
    start: int
    """The field's position in the query, for later errors."""


Node = AllOf | AnyOf | Not | Word | Compare


def parse_tree(query: str) -> Node:
    """The tree of a query; an empty one is `AllOf(())`, which every run matches."""
    return _Parser(query).whole()


class _Parser:
    def __init__(self, query: str) -> None:
        self._query = query
        self._tokens = tokens(query)
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        if self._token.kind == "end":
            return AllOf(())
        node = self._or()
        self._must_end()
        return node

    def _or(self) -> Node:
        parts = [self._and()]
        while self._skip("keyword", "or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _and(self) -> Node:
        parts = [self._not()]
        while self._skip("keyword", "and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _not(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"parentheses and 'not' nest deeper than {MAX_DEPTH}")
        node = self._atom()
        self._depth -= 1
        return node

    def _atom(self) -> Node:
        token = self._token
        if self._skip("keyword", "not"):
            return Not(self._not())
        if self._skip("("):
            node = self._or()
            if not self._skip(")"):
                self._must_end()
                self._fail("this parenthesis is never closed; expected ) at the end", token)
            return node
        if token.kind != "name":
            self._expected("a field, such as name, status, config.lr or loss.min, or a word to search for")
        following = self._tokens[self._at + 1]
        if following.kind == "operator" or (following.kind == "keyword" and following.text in ("in", "is", "not")):
            return self._comparison()
        return self._words()

    def _words(self) -> Node:
        parts: list[Node] = []
        while self._token.kind == "name":
            token = self._token
            following = self._tokens[self._at + 1]
            if following.kind == "operator":
                self._fail(f"expected 'and' or 'or' before {token.text!r}")
            if not token.quoted:
                self._must_be_a_word(token, after_word=bool(parts))
            parts.append(Word(token.text))
            self._at += 1
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _must_be_a_word(self, token: Token, after_word: bool) -> None:
        """A lone field or number is a forgotten operator, not a search."""
        field = resolve(token.parts)
        if token.text.lower() in ALIASES:
            return
        is_field = field is None or field.source in ("run", "config", "summary") or token.text.endswith(_STAT_ENDINGS)
        if is_field:
            follow = self._tokens[self._at + 1]
            self._fail(f"expected an operator (= != < <= > >= ~ in is) after {token.text!r}", follow)
        if literal(token).kind in ("number", "duration", "date"):
            before = "an operator (= != < <= > >= ~) before" if after_word else "a field and an operator before"
            self._fail(f"expected {before} {token.text!r}; to search for this text, put it in quotes")

    def _comparison(self) -> Node:
        token = self._take()
        field = self._field(token)
        operator = self._take()
        if operator.text == "is":
            return self._is(field, token)
        if operator.text == "not":
            if not self._skip("keyword", "in"):
                self._expected(f"'in' after '{token.text} not'")
            inside = self._in(field, token)
            return Not(inside) if field.type == "tags" else self._present(inside)
        if operator.text == "in":
            return self._in(field, token)
        value = self._value(field, operator.text)
        if value.kind == "null":
            if operator.text not in ("=", "!="):
                self._fail(f"nothing can be {operator.text} null; use 'is null' or 'is not null'", operator)
            missing = Compare(field, "null", (), token.start)
            return missing if operator.text == "=" else Not(missing)
        return Compare(field, operator.text, (value,), token.start)

    def _present(self, inside: Compare) -> Node:
        """Like `!=`, `not in` does not match runs without the field."""
        return AllOf((Not(Compare(inside.field, "null", (), inside.start)), Not(inside)))

    def _is(self, field: Field, token: Token) -> Node:
        negated = self._skip("keyword", "not")
        value = self._token
        if value.kind != "name" or literal(value).kind != "null":
            self._expected("'null' or 'missing' after 'is'")
        self._at += 1
        missing = Compare(field, "null", (), token.start)
        return Not(missing) if negated else missing

    def _in(self, field: Field, token: Token) -> Compare:
        opening = self._token
        if not self._skip("("):
            self._expected("a list after 'in', such as (0.1, 0.01)")
        values = [self._value(field, "=")]
        while self._skip(","):
            values.append(self._value(field, "="))
        if not self._skip(")"):
            if self._token.kind == "end":
                self._fail("this list is never closed; expected ) at the end", opening)
            self._expected("',' or ')' in the list")
        return Compare(field, "in", tuple(values), token.start)

    def _field(self, token: Token) -> Field:
        field = resolve(token.parts)
        if field is not None and field.source == "metric" and self._is_text_after_operator():
            close = close_fields(token.text, [])
            if close:  # metrics are numbers, so this is a mistyped run fact: `statsu = failed`
                self._fail(f"there is no field {token.text!r} with text in it{_or_rather(close)}", token)
        if field is None:
            self._fail(f"there is no field {token.text!r}{_or_rather(close_fields(token.text, []))}", token)
        if not token.quoted and field.source == "metric" and literal(token).kind in ("number", "duration", "date"):
            self._fail(
                f"expected a field left of the operator, not the value {token.text!r}; write 'loss < 0.3'", token
            )
        return field

    def _is_text_after_operator(self) -> bool:
        operator, value = self._tokens[self._at : self._at + 2]
        return operator.kind == "operator" and value.kind == "name" and literal(value).kind == "text"

    def _value(self, field: Field, operator: str) -> Literal:
        token = self._token
        if token.kind != "name":
            hint = "; a value that is also a keyword needs quotes" if token.kind == "keyword" else ""
            self._expected(_VALUE, hint)
        value = literal(token)
        self._check(field, operator, value)
        self._at += 1
        return value

    def _check(self, field: Field, operator: str, value: Literal) -> None:
        """Reject comparisons that can never be true, while the position is known."""
        if value.kind == "null":
            return
        wanted = {"time": ("date", "number"), "duration": ("duration", "number"), "number": ("number", "duration")}
        kinds = wanted.get(field.type)
        if kinds and operator not in ("~", "!~") and value.kind not in kinds:
            hint = {
                "time": "a date such as 2026-11-01; for how long ago, use age < 3d",
                "duration": "a length of time such as 90s, 15m, 2h or 3d",
                "number": "a number such as 0.3, 1e-3, inf or nan",
            }[field.type]
            self._fail(f"expected {hint}, but found {value.text!r}")
        if field.type == "tags" and operator in ("<", "<=", ">", ">="):
            self._fail(f"tags have no order; expected =, !=, ~ or in instead of {operator}", self._tokens[self._at - 1])
        if field.name == "status" and field.source == "run" and operator in ("=", "!="):
            statuses = get_args(Status)
            if value.text not in statuses:
                close = get_close_matches(value.text.lower(), statuses, n=1)
                rather = f"; did you mean {close[0]}?" if close else ""
                self._fail(f"there is no status {value.text!r}; expected one of {', '.join(statuses)}{rather}")

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _skip(self, kind: str, text: str = "") -> bool:
        token = self._token
        if token.kind == kind and (not text or token.text == text):
            self._at += 1
            return True
        return False

    def _expected(self, what: str, hint: str = "") -> NoReturn:
        found = "the end of the query" if self._token.kind == "end" else repr(self._token.text)
        self._fail(f"expected {what}, but found {found}{hint}")

    def _must_end(self) -> None:
        if self._token.kind == "end":
            return
        hint = "; text with spaces needs quotes" if self._token.kind == "name" else ""
        self._expected("'and' or 'or'" if self._token.kind != ")" else "no more ')'", hint)

    def _fail(self, message: str, token: Token | None = None) -> NoReturn:
        raise QueryError(message, self._query, (token or self._token).start)


_STAT_ENDINGS = tuple(f".{stat}" for stat in STATS)


def _or_rather(names: list[str]) -> str:
    return f"; did you mean {' or '.join(names)}?" if names else ""
