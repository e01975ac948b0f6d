"""A table that keeps something else has another version."""

from __future__ import annotations

import copy
import json

from tests.evidence.schemas import GOLDEN, advice, changes, reached, schemas_now


def test_a_table_that_keeps_something_else_has_another_version() -> None:
    now = schemas_now()
    changed = changes(json.loads(GOLDEN.read_text()), now)
    assert not changed, advice(changed, now)


def test_what_every_version_keeps_is_written_down() -> None:
    assert json.loads(GOLDEN.read_text()) == schemas_now(), "run tests/evidence/schemas.py and commit schemas.json"


def test_a_new_field_needs_a_new_version_of_every_table_that_leads_to_it() -> None:
    before = schemas_now()
    now = copy.deepcopy(before)
    now["records"]["GradientClip"]["norm"] = "float"
    changed = changes(before, now)
    assert changed == {"gradient_clips": ["GradientClip.norm is new"]}
    assert '@table("gradient_clips", version=2)' in advice(changed, now)
    now["tables"]["gradient_clips"]["version"] += 1
    assert changes(before, now) == {}


def test_a_type_that_changed_and_a_field_that_is_gone_are_named() -> None:
    before = schemas_now()
    now = copy.deepcopy(before)
    now["records"]["WeightUpdate"]["step"] = "float"
    del now["records"]["WeightUpdate"]["lr"]
    assert changes(before, now) == {
        "weight_updates": ["WeightUpdate.lr is gone", "WeightUpdate.step is float, not int"]
    }


def test_types_are_read_from_dataclasses_and_from_constructors() -> None:
    records = schemas_now()["records"]
    assert records["WeightUpdate"]["lr"] == "float | None"
    assert (records["ModeCall"]["module"], records["ModeCall"]["backwards"]) == ("Module | None", "int")
    assert {"Module", "Parameter", "Place"} <= reached("ModeCall", records)
