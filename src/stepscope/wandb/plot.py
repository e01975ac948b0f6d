"""`wandb.plot`: charts from tables and predictions. Stored as data, drawn by the browser app itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from stepscope import fence
from stepscope.track import media
from stepscope.track.config import plain
from stepscope.track.media.figure import PLOTLY_MIME
from stepscope.track.media.loggable import Encoded, one
from stepscope.track.messages import say_once
from stepscope.wandb.errors import UsageError
from stepscope.wandb.tables import Table

MAX_POINTS = 20_000


class CustomChart:
    """A chart to log: `wandb.log({"errors": wandb.plot.bar(table, "class", "errors")})`."""

    def __init__(self, drawn: Any, table: Table | None = None) -> None:
        self.table = table
        self._drawn = drawn

    def _stepscope_media_(self) -> Any:
        return self._drawn

    def _wandb_beside_(self) -> dict[str, Any]:
        return {} if self.table is None else {"_table": self.table}


class Traces:
    """A figure given as its traces, in a form that every plotly reader accepts."""

    def __init__(self, traces: list[dict[str, Any]], title: str, x: str, y: str) -> None:
        layout = {"title": {"text": title}, "xaxis": {"title": {"text": x}}, "yaxis": {"title": {"text": y}}}
        self._data = msgspec.json.encode({"data": traces, "layout": layout})

    def encode(self, key: str, step: int, time: float) -> Encoded:
        return one(key, step, time, kind="figure", mime=PLOTLY_MIME, data=self._data, meta={})


def _chart(traces: list[dict[str, Any]], title: str, x: str, y: str, table: Table | None) -> CustomChart:
    return CustomChart(Traces(traces, title, x, y), table)


def _only_table(table: Table, where: str, *names: str | None) -> CustomChart | None:
    """What is logged where the table has not all columns to draw: W&B accepts that too, and draws nothing."""
    if not isinstance(table, Table):
        raise UsageError(f"wandb.plot.{where}() takes a wandb.Table, not a {type(table).__name__}")
    missing = [name for name in names if name is not None and name not in table.columns]
    if not missing:
        return None
    say_once(
        ("plot", where, *missing),
        f"wandb.plot.{where}(): the table has no column {', '.join(map(repr, missing))} (it has "
        f"{', '.join(map(repr, table.columns))}); only the table is stored",
    )
    return CustomChart(table._stepscope_media_())


def _column(table: Table, name: str) -> list[Any]:
    return [_value(value) for value in table.get_column(name)[:MAX_POINTS]]


def _value(value: Any) -> Any:
    made = plain(value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value)
    return None if isinstance(value, float) and not math.isfinite(value) else made


def _values(values: Iterable[Any]) -> list[Any]:
    return [_value(value) for value in values]


def line(
    table: Table, x: str, y: str, stroke: str | None = None, title: str = "", split_table: bool = False
) -> CustomChart:
    """A line of one column over another; one line for each value of the column `stroke`."""
    if (stored := _only_table(table, "line", x, y, stroke)) is not None:
        return stored
    xs, ys = _column(table, x), _column(table, y)
    names = [y] * len(xs) if stroke is None else [str(name) for name in _column(table, stroke)]
    traces = []
    for name in dict.fromkeys(names):
        points = [(a, b) for a, b, c in zip(xs, ys, names, strict=True) if c == name]
        if all(isinstance(a, int | float) for a, _ in points):
            points.sort(key=lambda point: point[0])
        traces.append(_trace("lines", name, [a for a, _ in points], [b for _, b in points]))
    return _chart(traces, title, x, y, table)


def _trace(mode: str, name: str, xs: list[Any], ys: list[Any]) -> dict[str, Any]:
    return {"type": "scatter", "mode": mode, "name": name, "x": xs, "y": ys}


def scatter(table: Table, x: str, y: str, title: str = "", split_table: bool = False) -> CustomChart:
    """One point per row."""
    if (stored := _only_table(table, "scatter", x, y)) is not None:
        return stored
    traces = [_trace("markers", y, _column(table, x), _column(table, y))]
    return _chart(traces, title, x, y, table)


def bar(table: Table, label: str, value: str, title: str = "", split_table: bool = False) -> CustomChart:
    """One bar per row, named by the column `label`."""
    if (stored := _only_table(table, "bar", label, value)) is not None:
        return stored
    labels = [str(name) for name in _column(table, label)]
    traces = [{"type": "bar", "name": value, "x": labels, "y": _column(table, value)}]
    return _chart(traces, title, label, value, table)


def histogram(table: Table, value: str, title: str = "", split_table: bool = False) -> CustomChart:
    """The distribution of a column's values."""
    if (stored := _only_table(table, "histogram", value)) is not None:
        return stored
    import numpy as np

    values = [each for each in _column(table, value) if isinstance(each, int | float)]
    counts, edges = np.histogram(values, bins=min(64, max(1, math.ceil(math.sqrt(len(values))))))
    middles = (edges[:-1] + edges[1:]) / 2
    traces = [{"type": "bar", "name": value, "x": middles.tolist(), "y": counts.tolist()}]
    return _chart(traces, title, value, "count", table)


def line_series(
    xs: Iterable[Any],
    ys: Iterable[Iterable[Any]],
    keys: Iterable[str] | None = None,
    title: str = "",
    xname: str = "x",
    split_table: bool = False,
) -> CustomChart:
    """Several lines, over one common list of x values or one each."""
    lines = [_values(line) for line in ys]
    given = list(xs)
    is_nested = bool(given) and isinstance(given[0], Iterable) and not isinstance(given[0], str)
    over = [_values(each) for each in given] if is_nested else [_values(given)] * len(lines)
    names = [f"key_{at}" for at in range(len(lines))] if keys is None else [str(key) for key in keys]
    if len(over) != len(lines) or len(names) != len(lines):
        raise UsageError(
            f"wandb.plot.line_series() got {len(over)} xs, {len(lines)} ys and {len(names)} keys; give equally many"
        )
    traces = [_trace("lines", name, x, y) for name, x, y in zip(names, over, lines, strict=True)]
    rows = [[x, name, y] for name, a, b in zip(names, over, lines, strict=True) for x, y in zip(a, b, strict=False)]
    return _chart(traces, title, xname, "", Table(columns=["step", "lineKey", "lineVal"], data=rows))


def confusion_matrix(
    probs: Sequence[Sequence[float]] | None = None,
    y_true: Sequence[Any] | None = None,
    preds: Sequence[Any] | None = None,
    class_names: Sequence[str] | None = None,
    title: str = "Confusion Matrix Curve",
    split_table: bool = False,
) -> CustomChart:
    """True classes down, predicted ones across; from predictions, or from a probability for each class."""
    if (probs is None) == (preds is None):
        raise UsageError("wandb.plot.confusion_matrix() takes either preds= or probs=")
    if y_true is None:
        raise UsageError("wandb.plot.confusion_matrix() needs y_true=, the true classes")
    if probs is not None:
        import numpy as np

        preds = np.argmax(np.asarray(probs), axis=1).tolist()
    return CustomChart(media.ConfusionMatrix(y_true, preds, class_names))


def pr_curve(
    y_true: Any = None,
    y_probas: Any = None,
    labels: list[str] | None = None,
    classes_to_plot: list[Any] | None = None,
    interp_size: int = 21,
    title: str = "Precision-Recall Curve",
    split_table: bool = False,
) -> CustomChart:
    """Precision over recall, exact at every threshold, for each class."""
    return CustomChart(_picked(media.PRCurve, y_true, y_probas, labels, classes_to_plot))


def roc_curve(
    y_true: Any,
    y_probas: Any = None,
    labels: list[str] | None = None,
    classes_to_plot: list[Any] | None = None,
    title: str = "ROC Curve",
    split_table: bool = False,
) -> CustomChart:
    """True over false positive rate, exact at every threshold, for each class."""
    return CustomChart(_picked(media.ROCCurve, y_true, y_probas, labels, classes_to_plot))


def _picked(make: Any, y_true: Any, y_probas: Any, labels: Any, classes: list[Any] | None) -> Any:
    curves = make(y_true, y_probas, labels)
    if classes is not None:
        wanted = {labels[each] if labels and isinstance(each, int) else str(each) for each in classes}
        fence.call("picking classes to plot", curves.keep_only, wanted)
    return curves


def plot_table(
    vega_spec_name: str,
    data_table: Table,
    fields: Mapping[str, Any],
    string_fields: Mapping[str, Any] | None = None,
    split_table: bool = False,
) -> CustomChart:
    """A chart by the name of one of W&B's presets; others are stored as their table."""
    title = str((string_fields or {}).get("title", ""))
    name = vega_spec_name.rpartition("wandb/")[2].partition("/")[0]
    f = dict(fields)
    columns = {"line": ("x", "y"), "scatter": ("x", "y"), "bar": ("label", "value"), "histogram": ("value",)}
    missing = [one for one in columns.get(name, ()) if one not in f]
    if missing:
        needed = ", ".join(missing)
        say_once(
            ("plot_table", name),
            f"wandb.plot_table({vega_spec_name!r}) needs the fields {needed}; only the table is stored",
        )
        return CustomChart(data_table._stepscope_media_())
    if name == "line":
        return line(data_table, f["x"], f["y"], f.get("stroke"), title)
    if name == "scatter":
        return scatter(data_table, f["x"], f["y"], title)
    if name == "bar":
        return bar(data_table, f["label"], f["value"], title)
    if name == "histogram":
        return histogram(data_table, f["value"], title)
    return CustomChart(data_table._stepscope_media_())
