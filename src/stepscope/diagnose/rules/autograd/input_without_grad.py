from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.crash.loop_heads import is_loop_head
from stepscope.diagnose.crash.provenance import names_of
from stepscope.diagnose.crash.turning_point import made_line
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_NO_GRAD = r"one of the differentiated tensors does not require grad"
_UNUSED = re.compile(r"differentiated tensor(?: at index (\d+))?s? appears to not have been used", re.I)


@rule("autograd.input-without-grad", severity="error", needs="crash")
def input_without_grad(run: Evidence) -> Iterator[Proof]:
    """`autograd.grad` is called for a tensor that records no gradient, or that the output was not computed from.

    Why it matters: a gradient penalty, a saliency map or the residual of a differential equation needs the gradient of
    an input. Data and detached tensors record none until `requires_grad_(True)` is called, before the model is.

    What to do: call `.requires_grad_(True)` on the tensor where it is made, and compute the output from this very
    tensor.

    Bad:
        mixed = (eps * real + (1 - eps) * fake).detach()
        grads, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    Good:
        mixed = (eps * real + (1 - eps) * fake).detach().requires_grad_(True)
        grads, = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    """
    crash = run.crash
    if crash is None:
        return
    unused = _UNUSED.search(crash.text)
    if unused is None and not crash.says(_NO_GRAD):
        return
    given = _inputs(crash)
    if unused is not None:
        at = int(unused[1] or 0)
        if at < len(given):
            yield _not_used(crash, given[at])
        return
    found = next((tensor for tensor in given if not tensor.requires_grad), None)
    if found is not None:
        yield _frozen(crash, found) if found.is_parameter else _plain(crash, found)


def _inputs(crash: Crash) -> list[HeldTensor]:
    """The tensors whose gradient was asked for."""
    for frame in reversed(crash.frames):
        if not frame.own and frame.function == "grad":
            given = frame.locals.get("inputs")
            items = several(given) or [given]
            return [one for one in items if isinstance(one, HeldTensor)]
    return []


def _name(crash: Crash, tensor: HeldTensor) -> str:
    return next((name for name, _ in names_of(crash, tensor)), "the tensor")


def _plain(crash: Crash, tensor: HeldTensor) -> Proof:
    """Data, noise, or what was detached."""
    name, made = _name(crash, tensor), made_line(tensor)
    where = None if made is None or is_loop_head(made) else made
    detached = tensor.origin is not None and tensor.origin.op in ("detach", "data")
    why = "it is detached here" if detached else "it is made of tensors without a gradient"
    return Proof(
        where=where or crash.site,
        message=f"the gradient with respect to `{name}` is asked for, and `{name}` records none: {why}",
        label="records no gradient",
        evidence={"tensor": name, "shape": list(tensor.shape)},
        edit=None if where is None else edits.first_of(tensors.value_appended(where, ".requires_grad_(True)")),
        fix=f"call requires_grad_(True) on it before the model is called: {name}.requires_grad_(True)"
        if name.isidentifier()
        else "call .requires_grad_(True) on it before the model is called",
        related=[] if where is None else [(crash.site, "its gradient is asked for here")],
    )


def _frozen(crash: Crash, tensor: HeldTensor) -> Proof:
    return Proof(
        where=crash.site,
        message=f"the gradient of a frozen parameter {list(tensor.shape)} is asked for",
        label="requires_grad is False",
        evidence={"shape": list(tensor.shape)},
        fix="ask only for those that train: [p for p in model.parameters() if p.requires_grad]",
    )


def _not_used(crash: Crash, tensor: HeldTensor) -> Proof:
    name = _name(crash, tensor)
    fix = "compute the output from this tensor, after requires_grad_(True), not from the one it was copied from"
    if tensor.is_parameter:
        fix = "leave parameters out that the output does not depend on, or pass allow_unused=True (None for those)"
    return Proof(
        where=crash.site,
        message=f"the output was not computed from `{name}`, so it has no gradient with respect to it",
        label=f"`{name}` is not in the graph of the output",
        evidence={"tensor": name, "shape": list(tensor.shape)},
        fix=fix,
    )
