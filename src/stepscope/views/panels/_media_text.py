"""Tables, confusion matrices and curves that a run logged, as Markdown and images.

They are untrusted JSON: validated, and shown as plain text if they do not fit.
"""

from __future__ import annotations

import json
import math
from typing import Any

from stepscope.plain_text import clean
from stepscope.report.draw_lines import DrawnLine, draw_lines
from stepscope.report.text import fence
from stepscope.views.charts import MediaItem
from stepscope.views.hues import HUES
from stepscope.views.report.pictures import Pictures, markdown_text

_MOST_ROWS = 30
_MOST_COLUMNS = 30
_MOST_CURVES = 24
_MOST_TEXT = 4000


def media_text(item: MediaItem, name: str, out: Pictures) -> str:
    """The Markdown for one text item; `name` is its run's."""
    text = item.text or ""
    raw = _json(text)
    made = None
    if item.kind == "table":
        made = _table(raw, out)
    elif item.kind == "confusion":
        made = _confusion(raw, out)
    elif item.kind == "curve":
        made = _curves(raw, f"{item.key} · {name}", out)
    return made if made is not None else _plain(text)


def _plain(text: str) -> str:
    shown = clean(text[:_MOST_TEXT], keep_newlines=True)
    mark = fence(shown)
    return f"{mark}text\n{shown}\n{mark}\n"


def _table(raw: Any, out: Pictures) -> str | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("columns"), list) or not isinstance(raw.get("rows"), list):
        return None
    head = [str(one) for one in raw["columns"][:_MOST_COLUMNS]]
    rows = [[*row, *[None] * len(head)][: len(head)] for row in raw["rows"][:_MOST_ROWS] if isinstance(row, list)]
    more = len(raw["rows"]) - _MOST_ROWS
    return out.table(head, rows) + (f"\n*{more} more rows.*\n" if more > 0 else "") if head else None


def _confusion(raw: Any, out: Pictures) -> str | None:
    counts = raw.get("counts") if isinstance(raw, dict) else None
    if not isinstance(counts, list) or not 0 < len(counts) <= _MOST_COLUMNS:
        return None
    if any(not isinstance(row, list) or len(row) != len(counts) for row in counts):
        return None
    given = raw.get("labels")
    names = [str(one) for one in given] if isinstance(given, list) else []
    labels = [names[at] if at < len(names) else str(at) for at in range(len(counts))]
    rows = [[label, *row] for label, row in zip(labels, counts, strict=True)]
    return out.table(["true, down · predicted, across", *labels], rows, set(range(1, len(labels) + 1)))


def _curves(raw: Any, title: str, out: Pictures) -> str | None:
    inner = raw.get("curves", raw) if isinstance(raw, dict) else raw
    if isinstance(inner, dict) and isinstance(inner.get("x"), list):
        inner = [inner]
    named = inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
    lines = []
    for at, (name, one) in enumerate(list(named)[:_MOST_CURVES]):
        points = _points(one)
        if points:
            label = str(one.get("label", name)) if isinstance(inner, list) else str(name)
            lines.append(DrawnLine(label, at % HUES, [x for x, _ in points], [y for _, y in points]))
    if not lines:
        return None
    picture = draw_lines(lines, title, x_words="", height=320)
    return out.picture(title, "svg", picture.encode("utf-8", "replace"), f"Curve {markdown_text(title)}")


def _points(one: Any) -> list[tuple[float, float]]:
    """The points of a curve that can be drawn."""
    x, y = (one.get("x"), one.get("y")) if isinstance(one, dict) else (None, None)
    if not isinstance(x, list) or not isinstance(y, list) or len(x) != len(y):
        return []
    pairs = zip(x, y, strict=True)
    return [(float(a), float(b)) for a, b in pairs if _is_number(a) and _is_number(b)]


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 and math.isfinite(value)
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
