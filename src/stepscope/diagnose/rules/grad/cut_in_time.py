from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_ENOUGH = 3
_CHAIN = 3
_MOST = 6
_ANCESTORS = 6000
_CUTS = ("detach", "data", "detach_")


@rule("grad.cut-in-time", severity="error", follows=("grad.detached-needed",))
def cut_in_time(run: Evidence) -> Iterator[Proof]:
    """A recurrent state is cut from the graph at every time step, so nothing is learned through time.

    Why it matters: the loss at the end of a sequence must reach the steps that came before it. With `detach()` or
    `.data` on the state inside the loop only the last step gets a gradient, and the model cannot learn to remember.

    What to do: pass the state on unchanged. Detach it between batches if the sequence is too long, not between steps.

    How it is found: in at least three backwards the loss was computed from a chain of states that one module made one
    after the other, each cut from the graph on the same line, and no gradient reaches any but the last of them.

    Bad:
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h.detach())
    Good:
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
    """
    found: dict[Place, list[int]] = {}
    seen = [one for one in list(run.steps.backwards)[: 4 * _MOST] if one.accumulates]
    alone = [one for one in seen if sum(other.step == one.step for other in seen) == 1]
    for backward in alone[:_MOST]:
        for place, length in _chains(backward.origin) if backward.origin is not None else ():
            found.setdefault(place, []).append(length)
    for place, lengths in found.items():
        if len(lengths) >= _ENOUGH:
            yield Proof(
                where=place,
                message=f"the state is cut from the graph at every time step: {min(lengths)} steps before the last "
                "get no gradient",
                label="no gradient flows back through time",
                evidence={"steps_cut": min(lengths), "backwards": len(lengths)},
                edit=tensors.without_method(place, ("detach", "data")),
                fix="remove the .detach() (or .data) on this line",
            )


def _chains(loss: Origin) -> Iterator[tuple[Place, int]]:
    """Lines that cut the states of one module, each state made from the one before: how many got no gradient."""
    cuts: dict[tuple[Place, Module], list[Origin]] = {}
    for past in loss.ancestors(_ANCESTORS):
        state = past.inputs[0] if past.op in _CUTS and past.inputs else None
        if state is None or not state.requires_grad or past.place is None or state.visit is None:
            continue
        if past.step != loss.step:  # cut between batches: its sequence has had its backward
            continue
        if any(True for _ in state.visit.module.parameters()):
            cuts.setdefault((past.place, state.visit.module), []).append(past)
    several = {key: ordered for key, ordered in cuts.items() if len(ordered) >= _CHAIN}
    if not several:
        return
    live = {id(past) for past in loss.ancestors(_ANCESTORS, through=lambda one: one.requires_grad)}
    for (place, _), some in several.items():
        ordered = sorted(some, key=lambda one: one.index)
        follows = all(
            any(past is before for past in after.inputs[0].ancestors(400)) for before, after in pairwise(ordered)
        )
        unreached = [one for one in ordered if id(one.inputs[0]) not in live]
        if follows and len(unreached) == len(ordered):
            yield place, len(ordered)
