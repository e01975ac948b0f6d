from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS, RESHAPES, SELECTIONS
from stepscope.diagnose import edits
from stepscope.diagnose.crash.dtypes import dtype_fault
from stepscope.diagnose.crash.id_columns import id_columns
from stepscope.diagnose.crash.provenance import MAKERS
from stepscope.diagnose.crash.turning_point import turning_point
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor


@rule("dtype.index-float", severity="error", needs="crash")
def index_float(run: Evidence) -> Iterator[Proof]:
    """A tensor of floats was used as an index.

    Why it matters: embeddings, `gather` and indexing look things up and need whole numbers.

    What to do: make the indices int64 where they are made, or convert them with `.long()`.

    Bad:
        ids = torch.tensor([0.0, 2.0])
        vectors = embedding(ids)
    Good:
        ids = torch.tensor([0, 2])
        vectors = embedding(ids)
    """
    crash = run.crash
    fault = None if crash is None else dtype_fault(crash)
    if crash is None or fault is None or fault.kind != "index-float":
        return
    kind = fault.tensor.dtype
    table = id_columns(crash, fault.tensor)
    if table is not None:
        name, site = table
        yield Proof(
            where=site,
            message=f"`{name}` is {kind}, and its columns are used as indices: `{fault.op}` needs whole numbers",
            label=f"{kind}",
            evidence={name: kind},
            edit=edits.append(site, ".long()"),
            fix="convert them here, all at once: .long()",
            related=[(crash.site, "it fails here")],
        )
        return
    made = (
        None
        if _is_column(fault.tensor)
        else turning_point(crash, fault.tensor, lambda dtype, axes: dtype == kind, *MAKERS, "float", "to", "div", "mul")
    )
    cast = ".bool()" if fault.op == "getitem" and fault.tensor.extremes == (0, 1) else ".long()"
    yield Proof(
        where=made or crash.site,
        message=f"`{fault.op}` needs whole numbers as indices, and {fault.name} is {kind}"
        if cast == ".long()"
        else f"{fault.name} is {kind} and holds only 0 and 1: a mask, which has to be True and False",
        label=f"{fault.name}: {kind} {list(fault.tensor.shape)}",
        evidence={fault.name: f"{kind} {list(fault.tensor.shape)}"},
        edit=tensors.named_operand(crash.site, fault.name, cast),
        fix=f"convert the {'mask' if cast == '.bool()' else 'indices'}: {cast}",
        related=[] if made is None else [(crash.site, "it fails here")],
    )


def _is_column(tensor: HeldTensor) -> bool:
    """Whether the indices are one column of a table of floats: that is right, and is converted where it is picked."""
    origin = None if tensor.origin is None else tensor.origin.back_through(CASTS | RESHAPES)
    if origin is None or origin.op not in SELECTIONS or not origin.inputs:
        return False
    return len(origin.inputs[0].shape) > len(origin.shape)
