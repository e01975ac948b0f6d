"""What a model consists of: one `ModuleInfo` per module object, with a hash that is equal for equal blocks."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import torch

from stepscope import fence
from stepscope.records.step import ModuleInfo

_PLAIN = {torch.Tensor, torch.nn.Parameter}


def module_tree(root: Any) -> list[tuple[str, Any]]:
    """All modules with their paths, a shared one under each: `named_modules(remove_duplicate=False)`, but faster."""
    found: list[tuple[str, Any]] = []
    _walk("", root, (), found)
    return found


def _walk(path: str, module: Any, above: tuple[int, ...], found: list[tuple[str, Any]]) -> None:
    found.append((path, module))
    above = (*above, id(module))
    for name, child in module._modules.items():
        if child is not None and id(child) not in above:  # a module inside itself would never end
            _walk(f"{path}.{name}" if path else name, child, above, found)


def describe_model(root: Any, prefix: str = "", sites: dict[str, int] | None = None) -> list[ModuleInfo]:
    """All modules of a tree in definition order, each object once, shared ones with their other names as aliases.

    Works without running the model. `sites` maps paths to indices of construction sites.
    """
    places: dict[int, list[str]] = {}
    objects: dict[int, Any] = {}
    for path, module in module_tree(root):
        objects[id(module)] = module
        places.setdefault(id(module), []).append(".".join(part for part in (prefix, path) if part))
    counted: set[int] = set()
    known: dict[int, tuple[str, str]] = {}
    sites = sites or {}
    return [
        _describe(objects[key], paths, prefix, counted, _structure(objects[key], known), sites.get(paths[0]))
        for key, paths in places.items()
    ]


def _describe(
    module: Any, paths: list[str], root: str, counted: set[int], structure: tuple[str, str], site: int | None
) -> ModuleInfo:
    parameters = trainable = parameter_bytes = buffers = buffer_bytes = 0
    for parameter in module._parameters.values():
        if parameter is not None and id(parameter) not in counted:
            counted.add(id(parameter))
            numel = _numel(parameter)
            parameters += numel
            if parameter.requires_grad:
                trainable += numel
            parameter_bytes += numel and numel * parameter.element_size()
    for buffer in module._buffers.values():
        if buffer is not None and id(buffer) not in counted:
            counted.add(id(buffer))
            numel = _numel(buffer)
            buffers += numel
            buffer_bytes += numel and numel * buffer.element_size()
    return ModuleInfo(
        path=paths[0],
        type=_type(module),
        aliases=tuple(paths[1:]),
        parameters=parameters,
        trainable=trainable,
        parameter_bytes=parameter_bytes,
        buffers=buffers,
        buffer_bytes=buffer_bytes,
        extra=structure[0],
        site=site,
        root=root,
        structure=structure[1],
        training=bool(module.training),
    )


def _type(module: Any) -> str:
    return str(module.original_name) if isinstance(module, torch.jit.ScriptModule) else type(module).__name__


def _numel(tensor: Any) -> int:
    return 0 if type(tensor) not in _PLAIN and torch.nn.parameter.is_lazy(tensor) else int(tensor.numel())


def _extra(module: Any) -> str:
    try:
        return _said(module)
    except Exception as fault:
        fence.report("asking a module for its extra_repr", fault)
        return ""


def _said(module: Any) -> str:
    if type(module).extra_repr is torch.nn.EmbeddingBag.extra_repr:  # it formats all its attributes, its weights too
        plain = {name: value for name, value in module.__dict__.items() if not name.startswith("_")}
        return str(torch.nn.EmbeddingBag.extra_repr(SimpleNamespace(**plain)))
    return str(module.extra_repr())


def _structure(module: Any, known: dict[int, tuple[str, str]]) -> tuple[str, str]:
    """What the module says of itself, and the hash of its type, arguments and children."""
    found = known.get(id(module))
    if found is None:
        extra = _extra(module)
        known[id(module)] = extra, ""  # a module inside itself would never end
        shapes = tuple(tuple(p.shape) for p in module._parameters.values() if p is not None and _numel(p))
        children = tuple(_structure(child, known)[1] for child in module._modules.values() if child is not None)
        found = known[id(module)] = extra, _hash(f"{type(module).__module__}.{_type(module)}", extra, shapes, children)
    return found


@lru_cache(maxsize=4096)
def _hash(kind: str, extra: str, shapes: tuple[tuple[int, ...], ...], children: tuple[str, ...]) -> str:
    """Most modules of a model are like others of it."""
    text = repr((kind, extra, list(shapes), list(children)))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
