"""Sheets and breakdowns as text for a terminal: the same numbers as in the browser, in columns."""

from __future__ import annotations

import math
from typing import Any

from stepscope.errors import NotFound
from stepscope.plain_text import clean
from stepscope.records.profile import Column, Sheet, StepParts, Unit

_TEXT_WIDTH, _LEAST_TEXT = 60, 16
_BAR = 24


_SCALES: dict[str, tuple[float, tuple[str, ...], tuple[str, float]]] = {
    "ns": (1000.0, ("ns", "us", "ms"), ("s", 1e9)),
    "bytes": (1024.0, ("B", "KiB", "MiB", "GiB"), ("TiB", 1024.0**4)),
    "flops": (1000.0, ("FLOP", "kFLOP", "MFLOP", "GFLOP"), ("TFLOP", 1e12)),
}
"""For each unit: the factor between its multiples, their names, and the largest with its size."""


def cell_text(value: Any, unit: Unit) -> str:
    """One value as a person reads it.

    >>> [cell_text(v, "ns") for v in (950, 41_200, 12_340_000, 2_500_000_000)]
    ['950 ns', '41.2 us', '12.3 ms', '2.5 s']
    >>> cell_text(0.834, "share"), cell_text(3 << 20, "bytes"), cell_text(2.5e9, "flops"), cell_text(None, "ns")
    ('83.4%', '3 MiB', '2.5 GFLOP', '-')
    >>> cell_text(12345, "count"), cell_text(3.14159, "factor"), cell_text(True, "flag")
    ('12,345', '3.14x', 'yes')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if unit in ("text", "line") or isinstance(value, str):
        return clean(str(value))
    if unit == "flag":
        return "yes" if value else ""
    if unit == "count":
        return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    if unit == "share":
        return f"{100 * value:.1f}%"
    if unit == "factor":
        return f"{value:.3g}x"
    if unit in _SCALES:
        step, units, last = _SCALES[unit]
        return _scaled(value, step, units, last=last)
    return f"{value:.4g}"


def _scaled(value: float, factor: float, units: tuple[str, ...], last: tuple[str, float]) -> str:
    size = 1.0
    for unit in units:
        if abs(value) < 999.5 * size * (factor / 1000.0):
            return f"{value / size:.3g} {unit}"
        size *= factor
    return f"{value / last[1]:.3g} {last[0]}" if abs(value) < 1000 * last[1] else f"{value / last[1]:,.0f} {last[0]}"


def sorted_rows(sheet: Sheet, by: str | None = None) -> Sheet:
    """The same sheet in another order: by a column's key or head, largest first (text: A first). Trees stay as they
    are."""
    import msgspec

    if by is None or sheet.levels:
        return sheet
    at = next(
        (at for at, column in enumerate(sheet.columns) if _plain(by) in (_plain(column.key), _plain(column.label))),
        None,
    )
    if at is None:
        known = ", ".join(column.key for column in sheet.columns)
        raise NotFound(f"{sheet.title!r} has no column {by!r} to sort by; it has {known}")
    column = sheet.columns[at]
    is_text = column.unit in ("text", "line")
    rows = [row for row in sheet.rows if row[at] is not None]
    rows.sort(key=lambda row: str(row[at]) if is_text else row[at], reverse=not is_text)
    rows += [row for row in sheet.rows if row[at] is None]
    return msgspec.structs.replace(sheet, rows=rows, sort=column.key)


def _plain(name: str) -> str:
    return name.lower().replace("_", " ").replace("-", " ")


def sheet_text(sheet: Sheet, *, width: int = 120, most: int = 20, sort: str | None = None) -> str:
    """A table. Long texts are shortened to fit; numbers that still do not are left out from the right, and said."""
    sheet = sorted_rows(sheet, sort)
    shown = [at for at, column in enumerate(sheet.columns) if not column.hidden]
    columns = [sheet.columns[at] for at in shown]
    cells = [[_cell(sheet, number, at) for at in shown] for number in range(min(most, len(sheet.rows)))]
    widths = [max([len(column.label), *(len(row[i]) for row in cells)]) for i, column in enumerate(columns)]
    widths = _squeezed(widths, columns, width - 2)
    fits = _fitting(widths, width - 2)
    heads = [column.label for column in columns]
    lines = [clean(sheet.title), *(_line(row, widths[:fits], columns) for row in [heads, *cells])]
    left = len(sheet.rows) - len(cells)
    if left > 0:
        lines.append(f"  and {left:,} more")
    if fits < len(shown):
        lines.append(f"  not shown: {', '.join(heads[fits:])}")
    lines += [f"  {clean(note)}" for note in sheet.notes]
    lines += [f"  ! {one.name}: {one.got:.6g} against {one.expected:.6g}" for one in sheet.checks if not one.ok]
    return "\n".join(lines)


def _cell(sheet: Sheet, number: int, at: int) -> str:
    text = cell_text(sheet.rows[number][at], sheet.columns[at].unit)
    return "  " * sheet.levels[number] + text if at == 0 and sheet.levels else text


def _is_text(column: Column) -> bool:
    return column.unit in ("text", "line")


def _squeezed(widths: list[int], columns: list[Column], room: int) -> list[int]:
    """Texts as wide as what the numbers leave them, shared evenly, never below a few letters."""
    texts = [i for i, column in enumerate(columns) if _is_text(column)]
    left = room - sum(widths[i] + 2 for i in range(len(widths)) if i not in texts) - 2 * len(texts)
    found = [min(width, _TEXT_WIDTH) if i in texts else width for i, width in enumerate(widths)]
    while sum(found[i] for i in texts) > left:
        widest = max(texts, key=lambda i: found[i])
        if found[widest] <= _LEAST_TEXT:
            break
        found[widest] -= 1
    return found


def _fitting(widths: list[int], room: int) -> int:
    used = 0
    for number, width in enumerate(widths):
        used += width + 2
        if used > room and number >= 2:
            return number
    return len(widths)


def _line(cells: list[str], widths: list[int], columns: list[Column]) -> str:
    parts = []
    for cell, width, column in zip(cells, widths, columns, strict=False):
        if len(cell) > width:  # of a place the end matters
            cell = "…" + cell[len(cell) - width + 1 :] if column.unit == "line" else cell[: width - 1] + "…"
        parts.append(cell.ljust(width) if _is_text(column) else cell.rjust(width))
    return ("  " + "  ".join(parts)).rstrip()


def parts_text(parts: StepParts, *, width: int = 100, what: str = "a step takes") -> str:
    """The typical step, a line a part, with bars.

    >>> from stepscope.profile.collect.phases import PhaseTable
    >>> table = PhaseTable()
    >>> for step in range(4):
    ...     table.add(step, {"data": 0.03, "forward": 0.01})
    >>> print(parts_text(table.result()))
    a step takes 40 ms (p50 40 ms, p90 40 ms, p99 40 ms; 4 steps)
      Data     30 ms   75%  ██████████████████
      Forward  10 ms   25%  ██████
    """
    whole = sum(parts.typical_ns) or 1
    shown = [(part.label, ns) for part, ns in zip(parts.parts, parts.typical_ns, strict=True) if ns]
    wide = max((len(label) for label, _ in shown), default=0)
    p50, p90, p99 = (cell_text(ns, "ns") for ns in (parts.p50_ns, parts.p90_ns, parts.p99_ns))
    count = len(parts.steps)
    of = f"(p50 {p50}, p90 {p90}, p99 {p99}; {count} step{'s' * (count != 1)})"
    lines = [f"{what} {cell_text(whole, 'ns')} {of}"]
    room = min(_BAR, max(8, width - wide - 24))
    numbers = [cell_text(ns, "ns") for _, ns in shown]
    digits = max((len(text) for text in numbers), default=0)
    for (label, ns), text in zip(shown, numbers, strict=True):
        bar = "█" * round(room * ns / whole) or "▏"
        lines.append(f"  {label.ljust(wide)}  {text.rjust(digits)}  {ns / whole:4.0%}  {bar}")
    if parts.first_is_odd and parts.wall_ns:
        lines.append(f"  the first step took {cell_text(parts.wall_ns[0], 'ns')} and is not counted")
    return "\n".join([*lines, *(f"  {clean(note)}" for note in parts.notes)])
