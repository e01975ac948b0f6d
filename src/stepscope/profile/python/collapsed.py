"""Collapsed stacks, one a line: `main;train;step 12`. What Brendan Gregg's scripts, py-spy and perf tools write."""

from __future__ import annotations

from pathlib import Path

from stepscope.common.units import bytes_text
from stepscope.errors import BadData, NotFound
from stepscope.files.opening import read_text
from stepscope.profile.python.tree_builder import TreeBuilder
from stepscope.records.profile import Stack

MOST_BYTES = 256 << 20
MOST_DEPTH = 2000


def read_collapsed(path: str | Path) -> Stack:
    """The call tree in a file of collapsed stacks."""
    path = Path(path)
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}") from None
    if size > MOST_BYTES:
        raise BadData(f"{path} has {bytes_text(size)}; collapsed stacks up to {bytes_text(MOST_BYTES)} are read")
    return collapsed_in(read_text(path, MOST_BYTES), str(path))


def collapsed_in(text: str, name: str = "the profile") -> Stack:
    """The call tree in lines of collapsed stacks; the unit is what was counted, mostly samples.

    >>> collapsed_in("main;load 3\\nmain 1\\n").total
    [4.0, 3.0]
    """
    builder = TreeBuilder()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        path, _, count = line.rstrip().rpartition(" ")
        try:
            weight = float(count)
        except ValueError:
            weight = -1.0
        frames = path.split(";", MOST_DEPTH)
        if not path or not 0 <= weight < 1e18 or len(frames) > MOST_DEPTH:
            raise BadData(f"{name}, line {number}: {line[:60]!r} is not a stack; expected 'main;train;step 12'")
        builder.add([(frame, "", 0, 0) for frame in frames], weight)
    return builder.stack(id="python-profile", title=name, unit="count")


def collapsed_text(stack: Stack) -> str:
    """A call tree as collapsed stacks, for flame graph scripts."""
    chains: list[str] = []
    lines: list[str] = []
    for node, above in enumerate(stack.parent):
        name = stack.names[stack.name[node]].replace(";", ",").replace("\n", " ")
        chains.append(f"{chains[above]};{name}" if above >= 0 else name)
        if stack.own[node] > 0:
            lines.append(f"{chains[-1]} {round(stack.own[node])}\n")
    return "".join(lines)
