from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits.loop import with_no_grad
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("autograd.leaf-inplace", severity="error", needs="crash")
def leaf_inplace(run: Evidence) -> Iterator[Proof]:
    """A parameter was changed in place while gradients were on.

    Why it matters: autograd cannot follow a leaf that is written over, so it refuses.

    What to do: update parameters under `torch.no_grad()`.

    Bad:
        w -= lr * w.grad
    Good:
        with torch.no_grad():
            w -= lr * w.grad
    """
    crash = run.crash
    if crash is None or not crash.says(r"leaf variable that requires grad .*in-?place", r"leaf variable .*moved into"):
        return
    named = [name for name, tensor in crash.operands if tensor.requires_grad]
    name = named[0] if named else "a parameter"
    yield Proof(
        where=crash.site,
        message=f"{name} requires a gradient and is changed in place",
        label="in place, with gradients on",
        evidence={"tensors": {n: list(t.shape) for n, t in crash.operands}},
        edit=with_no_grad(crash.site),
        fix="put this update into `with torch.no_grad():`",
    )
