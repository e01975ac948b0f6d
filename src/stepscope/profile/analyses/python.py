"""Python calls out of a trace taken with stacks: the call tree, and every function with its own and total time."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.kept import kept
from stepscope.profile.profile import Profile
from stepscope.profile.trace.calls import Calls
from stepscope.profile.trace.python_trees import PythonTrees, python_trees
from stepscope.records.profile import Check, Column, Sheet, Stack

_MOST_NODES = 20_000
_MOST_FUNCTIONS = 2_000


def trees_in(profile: Profile, rank: int) -> PythonTrees | None:
    """The call trees of a rank's trace."""
    trace = profile.trace(rank)
    return None if trace is None else python_trees(trace)


@analysis("python", view="python", of="profile")
def python(profile: Profile, rank: int = 0) -> Stack | None:
    """The call tree of the Python code, from a trace with stacks."""
    found = kept(profile, rank, trees_in)
    if found is None:
        return None
    training, others, frames = found.training, found.others, found.frames
    notes = ["Taken by torch.profiler with stacks, which makes Python slower than it is without.", *_ours(found)]
    stack = Stack(
        id="python",
        title="Python calls",
        names=[frame.label for frame in frames],
        files=[frame.file for frame in frames],
        lines=[frame.line for frame in frames],
        parent=[], name=[], total=[], own=[], calls=[], notes=notes,
    )  # fmt: skip
    if not len(others):
        _append(stack, training, -1)
        return stack
    for title, tree in (("training thread", training), ("other threads", others)):
        stack.names.append(title)
        stack.files.append("")
        stack.lines.append(0)
        stack.parent.append(-1)
        stack.name.append(len(stack.names) - 1)
        stack.total.append(float(tree.total_ns[tree.parent < 0].sum()))
        stack.own.append(0.0)
        stack.calls.append(1)
        _append(stack, tree, len(stack.parent) - 1)
    return stack


def _append(stack: Stack, tree: Calls, root: int) -> None:
    """Hang a tree under a node of the stack; of a very large one, its longest nodes."""
    keep = np.arange(len(tree))
    if len(tree) > _MOST_NODES:
        least = np.partition(tree.total_ns, len(tree) - _MOST_NODES)[len(tree) - _MOST_NODES]
        keep = np.flatnonzero(tree.total_ns > least)  # a parent is never shorter than its child
        stack.notes.append(f"{len(tree) - len(keep)} of {len(tree)} nodes, the shortest, are left out.")
    place = np.full(len(tree) + 1, root, np.int64)
    place[keep] = np.arange(len(keep)) + len(stack.parent)
    stack.parent.extend(place[tree.parent[keep]].tolist())
    stack.name.extend(tree.label[keep].tolist())
    stack.total.extend(tree.total_ns[keep].tolist())
    stack.own.extend(tree.own_ns[keep].tolist())
    stack.calls.extend(tree.calls[keep].tolist())


@analysis("python-functions", view="python", of="profile")
def python_functions(profile: Profile, rank: int = 0) -> Sheet | None:
    """Every Python function of the training thread: calls, own and total time."""
    found = kept(profile, rank, trees_in)
    if found is None:
        return None
    tree, others, frames = found.training, found.others, found.frames
    width = len(frames)
    calls = np.bincount(tree.label, tree.calls, width).astype(np.int64).tolist()
    own = np.bincount(tree.label, tree.own_ns, width).astype(np.int64).tolist()
    total = _totals(tree)
    everything = int(tree.total_ns[tree.parent < 0].sum())
    rows = [
        [f.function, f"{f.file}:{f.line}" if f.file else None, calls[i], own[i], own[i] / max(1, everything), total[i],
         total[i] // calls[i], f.own]
        for i, f in enumerate(frames) if calls[i]
    ]  # fmt: skip
    rows.sort(key=lambda row: -row[3])
    notes = ["The line is where the function begins. Built-in functions have no file.", *_ours(found)]
    if len(rows) > _MOST_FUNCTIONS:
        notes.append(f"The {len(rows) - _MOST_FUNCTIONS} functions with the least own time are left out.")
    if len(others):
        notes.append("Only the training thread; the other threads are in the call tree.")
    summed = sum(own)
    return Sheet(
        id="python-functions",
        title="Python functions",
        columns=_COLUMNS,
        rows=rows[:_MOST_FUNCTIONS],
        sort="own_ns",
        checks=[
            Check(
                name="own times sum to the outermost calls",
                got=summed,
                expected=everything,
                ok=abs(summed - everything) <= 0.01 * everything,
            )
        ],
        notes=notes,
    )


def _ours(found: PythonTrees) -> list[str]:
    everything = int(found.training.total_ns[found.training.parent < 0].sum())
    share = found.ours_ns / max(1, everything)
    return [f"Stepscope's own calls took {share:.1%} of this time; they stand apart."] if found.ours_ns else []


def _totals(tree: Calls) -> dict[int, int]:
    """Total time by label; a function below itself (recursion) is counted once."""
    total: dict[int, int] = defaultdict(int)
    above: list[frozenset[int]] = []
    for label, parent, ns in zip(tree.label.tolist(), tree.parent.tolist(), tree.total_ns.tolist(), strict=True):
        seen = above[parent] if parent >= 0 else frozenset()
        if label not in seen:
            total[label] += ns
            seen = seen | {label}
        above.append(seen)
    return total


_COLUMNS = [
    Column(key="function", label="Function", help="The name of the function, or of a module's call."),
    Column(key="where", label="Where", unit="line", help="The file and the line where the function begins."),
    Column(key="calls", label="Calls", unit="count", help="How often it was called."),
    Column(key="own_ns", label="Own", unit="ns", help="Time in the function itself, without what it called."),
    Column(key="own_share", label="Own share", unit="share", help="Own time as a part of all Python time recorded."),
    Column(key="total_ns", label="Total", unit="ns", help="Time from call to return, recursion counted once."),
    Column(key="mean_ns", label="A call", unit="ns", help="Total time divided by calls."),
    Column(key="own_file", label="Yours", unit="flag", help="In your own files, not in a library.", hidden=True),
]
