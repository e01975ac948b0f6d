from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import parents_of, tree_of
from stepscope.common.units import counted
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.step import Site

_SIGNALS = (
    (
        r"bus error",
        (
            "a worker of the loader was killed by a bus error: shared memory (/dev/shm) is full",
            "give it more, in Docker with --shm-size=8g or --ipc=host; or use fewer workers, or smaller batches",
        ),
    ),
    (
        r"segmentation fault|aborted",
        (
            "a worker of the loader crashed inside a compiled library, not in Python",
            "open files (h5py, lmdb) inside the worker, in __getitem__, not in __init__, and switch threads off "
            "(cv2.setNumThreads(0)); num_workers=0 shows whether it is that",
        ),
    ),
    (
        r"signal: killed",
        (
            "a worker of the loader was killed, usually because the machine ran out of memory",
            "use fewer workers or smaller batches, and load samples in __getitem__ instead of all in __init__",
        ),
    ),
)


@rule("data.worker-error", severity="error", needs="crash", follows=("shape.*", "dtype.*"))
def worker_error(run: Evidence) -> Iterator[Proof]:
    """The dataset failed, or a worker of the loader died.

    Why it matters: the exception that arrives is a copy; the line that failed is inside the worker.

    What to do: run with `num_workers=0` (or `stepscope run --no-workers`) to step through it. A worker that is killed
    has usually run out of memory, shared or not.

    Bad:
        def __getitem__(self, i):
            return self.rows[i + 1]
    Good:
        def __getitem__(self, i):
            return self.rows[i]
    """
    crash = run.crash
    if crash is None:
        return
    loader = crash.loaders[0] if crash.loaders else None
    if crash.says(r"dataloader worker \(pid\(?s?\)? .*(exited unexpectedly|is killed)"):
        made = (None if loader is None else made_at(crash, loader)) or crash.site
        yield _unguarded(crash) or _ended(crash, made, None if loader is None else loader.workers)
        return
    own = [frame for frame in crash.worker or () if frame.own]
    if not own:
        return
    yield Proof(
        where=own[-1].site,
        message=f"{crash.type} in a worker of the loader: {crash.message[:160]}",
        label="it failed here, inside the worker",
        evidence={"function": own[-1].function, "workers": None if loader is None else loader.workers},
        fix="run with --no-workers to see it in the main process, where you can step through it",
        related=[] if loader is None else [(made_at(crash, loader), "the loader")],
    )


def _ended(crash: Crash, made: Site | None, workers: int | None) -> Proof:
    """A worker that ended without an exception: what the signal tells; without one, the two likely causes."""
    signal = next((words for sign, words in _SIGNALS if crash.says(sign)), None)
    message, fix = signal or (
        "a worker of the loader ended without a Python error: killed for lack of memory, or stopped while it started",
        "with num_workers=0 an error appears where it is; if it runs then, use fewer workers or smaller batches",
    )
    return Proof(
        where=made,
        message=message,
        label="" if workers is None else counted(workers, "worker"),
        evidence={"error": crash.message[:200], "workers": workers},
        fix=fix,
    )


def _unguarded(crash: Crash) -> Proof | None:
    """Workers that are started anew import the script, which starts workers again while it is imported."""
    outermost = crash.own[0] if crash.own else None
    if outermost is None or outermost.function != "<module>":
        return None
    tree = tree_of(outermost.file)
    started = [node for node in ast.walk(tree or ast.Module([], [])) if isinstance(node, ast.Call) and _spawns(node)]
    parents, node = parents_of(outermost.file), outermost.running
    while node is not None and not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
        node = parents.get(node)
    if node is not None or not started:
        return None
    return Proof(
        where=outermost.site,
        message="spawned workers import this script again, and its training loop runs at import: it has no "
        '`if __name__ == "__main__":`',
        label="each worker would start workers here",
        evidence={"error": crash.message[:200]},
        fix='put everything that runs into a function: def main(): ..., and call it under if __name__ == "__main__":',
        related=[(node_site(outermost.file, started[0]), "workers are spawned because of this")],
    )


def _spawns(call: ast.Call) -> bool:
    """`set_start_method("spawn")`, `DataLoader(..., multiprocessing_context="spawn")`, `get_context("spawn")`."""
    values = [*call.args, *(word.value for word in call.keywords)]
    return any(isinstance(one, ast.Constant) and one.value in ("spawn", "forkserver") for one in values)
