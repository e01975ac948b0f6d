"""A trainer's own boundaries: stages, epochs, numbers and values, told by whoever follows the trainer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from stepscope import fence
from stepscope.events import Installed
from stepscope.events.points import POINTS, Point
from stepscope.launch.evaluations import Evaluations
from stepscope.launch.loader_roles import Roles
from stepscope.launch.loop import Loop
from stepscope.launch.trainers import Boundaries, after, around
from stepscope.record.observers import Watcher
from stepscope.record.observers.trainer import TrainerObserver, return_of
from stepscope.record.pulse import Beat, Pulse
from stepscope.record.sites import place_at


class Told:
    def __init__(self) -> None:
        self.loop = Loop()
        self.roles = Roles()
        self.logged: list[tuple[dict[str, Any], int | None]] = []
        self.settings: dict[str, Any] = {}
        self.boundaries = Boundaries(
            self.loop, self.roles, lambda values, step: self.logged.append((dict(values), step)), self.settings.update
        )


@pytest.fixture
def told() -> Any:
    told = Told()
    told.loop.install()
    yield told
    told.loop.remove()


def loader(n: int = 4) -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.randn(2 * n, 3)), 2)


def train(model: Any, batches: Any) -> None:
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for (x,) in batches:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()


def test_what_a_trainer_evaluates_is_in_no_step(told: Any) -> None:
    model, data, held_out = torch.nn.Linear(3, 1), loader(), loader()
    leave = told.boundaries.enter("training", "Demo")
    check = told.boundaries.enter("sanity check")
    assert [told.boundaries.stage, told.roles.told] == ["sanity check", "val"]
    with torch.no_grad():
        next(iter(held_out))
    check()
    train(model, data)
    told.boundaries.epoch_is_over()
    validation = told.boundaries.enter("validation")
    list(held_out)
    validation()
    train(model, data)
    leave()
    assert told.boundaries.stage is None
    assert told.loop.iterations.phases.result().steps == list(range(8))


def test_an_epoch_ends_where_the_trainer_says_so_though_no_loader_was_asked_for_more(told: Any) -> None:
    over: list[Any] = []
    told.loop.on_exhausted.append(over.append)
    leave = told.boundaries.enter("training", "Demo")
    iterator = iter(loader(3))
    for _ in range(3):
        next(iterator)
    inner = told.boundaries.enter("validation")
    next(iter(loader()))
    inner()
    assert len(over) == 0 or over[0] is not iterator, "the training's pass goes on behind a validation"
    over.clear()
    told.boundaries.epoch_is_over()
    assert over == [iterator]
    leave()
    assert over == [iterator], "once"


def test_names_like_ours_get_the_trainers_before_them(told: Any) -> None:
    told.boundaries.enter("training", "Lightning")()
    told.boundaries.logged({"val_loss": 1.0, "train/loss": 2.0}, 7)
    told.boundaries.settings({"lr": 0.1})
    assert told.logged == [({"val_loss": 1.0, "lightning/train/loss": 2.0}, 7)]
    assert told.settings == {"lr": 0.1}


def test_steps_stand_at_the_trainers_numbers(told: Any) -> None:
    told.boundaries.count_by(lambda: 100 + told.loop.steps // 2)
    numbers: list[int] = []
    told.loop.on_step.append(lambda optimizer: numbers.append(told.loop.last_number))
    train(torch.nn.Linear(3, 1), loader())
    assert numbers == [100, 100, 101, 101]
    told.boundaries.count_by(lambda: 1 // 0)
    train(torch.nn.Linear(3, 1), loader(1))
    assert told.loop.last_number == 4, "a trainer that cannot be asked: our own count"


def test_another_fit_has_a_first_optimizer_of_its_own(told: Any) -> None:
    which: list[int] = []
    told.loop.on_step.append(lambda optimizer: which.append(told.loop.last_optimizer))
    for _ in range(2):
        leave = told.boundaries.enter("training", "Demo")
        train(torch.nn.Linear(3, 1), loader(2))
        leave()
    assert which == [0, 0, 0, 0]


def test_all_that_happens_while_a_trainer_tunes_is_tuning(told: Any) -> None:
    leave = told.boundaries.enter("tuning", "Demo")
    inner = told.boundaries.enter("training")
    assert told.boundaries.stage == "tuning"
    inner()
    leave()
    assert told.boundaries.stages == []


def test_a_fault_of_ours_beside_a_method_does_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Theirs:
        def fit(self, a: int) -> int:
            if a < 0:
                raise ValueError("theirs")
            return a + 1

    installed, left, heard = Installed(), [], []
    for point in ("theirs:Theirs.fit", "theirs:Theirs.no_such_method"):
        monkeypatch.setitem(POINTS, point, Point(point, "trainers", "a test"))
    around(installed, "theirs:Theirs.fit", lambda this, a: (lambda: left.append(a)) if a != 5 else 1 // 0, Theirs)  # type: ignore[arg-type, return-value]
    after(installed, "theirs:Theirs.fit", lambda result, this, a: heard.append((result, a)), Theirs)
    assert not around(installed, "theirs:Theirs.no_such_method", lambda this: None, Theirs)
    assert Theirs().fit(1) == 2
    assert Theirs().fit(5) == 6
    with pytest.raises(ValueError, match="theirs"):
        Theirs().fit(-1)
    assert (left, heard) == ([1, -1], [(2, 1), (6, 5)])
    installed.remove()
    assert Theirs().fit(1) == 2
    assert left == [1, -1]
    fence.reset()


def test_results_of_an_evaluation_are_told_at_its_end_unless_the_trainer_has_its_own() -> None:
    model = torch.nn.Linear(3, 2)
    given: list[dict[str, float]] = []
    watcher = Watcher()
    evaluations = Evaluations(watcher, given.append)
    watcher.add(evaluations)
    watcher.start()
    x, y = torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)
    want = float(torch.nn.functional.cross_entropy(model(x), y).detach())
    for stage, told in (("sanity check", False), ("validation", False), ("validation", True), ("test", False)):
        evaluations.begin(stage)
        with torch.no_grad():
            torch.nn.functional.cross_entropy(model(x), y)
        evaluations.end(told=told)
    watcher.stop()
    assert [list(one) for one in given] == [["eval/loss"], ["test/loss"]]
    assert [one[name] for one in given for name in one] == pytest.approx([want, want])


# -- steps with a closure ---------------------------------------------------------------------------------------------


def closure_of(model: Any, optimizer: Any, x: Any) -> Any:
    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    return closure


@pytest.mark.parametrize("by_name", [True, False])
def test_the_pulse_of_a_closure_is_that_of_its_own_step(by_name: bool) -> None:
    torch.manual_seed(0)
    model, x = torch.nn.Linear(3, 1), torch.randn(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    beats: list[Beat] = []
    wanted = []
    with Pulse(on_beat=beats.append):
        for _ in range(3):
            closure = closure_of(model, optimizer, x)
            loss = optimizer.step(closure=closure) if by_name else optimizer.step(closure)
            norm = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).norm()
            wanted.append((float(loss.detach()), float(norm)))
    assert [(beat.loss, beat.grad_norm) for beat in beats] == [pytest.approx(one) for one in wanted]


def test_what_runs_in_a_closure_is_watched() -> None:
    model, x = torch.nn.Linear(3, 1), torch.randn(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watcher = Watcher().start()
    seen: list[str] = []
    watcher.tensor_history.listen(frozenset(("square",)), lambda call: seen.append(call.name))
    for _ in range(3):
        optimizer.step(closure_of(model, optimizer, x))
    watcher.stop()
    assert seen == ["square"] * 3
    assert [(len(step.backwards), step.empty, step.stale, step.lagging) for step in watcher.steps.steps] == [
        (1, False, False, False)
    ] * 3
    assert watcher.tensor_history.paused == 0


def test_a_closure_that_raises_leaves_the_watch_as_it_was() -> None:
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    watcher = Watcher().start()

    def broken() -> Any:
        raise KeyError("theirs")

    with pytest.raises(KeyError, match="theirs"):
        optimizer.step(broken)
    optimizer.step(closure_of(model, optimizer, torch.ones(2, 3)))
    watcher.stop()
    assert watcher.tensor_history.paused == 0
    assert len(watcher.steps.steps) == 1


def test_what_a_trainer_does_with_a_loss_is_put_down_to_the_function_that_gave_it() -> None:
    trainer = TrainerObserver()
    here = place_at(test_names_like_ours_get_the_trainers_before_them.__code__, 0)
    there = place_at(told.__wrapped__.__code__ if hasattr(told, "__wrapped__") else train.__code__, 2)
    assert trainer.place(here) == here
    trainer.called, trainer.works = here, return_of(loader)
    assert trainer.works is not None
    assert (trainer.works.file, trainer.works.name) == (__file__, "loader")
    assert trainer.place(here) == trainer.works
    assert trainer.place(there) == there
    assert return_of(torch.nn.Linear.forward) is None, "not the user's own"
