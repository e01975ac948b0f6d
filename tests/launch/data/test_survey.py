"""What a survey finds in a loader, a dataset or an iterable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

import stepscope
from stepscope.errors import UsageError

IMAGES = torch.linspace(0, 1, 20 * 3 * 8 * 8).reshape(20, 3, 8, 8)
LABELS = torch.arange(20) % 4


class Rows(Dataset[Any]):
    def __init__(self, make: Any, length: int = 24) -> None:
        self.make, self.length = make, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.make(index)


class Stream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter([torch.full((3,), float(i)) for i in range(7)])


def test_samples_are_seen_before_collation_and_batches_after_it() -> None:
    survey = stepscope.data(DataLoader(TensorDataset(IMAGES, LABELS), batch_size=6, shuffle=True, num_workers=1))
    assert [(one.path, one.dtype, one.shapes) for one in survey.samples] == [
        ("[0]", "float32", [(3, 8, 8)]),
        ("[1]", "int64", [()]),
    ]
    assert [one.shapes for one in survey.batches] == [[(6, 3, 8, 8)], [(6,)]]
    assert (survey.samples[0].low, survey.samples[0].high, survey.samples[0].bytes) == (0.0, 1.0, 768)
    assert (survey.length, survey.batch_count, survey.last_batch, survey.looked_at) == (20, 4, 2, 20)
    assert survey.histogram == {"0": 5, "1": 5, "2": 5, "3": 5}
    assert survey.notes == []


def test_dicts_words_numbers_and_arrays_are_told_apart() -> None:
    survey = stepscope.data(Rows(lambda i: {"x": np.float32([i, 1]), "name": f"no {i}", "target": i % 2, "w": 0.5 * i}))
    assert [(one.path, one.type) for one in survey.samples] == [
        ("x", "ndarray"),
        ("name", "str"),
        ("target", "int"),
        ("w", "float"),
    ]
    assert survey.label == "target"
    assert survey.histogram == {"0": 12, "1": 12}
    assert "'no 0'" in str(survey)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda i: torch.tensor([float("nan") if i == 3 else 1.0 + i, 2.0]), "NaN or Inf in 1 of 24 samples"),
        (lambda i: np.full((4, 4), i + 0.5), "float64: 128 B per sample, twice as much as float32"),
        (
            lambda i: torch.arange(0.0, 255.0, 5.0) + i % 2,
            "whole numbers 0..251: 204 B per sample; uint8 takes 51 B",
        ),
        (lambda i: torch.full((20,), 3.25), "is always 3.25"),
        (lambda i: torch.randn(3 + i % 2), "2 different shapes"),
        (lambda i: torch.tensor([1e4 + i, 0.5]), "should it be scaled?"),
        (lambda i: (torch.arange(3) + i // 2, i % 2), "12 of 24 samples are duplicates, 12 of them with a different"),
        (lambda i: (torch.randn(3), int(i == 5)), "label 1 occurs 1 times, the most frequent one 23 times"),
        (lambda i: (torch.randn(3), 7), "have the label 7; is the data sorted but not shuffled?"),
    ],
)
def test_what_is_odd_is_said(make: Any, said: str) -> None:
    notes = stepscope.data(Rows(make)).notes
    assert any(said in note for note in notes), notes


def test_bytes_and_halves_and_scaled_floats_are_not_odd() -> None:
    torch.manual_seed(0)
    for make in (
        lambda i: torch.randint(0, 256, (30,), dtype=torch.uint8),
        lambda i: torch.randn(30).bfloat16(),
        lambda i: torch.randint(0, 50_000, (30,)),
        lambda i: (torch.rand(30) > 0.5).float(),
        lambda i: torch.randn(4, 4),
    ):
        assert stepscope.data(Rows(make)).notes == []


def test_sorted_batches_are_noticed_and_shuffled_ones_are_not() -> None:
    data = TensorDataset(torch.randn(64, 2), torch.arange(64) // 16)
    sorted_up, mixed = (stepscope.data(DataLoader(data, batch_size=8, shuffle=shuffle)) for shuffle in (False, True))
    assert sorted_up.notes == ["most batches have a single label: the data is sorted and not shuffled"]
    assert mixed.notes == []


def test_a_collate_that_fails_is_told_with_the_samples_that_came_before() -> None:
    survey = stepscope.data(DataLoader(Rows(lambda i: torch.randn(2 + i % 3)), batch_size=4))
    assert survey.looked_at == 4
    assert survey.error.startswith("RuntimeError: stack expects each tensor to be equal size")
    assert any("the default collate cannot stack them" in note for note in survey.notes)


def test_streams_subsets_loaders_without_batches_and_lists_of_batches() -> None:
    stream = stepscope.data(DataLoader(Stream(), batch_size=2))
    assert (stream.looked_at, stream.batches[0].shapes) == (7, [(2, 3)])
    subset = stepscope.data(Subset(TensorDataset(IMAGES, LABELS), [0, 4, 8, 1]))
    assert subset.histogram == {"0": 3, "1": 1}
    single = stepscope.data(DataLoader(TensorDataset(IMAGES, LABELS), batch_size=None))
    assert single.batches[0].shapes == [(3, 8, 8)]

    class Batches:
        def __iter__(self) -> Iterator[Any]:
            return iter([torch.randn(4, 2)] * 3)

    assert stepscope.data(Batches()).batches[0].shapes == [(4, 2)]
    nothing = stepscope.data(DataLoader(TensorDataset(IMAGES[:3]), batch_size=4, drop_last=True))
    assert nothing.notes == ["it delivers nothing"]


def test_what_cannot_be_looked_at_is_refused_with_a_reason() -> None:
    with pytest.raises(UsageError, match="can be read only once"):
        stepscope.data(iter([1, 2]))
    with pytest.raises(UsageError, match="needs a DataLoader, a Dataset or an iterable, not a int"):
        stepscope.data(3)


def test_no_random_number_is_used_up() -> None:
    generator = torch.Generator().manual_seed(5)
    loader = DataLoader(
        Rows(lambda i: torch.rand(2) + np.random.rand()), batch_size=4, shuffle=True, generator=generator
    )
    torch.manual_seed(1)
    np.random.seed(1)
    before = (generator.get_state(), torch.get_rng_state(), np.random.get_state()[1].copy())
    stepscope.data(loader)
    assert torch.equal(generator.get_state(), before[0])
    assert torch.equal(torch.get_rng_state(), before[1])
    assert (np.random.get_state()[1] == before[2]).all()


def test_images_become_a_sheet_and_go_to_the_current_run(tmp_path: Path) -> None:
    with stepscope.init(project="p", dir=tmp_path / "runs", console=False, system=False, git=False):
        survey = stepscope.data(TensorDataset(IMAGES, LABELS), pictures=tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    assert survey.picture_at.endswith("sheet.png")
    (run,) = stepscope.runs(tmp_path / "runs")
    assert [media.key for media in run.media()] == ["data/data"]
    assert stepscope.data(TensorDataset(torch.randn(9, 12))).picture is None


def test_the_survey_is_json() -> None:
    import msgspec

    survey = stepscope.data(TensorDataset(IMAGES, LABELS))
    plain = msgspec.json.decode(msgspec.json.encode(survey.to_dict()))
    assert plain["samples"][0]["shapes"] == [[3, 8, 8]]
    assert plain["twins"] == {"extra": 0, "contrary": 0}
