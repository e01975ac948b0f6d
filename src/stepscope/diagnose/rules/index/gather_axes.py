from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.edits.literals import given_argument
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_OPS = ("gather", "scatter", "scatter_", "scatter_add", "scatter_add_")
_SIGNS = (r"index tensor must have the same number of dimensions", r"index tensor must be .* as .* tensor")


@rule("index.gather-axes", severity="error", needs="crash")
def gather_axes(run: Evidence) -> Iterator[Proof]:
    """The index of `gather` or `scatter` has fewer axes than the tensor it picks from.

    Why it matters: `q.gather(1, actions)` picks one value per entry of the index, so the index has as many axes as the
    tensor: [batch, 1] for one value of each row.

    What to do: give the index the axis: `q.gather(1, actions.unsqueeze(1)).squeeze(1)`.

    Bad:
        q = net(states).gather(1, actions)                         # [32, 4] and [32]
    Good:
        q = net(states).gather(1, actions.unsqueeze(1)).squeeze(1)
    """
    crash = run.crash
    found = None if crash is None else crash.operation
    if crash is None or found is None or found.op not in _OPS or not crash.says(*_SIGNS):
        return
    call = found.node
    method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and said(call.func.value) != "torch"
    given = given_argument(call, 1 if method else 2, "index") if isinstance(call, ast.Call) else None
    where = given_argument(call, 0 if method else 1, "dim") if isinstance(call, ast.Call) else None
    index = found.frame.value_of(given)
    axis = found.frame.value_of(where)
    if given is None or not isinstance(index, HeldTensor) or type(axis) is not int:
        return
    name = said(given)
    added = f"{name}.unsqueeze({axis})"
    yield Proof(
        where=crash.site,
        message=f"`{found.op}` needs an index with as many axes as the tensor, and `{name}` is {list(index.shape)}",
        label=f"index {list(index.shape)}",
        evidence={"op": found.op, "index": list(index.shape), "dim": axis},
        edit=tensors.named_operand(crash.site, name, f".unsqueeze({axis})"),
        fix=f"give the index that axis: {added}"
        + (f", and take it away again behind the call: .squeeze({axis})" if found.op == "gather" else ""),
    )
