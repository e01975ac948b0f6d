"""An ablation of a small diffusion model, and two reports about it: for tests, screenshots and the gallery."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import torch
from profile_store import copied
from torch import nn

import stepscope
from stepscope.records import Finding, FindingEvent
from stepscope.report.store import save
from stepscope.report.text import cut

STEPS = 2400
SCRIPT = "<img src=x onerror=\"document.title='PWNED'\">"

#: name, final loss, how fast it falls, noise, config
ARMS = [
    ("baseline", 0.118, 420.0, 0.010, {"lr": 3e-4, "schedule": "constant", "ema": False, "seed": 0}),
    ("cosine schedule", 0.097, 400.0, 0.009, {"lr": 3e-4, "schedule": "cosine", "ema": False, "seed": 0}),
    ("cosine + EMA", 0.084, 390.0, 0.004, {"lr": 3e-4, "schedule": "cosine", "ema": True, "seed": 0}),
    ("lr 3e-3", 0.171, 260.0, 0.022, {"lr": 3e-3, "schedule": "constant", "ema": False, "seed": 0}),
]

TEXT = """---
title: What made the denoiser better
project: denoiser
runs: {runs}
---

We trained the same small denoiser four times and changed **one thing at a time**. In short: the cosine schedule \
helps, an average of the weights helps more, and ten times the learning rate does harm.

```stepscope note
tone: good
text: "**Use `cosine + EMA`.** It has the lowest validation loss and the sharpest samples, and costs nothing per step."
```

## Results

```stepscope table
columns: config.lr, config.schedule, config.ema, val/loss.min, val/psnr.max
sort: val/loss.min
descending: false
caption: Four runs of the same length; the best value of each column is marked.
```

The curves part after about 400 steps and never meet again. The run with the large learning rate starts faster \
and then stays above all others; see [the schedule's paper](https://arxiv.org/abs/1608.03983) for why a \
falling rate helps.

```stepscope chart
key: ["train/loss", "val/loss"]
smooth: ema:0.6
log: true
caption: Loss on training and validation data, smoothed; drag to zoom, double-click to see all again.
```

```stepscope bars
key: val/psnr
stat: max
title: Peak signal to noise, in dB
```

## What the samples look like

Numbers hide what people see. The same noise, denoised by each model:

```stepscope image
key: samples/denoised
caption: Sixteen samples at the last step.
```

## What is wrong in the losing run

```stepscope finding
runs: {loser}
```

## The model, and where its time goes

```stepscope graph
runs: {recorded}
height: 420
```

```stepscope profile
runs: {recorded}
```

### Weights

```stepscope distribution
key: weights/encoder
runs: {recorded}
```

## How this was made

1. `python train.py --schedule cosine --ema`
2. the same with one option changed, three more times
3. this page, with `stepscope report`

| step | what | minutes |
|:--|:--|--:|
| 1 | training, four runs | 38 |
| 2 | reading the findings | 3 |
"""

HOSTILE = f"""# {SCRIPT}

<script>document.title='PWNED'</script> [x](javascript:document.title='PWNED') ![b](https://example.org/beacon.png)

{SCRIPT}

```stepscope chart
key: {SCRIPT}
```

```stepscope nothing
a: b
```

```stepscope note
text: "{SCRIPT.replace('"', chr(92) + '"')}"
```
"""


class Denoiser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.SiLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1)
        )
        self.middle = nn.Sequential(nn.SiLU(), nn.Conv2d(32, 32, 3, padding=1), nn.SiLU())
        self.decoder = nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.middle(self.encoder(x)))


def reports(store: Path) -> None:
    ids = []
    for number, (name, floor, speed, noise, config) in enumerate(ARMS):
        rng = np.random.default_rng(number)
        with stepscope.init("denoiser", name, config, dir=store, console=False, system=False, git=False) as run:
            _curves(run, floor, speed, noise, rng)
            _samples(run, floor, rng)
            if number == 2:
                _look_inside(run)
            if number == 3:
                run._writer.event(FindingEvent(time=time.time(), finding=_finding()))
            ids.append(run.id)
    text = TEXT.format(runs=", ".join(ids), loser=ids[3], recorded=ids[2])
    first, version = save([store], text.split("## What is wrong")[0], cut(text).title)
    save([store], text, cut(text).title, first.id, version.number)
    save([store], HOSTILE, cut(HOSTILE).title)


def _curves(run: stepscope.Run, floor: float, speed: float, noise: float, rng: np.random.Generator) -> None:
    for step in range(STEPS):
        fall = math.exp(-step / speed)
        loss = floor + 0.9 * fall + noise * (0.3 + fall) * rng.standard_normal()
        values = {"train/loss": loss, "train/lr": 3e-4 * (1 + math.cos(math.pi * step / STEPS)) / 2}
        if step % 50 == 49:
            val = floor * 1.12 + 0.95 * fall + 0.3 * noise * rng.standard_normal()
            values |= {"val/loss": val, "val/psnr": 10 - 12 * math.log10(max(val, 1e-3))}
        run.log(values, step=step)


def _samples(run: stepscope.Run, floor: float, rng: np.random.Generator) -> None:
    y, x = np.mgrid[0:32, 0:32] - 15.5
    for at in range(8):
        clear = (at / 7) * (1 - 2.2 * (floor - 0.08))
        shapes = [
            np.exp(-((np.hypot(x, y) - 4 - i % 6) ** 2) / 5)
            if i % 2
            else np.exp(-((x * math.cos(i) + y * math.sin(i)) ** 2) / 7)
            for i in range(16)
        ]
        images = np.clip(clear * np.stack(shapes) + (1 - clear) * rng.random((16, 32, 32)) * 0.9, 0, 1)
        weights = rng.normal(0.01 * at, 0.25 + 0.03 * at, 3000)
        run.log(
            {
                "samples/denoised": stepscope.Image(images, layout="NHW"),
                "weights/encoder": stepscope.Histogram(weights),
            },
            step=at * (STEPS // 8),
        )


def _look_inside(run: stepscope.Run) -> None:
    """One real step of a real model, so that the graph is one; and a real trace of a GPU."""
    torch.manual_seed(0)
    net, noisy = Denoiser(), torch.randn(4, 1, 32, 32)
    with stepscope.record(net) as step:
        net(noisy).square().mean().backward()
    run.log({"recording": step}, step=0)
    assert run.path is not None
    copied(run.path, "p1", "h200.json.gz", first_step=4, last_step=5, why="the steps 4 to 5 were asked for")


def _finding() -> Finding:
    return Finding(
        rule="opt.learning-rate-too-high",
        severity="warning",
        message="the loss stopped falling at a level that smaller learning rates pass",
        file="train.py",
        line=57,
        function="main",
        step=900,
        label="loss 0.171 after 1,500 steps without progress; gradient noise is 14 times the signal",
        fix="try `lr=3e-4`, or let the rate fall with a schedule",
        source=[
            (55, "    model = Denoiser().to(device)"),
            (56, "    # fast start"),
            (57, "    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)"),
            (58, "    for step, batch in enumerate(loader):"),
        ],
    )
