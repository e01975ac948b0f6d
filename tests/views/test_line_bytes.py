"""Lines as bytes: the same numbers as in JSON, in far fewer bytes, and damaged by nothing that a series can hold."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.views.charts import SeriesRequest, Smoothing
from stepscope.views.context import Context
from stepscope.views.line_bytes import line_bytes
from stepscope.views.series import series

from .conftest import write_run

COLUMNS = ("x", "value", "low", "high", "smooth")


def unpacked(data: bytes) -> tuple[dict[str, Any], list[dict[str, list[float] | None]]]:
    """Head and columns, read by the letter of the module's description."""
    assert data[:4] == b"SSLN"
    end = 8 + int.from_bytes(data[4:8], "little")
    assert end % 8 == 0
    head = json.loads(data[8:end], parse_constant=lambda name: pytest.fail(f"{name} is not valid JSON"))
    lines: list[dict[str, list[float] | None]] = []
    for numbers, *places in head["columns"]:
        found: dict[str, list[float] | None] = {}
        for name, at, width in zip(COLUMNS, places[::2], places[1::2], strict=True):
            assert at % 8 == 0
            letter = {4: "f", 8: "d", 0: ""}[width]
            found[name] = list(struct.unpack_from(f"<{numbers}{letter}", data, end + at)) if letter else None
        lines.append(found)
    return head, lines


def both(ctx: Context, **request: Any) -> tuple[list[dict[str, Any]], dict[str, Any], list[Any], bytes]:
    asked = SeriesRequest(**request)
    data = line_bytes(ctx, asked).body or b""
    plain = json.loads(msgspec.json.encode(series(ctx, asked)))
    return plain["lines"], *unpacked(data), data


def test_the_bytes_hold_what_the_json_holds_in_a_third_of_the_room(ctx: Context, store: Path) -> None:
    values = [math.nan if step == 7 else math.sin(step) + (50.0 if step == 500 else 0.0) for step in range(3000)]
    run = write_run(store, series={"loss": values})
    asked: dict[str, Any] = {"keys": ["loss"], "buckets": 100, "smoothing": Smoothing("ema", 0.6)}
    [plain], head, [packed], data = both(ctx, runs=[run], **asked)
    assert len(data) < 0.45 * len(json.dumps(plain))
    names = ("x", "value", "smooth")
    assert [packed[name] for name in names] == [plain[name] for name in names]
    extremes = zip(packed["value"], packed["low"], packed["high"], plain["low"], plain["high"], strict=True)
    for value, below, above, low, high in extremes:
        assert (value - below, value + above) == pytest.approx((low, high), rel=1e-6)
    assert {**head["lines"][0], **{name: plain[name] for name in COLUMNS}} == plain


def test_lines_over_the_same_x_share_its_column(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"a": [0.1] * 101, "b": [0.2] * 101})
    _, head, [one, two], data = both(ctx, runs=[run], keys=["a", "b"], buckets=1000)
    assert one["x"] == two["x"] == list(range(101))
    assert head["columns"][0][1] == head["columns"][1][1]
    assert one["low"] is None  # every point stands for itself
    assert len(data) < 101 * (4 + 8 + 8) + 1000


def test_what_is_not_finite_too_large_or_not_there_is_told(ctx: Context, store: Path) -> None:
    run = write_run(store, 'odd "name"', series={"all": [math.nan, math.inf, -math.inf], "big": [1e300, -1e300] * 9})
    plain, head, [odd, big], _ = both(ctx, runs=[run, "0" * 26], keys=["all", "big", "none"], buckets=3)
    assert [math.isnan(value) for value in odd["value"]] == [True] * 3
    assert (head["lines"][0]["nan"], head["lines"][0]["inf"]) == ([0], [1, -3])
    assert [value + above for value, above in zip(big["value"], big["high"], strict=True)] == plain[1]["high"]
    assert head["missing"][0].startswith("there is no run '000")
    assert unpacked(line_bytes(ctx, SeriesRequest(runs=[], keys=[])).body or b"")[0]["lines"] == []


def test_a_line_is_kept_in_each_form_by_itself(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0, 2.0]})
    first = line_bytes(ctx, SeriesRequest(runs=[run], keys=["loss"])).body
    [plain], *_, again = both(ctx, runs=[run], keys=["loss"])
    assert again == first
    assert plain["value"] == [1.0, 2.0]
