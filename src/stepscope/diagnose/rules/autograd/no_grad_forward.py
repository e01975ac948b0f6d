from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.graph import cut_of
from stepscope.diagnose.crash.plain_numbers import made_a_number
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("autograd.no-grad-forward", severity="error", needs="crash")
def no_grad_forward(run: Evidence) -> Iterator[Proof]:
    """The loss has no gradient, because the graph to the parameters was cut.

    Why it matters: under `no_grad`, after `.detach()`, `.data` or `.item()`, nothing leads back to the parameters, and
    backward has nothing to do.

    What to do: take the forward pass out of `no_grad`, and keep the loss a tensor.

    Bad:
        with torch.no_grad():
            out = model(x)
        F.mse_loss(out, y).backward()
    Good:
        out = model(x)
        F.mse_loss(out, y).backward()
    """
    crash = run.crash
    cut = None if crash is None else cut_of(crash)
    if crash is None or (cut is None and not crash.says(r"does not require grad and does not have a grad_fn")):
        return
    if cut is not None and cut.kind in ("left-off", "no-derivative"):
        return
    related = [(crash.site, "backward fails here")]
    made, text = made_a_number(run, crash) if cut is None and run.trainer.works is not None else (None, "")
    if text:
        yield Proof(
            where=made,
            message="the loss is rebuilt from a plain number: nothing connects it to a parameter",
            label=f"`{text}` gives a number without a graph",
            evidence={"op": text},
            edit=tensors.without_method(made, (text.strip(".()"),)),
            fix=f"leave out `{text}` here, and return the loss itself",
            related=related,
        )
    elif cut is None:
        yield Proof(
            where=crash.site,
            message="the loss has no gradient: nothing connects it to a parameter",
            fix="look for no_grad, detach, .data or .item() between the model and the loss",
        )
    elif cut.kind == "switched-off":
        yield Proof(
            where=cut.site or crash.site,
            message="the forward pass runs with gradients switched off",
            label=f"`{cut.op}` ran without recording a gradient",
            evidence={"op": cut.op},
            edit=tensors.without_no_grad(cut.site),
            fix="run the forward pass outside of this",
            related=related,
        )
    elif cut.kind == "frozen":
        yield Proof(
            where=cut.site or crash.site,
            message="no parameter the loss depends on requires a gradient: all are frozen",
            related=related if cut.site is not None else [],
            fix="set requires_grad=True on the parameters to train",
        )
    else:
        yield Proof(
            where=cut.site or crash.site,
            message=f"`{cut.op}` cuts the graph between the loss and the parameters",
            label="no gradient beyond this",
            evidence={"op": cut.op},
            edit=tensors.without_method(cut.site, (cut.op,)),
            fix=f"leave out `{cut.op}` here",
            related=related,
        )
