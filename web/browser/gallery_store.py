"""A busy week, for the pictures in the docs: the runs of the other stores, without those made to do harm."""

from __future__ import annotations

import os
import time
from pathlib import Path

import charts_store
import compare_store
import distributions_store
import inside_store
import media_store
import model_store
import parameters_store
import profile_store
import reports_store
import run_store
import sweeps_store
import torch

import stepscope
from stepscope.report.store import delete, read, reports_in, save
from stepscope.report.text import cut

#: title, project, what was found
OTHERS = [
    ("Mixup or cutmix on CIFAR-10", "cifar", "Both help by three points; mixup by more."),
    ("Sweep of learning rates, week 46", "cifar100", "A rate near 2e-3 is best."),
    ("Why small-lm-08 diverged", "small-lm", "No warm-up, and nothing that clips."),
    ("Which layer dies at a rate of 0.1", "resnet", "The fourth block, after 1,500 steps."),
]
TEXT = """---
title: {title}
project: {project}
author: Ada
query: project = "{project}"
---

{words}

```stepscope table
```
"""


def gallery(store: Path) -> None:
    """The oldest first: a page shows the newest runs when nothing is chosen."""
    run_store.NOTES = run_store.NOTES.split("<img")[0]
    media_store.NOTE = media_store.NOTE.split("<script>")[0]
    reports_store.TEXT = reports_store.TEXT.replace("project: denoiser", "project: denoiser\nauthor: Ada")
    sweeps_store.sweeps(store)
    parameters_store.parameters(store)
    profile_store._waiting(profile_store._run(store, "waits for data", 30), "p1", 8)
    gpu = profile_store._run(store, "gpt on a GPU", 20)
    profile_store.copied(gpu, "p1", "h200.json.gz", first_step=4, last_step=5, why="the steps 4 to 5 were asked for")
    torch.manual_seed(0)
    with stepscope.init("gpt", "gpt-6-layers", dir=store, console=False, system=False, git=False) as run:
        model_store._train(run)
    distributions_store.distributions(store)
    media_store.media(store)
    charts_store.charts(store)
    compare_store.compare(store)
    inside_store.ranks(store)
    inside_store.diverges(store)
    run_store.run(store)
    reports_store.reports(store)
    _reports(store)


def _reports(store: Path) -> None:
    for report in reports_in([store]):
        if "<" in cut(read(report.version())).title:
            delete([store], report.id)
    for at, (title, project, words) in enumerate(OTHERS):
        _, version = save([store], TEXT.format(title=title, project=project, words=words), title)
        past = time.time() - 3600 * 5 ** (3 - at)
        os.utime(version.path, (past, past))
