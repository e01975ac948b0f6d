"""A Keras script with its TensorBoard callback and `tf.summary`, under `stepscope run`: what the event files hold."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.integrations.imported import command

from stepscope.importers.import_writer import Landing
from stepscope.importers.tensorboard import find
from stepscope.runs.catalogue.run_list import runs
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import numpy as np, tensorflow as tf, keras
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.random.default_rng(0).random((32, 3))
model.fit(x, x.sum(1), epochs=3, verbose=0, validation_split=0.5, callbacks=[keras.callbacks.TensorBoard("logs")])
with tf.summary.create_file_writer("logs/own").as_default():
    for step in range(4):
        tf.summary.scalar("own", 1 / (step + 1), step=step)
    tf.summary.experimental.set_step(7)
    tf.summary.scalar("later", tf.constant(2.0))
    tf.summary.histogram("spread", np.arange(50.0), step=1)
    tf.summary.image("picture", np.zeros((2, 8, 9, 3), dtype="float32"), step=1)
    tf.summary.text("words", "hello", step=1)
    tf.function(lambda x: tf.summary.scalar("in a graph", x, step=3))(tf.constant(1.0))
"""


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, dict[str, RunFolder]]:
    folder = tmp_path_factory.mktemp("keras")
    (folder / "script.py").write_text(SCRIPT)
    surroundings = {"STEPSCOPE_DIR": str(folder / "store")}
    command(sys.executable, "-m", "stepscope", "run", "script.py", cwd=folder, **surroundings)
    (run,) = runs(folder / "store")
    source = find(folder / "logs")
    assert source is not None
    (folder / "imported").mkdir()
    Landing(source, folder / "imported").look()
    return run, {Path(one.name).name: one for one in runs(folder / "imported")}


def test_training_and_validation_are_kept_apart(heard: tuple[RunFolder, dict[str, RunFolder]]) -> None:
    run, stored = heard
    for ours, place, theirs in (
        ("epoch_loss", "train", "epoch_loss"),
        ("validation/epoch_loss", "validation", "epoch_loss"),
        ("own", "own", "own"),
        ("later", "own", "later"),
    ):
        series, truth = run.series(ours), stored[place].series(theirs)
        assert series.steps.tolist() == truth.steps.tolist()
        np.testing.assert_array_equal(series.values.astype(np.float32), truth.values.astype(np.float32))
    assert (run.series("own").steps.tolist(), run.series("later").steps.tolist()) == ([0, 1, 2, 3], [7])


def test_media_are_kept_and_symbols_have_no_value(heard: tuple[RunFolder, dict[str, RunFolder]]) -> None:
    run, _ = heard
    kinds = run.media_keys()
    assert [kinds[name] for name in ("spread", "picture", "words")] == ["histogram", "image", "text"]
    assert "in a graph" not in run.metrics()
    assert run.faults == []
