"""Printed lines of many habits, and the numbers in them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from stepscope.launch.parts.printed import _Lines
from stepscope.launch.printed.read_line import read_line
from stepscope.launch.printed.series import PrintedSeries
from stepscope.launch.source_names import printed_names


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Epoch [1/5], Step [100/600], Loss: 0.1234", {"Loss": 0.1234}),
        ("iter 0: loss 4.2000, time 123.45ms, mfu -100.00%", {"loss": 4.2, "time": 123.45, "mfu": -100.0}),
        ("global_step=1234, episodic_return=23.0", {"episodic_return": 23.0}),
        ("| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 12.34 | loss  7.63",
         {"lr": 20.0, "ms/batch": 12.34, "loss": 7.63}),
        ("| end of epoch   1 | time: 12.30s | valid loss  5.90", {"time": 12.3, "valid loss": 5.9}),
        ("[1,  2000] loss: 2.173", {"loss": 2.173}),
        ("10/10 [==========] - 0s 3ms/step - loss: 0.5 - accuracy: 0.9", {"loss": 0.5, "accuracy": 0.9}),
        ("2026-01-01 12:00:00 INFO [train.py:12] epoch=1 loss=0.5", {"loss": 0.5}),
        ("Accuracy of the network on the 10000 test images: 54 %",
         {"Accuracy of the network on the 10000 test images": 54.0}),
        ("Loss: tensor(0.53, grad_fn=<NllLossBackward0>)", {"Loss": 0.53}),
        ("Train Loss: 0.5 Acc: 0.8 | Val Loss: 0.6 Acc: 0.7",
         {"Train Loss": 0.5, "Train Acc": 0.8, "Val Loss": 0.6, "Val Acc": 0.7}),
        ("Loss at step 100: 0.53", {"Loss": 0.53}),
        ("loss: nan", {}),
        ("step 3 loss: nan grad: 0.5", {"loss": float("nan"), "grad": 0.5}),
        ("Using device: cuda:0", {}),
        ("Result: y = 0.01 + 0.85 x", {}),
        ("saved to /tmp/model_0.53.pt in 1.2.3", {}),
        ("weights: tensor([[0.25, 0.5]])", {}),
        ("Namespace(lr=0.1, gamma=0.7)", {}),
        ("Training complete in 0m 12s", {}),
        ("test final score: 143/200 = 71.50% correct", {"test final score": 71.5}),
        ("Train: 0 [   4/8 ( 50%)]  Loss: 1.20 (1.07)", {"Train Loss": 1.2, "Train Loss (avg)": 1.07}),
        ("epoch 1/3 | err = 64.6% | 0m 12s | 1234.5 samples/sec", {"err": 64.6, "samples/sec": 1234.5}),
        ("{'epoch': 1, 'train': {'loss': 0.5}, 'val': {'acc': 0.6}}", {"train loss": 0.5, "val acc": 0.6}),
        ("[2026-01-02 21:31:52,282][__main__][INFO] - [epoch 0] val_mae=2.08", {"val_mae": 2.08}),
        ("Train: 1 [20/22]  Loss: 1.4  Time: 0.017s,  962.76/s  LR: 6.25e-03", {
            "Train Loss": 1.4, "Train Time": 0.017, "Train LR": 0.00625}),
        ("Epoch: [0]  [ 4/10]  eta: 0:00:01  lr: 0.05  loss: 1.18 (1.19)", {
            "lr": 0.05, "loss": 1.18, "loss (avg)": 1.19}),
        (" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.023", {
            "Average Precision (AP) [IoU=0.50:0.95 area=all maxDets=100]": 0.023}),
        ("| End of training | test loss  1.52 | test ppl     4.57", {"test loss": 1.52, "test ppl": 4.57}),
        ("        1/3         0G     0.4646      1.218", {}),
        ('{"step": 20, "split": "valid", "valid/loss": 0.5, "rmse": 0.75}', {"valid/loss": 0.5, "valid rmse": 0.75}),
    ],
)  # fmt: skip
def test_numbers_and_names(text: str, numbers: dict[str, float]) -> None:
    assert repr(read_line(text).numbers) == repr(numbers)


def test_a_name_printed_twice_at_one_step_keeps_both_values() -> None:
    rows: list[tuple[dict[str, float], int]] = []
    printed = PrintedSeries(lambda values, step: rows.append((dict(values), step)), lambda: 4, lambda: True)
    printed.line("Epoch 2")
    printed.line("loss: 0.5")
    printed.line("loss: 0.25")
    assert rows == [({"loss": 0.5, "epoch": 2.0}, 4), ({"loss": 0.25}, 4)]


def test_a_bar_drawn_again_with_the_numbers_of_the_step_before_adds_no_point() -> None:
    rows: list[dict[str, float]] = []
    printed = PrintedSeries(lambda values, step: rows.append(dict(values)), lambda: 4, lambda: True)
    printed.line("50%|###| 4/8 [00:00<00:00, 9it/s, loss=0.5]", is_redrawn=True)
    printed.line("Validation score: 0.25")
    printed.line("60%|###| 5/8 [00:00<00:00, 9it/s, loss=0.5]", is_redrawn=True)
    printed.line("60%|###| 5/8 [00:00<00:00, 9it/s, loss=0.4]", is_redrawn=True)
    assert rows == [{"loss": 0.5}, {"Validation score": 0.25}, {"loss": 0.4}]


def test_results_under_a_title_have_its_words_behind_their_names() -> None:
    rows: list[dict[str, float]] = []
    now = [7]
    printed = PrintedSeries(lambda values, step: rows.append(dict(values)), lambda: now[0], lambda: True)
    for line in (
        "INFO trainer - ***** Eval results on matched *****",
        "  acc = 0.5",
        "*** Results on test ***",
        "acc = 0.25",
    ):
        printed.line(line)
    now[0] = 8
    printed.line("acc = 0.75")
    assert rows == [{"acc (matched)": 0.5}, {"acc (test)": 0.25}, {"acc": 0.75}]


def test_what_begins_before_training_keeps_the_counter_that_the_script_prints() -> None:
    rows: list[tuple[str, int]] = []
    now: list[int | None] = [None]
    printed = PrintedSeries(
        lambda values, step: rows.extend((name, step) for name in values), lambda: now[0], lambda: now[0] is not None
    )
    printed.line("global_step=32, episodic_return=-2.6")
    printed.line("step 0: val loss 3.5")
    now[0] = 7
    for line in (
        "global_step=160, episodic_return=3.4",
        "global_step=160, episodic_return=6.9",
        "step 8: val loss 2.5",
        "SPS: 94",
    ):
        printed.line(line)
    kept = [("episodic_return", 32), ("val loss", 0), ("episodic_return", 160), ("episodic_return", 160)]
    assert rows == [*kept, ("val loss", 8), ("SPS", 7)]


def test_the_same_words_of_an_evaluation_are_a_series_of_their_own() -> None:
    rows: list[dict[str, float]] = []
    printed = PrintedSeries(lambda values, step: rows.append(dict(values)), lambda: 4, lambda: True)
    printed.line("Loss: 0.5")
    printed.evaluated = lambda: "test"
    for line in ("Loss: 0.75", "Dice: 0.25", "val Loss: 0.125"):
        printed.line(line)
    printed.evaluated = str
    printed.line("Loss: 0.4")
    assert rows == [{"Loss": 0.5}, {"Loss (test)": 0.75}, {"Dice": 0.25}, {"val Loss": 0.125}, {"Loss": 0.4}]


def test_before_training_only_results_count() -> None:
    rows: list[dict[str, float]] = []
    printed = PrintedSeries(lambda values, step: rows.append(dict(values)), lambda: None, lambda: False)
    for line in ("learning rate: 0.1", "Number of parameters: 1234", "Overriding: batch_size = 5", "val loss: 2.5"):
        printed.line(line)
    assert rows == [{"val loss": 2.5}]


def series_of(*printed: tuple[int, str], place: tuple[str, int] | None = None) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    now = [0]

    def log(values: Mapping[str, float], step: int) -> None:
        for name, value in values.items():
            found.setdefault(name, []).append(value)

    lines = PrintedSeries(log, lambda: now[0], lambda: True)
    for step, text in printed:
        now[0] = step
        lines.line(text, place)
    return found


def test_a_counter_in_a_line_is_no_part_of_the_name() -> None:
    assert series_of((48, "TOLD 48 0.5 {'a': 1.5}"), (96, "TOLD 96 0.25 {'a': 2.5}")) == {
        "TOLD": [0.5, 0.25],
        "a": [1.5, 2.5],
    }
    assert series_of((1, "100 loss 0.5"), (2, "200 loss 0.25")) == {"loss": [0.5, 0.25]}
    assert series_of((1, "[12] loss 0.5"), (2, "[13] loss 0.25")) == {"loss": [0.5, 0.25]}
    assert series_of((1, "12 | loss 0.5"), (2, "13 | loss 0.25")) == {"loss": [0.5, 0.25]}
    assert series_of((1, "seen 512 samples, loss 0.5"), (2, "seen 1024 samples, loss 0.25")) == {
        "seen samples loss": [0.5, 0.25]
    }


def test_a_label_stays_in_the_name() -> None:
    assert series_of((1, "class 0 acc 0.5"), (1, "class 1 acc 0.25")) == {"class 0 acc": [0.5], "class 1 acc": [0.25]}
    assert series_of((1, "a 1: 0.5 a 2: 0.25"), (2, "a 1: 0.75 a 2: 0.125")) == {
        "a 1": [0.5, 0.75], "a 2": [0.25, 0.125]
    }  # fmt: skip


def test_an_integer_that_the_source_spells_out_stays(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text('print("best of 5:", 0.5)\nprint(f"best of {n}: {x:5.2f}")\n')
    assert series_of((1, "best of 5: 0.5"), place=(str(script), 1)) == {"best of 5": [0.5]}
    assert series_of((1, "best of 5:  0.5"), place=(str(script), 2)) == {"best": [0.5]}


@pytest.mark.parametrize(
    "writes",
    [
        ["\rloss: 0.5", "\rloss: 0.25", "\n"],
        ["loss: 0.5", "\r", "loss: 0.25", "\r", "\n"],
        ["loss: 0.5\r", "loss: 0.25\r", "done\n"],
        [" [==>...]", " | loss: 0.5", "\r", " [====>.]", " | loss: 0.25", "\n"],
    ],
)
def test_a_line_that_is_drawn_over_itself_is_read_once_each_time(writes: list[str]) -> None:
    rows: list[dict[str, float]] = []
    series = PrintedSeries(lambda values, step: rows.append(dict(values)), lambda: 4, lambda: True)
    lines = _Lines(series, io.StringIO(), lambda place: True)
    for text in writes:
        lines.take(text)
    assert rows == [{"loss": 0.5}, {"loss": 0.25}]


def test_two_printed_values_of_one_name_are_both_kept(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text('print("RMSE %.3f +- %.3f | R2 %.3f +- %.3f" % (a.mean(), a.std(), b.mean(), b.std()))\n')
    found = printed_names(str(script), 1, "RMSE 1.115 +- 0.114 | R2 0.949 +- 0.011")
    assert found == {"a": 1.115, "std": 0.114, "b": 0.949, "std (2)": 0.011}
