from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.known_errors import ERRORS
from stepscope.diagnose.stored.known_message import known
from stepscope.diagnose.stored.tracebacks import read_traceback

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun


@rule("run.crashed", severity="error", needs="stored")
def crashed(run: StoredRun) -> Iterator[Proof]:
    """An exception ended the script.

    Why it matters: the run is not complete. Its last numbers are those from before the crash.

    What to do: run it again with `stepscope run`, which shows the tensors of every frame and names the cause; or
    read the line below.

    How it is found: the traceback that was kept with the run, or the last one on its console. The line is the innermost
    one that does not belong to a library. Nothing is reported where the run was watched and the cause is known.

    Bad:
        logits = head(features.flatten())
    Good:
        logits = head(features.flatten(1))
    """
    if run.is_explained:
        return
    ended = read_traceback(run.traceback)
    if ended is None or ended.error in ("KeyboardInterrupt", "SystemExit"):
        return
    meaning = known(f"{ended.error}: {ended.message}", ERRORS)
    message = f"{ended.error}: {ended.message}" if ended.message else ended.error
    yield Proof(
        where=None if ended.file is None or ended.line is None else (ended.file, ended.line),
        message=message if meaning is None else f"{meaning.meaning}: {message}",
        fix="run it with `stepscope run` to see the tensors of every frame" if meaning is None else meaning.fix,
        label=f"{ended.error} in {ended.function}" if ended.function else ended.error,
        evidence={"error": ended.error, "code": ended.code, "function": ended.function},
    )
