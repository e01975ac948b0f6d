"""How a rank came to a step: what explains why its parameters are not those of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.evidence.ranks import Pace
from stepscope.record.observers.rank_facts import spot

if TYPE_CHECKING:
    from stepscope.evidence.ranks import Spot
    from stepscope.record.observers.parallel_model import LiveParallelModel
    from stepscope.record.observers.watcher import Watcher

_RATES = 16
_NAMES = 64


def pace_of(watcher: Watcher, wrapped: Sequence[LiveParallelModel]) -> Pace:
    """At a look at the parameters."""
    steps, schedulers = watcher.steps, watcher.schedulers.all
    optimizers = [optimizer for made in watcher.optimizers.made if (optimizer := made.ref()) is not None]
    rates = [group.get("lr") for optimizer in optimizers for group in optimizer.param_groups]
    late = [one for wrap in wrapped for one in _late_parameters(wrap)][:_NAMES]
    unsynced = max(wrapped, key=lambda one: one.unsynced, default=None)
    places = [one.steps[-1].place for one in schedulers if one.steps]
    loadings = watcher.checkpoints.loadings
    return Pace(
        step=watcher.step,
        backwards=steps.backward_count,
        rates=[rate for rate in rates if isinstance(rate, float)][:_RATES],
        scheduled=sum(one.count for one in schedulers),
        late=[one.name for one in late],
        step_place=spot(steps.steps[-1].place) if steps.steps else None,
        scheduler_place=spot(places[-1]) if places else None,
        late_place=_late_place(watcher, late[0]) if late else None,
        loads=len(loadings),
        load_place=spot(loadings[-1].place) if loadings else None,
        thawed=bool(late) and all(one.was_frozen for one in late),
        unsynced=0 if unsynced is None else unsynced.unsynced,
        unsynced_place=None if unsynced is None else spot(unsynced.unsynced_place),
    )


class _Late(NamedTuple):
    """A parameter that DistributedDataParallel does not know of, though it is in its model."""

    name: str
    module: Any
    wrap: LiveParallelModel
    was_frozen: bool


def _late_parameters(wrap: LiveParallelModel) -> Iterator[_Late]:
    wrapper = wrap.live
    known = {id(p) for p in getattr(wrapper, "_module_parameters", ())}
    for prefix, module in wrapper.module.named_modules() if known else ():
        for name, p in module.named_parameters(prefix, recurse=False):
            was_frozen = id(p) in known and name in wrap.frozen
            if p.requires_grad and (was_frozen or id(p) not in known) and name not in wrapper.parameters_to_ignore:
                yield _Late(name, module, wrap, was_frozen)


def _late_place(watcher: Watcher, late: _Late) -> Spot | None:
    return spot(late.wrap.place if late.was_frozen else watcher.module_records.of(late.module).made)
