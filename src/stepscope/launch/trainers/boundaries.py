"""What a trainer says of its own loop: which stage it is in, where an epoch ends, what it logs, how it counts.

leave = boundaries.enter("validation")
...
leave()
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from stepscope import fence

if TYPE_CHECKING:
    from stepscope.evidence.trainer import Trainer
    from stepscope.launch.loader_roles import Role, Roles
    from stepscope.launch.loop import Loop

Stage = Literal["training", "validation", "test", "prediction", "sanity check", "tuning"]
"""sanity check: a few batches of validation before training, whose numbers mean nothing. tuning: steps that are taken
back after, such as those of a search for a learning rate."""

_ROLES: dict[Stage, Role] = {
    "training": "train",
    "validation": "val",
    "sanity check": "val",
    "test": "test",
    "prediction": "test",
}
_OURS = ("train/", "train2/", "eval/", "test/", "speed/", "time/", "memory/")
"""How names of our own begin: what a trainer logs under such a name gets the trainer's name before it."""

Log = Callable[[Mapping[str, Any], "int | None"], None]


class Boundaries:
    """Told by the file of a trainer; `Session` wires it to the loop, the log and the watch. Nothing here raises."""

    def __init__(
        self,
        loop: Loop,
        roles: Roles,
        log: Log,
        settings: Callable[[Mapping[str, Any]], None],
        summary: Callable[[Mapping[str, Any]], None] = lambda values: None,
    ) -> None:
        self.trainer: str | None = None
        """The trainer that is at work or was last, as its users write it: Lightning."""
        self.stages: list[Stage] = []
        self.on_enter: list[Callable[[Stage], None]] = []
        self.on_leave: list[Callable[[Stage], None]] = []
        self.on_epoch: list[Callable[[], None]] = []
        self.is_logging = False
        """The trainer is handing its values to loggers: those that are TensorBoard or W&B would be heard twice."""
        self.facts: Trainer | None = None
        """What the rules may know of the trainer, when there is a watch."""
        self.on_cpu = False
        """The user has explicitly requested the CPU from the trainer."""
        self.has_results = False
        """Since the stage began the trainer has logged something: an evaluation has results of its own."""
        self.rank_command: Callable[[list[str]], list[str]] = list
        """Gives the command by which a trainer starts the script again for another rank, so that it is watched too."""
        self._loop = loop
        self._roles = roles
        self._log = log
        self._settings = settings
        self._summary = summary

    @property
    def stage(self) -> Stage | None:
        """What it is doing now. All that happens while it tunes is tuning."""
        if "tuning" in self.stages:
            return "tuning"
        return self.stages[-1] if self.stages else None

    def enter(self, stage: Stage, trainer: str | None = None) -> Callable[[], None]:
        """A stage begins; the function that comes back ends it. Stages lie in each other."""
        self.trainer = trainer or self.trainer
        depth = len(self.stages)
        if stage == "training" and not depth:  # another fit has an optimizer of its own, which is its first one
            self._loop.forget_optimizers()
        self.stages.append(stage)
        self.has_results = False
        self._settle()
        _tell(self.on_enter, stage)
        return lambda: self._leave(depth)

    def _leave(self, depth: int) -> None:
        if len(self.stages) <= depth:
            return
        stage = self.stages[depth]
        self._loop.pass_is_over()
        del self.stages[depth:]
        self._settle()
        _tell(self.on_leave, stage)

    def _settle(self) -> None:
        stage = self.stage
        self._roles.told = None if stage is None else _ROLES.get(stage)
        self._loop.doing = stage
        if self.facts is not None:
            self.facts.name, self.facts.stage, self.facts.on_cpu = self.trainer, stage, self.on_cpu
        self._loop.iterations.stand_aside(stage is not None and stage != "training")

    def epoch_is_over(self) -> None:
        """The pass over the training data is over: many trainers count batches and never ask for one too many."""
        self._loop.pass_is_over()
        _tell(self.on_epoch)

    def chose_cpu(self, yes: bool) -> None:
        """The user has made a trainer that stays on the CPU, whatever the machine has."""
        self.on_cpu = yes
        if self.facts is not None:
            self.facts.on_cpu = yes

    def works_in(self, function: Any, evaluation: Any = None) -> None:
        """The function of the user's that makes the loss (`training_step`): what the trainer does with it is put down
        to the end of that function, and not to the line that started the trainer; `evaluation` for validation."""
        if self.facts is not None:
            from stepscope.record.observers.own_frames import own_place
            from stepscope.record.observers.trainer import return_of

            self.facts.called, self.facts.works = own_place(sys._getframe(1)), return_of(function)
            self.facts.evaluates = return_of(evaluation)

    def steps_itself(self, yes: bool) -> None:
        """Whether the trainer calls backward and the optimizer's step, and not the user's code."""
        if self.facts is not None:
            self.facts.steps_itself = yes

    def monitors(self, kind: str, name: str, mode: str) -> Callable[[float], None]:
        """The user has made a callback that looks for the best value of what is logged under this name; call the
        returned function with each value it compares."""
        if self.facts is None:
            return lambda value: None
        from stepscope.evidence.trainer import Monitored
        from stepscope.record.observers.own_frames import own_place

        one = Monitored(kind, name, mode, own_place(sys._getframe(1)))
        self.facts.monitored.append(one)
        return one.saw

    def when_stepped(self, listener: Callable[[Any], None]) -> None:
        """Call this with every optimizer that has stepped."""
        self._loop.on_step.append(listener)

    def count_by(self, number: Callable[[], int] | None) -> None:
        """`number()` gives the trainer's own number of the step that is being made, from 0 (or from where a checkpoint
        was resumed); what is logged then gets the trainer's step numbers."""
        self._loop.trainers_number = number

    def logged(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Values the trainer logs, by the names its users gave them."""
        named = beside_ours(values, self.trainer or "trainer")
        self.has_results = self.has_results or bool(named)
        if named:
            self._log(named, step)

    def measured(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Numbers that stand where ours would, under our names: the results of the trainer's own evaluation."""
        self.has_results = True
        if values:
            self._log(dict(_texts(values)), step)

    def step_begins(self) -> None:
        """A step begins here, if fetching its batch has not begun it: the last one of a pass was fetched before."""
        self._loop.step_begins()

    def step_is_over(self) -> None:
        """What follows belongs to no step: a checkpoint is saved."""
        self._loop.iterations.step_is_over()

    def divides_losses(self, yes: bool) -> None:
        """Losses of accumulated batches are divided by their number: the loss of a step is their sum."""
        self._loop.losses_add_up = yes

    def summary(self, values: Mapping[str, Any]) -> None:
        """Summary values of the whole training."""
        if values:
            self._summary(dict(_texts(values)))

    def settings(self, values: Mapping[str, Any]) -> None:
        """Hyper-parameters of the model, the data or the trainer."""
        if values:
            self._settings(dict(_texts(values)))


def beside_ours(values: Mapping[str, Any], trainer: str) -> dict[str, Any]:
    """Values under names of their own: those that begin as ours do get the trainer's name before them.

    >>> beside_ours({"train/loss": 0.5, "loss": 0.5}, "Lightning")
    {'lightning/train/loss': 0.5, 'loss': 0.5}
    """
    prefix = f"{trainer.lower()}/"
    return {f"{prefix}{key}" if key.startswith(_OURS) else key: one for key, one in _texts(values)}


def _texts(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(str(key), value) for key, value in values.items()]


def _tell(listeners: list[Any], *what: Any) -> None:
    for listener in listeners:
        fence.call("following a trainer", listener, *what)
