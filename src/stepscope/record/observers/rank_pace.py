"""How a rank came to a step: what explains why its parameters are not those of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.evidence.ranks import Pace
from stepscope.record.observers.rank_facts import spot

if TYPE_CHECKING:
    from stepscope.record.observers.watcher import Watcher

_RATES = 16
_NAMES = 64


def pace_of(watcher: Watcher, wrapped: list[Any]) -> Pace:
    """At a look at the parameters. `wrapped`: the models that are DistributedDataParallel."""
    steps, schedulers = watcher.steps, watcher.schedulers.all
    optimizers = [optimizer for made in watcher.optimizers.made if (optimizer := made.ref()) is not None]
    rates = [group.get("lr") for optimizer in optimizers for group in optimizer.param_groups]
    late = _late_parameters(wrapped)
    places = [one.steps[-1].place for one in schedulers if one.steps]
    loadings = watcher.checkpoints.loadings
    return Pace(
        step=watcher.step,
        backwards=steps.backward_count,
        rates=[rate for rate in rates if isinstance(rate, float)][:_RATES],
        scheduled=sum(one.count for one in schedulers),
        late=[name for name, _ in late],
        step_place=spot(steps.steps[-1].place) if steps.steps else None,
        scheduler_place=spot(places[-1]) if places else None,
        late_place=spot(watcher.module_records.of(late[0][1]).made) if late else None,
        loads=len(loadings),
        load_place=spot(loadings[-1].place) if loadings else None,
    )


def _late_parameters(wrapped: list[Any]) -> list[tuple[str, Any]]:
    """Parameters that no DistributedDataParallel knows of, though they are in its model, with their modules."""
    found = []
    for wrapper in wrapped:
        known = {id(p) for p in getattr(wrapper, "_module_parameters", ())}
        for prefix, module in wrapper.module.named_modules() if known else ():
            for name, p in module.named_parameters(prefix, recurse=False):
                if p.requires_grad and id(p) not in known and name not in wrapper.parameters_to_ignore:
                    found.append((name, module))
    return found[:_NAMES]
