"""The collector of the input pipeline: right times, every process, the same training."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

from stepscope.profile.data.collect import DataCollector
from stepscope.profile.data.probe import Probe, read_rows
from stepscope.profile.trace.events import Events

from .conftest import READ_S, SLOW_S, Compose, Sleepy, Slow, Stream


def durations(events: Events, name: str) -> list[float]:
    """In seconds."""
    index = events.name_index.get(name)
    return [] if index is None else (events.dur[events.name == index] / 1e9).tolist()


def named(events: Events) -> set[str]:
    return set(events.names)


def test_every_stage_of_the_main_process_is_timed(collector: DataCollector) -> None:
    list(DataLoader(Sleepy(24), batch_size=8))
    collector.stop()
    events = collector.events()
    assert {"wait", "fetch", "sample", "collate", "transform Slow", "transform quick", "transform Compose"} <= named(
        events
    )
    assert len(durations(events, "sample")) == 24
    # On a busy machine a sleep is as long as it likes, never shorter.
    slow, sample = np.median(durations(events, "transform Slow")), np.median(durations(events, "sample"))
    assert slow >= 0.9 * SLOW_S
    assert sample >= slow + 0.9 * READ_S
    assert sum(durations(events, "fetch")) >= sum(durations(events, "sample"))
    assert sum(durations(events, "wait")) >= sum(durations(events, "fetch"))


def test_an_event_knows_its_batch_its_loader_and_its_source(collector: DataCollector) -> None:
    for data in (Sleepy(4), Sleepy(4)):
        list(DataLoader(data, batch_size=2))
    collector.stop()
    events = collector.events()
    rows = np.flatnonzero(events.name == events.name_index["transform Slow"])
    assert events.number("batch")[rows].tolist() == [0, 0, 1, 1] * 2
    assert events.number("loader")[rows].tolist() == [0] * 4 + [1] * 4
    assert events.arguments(int(rows[0]))["place"].rpartition(":")[0].endswith("conftest.py")
    made = collector.facts()["loaders"][0]
    assert made["file"] == __file__
    assert "DataLoader(data, batch_size=2)" in Path(__file__).read_text().splitlines()[made["line"] - 1]


def test_a_loader_made_anew_in_every_epoch_is_one(collector: DataCollector) -> None:
    train, val = Sleepy(4), Sleepy(2)
    for _ in range(3):
        for data in (train, val):
            list(DataLoader(data, batch_size=2))
    for _ in range(20):
        list(DataLoader(Sleepy(1)))
    collector.stop()
    loaders = collector.facts()["loaders"]
    assert [(one["passes"], one["samples"]) for one in loaders[:2]] == [(3, 4), (3, 2)]
    assert len(loaders) <= 2 + 8


def test_workers_are_timed_in_their_own_processes(collector: DataCollector) -> None:
    list(DataLoader(Sleepy(24), batch_size=4, num_workers=2))
    collector.stop()
    events = collector.events()
    rows = np.flatnonzero(events.name == events.name_index["fetch"])
    assert sorted(set(events.number("worker")[rows].tolist())) == [0, 1]
    assert sorted(events.number("batch")[rows].tolist()) == list(range(6))
    assert {"queue", "put", "wait", "sample"} <= named(events)
    assert str(os.getpid()) not in {events.lanes[lane][0] for lane in events.lane[rows].tolist()}
    assert sorted(events.lane_names.values()) == ["DataLoader worker 0", "DataLoader worker 1"]


def test_persistent_workers_are_timed_in_every_pass_and_while_alive(collector: DataCollector) -> None:
    loader = DataLoader(Sleepy(8), batch_size=2, num_workers=1, persistent_workers=True)
    for _ in range(2):
        list(loader)
        time.sleep(0.15)
    list(loader)
    collector.stop()
    assert len(durations(collector.events(), "fetch")) >= 8
    assert collector.facts()["loaders"][0]["passes"] == 3
    del loader


def test_a_stream_is_timed_sample_by_sample(collector: DataCollector) -> None:
    batches = list(DataLoader(Stream(), batch_size=4))
    collector.stop()
    assert len(batches) == 3
    found = durations(collector.events(), "sample")
    assert len(found) == 12
    assert np.median(found) >= 0.9 * READ_S


def test_a_dataset_behind_a_subset_is_found(collector: DataCollector) -> None:
    list(DataLoader(Subset(Sleepy(8), [1, 2, 3]), batch_size=3))
    collector.stop()
    assert "transform Slow" in named(collector.events())


def losses(workers: int) -> list[float]:
    torch.manual_seed(7)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    found = []
    for x, y in DataLoader(Sleepy(12), batch_size=4, shuffle=True, num_workers=workers):
        loss = (model(x).squeeze() - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize("workers", [0, 2])
def test_training_is_the_same_to_the_bit(workers: int) -> None:
    plain = losses(workers)
    collector = DataCollector()
    collector.start()
    try:
        watched = losses(workers)
    finally:
        collector.forget()
    assert watched == plain


def test_the_users_objects_are_as_they_were(collector: DataCollector) -> None:
    dataset = Sleepy(4)
    compose, parts = dataset.transform, list(dataset.transform.transforms)
    list(DataLoader(dataset, batch_size=2))
    assert dataset.transform is compose
    assert all(now is then for now, then in zip(compose.transforms, parts, strict=True))
    assert set(vars(dataset)) == {"n", "transform"}


class Curious(Sleepy):
    """Looks at its transform from all sides."""

    def __getitem__(self, index: int) -> Any:
        seen = self.transform
        assert isinstance(seen, Compose)
        assert isinstance(copy.deepcopy(seen).transforms[0], Slow)
        assert type(copy.copy(seen.transforms[0])) is Slow
        assert seen
        assert seen == seen.__wrapped__ if hasattr(seen, "__wrapped__") else True
        assert list(inspect.signature(seen).parameters) == ["x"]
        assert type(pickle.loads(pickle.dumps(seen.transforms[0]))) is Slow
        seen.last = index  # type: ignore[attr-defined]
        return seen(torch.zeros(2))


def test_a_dataset_that_looks_at_its_transform_sees_its_transform(collector: DataCollector) -> None:
    dataset = Curious(4)
    list(DataLoader(dataset, batch_size=2))
    collector.stop()
    assert dataset.transform.last == 3  # type: ignore[attr-defined]
    assert "transform Slow" in named(collector.events())


def test_parts_of_a_sequential_are_timed(collector: DataCollector) -> None:
    class Nets(Sleepy):
        def __init__(self) -> None:
            super().__init__(4)
            self.transform = torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU())  # type: ignore[assignment]

    list(DataLoader(Nets(), batch_size=2))
    collector.stop()
    assert {"transform Identity", "transform ReLU"} <= named(collector.events())


class Failing(Sleepy):
    def __getitem__(self, index: int) -> Any:
        raise ValueError(f"sample {index} is broken")


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_of_the_dataset_comes_out_as_it_is(collector: DataCollector, workers: int) -> None:
    dataset, said = Failing(4), ""
    iterator: Any = iter(DataLoader(dataset, batch_size=2, num_workers=workers))
    try:
        next(iterator)
    except ValueError as error:
        said = str(error)
    if workers:
        iterator._shutdown_workers()  # torch's error is in a circle with the iterator: it would end some time later
    assert "sample 0 is broken" in said
    assert "/stepscope/" not in said
    assert not hasattr(dataset.transform, "_call")


def test_a_fast_dataset_is_looked_at_now_and_then() -> None:
    """Tiny samples: what is written down stays within the allowance, and says of how much it is a part."""
    data = TensorDataset(torch.rand(8000, 2))
    collector = DataCollector()
    collector.start()
    began = time.perf_counter_ns()
    list(DataLoader(data, batch_size=20))
    took = time.perf_counter_ns() - began
    collector.stop()
    events, probe = collector.events(), collector._probe
    collector.forget()
    assert probe is not None
    assert 0 < len(durations(events, "sample")) < 8000
    assert probe.untimed > 0
    assert probe.spent_ns <= 12e6 + 0.009 * took + 20e6  # on a busy machine one note may take long


def test_a_torn_file_of_a_killed_worker_is_read_to_its_last_whole_frame(tmp_path: Path) -> None:
    path = str(tmp_path / "a.rows")
    probe = Probe(path, 3)
    for start in range(3):
        probe.note("fetch", start, start + 5)
        probe.flush(now=True)
    probe.close()
    whole = Path(path).read_bytes()
    Path(path).write_bytes(whole[:-4])
    frames = read_rows(path)
    assert [len(frame.rows) for frame in frames] == [1, 1]
    assert frames[0].worker == 3


def test_it_is_saved_into_a_profile_and_leaves_no_scratch(collector: DataCollector, tmp_path: Path) -> None:
    list(DataLoader(Sleepy(4), batch_size=2))
    scratch = Path(collector._folder or "")
    collector.stop()
    files = collector.save(tmp_path, rank=1)
    assert [(file.name, file.kind, file.rank) for file in files] == [
        ("rank1.data.events", "events", 1),
        ("rank1.data.json", "data", 1),
    ]
    assert not scratch.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rank1.data.events", "rank1.data.json"]


def test_without_a_loader_nothing_is_saved(collector: DataCollector, tmp_path: Path) -> None:
    assert collector.save(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


class Numbers(Dataset[Any]):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return torch.rand(2) + index


SPAWNED = """
import torch
from torch.utils.data import DataLoader, Dataset
from stepscope.profile.data.collect import DataCollector
class Numbers(Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.rand(2) + i
if __name__ == "__main__":
    collector = DataCollector()
    collector.start()
    torch.manual_seed(3)
    loader = DataLoader(Numbers(), 2, num_workers=1, multiprocessing_context="spawn")
    total = sum(batch.sum().item() for batch in loader)
    collector.stop()
    events = collector.events()
    print(total, int((events.number("worker") == 0).sum()), "sample" in events.names)
    collector.forget()
"""


@pytest.mark.slow
def test_spawned_workers_are_timed_too(tmp_path: Path) -> None:
    (tmp_path / "spawned.py").write_text(SPAWNED)
    said = subprocess.run([sys.executable, "spawned.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    total, events, has_samples = said.stdout.split()
    torch.manual_seed(3)
    assert float(total) == sum(batch.sum().item() for batch in DataLoader(Numbers(), 2, num_workers=1))
    assert int(events) >= 8
    assert has_samples == "True"


def test_lines_of_a_worker_are_sampled(collector: DataCollector) -> None:
    list(DataLoader(Sleepy(160), batch_size=4, num_workers=1))
    collector.stop()
    lines = collector.facts()["lines"]
    first = Sleepy.__getitem__.__code__.co_firstlineno
    assert first + 1 in [line for _, file, line, _, _ in lines if file.endswith("conftest.py")]
    assert not [function for _, _, _, function, _ in lines if function.startswith("test_")]
    assert sum(nanoseconds for *_, nanoseconds in lines) / 1e9 > 0.3 * 160 * (READ_S + SLOW_S)
