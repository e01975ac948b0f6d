"""`run.log`: what is kept, at which step, and what is refused with a word."""

from __future__ import annotations

import decimal
import enum
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stepscope
from stepscope.records import Dropped
from stepscope.track.run import Run


@pytest.fixture
def run(store: Path) -> Run:
    return stepscope.init(project="tests", dir=store, console=False, system=False, git=False)


Reader = Callable[[Path], Any]


def finished(run: Run, recorded: Reader) -> Any:
    run.finish()
    return recorded(run.path)


class Color(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (0.1, 0.1),
        (3, 3.0),
        (True, 1.0),
        (-0.0, -0.0),
        (5e-324, 5e-324),
        (float("inf"), math.inf),
        (float("-inf"), -math.inf),
        (2**53 + 1, 2**53 + 1),
        (-(2**63), -(2**63)),
        (2**70, 2**70),
        (np.float32(0.5), 0.5),
        (np.float16(0.5), 0.5),
        (np.int64(2**60 + 1), 2**60 + 1),
        (np.uint8(7), 7.0),
        (np.bool_(True), 1.0),
        (np.array([2.5]), 2.5),
        (np.array(2.5), 2.5),
        (torch.tensor(1.5), 1.5),
        (torch.tensor([[1.5]]), 1.5),
        (torch.tensor(1.5, requires_grad=True), 1.5),
        (torch.tensor(1.5, dtype=torch.bfloat16), 1.5),
        (torch.tensor(1.5, dtype=torch.float16), 1.5),
        (torch.tensor(2**60 + 1), 2**60 + 1),
        (torch.tensor(True), 1.0),
        (torch.nn.Parameter(torch.tensor(2.0)), 2.0),
        (decimal.Decimal("0.25"), 0.25),
        (Color.RED, 3.0),
    ],
    ids=repr,
)
def test_numbers_of_all_kinds_come_back_as_they_were(run: Run, recorded: Reader, value: Any, kept: Any) -> None:
    run.log({"x": value})
    (point,) = finished(run, recorded).points("x")
    assert point == (0, kept)
    assert math.copysign(1, point[1]) == math.copysign(1, kept)


def test_nan_is_kept(run: Run, recorded: Reader) -> None:
    run.log({"a": float("nan"), "b": torch.tensor(float("nan"))})
    read = finished(run, recorded)
    assert math.isnan(read.points("a")[0][1])
    assert math.isnan(read.points("b")[0][1])


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (1j, "complex"),
        (None, "NoneType"),
        (torch.tensor(1j), "Tensor"),
        (torch.zeros(3), "Tensor"),
        (torch.zeros((), device="meta"), "Tensor"),
        (np.zeros(3), "ndarray"),
        (object(), "object"),
        ([1.0, 2.0], "list"),
        (np.datetime64("2020-01-01"), "datetime64"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_kept_is_named_once_and_the_rest_stays(
    run: Run, recorded: Reader, capfd: pytest.CaptureFixture[str], value: Any, word: str
) -> None:
    run.log({"good": 1.0, "bad": value})
    run.log({"good": 2.0, "bad": value})
    run.log({"good": 3.0, "bad": value})
    read = finished(run, recorded)
    assert read.points("good") == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert "bad" not in read.names
    lines = [line for line in capfd.readouterr().err.splitlines() if "'bad'" in line]
    assert len(lines) == 1
    assert f"({word})" in lines[0]
    assert sum(event.count for event in read.of(Dropped)) == 3


def test_nested_dicts_are_joined_with_a_slash(run: Run, recorded: Reader) -> None:
    run.log({"loss": {"train": 1.0, "val": {"a": 2.0}}, 7: 3.0})
    assert finished(run, recorded).names == ["loss/train", "loss/val/a", "7"]


@pytest.mark.parametrize(
    "name", ["", "x" * 10_000, "a\0b", "a\nb", "..", "../../etc/passwd", "CON", "😀", "\u202eabc", "é", "e\u0301"]
)
def test_any_text_is_a_name_and_never_a_path(run: Run, recorded: Reader, store: Path, name: str) -> None:
    run.log({name: 1.0})
    run.log({name: 2.0})
    assert finished(run, recorded).points(name) == [(0, 1.0), (1, 2.0)]
    assert {path.parent for path in store.rglob("*.log")} == {run.path}


def test_a_lone_surrogate_is_spelled_out(run: Run, recorded: Reader) -> None:
    run.log({"a\udc80": 1.0})
    assert finished(run, recorded).points("a\\udc80") == [(0, 1.0)]


def test_the_step_is_shared_by_calls_with_other_names_and_moves_on_with_the_same(run: Run, recorded: Reader) -> None:
    for epoch in range(2):
        for _ in range(2):
            run.log({"loss": 1.0})
            run.log({"lr": 0.1})
        run.log({"val": float(epoch)})
    read = finished(run, recorded)
    assert [step for step, _ in read.points("loss")] == [0, 1, 2, 3]
    assert [step for step, _ in read.points("lr")] == [0, 1, 2, 3]
    assert read.points("val") == [(1, 0.0), (3, 1.0)]


def test_a_given_step_may_repeat_go_back_and_be_negative(run: Run, recorded: Reader) -> None:
    steps = [5, 5, 3, -2, 2**63 - 1, -(2**63)]
    for step in steps:
        run.log({"x": 1.0}, step=step)
    assert [step for step, _ in finished(run, recorded).points("x")] == steps


@pytest.mark.parametrize("step", [np.int32(4), 4.0, torch.tensor(4), np.float64(4.0), True + 3], ids=repr)
def test_whole_numbers_of_any_kind_are_steps(run: Run, recorded: Reader, step: Any) -> None:
    run.log({"x": 1.0}, step=step)
    run.log({"x": 1.0}, step=step)
    assert [step for step, _ in finished(run, recorded).points("x")] == [4, 4]


@pytest.mark.parametrize("step", [1.5, "3", 2**63, -(2**63) - 1, float("nan"), float("inf"), [1], 1j], ids=repr)
def test_other_steps_are_refused_in_words(
    run: Run, recorded: Reader, capfd: pytest.CaptureFixture[str], step: Any
) -> None:
    run.log({"x": 0.0}, step=1)
    run.log({"x": 1.0}, step=step)
    assert finished(run, recorded).points("x") == [(1, 0.0)]
    assert "step" in capfd.readouterr().err


@pytest.mark.parametrize("values", [None, 3, "text", [("a", 1)], {1, 2}])
def test_log_never_raises_whatever_it_is_given(run: Run, capfd: pytest.CaptureFixture[str], values: Any) -> None:
    run.log(values)
    assert "log() takes a dict" in capfd.readouterr().err


def test_a_value_that_fails_when_asked_is_refused(run: Run, recorded: Reader) -> None:
    class Broken:
        shape = ()
        dtype = "float"

        def item(self) -> float:
            raise RuntimeError("not now")

    run.log({"bad": Broken(), "good": 1.0})
    assert finished(run, recorded).names == ["good"]


def test_the_types_under_a_name_may_change(run: Run, recorded: Reader) -> None:
    for value in (1.0, 2, np.float32(3), torch.tensor(4.0), 5.0):
        run.log({"x": value, "y": 0.0})
    assert [value for _, value in finished(run, recorded).points("x")] == [1, 2, 3, 4, 5]


def test_text_becomes_media_beside_the_numbers(run: Run, recorded: Reader) -> None:
    run.log({"note": "hello", "loss": 1.0})
    run.log({"note": "again", "loss": 0.5})
    read = finished(run, recorded)
    assert [(media.key, media.step, media.kind, media.data) for media in read.media] == [
        ("note", 0, "text", b"hello"),
        ("note", 1, "text", b"again"),
    ]
    assert read.points("loss") == [(0, 1.0), (1, 0.5)]


def test_images_are_encoded_beside_the_training(run: Run, recorded: Reader) -> None:
    for step in range(3):
        run.log({"image": stepscope.Image(np.full((4, 4, 3), step, np.uint8))}, step=step)
    read = finished(run, recorded)
    assert [(media.kind, media.step, media.meta["width"]) for media in read.media] == [
        ("image", n, 4) for n in range(3)
    ]


def test_sixteen_threads_lose_and_mix_nothing(run: Run, recorded: Reader) -> None:
    def work(number: int) -> None:
        for index in range(200):
            run.log({f"t{number}": float(index), "shared": float(number)}, step=index)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read = finished(run, recorded)
    for number in range(16):
        assert read.points(f"t{number}") == [(index, float(index)) for index in range(200)]
    assert len(read.points("shared")) == 3200


def test_steps_that_are_not_given_are_unique_among_threads(run: Run, recorded: Reader) -> None:
    threads = [threading.Thread(target=lambda: [run.log({"x": 1.0}) for _ in range(100)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(step for step, _ in finished(run, recorded).points("x")) == list(range(800))


def test_after_the_end_log_says_so_once(run: Run, recorded: Reader, capfd: pytest.CaptureFixture[str]) -> None:
    run.log({"x": 1.0})
    run.finish()
    run.log({"x": 2.0})
    run.log({"x": 3.0})
    assert recorded(run.path).points("x") == [(0, 1.0)]  # type: ignore[arg-type]
    assert capfd.readouterr().err.count("finished") == 1


def test_a_name_is_never_logged_twice_at_a_step_that_was_not_given(store: Path) -> None:
    """`loss` at every turn and `val` beside it now and then: the usual loop, with two sets of names."""
    with stepscope.init(dir=store, system=False, git=False, console=False) as run:
        for turn in range(6):
            row = {"loss": float(turn)}
            if turn % 3 == 2:
                row["val"] = float(turn)
            run.log(row)
            run.log({"lr": 0.1})
    read = stepscope.run(run.path)
    assert read.series("loss").steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert read.series("loss").values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert read.series("val").steps.tolist() == [2, 5]
    assert read.series("lr").steps.tolist() == [0, 1, 2, 3, 4, 5]
