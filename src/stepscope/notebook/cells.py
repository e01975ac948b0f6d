"""Run a cell's code under the recorder, the profiler or the checks, in the kernel's own namespace."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.errors import UsageError
from stepscope.notebook import panel
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from stepscope.launch.reporting import Reporter
    from stepscope.records import Finding

Display = Callable[[Any], None]


class Cell:
    """A cell's code, compiled as the kernel does it: tracebacks and findings name its lines as the notebook numbers
    them, the magic's own line included."""

    def __init__(self, shell: Any, code: str, magic: str) -> None:
        self._shell = shell
        whole = f"# %%stepscope {magic}\n{code}"  # the line that the notebook counts as the first
        plain = shell.transform_cell(whole)
        self.file: str = shell.compile.cache(plain, _number(shell), raw_code=whole)
        tree = ast.parse(plain, self.file)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._main = compile(tree, self.file, "exec")
        self._last = None if last is None else compile(ast.Interactive([last]), self.file, "single")

    def run(self) -> None:
        """In the notebook's own namespace; the value of a last expression is shown, as usual."""
        __tracebackhide__ = True  # IPython hides such frames
        names = self._shell.user_ns
        exec(self._main, names)
        if self._last is not None:
            exec(self._last, names)


def _number(shell: Any) -> int:
    """The number of the cell with the magic. IPython increments it before or after running a cell, so ask the caller's
    frame.
    """
    known = getattr(shell.compile, "_filename_map", {})
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename in known:
            found: int = known[frame.f_code.co_filename]
            return found
        frame = frame.f_back  # type: ignore[assignment]
    count: int = shell.execution_count
    return count


def record_cell(shell: Any, code: str, display: Display, name: str | None, stats: bool) -> None:
    """Record one step, op by op; stored under `name`, and shown."""
    import stepscope

    __tracebackhide__ = True
    cell = Cell(shell, code, "record")
    with stepscope.record(stats=stats) as step:
        cell.run()
    step.ops  # noqa: B018  (read now: until then it calls itself "being recorded")
    if name is not None:
        shell.user_ns[name] = step
    display(step)


def profile_cell(shell: Any, code: str, display: Display, name: str | None) -> None:
    """Profile the cell: where its time goes and what to change; stored under `name`, and shown."""
    import stepscope

    __tracebackhide__ = True
    cell = Cell(shell, code, "profile")
    with stepscope.profile() as profiler:
        cell.run()
    if name is not None:
        shell.user_ns[name] = profiler
    display(profiler)
    operators = fence.call("summing up operators", profiler.sheet, "operators")
    if operators is not None:
        display(operators)


def check_cell(shell: Any, code: str, display: Display, *, whole: bool, name: str | None = None) -> list[Finding]:
    """Watch the cell's training like `stepscope check` (a few batches), or like `stepscope run` (`whole`)."""
    from stepscope.launch.exit_handling import without_our_frames
    from stepscope.launch.limits import is_stop
    from stepscope.launch.options import Options
    from stepscope.launch.script import Script
    from stepscope.launch.sessions import run_session
    from stepscope.track.session import current

    __tracebackhide__ = True
    if whole and current() is not None:
        raise UsageError(
            "a run is already open, and this cell would open another; end it with stepscope.finish() first"
        )
    cell = Cell(shell, code, "run" if whole else "check")
    here = os.getcwd()
    options = Options(check=not whole, quiet=True, capsule=False, name=name)
    session = run_session(Script(cell.file, ("cell",), here), options, says_verdict=False)
    around = session.around
    _show_in_notebook(around.reporter, display, cell.file, in_panel=whole)
    fence.fenced("preparing the check")(session.begin)()
    error: BaseException | None = None
    try:
        cell.run()
    except BaseException as fault:
        error = None if is_stop(fault) else fault
    fence.fenced("concluding")(session.conclude)(error)
    if around.judged is not None and not whole:
        fence.call("showing the verdict", display, around.judged)
    fence.fenced("closing the run")(session.close)(error)
    if error is not None:
        raise without_our_frames(error)
    return around.reporter.findings


def _show_in_notebook(reporter: Reporter, display: Display, file: str, in_panel: bool) -> None:
    """Findings under the cell as they are proven, with their source, unless the run's panel has them; other words as
    plain output."""

    def take(finding: Finding) -> None:
        kept = reporter.keep(finding)
        if kept.severity != "info" and not (in_panel and panel.is_shown()):
            fence.call("showing a finding", display, kept)

    def say(text: str, order: int = 0) -> None:
        sys.stdout.write(text.replace(f"{file}:", "line ").replace(os.path.basename(file), "of this cell") + "\n")

    reporter.take = take  # type: ignore[method-assign]
    reporter.say = say  # type: ignore[method-assign]


def stores(words: list[str]) -> tuple[Path, ...]:
    """The given folders, else the default one."""
    named = words or [str(usual_store())]
    return tuple(Path(word).expanduser().absolute() for word in named)
