"""Tools over runs written by the real writer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope.agents.tool_context import Desk
from stepscope.records import Artifact, ArtifactFile, Console, End, Event, Finding, FindingEvent, Related, RunMeta
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import create_run
from stepscope.runs.write.writer import RunWriter

SOURCE = "import torch\n\ndef spread(p):\n    return torch.log(p)\n\npassword = 'hunter2hunter2'\n"

FINDING = Finding(
    rule="num.log-zero",
    severity="error",
    message="the loss is nan in step 3: log of 0 is -inf",
    file="/home/me/train.py",
    line=4,
    evidence={"op": "log", "first_bad_step": 3},
    fix="keep the argument above zero",
    function="spread",
    step=3,
    source=[(3, "def spread(p):"), (4, "    return torch.log(p)")],
    related=[Related(file="/home/me/loop.py", line=9, label="backward is here", source=[(9, "loss.backward()")])],
)
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/home/me/train.py", line 9, in <module>\n    spread(p)\n'
    '  File "/env/lib/python3.11/site-packages/torch/x.py", line 1, in f\n    f()\n    ^^^\n'
    '  File "/env/lib/python3.11/site-packages/torch/y.py", line 2, in g\n    raise\n'
    "ValueError: bad shape\n"
)


def write_run(
    store: Path,
    name: str = "run",
    series: Mapping[str, Sequence[float]] | None = None,
    events: Sequence[Event] = (),
    printed: Sequence[str] = (),
    end: End | None = None,
    files: Mapping[str, str] | None = None,
    **meta: Any,
) -> str:
    """Write a run and end it; its id. `files` become the source of a saved step."""
    created = meta.pop("created", time.time())
    about = RunMeta(
        id=new_run_id(created), project=meta.pop("project", "demo"), name=name, created=created,
        **{"cwd": "/home/me", "script": "/home/me/train.py", "command": ["python", "train.py"], **meta},
    )  # fmt: skip
    writer = RunWriter(create_run(store, about), run_id=about.id, heartbeat_s=0, fsync_s=0)
    for key, values in (series or {}).items():
        row = writer.keyset((key,))
        for step, value in enumerate(values):
            row.write(step, (float(value),))
    for line in printed:
        writer.console(Console(time=time.time(), stream="stdout", text=line + "\n", step=1))
    for event in events:
        writer.event(event)
    if files:
        kept = []
        for path, text in files.items():
            file = store.parent / "kept.txt"
            file.write_text(text)
            sha, size = writer.blob_file(file)
            kept.append(ArtifactFile(path=path, sha256=sha, size=size))
        writer.event(Artifact(time=time.time(), name="step-3", type="capsule", version=0, digest="d", files=kept))
    writer.close(end or End(time=time.time(), status="finished"))
    return about.id


def finding(one: Finding = FINDING) -> FindingEvent:
    return FindingEvent(time=time.time(), finding=one)


@pytest.fixture
def desk(store: Path) -> Iterator[Desk]:
    made = Desk([store])
    yield made
    made.close()
