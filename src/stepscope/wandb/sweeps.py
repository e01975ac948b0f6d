"""`wandb.sweep` and `wandb.agent` in one process: the agent calls a function once per choice of parameters."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable
from typing import Any

from stepscope.errors import MissingExtra, StepscopeError
from stepscope.sweep import Outcome, Strategy, Sweep, make_strategy, nested, sweep_from
from stepscope.track.messages import say
from stepscope.track.sweep_assignment import Assigned, assign
from stepscope.wandb import open_runs, opening
from stepscope.wandb.errors import CommError, UsageError
from stepscope.wandb.public_sweep import orders
from stepscope.wandb.util import generate_id
from stepscope.wandb.wording import not_acted_on

MAX_FAILURES = 5
"""W&B's agent gives up if this many runs fail before one succeeds."""


class _Plan:
    """A sweep of this process: its configuration and progress."""

    def __init__(self, spec: Sweep, config: dict[str, Any], project: str | None) -> None:
        self.spec = spec
        self.name = str(config.get("name") or "")
        self.project = project or config.get("project")
        self.strategy: Strategy | None = None
        self.number = 0
        self.best: Outcome | None = None

    def hear(self, outcome: Outcome) -> None:
        """Record how a run ended, and the best so far."""
        self.number += 1
        if outcome.value is None or self.spec.metric is None or not math.isfinite(outcome.value):
            return
        known = None if self.best is None else self.best.value
        better = known is None or (outcome.value < known) == (self.spec.metric.goal == "min")
        self.best = outcome if better else self.best


_sweeps: dict[str, _Plan] = {}


def sweep(
    sweep: dict[str, Any] | Callable[[], dict[str, Any]],
    entity: str | None = None,
    project: str | None = None,
    prior_runs: list[str] | None = None,
) -> str:
    """Plan a sweep from W&B's configuration (method, metric, parameters ...); returns its id, for `wandb.agent`."""
    config = dict(sweep() if callable(sweep) else sweep)
    if prior_runs:
        not_acted_on("sweep(prior_runs=...)", "a sweep begins with what its agent runs")
    if config.get("early_terminate"):
        not_acted_on("sweep(early_terminate)", "a function is not stopped from outside; `stepscope sweep` prunes runs")
    try:
        spec = sweep_from(config)
    except StepscopeError as fault:
        raise UsageError(f"wandb.sweep(): {fault}") from None
    id = generate_id()
    _sweeps[id] = _Plan(spec, config, project)
    if spec.metric is not None:
        sign = "+" if spec.metric.goal == "min" else "-"
        orders[id] = f"{sign}summary_metrics.{spec.metric.name}"
    say(f"sweep {id} is ready: wandb.agent({id!r}, function=...) runs it")
    return id


def agent(
    sweep_id: str,
    function: Callable[[], Any] | None = None,
    entity: str | None = None,
    project: str | None = None,
    count: int | None = None,
    forward_signals: bool = False,
    term_timeout: int | None = None,
    max_consecutive_failed_runs: int | None = None,
) -> None:
    """Call `function` once per choice of parameters; `wandb.config` has them inside."""
    id = sweep_id.rpartition("/")[2]
    plan = _sweeps.get(id)
    if plan is None:
        raise CommError(
            f"sweep '{id}' was not created in this process; call wandb.sweep(...) here, or put its "
            "configuration into a file and run: stepscope sweep sweep.yaml"
        )
    if function is None:
        raise UsageError("wandb.agent() needs function=; for a separate program run: stepscope sweep sweep.yaml")
    plan.project = project or plan.project
    if plan.strategy is None:
        plan.strategy = _strategy(plan.spec)
    _run_all(id, plan, plan.strategy, function, count, max_consecutive_failed_runs)


def _strategy(spec: Sweep) -> Strategy:
    try:
        return make_strategy(spec)
    except MissingExtra as fault:
        raise UsageError(f"wandb.agent(): {fault}; or use method: random") from None


def _run_all(
    id: str, plan: _Plan, strategy: Strategy, function: Callable[[], Any], count: int | None, most_failed: int | None
) -> None:
    left = math.inf if count is None else count
    cap = math.inf if plan.spec.runs is None else plan.spec.runs
    failed = good = in_a_row = 0
    while left > 0 and plan.number < cap:
        params = strategy.ask(plan.number)
        if params is None:
            break
        outcome = _one(id, plan, params, function)
        strategy.tell(outcome)
        plan.hear(outcome)
        left -= 1
        good, failed = good + (outcome.state == "finished"), failed + (outcome.state == "failed")
        in_a_row = in_a_row + 1 if outcome.state == "failed" else 0
        if (not good and failed >= MAX_FAILURES) or (most_failed and in_a_row >= most_failed):
            say(f"{failed} runs of sweep {id} failed; the agent stops")
            break
    _tell(id, plan)


def _one(id: str, plan: _Plan, params: dict[str, Any], function: Callable[[], Any]) -> Outcome:
    assign(
        Assigned(
            group=plan.name or f"sweep-{id}",
            project=plan.project,
            tags=[f"sweep:{id}"],
            config=nested(params),
        )
    )
    before = open_runs.last_ended()
    state = "finished"
    try:
        function()
        opening.finish()
    except BaseException as error:
        _end_with(error)
        if not isinstance(error, Exception):  # Ctrl-C ends the sweep; a run that fails does not, as with W&B's agent
            raise
        state = "failed"
        sys.stderr.write(traceback.format_exc())
    finally:
        assign(None)
    run = open_runs.last_ended()
    value = None if run is None or run is before or plan.spec.metric is None else _value(run, plan.spec)
    return Outcome(plan.number, params, state, value=value)  # type: ignore[arg-type]


def _end_with(error: BaseException) -> None:
    """Finish the open run."""
    run = open_runs.open_run()
    if run is not None:
        run.__exit__(type(error), error, error.__traceback__)


def _value(run: Any, spec: Sweep) -> float | None:
    """The run's value of the sweep's metric: its last value, or the best if `define_metric` asks for it."""
    if spec.metric is None:
        return None
    found = run.summary.get(spec.metric.name)
    if isinstance(found, dict):
        found = found.get(spec.metric.goal, found.get("last"))
    return float(found) if isinstance(found, int | float) else None


def _tell(id: str, plan: _Plan) -> None:
    words = f"sweep {id}: {plan.number} run{'' if plan.number == 1 else 's'}"
    if plan.best is not None and plan.spec.metric is not None:
        chosen = ", ".join(f"{name}={value}" for name, value in plan.best.params.items())
        words += f", best {plan.spec.metric.name} {plan.best.value:.6g} with {chosen}"
    say(f"{words}; the Parameters page of `stepscope ui` compares them")
