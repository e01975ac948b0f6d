"""`stepscope tune-batch`: a script trains with growing batches until one does not fit, in processes of their own.

A size that does not fit ends its process, which takes everything of the attempt with it; the next process continues
between what fits and what does not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope.files.opening import read_file
from stepscope.launch.script import Script
from stepscope.profile.batch.search import Measurement, Search
from stepscope.profile.collect.other_programs import OtherPrograms

_CHILD = "stepscope.launch.trial.batch_sizes"
_MOST_PROCESSES = 8
_LARGEST_ANSWER = 16 << 20


_BUSY = 0.3
"""Processors that other programs use, from which on they are noticed."""


@dataclass(frozen=True)
class BatchLimits:
    seconds: float = 60.0
    batches: int = 12
    max_bytes: int | None = None
    max_batch: int | None = None


@dataclass
class Tuned:
    """What was measured."""

    search: Search | None = None
    loader: dict[str, Any] = field(default_factory=dict)
    why_not: str = ""
    """Why there is nothing to show, and what to do."""
    notes: list[str] = field(default_factory=list)


def tune_batch(script: Script, limits: BatchLimits, say: Callable[[str], None]) -> Tuned:
    """Run the script with growing batches; nothing it would save is written."""
    tuned, others = Tuned(), OtherPrograms()
    for _ in range(_MOST_PROCESSES):
        events, killed = _child(script, limits, tuned.search, say)
        if not _take(tuned, events, killed):
            break
    if tuned.search is not None and (note := busy_note(others.cores())):
        tuned.notes.append(note)
    return tuned


def busy_note(cores: float) -> str:
    """Warns where other programs kept processors busy: then times and gains are not those of the script."""
    if cores < _BUSY:
        return ""
    return f"other programs kept {cores:.1f} processors busy: measure again on a quiet machine"


def _take(tuned: Tuned, events: list[dict[str, Any]], killed: str) -> bool:
    """Add what a process has measured; whether another one should go on."""
    by_kind = {event["event"]: event for event in events}
    ended = by_kind.get("ended", {})
    if "loader" not in by_kind:
        if tuned.search is None:
            tuned.why_not = by_kind.get("cannot", {}).get("why", "") or _why_not(ended, killed)
        return False
    tuned.loader = by_kind["loader"]
    search = tuned.search = tuned.search or Search(int(tuned.loader["now"]))
    search.most, search.limit_bytes = tuned.loader["most"], int(tuned.loader["limit_bytes"])
    for event in events:
        if event["event"] == "measured":
            search.done.append(Measurement(**{key: one for key, one in event.items() if key != "event"}))
    if "over" in by_kind:
        search.bound = by_kind["over"]["bound"]
        return False
    size = (ended or by_kind.get("trying", {})).get("size")
    if size is None:
        tuned.notes.append(
            f"the script ended before all sizes were tried ({ended.get('error') or killed or 'by itself'})"
        )
        return False
    _note_failure(search, int(size), ended, killed)
    return search.next_size() is not None


def _note_failure(search: Search, size: int, ended: dict[str, Any], killed: str) -> None:
    if killed or ended.get("memory"):
        search.out_of_memory.append(size)
    else:
        search.failed[size] = str(ended.get("error") or "the script ended by itself")


def _why_not(ended: dict[str, Any], killed: str) -> str:
    if killed or ended.get("error"):
        return f"the script failed before it had trained for a few steps: {ended.get('error') or killed}"
    if not ended.get("batches"):
        return "the script read no batch from a torch DataLoader; its batch size cannot be changed from outside"
    if not ended.get("backwards"):
        return (
            f"the script read {ended['batches']} batches but never called backward(); "
            "pass the arguments with which it trains"
        )
    return (
        f"the training loader gave too few batches ({ended['batches']} in total) before the script ended; "
        "train longer, or on more data"
    )


def _child(
    script: Script, limits: BatchLimits, search: Search | None, say: Callable[[str], None]
) -> tuple[list[dict[str, Any]], str]:
    """The events of one process, and what killed it, if something did."""
    with tempfile.TemporaryDirectory(prefix="stepscope-batch-") as folder:
        answer = Path(folder) / "answer.jsonl"
        spent = 0.0 if search is None else sum(one.step_s * one.steps for one in search.done)
        order = {
            "script": script.path if script.spec is None else script.spec.name.removesuffix(".__main__"),
            "is_module": script.spec is not None,
            "args": list(script.argv[1:]),
            "state": None if search is None else search.state(),
            "seconds": max(1.0, limits.seconds - spent),
            "trial_s": min(3.0, limits.seconds / 40),
            "batches": limits.batches,
            "max_bytes": limits.max_bytes,
            "most": limits.max_batch,
            "answer": str(answer),
        }
        environment = {**os.environ, "STEPSCOPE_MODE": "off"}
        command = [sys.executable, "-m", _CHILD, json.dumps(order)]
        killed = ""
        try:
            ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=environment, timeout=limits.seconds * 4 + 300, check=False)  # fmt: skip
            if ended.returncode:
                last = (ended.stderr.strip().splitlines() or [""])[-1][:300]
                killed = f"signal {-ended.returncode}" if ended.returncode < 0 else last or f"exit {ended.returncode}"
        except subprocess.TimeoutExpired:
            killed = "it did not finish in time"
        found = _events(answer)
    for event in found:
        _say(event, say)
    return found, killed


def _events(answer: Path) -> list[dict[str, Any]]:
    if not answer.exists():
        return []
    lines = read_file(answer, _LARGEST_ANSWER, within=answer.parent).decode().splitlines()
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:  # the last line of a process that was killed while it wrote
            break
    return found


def _say(event: dict[str, Any], say: Callable[[str], None]) -> None:
    if event["event"] == "measured":
        say(f"batches of {event['size']}: {event['step_s'] * 1e3:.3g} ms a step")
    elif event["event"] == "ended" and event["size"] is not None and event["error"]:
        why = "out of memory" if event["memory"] else event["error"]
        say(f"batches of {event['size']}: {why}")
