"""Which `output_padding` brings a decoder back to the sizes of its encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import built_line
from stepscope.diagnose.crash.op_chain import Link, mainline
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_UPS = ("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d")


@dataclass(frozen=True)
class Up:
    """A layer on the way up: what it makes, what it should make, and the argument that does it."""

    path: str
    module: Module
    site: Site | None
    given: int
    made: int
    wanted: int
    padding: int


def mirrored(crash: Crash, tensor: HeldTensor, size: int) -> list[Up]:
    """The layers to change so that each step up undoes its step down; [] where that does not give this size."""
    links = [link for link in reversed(mainline(tensor)) if _is_square(link)]
    downs = [link.before[-1] for link in links if link.before and link.shape and link.shape[-1] < link.before[-1]]
    ups = [link for link in links if link.layer is not None and link.layer.is_a(*_UPS)]
    if not ups or len(ups) != len(downs) or downs[0] != size:
        return []
    found: list[Up] = []
    given = ups[0].before[-1] if ups[0].before else 0
    for link, wanted in zip(ups, reversed(downs), strict=True):
        module, path = link.layer, link.path or ""
        if module is None or link.shape is None:
            return []
        padding = wanted - _without_padding(module, given)
        if not 0 <= padding < max(_first(module.attributes["stride"]), _first(module.attributes.get("dilation", 1))):
            return []
        if padding != _first(module.attributes["output_padding"]):
            made = _without_padding(module, given) + _first(module.attributes["output_padding"])
            found.append(Up(path, module, built_line(crash.modules, module), given, made, wanted, padding))
        given = wanted
    return found


def _is_square(link: Link) -> bool:
    shapes = [shape[2:] for shape in (link.shape, link.before) if shape is not None]
    return len(shapes) == 2 and all(shape and len(set(shape)) == 1 for shape in shapes)


def _without_padding(module: Module, size: int) -> int:
    held = module.attributes
    reach = _first(held.get("dilation", 1)) * (_first(held["kernel_size"]) - 1)
    return (size - 1) * _first(held["stride"]) - 2 * _first(held["padding"]) + reach + 1


def _first(value: Any) -> int:
    return int(value[0]) if isinstance(value, Sequence) else int(value)
