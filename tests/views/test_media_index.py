"""The keys of the Media page, their runs and their steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import UsageError
from stepscope.records import Media
from stepscope.views.context import Context
from stepscope.views.media.index import MAX_STEPS, MediaIndexRequest, media_index

from .conftest import histogram, write_run


def item(key: str, step: int, kind: str = "image", index: int = 0, count: int = 1) -> tuple[Media, bytes]:
    return Media(key=key, step=step, time=float(step), kind=kind, mime="image/png", index=index, count=count), b"x"


def test_a_key_lists_its_runs_and_all_their_steps(ctx: Context, store: Path) -> None:
    one = write_run(store, media=[item("recon", step) for step in (0, 10)])
    two = write_run(store, media=[item("recon", 5), item("note", 3, kind="text")])
    found = media_index(ctx, MediaIndexRequest(runs=[two, one, two, "gone"]))
    keys = {(key.key, key.kind): (key.runs, key.steps, key.most) for key in found.keys}
    assert keys == {("recon", "image"): ([two, one], [0, 5, 10], 1), ("note", "text"): ([two], [3], 1)}
    assert found.omitted == 0


def test_a_list_says_how_long_it_is_at_most(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[item("samples", 0, index=i, count=3) for i in range(3)] + [item("samples", 1)])
    [key] = media_index(ctx, MediaIndexRequest(runs=[run])).keys
    assert (key.steps, key.most, key.newest) == ([0, 1], 3, 1.0)


def test_what_has_a_page_of_its_own_is_left_to_it(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[histogram("w", 0, [0, 1], [1]), item("forward", 0, kind="step"), item("a", 0)])
    assert [key.key for key in media_index(ctx, MediaIndexRequest(runs=[run])).keys] == ["a"]


def test_very_many_steps_are_thinned_with_both_ends(ctx: Context, store: Path) -> None:
    run = write_run(store, media=[item("a", step) for step in range(MAX_STEPS + 500)])
    [key] = media_index(ctx, MediaIndexRequest(runs=[run])).keys
    assert (len(key.steps), key.steps[0], key.steps[-1]) == (MAX_STEPS, 0, MAX_STEPS + 499)


def test_too_many_runs_are_refused_in_words(ctx: Context) -> None:
    with pytest.raises(UsageError, match="at most 200 runs at once, not 201; choose fewer"):
        media_index(ctx, MediaIndexRequest(runs=["x"] * 201))
