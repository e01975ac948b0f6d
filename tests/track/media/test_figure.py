"""Figures: matplotlib as PNG, plotly as JSON, and the user's figure left as it was."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image as pillow

from stepscope.errors import UsageError
from stepscope.track.media import Figure, Image, to_media

mpl.use("Agg")
import matplotlib.pyplot as plt
import plotly.graph_objects as go


@pytest.fixture
def figure() -> Any:
    made, axes = plt.subplots(figsize=(4, 3), dpi=80)
    axes.plot([1, 2, 3])
    yield made
    plt.close(made)


def test_a_matplotlib_figure_at_its_own_dpi(figure: Any) -> None:
    [(record, data)] = Figure(figure, caption="loss").encode("k", 0, 0.0)
    assert (record.kind, record.mime) == ("figure", "image/png")
    assert record.meta == {"width": 320, "height": 240, "caption": "loss"}
    assert data is not None
    assert pillow.open(io.BytesIO(data)).size == (320, 240)


def test_the_figure_is_neither_closed_nor_changed(figure: Any) -> None:
    before = (figure.dpi, figure.canvas, tuple(figure.get_size_inches()), figure.get_facecolor())
    Figure(figure)
    assert (figure.dpi, figure.canvas, tuple(figure.get_size_inches()), figure.get_facecolor()) == before
    assert plt.fignum_exists(figure.number)


def test_it_shows_what_it_was_when_logged(figure: Any) -> None:
    made = Figure(figure)
    first = made.encode("k", 0, 0.0)
    figure.axes[0].plot([3, 2, 1])
    assert made.encode("k", 0, 0.0) == first
    assert Figure(figure).encode("k", 0, 0.0) != first


def test_axes_stand_for_their_figure(figure: Any) -> None:
    assert Figure(figure.axes[0]).encode("k", 0, 0.0) == Figure(figure).encode("k", 0, 0.0)


def test_a_figure_can_be_an_image(figure: Any) -> None:
    [(record, _)] = Image(figure).encode("k", 0, 0.0)
    assert (record.kind, record.meta) == ("image", {"width": 320, "height": 240})


def test_a_figure_without_pyplot() -> None:
    from matplotlib.figure import Figure as Bare

    bare = Bare(figsize=(1, 1), dpi=50)
    bare.subplots().bar([1], [2])
    assert to_media(bare).encode("k", 0, 0.0)[0][0].meta == {"width": 50, "height": 50}  # type: ignore[union-attr]


def test_a_plotly_figure_is_plain_json() -> None:
    figure = go.Figure(go.Scatter(x=np.arange(3), y=np.array([1.0, np.nan, np.inf])), {"width": 300, "title": "t"})
    figure.add_heatmap(z=np.eye(2))
    [(record, data)] = Figure(figure).encode("k", 0, 0.0)
    assert (record.kind, record.mime) == ("figure", "application/vnd.plotly.v1+json")
    assert record.meta == {"width": 300}
    assert data is not None
    tree = json.loads(data)
    assert tree["data"][0]["x"] == [0, 1, 2]
    assert tree["data"][0]["y"] == [1.0, None, None]
    assert tree["data"][1]["z"] == [[1, 0], [0, 1]]
    assert tree["layout"]["title"]["text"] == "t"


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(UsageError, match=r"a list is not a figure.*plt\.gcf\(\)"):
        Figure([1]).encode("k", 0, 0.0)
    huge = plt.figure(figsize=(500, 500), dpi=100)
    with pytest.raises(UsageError, match="50,000 x 50,000 pixels"):
        Figure(huge).encode("k", 0, 0.0)
    plt.close(huge)


def test_media_imports_no_package_of_the_user() -> None:
    code = """
import sys
from stepscope.track import media
import tempfile, pathlib
heavy = {"torch", "PIL", "matplotlib", "pandas", "polars", "plotly", "numpy"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
things = [media.Image([[0, 1], [1, 0]]), media.Histogram([1, 2]), media.Table([{"a": 1}]), media.Text("x"),
          media.Video([[[0, 1]], [[1, 0]]]), media.Audio([0.0, 1.0], 8000), media.PRCurve([0, 1], [0.1, 0.9]),
          media.ConfusionMatrix([0, 1], [1, 1]), media.Embedding([[1.0, 2.0]], ["a"])]
for thing in things:
    thing.encode("k", 0, 0.0)
    media.to_media(thing)
assert not (heavy - {"numpy"}) & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
