"""The line that gave a tensor a property it should not have: a type, a shape, a missing reduction.

The way back goes from the failing line through the operations that handed the property on, through the loader into the
dataset, to the one whose inputs did not have it yet.
"""

from __future__ import annotations

from collections.abc import Callable

from stepscope.common.code_owner import is_own_file
from stepscope.common.ops import SELECTIONS
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import dataset_steps, held_in
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.origins import Origin
from stepscope.records.step import Site

Property = Callable[[str, int], bool]
"""Told of a tensor's dtype and its number of axes, those of a batch even where it is one sample."""


def made_line(tensor: HeldTensor) -> Site | None:
    """The user's line that computed a tensor."""
    return own_site(tensor.origin)


def own_site(origin: Origin | None) -> Site | None:
    """The user's line that made a tensor."""
    if origin is None or not origin.op or origin.place is None or not is_own_file(origin.place.file):
        return None
    return origin.place.site


def made_before(crash: Crash, origin: Origin | None) -> Site | None:
    """The user's line that computed a tensor before any line that was running, without picking rows of it."""
    running = {(frame.file, frame.line) for frame in crash.own}
    while origin is not None:
        site = own_site(origin)
        if site is not None and (site.file, site.line) not in running and origin.op not in SELECTIONS:
            return site
        origin = origin.inputs[0] if origin.inputs else None
    return None


def turning_point(crash: Crash, tensor: HeldTensor, has: Property, *ops: str) -> Site | None:
    """Where it got the property; in a dataset whose operations were not seen, the nearest of `ops`."""
    origin, found, lead = tensor.origin, None, 0
    loops: set[tuple[str, int]] = set()
    while origin is not None:
        site = own_site(origin)
        if origin.kind == "data":
            if origin.place is not None:
                loops.add((origin.place.file, origin.place.line))
            if not origin.inputs:
                return _in_datasets(crash, tensor, has, ops)
        elif site is not None and (site.file, site.line) not in loops:  # a loader's work counts at the loop's line
            found = site
        before = [past for past in origin.inputs if past.kind not in ("parameter", "buffer")]
        before = [past for past in before if has(past.dtype, len(past.shape) + lead + _lead(origin, past))]
        lead += _lead(origin, before[0]) if before else 0
        origin = before[0] if before else None
    if found is None and tensor.origin is None:
        return _in_datasets(crash, tensor, has, ops)
    return found


def _lead(origin: Origin, past: Origin) -> int:
    """How many axes of a batch an op took away or added on the way back: a sample has one less."""
    if origin.op == "stack" or origin.op in SELECTIONS:
        return max(-1, min(1, len(origin.shape) - len(past.shape)))
    return 0


def _in_datasets(crash: Crash, tensor: HeldTensor, has: Property, ops: tuple[str, ...]) -> Site | None:
    for dataset in crash.datasets:
        for held in held_in(dataset):
            same = held.dtype == tensor.dtype and held.shape[1:] == tensor.shape[1:]
            site = turning_point(crash, held, has) if same and held.origin is not None else None
            if site is not None:
                return site
        steps = [step for step in dataset_steps(crash, dataset, tensor) if step.site is not None]
        made = next((step for step in steps if step.op in ops), None)
        made = made or next((step for step in steps if step.op == "return"), None)
        if made is not None:
            return made.site
    return None
