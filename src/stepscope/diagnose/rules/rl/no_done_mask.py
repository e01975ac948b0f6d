from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, dotted

_DONE = re.compile(
    r"^(b_|batch_|is_|t_)?(dones?|terminals?|terminated|terminations?|done_?(batch|mask|flags?)|finished)(_t|_b|_batch)?$",
    re.I,
)
_SHORT_DONE = re.compile(r"^_?(ds?|b?d_?t?|f|fin|ends?|term|over|stops?|flags?|dn)_?(b|batch|t)?$", re.I)
_PARTS = 4
_LOWEST = 0.8
_GAMMA = re.compile(r"(^|\.)_?(gamma|discount(_factor)?)$", re.I)
_REWARD = re.compile(r"(^|_)b?(r|rw|rew|rewards?|rs)(_|$|\d)", re.I)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@rule("rl.no-done-mask", severity="warning", needs="source")
def no_done_mask(run: Evidence) -> Iterator[Proof]:
    """The value of the next state is used even where the episode is over.

    Why it matters: after the last step there is no next state. Adding its value anyway teaches the model that an end is
    worth as much as continuing, and the values grow without bound.

    What to do: `target = reward + gamma * (1 - done) * next_value`.

    How it is found: the function that computes `reward + gamma * next_value` has the flags that say where episodes end,
    and never uses them.

    Bad:
        states, actions, rewards, next_states, dones = batch
        target = rewards + gamma * q_target(next_states).max(1).values
    Good:
        states, actions, rewards, next_states, dones = batch
        target = rewards + gamma * (1 - dones) * q_target(next_states).max(1).values
    """
    for file in run.source.files():
        for scope in (file.tree, *file.walk(ast.FunctionDef, ast.AsyncFunctionDef)):
            nodes = list(_own(scope))
            flags = _unused_flags(scope, nodes)
            target = next((node for node in nodes if _is_bootstrap(node)), None) if flags else None
            if target is None or _is_masked(nodes):
                continue
            name, flag = flags[0]
            yield Proof(
                where=file.site(target),
                message=f"the value of the next state is added for finished episodes too: {name} is never used here",
                label=f"{name} should take part in this",
                evidence={"flag": name, "target": ast.unparse(target)[:120]},
                fix=f"multiply the next value with (1 - {name})",
                related=[(file.site(flag), f"{name} is known here")],
            )
        yield from _unread_field(file)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions inside it."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, _SCOPES):
            continue
        yield child
        yield from _own(child)


def _unused_flags(scope: ast.AST, nodes: list[ast.AST]) -> list[tuple[str, ast.AST]]:
    bound: dict[str, ast.AST] = {}
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
        bound.update({one.arg: one for one in arguments if _DONE.match(one.arg)})
    short = _beside_reward(nodes)
    stored = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    for one in stored:
        if _DONE.match(one.id) or one.id in short:
            bound.setdefault(one.id, one)
    if not bound and not _collected(nodes):
        return []
    reads = Counter(n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    # `dones = torch.tensor(dones)` reads what it binds, and nothing more
    for node in nodes:
        for name, value in _bindings(node):
            inside = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value)) if name in bound else 0
            if inside and inside == reads[name]:
                del reads[name]
    only_collected = {name: those[0] for name, those in _collected(nodes).items() if reads[name] == len(those)}
    bound |= only_collected
    return [(name, node) for name, node in bound.items() if not reads[name] or name in only_collected]


def _collected(nodes: list[ast.AST]) -> dict[str, list[ast.AST]]:
    """Lists that flags are appended to, each with those calls: `ends.append(float(done))`.

    None where a loop ends with its episode: then nothing goes on beyond an end.
    """
    if any(_ends_with_episode(node) for node in nodes):
        return {}
    found: dict[str, list[ast.AST]] = {}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            given = [one.id for part in node.args for one in ast.walk(part) if isinstance(one, ast.Name)]
            if isinstance(node.func.value, ast.Name) and any(map(_DONE.match, given)) and len(node.args) == 1:
                found.setdefault(node.func.value.id, []).append(node)
    return found


def _ends_with_episode(node: ast.AST) -> bool:
    """`while not done`, `if done: break`"""
    leaves = isinstance(node, ast.If) and any(isinstance(one, (ast.Break, ast.Return)) for one in node.body)
    tested = node.test if isinstance(node, ast.While) or (isinstance(node, ast.If) and leaves) else None
    return tested is not None and any(isinstance(n, ast.Name) and _DONE.match(n.id) for n in ast.walk(tested))


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of an assignment, also of one side by side: `r, d = torch.tensor(r), torch.tensor(d)`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    pairs = [(node.targets[0], node.value)]
    if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))
    yield from ((target.id, value) for target, value in pairs if isinstance(target, ast.Name))


def _beside_reward(nodes: list[ast.AST]) -> set[str]:
    """Names that are unpacked together with a reward and an action: there a `d` is the flag."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store) and len(node.elts) >= _PARTS:
            names = [one.id for one in node.elts if isinstance(one, ast.Name)]
            if any(map(_REWARD.search, names)):
                found.update(name for name in names if _SHORT_DONE.match(name))
    return found


def _is_bootstrap(node: ast.AST) -> bool:
    """reward + gamma * something"""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        return False
    for reward, later in ((node.left, node.right), (node.right, node.left)):
        names = [part.id for part in ast.walk(reward) if isinstance(part, ast.Name)]
        names += [part.attr for part in ast.walk(reward) if isinstance(part, ast.Attribute)]
        if any(map(_REWARD.search, names)) and any(map(_is_discounted, _factors(later))):
            return True
    return False


def _factors(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _is_discounted(node: ast.AST) -> bool:
    number = node.value if isinstance(node, ast.Constant) else None
    return bool(_GAMMA.search(dotted(node))) or (isinstance(number, float) and _LOWEST <= number < 1)


def _is_masked(nodes: list[ast.AST]) -> bool:
    """Ends are dealt with in another way: by a mask, `where`, or states that are None."""
    for node in nodes:
        if isinstance(node, ast.Name) and re.search(r"mask|non_?final|not_?done|non_?terminal|alive", node.id, re.I):
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("where", "masked_fill", "masked_fill_"):
            return True
    return False


def _unread_field(file: SourceFile) -> Iterator[Proof]:
    """`namedtuple("Transition", [..., "done"])` whose field nobody ever reads."""
    fields = [
        (node, node.value)
        for call in file.calls("namedtuple")
        for node in ast.walk(call)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _DONE.match(node.value)
    ]
    for field, name in fields:
        read = any(isinstance(node, ast.Attribute) and node.attr == name for node in file.walk(ast.Attribute))
        target = next((node for node in file.walk(ast.BinOp) if _is_bootstrap(node)), None)
        loaded = any(isinstance(n.ctx, ast.Load) and _DONE.match(n.id) for n in _around(file, target))
        if not read and target is not None and not loaded and not _is_masked(list(_around(file, target))):
            yield Proof(
                where=file.site(target),
                message=f"the value of the next state is added for finished episodes too: {name} is never read",
                label=f"{name} should take part in this",
                evidence={"flag": name, "target": ast.unparse(target)[:120]},
                fix=f"multiply the next value with (1 - {name})",
                related=[(file.site(field), f"{name} is stored here")],
            )


def _around(file: SourceFile, node: ast.AST | None) -> list[ast.Name]:
    """The names in the function a node is in."""
    if node is None:
        return []
    scope = file.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or file.tree
    return [one for one in ast.walk(scope) if isinstance(one, ast.Name)]
