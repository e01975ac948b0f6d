from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, dotted
from stepscope.record.sites import site_at
from stepscope.record.watch.visits import Visit

_TARGET = re.compile(r"target|tgt|teacher", re.I)


@rule("rl.target-alias", severity="error")
def target_alias(run: Evidence) -> Iterator[Proof]:
    """The target network is the online network itself, not a copy.

    Why it matters: a target network is there to stand still while the online network learns. The same object under two
    names moves with every step, and the values chase themselves.

    What to do: `target = copy.deepcopy(online)`.

    How it is found: one function calls two names, one of them called target, and both are the same module object.

    Bad:
        self.target = self.online
    Good:
        self.target = copy.deepcopy(self.online)
    """
    groups: dict[tuple[Any, int], dict[str, list[Visit]]] = {}
    for visit in list(run.visits.roots)[:2000]:
        module = visit.module()
        name = _called_as(run, visit)
        if module is not None and name and visit.place is not None:
            groups.setdefault((visit.place[0], id(module)), {}).setdefault(name, []).append(visit)
    for names in groups.values():
        targets = [name for name in names if _TARGET.search(name)]
        others = [name for name in names if not _TARGET.search(name)]
        if not targets or not others or min(len(names[targets[0]]), len(names[others[0]])) < 2:
            continue
        visit = names[targets[0]][0]
        yield Proof(
            where=_assigned(run, visit, targets[0], others) or visit.place,
            message=f"{targets[0]} and {others[0]} are one and the same network",
            label=f"{targets[0]} is no copy: it learns with every step",
            evidence={"target": targets[0], "online": others[0], "calls": len(names[targets[0]])},
            fix=f"{targets[0]} = copy.deepcopy({others[0]})",
            related=[(visit.place, "used as the target here")],
        )


def _called_as(run: Evidence, visit: Visit) -> str:
    """The name a module was called by: `self.critic_target` of `self.critic_target(s, a)`."""
    call = run.source.call(visit.place)
    return "" if call is None else dotted(call.func)


def _assigned(run: Evidence, visit: Visit, target: str, others: list[str]) -> Any:
    """Where the one was made another name of the other."""
    if visit.place is None:
        return None
    file = run.source.file(site_at(visit.place).file)
    return None if file is None else next(_aliases(file, target, others), None)


def _aliases(file: SourceFile, target: str, others: list[str]) -> Iterator[Any]:
    for node in file.walk(ast.Assign):
        for left in node.targets:
            pairs = [(left, node.value)]
            if isinstance(left, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(left.elts, node.value.elts, strict=False))
            if any(dotted(name) == target and dotted(value) in others for name, value in pairs):
                yield file.site(node)
            chained = [dotted(one) for one in node.targets]
            if target in chained and any(other in chained for other in others):
                yield file.site(node)
