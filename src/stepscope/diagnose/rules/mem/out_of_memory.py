from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from math import prod

from stepscope.common.units import bytes_text
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.tensors import named_tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("mem.out-of-memory", severity="error", needs="crash")
def out_of_memory(run: Evidence) -> Iterator[Proof]:
    """The memory ran out.

    Why it matters: the run ends. The line that requested the last bytes need not be the one that uses the most.

    What to do: a smaller batch, gradient accumulation, mixed precision or checkpointing; and look for graphs that are
    kept (`total += loss` instead of `loss.item()`).

    Bad:
        losses.append(loss)
    Good:
        losses.append(loss.item())
    """
    crash = run.crash
    if crash is None or not _ran_out(crash):
        return
    wanted = _wanted(crash)
    held = sorted(_held(crash).items(), key=lambda item: -item[1][1])[:5]
    largest = ", ".join(f"{name} {shape} {bytes_text(count)}" for name, (shape, count) in held[:3])
    asked = f"with a request for {bytes_text(wanted)}" if wanted else "with a request for more"
    grown = _grown(crash, wanted)
    if grown is not None:
        yield grown
        return
    yield Proof(
        where=crash.site,
        message=f"memory ran out here, {asked}",
        label=f"the largest tensors in these frames: {largest}" if largest else "",
        evidence={"bytes_wanted": wanted, "largest": {name: count for name, (_, count) in held}},
        fix="use a smaller batch (with gradient accumulation), mixed precision, or checkpointing",
    )


def _grown(crash: Crash, wanted: int | None) -> Proof | None:
    """Two tensors that broadcast to one far larger than both: every row against every other."""
    failed = crash.failed
    shapes = [] if failed is None else [origin.shape for origin in failed.origins if origin.shape]
    if len(shapes) != 2 or wanted is None:
        return None
    sizes = [max(pair) for pair in zip_longest(shapes[0][::-1], shapes[1][::-1], fillvalue=1)][::-1]
    if prod(sizes) * 8 < wanted or prod(sizes) < 100 * max(prod(shapes[0]), prod(shapes[1])):
        return None
    return Proof(
        where=crash.site,
        message=f"{list(shapes[0])} and {list(shapes[1])} broadcast to {sizes}, which needs {bytes_text(wanted)}",
        label=f"a result of shape {sizes}",
        evidence={"bytes_wanted": wanted, "shapes": [list(shape) for shape in shapes]},
        fix="do it for a part of the rows at a time; distances take less with torch.cdist(a, b), which still "
        "gives one number per pair",
    )


def _ran_out(crash: Crash) -> bool:
    if crash.is_a("OutOfMemoryError", "MemoryError"):
        return True
    return crash.says(r"defaultcpuallocator: (can't|not enough)", r"\bout of memory\b", r"failed to allocate memory")


def _wanted(crash: Crash) -> int | None:
    exact = re.search(r"tried to allocate (\d+) bytes", crash.message)
    if exact is not None:
        return int(exact[1])
    found = re.search(r"(?:allocate|allocate memory of) ([\d.]+) ([kmgt])i?b", crash.message)
    return None if found is None else int(float(found[1]) * 1024 ** ("kmgt".index(found[2]) + 1))


def _held(crash: Crash) -> dict[str, tuple[list[int], int]]:
    held: dict[str, tuple[list[int], int]] = {}
    for frame in crash.own:
        for name, tensor in named_tensors(frame.locals, most=200):
            held[name] = list(tensor.shape), tensor.bytes
    return held
