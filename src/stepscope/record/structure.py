"""What a model consists of: one `ModuleInfo` per module object, with a hash that is equal for equal blocks.

`look` reads the model, and `describe` may follow when it has changed or is gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

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


class Seen:
    """What is read off a module, and its children: enough to describe it when it may have changed."""

    __slots__ = ("buffers", "children", "extra", "kind", "name", "parameters", "training")

    def __init__(self, module: Any, known: dict[int, Seen]) -> None:
        known[id(module)] = self  # before its children: a module may be inside itself
        self.kind: Any = type(module)
        self.name = _type(module)
        self.extra = _extra(module)
        self.training = bool(module.training)
        self.parameters = {name: _facts(one) for name, one in module._parameters.items()}
        self.buffers = {name: _facts(one) for name, one in module._buffers.items()}
        self.children = {
            name: known.get(id(child)) or Seen(child, known)
            for name, child in module._modules.items()
            if child is not None
        }


class Facts(NamedTuple):
    """What is read off a parameter or buffer."""

    id: int
    numel: int
    shape: Any
    bytes: int
    requires_grad: bool


def _facts(tensor: Any) -> Facts | None:
    if tensor is None:
        return None
    numel = _numel(tensor)
    return Facts(
        id(tensor),
        numel,
        tensor.shape if numel else (),
        numel and numel * tensor.element_size(),
        tensor.requires_grad,
    )


def look(root: Any) -> Seen:
    """Read what `describe` and `construction.sites_in` need, which takes a fraction of their time."""
    return Seen(root, {})


def describe_model(root: Any) -> list[ModuleInfo]:
    """All modules of a tree, without running the model."""
    return describe(look(root))


def describe(root: Seen, prefix: str = "", sites: dict[str, int] | None = None) -> list[ModuleInfo]:
    """All modules of a tree in definition order, each object once, shared ones with their other names as aliases.

    `sites` maps paths to indices of construction sites.
    """
    places: dict[Seen, list[str]] = {}
    for path, module in _paths(prefix, root):
        places.setdefault(module, []).append(path)
    counted: set[int] = set()
    known: dict[Seen, str] = {}
    sites = sites or {}
    return [
        _describe(module, paths, prefix, counted, _structure(module, known), sites.get(paths[0]))
        for module, paths in places.items()
    ]


def _paths(path: str, module: Seen, above: tuple[Seen, ...] = ()) -> Iterator[tuple[str, Seen]]:
    yield path, module
    above = (*above, module)
    for name, child in module.children.items():
        if child not in above:
            yield from _paths(f"{path}.{name}" if path else name, child, above)


def _describe(
    module: Seen, paths: list[str], root: str, counted: set[int], structure: str, site: int | None
) -> ModuleInfo:
    parameters = _uncounted(module.parameters, counted)
    buffers = _uncounted(module.buffers, counted)
    return ModuleInfo(
        path=paths[0],
        type=module.name,
        aliases=tuple(paths[1:]),
        parameters=sum([one.numel for one in parameters]),
        trainable=sum([one.numel for one in parameters if one.requires_grad]),
        parameter_bytes=sum([one.bytes for one in parameters]),
        buffers=sum([one.numel for one in buffers]),
        buffer_bytes=sum([one.bytes for one in buffers]),
        extra=module.extra,
        site=site,
        root=root,
        structure=structure,
        training=module.training,
    )


def _uncounted(tensors: dict[str, Facts | None], counted: set[int]) -> list[Facts]:
    """Those that no module before had."""
    found = []
    for one in tensors.values():
        if one is not None and one.id not in counted:
            counted.add(one.id)
            found.append(one)
    return found


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


def _structure(module: Seen, known: dict[Seen, str]) -> str:
    """The hash of a module's type, arguments and children."""
    found = known.get(module)
    if found is None:
        known[module] = ""  # a module inside itself would never end
        shapes = tuple([tuple(one.shape) for one in module.parameters.values() if one is not None and one.numel])
        children = tuple([_structure(child, known) for child in module.children.values()])
        found = known[module] = _hash(f"{module.kind.__module__}.{module.name}", module.extra, shapes, children)
    return found


@lru_cache(maxsize=4096)
def _hash(kind: str, extra: str, shapes: tuple[tuple[int, ...], ...], children: tuple[str, ...]) -> str:
    """Most modules of a model are like others of it."""
    text = repr((kind, extra, list(shapes), list(children)))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
