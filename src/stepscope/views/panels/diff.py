"""The config of the runs side by side: only differences."""

from __future__ import annotations

from stepscope.views.compare.facts import FactsRequest, compare_config
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind
from stepscope.views.report.pictures import Pictures

_MOST_ROWS = 100


def pack(bound: Bound, packing: Packing) -> None:
    packing.ask("POST /api/compare/config", FactsRequest(runs=bound.runs))


def write(bound: Bound, out: Pictures) -> str:
    found = compare_config(bound.ctx, FactsRequest(runs=bound.runs))
    rows = [[row.key, *row.values] for section in found.sections for row in section.rows if row.differs]
    same = sum(section.same for section in found.sections)
    if not rows:
        return f"*All {same} values of the config are the same.*\n" if same else "*The runs have no config.*\n"
    text = out.table(["config", *(column.label for column in found.compared.columns)], rows[:_MOST_ROWS])
    return text + (f"\n*{same} more are the same everywhere.*\n" if same else "")


PANEL = PanelKind("diff", "The config side by side, only what differs", Options, pack, write)
