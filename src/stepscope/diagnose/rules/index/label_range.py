from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.narrow_cast import narrow_cast, narrowed
from stepscope.diagnose.crash.op_chain import producer
from stepscope.diagnose.crash.own_lines import own_line
from stepscope.diagnose.crash.provenance import MAKERS, story, tensors_of
from stepscope.diagnose.crash.ranges import RangeFault, range_fault
from stepscope.diagnose.crash.written_sizes import size_written
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_WHITE, _FEW = 255, 64


@rule("index.label-range", severity="error", needs="crash")
def label_range(run: Evidence) -> Iterator[Proof]:
    """Labels lie outside the classes the model has outputs for.

    Why it matters: with K outputs the labels are 0 to K-1. Labels that count from 1, or a last layer with too few
    outputs, fail as soon as the largest label comes along.

    What to do: shift the labels to begin at 0, or give the last layer as many outputs as there are classes. A mask that
    was stored as an image has gray levels: turn them into class ids.

    Bad:
        loss = F.cross_entropy(logits, y)            # y is 1 ... 10, logits have 10 columns
    Good:
        loss = F.cross_entropy(logits, y - 1)
    """
    crash = run.crash
    fault = None if crash is None else range_fault(crash)
    if crash is None or fault is None or fault.kind != "label-range" or fault.tensor is None:
        return
    low, high = _whole_range(crash, fault)
    labels = _labels_made(crash, fault.tensor)
    layer = _last_layer(crash, fault)
    narrow = narrow_cast(run, crash, fault.tensor, fault.size) if low < 0 else None
    if narrow is not None:
        yield narrowed(crash, narrow, "labels", fault.size, low)
        return
    shifted = low >= 1 and high == fault.size
    evidence = {"classes": fault.size, "smallest_label": low, "largest_label": high}
    if labels is not None and _are_grey_levels(fault, low, high):
        yield _grey_levels(fault, labels, evidence)
        return
    if shifted or low < 0 or layer is None:
        what = "count from 1" if shifted else "are negative" if low < 0 else f"go up to {high}"
        fix = "subtract 1 from the labels" if shifted else f"labels must be 0 to {fault.size - 1}"
        if low < 0:
            fix = f"map {low} to a class, or give the loss ignore_index={low} if it means 'no label'"
        yield Proof(
            where=labels or fault.site,
            message=f"the labels {what}: {low} to {high}, and {fault.size} outputs mean 0 to {fault.size - 1}",
            label=f"labels {low} to {high}",
            evidence=evidence,
            fix=fix,
            related=[(fault.site, "it fails here")],
        )
        return
    path, site = layer
    written = size_written(run.source, site, "out_features", fault.size)
    yield Proof(
        where=written,
        message=f"labels go up to {high}, but the last layer, {path}, has {fault.size} outputs",
        label=f"{high + 1} classes need {high + 1} outputs",
        evidence=evidence,
        edit=layers.sized(site, "out_features", high + 1, at_source=True),
        fix=f"give the last layer {high + 1} outputs, or keep the labels below {fault.size}",
        related=[
            *([(site, f"{path} is built here")] if written != site else []),
            *([(labels, f"labels {low} to {high} are made here")] if labels is not None else []),
        ],
    )


def _are_grey_levels(fault: RangeFault, low: int, high: int) -> bool:
    """A mask with one label for each pixel, up to the brightest gray, for a model of a few classes."""
    is_mask = fault.tensor is not None and fault.tensor.ndim >= 3
    return is_mask and low == 0 and high == _WHITE and fault.size <= _FEW


def _grey_levels(fault: RangeFault, labels: Site, evidence: dict[str, int]) -> Proof:
    two = "(mask > 127).long()" if fault.size == 2 else "a table from gray level to class id"
    return Proof(
        where=labels,
        message=f"the mask holds gray levels, 0 to {_WHITE}, where class ids 0 to {fault.size - 1} are needed",
        label=f"labels 0 to {_WHITE}, {fault.size} classes",
        evidence=evidence,
        fix=f"turn gray levels into class ids: {two}; if 255 means 'no label', give the loss ignore_index=255",
        related=[(fault.site, "it fails here")],
    )


def _whole_range(crash: Crash, fault: RangeFault) -> tuple[int, int]:
    """The range over the whole dataset where its labels are one tensor: a batch may lack the smallest."""
    labels = fault.tensor
    spans = []
    for held in (held for dataset in crash.datasets for held in tensors_of(dataset)):
        found = held.extremes
        if labels is None or found is None or (held.dtype, held.ndim) != (labels.dtype, labels.ndim):
            continue
        low, high = int(found[0]), int(found[1])
        if low <= fault.low and fault.high <= high:
            spans.append((high - low, low, high))
    # Other columns of the dataset, such as ids, may hold these values too: the labels are the narrowest.
    return min(spans)[1:] if spans else (fault.low, fault.high)


def _labels_made(crash: Crash, labels: HeldTensor) -> Site | None:
    makers = {*MAKERS, "integers", "random_integers", "return", "add"}
    steps = [step for step in story(crash, labels) if step.site is not None]
    return next((step.site for step in steps if step.op in makers), steps[-1].site if steps else None)


def _last_layer(crash: Crash, fault: RangeFault) -> tuple[str, Site] | None:
    for _, model, _ in crash.values():
        if isinstance(model, Module) and fault.output is not None:
            made = producer(fault.output, model)
            site = None if made is None else own_line(crash, model, made[0]) or fault.site
            if made is not None and site is not None:
                return made[0], site
    return None
