"""The variables of a frame when the script crashed: numbers verbatim, everything else described."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record
from stepscope.records.dtypes import is_floating

if TYPE_CHECKING:
    from stepscope.evidence.modules import Module, Parameter
    from stepscope.evidence.origins import Origin
    from stepscope.records.place import Place
    from stepscope.records.step import Site


@record
class Code:
    """The code of a function: its location."""

    __slots__ = ("file", "first_line", "name", "own")

    def __init__(self, file: str, name: str, first_line: int, own: bool) -> None:
        self.file = file
        self.name = name
        self.first_line = first_line
        self.own = own
        """Whether it is the user's."""


@record
class Kind:
    """The class of an object."""

    __slots__ = ("kinds", "methods", "name")

    def __init__(self, kinds: tuple[str, ...]) -> None:
        self.name = kinds[0]
        self.kinds = kinds
        """The names of the class and its base classes."""
        self.methods: dict[str, Code] = {}
        """Which of `__init__`, `forward`, `__getitem__` and `__iter__` are written in Python."""


@record
class Held:
    """An object: its class and the attributes that the source mentions."""

    __slots__ = ("attributes", "code", "kind", "shape", "usual")

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.attributes: dict[str, Any] = {}
        self.usual = True
        """Its attributes are those in its `__dict__`; False for a class that computes attributes."""
        self.code: Code | None = None
        """Of a function or method."""
        self.shape: tuple[int, ...] | None = None
        """Of an array."""

    @property
    def type(self) -> str:
        return self.kind.name

    def is_a(self, *kinds: str) -> bool:
        return any(kind in self.kind.kinds for kind in kinds)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.type})"


@record
class HeldItems(Held):
    """A list, tuple or dict (or an instance of a subclass): its first items."""

    __slots__ = ("items", "keys", "length")

    def __init__(self, kind: Kind, length: int) -> None:
        super().__init__(kind)
        self.length = length
        self.items: list[Any] = []
        self.keys: list[Any] | None = None
        """Of a dict."""


@record
class HeldLoader(Held):
    """A DataLoader."""

    __slots__ = ("batch_size", "dataset", "drop_last", "made", "samples", "workers")

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.batch_size: int | None = None
        self.drop_last = False
        self.workers: int | None = None
        self.samples: int | None = None
        """Number of samples per pass according to its sampler; None if unknown."""
        self.dataset: Any = None
        self.made: Place | None = None


@record
class HeldOptimizer(Held):
    """An optimizer, with the shapes of its parameters."""

    __slots__ = ("shapes",)

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.shapes: list[tuple[int, ...]] = []


@record
class GraphStep:
    """One op of the autograd graph behind a tensor, by the name of its node."""

    __slots__ = ("before", "node")

    def __init__(self, node: str, before: tuple[int, ...] | None) -> None:
        self.node = node
        self.before = before
        """The shape of its input, if the node has kept it."""


@record
class HeldTensor:
    """A tensor: everything but its values."""

    __slots__ = (
        "bytes", "device", "dtype", "gone", "grad", "graph", "has_grad", "has_graph", "high", "is_leaf", "is_parameter",
        "low", "made_by", "origin", "requires_grad", "shape", "sources", "version",
    )  # fmt: skip

    def __init__(self, shape: tuple[int, ...], dtype: str, device: str) -> None:
        self.shape = shape
        self.dtype = dtype
        self.device = device
        self.requires_grad = False
        self.is_leaf = True
        self.is_parameter = False
        self.has_grad = False
        """It has a gradient."""
        self.grad: HeldTensor | None = None
        """That gradient, if the source mentions it."""
        self.has_graph = False
        """It was computed with gradients."""
        self.made_by = ""
        """The name of its autograd node."""
        self.version = 0
        """How often it was written to."""
        self.bytes = 0
        self.low: float | None = None
        """Its minimum and maximum value; None for large, empty or device tensors."""
        self.high: float | None = None
        self.origin: Origin | None = None
        """Its recorded origin."""
        self.graph: list[GraphStep] = []
        """Without a recorded origin: the ops it came through, nearest first."""
        self.sources: list[Parameter] = []
        """Without a recorded origin: the parameters in its graph, nearest first."""
        self.gone = False
        """It was no variable's value: only its origin is left."""

    @classmethod
    def left(cls, origin: Origin) -> HeldTensor:
        """The recorded origin of a tensor that no longer exists, or never was a variable."""
        ghost = cls(origin.shape, origin.dtype, origin.device)
        ghost.requires_grad, ghost.origin, ghost.gone = origin.requires_grad, origin, True
        return ghost

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_floating(self) -> bool:
        return is_floating(self.dtype)

    @property
    def extremes(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    def __repr__(self) -> str:
        return f"HeldTensor({self.dtype} {list(self.shape)})"


@record
class ModuleSeen:
    """Details of a module beyond its record."""

    __slots__ = ("attributes", "hanging", "kind", "limits", "module", "sites")

    def __init__(self, module: Module, kind: Kind) -> None:
        self.module = module
        self.kind = kind
        self.attributes: dict[str, Any] = {}
        """Its attributes that are neither plain settings nor layers, if the source mentions them."""
        self.hanging: dict[str, Site | None] = {}
        """Attributes with a tensor that has a graph, and where the class assigns them."""
        self.sites: dict[str, Site] = {}
        """For a root: where each inner module was created, by path."""
        self.limits: dict[str, int] = {}
        """Maximum number of positions in its config, by the name of the setting."""


@record
class Scope:
    """The variables of a function or a file."""

    __slots__ = ("names",)

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
