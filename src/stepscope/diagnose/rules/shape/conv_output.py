from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.common.syntax import statement_at
from stepscope.common.units import listed
from stepscope.diagnose import edits
from stepscope.diagnose.crash.convolutions import even, is_spatial, mend
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import built_line
from stepscope.diagnose.crash.op_chain import Link, mainline
from stepscope.diagnose.crash.sizes import SizeFault, size_fault
from stepscope.diagnose.crash.turning_point import own_site
from stepscope.diagnose.crash.upsampling import Up, mirrored
from stepscope.diagnose.edits.literals import constant_near
from stepscope.diagnose.edits.syntax import find
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site


@rule("shape.conv-output", severity="error", needs="crash")
def conv_output(run: Evidence) -> Iterator[Proof]:
    """Kernel, stride and padding of a layer produce maps of a different height and width than expected.

    Why it matters: the maps meet others later (a skip connection, the image itself in the loss) and do not fit.

    What to do: give the layer the padding that keeps the size (`kernel_size // 2`), or the `output_padding` that undoes
    the stride.

    Bad:
        self.conv = nn.Conv2d(16, 16, 3)                 # 28 -> 26, then x + self.conv(x)
    Good:
        self.conv = nn.Conv2d(16, 16, 3, padding=1)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "conv-output":
        return
    pair = fault.facts.get("pair")
    if pair is None:
        yield from _too_small(crash, fault)
        return
    odd = next((found for tensor in pair if (found := _odd_input(run, crash, tensor)) is not None), None)
    uneven = _uneven(crash, pair) or (None if odd is not None else _off_the_mirror(crash, pair))
    sizes = " and ".join(str(list(tensor.shape[2:])) for tensor in pair)
    evidence = {"shapes": [list(tensor.shape) for tensor in pair]}
    if uneven is None and odd is not None:
        size, path, written = odd
        yield Proof(
            where=written,
            message=f"images of size {size} cannot be divided evenly by {path}, so {sizes} meet on the way up",
            label=f"{size} is not a multiple of all strides together",
            evidence={**evidence, "size": size, "layer": path},
            fix="use a size that all the strides together divide, or bring one map to the other's size before they "
            "meet: F.interpolate(up, size=skip.shape[2:])",
            related=[(crash.site, f"{sizes} meet here")] if written != crash.site else [],
        )
        return
    if uneven is None and crash.operands and crash.operation is not None and crash.operation.op in ("add", "__add__"):
        residual = _residual(crash, pair)
        if residual is not None:
            yield residual
            return
    if uneven is None:
        yield Proof(
            where=crash.site,
            message=f"maps of {sizes} meet: the sizes do not divide evenly on the way down and up again",
            evidence=evidence,
            fix="pad the image to a size that the strides divide, or interpolate one map to the other's size",
        )
        return
    ups = mirrored(crash, pair[0], pair[1].shape[-1]) or mirrored(crash, pair[1], pair[0].shape[-1])
    if ups:
        yield _mirrored(crash, ups, sizes, evidence)
        return
    path, module, site = uneven
    yield Proof(
        where=site or crash.site,
        message=f"{path} ({module.type}) changes the size of its map, so {sizes} meet later",
        label=f"{mend(module)} would keep it even" if not even(module) else "no map on the way down had this size",
        evidence={**evidence, "layer": path},
        fix=f"give {path} {mend(module)}" if not even(module) else f"change the output_padding of {path}",
        related=[(crash.site, f"{sizes} meet here")],
    )


def _residual(crash: Crash, pair: tuple[HeldTensor, HeldTensor]) -> Proof | None:
    """What a block makes of its input, with other channels at a stride, and the input itself: they are added."""
    made, given = sorted(pair, key=lambda one: one.shape[-1])
    if made.ndim != 4 or given.ndim != 4 or made.shape[1] == given.shape[1] or given.shape[-1] % made.shape[-1]:
        return None
    stride = given.shape[-1] // made.shape[-1]
    names = {id(tensor): name for name, tensor in crash.operands}
    inner, outer = names.get(id(made), "out"), names.get(id(given), "x")
    conv = f"nn.Conv2d({given.shape[1]}, {made.shape[1]}, 1, stride={stride})"
    return Proof(
        where=crash.site,
        message=f"the block turns {list(given.shape[1:])} into {list(made.shape[1:])}, "
        f"and `{outer}` is added as it was",
        label=f"{inner} {list(made.shape)}, {outer} {list(given.shape)}",
        evidence={"shapes": [list(tensor.shape) for tensor in pair]},
        fix=f"where channels or stride change, the shortcut needs a layer too: self.shortcut = {conv}, and then "
        f"{inner} + self.shortcut({outer}); nn.Identity() elsewhere",
    )


def _mirrored(crash: Crash, ups: list[Up], sizes: str, evidence: dict[str, Any]) -> Proof:
    """Layers on the way up that lack the row and column which the stride on the way down left over."""
    first = ups[0]
    names = listed([one.path for one in ups])
    return Proof(
        where=first.site or crash.site,
        message=f"{first.path} ({first.module.type}) turns {first.given} into {first.made}, where the way down had "
        f"{first.wanted}; so {sizes} meet in the end",
        label=f"output_padding={first.padding} gives {first.wanted}",
        evidence={**evidence, "layers": [one.path for one in ups], "output_padding": [one.padding for one in ups]},
        edit=edits.both(*(edits.argument(one.site, None, "output_padding", str(one.padding)) for one in ups)),
        fix=f"give {names} output_padding={first.padding}"
        if len({one.padding for one in ups}) == 1
        else "give " + ", ".join(f"{one.path} output_padding={one.padding}" for one in ups),
        related=[(crash.site, f"{sizes} meet here")],
    )


def _odd_input(run: Evidence, crash: Crash, tensor: HeldTensor) -> tuple[int, str, Site] | None:
    """The size of the pictures that a pool or stride does not divide, and where it is written: else where maps meet."""
    lost = next((link for link in reversed(mainline(tensor)) if _loses(link)), None)
    origin = tensor.origin
    while origin is not None and origin.visit is not None:
        origin = next((past for past in origin.inputs if past.kind not in ("parameter", "buffer")), None)
    if lost is None or origin is None or not origin.shape:
        return None
    size = origin.shape[-1]
    for past in origin.ancestors(40, through=lambda one: one.shape[-1:] == (size,)):
        site = own_site(past) if past.shape[-1:] == (size,) else None
        file = None if site is None else run.source.file(site.file)
        statement = None if site is None else statement_at(site.file, site.line)
        here = None if file is None or statement is None else find(run.source, (file.path, statement.lineno))
        written = None if file is None or here is None else constant_near(file, here[1], size)
        if file is not None and written is not None:
            return size, lost.path or "a pool", file.site(written)
    lost_here = lost.before is not None and lost.before[-1] == size
    return (size, lost.path or "a pool", crash.site) if lost_here and crash.site is not None else None


def _loses(link: Link) -> bool:
    """Whether a layer that halves its map was given an odd one."""
    if link.layer is None or link.shape is None or link.before is None or not is_spatial(link.layer):
        return False
    stride = link.layer.attributes.get("stride", 1)
    step = stride[0] if isinstance(stride, (tuple, list)) else stride
    shrinks = link.shape[-1] < link.before[-1]
    return isinstance(step, int) and step > 1 and shrinks and even(link.layer) and link.before[-1] % step != 0


def _uneven(crash: Crash, pair: tuple[HeldTensor, HeldTensor]) -> tuple[str, Module, Site | None] | None:
    """The layer of the chain that loses something at the border: the nearest on one side and not on the other."""
    chains = [_spatial(crash, tensor) for tensor in pair]
    for chain, other in (chains, chains[::-1]):
        shared = {id(module) for _, module in other}
        for path, module in chain:
            if id(module) not in shared and not even(module):
                return path, module, built_line(crash.modules, module)
    return None


def _off_the_mirror(crash: Crash, pair: tuple[HeldTensor, HeldTensor]) -> tuple[str, Module, Site | None] | None:
    """The first layer on the way up whose map has a size that no map had on the way down."""
    for tensor in pair:
        sizes: set[int] = set()
        for link in reversed(mainline(tensor)):
            if link.shape is None or not link.path or link.layer is None or not is_spatial(link.layer):
                continue
            if link.before is not None:
                sizes.add(link.before[-1])
            grows = link.before is not None and link.shape[-1] > link.before[-1]
            if grows and link.shape[-1] not in sizes:
                return link.path, link.layer, built_line(crash.modules, link.layer)
            sizes.add(link.shape[-1])
    return None


def _spatial(crash: Crash, tensor: HeldTensor) -> list[tuple[str, Module]]:
    links = mainline(tensor)
    found = [(link.path, link.layer) for link in links if link.path and link.layer and is_spatial(link.layer)]
    roots = [visit.root.module for visit in crash.visits[:1]] + [layer.root for layer in crash.layers[:1]]
    if not found and roots and tensor.requires_grad and tensor.origin is None:
        found = [(path, module) for path, module in roots[0].named_modules() if is_spatial(module)]
    return found


def _too_small(crash: Crash, fault: SizeFault) -> Iterator[Proof]:
    layer, tensor = fault.layer, fault.tensor
    if layer is None or tensor is None:
        return
    kernel = layer.module.attributes.get("kernel_size")
    yield Proof(
        where=layer.site or crash.site,
        message=f"the map is {list(tensor.shape[2:])} when it reaches {layer.name}, smaller than its kernel needs",
        label=f"kernel_size={kernel}, map {list(tensor.shape[2:])}",
        evidence={"layer": layer.name, "kernel_size": kernel, "input_shape": list(tensor.shape)},
        fix="use fewer strides or pools before this layer, more padding, or larger images",
        related=[(crash.site, "it fails here")],
    )
