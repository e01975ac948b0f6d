"""Which run is meant, and what is said when that is not clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import Ambiguous, NotFound
from stepscope.runs.catalogue.find_run import find_run

from .making import LONG_AGO, make_run


@pytest.fixture
def runs(store: Path) -> dict[str, Path]:
    return {
        "old": make_run(store, "base line", project="vae", created=LONG_AGO),
        "twin": make_run(store, "twin", project="vae", created=LONG_AGO + 10_000_000),
        "other twin": make_run(store, "twin", project="gan", created=LONG_AGO + 20_000_000),
        "newest": make_run(store, "last one", project="gan", created=LONG_AGO + 30_000_000),
    }


def test_a_run_is_found_by_all_its_names(store: Path, runs: dict[str, Path]) -> None:
    run_id = runs["old"].name
    for ref in (str(runs["old"]), runs["old"], run_id, run_id[:10], run_id[:10].lower(), "base line", "vae/base line"):
        assert find_run(ref, store) == runs["old"], ref
    assert find_run("last", store) == find_run("@1", store) == runs["newest"]
    assert find_run("@4", store) == runs["old"]
    assert find_run("gan/twin", store) == runs["other twin"]


def test_a_name_of_two_runs_lists_both(store: Path, runs: dict[str, Path]) -> None:
    with pytest.raises(Ambiguous) as caught:
        find_run("twin", store)
    text = str(caught.value)
    assert "'twin' matches 2 runs" in text
    assert runs["twin"].name in text
    assert "gan/twin" in text


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("base lin", "did you mean 'base line'"),
        ("TWI", "did you mean 'twin'"),
        ("zzz", "the store has 'last one' and 'twin' and 'base line'"),
        ("@5", "@1 is the newest, @4 the oldest"),
        ("@0", "@1 is the newest"),
        ("01", "there is no run '01'"),
    ],
)
def test_a_name_of_no_run_says_what_is_close(store: Path, runs: dict[str, Path], ref: str, message: str) -> None:
    with pytest.raises(NotFound, match=message):
        find_run(ref, store)


def test_a_folder_that_is_no_run_says_so(store: Path, runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="is not a run folder"):
        find_run(str(tmp_path), store)


def test_an_empty_store_says_how_to_fill_it(store: Path) -> None:
    with pytest.raises(NotFound, match=r"stepscope\.init"):
        find_run("x", store)
