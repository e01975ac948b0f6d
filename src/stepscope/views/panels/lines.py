"""Several metrics or formulas in one chart, on one axis or two."""

from __future__ import annotations

from stepscope.errors import UsageError
from stepscope.views.formula.series import is_formula, read_formula
from stepscope.views.panels import chart
from stepscope.views.panels._asked import keys_of, need_keys, smooth_words
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind, names_of
from stepscope.views.report.pictures import Pictures

MOST_KEYS = 20


class LinesOptions(Options, kw_only=True):
    y: str | list[str] = ""
    """Metrics, or formulas such as `= 1 - val/acc`."""
    right: str | list[str] = ""
    """Those on the right axis."""
    x: str = "step"
    """step, relative, wall, a metric or a formula."""
    smooth: str = "none"
    log: bool = False


def check(bound: Bound) -> None:
    options: LinesOptions = bound.options
    keys = _keys(options)
    if len(keys) > MOST_KEYS:
        raise UsageError(f"lines draws up to {MOST_KEYS} metrics, not {len(keys)}; use several panels")
    known = keys_of(bound)
    for key in [*keys, options.x]:
        if is_formula(key) and key not in known:
            read_formula(key)
    plain = [key for key in keys if not is_formula(key) or key in known]
    if plain or not keys:
        need_keys(bound, plain, known, "y")
    if options.x not in ("step", "relative", "wall", *known) and not is_formula(options.x):
        raise UsageError(
            f"x cannot be {options.x!r}; expected step, relative, wall, a metric the runs have, or a formula"
        )
    smooth_words(options.smooth)


def pack(bound: Bound, packing: Packing) -> None:
    for run in bound.runs:
        for key in _keys(bound.options):
            packing.line(run, key, bound.options.x, bound.options.smooth)


def write(bound: Bound, out: Pictures) -> str:
    """One image per metric: Markdown has no room for a second axis."""
    options: LinesOptions = bound.options
    same = chart.ChartOptions(key=_keys(options), x=options.x, smooth=options.smooth, log=options.log)
    same.title, same.height = options.title, options.height
    return chart.write(Bound(bound.ctx, bound.kind, same, bound.entries), out)


def _keys(options: LinesOptions) -> list[str]:
    """A key given as text is a single key; several are a list."""
    return [
        key
        for given in (options.y, options.right)
        for key in ([given] if isinstance(given, str) else names_of(given))
        if key
    ]


PANEL = PanelKind("lines", "Several metrics or formulas in one chart", LinesOptions, pack, write, check)
