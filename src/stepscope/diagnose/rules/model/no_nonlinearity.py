from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from stepscope.common.ops import CONVOLUTIONS, DROPOUTS, JOINS, MATMULS, REDUCTIONS, RESHAPES, VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin
from stepscope.evidence.visits import Visit


@rule("model.no-nonlinearity", severity="warning", needs="steps, end")
def no_nonlinearity(run: Evidence) -> Iterator[Proof]:
    """Linear layers follow each other with nothing between them, so together they are one linear layer.

    Why it matters: the depth adds parameters and nothing else; the model can only learn a linear function there.

    What to do: put an activation between them.

    How it is found: a linear layer (or convolution) reads exactly what another one returned, through nothing but
    reshaping or dropout, and what is between them is not narrower than both ends (a low rank on purpose). A warning
    when they are neighbors in one `nn.Sequential` or the whole model is linear, otherwise info.

    Bad:
        nn.Sequential(nn.Linear(2, 64), nn.Linear(64, 64), nn.Linear(64, 2))
    Good:
        nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    """
    for root, visits in list(run.layers.calls.items()):
        pairs = _pairs(visits)
        if not pairs:
            continue
        whole = _is_linear(visits[0])
        next_to = _neighbours(root)
        neighbours = [(a, b) for a, b in pairs if (id(a.module), id(b.module)) in next_to]
        first, second = (neighbours or pairs)[0]
        made = second.module.made
        yield Proof(
            where=made or second.place,
            message=f"{_said(second)} reads what {_said(first)} returns, with no activation between them"
            + ("; nothing in the whole model is nonlinear" if whole else ""),
            label="two linear layers in a row are one",
            evidence={"pairs": [[a.path or a.type, b.path or b.type] for a, b in pairs[:5]], "whole_model": whole},
            fix="put an activation (nn.ReLU(), nn.GELU()) between the two",
            severity=None if whole or neighbours else "info",
        )


_LINEAR = ("Linear", "Conv1d", "Conv2d", "Conv3d")
_LINEAR_OPS = VIEWS | DROPOUTS | MATMULS | CONVOLUTIONS | JOINS | REDUCTIONS | frozenset({
    "", "add", "add_", "sub", "mul", "div", "neg", "embedding", "avg_pool2d", "adaptive_avg_pool2d",
})  # fmt: skip


def _pairs(visits: list[Visit]) -> list[tuple[Visit, Visit]]:
    made: dict[int, Visit] = {}
    found = []
    for visit in visits:
        module = visit.module
        if not module.is_a(*_LINEAR) or not visit.inputs or not visit.outputs:
            continue
        before = made.get(id(visit.inputs[0].back_through(RESHAPES | DROPOUTS)))
        if before is not None and before.module is not module and _is_wide(before.module, module):
            found.append((before, visit))
        made[id(visit.outputs[0])] = visit
    return found


def _is_wide(first: Module, second: Module) -> bool:
    """Not a low rank on purpose, nor a depthwise and pointwise convolution, nor layers that are not trained."""
    if first.is_a("Linear") != second.is_a("Linear") or not all(
        p.requires_grad for m in (first, second) for p in m.parameters()
    ):
        return False
    one, other = first.attributes, second.attributes
    if first.is_a("Linear"):
        return bool(one["out_features"] >= max(min(one["in_features"], other["out_features"]), 2))
    if one["groups"] > 1 or other["groups"] > 1 or 1 in (max(one["kernel_size"]), max(other["kernel_size"])):
        return False
    if len(set(one["kernel_size"])) > 1 or len(set(other["kernel_size"])) > 1:
        return False  # a separable kernel
    return bool(one["out_channels"] >= min(one["in_channels"], other["out_channels"]))


def _neighbours(root: Module) -> set[tuple[int, int]]:
    """The ids of modules that stand in the same Sequential, with nothing that matters between them."""
    found: set[tuple[int, int]] = set()
    for part in root.modules():
        if part.is_a("Sequential"):
            inside = [id(m) for m in part.children.values() if not m.is_a("Dropout", "Identity", "Flatten")]
            found.update(pairwise(inside))
    return found


def _is_linear(root: Visit) -> bool:
    """Whether nothing between the model's inputs and its output bends: every op is known to be linear."""
    if not root.outputs:
        return False
    starts = {id(origin) for origin in root.inputs}
    output: Origin = root.outputs[0]
    for origin in output.ancestors(3000, through=lambda o: id(o) not in starts):
        if id(origin) in starts or origin.kind != "op":
            continue
        if origin.op not in _LINEAR_OPS:
            return False
        if (
            origin.op in ("mul", "div", "matmul", "bmm", "einsum")
            and sum(o.kind != "parameter" for o in origin.inputs) > 1
        ):
            return False  # a product of two activations
    return True


def _said(visit: Visit) -> str:
    name = f"{visit.path} " if visit.path else ""
    return f"{name}({visit.type})"
