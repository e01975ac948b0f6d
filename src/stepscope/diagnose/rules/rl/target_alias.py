from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, dotted
from stepscope.evidence.visits import Visit

_GIVE_THEMSELVES = ("to", "eval", "train", "cuda", "cpu", "float", "double", "half", "requires_grad_")
_TARGET = re.compile(r"target|tgt|teacher", re.I)


@rule("rl.target-alias", severity="error")
def target_alias(run: Evidence) -> Iterator[Proof]:
    """The target network is the online network itself, not a copy.

    Why it matters: a target network must stay fixed while the online network learns. The same object under two names
    moves with every step, and the values chase a moving target.

    What to do: `target = copy.deepcopy(online)`.

    How it is found: one function calls two names in turn, one of them called target, and both are the same module
    object. A function that trains one network first and another under its guidance later is left alone.

    Bad:
        self.target = self.online
    Good:
        self.target = copy.deepcopy(self.online)
    """
    groups: dict[tuple[str, int], dict[str, list[Visit]]] = {}
    for visit in list(run.visits.roots)[:2000]:
        name = _called_as(run, visit)
        if name and visit.place is not None:
            groups.setdefault((visit.place.file, id(visit.module)), {}).setdefault(name, []).append(visit)
    for names in groups.values():
        target = next((name for name in names if _TARGET.search(name)), None)
        others = [name for name in names if not _TARGET.search(name)]
        if target is None or not others or len(names[target]) < 2:
            continue
        visit = names[target][0]
        made = _assigned(run, visit, target, others)
        together = [name for name in others if _in_one_function(names[target], names[name])]
        if made is None and not together:
            continue  # `net(s)` in a helper is whatever it is given
        online = (together or others)[0]
        yield Proof(
            where=made or visit.place,
            message=f"{target} and {online} are one and the same network",
            label=f"{target} is not a copy: it learns with every step",
            evidence={"target": target, "online": online, "calls": len(names[target])},
            fix=f"{target} = copy.deepcopy({online})",
            related=[(visit.place, "used as the target here")],
        )


def _in_one_function(some: list[Visit], others: list[Visit]) -> bool:
    places = [visit.place for visit in some if visit.place is not None]
    beside = [visit for visit in others if any(place.is_beside(visit.place) for place in places)]
    first, last = some[0].index, some[-1].index
    return len(others) > 1 and any(first < visit.index < last for visit in beside)


def _called_as(run: Evidence, visit: Visit) -> str:
    """The name a module was called by: `self.critic_target` of `self.critic_target(s, a)`."""
    call = run.source.call(visit.place)
    return "" if call is None else dotted(call.func)


def _assigned(run: Evidence, visit: Visit, target: str, others: list[str]) -> Any:
    """Where the one was made another name of the other."""
    if visit.place is None:
        return None
    file = run.source.file(visit.place.site.file)
    return None if file is None else next(_aliases(file, target, others), None)


def _aliases(file: SourceFile, target: str, others: list[str]) -> Iterator[Any]:
    for node in file.walk(ast.Assign):
        for left in node.targets:
            pairs = [(left, node.value)]
            if isinstance(left, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(left.elts, node.value.elts, strict=False))
            if any(dotted(name) == target and dotted(_itself(value)) in others for name, value in pairs):
                yield file.site(node)
        chained = [dotted(one) for one in node.targets]
        if target in chained and any(other in chained for other in others):
            yield file.site(node)


def _itself(value: ast.expr) -> ast.expr:
    """`net.to(device).eval()` is `net`."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _GIVE_THEMSELVES:
        value = value.func.value
    return value
