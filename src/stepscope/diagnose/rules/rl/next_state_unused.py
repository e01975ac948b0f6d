from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.ops import CASTS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, dotted
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin
from stepscope.evidence.visits import Visit
from stepscope.records.place import Place

_NEXT = re.compile(
    r"^(next_?\w+|new_?(s|state|obs)\w*|n_?(s|state|obs)\w*|(s|state|obs)\w*_?(next|new|n|2|prime|p)|s_|ns|n|s2)$", re.I
)
_CALLS = 3
_ANCESTORS = 400
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)


@rule("rl.next-state-unused", severity="error")
def next_state_unused(run: Evidence) -> Iterator[Proof]:
    """The target of a value is computed from the state it is the target for, not from the state that follows.

    Why it matters: `reward + gamma * max Q(s, ·)` asks a state to be worth more than itself. The values say nothing
    about what an action leads to.

    What to do: give the target network the next state: `target(next_states)`.

    How it is found: in at least three steps both networks get the very same tensor, the one's answer is multiplied by a
    discount and added to data to be the other's target, and the next state that was unpacked is never read.

    Bad:
        target = rewards + gamma * (1 - dones) * target_net(states).max(1).values
    Good:
        target = rewards + gamma * (1 - dones) * target_net(next_states).max(1).values
    """
    for calls in run.losses.by_place("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        found = [visit for call in calls if (visit := _same_input(call)) is not None]
        if len(found) < _CALLS or found[0].place is None or len(found) < len(calls):
            continue
        file = run.source.file(found[0].place.file)
        unread = None if file is None else _unread(file, found[0].place)
        if file is None or unread is None:
            continue
        name, node = unread
        yield Proof(
            where=found[0].place,
            message=f"the value of the next state is computed from the current one; `{name}` is never used",
            label="the same tensor as the other network gets",
            evidence={"calls": len(found), "unused": name},
            fix=f"give this network the next state: `{name}`",
            related=[(file.site(node), f"`{name}` is unpacked here")],
        )
        return


def _same_input(call: LossCall) -> Visit | None:
    """The call of the network behind a discounted target, where it got what the learning network got."""
    ends = [one for one in (call.input, call.target) if one is not None]
    learned = next((one for one in ends if one.requires_grad), None)
    given = next((one for one in ends if not one.requires_grad), None)
    if learned is None or given is None:
        return None
    fed = {id(one) for visit in _roots(learned) for one in _inputs(visit)}
    for visit in _roots(given):
        inputs = _inputs(visit)
        if inputs and all(id(one) in fed for one in inputs) and _is_discounted(given):
            return visit
    return None


def _roots(origin: Origin) -> list[Visit]:
    roots = {id(one.visit.root): one.visit.root for one in origin.ancestors(_ANCESTORS) if one.visit is not None}
    return list(roots.values())


def _inputs(visit: Visit) -> list[Origin]:
    return [one.back_through(CASTS) for one in visit.inputs]


def _is_discounted(target: Origin) -> bool:
    """A sum of data, which no network made, and of a network's answer times something."""
    whole = target.back_through(CASTS)
    if whole.op.rstrip("_") != "add" or len(whole.inputs) != 2:
        return False
    answers = [one for one in whole.inputs if _roots(one)]
    return len(answers) == 1 and any(one.op.rstrip("_") == "mul" for one in answers[0].ancestors(6))


def _unread(file: SourceFile, place: Place) -> tuple[str, ast.AST] | None:
    """A name of the next state that the function unpacks, and reads only to bind it again."""
    node = file.at(place.site)
    scope = None if node is None else file.enclosing(node, *_SCOPES)
    if scope is None:
        return None
    stored: dict[str, ast.AST] = {}
    for one in ast.walk(scope):
        if isinstance(one, (ast.Tuple, ast.List)) and isinstance(one.ctx, ast.Store) and len(one.elts) >= 4:
            stored.update({part.id: part for part in one.elts if isinstance(part, ast.Name) and _NEXT.match(part.id)})
        if isinstance(one, ast.Assign) and _NEXT.match(dotted(one.targets[0])) and isinstance(one.targets[0], ast.Name):
            stored.setdefault(one.targets[0].id, one.targets[0])
    for name, at in stored.items():
        if all(_rebinds(file, one, name) for one in ast.walk(scope) if _reads(one, name)):
            return name, at
    return None


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _rebinds(file: SourceFile, node: ast.AST, name: str) -> bool:
    """Whether a read only makes the same name again: `n = torch.stack(n)`."""
    statement = file.enclosing(node, ast.Assign)
    targets = [] if statement is None else [part for target in statement.targets for part in ast.walk(target)]
    return any(isinstance(part, ast.Name) and part.id == name for part in targets)
