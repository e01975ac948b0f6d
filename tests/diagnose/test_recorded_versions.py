"""A recording of the corpus says by itself which of its tables are too old."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from stepscope.evidence.bundle import Bundle
from stepscope.evidence.ranks import Rank, Ranks
from stepscope.evidence.registry import tables


def _recorded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("corpus_recorded", Path(__file__).parents[1] / "corpus/recorded.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("ranks", "is_old"), [([], False), ([Rank()], True)])
def test_only_a_table_that_holds_something_can_be_too_old(ranks: list[Rank], is_old: bool) -> None:
    now = tables()["ranks"].version
    bundle = Bundle({"ranks": Ranks(ranks)}, versions={"ranks": now - 1})
    said = _recorded().bring_up_to_date(bundle)
    assert said == ([f"ranks was recorded as version {now - 1} and is {now}"] if is_old else [])
    assert bundle.tables.keys() == tables().keys() - {"crash"}  # those that have come since are there, and empty
