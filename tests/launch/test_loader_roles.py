"""Loaders are told apart by what happens to their batches, and before that by the names around them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.utils.data import DataLoader, TensorDataset

from stepscope.launch.limits import Limiter
from stepscope.launch.loader_roles import Roles, split_name
from stepscope.launch.loop import Loop
from stepscope.launch.options import Amount, Limits


def loader(size: int = 4) -> DataLoader[tuple[torch.Tensor, ...]]:
    return DataLoader(TensorDataset(torch.arange(float(size))), batch_size=1)


def guessed(source: DataLoader[tuple[torch.Tensor, ...]]) -> str | None:
    roles = Roles()
    for _ in [source]:
        roles.guess(source)
    return roles.of(source)


def test_the_function_that_iterates_gives_a_name() -> None:
    roles = Roles()

    def evaluate(source: object) -> None:
        roles.guess(source)

    def sweep(source: object) -> None:
        roles.guess(source)

    first, second = loader(), loader()
    evaluate(first)
    sweep(second)
    assert (roles.of(first), roles.of(second)) == ("val", None)


def test_so_does_what_a_function_is_called_with() -> None:
    found: list[str] = []

    def each(batches: list[object]) -> Iterator[str]:
        for name in map(split_name, batches):  # noqa: UP028 - asked in the `for` statement, as of a loader
            yield name

    @torch.no_grad()
    def score(model: object, source: list[object]) -> None:
        for name in each(source):
            found.append(name)

    class Trainer:
        def score(self, source: list[object], *, size: int = 0) -> None:
            score(None, source=source)

    valid_seen, dl_valid_unseen, more = [object()], [object()], [[object()]]
    score(None, valid_seen)
    Trainer().score(dl_valid_unseen, size=3)
    score(*(None, more[0]))
    assert found == ["valid_seen", "valid_unseen", ""]


def test_the_object_of_a_method_is_no_argument_of_its_call() -> None:
    found: list[str] = []

    class Trainer:
        held = [object()]  # noqa: RUF012

        def score(self, size: int = 0) -> None:
            for name in map(split_name, self.held):
                found.append(name)

    val_size = 3
    Trainer().score()
    Trainer().score(val_size)
    assert found == ["", ""]


@contextmanager
def limited(limits: Limits) -> Iterator[Limiter]:
    loop = Loop()
    limiter = Limiter(limits, loop)
    loop.install()
    limiter.install_loaders(torch.utils.data.dataloader)
    try:
        yield limiter
    finally:
        limiter.remove()
        loop.remove()


def test_the_for_statement_gives_a_name() -> None:
    test_batches, train_dl = loader(), loader()
    with limited(Limits(max_steps=9)) as limiter:
        for _ in enumerate(test_batches):
            break
        next(iter(train_dl))
    assert [limiter.roles.of(each) for each in (test_batches, train_dl)] == ["test", "train"]


def test_without_gradients_it_is_an_evaluation() -> None:
    source = loader()
    with torch.no_grad():
        assert guessed(source) == "val"


def test_what_was_seen_wins_over_the_name() -> None:
    roles = Roles()
    val_loader = loader()
    for _ in [val_loader]:
        roles.guess(val_loader)
    roles.saw_backward(val_loader)
    assert roles.of(val_loader) == "train"


def sweep(source: DataLoader[tuple[torch.Tensor, ...]], trains: bool) -> int:
    """One pass; how many batches there were. Its names say nothing."""
    weight = torch.nn.Parameter(torch.ones(1))
    count = 0
    for (x,) in source:
        count += 1
        if trains:
            (weight * x).sum().backward()
    return count


def test_a_role_learnt_on_the_way_is_held_to_its_limit() -> None:
    first, second = loader(6), loader(6)
    with limited(Limits(train_batches=Amount(count=2), val_batches=Amount(count=3))):
        counts = [sweep(first, True), sweep(second, False), sweep(first, True), sweep(second, False)]
        lengths = (len(first), len(second))
    assert counts == [2, 3, 2, 3]
    assert lengths == (2, 3)
    assert len(first) == 6
