"""Turns of a training loop, found without a word from the script, whatever its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from stepscope.launch.loop import Loop

Told = list[tuple[str, int]]


class Clock:
    """Goes on by a millisecond whenever it is read."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def followed() -> Iterator[tuple[Loop, Told]]:
    loop, told = Loop(Clock()), []
    loop.install()
    loop.iterations.on_begin.append(lambda step: told.append(("begin", step)))
    loop.iterations.on_end.append(lambda step: told.append(("end", step)))
    yield loop, told
    loop.remove()


@pytest.fixture
def train() -> Callable[..., None]:
    weight = torch.nn.Parameter(torch.zeros(2))
    optimizers = [torch.optim.SGD([weight], lr=0.1), torch.optim.Adam([weight], lr=0.1)]

    def step(*which: int, backwards: int = 1) -> None:
        for one in which or (0,):
            for _ in range(backwards):
                (weight - 1).square().sum().backward()
            optimizers[one].step()

    return step


def loader(batches: int) -> DataLoader[tuple[torch.Tensor, ...]]:
    return DataLoader(TensorDataset(torch.zeros(batches, 1)))


def spans(told: Told) -> list[int]:
    """The steps, when each ends before the next begins."""
    numbers = [number for _, number in told]
    kinds = [kind for kind, _ in told]
    assert kinds == ["begin", "end"] * (len(told) // 2)
    assert numbers[::2] == numbers[1::2]
    return numbers[::2]


def test_a_turn_reaches_from_batch_to_batch(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, told = followed
    for _ in loader(4):
        train()
    assert spans(told) == [0, 1, 2, 3]
    parts = loop.iterations.phases.result()
    assert parts.steps == [0, 1, 2, 3]
    assert [sum(row) for row in parts.parts_ns] == parts.wall_ns
    assert all(row[0] > 0 for row in parts.parts_ns)


def test_validation_is_in_no_turn(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, told = followed
    training, validation, gaps = loader(3), loader(5), []
    loop.iterations.on_gap.append(gaps.append)
    for _ in range(2):
        for _ in training:
            train()
        for _ in validation:
            pass
    assert spans(told) == [0, 1, 2, 3, 4, 5]
    assert loop.iterations.phases.steps == 6
    assert gaps == [2, 5]


def test_validation_in_the_middle_is_not_either(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    _, told = followed
    validation = loader(5)
    for number, _ in enumerate(loader(4)):
        train()
        if number == 1:
            for _ in validation:
                pass
    assert spans(told) == [0, 1, 2, 3]


class Stream(IterableDataset[float]):
    """Data that does not say how much there is of it."""

    def __iter__(self) -> Iterator[float]:
        return iter([1.0, 2.0, 3.0])


def test_a_stream_that_ends_begins_no_turn(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, told = followed
    stream, validation, gaps = DataLoader(Stream()), loader(5), []
    loop.iterations.on_gap.append(gaps.append)
    for _ in range(2):
        for _ in stream:
            train()
        for _ in validation:
            loop._clock.now += 9.0  # type: ignore[attr-defined]
    ended = [step for kind, step in told if kind == "end"]
    assert ended == [0, 1, 2, 3, 4, 5]
    assert [step for kind, step in told if kind == "begin"] == [0, 1, 2, 3, 3, 4, 5, 6]
    assert gaps == [3, 6]  # begun, and come to nothing
    assert max(loop.iterations.phases.late_s()) < 1.0


def test_accumulated_batches_are_one_turn(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, told = followed
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for number, _ in enumerate(loader(6)):
        weight.square().sum().backward()
        if number % 3 == 2:
            optimizer.step()
    assert spans(told) == [0, 1]
    assert loop.iterations.phases.steps == 2


def test_two_optimizers_take_one_turn(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    _, told = followed
    for _ in loader(3):
        train(0, 1)
    assert spans(told) == [0, 2, 4]  # numbered as the run counts: by optimizer steps


def test_without_a_loader_a_turn_ends_with_the_optimizer(
    followed: tuple[Loop, Told], train: Callable[..., None]
) -> None:
    loop, told = followed
    for _ in range(3):
        train()
    assert spans(told[:-1]) == [0, 1, 2]
    assert told[-1] == ("begin", 3)
    loop.iterations.conclude()
    assert told[-1] == ("begin", 3)  # broken off before it made a step: no turn
    assert loop.iterations.phases.steps == 3


def test_what_listeners_take_is_not_the_scripts(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, _ = followed
    for _ in loader(3):
        train()
    before = loop.iterations.phases.late_s()

    def slow(step: int) -> None:
        loop._clock.now += 5.0  # type: ignore[attr-defined]

    loop.iterations.on_begin.append(slow)
    loop.iterations.on_end.append(slow)
    for _ in loader(3):
        train()
    assert loop.iterations.phases.late_s(2) == pytest.approx(before[-2:])


def test_disturbed_turns_are_left_out(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, _ = followed

    def disturb(step: int) -> None:
        loop.iterations.disturbed = step == 1

    loop.iterations.on_begin.append(disturb)
    for _ in loader(4):
        train()
    parts = loop.iterations.phases.result()
    assert parts.steps == [0, 2, 3]
    assert "1 step with extra instrumentation excluded" in parts.notes


def test_moves_are_taken_out_of_the_phase_around_them(followed: tuple[Loop, Told], train: Callable[..., None]) -> None:
    loop, _ = followed
    for _ in loader(2):
        began = loop._clock()
        loop._clock.now += 0.5  # type: ignore[attr-defined]
        loop.moved(began, loop._clock())
        train()
    parts = loop.iterations.phases.result()
    keys = [part.key for part in parts.parts]
    for row in parts.parts_ns:
        assert row[keys.index("h2d")] == pytest.approx(501_000_000, rel=1e-6)
        assert row[keys.index("forward")] < 10_000_000
