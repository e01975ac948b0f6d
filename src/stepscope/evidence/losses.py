"""Losses: every call of a loss function, its inputs, and the values of the first calls at each place."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope.evidence.registry import record, table

if TYPE_CHECKING:
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit
    from stepscope.records.place import Place

LOSSES = frozenset((
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss", "kl_div", "gaussian_nll_loss", "poisson_nll_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss", "cosine_embedding_loss", "margin_ranking_loss", "hinge_embedding_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "ctc_loss",
))  # fmt: skip
_KEPT = 2000


@record
class Look:
    """Statistics of one call."""

    __slots__ = (
        "high", "integral", "logsumexp", "low", "sums", "target_high", "target_low", "target_sums",
    )  # fmt: skip

    def __init__(self) -> None:
        self.low = self.high = 0.0
        """The minimum and maximum of the input's finite values."""
        self.sums: tuple[float, float] | None = None
        """The minimum and maximum sum over the classes of one row."""
        self.logsumexp: tuple[float, float] | None = None
        """The same for the log of the sum of exponentials: 0 for log-probabilities."""
        self.target_low: float | None = None
        self.target_high: float | None = None
        self.target_sums: tuple[float, float] | None = None
        self.integral = False
        """All targets are integers."""

    @property
    def rows_are_probabilities(self) -> bool:
        return self.low >= 0 and self.sums is not None and _near(self.sums, 1.0, 1e-3)


def _near(span: tuple[float, float], wanted: float, slack: float) -> bool:
    return abs(span[0] - wanted) <= slack and abs(span[1] - wanted) <= slack


@record
class LossCall:
    """One call of a loss function."""

    __slots__ = (
        "arguments", "backward", "batch", "counts", "grad", "ignore_index", "index", "look", "name", "origins", "place",
        "pos_weight", "reduction", "result", "shapes", "step", "target_requires_grad", "value", "visit", "weight",
    )  # fmt: skip

    def __init__(self, name: str, place: Place | None, index: int = 0, step: int = 0) -> None:
        self.name = name
        """The function: `cross_entropy`, also for `nn.CrossEntropyLoss`."""
        self.place = place
        self.index = index
        self.step = step
        self.backward = 0
        """Number of backwards before it."""
        self.grad = True
        self.visit: Visit | None = None
        """The call of the loss module, or of the user's module that calls the function."""
        self.origins: dict[str, Origin] = {}
        """By the function's own argument names: input, target, weight, pos_weight, anchor, positive, negative ..."""
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.arguments: dict[str, Any] = {}
        """The arguments that are not tensors, with defaults."""
        self.result: Origin | None = None
        self.value: float | None = None
        self.reduction = "mean"
        self.ignore_index: int | None = None
        self.weight: list[float] | None = None
        self.pos_weight: list[float] | None = None
        self.target_requires_grad = False
        self.counts: dict[int, int] | None = None
        """Counts of each integer among the targets (including ignored ones)."""
        self.look: Look | None = None
        self.batch: tuple[Origin, ...] = ()
        """The tensors the last loader delivered before it."""

    @property
    def input(self) -> Origin | None:
        return self.origins.get("input")

    @property
    def target(self) -> Origin | None:
        return self.origins.get("target")

    @property
    def trains(self) -> bool:
        """Whether it was computed with gradients, from something that has one."""
        return self.grad and any(origin.requires_grad for origin in self.origins.values())

    def __repr__(self) -> str:
        return f"LossCall({self.name}, {self.shapes})"


@table("losses")
@dataclass(eq=False)
class Losses:
    """`run.losses`"""

    calls: deque[LossCall] = field(default_factory=lambda: deque(maxlen=_KEPT))
    count: int = 0

    def named(self, *names: str) -> list[LossCall]:
        """The calls of these functions, in order."""
        return [call for call in self.calls if call.name in names]

    def by_place(self, *names: str, training: bool = True) -> list[list[LossCall]]:
        """The calls of these functions (by default all), grouped by line."""
        groups: dict[tuple[Any, str], list[LossCall]] = {}
        for call in self.calls:
            if (not names or call.name in names) and (call.trains or not training):
                groups.setdefault((call.place, call.name), []).append(call)
        return list(groups.values())


def class_axis(name: str, axes: int) -> int:
    """The class axis: the last of a matrix, and for `kl_div` and `ctc_loss`; else the second."""
    return -1 if axes < 2 or name in ("kl_div", "ctc_loss") else 1
