from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.missing_grad import gradless
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("autograd.non-leaf-grad", severity="error", needs="crash")
def non_leaf_grad(run: Evidence) -> Iterator[Proof]:
    """A tensor that was meant as a parameter is the result of a computation, so it gets no `.grad`.

    Why it matters: `torch.randn(3, requires_grad=True) * 0.1` is not the tensor that requires the gradient but one
    computed from it. Its `.grad` stays None, and no optimizer takes it. `.to(device)` does the same.

    What to do: compute first, then ask for the gradient: `(torch.randn(3) * 0.1).requires_grad_()`.

    Bad:
        w = torch.randn(3, requires_grad=True) * 0.1
    Good:
        w = (torch.randn(3) * 0.1).requires_grad_()
    """
    crash = run.crash
    found = None if crash is None else gradless(crash)
    if crash is None or found is None:
        return
    how = found.tensor.made_by
    yield Proof(
        where=found.site or crash.site,
        message=f"`{found.name}` is computed ({how}) from a tensor that requires a gradient; it is not a leaf itself",
        label="requires_grad was set before the computation",
        evidence={"tensor": found.name, "shape": list(found.tensor.shape), "grad_fn": how},
        edit=tensors.value_appended(found.site, ".detach().requires_grad_()"),
        fix="set requires_grad at the end: (...).detach().requires_grad_()",
        related=[(crash.site, "the gradient is missing here")],
    )
