"""One sample that was given to a model as if it were a batch."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.layers import Layer, expectation_of
from stepscope.diagnose.crash.op_chain import mainline
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

_NORMS = {"BatchNorm2d": 4, "BatchNorm3d": 5}


@dataclass(frozen=True)
class Single:
    """The argument of the model that lacks the batch axis."""

    name: str
    shape: tuple[int, ...]
    site: Site


def without_batch(crash: Crash, layer: Layer, tensor: HeldTensor) -> Single | None:
    """What the model was called with, when the layer fails because there is no batch axis."""
    if not (_lacks_axis(layer, tensor) or _flattened_all(layer, tensor)):
        return None
    outermost = crash.layers[0]
    frame = crash.frame_before(outermost.frame)
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call) or not call.args or outermost.input is None:
        return None
    given = frame.value_of(call.args[0])  # `forward` may have bound its own argument again
    shape = given.shape if isinstance(given, HeldTensor) else outermost.input.shape
    return Single(said(call.args[0]), shape, node_site(frame.file, call.args[0], frame.function))


def _lacks_axis(layer: Layer, tensor: HeldTensor) -> bool:
    """A norm of batches of maps that was given one map: convolutions take that, it does not."""
    axes = next((axes for kind, axes in _NORMS.items() if layer.module.is_a(kind)), 0)
    return axes > 0 and tensor.ndim == axes - 1 and tensor.shape[0] == layer.module.attributes.get("num_features")


def _flattened_all(layer: Layer, tensor: HeldTensor) -> bool:
    """A flattening of one map took its channels for samples: all its values together are what the layer expects."""
    expected = expectation_of(layer.module)
    if expected is None or not layer.module.is_a("Linear") or prod(tensor.shape) != expected.size:
        return False
    for link in mainline(tensor):
        kernel = link.layer.attributes.get("kernel_size", ()) if link.layer is not None else ()
        if link.layer is not None and link.layer.is_a("_ConvNd") and link.before is not None:
            return len(link.before) == len(kernel) + 1
    return False
