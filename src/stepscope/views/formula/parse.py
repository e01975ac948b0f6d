"""Parse a formula into a tree. Nothing is evaluated here, and nothing is passed to Python's `eval`.

sum     := product (("+" | "-") product)*
product := unary (("*" | "/" | "%") unary)*
unary   := ("-" | "+") unary | power
power   := atom [("^" | "**") unary]
atom    := number | name | name "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from stepscope.errors import QueryError
from stepscope.views.formula.functions import FUNCTIONS, arity_words
from stepscope.views.formula.lexer import Token, tokens

MAX_DEPTH = 40
_LEVELS = (("+", "-"), ("*", "/", "%"))


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class Name:
    """A metric, or a config value. Quoted names are never split at `/`."""

    text: str
    quoted: bool
    start: int


@dataclass(frozen=True)
class Negate:
    part: Node


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Call:
    function: str
    arguments: tuple[Node, ...]


Node = Number | Name | Negate | Binary | Call


def parse_formula(text: str) -> Node:
    """The tree of a formula, or a `QueryError` that points at the character.

    >>> parse_formula("1 - val/acc")
    Binary(operator='-', left=Number(value=1.0), right=Name(text='val/acc', quoted=False, start=4))
    """
    return _Parser(text).whole()


def names_in(node: Node) -> Iterator[Name]:
    """Every name in the tree, from left to right."""
    if isinstance(node, Name):
        yield node
    for part in _parts(node):
        yield from names_in(part)


def _parts(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Negate):
        return (node.part,)
    if isinstance(node, Binary):
        return (node.left, node.right)
    return node.arguments if isinstance(node, Call) else ()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._sum()
        if self._token.kind != "end":
            self._fail(f"expected an operator (+ - * / % ^) or the end, but found {self._token.text!r}")
        return node

    def _sum(self, level: int = 0) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        node = self._sum(level + 1)
        while self._token.kind == "operator" and self._token.text in _LEVELS[level]:
            operator = self._take().text
            node = Binary(operator, node, self._sum(level + 1))
        return node

    def _unary(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"the formula nests deeper than {MAX_DEPTH}")
        if self._token.kind == "operator" and self._token.text in "+-":
            sign = self._take().text
            part = self._unary()
            node = Negate(part) if sign == "-" else part
        else:
            node = self._power()
        self._depth -= 1
        return node

    def _power(self) -> Node:
        base = self._atom()
        if self._token.kind == "operator" and self._token.text == "^":
            self._take()
            return Binary("^", base, self._unary())
        return base

    def _atom(self) -> Node:
        token = self._token
        if token.kind == "number":
            return Number(float(self._take().text))
        if token.kind == "(":
            self._take()
            node = self._sum()
            self._close(token)
            return node
        if token.kind != "name":
            found = "the end" if token.kind == "end" else repr(token.text)
            self._fail(f"expected a metric, a number or a function, but found {found}")
        self._take()
        if self._token.kind == "(" and not token.quoted:
            return self._call(token)
        return Name(token.text, token.quoted, token.start)

    def _call(self, name: Token) -> Call:
        function = FUNCTIONS.get(name.text.lower())
        if function is None:
            self._fail(f"there is no function {name.text!r}; the functions are {', '.join(FUNCTIONS)}", name)
        opening = self._take()
        arguments = [self._sum()]
        while self._token.kind == ",":
            self._take()
            arguments.append(self._sum())
        self._close(opening)
        if not function.least <= len(arguments) <= function.most:
            self._fail(f"{name.text} takes {arity_words(function)}, not {len(arguments)}", name)
        return Call(name.text.lower(), tuple(arguments))

    def _close(self, opening: Token) -> None:
        if self._token.kind == "end":
            self._fail("this parenthesis is never closed; expected ) at the end", opening)
        if self._token.kind != ")":
            self._fail(f"expected an operator, ',' or ')', but found {self._token.text!r}")
        self._take()

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _fail(self, message: str, token: Token | None = None) -> NoReturn:
        raise QueryError(message, self._text, (token or self._token).start)
