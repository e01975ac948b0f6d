from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("dtype.uint8-wrap", severity="error", needs="steps")
def uint8_wrap(run: Evidence) -> Iterator[Proof]:
    """Arithmetic on bytes wrapped around: 3 - 5 came out as 254.

    Why it matters: uint8 holds 0 to 255. Differences below 0 and sums above 255 wrap around silently, so images get
    bright spots where they should be dark.

    What to do: convert to float before computing: `(image.float() - mean)`, not `(image - mean).float()`.

    How it is found: the first results of each such line are computed again in int64 and compared.

    Bad:
        diff = (frame - before).float()
    Good:
        diff = frame.float() - before.float()
    """
    for wrap in run.uint8_overflow.found.values():
        if wrap.place is None:
            continue
        yield Proof(
            where=wrap.place,
            message=f"`{wrap.op}` on uint8 wrapped around in {wrap.wrapped} of {wrap.values} values",
            label="uint8 holds only 0 to 255",
            evidence={"op": wrap.op, "wrapped": wrap.wrapped, "values": wrap.values, "shape": list(wrap.shape)},
            edit=edits.first_of(
                tensors.operand_appended(wrap.place, 0, ".float()"), tensors.received_appended(wrap.place, ".float()")
            ),
            fix="convert to float (or int16) before this",
        )
