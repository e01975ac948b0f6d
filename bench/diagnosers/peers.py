"""Runs a peer on scripts of the corpus, in a process of its own venv, and judges what it said."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
from typing import Any

from peers import peer_python

from diagnosers.corpus import ROOT, load_runner
from diagnosers.scoring import Judged, names_fault

PEERS = ("torch_audit", "torchmortem", "mldoct", "traincheck", "linter")


def judge_with(peer: str, entries: list[Any], workers: int) -> dict[str, list[Judged]]:
    """The judgements, by the name of the tool: one peer may have several ways to be asked."""
    module = importlib.import_module(f"diagnosers.{peer}")
    python = peer_python("traincheck" if peer == "traincheck" else "diagnosers", _requirements(peer))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("STEPSCOPE", "PYTHON"))}
    tools: dict[str, list[Judged]] = {}
    for tool, names in module.NAMES.items():
        command = [str(python), "-m", "diagnosers.worker", peer, tool, "--workers", str(workers)]
        asked = json.dumps([entry.script for entry in module.suited(entries)])
        environment = {**clean, "PYTHONPATH": str(ROOT / "bench"), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, env=environment)
        if done.returncode:
            print(f"  {tool}: its worker ended with {done.returncode}; left out")
            continue
        by_script = {entry.script: entry for entry in entries}
        seen = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        tools[tool] = [_judge(by_script[one["script"]], one, names) for one in seen]
    return tools


def _requirements(peer: str) -> list[str]:
    """What is installed beside it: all but TrainCheck, which is slow and large, live together."""
    names = [peer] if peer == "traincheck" else [each for each in PEERS if each != "traincheck"]
    return sorted({need for each in names for need in importlib.import_module(f"diagnosers.{each}").REQUIREMENTS})


def _judge(entry: Any, seen: dict[str, Any], names: dict[str, tuple[str, ...]]) -> Judged:
    runner = load_runner()
    loud = [finding for finding in seen["findings"] if finding["loud"]]
    judged = Judged(entry.script, entry.group, entry.rule, entry.crashes, seconds=seen["seconds"])
    judged.differs = seen["differs"]
    judged.alarms = [f"{one['kind']}: {one['said']}"[:200] for one in loud]
    judged.faults = seen["faults"]
    if entry.rule is not None:
        right = [one for one in loud if names_fault([one["kind"]], names, (entry.rule, *entry.also))]
        wanted = [line for line in (entry.line, *entry.lines) if line is not None]
        judged.found = bool(right)
        judged.placed = any(
            one.get("line") is not None and abs(one["line"] - line) <= runner.NEAR for one in right for line in wanted
        )
    return judged
