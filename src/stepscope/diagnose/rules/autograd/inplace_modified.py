from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.crash.inplace import written_over
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("autograd.inplace-modified", severity="error", needs="crash", follows=("opt.stepped-twice",))
def inplace_modified(run: Evidence) -> Iterator[Proof]:
    """A value that backward needs was overwritten by an in-place operation or an optimizer step.

    Why it matters: backward computes with the values of the forward pass. When they are changed in between, the
    gradients would be wrong, so torch refuses.

    What to do: write `x = x + 1` instead of `x += 1`; run all backwards before the optimizers step.

    Bad:
        h = torch.sigmoid(self.a(x))
        h += skip
    Good:
        h = torch.sigmoid(self.a(x))
        h = h + skip
    """
    crash = run.crash
    found = None if crash is None else written_over(crash)
    if crash is None or found is None:
        return
    value = f"a tensor of shape {list(found.shape)}"
    if found.by_optimizer:
        message = f"the optimizer changes weights {list(found.shape)} whose old values this backward still needs"
        fix = "call backward before this step, or run the forward pass again after it"
    else:
        message = f"{value}, needed by backward, is changed in place"
        fix = _without_writing(found.what)
    yield Proof(
        where=found.site or crash.site,
        message=message,
        label=f"`{found.what}` overwrites it",
        evidence={"shape": list(found.shape), "made_by": found.made_by, "written_by": found.what},
        edit=None if found.by_optimizer else tensors.not_in_place(found.site),
        fix=fix,
        related=[(crash.site, "backward fails here")],
    )


def _without_writing(what: str) -> str:
    """What to write instead, for the way in which the tensor is changed."""
    assigned = re.match(r"([\w.]+)\[.*\] = ", what)
    if assigned is not None:
        name = assigned[1]
        return f"change a copy: {name} = {name}.clone() on the line before; or choose values with torch.where"
    return "create a new tensor instead (x = x + y, not x += y; no inplace=True, no trailing underscore)"
