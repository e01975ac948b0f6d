from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.units import counted
from stepscope.diagnose import edits
from stepscope.diagnose.crash.turning_point import made_line
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SAYS = re.compile(r"Dimension out of range \(expected to be in range of \[-?\d+, (-?\d+)\], but got (-?\d+)\)")


@rule("shape.no-such-axis", severity="error", needs="crash", follows=("shape.lost-axis", "shape.class-axis"))
def no_such_axis(run: Evidence) -> Iterator[Proof]:
    """An operation works along an axis that its tensor does not have.

    Why it matters: axes count from 0, so a tensor with two axes has dim 0 and dim 1. Often an axis went missing before,
    through `squeeze`, an index or a reduction.

    What to do: name an axis that exists; dim=-1 is always the last one.

    Bad:
        weights = torch.softmax(scores, dim=2)          # scores [8, 7]
    Good:
        weights = torch.softmax(scores, dim=-1)
    """
    crash = run.crash
    told = None if crash is None else _SAYS.search(crash.text)
    if crash is None or crash.last is None or told is None or not crash.operands:
        return
    last, asked = int(told[1]), int(told[2])
    name, tensor = crash.operands[0]
    if tensor.ndim != last + 1:
        return
    call, made = crash.last.running, made_line(tensor)
    words = [word.arg for word in call.keywords] if isinstance(call, ast.Call) else []
    named = next((word for word in ("dim", "axis") if word in words), "")
    yield Proof(
        where=crash.site,
        message=f"`{name}` {list(tensor.shape)} has {counted(tensor.ndim, 'axis', 'axes')}, dim 0 to {last}, and dim "
        f"{asked} is asked for",
        label=f"{name} {list(tensor.shape)}",
        evidence={"tensor": name, "shape": list(tensor.shape), "dim": asked},
        edit=edits.argument(crash.site, None, named, "-1") if named and asked == last + 1 else None,
        fix=f"the last axis is {named or 'dim'}={last}, or -1; if one more is expected, look where {name} is made",
        related=[] if made is None or made.line == crash.last.line else [(made, f"`{name}` is made here")],
    )
