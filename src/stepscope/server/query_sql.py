"""The run query language as SQL for PostgreSQL: the same runs as `runs/query/evaluate.py` finds, proved by a test.

    where, values = compile_sql(parse("config.lr < 0.01 and loss.min < 0.3").tree, names)

Every comparison becomes an expression that is true or false, never NULL, so that `not` means the same in both (inside
an EXISTS, NULL is false). The text columns have the collation "C", the order of code points, as in Python. Where
text is compared, Python has made it: how a number prints and what is lower case differ between the two. What cannot be
said the same way in SQL (a metric's number matched as text) raises `NotInSql`, and Python evaluates it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from stepscope.runs.query.fields import Field
from stepscope.runs.query.literals import Literal
from stepscope.runs.query.parser import AllOf, AnyOf, Compare, Node, Not, Word
from stepscope.server.run_rows import BETWEEN

NUMBER_FACTS = {
    "created": "r.created",
    "ended": "r.ended",
    "age": "(:now - r.created)",
    "duration": "r.duration",
    "findings": "CAST(r.findings AS double precision)",
    "dropped": "CAST(r.dropped AS double precision)",
}
TEXT_COLUMNS = ("name", "project", "status", "id")
"""Text facts with a column of their own; all others are rows of `run_values`."""
_FLOATS = ("last", "first", "min", "max", "mean")
_NEWEST = "r.created DESC, r.id DESC"
_FLIPPED = {"<=": "<", ">": ">="}


class NotInSql(Exception):
    """Python has to evaluate this query."""


class _Cell:
    """The SQL of one value: its kind, number, text and lower-case text."""

    def __init__(self, alias: str, column: str | None = None) -> None:
        self.kind = "'t'" if column else f"{alias}.kind"
        self.number = "NULL" if column else f"{alias}.number"
        self.text = f"{alias}.{column or 'text'}"
        has_lower = column in (None, "name", "project")
        lower = f"{column}_lower" if column else "lower"
        self.lower = f"coalesce({alias}.{lower}, {self.text})" if has_lower else f"lower({self.text})"


class _Compiler:
    """`sorted_by` is a field whose row is at hand as `o`: it is tested directly, so an index is read only in part."""

    def __init__(
        self, has_field: Callable[[str], bool], has_metric: Callable[[str], bool], sorted_by: Field | None = None
    ) -> None:
        self.values: dict[str, Any] = {}
        self._has_field, self._has_metric, self._sorted_by = has_field, has_metric, sorted_by
        self._prefix = "q" if sorted_by is None else "s"

    def bind(self, value: Any) -> str:
        name = f"{self._prefix}{len(self.values)}"
        self.values[name] = value.replace("\0", "\ufffd") if isinstance(value, str) else value
        return f":{name}"

    def number(self, value: float) -> str:
        return f"CAST({self.bind(float(value))} AS double precision)"

    # -- the tree ---------------------------------------------------------------------------------------------

    def node(self, node: Node) -> str:
        if isinstance(node, AllOf):
            return f"({' AND '.join(map(self.node, node.parts)) or 'TRUE'})"
        if isinstance(node, AnyOf):
            return f"({' OR '.join(map(self.node, node.parts))})"
        if isinstance(node, Not):
            return f"(NOT {self.node(node.part)})"
        return self._word(node) if isinstance(node, Word) else self._compare(node)

    def _word(self, word: Word) -> str:
        anywhere = self._like("r.words", f"*{word.text.lower()}*")
        if not _is_glob(word.text) and BETWEEN not in word.text:
            return anywhere
        pattern = f"*{word.text}*" if _is_glob(word.text) else word.text
        own = [self._matches(_Cell("r", name), pattern) for name in ("name", "project")]
        tags = self._any_row("run:tags", lambda cell: self._matches(cell, pattern), place="> 0")
        return f"({anywhere} AND ({' OR '.join((*own, tags))}))"

    def _compare(self, node: Compare) -> str:
        field = node.field
        if node.operator == "null":
            return f"(NOT {self._present(field)})"
        negated = node.operator in ("!=", "!~")
        kind = {"!=": "=", "!~": "~"}.get(node.operator, node.operator)
        holds = self._holds(field, kind, node.values)
        return f"({self._present(field)} AND NOT {holds})" if negated else holds

    def _holds(self, field: Field, kind: str, values: tuple[Literal, ...]) -> str:
        if field.source == "metric":
            return self._metric(field, lambda column: self._numbers(column, kind, values))
        if field.source == "run" and field.name in NUMBER_FACTS:
            found = self._numbers(NUMBER_FACTS[field.name], kind, values)
            return f"coalesce({found}, FALSE)" if field.name == "ended" else found  # only this one may be NULL

        def test(cell: _Cell) -> str:
            return f"({' OR '.join(self._test(cell, field, kind, value) for value in values)})"

        if field.source == "run" and field.name in TEXT_COLUMNS:
            return test(_Cell("r", field.name))
        rows = [self._any_row(name, test) for name in self._names(field)]
        if field.source == "config" and len(rows) == 2:
            first = self._names(field)[0]
            return f"({rows[0]} OR (NOT {self._has_row(first)} AND {rows[1]}))"
        if field.source == "summary" and self._has_metric(field.name):
            number = self._metric_row(
                field.name, "last", lambda column: self._numbers(column, kind, values, texts=True)
            )
            return f"({rows[0]} OR (NOT {self._has_row(self._names(field)[0])} AND {number}))"
        return rows[0]

    # -- where values are -------------------------------------------------------------------------------------

    def _names(self, field: Field) -> list[str]:
        """The rows of `run_values` that may hold a field: the first that a run has counts."""
        if field.source != "config":
            return [f"{field.source}:{field.name}"]
        other = f"config:{field.name.replace('.', '/')}"
        return [f"config:{field.name}", *([other] if "." in field.name and self._has_field(other) else [])]

    def _any_row(self, field: str, test: Callable[[_Cell], str], place: str = ">= 0") -> str:
        """Whether a value, or one in a list, passes. The row of a list itself is only there to be found and sorted."""
        if self._is_at_hand(field):
            return f"({test(_Cell('o'))})"
        name = self.bind(field)
        return (
            f"EXISTS (SELECT 1 FROM run_values v WHERE v.run = r.key AND v.field = {name} AND v.place {place} "
            f"AND v.kind <> 'l' AND {test(_Cell('v'))})"
        )

    def _is_at_hand(self, field: str) -> bool:
        return self._sorted_by is not None and field == f"{self._sorted_by.source}:{self._sorted_by.name}"

    def _has_row(self, field: str) -> str:
        if self._is_at_hand(field):
            return "TRUE"
        name = self.bind(field)
        return f"EXISTS (SELECT 1 FROM run_values v WHERE v.run = r.key AND v.field = {name} AND v.place = 0)"

    def _present(self, field: Field) -> str:
        if field.source == "metric":
            return self._metric(field, lambda column: f"{column} IS NOT NULL")
        if field.source == "run":
            if field.name in NUMBER_FACTS:
                return f"({NUMBER_FACTS[field.name]} IS NOT NULL)"
            return "TRUE" if field.name in TEXT_COLUMNS or field.name == "tags" else self._has_row(f"run:{field.name}")
        rows = [self._has_row(name) for name in self._names(field)]
        if field.source == "summary":
            rows.append(self._metric_row(field.name, "last", lambda column: f"{column} IS NOT NULL"))
        return f"({' OR '.join(rows)})"

    def _metric(self, field: Field, test: Callable[[str], str]) -> str:
        stat = field.stat or "last"
        own = self._metric_row(field.name, stat, test)
        whole = f"{field.name}.{stat}"  # a metric whose own name ends in .max, say
        if not self._has_metric(whole):
            return own
        other = self._metric_row(whole, "last", test)
        return f"({own} OR (NOT {self._metric_row(field.name, stat, lambda _: 'TRUE')} AND {other}))"

    def _metric_row(self, name: str, stat: str, test: Callable[[str], str]) -> str:
        by = self._sorted_by
        if by is not None and (by.source, by.name) == ("metric", name):
            own = test(stat_sql("o", stat))
            return own if stat == (by.stat or "last") else f"coalesce({own}, FALSE)"  # only the others may be NULL
        bound, column = self.bind(name), stat_sql("m", stat)
        return f"EXISTS (SELECT 1 FROM run_metrics m WHERE m.run = r.key AND m.name = {bound} AND {test(column)})"

    # -- comparisons ------------------------------------------------------------------------------------------

    def _numbers(self, column: str, kind: str, values: tuple[Literal, ...], *, texts: bool = False) -> str:
        """A test of a column that holds numbers, NaN among them, which PostgreSQL takes for the largest."""
        if kind == "~" or (texts and kind in ("=", "in") and any(one.kind == "text" for one in values)):
            raise NotInSql(f"{column} {kind}")
        tests = [self._number_test(column, f"({column} <> 'NaN')", kind, value) for value in values]
        return f"({' OR '.join(tests)})"

    def _number_test(self, column: str, sound: str, kind: str, value: Literal) -> str:
        if kind in ("=", "in"):
            if value.kind == "date":
                return (
                    f"({sound} AND {column} >= {self.number(value.number)} AND {column} < {self.number(value.until)})"
                )
            if value.kind not in ("number", "duration"):
                return "FALSE"
            if math.isnan(value.number):
                return f"(NOT {sound})"
            return f"({sound} AND {column} = {self.number(value.number)})"
        if value.kind in ("text", "bool") or math.isnan(value.number):
            return "FALSE"
        if value.kind == "date" and kind in _FLIPPED:
            return f"({sound} AND {column} {_FLIPPED[kind]} {self.number(value.until)})"
        return f"({sound} AND {column} {kind} {self.number(value.number)})"

    def _test(self, cell: _Cell, field: Field, kind: str, value: Literal) -> str:
        if kind == "~":
            return self._matches(cell, value.text)
        if kind in ("=", "in"):
            return self._equals(cell, value)
        if field.type == "text" or value.kind in ("text", "bool"):
            return f"({cell.kind} = 't' AND {cell.text} COLLATE \"C\" {kind} {self.bind(value.text)})"
        return self._number_test(cell.number, f"({cell.kind} = 'n')", kind, value)

    def _equals(self, cell: _Cell, value: Literal) -> str:
        text = self.bind(value.text)
        same = f"({cell.kind} = 't' AND {cell.text} = {text})"
        if value.kind == "text":
            return f"({cell.text} = {text})"
        if value.kind == "bool":
            lower = self.bind(value.text.lower())
            is_bool = f"({cell.kind} = 'b' AND {cell.number} = {self.number(value.number)})"
            return f"({is_bool} OR ({cell.kind} = 't' AND {cell.lower} = {lower}))"
        if value.kind in ("number", "duration") and math.isnan(value.number):
            return f"({cell.kind} = 'x' OR {same})"
        number = self._number_test(cell.number, f"({cell.kind} = 'n')", "=", value)
        return f"({number} OR {same})"

    def _matches(self, cell: _Cell, pattern: str) -> str:
        lowered = pattern.lower()
        return self._like(cell.lower, lowered if _is_glob(pattern) else f"*{lowered}*")

    def _like(self, text: str, pattern: str) -> str:
        # An index of trigrams says nothing of fewer than three letters in a row; PostgreSQL would read it all in vain.
        has_trigram = max(map(len, re.split(r"[\W_]+", pattern))) >= 3
        indexed = text if has_trigram else f"({text} || '')"
        return f"({indexed} LIKE {self.bind(_like(pattern))})"


def compile_sql(
    tree: Node,
    has_field: Callable[[str], bool],
    has_metric: Callable[[str], bool],
    sorted_by: Field | None = None,
) -> tuple[str, dict[str, Any]]:
    """The condition for rows `r` of `runs`, and its values. `:now` is what `age` counts from.

    With `sorted_by` it is the condition for a segment `is_numeric` of that order.
    """
    compiler = _Compiler(has_field, has_metric, sorted_by)
    return compiler.node(tree), compiler.values


class Segment(NamedTuple):
    """A part of the sorted runs, which PostgreSQL reads in the order of an index: numbers, text, those without."""

    source: str
    where: str
    order: str
    is_numeric: bool = False
    """`o` is the row of the field that sorts, the only one of its run, with a number."""


def order_sql(
    field: Field, descending: bool, has_metric: Callable[[str], bool]
) -> tuple[list[Segment], dict[str, Any]]:
    """The segments of an order, one after the other: missing values and NaN last, equal ones newest first."""
    way = "DESC" if descending else "ASC"
    if field.source == "run" and field.name == "created" and descending:
        return [Segment("runs r", "TRUE", _NEWEST)], {}
    if field.source == "run" and field.name in NUMBER_FACTS:
        return [Segment("runs r", "TRUE", f"{NUMBER_FACTS[field.name]} {way} NULLS LAST, {_NEWEST}")], {}
    stat = field.stat or "last"
    if field.source == "metric" and not has_metric(f"{field.name}.{stat}"):
        column = stat_sql("o", stat)
        has = f"o.name = :sort AND {column} IS NOT NULL AND {column} <> 'NaN'"
        parts = [(has, f"{column} {way}")]
        return _segments("run_metrics", parts, has), {"sort": field.name}
    if field.source == "run" or (field.source == "config" and "." not in field.name):
        has = "o.field = :sort AND o.place = 0"
        parts = [(f"{has} AND o.kind IN ('n', 'b') AND o.number IS NOT NULL", f"o.number {way}")]
        parts.append((f"{has} AND o.natural IS NOT NULL", f"o.natural {way}"))
        if descending:
            parts.reverse()
        any_of = f"{has} AND (o.kind IN ('n', 'b') OR o.natural IS NOT NULL)"
        return _segments("run_values", parts, any_of), {"sort": f"{field.source}:{field.name}"}
    raise NotInSql(field.key)


def _segments(table: str, parts: list[tuple[str, str]], any_of: str) -> list[Segment]:
    source = f"{table} o JOIN runs r ON r.key = o.run"
    found = [Segment(source, where, f"{order}, {_NEWEST}", "o.natural" not in order) for where, order in parts]
    missing = f"NOT EXISTS (SELECT 1 FROM {table} o WHERE o.run = r.key AND {any_of})"
    return [*found, Segment("runs r", missing, _NEWEST)]


def stat_sql(alias: str, stat: str) -> str:
    return f"{alias}.{stat}" if stat in _FLOATS else f"CAST({alias}.{stat} AS double precision)"


def _is_glob(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _like(pattern: str) -> str:
    """A glob as LIKE writes it, which an index of trigrams helps with."""
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped.replace("*", "%").replace("?", "_")
