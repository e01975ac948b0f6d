"""`wandb.Api().sweep(...)`: the runs that an agent has made for a sweep, and the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.wandb.errors import UsageError

if TYPE_CHECKING:
    from stepscope.wandb.public import PublicRun, Runs

__all__ = ["PublicSweep", "orders"]

orders: dict[str, str] = {}
"""Of each sweep that this process has planned for a metric: the order that puts the best run first."""


class PublicSweep:
    """A sweep of this store: `.runs` and `.best_run()`."""

    def __init__(self, id: str, runs: Runs) -> None:
        self.id = self.name = id
        self.runs = runs

    @property
    def order(self) -> str | None:
        """By which the best run comes first; None where the sweep was planned in another process."""
        return orders.get(self.id)

    def best_run(self, order: str | None = None) -> PublicRun | None:
        """The run with the best value of the sweep's metric, or by `order`."""
        wanted = order or self.order
        if wanted is None:
            raise UsageError(
                f"sweep {self.id}: its metric is known only in the process that planned it; "
                'pass an order: best_run(order="+summary_metrics.val_loss")'
            )
        ordered = self.runs.by(wanted)
        return ordered[0] if len(ordered) else None

    def __repr__(self) -> str:
        return f"<Sweep {self.id} ({len(self.runs)} runs)>"
