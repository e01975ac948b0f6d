"""A chart of one or several metrics over the steps of the runs."""

from __future__ import annotations

from stepscope.errors import NotFound, UsageError
from stepscope.report.draw_lines import DrawnLine, draw_lines
from stepscope.runs.points.downsample import Buckets
from stepscope.runs.query.fields import RUN_FIELDS, Field, field_key
from stepscope.views.charts import Smoothing
from stepscope.views.compare.columns import Compared, CompareRequest, columns_of
from stepscope.views.compare.lines import GroupLinesRequest, LineGroup, compare_lines
from stepscope.views.formula.series import is_formula, read_formula, series_named
from stepscope.views.hues import HUES
from stepscope.views.panels._asked import folders, keys_of, need_keys, smooth_words
from stepscope.views.report.lines import packed_group, smoothing_of
from stepscope.views.report.pack import Packing
from stepscope.views.report.panel import Bound, Options, PanelKind, names_of
from stepscope.views.report.pictures import Pictures

MOST_KEYS = 20
_WORDS = {"relative": "time since the start", "wall": "time"}
_BUCKETS = 600
GROUP_BUCKETS = 1000


class ChartOptions(Options, kw_only=True):
    key: str | list[str] = ""
    """The metric, or several."""
    x: str = "step"
    """step, relative, wall, or the name of a series."""
    smooth: str = "none"
    log: bool = False
    lo: float | None = None
    hi: float | None = None
    min: float | None = None
    max: float | None = None
    group: str = ""
    """A config key: runs that share its value become one line, the mean, with a band."""


def check(bound: Bound) -> None:
    options: ChartOptions = bound.options
    known = keys_of(bound)
    formulas = [key for key in names(options) if is_formula(key) and key not in known]
    for key in formulas:
        read_formula(key)
    if len(formulas) < len(names(options)) or not formulas:
        need_keys(bound, [key for key in names(options) if key not in formulas], known)
    if len(names(options)) > MOST_KEYS:
        raise UsageError(f"a chart draws up to {MOST_KEYS} metrics, not {len(names(options))}; use several charts")
    if options.x not in ("step", "relative", "wall", *known) and not is_formula(options.x):
        raise UsageError(f"x cannot be {options.x!r}; expected step, relative, wall, or a metric the runs have")
    smooth_words(options.smooth)
    if options.group:
        _groups(bound)


def pack(bound: Bound, packing: Packing) -> None:
    options: ChartOptions = bound.options
    if options.group:
        packing.ask("POST /api/compare/columns", CompareRequest(runs=bound.runs, by=[field_of(options.group)]))
        members = {column.id: column.runs for column in _groups(bound).columns}
        for key in names(options):
            asked = _request(bound, key, GROUP_BUCKETS)
            smoothed = {line.run: line for line in compare_lines(bound.ctx, asked).lines}
            asked.smoothing = Smoothing()  # a reader may turn the smoothing off
            for line in compare_lines(bound.ctx, asked).lines:
                packed = packed_group(line, smoothed.get(line.run), members[line.run], options.x, options.smooth)
                packing.groups.append(packed)
        return
    for run in bound.runs:
        for key in names(options):
            packing.line(run, key, options.x, options.smooth)


def write(bound: Bound, out: Pictures) -> str:
    """One image per metric."""
    return "\n".join(_picture(bound, key, out) for key in names(bound.options))


def _picture(bound: Bound, key: str, out: Pictures) -> str:
    options: ChartOptions = bound.options
    alone = len(names(options)) == 1
    title = (bound.title if alone else f"{bound.title}: {key}") if bound.title else key
    picture = draw_lines(
        _grouped(bound, key) if options.group else _drawn(bound, key, out),
        title,
        x_words=_WORDS.get(options.x, options.x),
        log=options.log,
        x_range=(options.lo, options.hi),
        y_range=(options.min, options.max),
        height=max(200, min(options.height or 340, 1200)),
    )
    return out.picture(title, "svg", picture.encode("utf-8", "replace"), f"Chart of {key}")


def names(options: ChartOptions) -> list[str]:
    """A key given as text is a single key; several are a list."""
    return [options.key] if isinstance(options.key, str) and options.key else names_of(options.key)


def _drawn(bound: Bound, key: str, out: Pictures) -> list[DrawnLine]:
    options: ChartOptions = bound.options
    smoothing = smoothing_of(options.smooth)
    lines = []
    used: set[int] = set()
    for folder in folders(bound):
        try:
            series = series_named(folder, key)
            by_name = options.x not in ("step", "relative", "wall")
            axis = series_named(folder, options.x, series.rank) if by_name else options.x
        except NotFound:
            continue
        hue = _free(out.hues.get(folder.id, 0), used)
        wanted = (smoothing.kind, smoothing.amount)
        seen = series.downsample(_BUCKETS, axis, options.lo, options.hi, smoothing=wanted)
        lines.append(_line(folder.name, hue, seen))
    return lines


def _line(name: str, hue: int, seen: Buckets) -> DrawnLine:
    smooth = seen.smooth
    spread = bool((seen.low != seen.high).any()) and smooth is None
    odd = (seen.nan + seen.pos_inf + seen.neg_inf) > 0
    return DrawnLine(
        name=name,
        hue=hue,
        x=seen.x.tolist(),
        value=(seen.value if smooth is None else smooth).tolist(),
        low=seen.low.tolist() if spread else None,
        high=seen.high.tolist() if spread else None,
        faint=None if smooth is None else seen.value.tolist(),
        bad=seen.x[odd].tolist(),
    )


def _free(hue: int, used: set[int]) -> int:
    """The run's own hue, else with a dash, as the app draws it."""
    while hue in used and hue < 5 * HUES:
        hue += HUES
    used.add(hue)
    return hue


def _groups(bound: Bound) -> Compared:
    """The groups of runs."""
    found = columns_of(bound.ctx, bound.runs, [field_of(bound.options.group)])
    if all(value is None for column in found.columns for value in column.values):
        raise UsageError(
            f"none of the runs has {field_of(bound.options.group)} to group by; name a config key they have"
        )
    return found


def field_of(key: str) -> str:
    """A config key may be given without its prefix.

    >>> field_of("lr"), field_of("config.lr"), field_of("group")
    ('config.lr', 'config.lr', 'group')
    """
    return key if "." in key or key in RUN_FIELDS else field_key(Field("config", key))


def _request(bound: Bound, key: str, buckets: int) -> GroupLinesRequest:
    options: ChartOptions = bound.options
    return GroupLinesRequest(
        groups=[LineGroup(id=column.id, runs=column.runs) for column in _groups(bound).columns],
        keys=[key],
        x=options.x,
        buckets=buckets,
        smoothing=smoothing_of(options.smooth),
    )


def _grouped(bound: Bound, key: str) -> list[DrawnLine]:
    labels = {column.id: column.label for column in _groups(bound).columns}
    return [
        DrawnLine(
            name=labels.get(line.run, line.run),
            hue=at % HUES,
            x=line.x,
            value=line.value if line.smooth is None else line.smooth,
            low=line.low,
            high=line.high,
            faint=None if line.smooth is None else line.value,
        )
        for at, line in enumerate(compare_lines(bound.ctx, _request(bound, key, _BUCKETS)).lines)
    ]


PANEL = PanelKind("chart", "One or several metrics over the steps", ChartOptions, pack, write, check)
