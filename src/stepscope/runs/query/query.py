"""The run query language: `config.lr < 0.01 and status = failed and loss.min < 0.3`. docs/query.md is its manual."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from stepscope.common import clocks
from stepscope.errors import QueryError
from stepscope.runs.query.evaluate import Predicate, Queryable, compile_tree
from stepscope.runs.query.fields import Field, close_fields, resolve
from stepscope.runs.query.lexer import tokens
from stepscope.runs.query.parser import AllOf, AnyOf, Compare, Node, Not, parse_tree

__all__ = ["Field", "Query", "Queryable", "check_field", "parse", "parse_field"]


@dataclass(frozen=True)
class Query:
    """A parsed query."""

    text: str
    tree: Node
    _predicate: Predicate = field(repr=False, compare=False)

    @property
    def fields(self) -> list[Field]:
        """The fields it uses, each once."""
        return list(dict.fromkeys(compare.field for compare in _compares(self.tree)))

    def matches(self, run: Queryable, now: float | None = None) -> bool:
        """Whether a run matches; `now` (Unix seconds) is the reference for `age`."""
        return self._predicate(run, clocks.time() if now is None else now)

    def check(self, known: Collection[str]) -> None:
        """Reject fields that no run has: `known` has the `config.<key>` and `<metric>` of all runs.

        Optional. With it, a mistyped name is an error with a suggestion instead of an empty
        table.
        """
        for compare in _compares(self.tree):
            check_field(compare.field, known, self.text, compare.start)


def check_field(asked: Field, known: Collection[str], text: str, start: int = 0) -> None:
    """Reject a field that no run has; `text` is the user's input, `start` the field's position in it."""
    if asked.source in ("run", "summary") or not known or _is_known(asked, known):
        return
    name = f"config.{asked.name}" if asked.source == "config" else asked.name
    close = close_fields(name, known)
    rather = f"; did you mean {' or '.join(close)}?" if close else ""
    what = "config value" if asked.source == "config" else "metric"
    raise QueryError(f"no run has a {what} {asked.name!r}{rather}", text, start)


def parse(text: str) -> Query:
    """Parse a query; a mistake raises `QueryError`, which points at the offending character.

    >>> parse("config.lr < 0.01 and status = failed").fields[0].key
    'config.lr'
    """
    tree = parse_tree(text)
    return Query(text, tree, compile_tree(tree))


def parse_field(text: str) -> Field:
    """The field that a column or sort key names, in query syntax.

    >>> parse_field('"odd name".min')
    Field(source='metric', name='odd name', stat='min')
    """
    first, *rest = tokens(text)
    found = resolve(first.parts) if first.kind == "name" and len(rest) == 1 else None
    if found is None:
        close = close_fields(text, [])
        rather = f"; did you mean {' or '.join(close)}?" if close else ""
        raise QueryError(
            f"{text!r} is not a field; expected for example created, config.lr or loss.min{rather}", text, 0
        )
    return found


def _is_known(asked: Field, known: Collection[str]) -> bool:
    if asked.source == "config":
        return f"config.{asked.name}" in known or f"config.{asked.name.replace('.', '/')}" in known
    return asked.name in known or f"{asked.name}.{asked.stat}" in known


def _compares(node: Node) -> Iterator[Compare]:
    if isinstance(node, Compare):
        yield node
    elif isinstance(node, (AllOf, AnyOf)):
        for part in node.parts:
            yield from _compares(part)
    elif isinstance(node, Not):
        yield from _compares(node.part)
