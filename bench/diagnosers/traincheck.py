"""TrainCheck: learns invariants from a run known to be good, and checks another run against them.

Driven at its best: the good run is the script's own healthy twin (of a healthy script, itself), and any invariant that
is broken counts as having named the fault. A script takes minutes of CPU time (two traced runs, one inference), so only
a few silent faults are tried; scripts of several files and those with arguments are left out.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from diagnosers.corpus import load_runner

REQUIREMENTS = ["torch==2.13.0", "traincheck==0.2.0"]
NAMES: dict[str, dict[str, tuple[str, ...]]] = {"traincheck": {"broken invariant": ("*",)}}
PAIRS = 6
TIMEOUT_S = 1200


def suited(entries: list[Any]) -> list[Any]:
    """A few silent faults of one file, and their twins."""
    by_name = {entry.script: entry for entry in entries}
    one_file = [e for e in entries if e.rule and not e.crashes and not e.args and e.script.count("/") == 1]
    pairs = [e for e in one_file if e.twin in by_name and e.group in ("opt", "loss", "grad", "mode", "model")][:PAIRS]
    return [entry for pair in pairs for entry in (pair, by_name[pair.twin])]


def warm_up() -> None:
    """Its commands are processes of their own."""


def begin(tool: str, script: str, faults: list[str]) -> Callable[[str, str], list[dict[str, Any]]]:
    runner = load_runner()
    name = str(Path(script).relative_to(runner.HERE))
    twin = next(entry.twin for entry in runner.truth() if entry.script == name)
    found = _check(script, str(runner.HERE / twin) if twin else script, faults)
    return lambda printed, complained: found


def _check(script: str, reference: str, faults: list[str]) -> list[dict[str, Any]]:
    tracked = _models(script)
    asked = [
        ["collect", "--pyscript", reference, "--models-to-track", *_models(reference), "--output-dir", "reference"],
        ["infer", "-f", "reference", "-o", "invariants.json"],
        ["collect", "--pyscript", script, "--models-to-track", *tracked, "--invariants", "invariants.json",
         "--output-dir", "target"],
        ["check", "-f", "target", "-i", "invariants.json", "-o", "results", "--no-html-report"],
    ]  # fmt: skip
    for command in asked:
        tool = Path(sys.executable).parent / f"traincheck-{command[0]}"
        done = subprocess.run(
            [tool, *command[1:]], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}
        )
        if done.returncode:
            faults.append(f"traincheck-{command[0]} ended with {done.returncode}: {done.stderr[-200:]}")
            return []
    broken = [text for path in Path("results").rglob("failed.log") for text in _objects(path.read_text())]
    return [{"kind": "broken invariant", "loud": True, "said": text[:200], "line": None} for text in broken[:20]]


def _objects(text: str) -> list[str]:
    """The JSON objects in a file that holds one after the other, as short texts."""
    decoder, found, place = json.JSONDecoder(), [], 0
    while place < len(text):
        if text[place] != "{":
            place += 1
            continue
        value, place = decoder.raw_decode(text, place)
        found.append(str(value.get("invariant", {}).get("text_description", value)))
    return found


def _models(script: str) -> list[str]:
    """The variables whose `.parameters()` are asked for: what a user would name."""
    names = [
        ast.unparse(node.func.value)
        for node in ast.walk(ast.parse(Path(script).read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parameters"
    ]
    return list(dict.fromkeys(name for name in names if name.isidentifier())) or ["model"]
