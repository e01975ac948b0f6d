"""Evaluation results nobody logs: mean loss and accuracy of each whole pass over a loader without gradients.

While such a pass runs, operations are followed by name, so all of it is seen whatever the budgets of the watch. What
the script itself prints of an evaluation is already in the run; then we write nothing beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

import torch

from stepscope import events
from stepscope.common.code_owner import is_own_file
from stepscope.launch.batch_samples import samples_in
from stepscope.launch.evaluation_pass import EvaluationPass
from stepscope.launch.loader_roles import split_name
from stepscope.launch.scored import ARITHMETIC, REDUCTIONS
from stepscope.launch.sum_divisors import divides_by_samples
from stepscope.record.observers.observer import Observer

if TYPE_CHECKING:
    from stepscope.events import Installed
    from stepscope.launch.loader_roles import Roles
    from stepscope.launch.printed.series import PrintedSeries
    from stepscope.record.observers.watcher import Watcher

__all__ = ["Evaluations"]

_LOSSES = frozenset((
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss", "gaussian_nll_loss", "hinge_embedding_loss",
    "margin_ranking_loss", "triplet_margin_loss", "cosine_embedding_loss", "ctc_loss", "soft_margin_loss",
))  # fmt: skip
_PREDICTS = frozenset(("argmax", "argsort", "max", "sort", "topk", "gt", "ge", "lt", "le"))
_CONVERTS = frozenset(("float", "double", "long", "int", "bool", "to", "type", "type_as", "cpu"))
_SELECTS = frozenset((
    "bitwise_and", "bitwise_and_", "logical_and", "mul", "mul_", "getitem", "masked_select", "masked_fill", "where",
    "all",
))  # fmt: skip
_FOLLOWED = _LOSSES | _PREDICTS | _CONVERTS | {"eq"}
_KINDS = {
    "loss": re.compile("loss|nll|bce|mse|perplexity|ppl|^(?:val(?:id(?:ation)?)?|test|dev|eval(?:uation)?)$", re.I),
    "accuracy": re.compile("acc|correct|err|prec", re.I),
}
_ACCURACY = re.compile(r"(?<![a-z@\d])acc(?:uracy)?\s*(?:\(%\))?$", re.IGNORECASE)
Told = Callable[[dict[str, float]], None]


class Evaluations(Observer):
    """`told` gets the results when training continues or the script ends; `printed` has what was printed meanwhile."""

    steady = True

    def __init__(
        self, watcher: Watcher, told: Told, *, roles: Roles | None = None, printed: PrintedSeries | None = None
    ) -> None:
        super().__init__(watcher)
        self._told = told
        self._roles, self._printed = roles, printed
        self._pass: EvaluationPass | None = None
        self._ready: list[tuple[Any, dict[str, float]]] = []
        """Of each pass: its loader, weakly, and its results."""
        self._unfollow: Callable[[], None] | None = None
        self._prefixes: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._stage: str | None = None
        self._loader: Any = None
        """Of the pass that runs, weakly."""
        self._subscription: events.Subscription | None = None
        if printed is not None:
            printed.evaluated = self._now

    def install(self, installed: Installed) -> None:
        self._subscription = events.subscribe(
            _Operations.who,
            thread=self.watcher.thread,
            pass_began=self._pass_began,
            batch_given=self._batch_given,
            pass_ended=self._pass_ended,
            backward_begins=self._backward_begins,
        )
        self._attend()
        installed.add(self._subscription.remove)
        installed.add(self._close)

    def finish(self) -> None:
        self._close()
        self._tell()

    # -- what a trainer says: its own boundaries are those of the evaluation ------------------------------------------

    def begin(self, stage: str) -> None:
        """A stage of a trainer begins; only validation and test have results that mean anything."""
        self._leave()
        self._tell()
        self._stage = stage
        if stage in ("validation", "test"):
            self._enter(EvaluationPass("test/" if stage == "test" else "eval/"))

    def end(self, *, told: bool = False) -> None:
        """It is over; `told`: the trainer has logged results of its own, so Stepscope's own are not needed."""
        done, self._stage = self._leave(), None
        if done is not None and not told:
            self._keep(done)
        self._tell()

    # -- passes -------------------------------------------------------------------------------------------------------

    def _pass_began(self, loader: Any, iterator: Any, frame: FrameType) -> None:
        if self._stage is not None or not self.watcher.listens():
            return
        self._close()  # another loader while one is open: its pass is not seen to its end
        role = self._role(loader)
        if torch.is_grad_enabled() and role in ("train", None):
            return
        if self._printed is not None and not self._ready:
            self._printed.forget()
        now = EvaluationPass(self._prefix(loader), iterator, is_evaluation=role in ("val", "test"))
        now.of_batch.divides_by_samples = partial(divides_by_samples, *_own_line(frame))
        self._enter(now)
        self._loader = ref(loader)

    def _now(self) -> str:
        """The data of the pass that runs: `test` of `eval/test/`. A pass that was left early has no iterator."""
        now = self._pass
        if now is None or now.is_over or self._stage is not None or now.iterator() is None:
            return ""
        return now.prefix.strip("/").rpartition("/")[2]

    def _role(self, loader: Any) -> str | None:
        if self._roles is None:
            return None
        if self._roles.of(loader) is None:
            self._roles.guess(loader)
        return self._roles.of(loader)

    def _prefix(self, loader: Any) -> str:
        """`eval/val/`, `eval/test/`, as the script calls its loader; `eval/` if it has no name, numbered if it is one
        of several."""
        if loader not in self._prefixes:
            name = split_name(loader)
            first = f"eval/{name}/" if name not in ("", "eval") else "eval/"
            data = getattr(loader, "dataset", None)
            known = {id(getattr(one, "dataset", None)): prefix for one, prefix in self._prefixes.items()}
            taken = set(self._prefixes.values())
            prefix, number = first, 2
            while prefix in taken and id(data) not in known:
                prefix, number = f"{first[:-1]}{number}/", number + 1
            self._prefixes[loader] = known.get(id(data), prefix)
        return self._prefixes[loader]

    def _batch_given(self, iterator: Any, batch: Any, wall_s: float, cpu_s: float) -> None:
        now = self._pass
        if now is not None and (self._stage is not None or now.iterator() is iterator):
            now.batch(samples_in(batch))

    def _pass_ended(self, iterator: Any) -> None:
        now = self._pass
        if now is not None and self._stage is None and now.iterator() is iterator and now.end():
            self._close()

    def _backward_begins(self, roots: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
        if self._stage is not None or not self.watcher.listens():
            return
        if self._pass is not None or self._ready:
            self._close()
            self._tell()
        self._attend()

    def _close(self) -> None:
        """Keep the result of a pass that was seen to its end."""
        left = self._leave()
        if left is not None and left.is_over:
            self._keep(left)

    def _attend(self) -> None:
        """A backward shows that training continues; while there is nothing to tell, nobody is asked at each."""
        if self._subscription is not None and self._subscription.listens_to:
            kinds, is_open = set(self._subscription.handlers), self._pass is not None or bool(self._ready)
            self._subscription.listen(*(kinds if is_open else kinds - {"backward_begins"}))

    def _enter(self, one: EvaluationPass) -> None:
        self._pass = one
        self._attend()
        self._unfollow = events.follow(_Operations(one, self.watcher))

    def _leave(self) -> EvaluationPass | None:
        left, self._pass = self._pass, None
        if self._unfollow is not None:
            self._unfollow()
            self._unfollow = None
        return left

    def _keep(self, done: EvaluationPass) -> None:
        found = done.results()
        if found:
            self._ready.append((self._loader, found))

    def _tell(self) -> None:
        """What was not printed; of several passes over one loader since the last step, the last."""
        values, self._ready = _of_one_loader(self._ready), []
        said = [] if self._printed is None else [name for name, _ in self._printed.latest]
        for kind, words in _KINDS.items():
            if any(words.search(name) for name in said):
                self._compare(values)
                values = {name: value for name, value in values.items() if not name.endswith(kind)}
        if values:
            self._told(values)

    def _compare(self, values: dict[str, float]) -> None:
        """An accuracy that is printed after the only pass, beside the accuracy in it."""
        counted = [value for name, value in values.items() if name.endswith("accuracy")]
        latest = () if self._printed is None else self._printed.latest
        said = [(name, value) for name, value in latest if _ACCURACY.search(name)]
        if self._printed is not None and len(counted) == len(said) == 1:
            name, value = said[0]
            place = self._printed.places.get(name)
            self.watcher.printed_numbers.of(name, "accuracy", place).add(value, counted[0])


def _own_line(frame: Any) -> tuple[str, int]:
    """The line of the script that iterates."""
    while frame is not None and not is_own_file(frame.f_code.co_filename):
        frame = frame.f_back
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _of_one_loader(ready: list[tuple[Any, dict[str, float]]]) -> dict[str, float]:
    """By their names; without those that several loaders share, which the script does not name, and differ in."""
    latest: dict[str, tuple[Any, float]] = {}
    unclear: set[str] = set()
    for loader, found in ready:
        for name, value in found.items():
            before, known = latest.get(name, (loader, value))
            if before is not loader and value != known:
                unclear.add(name)
            latest[name] = loader, value
    return {name: value for name, (_, value) in latest.items() if name not in unclear}


class _Operations:
    """Follows the operations of one pass by their names."""

    who = "following an evaluation"
    paused = 0
    under_modes = False

    def __init__(self, one: EvaluationPass, watcher: Watcher) -> None:
        self._pass, self._watcher = one, watcher

    def begin(self, plan: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> Any:
        name, now = plan[1], self._pass
        if name in _SELECTS and now.holds_matches((*args, *(kwargs or {}).values())):
            now.selected(name, args)
            return None
        if name in ARITHMETIC or name in REDUCTIONS:
            return (name, function, args, kwargs) if now.of_batch.holds(args) else None
        if name in _FOLLOWED and (now.is_evaluation or not torch.is_grad_enabled()) and not self._watcher.muted:
            return name, function, args, kwargs
        return None

    def end(self, begun: Any, result: Any) -> None:
        name, function, args, kwargs = begun
        now = self._pass
        if name in _LOSSES:
            now.loss(name, function, args, kwargs, result)
        elif name in ARITHMETIC:
            now.of_batch.used(name, args, result)
        elif name in REDUCTIONS:
            now.of_batch.reduced(name, args, result)
        elif name in _PREDICTS:
            now.predicted(result)
        elif name in _CONVERTS:
            now.converted(args, result)
        else:
            now.compared(args, result)

    def fail(self, begun: Any, error: BaseException) -> None:
        """The script's own business."""
