from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule

_EVENTS = "events.out.tfevents"


@rule("dist.shared-log", severity="warning", needs="steps, end, crash")
def shared_log(run: Evidence) -> Iterator[Proof]:
    """Several ranks write to the same log, so its lines are mixed or doubled.

    Why it matters: processes that write to one file overwrite or interleave each other's lines. TensorBoard shows the
    event files of all ranks in one folder as one zigzag.

    What to do: log on rank 0 only, or add the rank to the name.

    How it is found: several ranks have the same regular file open and have written to it, or have event files of
    TensorBoard open in the same folder. Linux tells which files a process has open.

    Bad:
        logging.basicConfig(filename="train.log")
    Good:
        logging.basicConfig(filename=f"train-{rank}.log")
    """
    writers: dict[tuple[str, str], list[int]] = {}
    for one in run.ranks.all:
        for key in {(file.host, _log_of(file.path)) for file in one.open_files}:
            writers.setdefault(key, []).append(one.rank)
    for (_, path), who in writers.items():
        if len(who) < 2:
            continue
        what = "event files of TensorBoard in one folder" if os.path.isdir(path) else "the same file"
        yield Proof(
            where=_line_about(run, path),
            message=f"{rank_names(who)} write to {what}: {os.path.basename(path)}",
            label=f"open on {rank_names(who)}",
            evidence={"ranks": who, "path": path},
            fix="log on rank 0 only, or add the rank to the name",
        )


def _log_of(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return folder if name.startswith(_EVENTS) else path


def _line_about(run: Evidence, path: str) -> tuple[str, int] | None:
    """The line of the script that names this file."""
    name = os.path.basename(path)
    for file in run.source.files():
        for node in file.walk(ast.Constant):
            if isinstance(node.value, str) and os.path.basename(node.value.rstrip("/")) == name:
                return file.path, node.lineno
    return None
