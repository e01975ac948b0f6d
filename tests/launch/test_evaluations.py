"""What is recorded of an evaluation that nobody logs: the mean of a whole pass, or nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from stepscope.launch.evaluations import Evaluations
from stepscope.launch.printed.series import PrintedSeries
from stepscope.record.observers import Watcher

torch.manual_seed(0)
X, Y = torch.randn(10, 3), torch.tensor([0, 1, 1, 0, 1, 0, 0, 1, 1, 0])
MODEL = torch.nn.Linear(3, 2)
LOADER = DataLoader(TensorDataset(X, Y), 4)
Batch = Callable[[torch.Tensor, torch.Tensor], object]


def results_of(batch: Batch, printed: PrintedSeries | None = None, says: str = "", stop: int = 99) -> dict[str, float]:
    """What is reported for one pass without gradients in which `batch(output, target)` runs for each batch."""
    given: dict[str, float] = {}
    watcher = Watcher()
    watcher.add(Evaluations(watcher, given.update, printed=printed))
    watcher.start()
    with torch.no_grad():
        for number, (x, y) in enumerate(LOADER):
            if number == stop:
                break
            batch(MODEL(x), y)
    if printed is not None:
        printed.line(says)
    watcher.stop()
    return given


def sum_of_squares_by(divisor: Callable[[torch.Tensor], int]) -> dict[str, float]:
    """What is reported where a sum over all numbers of a batch is divided by what the script counts."""
    given: dict[str, float] = {}
    watcher = Watcher()
    watcher.add(Evaluations(watcher, given.update))
    watcher.start()
    if divisor is len:
        _mean_by_samples()
    else:
        _mean_by_numbers()
    watcher.stop()
    return given


@torch.no_grad()
def _mean_by_samples() -> float:
    total, count = 0.0, 0
    for x, _ in LOADER:
        total += F.mse_loss(MODEL(x), x[:, :2], reduction="sum").item()
        count += len(x)
    return total / count


@torch.no_grad()
def _mean_by_numbers() -> float:
    total, count = 0.0, 0
    for x, _ in LOADER:
        total += F.mse_loss(MODEL(x), x[:, :2], reduction="sum").item()
        count += x[:, :2].numel()
    return total / count


def test_a_sum_over_numbers_is_a_loss_where_the_script_divides_it_by_samples() -> None:
    assert sum_of_squares_by(len) == {"eval/loss": pytest.approx(_mean_by_samples(), rel=1e-6)}
    assert sum_of_squares_by(torch.numel) == {}


def true_loss() -> float:
    with torch.no_grad():
        return float(F.cross_entropy(MODEL(X), Y))


def true_accuracy() -> float:
    with torch.no_grad():
        return float((MODEL(X).argmax(1) == Y).float().mean())


@pytest.mark.parametrize(
    "batch",
    [
        lambda output, y: F.cross_entropy(output, y).item(),
        lambda output, y: F.cross_entropy(output, y, reduction="sum").item(),
        lambda output, y: torch.nn.CrossEntropyLoss(reduction="sum")(output, y).item(),
        lambda output, y: F.nll_loss(F.log_softmax(output, 1), y),
    ],
)
def test_the_mean_is_over_samples_whatever_the_reduction(batch: Batch) -> None:
    assert results_of(batch) == {"eval/loss": pytest.approx(true_loss(), rel=1e-6)}


Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def adds(total: float | torch.Tensor, loss: Loss) -> Batch:
    """A script that adds its losses up, to a new tensor each time."""

    def batch(output: torch.Tensor, y: torch.Tensor) -> None:
        nonlocal total
        total = total + loss(output, y)

    return batch


def adds_in_place(total: float | torch.Tensor, loss: Loss) -> Batch:
    def batch(output: torch.Tensor, y: torch.Tensor) -> None:
        nonlocal total
        total += loss(output, y)

    return batch


@pytest.mark.parametrize(
    "batch",
    [
        lambda output, y: F.cross_entropy(output, y, reduction="none").sum().item(),
        lambda output, y: F.cross_entropy(output, y, reduction="none").mean(),
        adds(0.0, lambda output, y: F.cross_entropy(output, y)),
        adds(0.0, lambda output, y: F.cross_entropy(output, y) * len(y)),
        adds_in_place(0.0, lambda output, y: F.cross_entropy(output, y)),
        adds_in_place(torch.zeros(()), lambda output, y: len(y) * F.cross_entropy(output, y)),
        adds(torch.zeros(()), lambda output, y: F.cross_entropy(output, y, reduction="sum") / len(y)),
    ],
)
def test_a_loss_may_be_scaled_by_its_samples_and_added_up(batch: Batch) -> None:
    assert results_of(batch) == {"eval/loss": pytest.approx(true_loss(), rel=1e-6)}


@pytest.mark.parametrize(
    "batch",
    [
        lambda output, y: F.cross_entropy(output, y, reduction="sum") + 0.5 * output.pow(2).sum(),
        adds(0.0, lambda output, y: F.cross_entropy(output, y) + 0.5 * output.pow(2).sum() / len(y)),
        lambda output, y: F.cross_entropy(output, y) + F.mse_loss(output, torch.zeros_like(output)),
    ],
)
def test_the_terms_of_a_loss_are_one_loss(batch: Batch) -> None:
    with torch.no_grad():
        penalty = float(MODEL(X).pow(2).sum() / len(X)) / 2
    assert results_of(batch) == {"eval/loss": pytest.approx(true_loss() + penalty, rel=1e-6)}


@pytest.mark.parametrize(
    "batch",
    [
        lambda output, y: (F.cross_entropy(output, y).item(), F.mse_loss(output[:, 0], y.float()).item()),
        lambda output, y: F.cross_entropy(output, y) + F.mse_loss(output[:, 0], y.float(), reduction="sum"),
        lambda output, y: (F.cross_entropy(output, y, reduction="none") * (y > 0)).sum(),
        lambda output, y: F.cross_entropy(output, y) * 7,
        lambda output, y: F.cross_entropy(output.repeat(2, 1), y.repeat(2), reduction="sum"),
        lambda output, y: output.mean().add_(F.cross_entropy(output, y)),
        lambda output, y: F.cross_entropy(output, y) if len(y) == 4 else None,
    ],
)
def test_a_loss_whose_reduction_cannot_be_told_is_left_out(batch: Batch) -> None:
    assert results_of(batch) == {}


@pytest.mark.parametrize(
    "batch",
    [
        lambda output, y: (output.argmax(1) == y).sum().item(),
        lambda output, y: (pred := output.argmax(1, keepdim=True)).eq(y.view_as(pred)).sum().item(),
        lambda output, y: (y == torch.max(output, 1)[1]).float().mean(),
        lambda output, y: torch.eq(output.topk(1)[1].squeeze(), y).sum(),
        lambda output, y: ((output[:, 1] > output[:, 0]).float() == y).sum(),
        lambda output, y: (pred := output.topk(2, 1)[1].t()).eq(y.view(1, -1).expand_as(pred)),
        lambda output, y: (pred := output.topk(2, 1)[1]).eq(y.view(-1, 1).expand_as(pred)),
    ],
)
def test_predictions_are_compared_in_any_shape(batch: Batch) -> None:
    assert results_of(batch) == {"eval/accuracy": pytest.approx(true_accuracy())}


@pytest.mark.parametrize(
    "batch",
    [
        lambda output, y: ((output.argmax(1) == y) & (y >= 0)).sum().item(),
        lambda output, y: ((output.argmax(1) == y).float() * (y > 0)).sum(),
        lambda output, y: (output.argmax(1) == y)[y > 0].float().mean(),
        lambda output, y: (output.argmax(1) == y).view(2, -1).all(1).sum(),
        lambda output, y: torch.where(y > 0, output.argmax(1) == y, False).sum(),
    ],
)
def test_the_share_of_some_predictions_is_no_accuracy(batch: Batch) -> None:
    assert results_of(batch) == {}


def test_a_pass_that_is_broken_off_has_no_mean() -> None:
    assert results_of(lambda output, y: F.cross_entropy(output, y).item(), stop=2) == {}


def test_what_the_script_prints_stands_alone() -> None:
    printed = PrintedSeries(lambda values, step: None, lambda: 1, lambda: True)
    says = "Test set: Average loss: 0.7"

    def both(output: torch.Tensor, y: torch.Tensor) -> None:
        F.cross_entropy(output, y).item()
        (output.argmax(1) == y).sum().item()

    assert results_of(both, printed, says) == {"eval/accuracy": pytest.approx(true_accuracy())}


@pytest.mark.parametrize(("targets", "names"), [((Y, 1 - Y), set[str]()), ((Y, Y), {"eval/loss"})])
def test_passes_that_the_script_does_not_tell_apart_are_not_recorded_as_one(
    targets: tuple[torch.Tensor, torch.Tensor], names: set[str]
) -> None:
    given: dict[str, float] = {}
    watcher = Watcher()
    watcher.add(Evaluations(watcher, given.update))
    watcher.start()
    with torch.no_grad():
        for target in targets:
            for x, y in DataLoader(TensorDataset(X, target), 4):
                F.cross_entropy(MODEL(x), y)
    watcher.stop()
    assert set(given) == names
