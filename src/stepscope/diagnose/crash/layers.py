"""The layers a crash went through: which one failed, what it was given, what it expected, and where it was built."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stepscope.common.syntax import statement_at
from stepscope.diagnose.crash.bindings import bindings_in
from stepscope.diagnose.crash.frames import Frame
from stepscope.evidence.frame_values import HeldTensor, ModuleSeen
from stepscope.evidence.modules import Module
from stepscope.records.step import Site


@dataclass(frozen=True)
class Expectation:
    """The one size a layer insists on: `in_features` of the last axis, `in_channels` of the second ..."""

    argument: str
    axis: int
    size: int

    def given(self, tensor: HeldTensor) -> int | None:
        """The size the tensor has there; None when it has no such axis."""
        shape = tensor.shape
        return int(shape[self.axis]) if -len(shape) <= self.axis < len(shape) else None


@dataclass(frozen=True)
class Layer:
    """One module on the stack when it crashed."""

    module: Module
    path: str
    root: Module
    frame: Frame
    modules: Mapping[Module, ModuleSeen]
    inputs: list[tuple[str, HeldTensor]] = field(default_factory=list)

    @property
    def input(self) -> HeldTensor | None:
        return self.inputs[0][1] if self.inputs else None

    @property
    def name(self) -> str:
        kind = self.module.type
        return f"{self.path} ({kind})" if self.path else kind

    @property
    def is_torchs(self) -> bool:
        return self.module.is_torchs

    @property
    def site(self) -> Site | None:
        return built_at(self.modules, self.root, self.path)

    def parameters(self) -> list[tuple[str, HeldTensor]]:
        """Those it holds itself, by name."""
        seen = self.modules.get(self.module)
        held = {} if seen is None else seen.attributes
        return [(name, value) for name in self.module.own if isinstance(value := held.get(name), HeldTensor)]

    @property
    def weight(self) -> HeldTensor | None:
        """Its parameter of that name."""
        seen = self.modules.get(self.module)
        found = None if seen is None else seen.attributes.get("weight")
        return found if isinstance(found, HeldTensor) else None


def layers_of(frames: Sequence[Frame], modules: Mapping[Module, ModuleSeen]) -> list[Layer]:
    """Outermost first; a module in several frames in a row is one layer."""
    found: list[Layer] = []
    names: dict[Module, str] = {}
    root: Module | None = None
    for frame in frames:
        module = frame.module
        if module is None or frame.function in ("_call_impl", "_wrapped_call_impl", "__call__"):
            continue
        if root is None or module not in names:
            root, names = module, {part: path for path, part in module.named_modules()}
        if found and found[-1].module is module:
            if found[-1].frame.function == "forward":
                continue  # a helper of its own: what `forward` was given says more
            found.pop()
        given = frame.arguments[1:]
        inputs = [(name, value) for name in given if isinstance(value := frame.locals.get(name), HeldTensor)]
        found.append(Layer(module, names[module], root, frame, modules, inputs))
    return found


_SIZES = (
    ("Linear", "in_features", -1),
    ("_NormBase", "num_features", 1),
    ("GroupNorm", "num_channels", 1),
    ("RNNBase", "input_size", -1),
    ("RNNCellBase", "input_size", -1),
    ("MultiheadAttention", "embed_dim", -1),
)


def expectation_of(module: Module) -> Expectation | None:
    """What size a layer of torch's insists on."""
    held = module.attributes
    if module.is_a("_ConvNd") and "kernel_size" in held:
        return Expectation("in_channels", -1 - len(held["kernel_size"]), held["in_channels"])
    if module.is_a("LayerNorm") and "normalized_shape" in held:
        shape = held["normalized_shape"]
        return Expectation("normalized_shape", -len(shape), int(shape[0]))
    for kind, argument, axis in _SIZES:
        if module.is_a(kind) and argument in held:
            return Expectation(argument, axis, held[argument])
    return None


def built_at(modules: Mapping[Module, ModuleSeen], root: Module, path: str) -> Site | None:
    """Where a layer was made: exact where construction was watched, else read off the class that holds it."""
    seen = modules.get(root)
    site = None if seen is None else seen.sites.get(path)
    if site is None and "." in path:
        return built_at(modules, root, path.rpartition(".")[0])  # a copy of a layer: where its holder was built
    if site is None:
        return None
    if site.column is None:
        return _item_of(root, path, site) or site
    return _asked_for(modules, root, path, site) or site


def built_line(modules: Mapping[Module, ModuleSeen], layer: Module) -> Site | None:
    """Where a layer was made, whichever model it is part of."""
    for root, seen in modules.items():
        path = next((path for path, part in root.named_modules() if part is layer), None) if seen.sites else None
        if path is not None:
            return built_at(modules, root, path)
    return None


def _asked_for(modules: Mapping[Module, ModuleSeen], root: Module, path: str, site: Site) -> Site | None:
    """A layer made by a helper function (`block(16, 32)`): where the model asked the helper for it."""
    if site.function.rpartition(".")[2] in ("__init__", "<module>", "", "setup"):
        return None
    parts = path.split(".")
    for depth in range(len(parts), 0, -1):
        holder = root.part(".".join(parts[: depth - 1]))
        seen = None if holder is None else modules.get(holder)
        code = None if seen is None else seen.kind.methods.get("__init__")
        if code is None or not code.own:
            continue
        node = statement_at(code.file, code.first_line)
        made = bindings_in(code.file, node, f"self.{parts[depth - 1]}") if node is not None else []
        if made:
            return made[0].site
    return None


def _item_of(root: Module, path: str, site: Site) -> Site | None:
    """A child of a Sequential stands on its own line of the call; find it by its position."""
    parent, _, key = path.rpartition(".")
    holder = root.part(parent)
    if holder is None or not holder.is_a("Sequential", "ModuleList") or not key.isdigit():
        return None
    statement = statement_at(site.file, site.line)
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("Sequential", "ModuleList")):
            items = node.args[0].elts if node.args and isinstance(node.args[0], ast.List) else node.args
            if len(items) == len(holder.children) and not any(isinstance(item, ast.Starred) for item in items):
                item = items[int(key)]
                return Site(
                    file=site.file,
                    line=item.lineno,
                    function=site.function,
                    column=item.col_offset,
                    end_column=item.end_col_offset if item.end_lineno == item.lineno else None,
                )
    return None
