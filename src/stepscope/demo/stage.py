"""Runs the demo's commands in a folder that holds its scripts and its runs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from stepscope.demo.story import Act
from stepscope.errors import NotFound
from stepscope.files.opening import read_file, read_text

SCRIPTS = {
    "digits_vae.py": "digits_vae.py",
    "vae.py": "vae_bugs.py",
    "slow.py": "slow_training/step0.py",
    "faster.py": "slow_training/step5.py",
    "slow_rank.py": "slow_rank.py",
    "sweep.yaml": "sweep.yaml",
    "demo_report.md": "demo_report.md",
}
"""The name in the demo's folder, and where it is among the examples."""
_LARGEST = 1 << 20
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""The models are so small that a second thread only gets in the way."""


@dataclass(frozen=True)
class Outcome:
    """How an act went."""

    act: Act
    seconds: float
    trouble: str = ""
    """The end of its output, when it did not go as planned."""


class Stage:
    """The demo's folder. Acts that have been played there are skipped, so an interrupted demo continues."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.runs = self.folder / "stepscope-runs"
        self._played = self.folder / ".played"
        self._stopping = threading.Event()
        self._companies: set[subprocess.Popen[str]] = set()

    def set_up(self) -> None:
        """Copy the scripts; one that is there already may have been edited and is left alone."""
        self.runs.mkdir(parents=True, exist_ok=True)
        for name, example in SCRIPTS.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_bytes(read_file(_examples() / example, _LARGEST))
        self._commit()

    def left_of(self, story: Iterable[tuple[Act, ...]]) -> list[list[Act]]:
        """The chains with what has not been played yet."""
        played = read_text(self._played, _LARGEST).splitlines() if self._played.exists() else []
        chains = ([act for act in chain if act.title not in played] for chain in story)
        return [chain for chain in chains if chain]

    def play(
        self, chains: list[list[Act]], on_start: Callable[[Act], object], on_end: Callable[[Outcome], object]
    ) -> None:
        """Run the chains side by side; returns when the last has ended, or soon after `stop`."""

        def follow(chain: list[Act]) -> None:
            with self._company() as company:
                for act in chain:
                    if self._stopping.is_set():
                        return
                    on_start(act)
                    outcome = self._run(act, company)
                    if self._stopping.is_set():
                        return
                    if not outcome.trouble:
                        with self._played.open("a") as file:
                            file.write(f"{act.title}\n")
                    on_end(outcome)

        with ThreadPoolExecutor(max(1, len(chains)), thread_name_prefix="stepscope-demo") as pool:
            try:
                list(pool.map(follow, chains))
            except BaseException:  # Ctrl-C does not reach the companies
                self.stop()
                raise

    def stop(self) -> None:
        """End what runs now and start nothing more."""
        self._stopping.set()
        for company in list(self._companies):
            _end(company)

    @contextmanager
    def _company(self) -> Iterator[subprocess.Popen[str]]:
        """A process that plays one act after the other; each begins with everything imported."""
        company = subprocess.Popen(
            [sys.executable, "-m", "stepscope.cli._demo_forks"],
            cwd=self.folder,
            env={**os.environ, **_ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # it ends together with its forks
        )
        self._companies.add(company)
        try:
            yield company
        finally:
            self._companies.discard(company)
            company.communicate()

    def _run(self, act: Act, company: subprocess.Popen[str]) -> Outcome:
        assert company.stdin is not None
        assert company.stdout is not None
        self._edit(act)
        start = time.monotonic()
        request = {"words": act.command, "environment": self._environment(act), "fresh": act.fresh}
        with suppress(BrokenPipeError):  # it has ended, and no answer comes
            company.stdin.write(json.dumps(request) + "\n")
            company.stdin.flush()
        answer = json.loads(company.stdout.readline() or '{"code": -1, "output": "its process has ended"}')
        as_planned = (answer["code"] != 0) == act.fails
        return Outcome(
            act, time.monotonic() - start, "" if as_planned else str(answer["output"]).strip() or "no output"
        )

    def _environment(self, act: Act) -> dict[str, str]:
        environment = {**os.environ, **_ONE_THREAD, "STEPSCOPE_DIR": str(self.runs)}
        if act.command[0] in ("run", "profile"):
            environment["STEPSCOPE_ASSIGNED"] = json.dumps({"name": act.title, "tags": act.tags})
        return environment

    def _commit(self) -> None:
        """Keep the scripts in a Git repository where there is Git: runs then show their code and how it changed."""
        if shutil.which("git") is None or (self.folder / ".git").exists():
            return
        (self.folder / ".gitignore").write_text("/stepscope-runs/\n/.played\n*.png\n__pycache__/\n")
        author = ("-c", "user.name=Stepscope demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false")
        for words in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "The scripts as they came")):
            subprocess.run(["git", *words], cwd=self.folder, check=False, capture_output=True)

    def _edit(self, act: Act) -> None:
        script = self.folder / "vae.py"
        text = read_text(script, _LARGEST)
        for old, new in act.edits:
            text = text if new in text else text.replace(old, new)
        if act.edits:
            script.write_text(text)


def _end(company: subprocess.Popen[str]) -> None:
    if os.name == "nt":
        company.terminate()
        return
    with suppress(ProcessLookupError):
        os.killpg(company.pid, signal.SIGTERM)


def _examples() -> Path:
    """Inside the package where it is installed; at the top of the repository in a clone."""
    installed = Path(__file__).parent / "scripts"
    found = installed if installed.is_dir() else Path(__file__).parents[3] / "examples"
    if not (found / "demo_report.md").is_file():
        raise NotFound(f"the demo's scripts are not in {found}; install Stepscope again, or clone the repository")
    return found
