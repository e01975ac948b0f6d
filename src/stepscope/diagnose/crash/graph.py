"""Where a gradient's way was cut: the `no_grad`, the `detach`, the op without a derivative."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import parents_of, statement_at, tree_of
from stepscope.diagnose.crash.bindings import bound_before, node_site, scope_of
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame, several
from stepscope.evidence.frame_values import Code, Held, HeldTensor
from stepscope.evidence.modules import Module
from stepscope.evidence.origins import Origin
from stepscope.records.step import Site

_OFF = ("no_grad", "inference_mode", "set_grad_enabled")
_DETACH = ("detach", "detach_", "data", "item", "tolist", "__get__")
_NUMPY = ("numpy", "asarray")
_STEPS = frozenset({"argmax", "argmin", "gt", "lt", "ge", "le", "eq", "ne", "greater", "less", "long", "int", "bool",
                    "multinomial", "argsort", "sign", "round", "floor", "ceil", "one_hot", "topk"})  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """The place where the gradient's way ends."""

    kind: str
    """switched-off · detached · no-derivative · left-off · frozen"""
    site: Site | None
    op: str


def loss_of(crash: Crash) -> HeldTensor | None:
    """The tensor `backward` was called on."""
    for frame in crash.frames:
        if frame.own:
            continue
        found = frame.locals.get("self", frame.locals.get("tensors"))
        if frame.function in ("backward", "grad") and found is not None:
            found = (several(found) or [found])[0]
            if isinstance(found, HeldTensor):
                return found
    return None


def cut_of(crash: Crash) -> Cut | None:
    """Why the loss has no gradient."""
    if crash.says(r"inference tensors? cannot be saved for backward", r"inplace update to inference tensor"):
        return _inference(crash)
    if not crash.says(r"does not require grad and does not have a grad_fn"):
        return None
    if not crash.grad_enabled:
        return Cut("left-off", grad_switch(crash), "set_grad_enabled")
    if crash.frozen:
        return Cut("frozen", _freezing(crash), "")
    loss = loss_of(crash)
    origin = None if loss is None else loss.origin
    found = None if origin is None or not origin.op else _by_trail(origin)
    return found or _by_source(crash)


def _freezing(crash: Crash) -> Site | None:
    """The statement that freezes them, where there is one only: `p.requires_grad = False`, `requires_grad_(False)`."""
    found = []
    for file in dict.fromkeys(frame.file for frame in crash.own):
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            assigned = isinstance(node, ast.Assign) and any(
                isinstance(one, ast.Attribute) and one.attr == "requires_grad" for one in node.targets
            )
            called = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("requires_grad_")
            if (assigned or called) and "False" in ast.unparse(node):
                found.append(node_site(file, node))
    return found[0] if len(found) == 1 else None


def _inference(crash: Crash) -> Cut | None:
    """The `inference_mode` that made a tensor no gradient can pass through."""
    for file in dict.fromkeys(frame.file for frame in crash.own):
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("inference_mode"):
                return Cut("switched-off", node_site(file, node), "inference_mode")
    return None


def _by_trail(origin: Origin) -> Cut | None:
    """The nearest op that read something with a gradient and gave something without."""
    frozen: Origin | None = None
    for past in origin.ancestors(4000):
        if past.kind == "parameter" and not past.requires_grad:
            frozen = past
        if not past.op or past.requires_grad or not any(source.requires_grad for source in past.inputs):
            continue
        site = None if past.place is None else past.place.site
        if not past.grad and past.op not in _DETACH:
            return Cut("switched-off", (None if site is None else no_grad_around(site)) or site, past.op)
        if past.op in _DETACH:
            return Cut("detached", site, past.op)
        if not past.is_floating or past.op in _STEPS:
            return Cut("no-derivative", site, past.op)
        return Cut("detached", site, past.op)
    if frozen is not None:
        return Cut("frozen", None, "")
    return None


def no_grad_around(site: Site) -> Site | None:
    """The `with torch.no_grad()` or the decorator that a place stands under."""
    node: ast.AST | None = statement_at(site.file, site.line)
    parents = parents_of(site.file)
    while node is not None:
        if isinstance(node, ast.With):
            for item in node.items:
                if any(word in ast.unparse(item.context_expr) for word in _OFF):
                    return node_site(site.file, item.context_expr)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for mark in node.decorator_list:
                if any(word in ast.unparse(mark) for word in _OFF):
                    return node_site(site.file, mark)
        node = parents.get(node)
    return None


def grad_switch(crash: Crash) -> Site | None:
    """The statement that switched gradients off permanently: not in a `with`, not with True."""
    files = dict.fromkeys(frame.file for frame in crash.own)
    for file in files:
        parents = parents_of(file)
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            if not isinstance(node, ast.Call) or not isinstance(parents.get(node), ast.Expr):
                continue
            called = ast.unparse(node.func)
            given = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            if called.endswith(("set_grad_enabled", "__enter__")) and given != [True]:
                return node_site(file, node)
    return None


def _by_source(crash: Crash) -> Cut | None:
    """Without a trail: what the source says of the loss and of the models it came from."""
    for file, node in _suspects(crash):
        found = _cut_at(file, node)
        if found is not None:
            return found
    return None


def _suspects(crash: Crash) -> Iterator[tuple[str, ast.AST]]:
    frame = crash.last
    scope = None if frame is None else scope_of(frame)
    if frame is not None and scope is not None and isinstance(frame.running, ast.Call):
        seen: set[int] = set()
        waiting = [(name, frame.line) for name in _names(frame.running.func)]
        for name, line in waiting:
            binding = bound_before(frame.file, scope, name, line)
            if binding is None or id(binding.statement) in seen or len(seen) > 30:
                continue
            seen.add(id(binding.statement))
            yield frame.file, binding.statement
            yield from _inside_calls(frame, binding.value)
            if binding.value is not None and not isinstance(binding.statement, (ast.For, ast.With)):
                waiting += [(word, binding.line) for word in _names(binding.value)]
    for _, model, _ in crash.values():
        code = forward_of(crash, model)
        if code is not None:
            for node in ast.walk(tree_of(code.file) or ast.Module([], [])):
                if isinstance(node, ast.FunctionDef) and node.name == "forward":
                    yield from ((code.file, statement) for statement in ast.walk(node))


def forward_of(crash: Crash, model: Any) -> Code | None:
    """The `forward` of a model whose class is the user's own."""
    seen = crash.modules.get(model) if isinstance(model, Module) else None
    code = None if seen is None else seen.kind.methods.get("forward")
    return code if code is not None and code.own else None


def _inside_calls(frame: Frame, value: ast.expr | None) -> Iterator[tuple[str, ast.AST]]:
    """The statements of the user's own functions that an expression calls."""
    for part in ast.walk(value) if value is not None else ():
        called = frame.value_of(part.func) if isinstance(part, ast.Call) else None
        code = called.code if isinstance(called, Held) else None
        if code is not None and code.own:
            for node in ast.walk(tree_of(code.file) or ast.Module([], [])):
                if isinstance(node, ast.FunctionDef) and node.name == code.name:
                    yield from ((code.file, inner) for inner in node.body)


def _names(node: ast.AST) -> list[str]:
    return list(dict.fromkeys(part.id for part in ast.walk(node) if isinstance(part, ast.Name)))


def _cut_at(file: str, node: ast.AST) -> Cut | None:
    if isinstance(node, ast.stmt):
        around = no_grad_around(Site(file=file, line=node.lineno))
        if around is not None:
            return Cut("switched-off", around, "no_grad")
    for part in ast.walk(node) if not isinstance(node, (ast.For, ast.With, ast.FunctionDef)) else ():
        word = part.attr if isinstance(part, ast.Attribute) else ""
        if word in _DETACH:
            return Cut("detached", node_site(file, part), word)
        if word in _STEPS or word in _NUMPY:
            return Cut("no-derivative", node_site(file, part), word)
    return None
