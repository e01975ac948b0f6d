from __future__ import annotations

import gc
import io
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch

from stepscope.track.steps import StepRefused
from stepscope.wandb import rows as rows_module
from stepscope.wandb.rows import Rows

Written = list[tuple[int, dict[str, Any]]]


@pytest.fixture
def made() -> tuple[Rows, Written, list[str]]:
    written: Written = []
    refused: list[str] = []
    rows = Rows(lambda row, step: written.append((step, row)), lambda what, _why: refused.append(what))
    return rows, written, refused


def test_a_plain_call_is_a_row_of_its_own(made: tuple[Rows, Written, list[str]]) -> None:
    rows, written, _ = made
    rows.log({"a": 1})
    rows.log({"a": 2})
    assert (written, rows.step) == ([(0, {"a": 1}), (1, {"a": 2})], 2)


def test_what_is_not_committed_waits_and_the_later_value_stays(made: tuple[Rows, Written, list[str]]) -> None:
    rows, written, _ = made
    rows.log({"a": 1, "b": 1}, commit=False)
    rows.log({"a": 2}, commit=False)
    assert written == []
    rows.log({"c": 3})
    assert written == [(0, {"a": 2, "b": 1, "c": 3})]


def test_a_greater_step_writes_the_row_before_it(made: tuple[Rows, Written, list[str]]) -> None:
    rows, written, _ = made
    rows.log({"a": 1}, step=5)
    rows.log({"b": 1}, step=5)
    rows.log({"a": 2}, step=7)
    assert (written, rows.step) == ([(5, {"a": 1, "b": 1})], 7)


def test_a_smaller_step_is_refused_and_counted(made: tuple[Rows, Written, list[str]]) -> None:
    rows, written, refused = made
    rows.log({"a": 1}, step=5, commit=True)
    rows.log({"a": 2}, step=3)
    rows.flush()
    assert (refused, written) == (["earlier step"], [(5, {"a": 1})])


def test_a_step_that_is_no_number_is_refused(made: tuple[Rows, Written, list[str]]) -> None:
    rows, _, _ = made
    with pytest.raises(StepRefused):
        rows.log({"a": 1}, step="five")
    rows.log({"a": 1}, step=torch.tensor(4))
    assert rows.step == 4


def test_an_idle_row_is_written_so_that_charts_do_not_lag(
    made: tuple[Rows, Written, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, written, _ = made
    rows.log({"a": 1}, step=5)
    rows.tick()
    assert written == []
    monkeypatch.setattr(rows_module, "IDLE_S", 0.0)
    rows.tick()
    rows.log({"b": 2}, step=5)
    rows.log({"c": 3}, step=6, commit=True)
    assert written == [(5, {"a": 1}), (5, {"b": 2}), (6, {"c": 3})]


def test_a_waiting_row_keeps_no_graph_alive_and_sees_no_later_change(made: tuple[Rows, Written, list[str]]) -> None:
    rows, written, _ = made
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * 2).sum()
    alive = weakref.ref(loss)
    total = torch.tensor(1.0)
    rows.log({"loss": loss, "total": total}, step=1)
    total += 5
    del loss
    gc.collect()
    assert alive() is None
    rows.flush()
    assert written == [(1, {"loss": 6.0, "total": 1.0})]


def test_rows_survive_the_run_without_a_finish(wandb: ModuleType, last: Callable[[], Any]) -> None:
    run = wandb.init(project="p")
    run.log({"a": 1}, step=3)
    run.log({"b": 2}, commit=False)
    run.finish()
    assert {name: last().series(name).steps.tolist() for name in ("a", "b")} == {"a": [3], "b": [3]}


def test_many_threads_make_whole_rows_of_their_own(wandb: ModuleType, last: Callable[[], Any]) -> None:
    run = wandb.init(project="p")

    def work(number: int) -> None:
        for at in range(50):
            run.log({"a": number, "b": at})

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run.step == 400
    run.finish()
    assert sorted(last().series("a").steps.tolist()) == list(range(400))
    assert sorted(last().series("b").values.tolist()) == sorted(float(at) for at in range(50) for _ in range(8))


def test_a_value_that_was_on_a_device_is_read_from_the_run(wandb: ModuleType) -> None:
    run = wandb.init(project="p")
    run.log({"loss": 3.0})
    run.log({"loss": 2.0})
    assert run._ask("loss") == 2.0
    assert run._ask("never logged") is None


def test_a_figure_is_drawn_when_it_is_logged(wandb: ModuleType, last: Callable[[], Any]) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    import numpy as np
    from PIL import Image as pillow

    figure, axes = pyplot.subplots(figsize=(1, 1), dpi=50)
    axes.imshow([[0, 1]])
    with wandb.init(project="p") as run:
        run.log({"now": figure, "pyplot": pyplot, "image": wandb.Image(pyplot)}, commit=False)
        figure.clf()
        run.log({"later": figure})
    pyplot.close(figure)
    drawn = {
        key: np.asarray(pillow.open(io.BytesIO(last().media_bytes(last().media(key)[0])))).std()
        for key in ("now", "pyplot", "image", "later")
    }
    assert drawn["now"] == drawn["pyplot"] == drawn["image"] > drawn["later"] == 0.0
