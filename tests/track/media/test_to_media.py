"""Raw values are recognised for what they are, lists keep their order, and classes of one's own can join."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from PIL import Image as pillow

from stepscope.track.media import Histogram, Html, Image, Loggable, Markdown, Several, Table, Text, to_media


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("hello", "text"),
        (pillow.new("RGB", (2, 2)), "image"),
        (pd.DataFrame({"a": [1]}), "table"),
        (pl.DataFrame({"a": [1]}), "table"),
        (Histogram([1]), "histogram"),
    ],
)
def test_raw_values_are_recognised(value: Any, kind: str) -> None:
    media = to_media(value)
    assert isinstance(media, Loggable)
    assert [record.kind for record, _ in media.encode("k", 0, 0.0)] == [kind]


@pytest.mark.parametrize(
    "value", [1, 1.5, None, True, {}, [], (), [1, 2], [Image([[0]]), 3], object(), np.zeros(3), torch.zeros(3), b"x"]
)
def test_everything_else_is_left_to_the_caller(value: Any) -> None:
    assert to_media(value) is None


def test_a_list_keeps_its_order_and_knows_its_length() -> None:
    media = to_media([Image([[0]], caption="a"), "b", pillow.new("L", (1, 1))])
    assert isinstance(media, Several)
    records = [record for record, _ in media.encode("k", 4, 0.5)]
    assert [(r.index, r.count, r.kind, r.step) for r in records] == [
        (0, 3, "image", 4),
        (1, 3, "text", 4),
        (2, 3, "image", 4),
    ]
    assert records[0].meta["caption"] == "a"


def test_a_secret_in_text_is_masked_wherever_it_stands() -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"
    for media in (Text(f"x {key} y"), Markdown(key), Html(f"<b>{key}"), Table([[key]]), Image([[0]], caption=key)):
        [(record, data)] = media.encode("k", 0, 0.0)
        assert data is not None
        assert key.encode() not in data
        assert key not in str(record)


def test_a_class_of_ones_own_joins_by_a_method() -> None:
    class Molecule:
        def _stepscope_media_(self) -> Any:
            return Text("H2O")

    class Pair:
        def _stepscope_media_(self) -> Any:
            return [Molecule(), "and"]

    assert to_media(Molecule()).encode("k", 0, 0.0)[0][1] == b"H2O"  # type: ignore[union-attr]
    assert len(to_media(Pair()).encode("k", 0, 0.0)) == 2  # type: ignore[union-attr]
