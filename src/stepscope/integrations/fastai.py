"""fastai: a callback.

from stepscope.integrations.fastai import StepscopeCallback

learn = Learner(dls, model, metrics=accuracy, cbs=StepscopeCallback(project="digits"))
learn.fit_one_cycle(3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastai.callback.core import Callback
from fastai.learner import Recorder
from fastai.torch_core import rank_distrib

from stepscope.fence import fenced
from stepscope.integrations._open_run import open_run
from stepscope.launch.callback_session import Inside
from stepscope.launch.trainers.fastai import settings_of
from stepscope.records import Finding
from stepscope.track.media import Image
from stepscope.track.run import Run

__all__ = ["StepscopeCallback"]


class StepscopeCallback(Callback):  # type: ignore[misc]
    """Losses and hyperparameters of every batch, the recorder's row of every epoch, and the settings of the learner.

    `project`, `name`, `tags`, `notes`, `group`, `dir` and `config` are those of `stepscope.init`; a run that is already
    open is used. `watch=True` looks for bugs like `stepscope run`. If above 0, `show_results` images of the validation
    set are drawn after each epoch with fastai's `show_results`. A learning-rate search is not recorded.
    """

    order, remove_on_fetch = Recorder.order + 1, True
    writes_to_stepscope = True
    """Read by `stepscope run`, which then leaves the recorder's numbers to this callback."""

    def __init__(
        self,
        project: str | None = None,
        name: str | None = None,
        *,
        tags: str | Iterable[str] | None = None,
        notes: str = "",
        group: str | None = None,
        dir: Any = None,
        config: Any = None,
        watch: bool = True,
        show_results: int = 0,
    ) -> None:
        self._named: dict[str, Any] = {
            "project": project, "name": name, "tags": tags, "notes": notes, "group": group, "dir": dir,
            "config": config,
        }  # fmt: skip
        self._watch = watch
        self._pictures = show_results
        self._inside: Inside | None = None
        self._steps = 0
        self.tracked: Run | None = None
        """The run."""

    @property
    def findings(self) -> list[Finding]:
        """The findings of the last fit."""
        return [] if self._inside is None else self._inside.findings

    # -- events ---------------------------------------------------------------------------------------------------

    def before_fit(self) -> None:
        self.run = not hasattr(self.learn, "lr_finder") and not hasattr(self, "gather_preds") and rank_distrib() == 0
        if not self.run:
            return
        if self.tracked is None or self.tracked.is_finished:
            self.tracked = open_run(self, self._named, afresh=True)
        self._settle()
        if self._watch:
            self._begin()

    @fenced("recording settings")
    def _settle(self) -> None:
        assert self.tracked is not None
        self.tracked.config.update(settings_of(self.learn))

    @fenced("starting the watch")
    def _begin(self) -> None:
        self._inside = Inside(project=self._named["project"], name=self._named["name"])
        self._inside.begin()

    def after_batch(self) -> None:
        if self.training and self.tracked is not None:
            self._batch()

    @fenced("recording a batch")
    def _batch(self) -> None:
        assert self.tracked is not None
        values: dict[str, Any] = {"raw_loss": self.learn.loss.detach(), "train_loss": self.learn.smooth_loss}
        for i, hypers in enumerate(self.learn.opt.hypers):
            values |= {f"{key}_{i}": value for key, value in hypers.items() if isinstance(value, int | float)}
        self.tracked.log(values, self._steps)
        self._steps += 1

    def after_epoch(self) -> None:
        if self.tracked is not None and hasattr(self.learn, "recorder"):
            self._epoch()

    @fenced("recording an epoch")
    def _epoch(self) -> None:
        assert self.tracked is not None
        recorder = self.learn.recorder
        row = zip(recorder.metric_names, recorder.log, strict=False)
        values: dict[str, Any] = {
            name: value for name, value in row if isinstance(value, int | float) and name not in ("train_loss", "time")
        }
        if self._pictures > 0:
            values |= self._results()
        self.tracked.log(values, max(self._steps - 1, 0))

    def _results(self) -> dict[str, Any]:
        """The output of `learn.show_results`, as an image; it draws random numbers, whose state is restored."""
        from stepscope.record import random_state

        before = random_state.taken()
        try:
            return drawn(lambda: self.learn.show_results(max_n=self._pictures))
        finally:
            random_state.put_back(before)

    def after_fit(self) -> None:
        if self._inside is not None:
            self._inside.conclude(None)
        if self.tracked is not None:
            self.tracked.flush()

    def after_cancel_fit(self) -> None:
        self.after_fit()


def drawn(draw: Callable[[], Any]) -> dict[str, Any]:
    """The figure that `draw` creates with pyplot."""
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    draw()
    fresh = [number for number in plt.get_fignums() if number not in before]
    pictures = {"results": Image(plt.figure(fresh[-1]))} if fresh else {}
    for number in fresh:
        plt.close(number)
    return pictures
