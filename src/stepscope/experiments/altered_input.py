"""Do samples of a batch influence each other? Does a step of a sequence depend on later ones?

During a run both are tested in a fork (`input_perturbation.py`). `check` copies a model that was not tested then
and tests it, in a fork if possible.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepscope.evidence.experiments import Outcome
from stepscope.evidence.input_perturbation import Perturbation
from stepscope.experiments import experiment as trying
from stepscope.experiments.experiment import experiment
from stepscope.experiments.not_checked import NotChecked
from stepscope.record.observers.fork_probe import can_fork, in_a_fork
from stepscope.record.observers.input_perturbation import tried
from stepscope.record.observers.module_records import live

_ENOUGH = 1e-3


@experiment("instance-independence", apart=False)
def instance_independence(trial: trying.Trial) -> Outcome:
    """Replace one sample of a batch and compare the outputs for the others. A dependence can be intended (a
    contrastive model, batch statistics), so only a rule that knows the reason reports it."""
    found = [one for one in _trials(trial) if one.mixing is not None]
    if not found:
        raise NotChecked("the answers have no row for each sample")
    change = max(one.mixing for one in found if one.mixing is not None)
    if change <= _ENOUGH:
        return Outcome.passed(f"replacing one of {found[0].rows} samples leaves the outputs for the others unchanged")
    return Outcome.passed(f"samples see each other: replacing one changes the others by {change:.1%}", change=change)


@experiment("looking-ahead", apart=False)
def looking_ahead(trial: trying.Trial) -> Outcome:
    """Change the last step of a sequence and compare the outputs for earlier steps."""
    found = [one for one in _trials(trial) if one.leaks is not None]
    if not found:
        raise NotChecked("no loss whose target is the next step of the input")
    leaking = next((one for one in found if one.leaks), None)
    if leaking is None:
        return Outcome.passed(f"the last of {found[0].length} steps changes no answer before it")
    steps = leaking.leaks or []
    return Outcome.suspicious(
        f"the last of {leaking.length} steps changes the answers from step {steps[0]} on", leaks=steps
    )


def _trials(trial: trying.Trial) -> list[Perturbation]:
    trials = trial.watcher.input_perturbation
    if not trials.all:
        answer, visit = _on_a_copy(trial)
        trials.all.append(Perturbation(visit, answer))
    return trials.all


def _on_a_copy(trial: trying.Trial) -> tuple[dict[str, Any], Any]:
    node = trial.tape.model_call
    if node is None:
        raise NotChecked("no model with parameters was called on the way to the loss")
    steps = trial.watcher.sequences.next_steps
    module = None if node.module is None else node.module()
    ahead = next((one for one in reversed(steps) if module is not None and live(one.visit.module) is module), None)
    visit = next((one for one in reversed(trial.watcher.visits.roots) if live(one.module) is module), None)
    if visit is None:
        raise NotChecked("the model no longer exists")

    def answer() -> dict[str, Any]:
        copies = trial.copied()
        args, kwargs = copies.arguments(node)
        return tried(copies.module_of(node), args, kwargs, ahead)

    if not can_fork():
        return answer(), visit
    found = in_a_fork(lambda: _or_why(answer), trying.SECONDS)
    if found is None or "raised" in found:
        raise NotChecked("a separate process that tried it gave no answer" if found is None else found["raised"])
    return found, visit


def _or_why(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result, or why there is none, as plain data."""
    try:
        return answer()
    except NotChecked as why:
        return {"raised": str(why)}
    except Exception as fault:  # the user's code may raise anything on altered input
        return {"raised": f"trying it raised {type(fault).__name__}: {fault}"}
