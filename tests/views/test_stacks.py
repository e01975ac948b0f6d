"""Call trees for the Python tab."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stepscope.errors import BadData, NotFound
from stepscope.profile.analyses.analysis import Analysis, all_analyses
from stepscope.profile.store import new_folder, write_meta
from stepscope.records.profile import ProfileFile, ProfileMeta, Stack
from stepscope.views.context import Context
from stepscope.views.profile.stacks import StackRequest, StacksRequest, cut_down, stack, stacks

from .conftest import write_run


def tree(**changes: object) -> Stack:
    """main calls load (which calls open) and train."""
    names = ["main (train.py:1)", "load (data.py:5)", "open", "train (train.py:9)"]
    return msgspec.structs.replace(
        Stack(
            id="stacks",
            title="Sampled calls",
            names=names,
            files=["/home/me/train.py", "/home/me/data.py", "", "/home/me/train.py"],
            lines=[1, 5, 0, 9],
            parent=[-1, 0, 1, 0],
            name=[0, 1, 2, 3],
            total=[100.0, 60.0, 20.0, 30.0],
            own=[10.0, 40.0, 20.0, 30.0],
        ),
        **changes,
    )


def put(store: Path, run: str, found: Stack) -> None:
    folder = new_folder(store / run, "p1", 0)
    (folder / "rank0.stacks").write_bytes(msgspec.msgpack.encode(found))
    file = ProfileFile(name="rank0.stacks", kind="stacks")
    write_meta(folder, ProfileMeta(id="p1", kind="advanced", created=0.0, files=[file]))


def test_the_trees_of_a_profile_are_listed_and_served_whole(ctx: Context, store: Path) -> None:
    run = write_run(store)
    put(store, run, tree())
    found = stacks(ctx, StacksRequest(run=run, profile="p1"))
    assert [(one.id, one.title, one.nodes) for one in found.sources] == [("python-profile", "Sampled calls", 4)]
    page = stack(ctx, StackRequest(run=run, profile="p1", id="python-profile"))
    assert page.stack == tree()
    assert page.packages == ["your code", "your code", "built in", "your code"]
    with pytest.raises(NotFound, match="no call tree 'operators'"):
        stack(ctx, StackRequest(run=run, profile="p1", id="operators"))


def test_a_tree_that_two_analyses_have_is_listed_once(
    ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(store)
    put(store, run, tree())
    again = Analysis("again", "python", "profile", lambda profile, rank: tree(id="again", title="Other"))
    other = Analysis("other", "python", "profile", lambda profile, rank: tree(total=[9.0, 6.0, 2.0, 3.0]))
    known = {"python-profile": all_analyses()["python-profile"], "again": again, "other": other}
    monkeypatch.setattr("stepscope.views.profile.stacks.all_analyses", lambda: known)
    monkeypatch.setattr("stepscope.profile.analyses.analysis.analysis_named", known.__getitem__)
    found = stacks(ctx, StacksRequest(run=run, profile="p1"))
    assert [one.id for one in found.sources] == ["python-profile", "other"]


@pytest.mark.parametrize(
    "damage",
    [{"total": [1.0]}, {"name": [0, 1, 2, 9]}, {"parent": [-1, 0, 3, 0]}, {"parent": [-1, 0, 1, -7]}, {"files": []}],
)
def test_a_tree_that_does_not_fit_together_is_refused(ctx: Context, store: Path, damage: dict[str, object]) -> None:
    run = write_run(store)
    put(store, run, tree(**damage))
    with pytest.raises(BadData, match="call tree is damaged"):
        stack(ctx, StackRequest(run=run, profile="p1", id="python-profile"))


def test_a_huge_tree_keeps_its_largest_nodes_and_all_of_the_time() -> None:
    small = cut_down(tree(), 3)
    assert small.parent == [-1, 0, 0]
    assert small.own == [10.0, 60.0, 30.0]  # load has taken over what open took
    assert sum(small.own) == sum(tree().own)
    assert small.notes == ["1 of 4 nodes are too small to be seen; their time is part of their callers'"]
