from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import Source, SourceFile
from stepscope.evidence.misplaced_settings import MisplacedSettings


@rule("opt.setting-on-optimizer", severity="error")
def setting_on_optimizer(run: Evidence) -> Iterator[Proof]:
    """A setting such as the learning rate is assigned to the optimizer itself, which only reads its parameter groups.

    Why it matters: Python creates a new attribute that nothing reads, so training goes on with the old value and the
    schedule has no effect.

    What to do: write it into every group: `for group in optimizer.param_groups: group["lr"] = lr`.

    How it is found: one of torch's own optimizers has a number as an attribute under the name of a setting, and none of
    its groups has that value.

    Bad:
        optimizer.lr = 0.001
    Good:
        for group in optimizer.param_groups:
            group["lr"] = 0.001
    """
    for one in run[MisplacedSettings].all:
        found = _assignment(run.source, one.name)
        if found is None:
            continue
        file, assigned = found
        where = file.site(assigned)
        target, given = ast.unparse(assigned.targets[0].value), ast.unparse(assigned.value)  # type: ignore[attr-defined]
        loop, body = f"for group in {target}.param_groups:", f'group["{one.name}"] = {given}'
        kept = ", ".join(f"{value:g}" for value in sorted(set(one.in_groups)))
        yield Proof(
            where=where,
            message=f"this sets an attribute that {one.optimizer} never reads: its groups keep their own `{one.name}`",
            label=f"{one.name} = {one.value:g} here, {kept} in the groups",
            evidence={"setting": one.name, "value": one.value, "in_groups": one.in_groups},
            edit=edits.replace(where, f"{loop}\n{' ' * (assigned.col_offset + 4)}{body}"),
            fix=f"write it into every group: {loop} {body}",
        )


def _assignment(source: Source, name: str) -> tuple[SourceFile, ast.Assign] | None:
    """`optimizer.lr = value`, but not `self.lr = value`, which is the script's own."""
    for file in source.files():
        for node in file.walk(ast.Assign):
            target = node.targets[0]
            if not isinstance(target, ast.Attribute) or target.attr != name:
                continue
            if not isinstance(target.value, ast.Name) or target.value.id != "self":
                return file, node
    return None
