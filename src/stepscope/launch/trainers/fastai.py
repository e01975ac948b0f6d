"""fastai's boundaries: fitting, validation, epochs, `lr_find`, its recorder's numbers, and its own optimizers.

fastai's optimizers are not torch's: nothing would report their steps. We stand at their `step` and pass it on to those
who are subscribed to steps, with something that looks like an optimizer of torch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, ref

from stepscope import fence
from stepscope.events import Installed, source_of
from stepscope.events.imports import Imports
from stepscope.launch.trainers.boundaries import Boundaries
from stepscope.launch.trainers.wrap_method import after, around

NAME = "fastai"


def follow(imports: Imports, installed: Installed, boundaries: Boundaries) -> None:
    """Wait for its learner and its optimizers."""
    follower = _Follower(installed, boundaries)
    imports.when("fastai.learner", follower.hook)
    imports.when("fastai.optimizer", lambda module: around(installed, "fastai.optimizer:Optimizer.step", _step_of))
    imports.when("fastai.callback.schedule", follower.hook_search)


class _Follower:
    def __init__(self, installed: Installed, boundaries: Boundaries) -> None:
        self._installed = installed
        self._boundaries = boundaries

    def hook(self, module: Any) -> None:
        learner, boundaries = "fastai.learner:Learner", self._boundaries
        around(self._installed, f"{learner}._do_fit", self._fit)
        around(self._installed, f"{learner}._do_epoch_validate", lambda *a, **k: boundaries.enter("validation"))
        around(self._installed, f"{learner}.get_preds", lambda *a, **k: boundaries.enter("prediction", NAME))
        after(self._installed, f"{learner}._do_epoch_train", lambda *a, **k: boundaries.epoch_is_over())
        after(self._installed, "fastai.learner:Recorder.after_epoch", self._recorded)

    def hook_search(self, module: Any) -> None:
        """`lr_find` becomes a method of the learner when this module is imported."""
        search = "fastai.callback.schedule:Learner.lr_find"
        around(self._installed, search, lambda *a, **k: self._boundaries.enter("tuning", NAME))

    def _fit(self, learner: Any) -> Callable[[], None]:
        if self._boundaries.stage != "tuning":
            fence.call("reading hyper-parameters", self._settings, learner)
        return self._boundaries.enter("training", NAME)

    def _settings(self, learner: Any) -> None:
        self._boundaries.settings(settings_of(learner))

    def _recorded(self, result: Any, recorder: Any) -> None:
        """The row that fastai prints after an epoch, without the time."""
        if self._boundaries.stage == "tuning" or any(hasattr(type(cb), "writes_to_stepscope") for cb in recorder.cbs):
            return
        names, row = list(recorder.metric_names), list(recorder.log)
        values = {name: value for name, value in zip(names, row, strict=False) if isinstance(value, int | float)}
        self._boundaries.logged(values)


def settings_of(learner: Any) -> dict[str, Any]:
    """What a learner was made with."""
    return {
        "model": type(learner.model).__name__,
        "loss": _name(learner.loss_func),
        "opt_func": _name(getattr(learner.opt_func, "func", learner.opt_func)),
        "epochs": learner.n_epoch,
        "lr": learner.lr,
        "wd": learner.wd,
        "batch_size": getattr(learner.dls, "bs", None),
    }


def _name(thing: Any) -> str:
    return str(getattr(thing, "__name__", type(thing).__name__))


class Optimizer:
    """What the rest of Stepscope asks of an optimizer, of one of fastai's."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = ref(theirs)
        self.defaults = dict(self.param_groups[0]) if self.param_groups else {}
        self.defaults.pop("params", None)

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        theirs = self._theirs()
        if theirs is None:
            return []
        return [
            {**hyper, "params": list(group)} for group, hyper in zip(theirs.param_lists, theirs.hypers, strict=True)
        ]


_known: WeakKeyDictionary[Any, Optimizer] = WeakKeyDictionary()


def _step_of(theirs: Any, *args: Any, **kwargs: Any) -> Callable[[], None]:
    """A step of theirs begins: those who are subscribed to steps hear of it now, and when it is over."""
    like = _known.get(theirs)
    if like is None:
        like = _known[theirs] = Optimizer(theirs)
    steps: Any = source_of("step_begins")
    steps.begin(like)
    return partial(steps.end, like)
