"""Figures: matplotlib's as PNG, plotly's as JSON. The user's figure is neither closed nor changed."""

from __future__ import annotations

import base64
import io
from typing import Any

import msgspec

from stepscope.errors import UsageError
from stepscope.track.media import pixels
from stepscope.track.media.loggable import Encoded, comes_from, harmless, one
from stepscope.track.media.sniff import image_size

PLOTLY_MIME = "application/vnd.plotly.v1+json"
MAX_PLOTLY_BYTES = 64 << 20

Rendered = tuple[bytes, str, dict[str, Any]]


@harmless
class Figure:
    """A matplotlib or plotly figure to log: `run.log({"roc": stepscope.Figure(fig)})`, or just `{"roc": fig}`.

    It is drawn at once, because figures are usually changed or closed right after.
    """

    def __init__(self, figure: Any, caption: str | None = None) -> None:
        self.caption = caption
        if comes_from(figure, "matplotlib", "FigureBase", "Axes"):
            self._rendered = render(figure)
        elif comes_from(figure, "plotly", "BaseFigure"):
            self._rendered = _plotly(figure)
        else:
            raise UsageError(
                f"a {type(figure).__name__} is not a figure; expected a matplotlib Figure or Axes, or a plotly Figure "
                "(for pyplot, pass plt.gcf())"
            )

    def encode(self, key: str, step: int, time: float) -> Encoded:
        data, mime, meta = self._rendered
        return one(key, step, time, kind="figure", mime=mime, data=data, meta=meta, caption=self.caption)


def is_figure(value: object) -> bool:
    return comes_from(value, "matplotlib", "Figure") or comes_from(value, "plotly", "BaseFigure")


def render(figure: Any) -> Rendered:
    """A matplotlib figure as PNG at its own dpi."""
    while not comes_from(figure, "matplotlib", "Figure"):  # Axes and sub-figures belong to one
        figure = figure.figure
    width, height = (round(inches * figure.dpi) for inches in figure.get_size_inches())
    pixels.check_pixels(width, height, "a figure")
    buffer = io.BytesIO()
    # dpi="figure" is the figure's own dpi, even on a canvas that a HiDPI screen has scaled.
    figure.savefig(buffer, format="png", dpi="figure")
    data = buffer.getvalue()
    size = image_size(data, "image/png") or (width, height)
    return data, "image/png", {"width": size[0], "height": size[1]}


def _plotly(figure: Any) -> Rendered:
    return plotly_tree(msgspec.json.decode(figure.to_json(validate=False)))


def plotly_tree(figure: Any) -> Rendered:
    """A plotly figure given as the JSON that plotly writes."""
    tree = _plain(figure)
    data = msgspec.json.encode(tree)
    if len(data) > MAX_PLOTLY_BYTES:
        raise UsageError(
            f"the plotly figure is {len(data):,} bytes of JSON, more than the maximum of "
            f"{MAX_PLOTLY_BYTES:,}; plot fewer points"
        )
    layout = tree.get("layout", {})
    meta = {side: layout[side] for side in ("width", "height") if isinstance(layout.get(side), (int, float))}
    return data, PLOTLY_MIME, meta


def _plain(node: Any) -> Any:
    """Plotly 6 packs arrays as base64; lists are readable by every version and simple reader."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("bdata"), str) and isinstance(node.get("dtype"), str):
        import numpy as np

        array = np.frombuffer(base64.b64decode(node["bdata"]), dtype=np.dtype(node["dtype"]))
        shape = [int(n) for n in str(node.get("shape", array.size)).split(",")]
        return _finite(array.reshape(shape).tolist())
    return {key: _plain(value) for key, value in node.items()}


def _finite(values: Any) -> Any:
    if isinstance(values, list):
        return [_finite(value) for value in values]
    return None if isinstance(values, float) and (values != values or abs(values) == float("inf")) else values
