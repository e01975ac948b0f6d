"""The layers a crash went through: which one failed, what it was given, what it expected, and where it was built."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from stepscope.diagnose.crash.bindings import bindings_in
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.syntax import statement_at
from stepscope.record.construction import construction_sites
from stepscope.record.watch.places import is_own
from stepscope.records.step import Site

__all__ = ["Expectation", "Layer", "built_at", "expectation_of", "layers_of"]


@dataclass(frozen=True)
class Expectation:
    """The one size a layer insists on: `in_features` of the last axis, `in_channels` of the second ..."""

    argument: str
    axis: int
    size: int

    def given(self, tensor: torch.Tensor) -> int | None:
        """The size the tensor has there; None when it has no such axis."""
        shape = tuple(tensor.shape)
        return int(shape[self.axis]) if -len(shape) <= self.axis < len(shape) else None


@dataclass(frozen=True)
class Layer:
    """One module on the stack when it crashed."""

    module: nn.Module
    path: str
    root: nn.Module
    frame: Frame
    inputs: list[tuple[str, torch.Tensor]] = field(default_factory=list)

    @property
    def input(self) -> torch.Tensor | None:
        return self.inputs[0][1] if self.inputs else None

    @property
    def name(self) -> str:
        kind = type(self.module).__name__
        return f"{self.path} ({kind})" if self.path else kind

    @property
    def is_torchs(self) -> bool:
        return type(self.module).__module__.startswith("torch.nn.")

    @property
    def site(self) -> Site | None:
        return built_at(self.root, self.path)


def layers_of(frames: Sequence[Frame]) -> list[Layer]:
    """Outermost first; a module in several frames in a row is one layer."""
    found: list[Layer] = []
    names: dict[int, str] = {}
    root: nn.Module | None = None
    for frame in frames:
        module = frame.module
        if module is None or frame.function in ("_call_impl", "_wrapped_call_impl", "__call__"):
            continue
        if "_modules" not in vars(module):  # `super().__init__()` has not run: it has no parts yet
            continue
        if root is None or id(module) not in names:
            root, names = module, {id(part): path for path, part in module.named_modules()}
        if found and found[-1].module is module:
            if found[-1].frame.function == "forward":
                continue  # a helper of its own: what `forward` was given says more
            found.pop()
        given = frame.code.co_varnames[1 : frame.code.co_argcount]
        inputs = [(name, value) for name in given if isinstance(value := frame.locals.get(name), torch.Tensor)]
        found.append(Layer(module, names[id(module)], root, frame, inputs))
    return found


def expectation_of(module: nn.Module) -> Expectation | None:
    """What size a layer of torch's insists on."""
    if isinstance(module, nn.Linear):
        return Expectation("in_features", -1, module.in_features)
    if isinstance(module, nn.modules.conv._ConvNd):
        return Expectation("in_channels", -1 - len(module.kernel_size), module.in_channels)
    if isinstance(module, nn.modules.batchnorm._NormBase):
        return Expectation("num_features", 1, module.num_features)
    if isinstance(module, nn.GroupNorm):
        return Expectation("num_channels", 1, module.num_channels)
    if isinstance(module, nn.LayerNorm):
        return Expectation("normalized_shape", -len(module.normalized_shape), int(module.normalized_shape[0]))
    if isinstance(module, nn.RNNBase):
        return Expectation("input_size", -1, module.input_size)
    if isinstance(module, nn.RNNCellBase):
        return Expectation("input_size", -1, module.input_size)
    if isinstance(module, nn.MultiheadAttention):
        return Expectation("embed_dim", -1, module.embed_dim)
    return None


def built_at(root: nn.Module, path: str) -> Site | None:
    """Where a layer was made: exact where construction was watched, else read off the class that holds it."""
    sites = construction_sites(root)
    site = sites.get(path)
    if site is None and "." in path:
        return built_at(root, path.rpartition(".")[0])  # a copy of a layer: where its holder was built
    if site is None:
        return None
    if site.column is None:
        return _item_of(root, path, site) or site
    return _asked_for(root, path, site) or site


def _asked_for(root: nn.Module, path: str, site: Site) -> Site | None:
    """A layer made by a helper function (`block(16, 32)`): where the model asked the helper for it."""
    if site.function.rpartition(".")[2] in ("__init__", "<module>", "", "setup"):
        return None
    parts = path.split(".")
    for depth in range(len(parts), 0, -1):
        holder: Any = root.get_submodule(".".join(parts[: depth - 1])) if depth > 1 else root
        code = getattr(type(holder).__init__, "__code__", None)
        if code is None or not is_own(code):
            continue
        node = statement_at(code.co_filename, code.co_firstlineno)
        made = bindings_in(code.co_filename, node, f"self.{parts[depth - 1]}") if node is not None else []
        if made:
            return made[0].site
    return None


def _item_of(root: nn.Module, path: str, site: Site) -> Site | None:
    """A child of a Sequential stands on its own line of the call; find it by its position."""
    parent, _, key = path.rpartition(".")
    holder: Any = root.get_submodule(parent) if parent else root
    if not isinstance(holder, (nn.Sequential, nn.ModuleList)) or not key.isdigit():
        return None
    statement = statement_at(site.file, site.line)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Sequential", "ModuleList")):
            items = node.args[0].elts if node.args and isinstance(node.args[0], ast.List) else node.args
            if len(items) == len(holder) and not any(isinstance(item, ast.Starred) for item in items):
                item = items[int(key)]
                return Site(
                    file=site.file,
                    line=item.lineno,
                    function=site.function,
                    column=item.col_offset,
                    end_column=item.end_col_offset if item.end_lineno == item.lineno else None,
                )
    return None
