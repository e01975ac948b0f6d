"""Write stores of real runs for the browser tests: believable ones, hostile ones, many.

python make_store.py usual DIR      python make_store.py many DIR 500
"""

from __future__ import annotations

import math
import random
import sys
import time
from pathlib import Path

from stepscope.records import Alert, End, Finding, FindingEvent, GitState, RunMeta
from stepscope.runs.ids import new_run_id
from stepscope.runs.layout import create_run
from stepscope.runs.writer import RunWriter

STEPS = 60
ANIMALS = "otter falcon heron lynx marten newt osprey puffin raven stoat".split()
MOODS = "brave calm eager gentle keen lively merry noble proud witty".split()

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


def write_run(
    store: Path, *, name: str, age_s: float, rng: random.Random, status: str = "finished", **more: object
) -> str:
    """One run with a loss that falls (or diverges), an accuracy, and an end. Returns its id."""
    now = time.time()
    lr = rng.choice([1e-4, 3e-4, 1e-3, 3e-3])
    config = {"lr": lr, "optimizer": rng.choice(["adam", "sgd"]), "latent": rng.choice([8, 16, 32]), "seed": 0}
    meta = RunMeta(
        id=new_run_id(now - age_s),
        project=str(more.get("project", "vae")),
        name=name,
        created=now - age_s,
        config={**config, **(more.get("config") or {})},  # type: ignore[dict-item]
        tags=list(more.get("tags", [])),  # type: ignore[call-overload]
        notes=str(more.get("notes", "")),
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
    writer = RunWriter(create_run(store, meta), run_id=meta.id, heartbeat_s=0, fsync_s=0)
    row = writer.keyset(("train/loss", "val/acc", *more.get("metrics", ())))  # type: ignore[misc]
    floor, speed = rng.uniform(0.1, 0.5), rng.uniform(6, 14)
    for step in range(int(more.get("steps", STEPS))):  # type: ignore[call-overload]
        loss = floor + 2 * math.exp(-step / speed) + rng.uniform(0, 0.05)
        if more.get("diverges") and step > 30:
            loss = math.nan
        row.write(step, (loss, 1 - floor * 0.6 - 0.5 * math.exp(-step / speed), *[0.5] * len(more.get("metrics", ()))))  # type: ignore[arg-type]
    for event in more.get("events", ()):  # type: ignore[attr-defined]
        writer.event(event)
    error = "RuntimeError: CUDA out of memory" if status == "failed" else None
    trace = f'Traceback (most recent call last):\n  File "train.py", line 88\n{error}' if error else None
    writer.close(End(time=now, status=status, exit_code=1 if error else 0, error=error, traceback=trace))  # type: ignore[arg-type]
    return meta.id


def usual(store: Path) -> None:
    """Two dozen runs of two projects: one failed, one diverged, some tagged."""
    rng = random.Random(7)
    for number in range(24):
        write_run(
            store,
            name=f"{MOODS[number % 10]}-{ANIMALS[number * 3 % 10]}-{number}",
            age_s=300 + number * 2700,
            rng=rng,
            status="failed" if number == 3 else "stopped" if number == 9 else "finished",
            diverges=number == 5,
            project="vae" if number < 16 else "gpt",
            tags=[tag for tag in ("baseline", "sweep", "paper") if rng.random() < 0.3],
            notes="looks good, warm up longer" if number == 2 else "",
            events=_story(time.time()) if number == 3 else (),
        )


def _story(now: float) -> tuple[Alert, FindingEvent]:
    finding = Finding(
        rule="opt.no-zero-grad",
        severity="error",
        message="12 steps in a row began with the gradients of the step before",
        file="train.py",
        line=42,
        fix="insert `optimizer.zero_grad()` before this line",
    )
    return Alert(time=now, title="loss above 2", text="for 200 steps", step=12), FindingEvent(time=now, finding=finding)


def many(store: Path, count: int) -> None:
    """A long list of short runs."""
    rng = random.Random(11)
    for number in range(count):
        status = rng.choices(["finished", "failed", "stopped", "preempted"], [80, 10, 5, 5])[0]
        name = f"{rng.choice(MOODS)}-{rng.choice(ANIMALS)}-{number:04d}"
        tags = [tag for tag in ("baseline", "sweep", "paper", "ablation") if rng.random() < 0.2]
        write_run(
            store,
            name=name,
            age_s=60 + number * 900,
            rng=rng,
            status=status,
            steps=24,
            tags=tags,
            diverges=number % 17 == 3,
        )


def hostile(store: Path) -> None:
    """Names, tags, notes, config and metrics that try to be markup, paths, commands and other people's text."""
    rng = random.Random(3)
    for number, name in enumerate(HOSTILE):
        write_run(
            store,
            name=name,
            age_s=60 + number * 60,
            rng=rng,
            project=SCRIPT if number < 2 else "vae",
            tags=[SCRIPT, "\u202eolleh"],
            notes=SCRIPT,
            config={SCRIPT: SCRIPT, "a/b": "\u202eabc"},
            metrics=(SCRIPT, "x" * 400),
            status="failed" if number == 0 else "finished",
            events=(Alert(time=time.time(), title=SCRIPT, text=SCRIPT),),
        )


def empty(store: Path) -> None:
    store.mkdir(parents=True, exist_ok=True)


if __name__ == "__main__":
    kind, folder = sys.argv[1], Path(sys.argv[2])
    if kind == "many":
        many(folder, int(sys.argv[3]))
    elif kind == "charts":
        from charts_store import charts

        charts(folder)
    else:
        {"usual": usual, "hostile": hostile, "empty": empty}[kind](folder)
