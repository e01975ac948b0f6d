"""JAX and TensorFlow without Keras: what is logged from them is what they say it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.warm import QUIET, Done

import stepscope

JAX = """\
import json, jax, jax.numpy as jnp, stepscope
x = jax.random.normal(jax.random.PRNGKey(0), (64, 4))
y = x @ jnp.array([1.0, -2.0, 3.0, 0.5])
@jax.jit
def step(w):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * g, loss
with stepscope.init(name="mine", config={"lr": 0.1}) as run:
    w, said = jnp.zeros(4), []
    for i in range(10):
        w, loss = step(w)
        half = loss.astype(jnp.bfloat16)
        run.log({"loss": loss, "half": half, "one": loss.reshape(1), "count": jnp.int32(i), "big": loss > 1}, step=i)
        said.append([float(loss), float(half), bool(loss > 1)])
    run.log({"picture": stepscope.Image(jnp.ones((8, 8, 3), jnp.bfloat16)), "table": stepscope.Table(x[:3]),
             "weights": stepscope.Histogram(w.astype(jnp.bfloat16)), "raw": x}, step=10)
print("said=" + json.dumps(said))
print("rows=" + json.dumps(x[:3].tolist()))
"""
TENSORFLOW = """\
import json, tensorflow as tf, stepscope
tf.random.set_seed(0)
x = tf.random.normal((64, 4))
y = tf.linalg.matvec(x, tf.constant([1.0, -2.0, 3.0, 0.5]))
with stepscope.init(name="mine", config={"lr": 0.1}) as run:
    w, said = tf.Variable(tf.zeros((4,))), []
    for i in range(10):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        half = tf.cast(loss, tf.bfloat16)
        run.log({"loss": loss, "half": half, "one": tf.Variable(tf.reshape(loss, (1,))), "count": tf.constant(i),
                 "big": loss > 1}, step=i)
        said.append([float(loss), float(half), bool(loss > 1)])
    run.log({"picture": stepscope.Image(tf.ones((8, 8, 3), tf.bfloat16)), "table": stepscope.Table(x[:3]),
             "weights": stepscope.Histogram(tf.cast(w, tf.bfloat16)), "raw": x}, step=10)
    @tf.function
    def inside(a):
        run.log({"symbolic": tf.reduce_sum(a)}, step=11)
        return a
    inside(x)
print("said=" + json.dumps(said))
print("rows=" + json.dumps(x[:3].numpy().tolist()))
"""


def values_of(run: Any, name: str) -> list[float]:
    values: list[float] = run.series(name).values.tolist()
    return values


@pytest.mark.parametrize(("name", "script"), [("JAX", JAX), ("TensorFlow", TENSORFLOW)], ids=["jax", "tensorflow"])
def test_what_is_logged_is_what_the_framework_says(tmp_path: Path, name: str, script: str) -> None:
    (tmp_path / "train.py").write_text(script)
    ended = subprocess.run(
        [sys.executable, "-m", "stepscope", "run", "train.py"],
        cwd=tmp_path,
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        check=False,
    )
    done = Done(ended.returncode, ended.stdout, ended.stderr)
    assert done.code == 0, done.err
    run = stepscope.run("mine", tmp_path / "stepscope-runs")
    said = done.value("said")
    assert values_of(run, "loss") == values_of(run, "one") == [row[0] for row in said]
    assert values_of(run, "half") == [row[1] for row in said]
    assert values_of(run, "big") == [float(row[2]) for row in said]
    assert values_of(run, "count") == list(range(10))
    assert [one.kind for one in run.media("picture") + run.media("weights") + run.media("table")] == [
        "image", "histogram", "table",
    ]  # fmt: skip
    lines = [line for line in done.err.splitlines() if line.startswith("stepscope:")]
    assert any("'raw'" in line and "was not logged: it has shape (64, 4)" in line for line in lines)
    assert f"train.py trains with {name}, not with PyTorch" in lines[-1]
    assert ("a symbolic tensor has no value yet" in done.err) == (name == "TensorFlow")
