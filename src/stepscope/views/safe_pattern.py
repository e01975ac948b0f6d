"""Regular expressions that always end: a set of states walks each text once, so no pattern can hang the server.

The page's own patterns (`web/src/lib/chart-regex.ts`) understand the same: classes, groups, choices, repeats, `^`, `$`
and `\\b`. Transitions are worked out when they are first needed and kept, which makes long logs affordable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from stepscope.errors import QueryError

__all__ = ["compile_pattern", "needed_text"]

Test = Callable[[str], bool]
Anchor = Literal["start", "end", "word"]

MAX_NODES = 5000
MAX_REPEAT = 1000
MAX_KEPT = 100_000
"""Transitions that are kept; a text with ever new letters starts anew."""


@dataclass(eq=False)
class _Node:
    """One state of the machine: reads a letter that passes `test`, or goes on at once where `anchor` holds."""

    next: list[_Node] = field(default_factory=list)
    test: Test | None = None
    anchor: Anchor | None = None
    done: bool = False


@dataclass(eq=False)
class _Moment:
    """All nodes that could be active between two letters, with what stands to the left."""

    nodes: frozenset[_Node]
    left_word: bool
    at_start: bool
    then: dict[str, _Moment | None] = field(default_factory=dict)
    """By the next letter; None: the pattern was found."""
    ends: bool | None = None


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Whether the pattern occurs in a text. Case is ignored unless the pattern has capitals.

    >>> compile_pattern("nan|inf$")("loss: NaN at step 3")
    True
    """
    done = _Node(done=True)
    first = _Parser(pattern).parse(done)
    return _Machine(first).occurs_in


def needed_text(pattern: str) -> str:
    """A text without which the pattern cannot fit, or "": most lines are passed over by looking for it alone.

    >>> needed_text(r"loss: (nan|inf) at step \\d+"), needed_text("a|b"), needed_text("colou?r")
    (' at step ', '', 'colo')
    """
    runs: list[str] = []
    run, depth, at = "", 0, 0
    while at < len(pattern):
        letter, width = pattern[at], 1
        literal = depth == 0 and letter not in "()[]{}.*+?^$|"
        if letter == "|" and depth == 0:
            return ""
        if letter == "\\":
            width, letter = 2, pattern[at + 1 : at + 2]
            literal = depth == 0 and not letter.isalnum()
        elif letter == "[":
            width = _set_width(pattern, at)
        elif letter == "{":
            width = max(1, pattern.find("}", at) + 1 - at)
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        after = pattern[at + width : at + width + 1]
        if literal and after not in ("*", "?", "{"):
            run += letter
        else:
            runs, run = [*runs, run], ""
        at += width
    return max([*runs, run], key=len)


def _set_width(pattern: str, at: int) -> int:
    """How many letters `[...]` takes; a `]` that comes first belongs to it."""
    end = at + 1 + pattern.startswith("^", at + 1)
    first = True
    while end < len(pattern) and (pattern[end] != "]" or first):
        end += 2 if pattern[end] == "\\" else 1
        first = False
    return end + 1 - at


def _is_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()


_CLASSES: dict[str, Test] = {"d": str.isdecimal, "w": _is_word, "s": str.isspace}


class _Machine:
    def __init__(self, first: _Node) -> None:
        self._first = first
        self._known: dict[tuple[frozenset[_Node], bool, bool], _Moment] = {}
        self._kept = 0

    def occurs_in(self, text: str) -> bool:
        moment = self._moment(frozenset((self._first,)), False, True)
        for letter in text:
            try:
                after = moment.then[letter]
            except KeyError:
                after = self._step(moment, letter)
            if after is None:
                return True
            moment = after
        if moment.ends is None:
            moment.ends = any(node.done for node in self._reached(moment, None))
        return moment.ends

    def _moment(self, nodes: frozenset[_Node], left_word: bool, at_start: bool) -> _Moment:
        key = (nodes, left_word, at_start)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _Moment(nodes, left_word, at_start)
        return found

    def _step(self, moment: _Moment, letter: str) -> _Moment | None:
        reached = self._reached(moment, letter)
        after: _Moment | None = None
        if not any(node.done for node in reached):
            read = {node.next[0] for node in reached if node.test is not None and node.test(letter)}
            read.add(self._first)  # the pattern may begin anywhere
            after = self._moment(frozenset(read), _is_word(letter), False)
        self._kept += 1
        if self._kept > MAX_KEPT:
            self._known, self._kept = {}, 0
        else:
            moment.then[letter] = after
        return after

    def _reached(self, moment: _Moment, right: str | None) -> set[_Node]:
        """The nodes and all they lead to without reading a letter; `right` is the letter that follows."""
        found: set[_Node] = set()
        stack = list(moment.nodes)
        while stack:
            node = stack.pop()
            if node in found or (node.anchor is not None and not _holds(node.anchor, moment, right)):
                continue
            found.add(node)
            if node.test is None:
                stack += node.next
        return found


def _holds(anchor: Anchor, moment: _Moment, right: str | None) -> bool:
    if anchor == "start":
        return moment.at_start
    if anchor == "end":
        return right is None
    return moment.left_word != (right is not None and _is_word(right))


class _Parser:
    """Reads a pattern from left to right into pieces, then ties them together from right to left."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._fold = pattern == pattern.lower()
        self._nodes = 0
        self._depth = 0

    def parse(self, done: _Node) -> _Node:
        piece = self._choice()
        if self._at < len(self._text):
            raise self._wrong("an unmatched “)”")
        return piece(done)

    def _wrong(self, what: str, at: int | None = None) -> QueryError:
        return QueryError(f"the pattern has {what}", self._text, self._at if at is None else at)

    def _node(self, **about: object) -> _Node:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise QueryError(f"the pattern is too large: more than {MAX_NODES:,} states", self._text, 0)
        return _Node(**about)  # type: ignore[arg-type]

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _choice(self) -> _Piece:
        pieces = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            pieces.append(self._sequence())
        if len(pieces) == 1:
            return pieces[0]
        return lambda then: self._node(next=[piece(then) for piece in pieces])

    def _sequence(self) -> _Piece:
        pieces: list[_Piece] = []
        while self._peek() not in ("", "|", ")"):
            pieces.append(self._repeated())

        def tie(then: _Node) -> _Node:
            for piece in reversed(pieces):
                then = piece(then)
            return then

        return tie

    def _repeated(self) -> _Piece:
        piece = self._atom()
        while (bounds := self._bounds()) is not None:
            if self._peek() == "?":  # lazy or greedy is the same when only a match is asked for
                self._at += 1
            piece = self._repeat(piece, *bounds)
        return piece

    def _bounds(self) -> tuple[int, int | None] | None:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        letter = self._peek()
        if letter in simple:
            self._at += 1
            return simple[letter]
        end = self._text.find("}", self._at, self._at + 12) if letter == "{" else -1
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if end < 0 or not low.isdecimal() or not (high.isdecimal() or not high):
            return None
        least, most = int(low), (int(high) if high else None) if comma else int(low)
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            raise self._wrong(f"a repeat {{{low}{comma}{high}}} that is out of range (0 to {MAX_REPEAT})")
        self._at = end + 1
        return least, most

    def _repeat(self, piece: _Piece, least: int, most: int | None) -> _Piece:
        def tie(then: _Node) -> _Node:
            entry = then
            if most is None:
                loop = self._node(next=[then])
                loop.next.append(piece(loop))
                entry = loop
            for _ in range(0 if most is None else most - least):
                entry = self._node(next=[piece(entry), then])
            for _ in range(least):
                entry = piece(entry)
            return entry

        return tie

    def _atom(self) -> _Piece:
        letter = self._text[self._at]
        self._at += 1
        if letter == "(":
            return self._group()
        if letter == "[":
            return self._reads(self._set())
        if letter == ".":
            return self._reads(lambda other: True)
        if letter in "^$":
            anchor: Anchor = "start" if letter == "^" else "end"
            return lambda then: self._node(next=[then], anchor=anchor)
        if letter == "\\":
            return self._escape()
        if letter in "*+?":
            raise self._wrong(f"nothing to repeat before “{letter}”", self._at - 1)
        return self._reads(self._same(letter))

    def _reads(self, test: Test) -> _Piece:
        return lambda then: self._node(next=[then], test=test)

    def _same(self, letter: str) -> Test:
        if not self._fold:
            return lambda other: other == letter
        low = letter.lower()
        return lambda other: other.lower() == low

    def _group(self) -> _Piece:
        opened = self._at - 1
        if self._peek() == "?":
            if self._text[self._at + 1 : self._at + 2] != ":":
                raise self._wrong("look-around, which is not supported")
            self._at += 2
        self._depth += 1
        if self._depth > 100:
            raise self._wrong("more than 100 groups inside each other")
        piece = self._choice()
        self._depth -= 1
        if self._peek() != ")":
            raise self._wrong("an unclosed “(”", opened)
        self._at += 1
        return piece

    def _escape(self) -> _Piece:
        letter = self._peek()
        if not letter:
            raise self._wrong("a lone “\\” at the end", self._at - 1)
        self._at += 1
        if letter == "b":
            return lambda then: self._node(next=[then], anchor="word")
        return self._reads(self._escaped(letter))

    def _escaped(self, letter: str) -> Test:
        known = _CLASSES.get(letter.lower())
        if known is None:
            return self._same({"n": "\n", "t": "\t"}.get(letter, letter))
        return known if letter.islower() else lambda other: not known(other)

    def _set(self) -> Test:
        opened = self._at - 1
        inverted = self._peek() == "^"
        self._at += inverted
        tests: list[Test] = []
        while self._peek() != "]" or not tests:
            if not self._peek():
                raise self._wrong("an unclosed “[”", opened)
            tests.append(self._member())
        self._at += 1
        return lambda letter: any(test(letter) for test in tests) != inverted

    def _member(self) -> Test:
        letter = self._peek()
        self._at += 1
        if letter == "\\":
            escaped = self._peek() or "\\"
            self._at += 1
            return self._escaped(escaped)
        end = self._text[self._at + 1 : self._at + 2]
        if self._peek() != "-" or end in ("", "]"):
            return self._same(letter)
        if end < letter:
            raise self._wrong(f"a range “{letter}-{end}” out of order", self._at - 1)
        self._at += 2
        return self._span(letter, end)

    def _span(self, low: str, high: str) -> Test:
        if not self._fold:
            return lambda letter: low <= letter <= high
        return lambda letter: any(low <= form <= high for form in _forms(letter))


def _forms(letter: str) -> Iterator[str]:
    yield from (letter, letter.lower(), letter.upper())


_Piece = Callable[[_Node], _Node]
"""A part of the pattern: given what comes after it, where it begins."""
