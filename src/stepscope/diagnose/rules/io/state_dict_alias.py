from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.edits.modes import deep_copied
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.checkpoints import Taken


@rule("io.state-dict-alias", severity="error", needs="steps, end, crash")
def state_dict_alias(run: Evidence) -> Iterator[Proof]:
    """The "best" weights are kept without a copy, so they change with every step and the last ones are restored.

    Why it matters: `state_dict()` gives the model's own tensors. What is put back (or saved) later is not the best
    model but the latest one.

    What to do: keep a copy: `copy.deepcopy(model.state_dict())`, or clone every tensor.

    How it is found: what is given to `load_state_dict` or `torch.save` is still the memory of the very model, taken by
    `state_dict()` some optimizer steps earlier.

    Bad:
        best = model.state_dict()
    Good:
        best = copy.deepcopy(model.state_dict())
    """
    for loading in run.checkpoints.loadings:
        taken = loading.taken
        if taken is None or taken.step >= loading.step or loading.own < max(1, 0.9 * loading.given):
            continue
        if taken.module is loading.module:
            yield _proof(taken, loading.place, loading.step, "put back")
    for written in run.checkpoints.writes:
        if written.stale is not None and _is_a_snapshot(written.stale):
            yield _proof(written.stale, written.place, written.step, "saved")


_SNAPSHOT = re.compile(r"best|init|snap|prev|old|back|orig|start|last|keep|copy|before|checkpoint|top", re.I)


def _is_a_snapshot(taken: Taken) -> bool:
    """Whether the line names it as the weights of a moment: a dict made once may be meant to follow the model."""
    return taken.place is not None and bool(_SNAPSHOT.search(taken.place.site.text))


def _proof(taken: Taken, used: object, step: int, how: str) -> Proof:
    steps = step - taken.step
    return Proof(
        where=taken.place,
        message=f"the weights taken here are the model's own memory: {steps} optimizer steps have changed them before "
        f"they are {how}",
        label=f"no copy; {how} {steps} steps later",
        evidence={"taken_at_step": taken.step, "used_at_step": step},
        edit=deep_copied(taken.place),
        fix=f"copy.deepcopy(model.state_dict()) on line {taken.place.site.line}"
        if taken.place is not None
        else "copy.deepcopy(model.state_dict())",
        related=[(used, f"they are {how} here")],  # type: ignore[list-item]
    )
