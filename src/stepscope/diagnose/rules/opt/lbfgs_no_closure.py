from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("opt.lbfgs-no-closure", severity="error", needs="crash")
def lbfgs_no_closure(run: Evidence) -> Iterator[Proof]:
    """`LBFGS.step()` was called without a closure.

    Why it matters: L-BFGS computes the loss several times in one step, and needs a function that does it.

    What to do: put zero_grad, forward and backward into a function and pass it to `step`.

    Bad:
        loss.backward()
        optimizer.step()
    Good:
        def closure():
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            return loss
        optimizer.step(closure)
    """
    crash = run.crash
    if crash is None or not crash.is_a("TypeError") or not crash.says(r"step\(\) missing .*'closure'"):
        return
    yield Proof(
        where=crash.site,
        message="this optimizer computes the loss itself and needs a closure to do it",
        label="step() without a closure",
        evidence={"error": crash.message},
        fix="pass a function that clears the gradients, computes the loss, calls backward and returns the loss",
    )
