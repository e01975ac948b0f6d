from __future__ import annotations

from collections.abc import Iterator
from math import prod

from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import Layer
from stepscope.diagnose.crash.op_chain import Link
from stepscope.diagnose.crash.operation import Operation
from stepscope.diagnose.crash.sizes import SizeFault, size_fault
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor


@rule("shape.flatten", severity="error", needs="crash")
def flatten(run: Evidence) -> Iterator[Proof]:
    """The number of values after flattening is not the one in the code.

    Why it matters: the size after convolutions and pools depends on the image size, so a number worked out by hand is
    soon wrong, and the forward pass stops.

    What to do: give the linear layer the right `in_features` (it is printed), flatten with
    `x.flatten(1)`, or use `nn.LazyLinear`.

    How it is found: what came into the flattening is known; its sizes after the batch multiply to the right number.

    Bad:
        x = x.view(x.size(0), -1)     # [64, 3136]
        x = self.fc(x)                # nn.Linear(1024, 10)
    Good:
        x = x.view(x.size(0), -1)
        x = self.fc(x)                # nn.Linear(3136, 10)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "flatten":
        return
    if fault.layer is not None and fault.tensor is not None and fault.expected is not None:
        yield _layer(crash, fault, fault.layer, fault.tensor, fault.expected.size)
    elif fault.link is not None and fault.link.before is not None and fault.link.shape is not None:
        yield _rows(crash, fault.link, fault.link.before, fault.link.shape)
    elif fault.tensor is not None and crash.operation is not None:
        yield _view(crash, fault.tensor, crash.operation)


def _layer(crash: Crash, fault: SizeFault, layer: Layer, tensor: HeldTensor, size: int) -> Proof:
    link = fault.link
    before = None if link is None else link.before
    evidence = {"layer": layer.name, "in_features": size, "input_shape": list(tensor.shape)}
    if before is not None:
        evidence["before_flattening"] = list(before)
    rows = before is not None and before[0] != tensor.shape[0] and tensor.ndim <= 2
    right = prod(before[1:] if before is not None else tensor.shape[1:])
    partly = link is not None and tensor.ndim > 2  # only some axes were flattened: a Linear reads the last one
    if partly and fault.given is not None:
        right = fault.given
    if link is None:
        return Proof(
            where=crash.site,
            message=f"{layer.name} was given {list(tensor.shape)}; flattened, it has the {right} values it wants",
            label=f"flatten first: {right} values a sample",
            evidence=evidence,
            fix="flatten the input before this layer: x.flatten(1)",
            related=[(layer.site, "the layer was built here")],
        )
    if rows and right == size and before is not None:
        return _eaten(crash, link, before, tensor.shape)
    shape = f"{list(before[1:])} flattens to {right}" if before is not None else f"the flattened size is {fault.given}"
    shape = f"the last axis of its input {list(tensor.shape)} has {right}" if partly else shape
    related = [] if link.site is None else [(link.site, shape)]
    return Proof(
        where=layer.site or crash.site,
        message=f"{layer.name} is built for {size} values, but {shape}",
        label=f"in_features should be {right}",
        evidence={**evidence, "right": right},
        edit=layers.sized(layer.site, "in_features", right) if not rows else None,
        fix=f"set in_features to {right}" + ("; and flatten with x.flatten(1)" if rows else ""),
        related=related,
    )


def _eaten(crash: Crash, link: Link, before: tuple[int, ...], after: tuple[int, ...]) -> Proof:
    """The layer is right: it is the batch that was flattened too."""
    return Proof(
        where=link.site or crash.site,
        message=f"flattening turned {list(before)} into {list(after)}: the batch axis was flattened too",
        label=f"{before[0]} samples became one row" if len(after) == 1 else f"{before[0]} samples",
        evidence={"before": list(before), "after": list(after)},
        edit=edits.keyword(link.site, "start_dim", "1") if link.op == "flatten" else None,
        fix="keep the batch axis: x.flatten(1)",
        related=[(crash.site, "it fails here")],
    )


def _rows(crash: Crash, link: Link, before: tuple[int, ...], after: tuple[int, ...]) -> Proof:
    right = prod(before[1:])
    return Proof(
        where=link.site or crash.site,
        message=f"flattening turned {list(before)} into {list(after)}: {before[0]} samples became {after[0]} rows",
        label=f"each sample has {right} values",
        evidence={"before": list(before), "after": list(after), "right": right},
        fix=f"flatten with x.flatten(1) and build the next layer for {right} values",
        related=[(crash.site, "it fails here")],
    )


def _view(crash: Crash, tensor: HeldTensor, found: Operation) -> Proof:
    right = prod(tensor.shape[1:])
    sizes = ", ".join(operand.name for operand in found.operands[1:])
    return Proof(
        where=crash.site,
        message=f"{list(tensor.shape)} cannot be seen as ({sizes}): each sample has {right} values",
        label=f"each sample has {right} values",
        evidence={"shape": list(tensor.shape), "wanted": sizes, "right": right},
        fix=f"flatten with {found.operands[0].name}.flatten(1); the next layer then needs in_features={right}",
    )
