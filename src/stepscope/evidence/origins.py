"""A tensor's origin: the op that produced it, its place in the source, and its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record
from stepscope.records.dtypes import is_floating

if TYPE_CHECKING:
    from stepscope.evidence.loaders import Loader
    from stepscope.evidence.nonfinite import Spot
    from stepscope.evidence.precision_loss import Truncation
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place

DATA, NOISE, PARAMETER, CONSTANT, HOST, OUTPUT = 1, 2, 4, 8, 16, 32
"""Tags, propagated from an op's inputs to its outputs: a loader's batch, random numbers, a parameter, a factory
call (`zeros`, `arange`), values from numpy or Python, the output of a root module."""


@record
class Origin:
    """How one tensor was produced. References no tensor; `inputs` are the origins of the op's inputs."""

    __order__ = "index"
    __after__ = "inputs"
    __slots__ = (
        "arguments", "depth", "device", "dtype", "grad", "home", "index", "inputs", "kind", "loader", "name",
        "op", "output", "place", "requires_grad", "sequence", "shape", "spot", "step", "tags", "value", "visit",
    )  # fmt: skip

    def __init__(self, op: str, inputs: tuple[Origin, ...] = (), place: Place | None = None) -> None:
        self.op = op
        """The name of the op (`linear`, `softmax`); "" for a tensor without an observed op."""
        self.inputs = inputs
        self.place = place
        self.arguments: dict[str, Any] = {}
        """The non-tensor arguments, by name."""
        self.shape: tuple[int, ...] = ()
        self.dtype = "float32"
        self.device = "cpu"
        """Its name: `cpu`, `cuda:0`."""
        self.requires_grad = False
        self.kind = "op" if op else "outside"
        """op · parameter · buffer · data (from a loader) · outside (not observed)"""
        self.name: str | None = None
        """Of a parameter or buffer, if known."""
        self.tags = 0
        self.depth = 0
        self.index = 0
        """The op's number in execution order; outputs of one op share it."""
        self.step = 0
        """Number of optimizer steps so far."""
        self.visit: Visit | None = None
        """The innermost module call it ran in."""
        self.grad = True
        """Whether gradients were enabled."""
        self.home: str | None = None
        """moved · local · both (`devices.py`); None: unknown."""
        self.output = 0
        """Which of the op's results it is."""
        self.value: float | None = None
        """Of a single number on the CPU."""
        self.loader: Loader | None = None
        """The loader of its batch."""
        self.spot: Spot | Truncation | bool | None = None
        """What was remarkable about its values (`finite.py`, `numbers.py`); False: nothing; None: not checked."""
        self.sequence = -1
        """Its autograd sequence number, which maps graph nodes to lines."""
        for origin in inputs:
            self.tags |= origin.tags
            if origin.depth >= self.depth:
                self.depth = origin.depth + 1

    @property
    def is_floating(self) -> bool:
        return is_floating(self.dtype)

    def ancestors(self, most: int = 2000, through: Callable[[Origin], bool] | None = None) -> Iterator[Origin]:
        """This origin and its ancestors, nearest first; `through` decides which to look behind."""
        queue, seen = [self], {id(self)}
        for origin in queue:
            yield origin
            if len(seen) >= most or (through is not None and not through(origin)):
                continue
            for source in origin.inputs:
                if id(source) not in seen:
                    seen.add(id(source))
                    queue.append(source)

    def back_through(self, ops: frozenset[str] | set[str]) -> Origin:
        """Follow the first input back while the op is one of `ops` (views, casts): what was really computed."""
        origin = self
        while origin.op in ops and origin.inputs:
            several = origin.op == "broadcast_tensors" and origin.output < len(origin.inputs)
            origin = origin.inputs[origin.output if several else 0]
        return origin

    def comes_from(self, *ops: str, most: int = 2000) -> Origin | None:
        """The nearest ancestor made by one of these ops."""
        return next((origin for origin in self.ancestors(most) if origin.op in ops), None)

    def __repr__(self) -> str:
        return f"Origin({self.op or self.kind}, {list(self.shape)})"
