"""The modules and parameters of a model, in torch's order.

A model of a thousand layers is walked through several times a step, and torch's own generators take longer.
"""

from __future__ import annotations

from typing import Any

import torch

__all__ = ["parameters_of", "parts_of"]

_Module = torch.nn.Module
_plain: dict[type, bool] = {}


def parts_of(root: Any) -> list[tuple[str, Any]]:
    """As `root.named_modules()`.

    >>> [path for path, _ in parts_of(torch.nn.Sequential(torch.nn.ReLU()))]
    ['', '0']
    """
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        at = waiting.pop()
        path, part = at
        if id(part) in seen:
            continue
        seen.add(id(part))
        if not (_plain.get(type(part)) or _is_plain(type(part))):
            return list(root.named_modules())
        found.append(at)
        if part._modules:
            prefix = f"{path}." if path else ""
            waiting += [(prefix + name, one) for name, one in reversed(part._modules.items()) if one is not None]
    return found


def parameters_of(root: Any) -> list[tuple[str, Any]]:
    """As `root.named_parameters()`: each once."""
    if type(root).named_parameters is not _Module.named_parameters or not _is_plain(type(root)):
        return list(root.named_parameters())
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()
    for path, part in parts_of(root):
        if own := part._parameters:
            prefix = f"{path}." if path else ""
            for name, one in own.items():
                if one is not None and id(one) not in seen:
                    seen.add(id(one))
                    found.append((prefix + name, one))
    return found


def _is_plain(kind: type) -> bool:
    """Whether modules of this class keep their parts as torch does. Scripted ones do not."""
    known = _plain.get(kind)
    if known is None:
        same = getattr(kind, "named_modules", None) is _Module.named_modules
        known = _plain[kind] = same and not issubclass(kind, torch.jit.ScriptModule)
    return known
