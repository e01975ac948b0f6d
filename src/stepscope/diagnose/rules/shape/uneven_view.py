from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.crash.uneven_view import Uneven
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.uneven-view", severity="error", needs="crash")
def uneven_view(run: Evidence) -> Iterator[Proof]:
    """An axis is split into pieces of a length that does not divide it.

    Why it matters: a `view` neither drops nor invents values. A stream of 5013 tokens has no 20 rows of one length.

    What to do: drop the rest first, or pad to the next multiple.

    Bad:
        rows = stream.view(20, -1)
    Good:
        rows = stream[: len(stream) // 20 * 20].view(20, -1)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "uneven-view":
        return
    found: Uneven = fault.facts["uneven"]
    more = found.piece - found.rest
    axis = "" if fault.tensor is not None and fault.tensor.ndim == 1 else f" of axis {found.axis}"
    yield Proof(
        where=crash.site,
        message=f"the {found.size} values{axis} are not a multiple of {found.piece_text} = {found.piece}: "
        f"{found.rest} are left over"
        if found.piece_text != str(found.piece)
        else f"the {found.size} values{axis} are not a multiple of {found.piece}: {found.rest} are left over",
        label=f"{found.size} = {found.size // found.piece} * {found.piece} + {found.rest}",
        evidence={"size": found.size, "piece": found.piece, "rest": found.rest},
        fix=f"drop the rest before this: {found.cut}; or pad with {more} values",
    )
