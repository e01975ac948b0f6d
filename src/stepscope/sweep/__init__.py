"""Sweeps: many runs of one script with different parameters, side by side, and which did best.

`stepscope sweep sweep.yaml` is the command (docs/sweeps.md). In a program of your own:

    from stepscope.sweep import Outcome, make_strategy, sweep_from

    sweep = sweep_from({"method": "random", "parameters": {"lr": {"min": 1e-4, "max": 0.1, "log": True}}})
    strategy = make_strategy(sweep, seed=0)
    params = strategy.ask(0)
    strategy.tell(Outcome(0, params, "finished", value=0.3))
"""

from __future__ import annotations

from stepscope.sweep.outcome import Outcome
from stepscope.sweep.space import SearchSpace, nested
from stepscope.sweep.spec import Metric, Sweep, read_sweep, sweep_from
from stepscope.sweep.strategies import Strategy, make_strategy

__all__ = [
    "Metric",
    "Outcome",
    "SearchSpace",
    "Strategy",
    "Sweep",
    "make_strategy",
    "nested",
    "read_sweep",
    "sweep_from",
]
