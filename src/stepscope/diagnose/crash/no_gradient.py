"""Why `p.grad` is None: the loss did not reach the parameter, or the name means another tensor by now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import built_at
from stepscope.diagnose.crash.suspects import Suspect
from stepscope.diagnose.crash.value_origin import bound
from stepscope.diagnose.rule import Proof
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module, Parameter


def no_gradient(crash: Crash, suspect: Suspect) -> Proof | None:
    """The finding for a `.grad` that is None; None for anything else."""
    node = suspect.node
    if not isinstance(node, ast.Attribute) or node.attr != "grad":
        return None
    owner = suspect.frame.value_of(node.value)
    if not isinstance(owner, HeldTensor):
        return None
    return _rebound(suspect, said(node.value), owner) or _unreached(crash, suspect, said(node.value), owner)


def _rebound(suspect: Suspect, name: str, owner: HeldTensor) -> Proof | None:
    """`W = W - lr * W.grad`: the name means the result from then on, and that has no gradient."""
    binding = bound(suspect.frame, name, owner)
    value = None if binding is None else binding.value
    if binding is None or value is None or owner.is_parameter or not isinstance(value, ast.BinOp):
        return None
    if not any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value)):
        return None
    sign = {ast.Sub: "-=", ast.Add: "+="}.get(type(value.op), "")
    plain = sign and said(value.left) == name
    change = f"{name} {sign} {said(value.right)}" if plain else f"{name}.copy_({said(value)})"
    return Proof(
        where=binding.site,
        message=f"this line makes a new tensor and calls it `{name}`; the one with the gradient is gone",
        label=f"`{name}` is another tensor from here on",
        evidence={"name": name, "made_by": said(value)},
        fix=f"change it in place, under torch.no_grad(): {change}",
        related=[(suspect.frame.site, f"`{name}.grad` is None here")],
    )


def _unreached(crash: Crash, suspect: Suspect, name: str, owner: HeldTensor) -> Proof | None:
    """A parameter of a layer that took no part in the loss."""
    if not owner.is_parameter:
        return None
    found = [(root, path, key) for root, path, key, one in _parameters(crash) if _is_untouched(one, owner)]
    root, path, key = found[0] if len(found) == 1 else (None, "", "")
    full = f"{path}.{key}".strip(".")
    site = None if root is None else built_at(crash.modules, root, path)
    which = f"`{name}` is {full}, which" if full else f"this parameter, {list(owner.shape)},"
    return Proof(
        where=suspect.frame.site,
        message=f"`{name}.grad` is None: {which} had no part in the loss, so backward gave it no gradient",
        label=f"{full or name} has no gradient",
        evidence={"parameter": full or name, "shape": list(owner.shape)},
        fix=f"skip such parameters, if {name}.grad is not None; or use the layer in forward, or remove it",
        related=[] if site is None else [(site, f"the layer of {full} is built here")],
    )


def _is_untouched(one: Parameter, owner: HeldTensor) -> bool:
    return one.shape == owner.shape and not one.has_grad


def _parameters(crash: Crash) -> Iterator[tuple[Module, str, str, Parameter]]:
    models = [value for _, value, _ in crash.values() if isinstance(value, Module)]
    for model in dict.fromkeys(models):
        for path, part in model.named_modules():
            for key, one in part.own.items():
                yield model, path, key, one
