"""Keras 3: the callback on three backends, and unmodified scripts under `stepscope run`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.warm import QUIET, Done, Warm

import stepscope

SCRIPT = """\
import json, numpy as np, keras
keras.utils.set_random_seed(0)
x = np.random.rand(160, 8).astype("float32")
y = (x.sum(1) > 4).astype("int64")
x_test, y_test = np.random.rand(32, 8).astype("float32"), np.random.randint(0, 2, 32)
model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, activation="relu"),
                          keras.layers.Dropout(0.1), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 100)),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
history = model.fit(x, y, epochs=3, batch_size=16, validation_split=0.2, verbose=0, CALLBACKS).history
print("history=" + json.dumps({k: [float(v) for v in values] for k, values in history.items()}))
print("test=" + json.dumps(model.evaluate(x_test, y_test, verbose=0, return_dict=True, CALLBACKS)))
print("predicted=" + json.dumps(model.predict(x_test, verbose=0, CALLBACKS).shape))
print("weights=" + json.dumps([float(np.asarray(w, dtype="float64").sum()) for w in model.get_weights()]))
"""
PLAIN = SCRIPT.replace(", CALLBACKS", "")
TRACKED = (
    "from stepscope.integrations.keras import StepscopeCallback\n"
    "callback = StepscopeCallback(name='mine', project='digits')\n"
) + SCRIPT.replace("CALLBACKS", "callbacks=[callback]")


def values_at(run: Any, name: str) -> list[tuple[int, float]]:
    series = run.series(name)
    return list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


def in_backend(backend: str, folder: Path, script: str, *words: str) -> Done:
    """In a process of its own: a backend is chosen once, at the import."""
    (folder / "train.py").write_text(script)
    done = subprocess.run(
        [sys.executable, *words, "train.py"],
        cwd=folder,
        env={**os.environ, **QUIET, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    process = Warm("torch", "keras", KERAS_BACKEND="torch")
    yield process
    process.close()


OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in ("jax", "tensorflow")]


@pytest.mark.parametrize("backend", ["torch", *OTHERS])
def test_the_callback_keeps_what_keras_logs(warm: Warm, tmp_path: Path, backend: str) -> None:
    done = warm.python(tmp_path, TRACKED) if backend == "torch" else in_backend(backend, tmp_path, TRACKED)
    assert done.code == 0, done.err
    run = stepscope.run("mine", tmp_path / "stepscope-runs")
    for name, values in done.value("history").items():
        assert values_at(run, f"epoch/{name}") == list(zip((7, 15, 23), values, strict=True))
    assert values_at(run, "eval/loss") == [(23, done.value("test")["loss"])]
    assert [step for step, _ in values_at(run, "train/loss")] == list(range(24))
    rates = [value for _, value in values_at(run, "epoch/learning_rate")]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] < 0.01
    config = run.config
    assert (config["epochs"], config["steps_per_epoch"], config["model/parameters"]) == (3, 8, 178)
    assert config["optimizer/learning_rate/initial_learning_rate"] == 0.01


def test_a_wrong_argument_is_said_at_once(warm: Warm, tmp_path: Path) -> None:
    done = warm.python(
        tmp_path, "from stepscope.integrations.keras import StepscopeCallback\nStepscopeCallback(every=-1)\n"
    )
    assert done.code == 1
    assert done.err.splitlines()[-1].endswith("every=-1 must be a number of batches, or 0 for epochs only")


@pytest.fixture(scope="module")
def both(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Done, Done]:
    alone = warm.python(tmp_path_factory.mktemp("alone"), PLAIN)
    folder = tmp_path_factory.mktemp("watched")
    watched = warm.stepscope(folder, PLAIN, "run", "--name", "fit")
    assert (alone.code, watched.code) == (0, 0), watched.err
    return stepscope.run("fit", folder / "stepscope-runs"), alone, watched


def test_on_torch_training_is_the_same_to_the_last_bit_and_healthy(both: tuple[Any, Done, Done]) -> None:
    _, alone, watched = both
    assert [watched.value(name) for name in ("weights", "history", "test")] == [
        alone.value(name) for name in ("weights", "history", "test")
    ]
    assert watched.rules == []


def test_on_torch_every_step_of_keras_optimizers_is_seen(both: tuple[Any, Done, Done]) -> None:
    run, _, watched = both
    losses = values_at(run, "train/loss")
    assert [step for step, _ in losses] == list(range(24))
    mean = sum(value for _, value in losses[:8]) / 8
    assert mean == pytest.approx(watched.value("history")["loss"][0], rel=1e-5)
    rates = [value for _, value in values_at(run, "train/lr")]
    assert rates[0] == pytest.approx(0.01)
    assert rates == sorted(rates, reverse=True)
    assert all(value > 0 for _, value in values_at(run, "train/grad_norm"))
    assert run.config["optimizer/name"] == "Adam"


def test_evaluations_are_keras_own(both: tuple[Any, Done, Done]) -> None:
    run, _, watched = both
    history = watched.value("history")
    assert values_at(run, "eval/accuracy") == list(zip((7, 15, 23), history["val_accuracy"], strict=True))
    assert values_at(run, "epoch/loss") == list(zip((7, 15, 23), history["loss"], strict=True))
    assert values_at(run, "test/loss") == [(23, watched.value("test")["loss"])]


def test_a_softmax_whose_output_is_taken_for_raw_scores_is_found(warm: Warm, tmp_path: Path) -> None:
    script = PLAIN.replace("keras.layers.Dense(2)]", 'keras.layers.Dense(2, activation="softmax")]')
    done = warm.stepscope(tmp_path, script, "run")
    assert done.rules == ["loss.from-logits"]
    assert done.place_of("loss.from-logits") == "train.py:9"


@pytest.mark.slow
def test_on_jax_an_unmodified_script_is_tracked_and_told_what_needs_torch(tmp_path: Path) -> None:
    done = in_backend("jax", tmp_path, PLAIN, "-m", "stepscope", "run", "--name", "jax")
    assert done.code == 0, done.err
    run = stepscope.run("jax", tmp_path / "stepscope-runs")
    history = json.loads(json.dumps(done.value("history")))
    assert values_at(run, "eval/loss") == list(zip((7, 15, 23), history["val_loss"], strict=True))
    assert run.config["model/parameters"] == 178
    said = [line for line in done.err.splitlines() if line.startswith("stepscope:")]
    assert len(said) == 1
    assert "trains with Keras on JAX, not with PyTorch" in said[0]


WANDB = """
import json, numpy as np, keras
import stepscope.wandb as wandb
from stepscope.wandb.integration.keras import WandbMetricsLogger
assert wandb.keras.WandbMetricsLogger is WandbMetricsLogger
wandb.init(name="logged", dir="stepscope-runs")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.125), "mse")
history = model.fit(np.ones((16, 2)), np.ones(16), batch_size=4, epochs=2, verbose=0, validation_split=0.25,
                    callbacks=[WandbMetricsLogger(log_freq=2)]).history
wandb.finish()
print("history=" + json.dumps({k: [float(v) for v in values] for k, values in history.items()}))
"""


def test_the_wandb_callback_logs_what_keras_says(warm: Warm, tmp_path: Path) -> None:
    done = warm.python(tmp_path, WANDB)
    assert done.code == 0, done.err
    (run,) = stepscope.runs(tmp_path / "stepscope-runs")
    for name, values in done.value("history").items():
        assert [value for _, value in values_at(run, f"epoch/{name}")] == values
    assert [value for _, value in values_at(run, "batch/batch_step")] == [0, 2, 3, 5]
    assert {value for _, value in values_at(run, "epoch/learning_rate")} == {0.125}
