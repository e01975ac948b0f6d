from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.names import words_of

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_MOVES = re.compile(r"cos|linear|onecycle|one_cycle|cyclic|poly|exponential|warmup|noam|inverse|sqrt|decay", re.I)
"""Schedules that change the learning rate at every step or epoch; others may rightly wait."""
_LEAST = 20


@rule("run.schedule-unused", needs="curves, stored", follows=("opt.*",))
def schedule_unused(run: StoredRun) -> Iterator[Proof]:
    """The config names a learning rate schedule, but the learning rate never changed.

    Why it matters: the run was not trained as its config says, and comparing it with others misleads.

    What to do: call `scheduler.step()` once a step or once an epoch, after `optimizer.step()`, and hand the
    scheduler the optimizer that trains.

    How it is found: a config value whose name is about a schedule names one that changes constantly (cosine, linear,
    one-cycle, exponential, warmup ...), and 20 or more logged learning rates are all the same.

    Bad:
        scheduler = CosineAnnealingLR(optimizer, T_max=epochs)    # and nobody calls scheduler.step()
    Good:
        optimizer.step()
        scheduler.step()
    """
    named = next((pair for pair in run.config.items() if _names_schedule(*pair)), None)
    if named is None:
        return
    for series in run.of_kind("lr"):
        if len(series) >= _LEAST and float(series.values.min()) == float(series.values.max()):
            key, value = named
            yield Proof(
                where=None,
                message=f"{key} is {value!r}, but {series.name} is {float(series.values[0]):.4g} "
                f"at all {len(series):,} points",
                fix="call `scheduler.step()` after `optimizer.step()`",
                label=f"{series.name} never changed",
                evidence={"config": key, "value": str(value), "metric": series.name, "points": len(series)},
            )
            return


def _names_schedule(key: str, value: Any) -> bool:
    words = words_of(key)
    speaks = any(word.startswith(("sched", "annealing")) for word in words)
    return speaks and isinstance(value, str) and bool(_MOVES.search(value)) and "constant" not in value.lower()
