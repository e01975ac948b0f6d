"""Numbers a device would stop for are known before it stops. Here the CPU plays the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from tests.diagnose.crash.conftest import OneFile
from torch import nn
from torch.nn import functional as F

from stepscope.diagnose.engine import Engine
from stepscope.diagnose.evidence import Evidence
from stepscope.record.observers import indices
from stepscope.record.observers.watcher import Watcher
from stepscope.records import Finding

STOPPED = "CUDA error: device-side assert triggered"


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watcher]:
    monkeypatch.setattr(indices, "_LATE", frozenset({"cpu"}))
    watcher = Watcher().start()
    yield watcher
    watcher.stop()


def lost(work: Callable[[], object]) -> None:
    """The op fails on the CPU; a GPU would go on, and stop at something later."""
    try:
        work()
    except (IndexError, RuntimeError):
        raise RuntimeError(STOPPED) from None


def told(watcher: Watcher, work: Callable[[], object]) -> list[Finding]:
    engine = Engine(Evidence.of(watcher, OneFile(__file__)))
    try:
        lost(work)
    except RuntimeError as error:
        watcher.stop()
        return engine.crashed(error)
    raise AssertionError("it did not fail")


class Text(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(50, 8)  # the table
        self.head = nn.Linear(8, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.word(ids).mean(1))
        return scores


def test_ids_beyond_the_table_are_named_with_the_layer(watcher: Watcher) -> None:
    model, ids = Text(), torch.tensor([[1, 2, 77]])
    found = told(watcher, lambda: model(ids))
    assert [one.rule for one in found] == ["index.embedding-range"]
    assert found[0].evidence["largest_id"] == 77
    assert "word (Embedding) has 50 rows" in found[0].message
    assert "# the table" in dict(found[0].source)[found[0].line or 0]


def test_one_too_far(watcher: Watcher) -> None:
    model, ids = Text(), torch.tensor([[1, 50]])
    found = told(watcher, lambda: model(ids))
    assert [one.rule for one in found] == ["index.vocab-off-by-one"]


def test_labels_beyond_the_classes(watcher: Watcher) -> None:
    scores, labels = torch.randn(4, 3), torch.tensor([1, 2, 3, -100])
    found = told(watcher, lambda: F.cross_entropy(scores, labels))
    assert [(one.rule, one.evidence["smallest_label"], one.evidence["largest_label"]) for one in found] == [
        ("index.label-range", 1, 3)
    ]


def test_scores_where_probabilities_are_due(watcher: Watcher) -> None:
    scores, truth = torch.tensor([0.5, 1.5]), torch.tensor([0.0, 1.0])
    found = told(watcher, lambda: F.binary_cross_entropy(scores, truth))
    assert [(one.rule, one.evidence["range"]) for one in found] == [("loss.bce-out-of-range", [0.5, 1.5])]


def test_nan_where_probabilities_are_due(watcher: Watcher) -> None:
    scores, truth = torch.tensor([0.5, float("nan")]), torch.tensor([0.0, 1.0])
    found = told(watcher, lambda: F.binary_cross_entropy(scores, truth))
    assert [(one.rule, one.evidence["range"]) for one in found] == [("loss.bce-out-of-range", None)]
    assert found[0].message.endswith("it contains NaN")


def test_an_index_of_gather(watcher: Watcher) -> None:
    values, index = torch.randn(2, 3), torch.tensor([[0], [5]])
    found = told(watcher, lambda: torch.gather(values, 1, index))
    assert [(one.rule, one.evidence["largest"], one.evidence["size"]) for one in found] == [
        ("index.device-assert", 5, 3)
    ]


def test_healthy_ops_leave_nothing_behind(watcher: Watcher) -> None:
    model, ids = Text(), torch.tensor([[0, 49]])
    scores = model(ids)
    F.cross_entropy(scores, torch.tensor([2]))
    F.cross_entropy(scores, torch.softmax(scores, 1).detach())  # classes as probabilities
    F.cross_entropy(scores, torch.tensor([-100]))
    F.binary_cross_entropy(torch.sigmoid(scores), torch.ones(1, 3))
    torch.gather(scores, 1, torch.tensor([[2]]))
    torch.index_select(scores, -1, torch.tensor([0, 2]))
    assert watcher.indices.broken is None
