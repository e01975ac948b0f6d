"""The promise above all others: with Stepscope or without it, training is the same, bit for bit."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stepscope
from stepscope.track.run import Run


def train(run: Run | None) -> tuple[list[bytes], list[bytes], Any]:
    """A small training that uses all three random generators; its losses, weights and final generator states."""
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01 * random.random())
    losses = []
    for step in range(20):
        x = torch.from_numpy(np.random.randn(4, 8)).float()
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().numpy().tobytes())
        if run is not None:
            run.log({"loss": loss, "lr": 0.1, "nested": {"x": x.mean()}, "image": stepscope.Image(x)})
            run.log({"weights": stepscope.Histogram(model[0].weight), "text": "hello", "bad": object()}, step=step)
    weights = [parameter.detach().numpy().tobytes() for parameter in model.parameters()]
    states = (random.getstate(), np.random.get_state()[1].tobytes(), torch.get_rng_state().numpy().tobytes())
    return losses, weights, states


def test_losses_weights_and_random_states_are_identical_with_and_without(store: Path) -> None:
    plain = train(None)
    with stepscope.init(dir=store, config={"lr": 0.1}, system_interval_s=0.1) as run:
        time.sleep(0.15)
        watched = train(run)
    assert watched == plain
    assert train(None) == plain


def test_a_logged_loss_keeps_no_graph_alive(store: Path) -> None:
    import weakref

    run = stepscope.init(dir=store, system=False, git=False)
    x = torch.ones(3, requires_grad=True)
    loss = (x * 2).sum()
    alive = weakref.ref(loss)
    run.log({"loss": loss})
    del loss
    assert alive() is None


@pytest.mark.parametrize("broken", ["keyset", "event", "media", "console", "wide"])
def test_a_broken_writer_is_reported_once_and_training_goes_on(
    store: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    run = stepscope.init(dir=store, system=False, git=False)

    def fail(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError("a bug of ours")

    plain = train(None)
    monkeypatch.setattr(run._writer, broken, fail)
    assert train(run) == plain
    run.config.update({"a": 1})
    run.log({"big": 2**60})
    print("hello")
    run.finish()
    assert capfd.readouterr().err.count("a bug of ours") <= 4


def test_a_vanished_folder_does_not_stop_the_training(store: Path) -> None:
    import shutil

    run = stepscope.init(dir=store, system=False, git=False)
    run.log({"x": 1.0})
    shutil.rmtree(store)
    for _ in range(10):
        run.log({"x": 1.0, "note": "text"})
    run.finish()


def test_a_store_that_cannot_be_written_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], recorded: Callable[..., Any]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    run = stepscope.init(dir=tmp_path / "file" / "runs", system=False, git=False)
    run.log({"x": 1.0})
    run.finish()
    assert run.path is not None
    assert run.path.parent == tmp_path / "tmp" / "stepscope-runs"
    assert recorded(run.path).points("x") == [(0, 1.0)]
    assert "cannot write to" in capfd.readouterr().err


def test_off_does_nothing_and_answers_everything(
    store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sys.excepthook
    monkeypatch.setenv("STEPSCOPE_MODE", "off")
    run = stepscope.init(dir=store, config={"lr": 0.1})
    run.log({"x": 1.0, "image": stepscope.Image(np.zeros((2, 2))), "big": 2**60})
    run.config.update({"lr": 0.2})
    run.summary["best"] = 1
    run.tags.add("a")
    run.define("x", summary="min")
    run.alert("careful")
    run.log_artifact(__file__)
    assert run.flush()
    assert run.config.lr == 0.2
    assert sys.excepthook is before
    run.finish()
    assert list(store.iterdir()) == []
    assert run.path is None
    assert capfd.readouterr() == ("", "")
