from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.units import counted
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import dotted
from stepscope.evidence.weight_copies import KeptWeights, SelfUpdate, WeightCopies
from stepscope.records.step import Site

_STEPS = 3


@rule("model.not-copied", severity="error", needs="steps, end, crash", follows=("io.state-dict-alias",))
def not_copied(run: Evidence) -> Iterator[Proof]:
    """Weights are kept (snapshots, a moving average, a target network) without a copy, so they change with the model.

    Why it matters: `p.data`, `p.detach()` and `state_dict()` give the model's own memory. A list of them holds the
    latest weights again and again, a moving average is the model itself, and putting them back does nothing.

    What to do: copy the numbers: `p.detach().clone()`, `copy.deepcopy(model.state_dict())`.

    How it is found: several tensors in one variable of the script are the memory of one trained weight; or a line
    writes from a weight into a tensor kept since an earlier step, and both are the same memory every time.

    Bad:
        self.shadow = {name: p.data for name, p in model.named_parameters()}
    Good:
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
    """
    table = run[WeightCopies]
    for found in table.updates:
        if found.own >= 2 and not found.other and found.kept is not None:
            yield _updated(found)
    if table.same_networks >= _STEPS:
        yield from _assigned(run, table.same_networks)
    for kept in table.kept:
        where = _filled(run, kept)
        if where is not None:
            yield Proof(
                where=where,
                message=f"{kept.name} holds {counted(kept.count, 'entry', 'entries')} that are the memory of the live "
                f"weights: after every step all of them are the latest weights",
                label="kept without a copy",
                evidence={"variable": kept.name, "entries": kept.count, "step": kept.step},
                fix="keep copies: .detach().clone() of each tensor, or copy.deepcopy(model.state_dict())",
            )


def _updated(found: SelfUpdate) -> Proof:
    copied = found.op == "copy_"
    return Proof(
        where=found.kept,
        message="the tensors kept here are the model's own memory: "
        + ("copying them back does nothing" if copied else "their moving average is the model itself"),
        label="no copy: this changes with every optimizer step",
        evidence={"op": found.op, "times": found.own},
        fix="keep a copy: .detach().clone()",
        related=[(found.place, "source and target are the same memory here")],
    )


def _assigned(run: Evidence, steps: int) -> Iterator[Proof]:
    """`target.data = online.data`, which makes the two one."""
    for file in run.source.files():
        for node in file.walk(ast.Assign):
            to_data = any(isinstance(target, ast.Attribute) and target.attr == "data" for target in node.targets)
            if to_data and isinstance(node.value, (ast.Attribute, ast.Name, ast.Subscript)):
                yield Proof(
                    where=file.site(node),
                    message="this makes two networks one: after it both use the same memory, and one is trained",
                    label="the memory itself is assigned, not the numbers",
                    evidence={"steps": steps},
                    fix=f"copy the numbers: {ast.unparse(node.targets[0])}.copy_({ast.unparse(node.value)})",
                )
                return


def _filled(run: Evidence, kept: KeptWeights) -> Site | None:
    """The line that puts something into the variable."""
    file = run.source.file(kept.file)
    if file is None:
        return None
    name = kept.name.rpartition(".")[2]
    for call in file.calls("append", "extend", "insert", "update", "setdefault", "appendleft"):
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value).rpartition(".")[2] == name:
            return file.site(call)
    for node in file.walk(ast.Assign):
        for target in node.targets:
            base = target.value if isinstance(target, ast.Subscript) else target
            if dotted(base).rpartition(".")[2] == name:
                return file.site(node)
    return None
