from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.common.syntax import said, statement_at
from stepscope.diagnose.crash.bindings import Binding, bound_before, scope_of
from stepscope.diagnose.crash.classes import own_class, values_returned
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, several, type_name
from stepscope.diagnose.crash.layers import built_at
from stepscope.diagnose.crash.proved import repairs_of, tried_or
from stepscope.diagnose.crash.value_origin import article
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldItems, HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_SIGNS = (
    r"must be tensor, not (?!nonetype|int|float|list|str|numpy)\w+",
    r"'(tuple|dict|\w*output\w*)' object",
    r"unsupported operand .*'tuple'",
    r"must be torch.tensor, not tuple",
    r"expected np\.ndarray \(got tuple\)",
    r"tuple indices must be integers or slices, not (tuple|nonetype)",
)
_IN_SEQUENTIAL = (
    "nn.Sequential hands on all that a layer gives: put a module behind it whose forward(self, parts) returns "
    "parts[0], or call the layers one by one in the forward of the model"
)


@rule("api.return-tuple", severity="error", needs="crash")
def return_tuple(run: Evidence) -> Iterator[Proof]:
    """A layer returns several values, which were used as if they were one tensor.

    Why it matters: `nn.LSTM` gives `(output, (h, c))`, attention gives `(output, weights)`, models of libraries give an
    object with named parts.

    What to do: take the part you need: `output, _ = self.lstm(x)`, or `.logits` of a model's output.

    Bad:
        x = self.lstm(x)
        x = self.fc(x)
    Good:
        x, _ = self.lstm(x)
        x = self.fc(x)
    """
    crash = run.crash
    if crash is None or not crash.is_a("TypeError", "AttributeError"):
        return
    if not crash.says(*_SIGNS):
        return
    inside = _in_sequential(crash)
    found = inside or _made(crash)
    if found is None:
        return
    site, text, value = found
    parts = _parts(value)
    is_tuple = several(value, "tuple") is not None
    yield Proof(
        where=site,
        message=f"`{text}` gives {parts}, which is used as one {'array' if _arrays(value) else 'tensor'}",
        label=f"a {type_name(value)}",
        evidence={"type": type_name(value), "parts": parts},
        edit=tensors.unpacked_first(site, len(several(value, "tuple") or ())) if is_tuple and not inside else None,
        fix=_fix(run, crash, site, value, inside is not None),
        related=[(crash.site, f"it is used as {'an array' if _arrays(value) else 'a tensor'} here")],
    )


def _unpacked(crash: Crash, site: Site, value: Any) -> str:
    """The statement that takes the tuple apart, with the names that the user's own `forward` gives the parts."""
    parts = len(several(value, "tuple") or ())
    statement = statement_at(site.file, site.line)
    simple = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], (ast.Name, ast.Attribute))
    if not simple or not isinstance(statement, ast.Assign):
        return f"take the part you need: `{', '.join(['out', *['_'] * (parts - 1)])} = ...`"
    first, call = said(statement.targets[0]), statement.value
    frame = next((one for one in crash.own if one.file == site.file and one.line >= site.line), crash.last)
    called = frame.value_of(call.func) if frame is not None and isinstance(call, ast.Call) else None
    found = own_class(crash, called.type) if isinstance(called, Module) and not called.is_torchs else None
    forward = None if found is None else found.methods.get("forward")
    returned = [] if found is None or forward is None else list(values_returned(found.file, forward))
    given = returned[0].elts if len(returned) == 1 and isinstance(returned[0], ast.Tuple) else []
    names = [one.id if isinstance(one, ast.Name) else "_" for one in given[1:]]
    names = names if len(given) == parts and first not in names else ["_"] * (parts - 1)
    return f"take it apart: `{', '.join([first, *names])} = {said(call)}`"


def _parts(value: Any) -> str:
    parts = several(value, "tuple")
    return f"a {type_name(value)}" if parts is None else f"({', '.join(map(_part, parts[:4]))})"


def _part(part: Any) -> str:
    kind = type_name(part)
    return f"a tensor {list(part.shape)}" if isinstance(part, HeldTensor) else f"{article(kind)} {kind}"


def _several(value: Any) -> bool:
    """A tuple or an object with tensors in it."""
    if not isinstance(value, HeldItems):
        return False
    tensors = any(isinstance(part, HeldTensor) for part in value.items[:8])
    if value.is_a("tuple"):
        return tensors or any(several(part, "tuple") is not None for part in value.items[:8])
    return tensors and value.is_a("dict")


def _arrays(value: Any) -> bool:
    """A tuple with an array in it, such as the observation and the info that `env.reset()` gives."""
    return (
        isinstance(value, HeldItems) and value.is_a("tuple") and any(type_name(one) == "ndarray" for one in value.items)
    )


def _made(crash: Crash) -> tuple[Site, str, Any] | None:
    """The statement that bound the tuple, in the user's own frames."""
    for frame in reversed(crash.own):
        scope = scope_of(frame)
        node = frame.running
        for part in ast.walk(node) if node is not None and scope is not None else ():
            value = frame.value_of(part) if isinstance(part, ast.Name) else MISSING
            if (
                value is MISSING
                or not (_several(value) or _arrays(value))
                or not isinstance(part, ast.Name)
                or scope is None
            ):
                continue
            binding: Binding | None = bound_before(frame.file, scope, part.id, frame.line)
            if binding is not None and isinstance(binding.value, ast.Call):
                return binding.site, said(binding.value), value
            return frame.site, part.id, value
        if isinstance(node, ast.Call):  # the inner call of f(g(x)) is not a variable
            inner = next((a for a in node.args if isinstance(a, ast.Call)), None)
            given = _given(crash)
            if inner is not None and given is not None and frame is crash.last:
                return frame.site, said(inner), given
    return None


def _given(crash: Crash) -> Any:
    layer = crash.layer
    frame = crash.frames[-1] if layer is None and crash.frames else None if layer is None else layer.frame
    values = [] if frame is None else [v for v in frame.locals.values() if _several(v)]
    return values[0] if values else None


def _in_sequential(crash: Crash) -> tuple[Site, str, Any] | None:
    """A layer of a Sequential that gives a tuple to the next."""
    for layer in crash.layers:
        value = layer.frame.locals.get("input")
        if layer.module.is_a("Sequential") and _several(value):
            running = layer.frame.locals.get("module")
            children = list(layer.module.children.items())
            at = next((i for i, (_, child) in enumerate(children) if child is running), 0)
            name = children[at - 1][0] if at else ""
            site = built_at(crash.modules, layer.root, f"{layer.path}.{name}".strip(".")) or crash.site
            if site is not None and at:
                return site, children[at - 1][1].type, value
    return None


def _fix(run: Evidence, crash: Crash, site: Any, value: Any, inside: bool) -> str:
    if inside:
        return _IN_SEQUENTIAL
    if several(value, "tuple") is not None:
        return _unpacked(crash, site, value)
    return tried_or(repairs_of(run), "take the part needed")
