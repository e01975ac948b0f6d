"""Nothing a run holds can break the JSON or be rounded by the browser (RELIABILITY 32)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.records import Finding, FindingEvent, Media
from stepscope.views.charts import MediaRequest
from stepscope.views.context import Context
from stepscope.views.media.media import media
from stepscope.views.plain import plain
from stepscope.views.run import RunRequest, run

from .conftest import write_run

ODD = {"nan": float("nan"), "inf": [float("inf"), -float("inf")], "seed": 2**60, "ok": 0.5, "none": None, "yes": True}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            ODD,
            {"nan": "NaN", "inf": ["Infinity", "-Infinity"], "seed": str(2**60), "ok": 0.5, "none": None, "yes": True},
        ),
        ({(1, 2): b"x", 3: {4}}, {"(1, 2)": "b'x'", "3": [4]}),
        (2**53, 2**53),
        (-(2**80), str(-(2**80))),
    ],
)
def test_what_json_has_no_word_for_becomes_text(value: Any, expected: Any) -> None:
    assert plain(value) == expected


def test_a_value_without_bottom_ends() -> None:
    deep: Any = "bottom"
    for _ in range(500):
        deep = [deep]
    assert len(msgspec.json.encode(plain(deep))) < 200


def test_odd_values_reach_the_page_as_valid_json(ctx: Context, store: Path) -> None:
    finding = Finding(rule="r", severity="info", message="m", evidence=ODD)
    note = Media(key="k", step=0, time=0.0, kind="text", mime="text/plain", meta=ODD)
    events = [FindingEvent(time=1.0, finding=finding)]
    run_id = write_run(store, config=dict(ODD), events=events, media=[(note, b"x")], hardware=dict(ODD))
    for answer in (run(ctx, RunRequest(run=run_id)), media(ctx, MediaRequest(runs=[run_id], key="k"))):
        json.loads(msgspec.json.encode(answer), parse_constant=lambda name: pytest.fail(f"{name} is not valid JSON"))
    assert run(ctx, RunRequest(run=run_id)).findings[0].evidence["seed"] == str(2**60)
