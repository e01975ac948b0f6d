"""Write stores of real runs for the browser tests: believable ones, hostile ones, many.

python make_store.py usual DIR      python make_store.py many DIR 500
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Literal

from stepscope.records import Alert, End, Event, Finding, FindingEvent, GitState, Related, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

ANIMALS = ["otter", "falcon", "heron", "lynx", "marten", "newt", "osprey", "puffin", "raven", "stoat"]
MOODS = ["brave", "calm", "eager", "gentle", "keen", "lively", "merry", "noble", "proud", "witty"]

SCRIPT = "<img src=x onerror=\"document.title='PWNED'\">"
HOSTILE = [
    SCRIPT,
    "<script>document.title='PWNED'</script>",
    "\u202egnp.exe \u2066evil",
    "very-long-" + "name" * 500,
    "",
    "line\nbreak\ttab\x00nul\x1b[31mred",
    "'); DROP TABLE runs;--",
    "שלום עולם",
    "${7*7} {{7*7}} %s %00 ../../etc/passwd",
    "javascript:document.title='PWNED'",
]


@dataclass
class Plan:
    """What one run of a store is to be."""

    name: str
    age_s: float
    status: Literal["finished", "stopped", "preempted", "failed"] = "finished"
    project: str = "vae"
    tags: list[str] = field(default_factory=list)
    notes: str = ""
    config: dict[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] = ()
    """Names of metrics besides the loss and the accuracy."""
    events: tuple[Event, ...] = ()
    steps: int = 60
    diverges: bool = False


def write_run(store: Path, plan: Plan, rng: random.Random) -> None:
    """One run with a loss that falls (or diverges), an accuracy, and an end."""
    meta = _meta(plan, rng)
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("train/loss", "val/acc", *plan.metrics))
    floor, speed = rng.uniform(0.1, 0.5), rng.uniform(6, 14)
    for step in range(plan.steps):
        fall = math.exp(-step / speed)
        loss = math.nan if plan.diverges and step > plan.steps / 2 else floor + 2 * fall + rng.uniform(0, 0.05)
        row.write(step, (loss, 1 - floor * 0.6 - 0.5 * fall, *[0.5] * len(plan.metrics)))
    for event in plan.events:
        writer.event(event)
    error = "RuntimeError: CUDA out of memory" if plan.status == "failed" else None
    trace = f'Traceback (most recent call last):\n  File "train.py", line 88\n{error}' if error else None
    end = End(time=time.time(), status=plan.status, exit_code=1 if error else 0, error=error, traceback=trace)
    writer.close(end)


def _meta(plan: Plan, rng: random.Random) -> RunMeta:
    created = time.time() - plan.age_s
    lr = rng.choice([1e-4, 3e-4, 1e-3, 3e-3])
    config = {"lr": lr, "optimizer": rng.choice(["adam", "sgd"]), "latent": rng.choice([8, 16, 32]), "seed": 0}
    return RunMeta(
        id=new_run_id(created),
        project=plan.project,
        name=plan.name,
        created=created,
        config={**config, **plan.config},
        tags=plan.tags,
        notes=plan.notes,
        command=["python", "train.py", "--lr", str(lr), "--note", "two words"],
        cwd="/home/ada/vae",
        host="gpu-07",
        user="ada",
        python="3.12.4",
        platform="Linux",
        packages={"torch": "2.9.0", "numpy": "2.1.0"},
        hardware={"cpu_count": 16, "memory_bytes": 64 << 30},
        git=GitState(commit="4f2a91c7d8e0", branch="main", dirty=True, diff="-lr = 1e-3\n+lr = 3e-3\n"),
        stepscope="0.1.0",
    )


def usual(store: Path) -> None:
    """Two dozen runs of two projects: one failed, one diverged, some tagged."""
    rng = random.Random(7)
    for number in range(24):
        plan = Plan(
            name=f"{MOODS[number % 10]}-{ANIMALS[number * 3 % 10]}-{number}",
            age_s=300 + number * 2700,
            status="failed" if number == 3 else "stopped" if number == 9 else "finished",
            diverges=number == 5,
            project="vae" if number < 16 else "gpt",
            tags=[tag for tag in ("baseline", "sweep", "paper") if rng.random() < 0.3],
            notes="looks good, warm up longer" if number == 2 else "",
            events=_story(time.time()) if number == 3 else (),
        )
        write_run(store, plan, rng)


def _story(now: float) -> tuple[Event, ...]:
    piled = Finding(
        rule="opt.no-zero-grad",
        severity="error",
        message="gradients of earlier steps are still there when backward runs",
        file="train.py",
        line=42,
        column=8,
        end_column=23,
        function="fit",
        step=3,
        label="grad norm 1.9 -> 3.8 -> 5.8 while each step's own gradient stays near 1.9",
        fix="call `optimizer.zero_grad()` before line 42",
        source=[
            (40, "    for x, y in loader:"),
            (41, "        loss = criterion(model(x), y)"),
            (42, "        loss.backward()"),
            (43, "        optimizer.step()"),
        ],
        related=[
            Related(
                file="model.py",
                line=7,
                label="the optimizer was made here",
                source=[(6, "net = Net()"), (7, "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)")],
            )
        ],
    )
    seedless = Finding(rule="repro.no-seed", severity="info", message="nothing sets a seed; two runs will differ")
    softmax = Finding(
        rule="loss.softmax-twice",
        severity="warning",
        message="the loss applies softmax to what is a softmax already",
        file="/home/ada/vae/train.py",
        line=31,
        evidence={"row_sum": [1.0, 1.0, 1.0], "min": 0.0},
        fix="return the logits",
        source=[(31, "        return F.softmax(self.out(x), dim=1)  # probabilities")],
    )
    alert = Alert(time=now, title="loss above 2", text="for 200 steps", step=12)
    return alert, *(FindingEvent(time=now, finding=one) for one in (seedless, softmax, piled))


def many(store: Path, count: int) -> None:
    """A long list of short runs."""
    rng = random.Random(11)
    for number in range(count):
        plan = Plan(
            name=f"{rng.choice(MOODS)}-{rng.choice(ANIMALS)}-{number:04d}",
            age_s=60 + number * 900,
            status="failed" if rng.random() < 0.1 else "stopped" if rng.random() < 0.06 else "finished",
            tags=[tag for tag in ("baseline", "sweep", "paper", "ablation") if rng.random() < 0.2],
            steps=24,
            diverges=number % 17 == 3,
        )
        write_run(store, plan, rng)


def hostile(store: Path) -> None:
    """Names, tags, notes, config and metrics that try to be markup, paths, commands and other people's text."""
    rng = random.Random(3)
    for number, name in enumerate(HOSTILE):
        plan = Plan(
            name=name,
            age_s=60 + number * 60,
            project=SCRIPT if number < 2 else "vae",
            tags=[SCRIPT, "\u202eolleh"],
            notes=SCRIPT,
            config={SCRIPT: SCRIPT, "a/b": "\u202eabc"},
            metrics=(SCRIPT, "x" * 400),
            status="failed" if number == 0 else "finished",
            events=(Alert(time=time.time(), title=SCRIPT, text=SCRIPT), _hostile_finding()),
        )
        write_run(store, plan, rng)


def _hostile_finding() -> FindingEvent:
    """A finding whose every word is markup, and that names a file of the reader's machine."""
    source = [(1, SCRIPT), (2, "\u202e\x1b[2J" + "x" * 1500)]
    finding = Finding(
        rule=SCRIPT,
        severity="error",
        message=SCRIPT,
        file="/etc/passwd",
        line=2,
        label=SCRIPT,
        fix=f"`{SCRIPT}",
        function=SCRIPT,
        evidence={SCRIPT: [SCRIPT]},
        source=source,
        related=[Related(file="/etc/passwd", line=1, label=SCRIPT)],
    )
    return FindingEvent(time=time.time(), finding=finding)


def empty(store: Path) -> None:
    store.mkdir(parents=True, exist_ok=True)


def main(kind: str, folder: Path, *counts: int) -> None:
    """A kind that is not in this file is a function of its name in `<kind>_store.py` beside it."""
    makers: dict[str, Callable[..., None]] = {"usual": usual, "many": many, "hostile": hostile, "empty": empty}
    maker = makers.get(kind) or getattr(import_module(f"{kind}_store"), kind)
    maker(folder, *counts)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
