from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from stepscope.common.ops import SELECTIONS
from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import Expectation, Layer, built_at, expectation_of
from stepscope.diagnose.crash.op_chain import mainline, producer
from stepscope.diagnose.crash.samples import sample_source
from stepscope.diagnose.crash.single_sample import without_batch
from stepscope.diagnose.crash.sizes import SizeFault, is_odd_batch, size_fault
from stepscope.diagnose.crash.turning_point import own_site, turning_point
from stepscope.diagnose.crash.written_sizes import size_beside, size_written
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_AS_CHANNELS = " before and back after it; or use nn.GroupNorm(1, {}), which norms channels where they are"
_GIVES = ("out_features", "out_channels", "hidden_size", "embedding_dim", "num_features")
_TAKES = ("in_features", "in_channels", "input_size", "num_features")
"""The arguments of layers that say how wide their output and their input are."""


@rule("shape.linear-in", severity="error", needs="crash", follows=("api.endless-recursion",))
def linear_in(run: Evidence) -> Iterator[Proof]:
    """A layer was built for a different number of features than the previous layer outputs.

    Why it matters: the forward pass stops there. The line that fails is in `forward`, the mistake is in `__init__`.

    What to do: give both layers the same number: the second one's `in_features` is the first one's `out_features`.

    How it is found: the failing layer's own size is compared with what it was given; tracing back leads to the layer
    that made it, and both construction lines are known.

    Bad:
        self.hidden = nn.Linear(784, 256)
        self.out = nn.Linear(128, 10)
    Good:
        self.hidden = nn.Linear(784, 256)
        self.out = nn.Linear(256, 10)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "linear-in":
        return
    if fault.layer is None:
        yield from _output(crash, fault)
    else:
        yield from _between(run, crash, fault, fault.layer)


def _between(run: Evidence, crash: Crash, fault: SizeFault, layer: Layer) -> Iterator[Proof]:
    expected, tensor = fault.expected, fault.tensor
    if expected is None or tensor is None:
        return
    evidence: dict[str, Any] = {
        "layer": layer.name,
        expected.argument: expected.size,
        "given": fault.given,
        "input_shape": list(tensor.shape),
    }
    single = without_batch(crash, layer, tensor)
    if single is not None:
        yield Proof(
            where=single.site,
            message=f"`{single.name}` is one sample, {list(single.shape)}: the batch axis is missing",
            label=f"{list(single.shape)}",
            evidence=evidence,
            edit=edits.append(single.site, ".unsqueeze(0)"),
            fix=f"give the model a batch of one: {single.name}.unsqueeze(0)",
            related=[(crash.site, f"{layer.name} fails here")] if crash.site != single.site else [],
        )
        return
    if is_odd_batch(layer, tensor):
        yield Proof(
            where=sample_source(crash) or crash.site,
            message=f"this batch has {fault.given} values where {layer.name} was given {expected.size} before",
            label=f"a batch of shape {list(tensor.shape)}",
            evidence=evidence,
            fix=f"bring every sample to {expected.size} values when it is made",
            related=[(crash.site, f"{layer.name} fails here")],
        )
        return
    if _lacks_channels(layer.module, tensor.shape, expected.size):
        yield Proof(
            where=turning_point(crash, tensor, lambda dtype, axes: axes == tensor.ndim) or crash.site,
            message=f"{layer.name} was given {list(tensor.shape)}: the axis for its {expected.size} channel is missing",
            label=f"input {list(tensor.shape)}",
            evidence=evidence,
            fix="add the channel axis: x.unsqueeze(1)",
            related=[(crash.site, "it fails here"), (layer.site, "the layer was built here")],
        )
        return
    turned = _other_axis(tensor.shape, expected.size, expected.axis)
    made = producer(tensor, layer.root)
    kept = made is None or (turned != 0 and _width(made[1]) == expected.size)
    if kept and turned is not None:
        picture = _channels_last(crash, layer, tensor, turned)
        if picture is not None:
            yield picture
            return
        yield Proof(
            where=crash.own[-1].site if crash.own else layer.site,
            message=f"{layer.name} expects {expected.size} values on axis {expected.axis}, "
            f"but they are on axis {turned} of its input",
            label=f"input {list(tensor.shape)}",
            evidence=evidence,
            fix=_move(tensor.ndim, turned, expected.axis)
            + (_AS_CHANNELS.format(expected.size) if layer.module.is_a("LayerNorm") and turned == 1 else ""),
            related=[(layer.site, "the layer was built here")],
        )
        return
    source = None if made is None else built_at(crash.modules, layer.root, made[0])
    blamed, other = layer.site, source
    if made is not None and _directions(made[1]) * expected.size == fault.given and _directions(made[1]) == 2:
        half = size_beside(run.source, layer.site, source, ("hidden_size",), expected.size)
        yield _both_ways(layer, made[0], source, expected, evidence, f"2 * {half}")
        return
    if made is not None and _directions(made[1]) == 2 and expected.size == 2 * fault.given:
        half_given = _one_way(run, layer, made[0], tensor, evidence)
        if half_given is not None:
            yield half_given
            return
    if made is not None and _is_the_odd_one(layer.root, made[1], expected.size, fault.given):
        width = _argument_of_width(made[1])
        size = size_beside(run.source, source, layer.site, _sizes(layer.module, _TAKES, expected.size), expected.size)
        yield Proof(
            where=source,
            message=f"{made[0]} gives {fault.given} values where every layer after it expects {expected.size}",
            label=f"{width} should be {expected.size}",
            evidence={**evidence, "producer": made[0]},
            edit=layers.sized(source, width, size),
            fix=f"set {width} to {size}",
            related=[(layer.site, f"{expected.argument} is {expected.size} here")],
        )
        return
    gives = "its input has" if made is None else f"{made[0]} gives"
    # Data has its own width; between two layers a number that both share is right, and its use is wrong.
    written = size_written(run.source, blamed, expected.argument, expected.size, alone=True) if made is None else blamed
    if written != blamed:
        other = blamed
    size = str(fault.given)
    if made is not None:
        size = size_beside(run.source, blamed, source, _sizes(made[1], _GIVES, fault.given), fault.given)
    yield Proof(
        where=written or crash.site,
        message=f"{layer.name} is built for {expected.size} values, but {gives} {fault.given}",
        label=f"{expected.argument} should be {fault.given}",
        evidence=evidence if made is None else {**evidence, "producer": made[0]},
        edit=layers.sized(blamed, expected.argument, size, at_source=written != blamed),
        fix=f"set {expected.argument} to {size}",
        related=[]
        if other is None
        else [(other, "the layer is built here" if made is None else f"this layer gives {fault.given}")],
    )


def _channels_last(crash: Crash, layer: Layer, tensor: HeldTensor, axis: int) -> Proof | None:
    """Pictures as they lie in a file, [height, width, channels]: they are turned where they become tensors."""
    if not layer.module.is_a("_ConvNd") or axis != tensor.ndim - 1 or tensor.has_graph:
        return None
    where = turning_point(crash, tensor, lambda dtype, axes: axes == tensor.ndim)
    origins = () if tensor.origin is None else tensor.origin.ancestors(200)
    seen = next((one for one in origins if where is not None and own_site(one) == where), None)
    if where is None:
        return None
    axes = tensor.ndim if seen is None else len(seen.shape)
    before = axes - len(layer.module.attributes["kernel_size"]) - 1  # axes in front of those of one picture
    order = ", ".join(map(str, [*range(before), axes - 1, *range(before, axes - 1)]))
    return Proof(
        where=where,
        message=f"the {_kind_of_data(layer.module)} have their channels last, {list(tensor.shape)}, and {layer.name} "
        "expects them first",
        label=f"{list(tensor.shape if seen is None else seen.shape)}",
        evidence={"layer": layer.name, "input_shape": list(tensor.shape)},
        edit=edits.append(where, f".permute({order})"),
        fix=f"put the channels first where the tensor is made: .permute({order})",
        related=[(crash.site, "it fails here")],
    )


def _kind_of_data(layer: Module) -> str:
    return {1: "sequences", 2: "images"}.get(len(layer.attributes["kernel_size"]), "volumes")


def _one_way(run: Evidence, layer: Layer, name: str, tensor: HeldTensor, evidence: dict[str, Any]) -> Proof | None:
    """`h[-1]` of a recurrent layer that reads both ways: the last state of one direction only."""
    link = next(iter(mainline(tensor)), None)
    file = None if link is None or link.site is None else run.source.file(link.site.file)
    node = None if file is None or link is None or link.site is None else run.source.expression(link.site)
    if link is None or not isinstance(node, ast.Subscript) or link.op not in SELECTIONS:
        return None
    states = ast.unparse(node.value)
    joined = f"torch.cat([{states}[-2], {states}[-1]], dim=-1)"
    return Proof(
        where=link.site,
        message=f"{name} reads both ways, and `{ast.unparse(node)}` is the state of one direction: {tensor.shape[-1]} "
        f"values, where {layer.name} is built for both, {2 * tensor.shape[-1]}",
        label="one direction only",
        evidence=evidence,
        edit=edits.replace(link.site, joined),
        fix=f"join the last states of both directions: {joined}",
        related=[(layer.site, "built for both directions")],
    )


def _both_ways(
    layer: Layer, name: str, source: Site | None, expected: Expectation, evidence: dict[str, Any], size: str
) -> Proof:
    """A recurrent layer that reads both ways gives the values of both, one behind the other."""
    right = 2 * expected.size
    return Proof(
        where=layer.site,
        message=f"{name} reads both ways and gives 2 * {expected.size} = {right} values, and {layer.name} is built for "
        f"{expected.size}",
        label=f"{expected.argument} should be {right}",
        evidence={**evidence, "producer": name},
        edit=layers.sized(layer.site, expected.argument, size),
        fix=f"set {expected.argument} to {size}: bidirectional=True joins both directions",
        related=[(source, "it is bidirectional here")],
    )


def _directions(made: Module) -> int:
    return 2 if made.is_a("RNNBase") and made.attributes.get("bidirectional") else 1


_WIDTHS = (("_ConvNd", "out_channels"), ("RNNBase", "hidden_size"), ("Embedding", "embedding_dim"))


def _argument_of_width(made: Module) -> str:
    """The argument of a layer that says how many values it gives."""
    return next((name for kind, name in _WIDTHS if made.is_a(kind)), "out_features")


def _width(made: Module) -> int | None:
    """How many values a layer gives on the axis it writes to."""
    held = made.attributes
    return next((held[name] for name in ("out_features", "out_channels") if name in held), None)


def _sizes(module: Module, names: tuple[str, ...], size: int) -> tuple[str, ...]:
    return tuple(name for name in names if module.attributes.get(name) == size)


def _lacks_channels(layer: Module, shape: tuple[int, ...], size: int) -> bool:
    """A batch of gray pictures without their channel axis: torch takes it for one picture with many channels."""
    kernel = layer.attributes.get("kernel_size", ())
    return layer.is_a("_ConvNd") and size == 1 and len(shape) == len(kernel) + 1 and shape[0] != 1


def _other_axis(shape: tuple[int, ...], size: int, axis: int) -> int | None:
    """The one other axis that has the size the layer wants: channels last, or a forgotten transpose."""
    found = [index for index, n in enumerate(shape) if n == size and index != axis % len(shape)]
    return found[0] if len(found) == 1 and len(shape) >= 3 else None


def _move(ndim: int, source: int, axis: int) -> str:
    order = [index for index in range(ndim) if index != source]
    order.insert(axis % ndim, source)
    return f"put that axis where the layer expects it: x.permute({', '.join(map(str, order))})"


def _is_the_odd_one(root: Module, made: Module, wanted: int, given: int) -> bool:
    """Two or more layers want one size and none wants what the producer gives: the producer is the odd one."""
    wants = [expectation_of(module) for module in root.modules() if module is not made]
    sizes = [want.size for want in wants if want is not None]
    return sizes.count(wanted) >= 2 and given not in sizes


def _output(crash: Crash, fault: SizeFault) -> Iterator[Proof]:
    tensor, target = fault.tensor, fault.facts["target"]
    if tensor is None:
        return
    models = [value for _, value, _ in crash.values() if isinstance(value, Module)]
    for model in models:
        made = producer(tensor, model)
        site = None if made is None else built_at(crash.modules, model, made[0])
        if made is None or not any(module is made[1] for module in model.modules()):
            continue
        wanted = target.shape[-1]
        width = _argument_of_width(made[1])
        yield Proof(
            where=site or crash.site,
            message=f"the last layer, {made[0]}, gives {fault.given} values where the target has {wanted}",
            label=f"{width} should be {wanted}",
            evidence={"layer": made[0], "output_shape": list(tensor.shape), "target_shape": list(target.shape)},
            edit=layers.sized(site, width, wanted),
            fix=f"set {width} to {wanted}",
            related=[(crash.site, f"{list(tensor.shape)} meets {list(target.shape)} here")],
        )
        return
    yield Proof(
        where=crash.site,
        message=f"{list(tensor.shape)} meets {list(target.shape)}: the model's output is not as wide as the target",
        evidence={"output_shape": list(tensor.shape), "target_shape": list(target.shape)},
        fix=f"let the model's last layer give {target.shape[-1]} values",
    )
