"""Runs for a run's own page: one that diverged and why, one that is well, one that holds nothing."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path
from typing import Any

from stepscope.records import (
    Alert,
    Artifact,
    ArtifactFile,
    Console,
    End,
    Event,
    Finding,
    FindingEvent,
    GitState,
    Related,
    RunMeta,
    SummaryUpdate,
)
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

STEPS = 2400
BREAKS = 1800
STEP_S = 1.1

NOTES = """## What this run is for

Twice the width of `small-lm-07`, the same data, **learning rate unchanged**.

- diverges around step 1,800: the norm of the gradient grows from step 1,500 on
- next: warm up over 500 steps, then `lr=3e-4`

| | width | loss at 1,500 |
|---|---|---|
| small-lm-07 | 256 | 3.41 |
| this one | 512 | 3.22 |

<img src=x onerror="document.title='PWNED'">
"""

DIFF = """diff --git a/model.py b/model.py
index 5d3f0a1..b81c2ee 100644
--- a/model.py
+++ b/model.py
@@ -18,9 +18,10 @@ class Block(nn.Module):
     def __init__(self, width: int, heads: int) -> None:
         super().__init__()
         self.norm1 = nn.LayerNorm(width)
-        self.attention = Attention(width, heads)
+        self.attention = Attention(width, heads, bias=False)
         self.norm2 = nn.LayerNorm(width)
-        self.mlp = MLP(width, 4 * width)
+        self.mlp = MLP(width, 4 * width, activation="gelu")
+        self.scale = nn.Parameter(torch.ones(width))

     def forward(self, x: Tensor) -> Tensor:
         x = x + self.attention(self.norm1(x))
diff --git a/train.py b/train.py
index 0c4be12..fa1177d 100644
--- a/train.py
+++ b/train.py
@@ -61,7 +61,7 @@ def main() -> None:
     model = LanguageModel(config)
     optimizer = torch.optim.AdamW(
         model.parameters(),
-        lr=3e-4,
+        lr=3e-3,
         weight_decay=0.1,
     )
@@ -84,5 +84,4 @@ def fit(model: nn.Module, loader: DataLoader) -> None:
         loss = model(tokens, targets)
         loss.backward()
-        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
         optimizer.step()
         optimizer.zero_grad()
diff --git a/configs/wide.yaml b/configs/wide.yaml
new file mode 100644
--- /dev/null
+++ b/configs/wide.yaml
@@ -0,0 +1,4 @@
+model:
+  width: 512
+  heads: 8
+  layers: 12
"""

CONFIG = {
    "seed": 1337, "batch_size": 64, "steps": 10_000, "compile": False, "precision": "bf16",
    "data/dataset": "openwebtext-10k", "data/context": 512, "data/workers": 4, "data/shuffle": True,
    "model/width": 512, "model/heads": 8, "model/layers": 12, "model/dropout": 0.1, "model/tied": True,
    "optimizer/name": "adamw", "optimizer/lr": 3e-3, "optimizer/betas": [0.9, 0.95], "optimizer/weight_decay": 0.1,
    "optimizer/clip": None, "schedule/name": "cosine", "schedule/warmup": 0,
}  # fmt: skip

PACKAGES = {
    "accelerate": "1.10.1", "datasets": "4.1.0", "einops": "0.8.1", "filelock": "3.19.1", "fsspec": "2025.9.0",
    "huggingface-hub": "0.35.0", "jinja2": "3.1.6", "markupsafe": "3.0.2", "mpmath": "1.3.0", "networkx": "3.5",
    "numpy": "2.3.3", "nvidia-cublas-cu12": "12.8.4.1", "pyyaml": "6.0.2", "regex": "2025.9.1", "safetensors": "0.6.2",
    "sympy": "1.14.0", "tokenizers": "0.22.0", "torch": "2.9.0", "tqdm": "4.67.1", "transformers": "4.56.1",
    "triton": "3.5.0", "typing-extensions": "4.15.0",
}  # fmt: skip

TRACE = """Traceback (most recent call last):
  File "/home/ada/small-lm/train.py", line 118, in <module>
    main()
  File "/home/ada/small-lm/train.py", line 74, in main
    fit(model, loader)
  File "/home/ada/small-lm/train.py", line 91, in fit
    raise FloatingPointError(f"loss is {loss.item()} at step {step}")
FloatingPointError: loss is nan at step 2400
"""


def run(store: Path) -> None:
    """The three runs, oldest first."""
    rng = random.Random(5)
    _write(store, "nothing-logged", 9000, rng, steps=0, config={}, command=[], git=None)
    _write(store, "small-lm-07", 7200, rng, steps=STEPS, tags=["baseline"], config={**CONFIG, "model/width": 256})
    _write(
        store,
        "small-lm-08-wide",
        2700,
        rng,
        steps=STEPS,
        diverges=True,
        tags=["wide", "paper"],
        notes=NOTES,
        events=_findings(time.time()),
        end=End(time=time.time(), status="failed", exit_code=1, error=TRACE.strip().splitlines()[-1], traceback=TRACE),
    )


def _write(
    store: Path,
    name: str,
    age_s: float,
    rng: random.Random,
    steps: int,
    diverges: bool = False,
    events: tuple[Event, ...] = (),
    end: End | None = None,
    **about: Any,
) -> None:
    meta = _meta(name, age_s, about)
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    if steps:
        begin = time.monotonic() - age_s
        _numbers(writer, steps, diverges, rng, begin)
        _machine(writer, steps, rng, begin)
        _printed(writer, steps, rng)
    for event in events:
        writer.event(event)
    writer.close(end or End(time=time.time() - age_s + 2640, status="finished", exit_code=0))


def _meta(name: str, age_s: float, about: dict[str, Any]) -> RunMeta:
    created = time.time() - age_s
    usual: dict[str, Any] = {
        "config": CONFIG,
        "command": ["python", "train.py", "--config", "configs/wide.yaml", "--note", "no warm-up"],
        "git": GitState(
            commit="4f2a91c7d8e0b35517f1a2c09c5a6c1f6f4f2f10",
            branch="wide",
            remote="https://github.com/ada/small-lm.git",
            dirty=True,
            diff=DIFF,
        ),
    }
    return RunMeta(
        id=new_run_id(created),
        project="small-lm",
        name=name,
        created=created,
        cwd="/home/ada/small-lm",
        script="/home/ada/small-lm/train.py",
        host="gpu-07",
        user="ada",
        python="3.12.4",
        platform="linux 6.8.0",
        packages=PACKAGES,
        hardware={
            "cpu": "AMD EPYC 9354",
            "cpu_count": 32,
            "memory_bytes": 256 << 30,
            "gpus": [{"name": "NVIDIA H100 80GB", "memory_bytes": 80 << 30}] * 2,
        },
        env={"CUDA_VISIBLE_DEVICES": "0,1", "OMP_NUM_THREADS": "8", "SLURM_JOB_ID": "48151"},
        stepscope="0.1.0",
        **{**usual, **about},
    )


def _numbers(writer: RunWriter, steps: int, diverges: bool, rng: random.Random, begin: float) -> None:
    often = writer.keyset(("train/loss", "grad_norm", "lr", "train/tokens_per_s"))
    seldom = writer.keyset(("val/loss", "val/perplexity", "epoch"))
    for step in range(steps):
        fall = math.exp(-step / 380)
        trouble = max(0.0, (step - 1500) / 100) if diverges else 0.0
        loss = 3.05 + 7.6 * fall + rng.gauss(0, 0.05) + 0.02 * math.expm1(trouble * 1.6)
        norm = 0.7 + 2.2 * fall + abs(rng.gauss(0, 0.08)) + 0.3 * math.expm1(trouble * 1.9)
        if diverges and step >= BREAKS:
            loss = math.nan
            norm = math.inf if step < BREAKS + 5 else math.nan
        at = begin + step * STEP_S
        rate = 3e-3 * (1 + math.cos(math.pi * step / 10_000)) / 2
        often.write(step, (loss, norm, rate, 182_000 + rng.gauss(0, 3000)), at)
        if step % 200 == 199:
            val = 3.2 + 7.6 * fall + (0.02 * math.expm1(trouble * 1.6) if step < BREAKS else math.nan)
            seldom.write(step, (val, math.exp(min(val, 50.0)), step // 400), at)


def _machine(writer: RunWriter, steps: int, rng: random.Random, begin: float) -> None:
    names = ["cpu_percent", "memory_bytes", "memory_percent", "process_rss_bytes", "disk_write_bytes_per_s"]
    for gpu in range(2):
        names += [f"gpu{gpu}/{meter}" for meter in ("use_percent", "memory_bytes", "power_w", "temperature_c")]
    row = writer.keyset(tuple(f"system/{name}" for name in names))
    for beat in range(int(steps * STEP_S / 10)):
        warm = 1 - math.exp(-beat / 12)
        dip = 40 if beat % 60 > 55 else 0
        gpu = [92 * warm - dip + rng.gauss(0, 2), (51 + rng.gauss(0, 0.2)) * (1 << 30) * min(1, warm + 0.4),
               610 * warm - 4 * dip + rng.gauss(0, 12), 38 + 31 * warm + rng.gauss(0, 0.6)]  # fmt: skip
        host = [34 + rng.gauss(0, 4), 61e9 + beat * 2e7, 24 + beat * 0.01, 9.1e9 + beat * 1e6, max(0, dip) * 6e6]
        row.write(beat * 9, (*host, *gpu, *(value * 0.98 for value in gpu)), begin + beat * 10)


def _printed(writer: RunWriter, steps: int, rng: random.Random) -> None:
    now = time.time()
    for step in range(0, steps, 50):
        text = f"step {step:5d}  loss {3.05 + 7.6 * math.exp(-step / 380):.3f}  {182 + rng.gauss(0, 3):.0f}k tok/s\n"
        writer.console(Console(time=now + step * STEP_S, stream="stdout", text=text, step=step))


def _findings(now: float) -> tuple[Event, ...]:
    fit = [
        (84, "        loss = model(tokens, targets)"),
        (85, "        loss.backward()"),
        (86, "        optimizer.step()"),
        (87, "        optimizer.zero_grad()"),
    ]
    too_fast = Finding(
        rule="opt.lr-too-high",
        severity="error",
        message="the loss rises while each update moves the weights by more than a hundredth of their size",
        file="/home/ada/small-lm/train.py",
        line=64,
        column=8,
        end_column=15,
        function="main",
        step=1620,
        label="lr 0.003, updates of 0.9% -> 4.1% of the weights, loss 3.12 -> 3.36",
        fix="start with a learning rate ten to a hundred times smaller: `lr=3e-4`",
        evidence={
            "lr": 3e-3,
            "losses": [3.12, 3.11, 3.13, 3.15, 3.19, 3.22, 3.27, 3.36],
            "update_to_weight": [0.009, 0.011, 0.012, 0.016, 0.021, 0.027, 0.034, 0.041],
        },
        source=[
            (62, "    optimizer = torch.optim.AdamW("),
            (63, "        model.parameters(),"),
            (64, "        lr=3e-3,"),
            (65, "        weight_decay=0.1,"),
        ],
        related=[
            Related(
                file="/home/ada/small-lm/train.py",
                line=86,
                label="the update is made here",
                source=[(85, "        loss.backward()"), (86, "        optimizer.step()")],
            )
        ],
    )
    explodes = Finding(
        rule="grad.exploding",
        severity="error",
        message="gradients grow by a factor of 300 within 250 steps, and nothing clips them",
        file="/home/ada/small-lm/train.py",
        line=85,
        column=8,
        end_column=23,
        function="fit",
        step=1740,
        label="gradient of `head` 41 times its weights, of the first block 0.02 times",
        fix="clip after this line: `clip_grad_norm_(model.parameters(), 1.0)`",
        evidence={
            "gradient_to_weight": {
                "head": 41.2, "blocks.11.mlp.out": 12.7, "blocks.11.attention": 6.1, "blocks.6.mlp.out": 0.9,
                "blocks.0.mlp.out": 0.06, "blocks.0.attention": 0.02, "embed": 0.004,
            }
        },
        source=fit,
    )  # fmt: skip
    tied = Finding(
        rule="mode.no-eval",
        severity="warning",
        message="validation runs with dropout on: `model.eval()` is never called",
        file="/home/ada/small-lm/train.py",
        line=101,
        column=4,
        end_column=37,
        function="evaluate",
        step=199,
        label="two passes over the same batch differ by 0.04",
        fix="call `model.eval()` before this line and `model.train()` after the loop",
        evidence={"loss_difference": [0.041, 0.038, 0.043, 0.04]},
        source=[(100, "def evaluate(model, loader):"), (101, "    for tokens, targets in loader:")],
        source_changed=True,
    )
    seedless = Finding(
        rule="data.worker-seed", severity="info", message="the loader's workers all draw the same numbers"
    )
    files = [
        ArtifactFile(path="model.safetensors", sha256="0" * 64, size=498_221_056),
        ArtifactFile(path="optimizer.pt", sha256="1" * 64, size=996_440_112),
    ]
    return (
        *(FindingEvent(time=now, finding=one) for one in (seedless, tied, too_fast, explodes)),
        Alert(time=now - 900, title="the loss is NaN", text="since step 1,800", step=BREAKS, level="error"),
        Alert(time=now - 1200, title="gradient norm above 20", step=1760),
        SummaryUpdate(time=now, values={"best/val_loss": 3.31}),
        Artifact(time=now, name="checkpoint", type="model", version=0, digest="a", files=files, step=1000),
        Artifact(time=now, name="checkpoint", type="model", version=1, digest="b", files=files, step=1600),
        Artifact(time=now, name="tokenizer", type="file", version=0, digest="c", files=files[:1]),
    )
