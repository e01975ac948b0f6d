"""The *Python* tab of the Profile page: complete call trees, for the icicle and flame charts."""

from __future__ import annotations

import sys

import msgspec
import numpy as np

from stepscope.common.code_owner import package_in
from stepscope.errors import BadData, NotFound
from stepscope.profile.analyses.analysis import all_analyses
from stepscope.profile.trace.python_names import is_library_file
from stepscope.records.profile import Stack
from stepscope.views.context import Context
from stepscope.views.profile.open_profiles import Failed, OpenProfile, profile_of
from stepscope.views.route import route

MOST_NODES = 150_000


class StacksRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int | None = None


class StackSource(msgspec.Struct):
    id: str
    title: str
    nodes: int
    summary: str


class StackSources(msgspec.Struct):
    sources: list[StackSource]
    failed: list[str]
    """Why some could not be read."""


class StackPage(msgspec.Struct):
    stack: Stack
    packages: list[str]
    """Whose code each name is: `torch`, `your code`, `Python`, `built in`."""


class StackRequest(msgspec.Struct):
    run: str
    profile: str
    id: str
    rank: int | None = None


@route("POST", "/api/stacks")
def stacks(ctx: Context, request: StacksRequest) -> StackSources:
    """The call trees that a profile has."""
    opened = profile_of(ctx, request.run, request.profile)
    rank = opened.rank(request.rank)
    found: list[StackSource] = []
    trees: list[Stack] = []
    failed: list[str] = []
    for id, analysis in all_analyses().items():
        if analysis.view != "python":
            continue
        answer = opened.answer(id, rank)
        if isinstance(answer, Failed):
            failed.append(answer.why)
        elif isinstance(answer, Stack) and answer.parent and not any(_same(answer, other) for other in trees):
            trees.append(answer)
            found.append(StackSource(id=id, title=answer.title, nodes=len(answer.parent), summary=analysis.summary))
    return StackSources(sources=found, failed=failed)


@route("POST", "/api/stack")
def stack(ctx: Context, request: StackRequest) -> StackPage:
    """One call tree, reduced to its largest parts if it is too large for a browser."""
    opened = profile_of(ctx, request.run, request.profile)
    rank = opened.rank(request.rank)
    return opened.keep(("stack", request.id, rank), lambda: _read(opened, request.id, rank))


def _read(opened: OpenProfile, id: str, rank: int) -> StackPage:
    answer = opened.answer(id, rank)
    if isinstance(answer, Failed):
        raise BadData(answer.why)
    if not isinstance(answer, Stack):
        raise NotFound(f"the profile has no call tree {id[:100]!r}; reload the page")
    tree = msgspec.structs.replace(cut_down(_checked(answer), MOST_NODES), by_line=[])
    return StackPage(stack=tree, packages=[package_of(file) for file in tree.files])


def _same(one: Stack, other: Stack) -> bool:
    """A `.prof` is stored as statistics and as a tree, and two analyses return it; show it once."""
    return one.parent == other.parent and one.names == other.names and one.total == other.total


def package_of(file: str) -> str:
    """Whose code a file is.

    >>> [package_of(file) for file in ("torch/nn/modules/linear.py", "/x/site-packages/PIL/Image.py", "threading.py")]
    ['torch', 'PIL', 'Python']
    >>> package_of("/home/me/train.py"), package_of("~")
    ('your code', 'built in')
    """
    path = file.replace("\\", "/")
    if not path or path == "~" or path.startswith("<"):
        return "built in"
    if not is_library_file(file):
        return "your code"
    installed = package_in(path)
    if installed is not None:
        return installed
    first = path.split("/")[0].removesuffix(".py")
    return "Python" if path.startswith("/") or first in sys.stdlib_module_names else first


def _checked(tree: Stack) -> Stack:
    """A tree with consistent columns, so that the page need not check."""
    nodes, names = len(tree.parent), len(tree.names)
    sizes = [len(tree.name), len(tree.total), len(tree.own), len(tree.calls) if tree.calls else nodes]
    if sizes != [nodes] * 4 or not len(tree.files) == len(tree.lines) == names:
        raise BadData("the call tree is damaged: its columns have different lengths")
    parent, name = np.array(tree.parent, np.int64), np.array(tree.name, np.int64)
    if nodes and ((parent >= np.arange(nodes)) | (parent < -1) | (name < 0) | (name >= names)).any():
        raise BadData("the call tree is damaged: a node comes before its parent, or has no name")
    return tree


def cut_down(tree: Stack, most: int) -> Stack:
    """The `most` largest nodes and their ancestors. Removed time becomes the parent's own time, as a note explains."""
    if len(tree.parent) <= most:
        return tree
    total = np.array(tree.total, float)
    keep = total >= np.partition(total, -most)[-most]
    for node in np.flatnonzero(keep)[::-1].tolist():
        above = tree.parent[node]
        while above >= 0 and not keep[above]:
            keep[above] = True
            above = tree.parent[above]
    kept = np.flatnonzero(keep)
    new = np.full(len(total) + 1, -1)
    new[kept] = np.arange(len(kept))
    own = np.array(tree.own, float)
    parent = np.array(tree.parent)
    lost = np.flatnonzero(~keep & (parent >= 0))
    lost = lost[keep[parent[lost]]]
    np.add.at(own, parent[lost], total[lost])
    gone = f"{len(total) - len(kept):,} of {len(total):,} nodes are too small to be seen"
    return msgspec.structs.replace(
        tree,
        parent=new[parent[kept]].tolist(),
        name=np.array(tree.name)[kept].tolist(),
        total=total[kept].tolist(),
        own=own[kept].tolist(),
        calls=np.array(tree.calls)[kept].tolist() if tree.calls else [],
        notes=[*tree.notes, f"{gone}; their time is part of their callers'"],
    )
