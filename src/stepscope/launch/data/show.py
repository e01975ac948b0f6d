"""Surveys as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stepscope.common.units import bytes_text
from stepscope.launch.data.field_stats import Field
from stepscope.plain_text import clean

if TYPE_CHECKING:
    from stepscope.launch.data.survey import Survey

Line = list[tuple[str, str]]
"""Pieces of (text, style)."""
_BAR = 24
_MOST_LABELS = 12
_HEADS = ("", "type", "shape", "range", "mean ± std", "size")


def as_text(survey: Survey) -> str:
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines_of(survey))


def as_rich(survey: Survey) -> Iterator[Any]:
    from rich.text import Text

    for line in lines_of(survey):
        yield Text.assemble(*line, no_wrap=True, overflow="ellipsis")


def lines_of(survey: Survey) -> list[Line]:
    """The whole survey, line by line."""
    lines: list[Line] = [[(survey.name, "bold cyan"), (f"  {_head(survey)}", "")]]
    if survey.samples:
        lines += [[(f"  one sample, before collation ({survey.looked_at:,} looked at)", "dim")]]
        lines += _table(survey.samples)
    if survey.batches:
        lines += [[("  one batch, after collation" if survey.samples else "  one batch", "dim")]]
        lines += _table(survey.batches)
    lines += _labels(survey)
    lines += [[("  ! ", "bold yellow"), (clean(note), "yellow")] for note in survey.notes]
    if survey.picture_at:
        lines += [[("  pictures: ", "dim"), (survey.picture_at, "")]]
    return lines


def _head(survey: Survey) -> str:
    parts = [clean(f"{survey.kind} over {survey.dataset}" if survey.dataset else survey.kind)]
    if survey.length is not None:
        parts.append(f"{survey.length:,} samples")
    if survey.batch_size:
        count = "" if survey.batch_count is None else f" ({survey.batch_count:,})"
        parts.append(f"batches of {survey.batch_size}{count}")
        if survey.last_batch not in (None, survey.batch_size):
            parts.append(f"the last has {survey.last_batch}")
    shuffled = {"RandomSampler": "shuffled", "SequentialSampler": "in order", "": ""}
    parts.append(shuffled.get(survey.sampler, survey.sampler))
    if survey.workers:
        parts.append(f"{survey.workers} workers (none here)")
    if survey.looked_at and survey.seconds / survey.looked_at > 0.001:
        parts.append(f"{1000 * survey.seconds / survey.looked_at:.3g} ms a sample")
    return ", ".join(part for part in parts if part)


def _table(fields: list[Field]) -> list[Line]:
    rows = [(one.path or "(whole)", _type(one), _shape(one), _range(one), _spread(one),
             bytes_text(one.bytes) if one.bytes else "") for one in fields]  # fmt: skip
    return laid_out(_HEADS, [tuple(map(clean, row)) for row in rows])


def laid_out(heads: tuple[str, ...], rows: list[tuple[str, ...]], indent: str = "    ") -> list[Line]:
    """Rows under heads, as wide as they need to be."""
    widths = [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]

    def line(cells: tuple[str, ...]) -> str:
        return indent + "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    return [[(line(heads), "dim")], *([(line(row), "")] for row in rows)]


def _type(one: Field) -> str:
    where = f" on {one.device}" if one.device not in ("", "cpu") else ""
    return f"{one.type} {one.dtype}{where}".strip()


def _shape(one: Field) -> str:
    if not one.shapes:
        return repr(one.example) if one.example else ""
    shown = "x".join(map(str, one.shapes[0])) or "-"
    return shown if len(one.shapes) == 1 else f"{shown} and {len(one.shapes) - 1} more"


def _range(one: Field) -> str:
    if one.low is None or one.high is None:
        return ""
    return f"{one.low:.4g}" if one.low == one.high else f"{one.low:.4g} .. {one.high:.4g}"


def _spread(one: Field) -> str:
    if one.mean is None or one.std is None or one.values:
        return ""
    return f"{one.mean:.3g} ± {one.std:.3g}"


def _labels(survey: Survey) -> list[Line]:
    counts = survey.histogram
    if not counts or survey.label is None:
        return []
    most = max(counts.values())
    shown = sorted(counts.items(), key=lambda pair: -pair[1]) if len(counts) > _MOST_LABELS else list(counts.items())
    width = max(len(label) for label, _ in shown[:_MOST_LABELS])
    lines: list[Line] = [[(f"  labels ({survey.label}) of {survey.histogram_of}", "dim")]]
    for label, number in shown[:_MOST_LABELS]:
        bar = "█" * max(1, round(_BAR * number / most))
        lines.append([(f"    {clean(label):>{width}}  ", ""), (f"{bar:<{_BAR}}", "cyan"), (f"  {number:,}", "")])
    if len(counts) > _MOST_LABELS:
        lines.append([(f"    and {len(counts) - _MOST_LABELS} more labels", "dim")])
    return lines
