"""Runs to compare: an ablation over three settings with four seeds each, and a change that broke training."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stepscope.profile.store import new_folder, write_meta
from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.columns import save_events
from stepscope.records import Artifact, End, Finding, FindingEvent, GitState, Media, MetricRule, RunMeta
from stepscope.records.profile import ProfileMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

MS = 1_000_000
STEPS = 1200
PARTS_AT = 400
PACKAGES = {
    "torch": "2.9.0", "torchvision": "0.24.0", "numpy": "2.1.3", "pillow": "11.0.0", "einops": "0.8.0",
    "tqdm": "4.67.1", "pyyaml": "6.0.2", "rich": "13.9.4",
}  # fmt: skip
DIFF = """diff --git a/train.py b/train.py
index 4f2a91c..88bb01a 100644
--- a/train.py
+++ b/train.py
@@ -38,7 +38,7 @@ def fit(model, loader, cfg):
     for epoch in range(cfg.epochs):
         for x, y in loader:
             loss = criterion(model(x), y)
-            loss.backward()
+            (loss / cfg.accumulate).backward()
             optimizer.step()
             optimizer.zero_grad()
"""
DIFF_BROKEN = """diff --git a/train.py b/train.py
index 4f2a91c..91cc02b 100644
--- a/train.py
+++ b/train.py
@@ -38,7 +38,6 @@ def fit(model, loader, cfg):
     for epoch in range(cfg.epochs):
         for x, y in loader:
             loss = criterion(model(x), y)
-            loss.backward()
+            (loss / cfg.accumulate).backward()
             optimizer.step()
-            optimizer.zero_grad()
diff --git a/augment.py b/augment.py
index 1a2b3c4..5d6e7f8 100644
--- a/augment.py
+++ b/augment.py
@@ -3,4 +3,5 @@ from torchvision.transforms import v2
 train = v2.Compose([
     v2.RandomCrop(32, padding=4),
     v2.RandomHorizontalFlip(),
+    v2.RandAugment(num_ops=2, magnitude=9),
 ])
"""
PROMPT = "A photo of a {} taken at dusk, in the style of a 1970s travel poster, with warm colours and a wide margin"


@dataclass
class Plan:
    """What one run of the store is to be."""

    name: str
    age_s: float
    config: dict[str, Any]
    group: str | None = None
    floor: float = 0.3
    """The loss it ends at."""
    accuracy: float = 0.9
    diverges: bool = False
    seed: int = 0
    diff: str = DIFF
    packages: dict[str, str] = field(default_factory=dict)
    hardware: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    profile_ms: int = 0
    """How long a step waits for data; 0 for no profile."""


def compare(store: Path, extra: int = 0) -> None:
    """The ablation, then the pair that a change broke; `extra` more runs of 500 metrics each to be slow with."""
    for plan in _ablation() + _pair():
        _write(store, plan)
    for number in range(extra):
        _write_wide(store, number)


def _ablation() -> list[Plan]:
    settings = [("baseline", 0.0, 0.86, 0.42), ("mixup", 0.2, 0.895, 0.36), ("cutmix", 0.0, 0.889, 0.37)]
    plans = []
    for at, (name, mixup, accuracy, floor) in enumerate(settings):
        for seed in range(4):
            rng = np.random.default_rng(100 * at + seed)
            config = {
                "lr": 1e-3,
                "optimizer": "adamw",
                "batch_size": 128,
                "augment/kind": name,
                "augment/mixup": mixup,
                "model/width": 64,
                "model/depth": 18,
                "seed": seed,
            }
            plans.append(
                Plan(
                    name=f"{name}-s{seed}",
                    age_s=90_000 - 3000 * (4 * at + seed),
                    config=config,
                    group=name,
                    floor=floor + 0.012 * float(rng.standard_normal()),
                    accuracy=accuracy + 0.005 * float(rng.standard_normal()),
                    seed=100 * at + seed,
                )
            )
    return plans


def _pair() -> list[Plan]:
    """The run that works and the one that does not, a day later."""
    config = {"lr": 1e-3, "optimizer": "adamw", "batch_size": 128, "accumulate": 1, "model/width": 96, "seed": 7}
    text = {"prompt": PROMPT.format("red fox"), "data/path": "/data/cifar", "run_name": "wide"}
    piled = Finding(
        rule="opt.no-zero-grad",
        severity="error",
        message="gradients of earlier steps are still there when backward runs",
        file="/home/ada/cifar/train.py",
        line=42,
        fix="call `optimizer.zero_grad()` before line 42",
    )
    good = Plan("wide-before", 9000, {**config, **text}, accuracy=0.91, floor=0.33, seed=900, profile_ms=2)
    bad = Plan(
        "wide-after",
        3000,
        {**config, "lr": 1e-2, "clip": 0.0, **text, "prompt": PROMPT.format("grey wolf"), "run_name": "wide-2"},
        diverges=True,
        seed=901,
        diff=DIFF_BROKEN,
        packages={"torch": "2.10.0", "einops": "0.8.1"},
        hardware={"gpus": [{"name": "NVIDIA A100", "memory_bytes": 80 << 30}]},
        env={"NVIDIA_TF32_OVERRIDE": "1"},
        findings=(piled,),
        profile_ms=6,
    )
    return [good, bad]


def _write(store: Path, plan: Plan) -> None:
    meta = _meta(plan)
    folder = create_run(store, meta)
    writer = RunWriter(folder, run_id=meta.id, heartbeat_s=0, fsync_s=0)
    writer.event(MetricRule(time=meta.created, name="val/accuracy", goal="max"))
    _numbers(writer, plan)
    for finding in plan.findings:
        writer.event(FindingEvent(time=meta.created + 60, finding=finding))
    digest = "9c" if plan.diverges else "4a"
    writer.event(
        Artifact(time=meta.created, name="cifar", type="dataset", version=1 + plan.diverges, digest=digest * 32)
    )
    error = "FloatingPointError: loss is nan at step 1000" if plan.diverges else None
    status = "failed" if plan.diverges else "finished"
    writer.close(End(time=meta.created + 600, status=status, exit_code=1 if error else 0, error=error))
    if plan.profile_ms:
        _profile(folder, plan.profile_ms)


def _meta(plan: Plan) -> RunMeta:
    created = time.time() - plan.age_s
    flags = [f"--{key}={value}" for key, value in plan.config.items() if key in ("lr", "seed")]
    return RunMeta(
        id=new_run_id(created),
        project="cifar",
        name=plan.name,
        created=created,
        config=plan.config,
        group=plan.group,
        command=["python", "train.py", *flags],
        cwd="/home/ada/cifar",
        script="train.py",
        host="gpu-07",
        user="ada",
        python="3.12.4",
        platform="Linux-6.8.0-x86_64",
        packages={**PACKAGES, **plan.packages},
        hardware={
            "cpu": "AMD EPYC 7543",
            "cpu_count": 16,
            "memory_bytes": 64 << 30,
            "gpus": [{"name": "NVIDIA H100", "memory_bytes": 80 << 30}],
            **plan.hardware,
        },
        env={"CUDA_VISIBLE_DEVICES": "0", **plan.env},
        git=GitState(commit="4f2a91c7d8e0aa", branch="main", dirty=True, diff=plan.diff),
        stepscope="0.1.0",
    )


def _numbers(writer: RunWriter, plan: Plan) -> None:
    rng = np.random.default_rng(plan.seed)
    train = writer.keyset(("train/loss", "train/grad_norm", "lr"))
    held_out = writer.keyset(("val/loss", "val/accuracy"))
    for step in range(STEPS):
        fall = math.exp(-step / 260)
        grown = max(0.0, step - PARTS_AT) / 300 if plan.diverges else 0.0
        loss = plan.floor + 2 * fall + 0.04 * float(rng.standard_normal()) * (fall + 0.3) + math.expm1(grown)
        norm = 0.6 + 1.5 * fall + 0.15 * abs(float(rng.standard_normal())) + 6 * grown
        broken = plan.diverges and step >= 1000
        rate = plan.config["lr"] * (1 + math.cos(math.pi * step / STEPS)) / 2
        train.write(step, (math.nan if broken else loss, math.nan if broken else norm, rate))
        if step % 50 == 49 and not broken:
            accuracy = plan.accuracy * (1 - 0.9 * fall) - 0.3 * math.tanh(grown)
            held_out.write(step, (loss * 1.1 + 0.02, accuracy + 0.003 * float(rng.standard_normal())))
        if broken and step > 1010:
            return
        if step % 400 == 399:
            _picture(writer, plan, step, rng)


def _picture(writer: RunWriter, plan: Plan, step: int, rng: np.random.Generator) -> None:
    """A reconstruction that gets clearer, or, where training breaks, does not."""
    from io import BytesIO

    from PIL import Image

    sharpness = step / STEPS * (0.3 if plan.diverges else 1.0)
    y, x = np.mgrid[0:64, 0:64] - 31.5
    ring = np.exp(-((np.hypot(x, y) - 18) ** 2) / 30) + np.exp(-((x * 0.8 + y * 0.6) ** 2) / 20)
    grey = np.clip(sharpness * ring + (1 - sharpness) * rng.random((64, 64)) * 0.8, 0, 1)
    data = BytesIO()
    Image.fromarray((grey * 255).astype(np.uint8)).save(data, "png")
    media = Media(
        key="samples", step=step, time=float(step), kind="image", mime="image/png", meta={"width": 64, "height": 64}
    )
    writer.media(media, data.getvalue())


def _profile(run: Path, data_ms: int) -> None:
    """Forty steps of data, forward and backward."""
    builder, at = Builder(), 0
    for step in range(40):
        jitter = (step * 7919 % 13) * 10_000
        lengths = {"data": data_ms * MS + jitter, "forward": 3 * MS, "backward": 4 * MS}
        builder.add(f"ProfilerStep#{step}", "user_annotation", start=at, dur=sum(lengths.values()), pid=1, tid=1)
        for phase, length in lengths.items():
            builder.add(phase, "phase", start=at, dur=length, pid=1, tid=1, args={"step": step})
            if phase != "data":
                builder.add("aten::conv2d", "cpu_op", start=at, dur=length // 2, pid=1, tid=1)
            at += length
    folder = new_folder(run, "p1", 0)
    save_events(builder.events(), folder / "rank0.events")
    write_meta(folder, ProfileMeta(id="p1", kind="pytorch", created=time.time() - 10, first_step=0, last_step=39))


def _write_wide(store: Path, number: int) -> None:
    """A run with 500 metrics and 60 config values."""
    rng = np.random.default_rng(number)
    names = [f"layer{at // 10:02d}/stat{at % 10}" for at in range(498)] + ["loss", "val/accuracy"]
    config = {f"block{at // 10}/option{at % 10}": int(rng.integers(0, 3)) for at in range(60)}
    created = time.time() - 200_000 - 60 * number
    meta = RunMeta(
        id=new_run_id(created),
        project="wide",
        name=f"wide-{number:03d}",
        created=created,
        config={**config, "seed": number},
    )
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(tuple(names))
    for step in range(10):
        row.write(step, tuple(rng.random(500).tolist()))
    writer.close(End(time=created + 5, status="finished", exit_code=0))
