from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.crash.plain_numbers import made_a_number
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SIGN = re.compile(r"'(float|int|numpy\.\w+|ndarray)' object has no attribute '(backward|detach|requires_grad|mean)'")


@rule("loss.not-a-tensor", severity="error", needs="crash")
def not_a_tensor(run: Evidence) -> Iterator[Proof]:
    """The loss was converted to a plain number before backward: it no longer has a graph.

    Why it matters: `.item()`, `float()` and `.numpy()` give a number that knows nothing of the model. A trainer calls
    `backward` on what `training_step` or `compute_loss` returns, so that has to be the tensor.

    What to do: return or keep the loss itself, and take its number only for printing and logging.

    Bad:
        loss = F.cross_entropy(model(x), y).item()
        loss.backward()
    Good:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        print(loss.item())
    """
    crash = run.crash
    found = _SIGN.search(crash.text) if crash is not None and crash.is_a("AttributeError") else None
    if crash is None or found is None:
        return
    where, text = made_a_number(run, crash)
    if where is None:
        return
    elsewhere = crash.site is not None and (crash.site.file, crash.site.line) != (where.file, where.line)
    yield Proof(
        where=where,
        message=f"the loss is a {found[1]} when backward should run: it no longer has a graph",
        label=f"`{text}` gives a plain number" if text else "a plain number is returned",
        evidence={"type": found[1], "made_by": text},
        edit=tensors.without_method(where, (text.strip(".()"),)) if text else None,
        fix=f"leave out `{text}` here" if text else "return the loss as a tensor",
        related=[(crash.site, "a tensor is needed from here")] if elsewhere else [],
    )
