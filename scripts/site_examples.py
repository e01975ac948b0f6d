"""Runs the examples of the documentation, as a reader would.

On a page of docs/tutorials or docs/integrations a block `python title="train.py"` (or yaml, toml ...) becomes a file in
a folder of the page's own; a `console` block has commands after `$ ` that are run there in order. Each line below a
command must come in its output, in that order, digits aside; `...` skips any number of lines, or the middle of one. A
command that ends with another exit code than 0 says so: `$ stepscope run train.py  # exits 1`.

Commands of pages whose scripts use torch are forks of a process that has imported it (site_warm.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from site_warm import Warm

ROOT = Path(__file__).parent.parent
FOLDERS = ("tutorials", "integrations")
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
_EXITS = re.compile(r"\s+# exits (\d+)\s*$")
TIMEOUT_S = 900  # the gate runs them beside other tests, which come first
AT_ONCE = 2


@dataclass
class Command:
    text: str
    exits: int
    expected: list[str] = field(default_factory=list)


def run_all(docs: Path, chosen: list[Path] | None = None) -> int:
    """Run the examples of every page, or of the chosen ones, two pages at a time; how many pages failed."""
    pages = chosen or [page for folder in FOLDERS for page in sorted((docs / folder).glob("*.md"))]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(AT_ONCE) as workers:
        warm = {home: Warm(home, Path(scratch) / str(at)) for at, home in enumerate({*map(_home, pages)})}
        failed = sum(workers.map(lambda page: _page_fails(page, docs, warm[_home(page)]), pages))
        for one in warm.values():
            one.close()
    print(f"examples: {failed} pages failed")
    return failed


def _page_fails(page: Path, docs: Path, warm: Warm) -> bool:
    text = page.read_text()
    if "```console" not in text:
        return False
    started = time.monotonic()
    trouble = _run_page(page, text, _path(page, text, warm))
    name = page.resolve().relative_to(docs.resolve())
    said = f"{name}: {'ok' if trouble is None else 'FAILED'} ({time.monotonic() - started:.0f}s)"
    print(said if trouble is None else f"{said}\n{trouble}", flush=True)
    return trouble is not None


def _run_page(page: Path, text: str, path: str) -> str | None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for kind, rest, body in _BLOCK.findall(text):
            title = _TITLE.search(rest)
            if title:
                (folder / title.group(1)).parent.mkdir(parents=True, exist_ok=True)
                (folder / title.group(1)).write_text(body)
            elif kind == "console":
                for command in _commands(body):
                    trouble = _run(command, folder, path)
                    if trouble is not None:
                        return trouble
    return None


def _commands(body: str) -> list[Command]:
    commands: list[Command] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            exits = _EXITS.search(line)
            commands.append(Command(_EXITS.sub("", line[2:]), int(exits.group(1)) if exits else 0))
        elif commands and line.strip():
            commands[-1].expected.append(line)
    return commands


def _home(page: Path) -> Path:
    """Where the commands of a page are: integrations, and the ways here from others, show another package at work."""
    ecosystem = ROOT / ".ecosystem" / "pinned" / "bin"
    others = page.parent.name == "integrations" or page.stem.startswith("from_")
    return ecosystem if others and ecosystem.exists() else ROOT / ".venv" / "bin"


def _path(page: Path, text: str, warm: Warm) -> str:
    """The folders of the page's commands. Where nothing imports torch, nothing may have imported it."""
    first = [str(warm.folder)] if re.search(r"^import torch|^from torch", text, re.MULTILINE) else []
    return os.pathsep.join([*first, str(_home(page)), os.environ["PATH"]])


def _run(command: Command, folder: Path, path: str) -> str | None:
    environment = {
        **os.environ,
        "PATH": path,
        "COLUMNS": "120",
        "HOME": str(folder),
        "STEPSCOPE_CACHE": str(folder / ".cache"),
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
        "WANDB_MODE": "offline",
        "HF_HUB_OFFLINE": "1",
        "USE_TF": "0",  # transformers 4 would ask for tf_keras beside Keras 3
    }
    for name in ("STEPSCOPE_DIR", "CI", "GITHUB_ACTIONS", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    try:
        done = subprocess.run(
            ["bash", "-c", command.text], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"  $ {command.text}\n  did not end within {TIMEOUT_S} s"
    said = f"  $ {command.text}\n" + "".join(f"  | {line}\n" for line in done.stdout.splitlines()[-60:])
    if done.returncode != command.exits:
        return f"{said}  exited with {done.returncode}, not {command.exits}"
    missing = _first_missing(command.expected, done.stdout)
    return None if missing is None else f"{said}  this line of the page did not come: {missing}"


def _first_missing(expected: list[str], output: str) -> str | None:
    lines = iter([_plain(line) for line in output.splitlines()])
    for wanted in expected:
        pattern = ".*".join(map(re.escape, map(_plain, wanted.split("..."))))
        if wanted.strip() != "..." and not any(re.fullmatch(pattern, line) for line in lines):
            return wanted
    return None


def _plain(line: str) -> str:
    """A line without what differs from run to run: numbers (but of source lines), names of runs, space."""
    line = re.sub(r"\b[a-z]+-[a-z]+-\d{4}\b", "NAME", line)
    line = re.sub(r"\b\d[\d.]*(ms|s)\b|\b\d+m \d+s\b", "TIME", line)
    line = re.sub(r"(?<!\.py:)(?<![\d])\d[\d.,]*(e[-+]?\d+)?", "#", line)
    return re.sub(r"\s+", " ", line).strip()


if __name__ == "__main__":
    sys.exit(run_all(ROOT / "docs", [Path(page) for page in sys.argv[1:]]))
