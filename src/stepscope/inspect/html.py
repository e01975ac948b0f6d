"""A table as HTML for notebooks: everything escaped, no scripts, colors for light and dark pages."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from stepscope.inspect.columns import COLUMNS
from stepscope.inspect.printing import cell_text, shown_columns
from stepscope.plain_text import clean

if TYPE_CHECKING:
    from stepscope.inspect.table import Row, Table

_STYLE = "border-collapse:collapse;font-size:12px;font-variant-numeric:tabular-nums"
_MOST_ROWS = 2000


def table_html(table: Table) -> str:
    names, same = shown_columns(table)
    head = "".join(_tag("th", COLUMNS[name].title, name, COLUMNS[name].meaning) for name in names)
    body = "".join(_row(row, names) for row in table.rows[:_MOST_ROWS])
    parts = [f'<div class="stepscope"><div><b>{escape(clean(table.title))}</b> {escape(same)}</div>']
    parts.append(f'<table style="{_STYLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody>')
    if table.totals:
        cells = [_tag("th", table.foot, names[0])]
        cells += [_tag("th", cell_text(table.total_row, name, ""), name) for name in names[1:]]
        parts.append(f"<tfoot><tr>{''.join(cells)}</tr></tfoot>")
    parts.append("</table>")
    notes = list(table.notes)
    if len(table.rows) > _MOST_ROWS:
        notes.append(f"{len(table.rows) - _MOST_ROWS} more rows; to_csv() and to_pandas() return all")
    parts += [f"<div><small>{escape(clean(line))}</small></div>" for note in notes for line in note.split("\n")]
    return "".join(parts) + "</div>"


def _row(row: Row, names: list[str]) -> str:
    mark = f" ({clean(row.mark)})" if row.mark else ""
    first = _tag("td", clean(row.label) + mark, names[0], indent=row.level)
    rest = "".join(_tag("td", cell_text(row, name), name) for name in names[1:])
    colour = ' style="color:#c62828"' if "red" in row.style else ""
    return f"<tr{colour}>{first}{rest}</tr>"


def _tag(tag: str, text: str, name: str, title: str = "", indent: int = 0) -> str:
    side = "right" if COLUMNS[name].numeric else "left"
    pad = f";padding-left:{indent * 16 + 4}px" if indent else ""
    hint = f' title="{escape(title, quote=True)}"' if title else ""
    return f'<{tag}{hint} style="text-align:{side}{pad}">{escape(text)}</{tag}>'
