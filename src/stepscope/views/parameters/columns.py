"""Config and metrics of many runs as columns: numbers, or names with an index per run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import msgspec

from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.ordering import natural_key
from stepscope.runs.query.fields import Field, field_key

MAX_COLUMNS = 60
MAX_NAMES = 200
"""Maximum number of distinct texts; the rest are combined into one."""
MAX_NAME = 200
_FEW = 12
_LOG_SPAN = 8.0
"""Numbers that span less than this factor are never drawn on a log scale."""
_WIDE_SPAN = 100.0


class ParameterColumn(msgspec.Struct):
    """One parameter or metric of every run."""

    key: str
    """In the words of a query: `config.lr`, `val/loss.min`."""
    label: str
    source: Literal["config", "metric"]
    kind: Literal["number", "bool", "text"]
    log: bool
    """Best drawn on a log scale: positive (or zero) over orders of magnitude."""
    values: list[float | None]
    """Numbers; for the other kinds indices into `names`. None if missing or in `broken`."""
    names: list[str]
    broken: list[int]
    """The runs whose value is NaN or infinite."""
    distinct: int


@dataclass(frozen=True)
class ParameterColumns:
    columns: list[ParameterColumn]
    alike: int
    unique: list[str]


def parameter_columns(entries: Sequence[RunEntry]) -> ParameterColumns:
    """The config keys that differ between runs; those that most runs have first, else by name."""
    runs = len(entries)
    values: dict[str, list[Any]] = {}
    for place, entry in enumerate(entries):
        for key, value in entry.config.items():
            if value is None:
                continue
            known = values.get(key)
            if known is None:
                known = values[key] = [None] * runs
            known[place] = value
    columns: list[tuple[int, ParameterColumn]] = []
    unique: list[str] = []
    alike = 0
    for key in sorted(values, key=natural_key):
        column = column_of(Field("config", key), values[key])
        there = runs - values[key].count(None)
        if column.distinct < 2 and there == runs:
            alike += 1
        elif column.kind == "text" and column.distinct > _FEW and column.distinct > 0.8 * there:
            unique.append(key)
        elif column.distinct > 1 or there < runs:
            columns.append((there, column))
    columns.sort(key=lambda pair: -pair[0])
    return ParameterColumns([column for _, column in columns[:MAX_COLUMNS]], alike, unique)


def column_of(field: Field, values: Sequence[Any]) -> ParameterColumn:
    """A field's values as a column, of the kind that fits all of them."""
    column = ParameterColumn(
        key=field_key(field),
        label=field.name if field.source == "config" or field.stat in ("", "last") else f"{field.name}.{field.stat}",
        source="config" if field.source == "config" else "metric",
        kind="number",
        log=False,
        values=[],
        names=[],
        broken=[],
        distinct=0,
    )
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        column.kind, column.names = "bool", ["false", "true"]
        column.values = [None if value is None else float(value) for value in values]
        column.distinct = len(set(column.values) - {None})
    elif kinds <= {int, float} and kinds:
        _fill_numbers(column, values)
    else:
        _fill_names(column, values)
    return column


def _fill_numbers(column: ParameterColumn, values: Sequence[Any]) -> None:
    for place, value in enumerate(values):
        number = _float(value)
        if number is not None and not math.isfinite(number):
            column.broken.append(place)
            number = None
        column.values.append(number)
    known = [value for value in column.values if value is not None]
    column.distinct = len(set(known)) + bool(column.broken)
    column.log = is_log(known)


def _float(value: Any) -> float | None:
    if value is None:
        return None
    try:
        return float(value)
    except OverflowError:  # an integer too large for a float
        return math.inf if value > 0 else -math.inf


def _fill_names(column: ParameterColumn, values: Sequence[Any]) -> None:
    texts = [None if value is None else _text(value) for value in values]
    known = sorted({text for text in texts if text is not None}, key=lambda text: (natural_key(text), text))
    places = {name: place for place, name in enumerate(known[:MAX_NAMES])}
    column.kind, column.distinct, column.names = "text", len(known), known[:MAX_NAMES]
    if len(known) > MAX_NAMES:
        column.names.append(f"{len(known) - MAX_NAMES} more")
    column.values = [None if text is None else float(places.get(text, MAX_NAMES)) for text in texts]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return text if len(text) <= MAX_NAME else text[: MAX_NAME - 1] + "…"


def is_log(values: Sequence[float]) -> bool:
    """Whether these numbers span orders of magnitude, so that a log scale shows them better.

    Zeros are allowed. Few numbers are judged by their steps: 16, 32, 64 grow by a factor, 20, 40, 60 do not. Many
    numbers are, if their median is nearer to the middle of a log scale.

    >>> is_log([1e-4, 3e-4, 1e-3]), is_log([16, 32, 64, 128]), is_log([10, 20, 40, 60, 80]), is_log([0.0, 1e-4, 1e-2])
    (True, True, False, True)
    """
    positive = sorted({value for value in values if value > 0})
    if len(positive) < 2 or any(value < 0 for value in values):
        return False
    low, high = positive[0], positive[-1]
    if high / low < _LOG_SPAN:
        return False
    if high / low >= _WIDE_SPAN and len(positive) <= _FEW:
        return True
    if len(positive) <= _FEW:
        return _spread([math.log(value) for value in positive]) < _spread(positive)
    middle = sorted(value for value in values if value > 0)[sum(value > 0 for value in values) // 2]
    linear = abs((middle - low) / (high - low) - 0.5)
    return abs(math.log(middle / low) / math.log(high / low) - 0.5) < linear


def _spread(places: Sequence[float]) -> float:
    """How uneven the gaps are, as a fraction of the largest."""
    gaps = [after - before for before, after in pairwise(places)]
    return 1 - min(gaps) / max(gaps)
