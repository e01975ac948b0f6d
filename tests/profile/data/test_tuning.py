"""Trying settings of a loader inside a training: what is measured, what is chosen, what is said."""

from __future__ import annotations

import linecache
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, IterableDataset, SequentialSampler, get_worker_info

from stepscope.profile.data.rewrite import rewritten
from stepscope.profile.data.settings import LoaderSettings, is_sharded, loader_like
from stepscope.profile.data.tuner import Budget, Tuner
from stepscope.profile.data.tuning_report import TuningReport

from .conftest import READ_S, SLOW_S, Sleepy, Stream


class Enough(BaseException):
    """How a tuner ends a script in these tests."""


class Sharded(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        yield from range(0 if info is None else info.id, 10, 1 if info is None else info.num_workers)


def finish() -> None:
    raise Enough


def tuned(loader: Any, steps: int = 3000, **options: Any) -> Tuner:
    """A training loop over the loader, until the tuner ends it."""
    import torch.utils.data.dataloader as module

    count = [0]
    budget = Budget(seconds=20, batches=6, trial_s=0.3)
    tuner = Tuner(budget, backwards=lambda: count[0], finish=finish, **options)
    tuner.diversion.install(module)
    try:
        for _ in range(steps):
            for _batch in loader:
                count[0] += 1
    except Enough:
        pass
    finally:
        tuner.diversion.remove()
    return tuner


def driven(now: LoaderSettings, cost: Any, *, length: int = 100, most_workers: int | None = 8) -> Tuner:
    """A tuner whose trials take what `cost(settings)` says: (step, wait, start of a pass), in milliseconds."""
    tuner = Tuner(Budget(), lambda: 0, finish, most_workers=most_workers, clock=lambda: 0.0)
    tuner.loader, tuner.length, tuner._kept = DataLoader(Sleepy(8), batch_size=2), length, [0]
    plan = tuner._settings(now)
    trial = next(plan)
    try:
        while True:
            step, wait, start = (3.0, 0.0, 0.0) if trial.label.endswith("free data") else cost(trial.settings)
            trial.turns, trial.waits, trial.starts = [step / 1e3] * 10, [wait / 1e3] * 10, [(start + wait) / 1e3]
            trial = plan.send(trial)
    except StopIteration:
        return tuner


def by_workers(settings: LoaderSettings) -> tuple[float, float, float]:
    """Loading takes 20 ms, shared among workers; a step 3 ms beside it; a worker 10 ms to start."""
    if not settings.workers:
        return 23.0, 20.0, 0.0
    step = max(3.0, 20.0 / settings.workers)
    return step, step - 3.0, 10.0 * settings.workers * (not settings.persistent)


NOW = LoaderSettings(0, None, batch_size=2)


def test_workers_are_added_until_they_are_enough() -> None:
    tuner = driven(NOW, by_workers)
    best = tuner.best
    assert best is not None
    assert (best.settings.workers, best.settings.persistent) == (8, True)
    assert [trial.settings.workers for trial in tuner.trials] == [0, 1, 2, 4, 8, 8]
    assert [trial.settings for trial in tuner.again] == [NOW, best.settings]
    report = TuningReport(tuner, None)
    assert report.gain == pytest.approx(23 / 3)
    assert report.is_worth_it
    assert "that is enough" in "".join(part for line in report.lines() for part, _ in line)


def test_what_more_workers_do_not_improve_stays_with_few() -> None:
    tuner = driven(NOW, lambda one: (20.0, 17.0, 0.0) if not one.workers else (10.0, 7.0, 0.0))
    assert tuner.best is not None
    assert tuner.best.settings.workers == 1
    assert max(trial.settings.workers for trial in tuner.trials) == 4  # two doublings without a gain


def test_more_than_the_processors_only_where_each_has_helped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.profile.data.tuner.cpu_count", lambda: 4)
    waits = driven(NOW, lambda one: (40.0 / max(one.workers, 1), 30.0 / max(one.workers, 1), 0.0), most_workers=None)
    assert max(trial.settings.workers for trial in waits.trials) == 8
    computes = driven(NOW, lambda one: (40.0 / min(max(one.workers, 1), 2), 20.0, 0.0), most_workers=None)
    assert max(trial.settings.workers for trial in computes.trials) == 4


def test_in_short_passes_workers_that_stay_win() -> None:
    tuner = driven(NOW, by_workers, length=4)
    assert tuner.best is not None
    assert tuner.best.settings.persistent


def test_fewer_workers_are_found_where_more_are_in_the_way() -> None:
    now = LoaderSettings(8, 2, batch_size=2)
    tuner = driven(now, lambda one: (10.0 + 2 * one.workers, 5.0, 0.0))
    assert tuner.best is not None
    assert tuner.best.settings == LoaderSettings(0, None, batch_size=2)
    assert tuner.best.settings.arguments(now) == {"num_workers": 0}


def test_a_gain_within_the_noise_is_not_recommended() -> None:
    tuner = driven(NOW, lambda one: (20.0 - one.workers, 10.0, 0.0), most_workers=2)
    assert TuningReport(tuner, None).is_worth_it
    tuner.again[1].turns = [0.024] * 10
    report = TuningReport(tuner, None)
    assert report.noise == pytest.approx(6 / 21, rel=0.01)
    assert not report.is_worth_it


@pytest.fixture(scope="module")
def of_sleepy() -> Tuner:
    return tuned(DataLoader(Sleepy(200), batch_size=4), most_workers=2)


def test_settings_are_tried_in_the_running_loop(of_sleepy: Tuner) -> None:
    assert of_sleepy.is_over
    assert {trial.settings.workers for trial in of_sleepy.trials} >= {0, 1}
    assert not [trial.error for trial in of_sleepy.trials if trial.error]
    assert all(trial.turns for trial in of_sleepy.trials)


def test_free_data_takes_no_time_and_now_takes_what_the_dataset_takes(of_sleepy: Tuner) -> None:
    assert of_sleepy.free is not None
    assert of_sleepy.now is not None
    now, free = of_sleepy.now.steady_s, of_sleepy.free.steady_s
    assert now is not None
    assert free is not None
    assert now >= 4 * (READ_S + SLOW_S)
    assert of_sleepy.now.wait_s >= 4 * (READ_S + SLOW_S)
    assert free < now / 4


def test_memory_of_workers_is_known(of_sleepy: Tuner) -> None:
    for trial in of_sleepy.trials:
        assert (trial.memory_bytes is None) == (trial.settings.workers == 0)


def test_the_report_in_words_and_as_a_dict(of_sleepy: Tuner) -> None:
    report = TuningReport(of_sleepy, None)
    text = "\n".join("".join(part for part, _ in line) for line in report.lines())
    assert "DataLoader over Sleepy, batches of 4" in text
    assert ("give the DataLoader: num_workers=" in text) == report.is_worth_it
    whole = report.as_dict("train.py")
    assert sum(trial["now"] for trial in whole["trials"]) == 1
    assert len(whole["trials"]) == len(of_sleepy.trials)


def test_one_that_is_enough_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    class Quick(Sleepy):
        def __getitem__(self, index: int) -> Any:
            return torch.zeros(1)

    loader, count = DataLoader(Quick(64), batch_size=2), [0]
    import torch.utils.data.dataloader as module

    tuner = Tuner(Budget(20, 6, 0.2), backwards=lambda: count[0], finish=finish, most_workers=1)
    tuner.diversion.install(module)
    try:
        while True:
            for _batch in loader:
                time.sleep(0.004)
                count[0] += 1
    except Enough:
        pass
    finally:
        tuner.diversion.remove()
    report = TuningReport(tuner, None)
    assert not report.is_worth_it
    assert "keep the current settings" in "".join(part for line in report.lines() for part, _ in line)
    assert report.as_dict("t.py")["change"] == {}


def test_a_loader_of_an_evaluation_is_left_alone() -> None:
    count = [0]
    tuner = Tuner(Budget(), backwards=lambda: count[0], finish=finish)
    train, val = DataLoader(Sleepy(8), batch_size=4), DataLoader(Sleepy(8), batch_size=4)
    for _ in range(4):
        for batch in train:
            tuner._keep(train, batch) if not tuner._learn(train) else None
            count[0] += 1
        for batch in val:
            assert not tuner._learn(val)
            tuner._keep(val, batch)
    assert tuner.loader is train


class OnlyInMain(Sleepy):
    def __getitem__(self, index: int) -> Any:
        if get_worker_info() is not None:
            raise OSError("the file is not open here")
        return torch.zeros(1)


def test_a_setting_that_fails_is_said_and_passed_over() -> None:
    tuner = tuned(DataLoader(OnlyInMain(200), batch_size=2), most_workers=2)
    assert tuner.is_over
    assert {one.settings.workers: one.error for one in tuner.trials if one.error} == {
        1: "OSError: the file is not open here",
        2: "OSError: the file is not open here",
    }
    text = "".join(part for line in TuningReport(tuner, None).lines() for part, _ in line)
    assert "no worker could be tried: OSError: the file is not open here" in text
    assert "must work in a separate process" in text


def test_what_cannot_be_pickled_is_said_with_what_to_do() -> None:
    tuner = driven(NOW, by_workers, most_workers=1)
    for trial in tuner.trials:
        if trial.settings.workers:
            trial.error, trial.turns = "AttributeError: Can't pickle local object 'D.<lambda>'", []
    text = "".join(part for line in TuningReport(tuner, None).lines() for part, _ in line)
    assert "must be picklable: no lambdas" in text


def test_a_stream_that_does_not_ask_for_its_worker_gets_at_most_one() -> None:
    assert not is_sharded(DataLoader(Stream()))
    assert is_sharded(DataLoader(Sharded()))
    assert is_sharded(DataLoader(Sleepy()))
    tuner = Tuner(Budget(), backwards=lambda: 0, finish=finish, most_workers=8)
    tuner.loader = DataLoader(Stream(), batch_size=2)
    assert tuner._worker_counts(LoaderSettings()) == [1]
    assert "two workers would give every sample twice" in tuner.notes[0]


def test_worker_counts_double_up_to_the_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stepscope.profile.data.tuner.cpu_count", lambda: 6)
    tuner = Tuner(Budget(), backwards=lambda: 0, finish=finish)
    tuner.loader = DataLoader(Sleepy())
    assert tuner._worker_counts(LoaderSettings(2, 2)) == [0, 1, 4, 6, 12]


@pytest.mark.parametrize(
    ("loader", "batch"),
    [
        (DataLoader(Sleepy(8), batch_size=4, drop_last=True), 4),
        (DataLoader(Sleepy(8), batch_sampler=BatchSampler(SequentialSampler(range(8)), 2, False)), 2),
        (DataLoader(Sleepy(8), batch_size=None), None),
        (DataLoader(Stream(), batch_size=3), 3),
    ],
)
def test_a_loader_with_other_settings_gives_the_same_batches(loader: Any, batch: int | None) -> None:
    other = loader_like(loader, LoaderSettings.of(loader).with_workers(1))
    assert other.num_workers == 1
    last = [one[1] if isinstance(one, list | tuple) else one for one in loader]
    again = [one[1] if isinstance(one, list | tuple) else one for one in other]
    assert all(torch.equal(torch.as_tensor(a), torch.as_tensor(b)) for a, b in zip(last, again, strict=True))


def test_arguments_name_only_what_differs() -> None:
    now = LoaderSettings(0, None, batch_size=4)
    assert LoaderSettings(4, 2, batch_size=4).arguments(now) == {"num_workers": 4}
    assert LoaderSettings(4, 8, True, batch_size=4).arguments(now) == {
        "num_workers": 4, "prefetch_factor": 8, "persistent_workers": True,
    }  # fmt: skip
    assert LoaderSettings(0, None, batch_size=4).arguments(LoaderSettings(4, 8, batch_size=4)) == {
        "num_workers": 0, "prefetch_factor": None,
    }  # fmt: skip


SOURCE = """\
from torch.utils.data import DataLoader
train = DataLoader(data, batch_size=4, num_workers=args.workers)  # grün
val = DataLoader(
    data,
    4,
    shuffle=True,  # always
)
other = make(DataLoader(data), 3)
"""


@pytest.mark.parametrize(
    ("line", "arguments", "new"),
    [
        (2, {"num_workers": 4, "pin_memory": True},
         ["train = DataLoader(data, batch_size=4, num_workers=4, pin_memory=True)  # grün"]),
        (3, {"num_workers": 2, "batch_size": 8},
         ["val = DataLoader(", "    data,", "    8,", "    shuffle=True, num_workers=2,  # always", ")"]),
        (8, {"num_workers": 1}, ["other = make(DataLoader(data, num_workers=1), 3)"]),
    ],
)  # fmt: skip
def test_the_line_to_write(tmp_path: Path, line: int, arguments: dict[str, Any], new: list[str]) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    linecache.checkcache()
    change = rewritten(str(tmp_path / "a.py"), line, arguments)
    assert change is not None
    assert change.new == new
    compile("\n".join(change.new), "a", "exec")


def test_where_no_loader_is_made_there_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    assert rewritten(str(tmp_path / "a.py"), 1, {"num_workers": 4}) is None
    assert rewritten(str(tmp_path / "none.py"), 1, {"num_workers": 4}) is None
