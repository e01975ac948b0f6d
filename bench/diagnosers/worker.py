"""Runs inside the peers' venv: one peer on many scripts of the corpus, a JSON line each. Called by peers.py."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from diagnosers.corpus import load_runner

runner = load_runner()


def run_with(peer: Any, tool: str, entry: Any) -> dict[str, Any]:
    """One script with the peer around it, in a fork; a healthy one also without."""
    with tempfile.TemporaryDirectory(prefix="peer-") as folder:
        here = Path(folder)
        (here / "work").mkdir()
        started = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            _in_child(peer, tool, entry, here)
        code = runner._wait(pid, getattr(peer, "TIMEOUT_S", 180))
        told = here / "findings.json"
        seen = json.loads(told.read_text()) if told.exists() else {"findings": [], "faults": [], "weights": ""}
        if code is None or not told.exists():
            seen["faults"].append("had to be killed" if code is None else f"left no findings (exit code {code})")
        seen |= {"script": entry.script, "seconds": time.perf_counter() - started, "differs": []}
        printed = (here / "stdout").read_text(errors="replace")
    if entry.rule is None and entry.deterministic and not getattr(peer, "STATIC", False):
        plain = runner.run(entry, watched=False)
        ours = {"code": code, "printed": printed, "weights": seen["weights"]}
        seen["differs"] = [what for what, value in ours.items() if value != getattr(plain, what)]
    return seen


def _in_child(peer: Any, tool: str, entry: Any, here: Path) -> None:
    code = 70
    try:
        os.setsid()
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(here / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
        sys.stdin = open(os.devnull)  # noqa: SIM115
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        os.chdir(here / "work")
        weights = runner._watch_weights()
        script = str(runner.HERE / entry.script)
        faults: list[str] = []
        end = peer.begin(tool, script, faults)
        code = 0 if getattr(peer, "STATIC", False) else runner._run_plain(script, [str(arg) for arg in entry.args])
        sys.stdout.flush()
        digest = weights()
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        findings = end((here / "stdout").read_text(errors="replace"), (here / "stderr").read_text(errors="replace"))
        (here / "findings.json").write_text(json.dumps({"findings": findings, "faults": faults, "weights": digest}))
    except BaseException:
        (here / "findings.json").write_text(
            json.dumps({"findings": [], "faults": [traceback.format_exc()[-600:]], "weights": ""})
        )
    finally:
        os._exit(code)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("peer")
    parser.add_argument("tool")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    wanted = set(json.loads(sys.stdin.read()))
    entries = [entry for entry in runner.truth() if entry.script in wanted]
    import sklearn.datasets
    import sklearn.model_selection
    import sklearn.preprocessing  # noqa: F401
    import torch
    import torch._dynamo  # what every first optimizer step imports

    torch.set_num_threads(1)
    peer = importlib.import_module(f"diagnosers.{options.peer}")
    peer.warm_up()
    jobs = [lambda entry=entry: run_with(peer, options.tool, entry) for entry in entries]
    for seen in runner.run_all(jobs, options.workers):
        print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main()
