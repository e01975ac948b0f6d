"""Processes the script starts itself (`mp.spawn`, `mp.Process`) are watched too, and tell what they find.

Nothing is wrapped: the process object carries a small note to the child (by fork, or pickled with it), which starts the
watch before the target runs and asks the rules when multiprocessing ends the process. So targets, tracebacks, exit
codes and printed text are unchanged. Workers of DataLoaders, pools, managers and libraries are left alone.
"""

from __future__ import annotations

import functools
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from stepscope import fence
from stepscope.common import clocks
from stepscope.common.code_owner import is_own_file
from stepscope.events import Installed, caller
from stepscope.launch.crash_story import story_of
from stepscope.launch.exit_handling import without_our_frames
from stepscope.launch.rank_command import command_of, leave_note
from stepscope.launch.rank_notes import claims, finding_key, is_lost_connection
from stepscope.launch.status import raw_write

if TYPE_CHECKING:
    from stepscope.diagnose.engine import Engine
    from stepscope.diagnose.settings import Settings
    from stepscope.launch.evidence_file import EvidenceFile, ForProcess
    from stepscope.launch.rank_log import RankLog
    from stepscope.record.observers.watcher import Watcher
    from stepscope.records import Finding

_MOST = 64
"""Processes watched in one run: a script that starts one for each of a thousand tasks is understood by then."""
_DOOR = "_after_fork"
"""What multiprocessing calls on the process object in the child, however it was started, before the target runs."""
_TELLERS = ("multiprocessing.process", "torch.multiprocessing.spawn")
"""Who writes the traceback of a process that has failed."""


class Children:
    """The parent's side: gives each process its note, and gathers what they wrote when the script is over."""

    def __init__(
        self,
        settings: Settings | None = None,
        prefix: Callable[[], str] = str,
        evidence: Callable[[], ForProcess | None] = lambda: None,
        on_ranks: Callable[[str], None] = lambda folder: None,
    ) -> None:
        self._settings = settings
        self._prefix = prefix
        self._evidence = evidence
        self._folder: str | None = None
        self._pid = os.getpid()
        self._started = 0
        self.steps = 0
        """The most steps one of them took; known after `gather`."""
        self._on_ranks = on_ranks
        """Called with the folder before the script is started again for the other ranks of this process."""

    def install(self, installed: Installed) -> None:
        import multiprocessing.process  # noqa: F401

        def layer(start_as_ever: Any) -> Any:
            @functools.wraps(start_as_ever)
            def start(process: Any) -> None:
                sent = Installed()
                fence.call("watching a process of the script", self._send, process, sent)
                try:
                    start_as_ever(process)
                finally:
                    sent.remove()

            return start

        installed.wrap("multiprocessing.process:BaseProcess.start", layer)

    def _send(self, process: Any, sent: Installed) -> None:
        if os.getpid() != self._pid or self._started >= _MOST or not is_of_script(process):
            return
        note = self._note()
        # A Python that has no such door: its processes are not watched.
        self._started += sent.replace(f"multiprocessing.process:BaseProcess.{_DOOR}", note, process)

    def _note(self, *, tells: bool = False) -> Note:
        return Note(self._meeting_place(), self._settings, self._prefix(), tells=tells, evidence=self._evidence())

    def _meeting_place(self) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="stepscope-")  # only we can read it
        return self._folder

    def rank_command(self, command: list[str]) -> list[str]:
        """The command by which a trainer starts this script again, as another rank; led through us, to be watched."""
        if os.getpid() != self._pid or command[0] != sys.executable or self._started >= _MOST:
            return command
        first = self._folder is None
        folder = self._meeting_place()
        if not leave_note(folder, self._note(tells=True)):
            return command
        self._started += 1
        if first:
            self._on_ranks(folder)
        return command_of(command, folder)

    def gather(self, engine: Engine) -> str | None:
        """Give the engine what the processes found and wrote down. What there is to say of a crash in one of them."""
        if self._folder is None or os.getpid() != self._pid:
            return None
        from stepscope.evidence.ranks import Ended
        from stepscope.record.observers.ranks import Crashed, Found, read_facts, read_ranks

        facts = read_facts(Path(self._folder))
        engine.evidence.ranks.all = engine.evidence.ranks.all or read_ranks(facts)
        self.steps = max((fact.steps for of_one in facts for fact in of_one if isinstance(fact, Ended)), default=0)
        order = {rule.id: index for index, rule in enumerate(engine.rules)}
        found = [fact.finding for of_one in facts for fact in of_one if isinstance(fact, Found)]
        for finding in sorted(found, key=lambda one: order.get(one.rule, 0)):
            engine.adopt(finding)
        crashes = [fact for of_one in facts for fact in of_one if isinstance(fact, Crashed)]
        return min(crashes, key=lambda one: (not one.explained, one.time)).said if crashes else None

    def remove(self) -> None:
        """Take the folder away."""
        if self._folder is not None and os.getpid() == self._pid:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


class Note:
    """What a process is given: where to write, which rules are wanted, and what goes before names that we log.

    It goes with the process by fork or by pickle, and replaces its own `_after_fork`, which it calls first.
    """

    def __init__(
        self,
        folder: str,
        settings: Any,
        prefix: str = "",
        *,
        tells: bool = False,
        evidence: ForProcess | None = None,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.prefix = prefix
        self.tells = tells
        """The process has a terminal of its own to tell a crash to: that which gathers may not live to hear of it."""
        self.evidence = evidence
        """Where it keeps what it saw; None where nothing is kept."""

    def __call__(self) -> None:
        import multiprocessing

        process: Any = multiprocessing.current_process()
        type(process)._after_fork()
        process.__dict__.pop(_DOOR, None)
        fence.fenced("watching a process of the script")(_arrived)(self)


def is_of_script(process: Any) -> bool:
    """Whether what this process will run is the user's own, or what they gave to `mp.spawn`."""
    target = getattr(process, "_target", None)
    if target is None:
        return _is_users(type(process).run)
    spawn = sys.modules.get("torch.multiprocessing.spawn")
    return (spawn is not None and target is getattr(spawn, "_wrap", None)) or _is_users(target)


def _is_users(target: Any) -> bool:
    while isinstance(target, functools.partial):
        target = target.func
    target = getattr(target, "__func__", target)
    if not isinstance(target, FunctionType):
        target = type(target).__call__ if callable(target) else None
    target = getattr(target, "__wrapped__", target)
    code = getattr(target, "__code__", None)
    file = getattr(code, "co_filename", "<")
    return is_own_file(file)


_visitor: Visitor | None = None
"""In a child: its watch."""


# -- in the child -------------------------------------------------------------------------------------------------


def _arrived(note: Note) -> None:
    """In the child, just before its target runs."""
    import traceback  # noqa: F401

    installed = Installed()  # until the process ends
    for name, clean in (("print_exc", _print_exc), ("format_exc", _format_exc)):
        installed.wrap(f"traceback:{name}", lambda plain, clean=clean: functools.wraps(plain)(clean))  # type: ignore[misc]
    if "torch" in sys.modules:
        Visitor(note).begin()
    else:
        from stepscope.events.imports import Imports

        imports = Imports()
        imports.install()
        imports.when("torch", lambda module: Visitor(note).begin())


class Visitor:
    """The child's side: a watcher and an engine around the target, which write to one file."""

    def __init__(self, note: Note) -> None:
        from stepscope.diagnose.engine import Engine
        from stepscope.diagnose.evidence import Evidence
        from stepscope.record.observers import Watcher
        from stepscope.record.observers.ranks import Notes

        self.notes = Notes(note.folder)
        self.watcher: Watcher = Watcher()
        self.watcher.distributed.notes = self.notes
        self.engine: Engine = Engine(
            Evidence.of(self.watcher),
            settings=note.settings,
            on_finding=self._found,
        )
        self.tells_of_crash = False
        """Whether this process failed first of all, and so reports it itself."""
        self._file = fence.call("keeping what was seen", self._evidence_file, note.evidence)
        self.watcher.on_moment = self.engine.moment if self._file is None else self._file.after(self.engine.moment)
        self._over = False
        self._pid = os.getpid()
        self._note = note
        self._log: RankLog | None = None

    def _evidence_file(self, given: ForProcess | None) -> EvidenceFile | None:
        if given is None:
            return None
        from stepscope.launch.evidence_file import EvidenceFile
        from stepscope.track.secrets import learn_from

        learn_from(os.environ)  # so that they are masked in what is kept
        return EvidenceFile.of_process(self.engine.evidence, given)

    def watch(self) -> None:
        fence.fenced("following the training of a rank")(self._follow)()
        self.watcher.start()

    def begin(self) -> None:
        """Watch until multiprocessing ends the process."""
        from multiprocessing.util import Finalize

        global _visitor
        _visitor = self
        self.watch()
        # Before every other finalizer (queues, managers): the target's exception is still at hand then.
        Finalize(None, self.end, exitpriority=1000)

    def _follow(self) -> None:
        from stepscope.launch.rank_log import RankLog

        log = RankLog(self.watcher, self._note.prefix)
        log.begin()
        self._log = log

    def end(self) -> None:
        """The target has returned, or has raised what is being handled now."""
        self.conclude(sys.exc_info()[1])

    @fence.fenced("the last look")
    def conclude(self, error: BaseException | None) -> None:
        if self._over or os.getpid() != self._pid:
            return
        self._over = True
        self.watcher.distributed.ended(error)
        if error is None or not isinstance(error, Exception):
            self.watcher.stop()
            if self._has_worked():
                self.engine.finish()
        else:
            note = self._note
            self.tells_of_crash = note.tells and not is_lost_connection(error) and claims(note.folder, "crash")
            explained = bool(fence.fenced("explaining the crash", [])(self.engine.crashed)(error))
            fence.fenced("showing what was there at the crash")(self._tell)(error, explained)
            self.watcher.stop()
        if self._log is not None:
            self._log.end()
        if self._has_worked():
            fence.call("keeping what was seen", self._keep)

    def _keep(self) -> None:
        if self._file is not None:
            self._file.rank = 0 if self._log is None else self._log.rank
            self._file.write()

    def _has_worked(self) -> bool:
        """Whether it has done anything with torch: asking the rules about a process of another kind is for nothing."""
        watcher = self.watcher
        return bool(watcher.tensor_history.ops or watcher.step or watcher.batches or watcher.steps.backward_count)

    def _tell(self, error: BaseException, explained: bool) -> None:
        from stepscope.record.observers.ranks import Crashed

        said = story_of(self.engine.evidence.crash)
        if self.tells_of_crash and said:
            raw_write(sys.stderr, said + "\n")
        self.notes.write(Crashed(f"{type(error).__name__}: {error}"[:2000], said, explained, clocks.time()))

    def _found(self, finding: Finding) -> None:
        from stepscope.record.observers.ranks import Found

        if self.tells_of_crash:
            self._tell_finding(finding)
        else:
            self.notes.write(Found(finding))

    def _tell_finding(self, finding: Finding) -> None:
        """A finding about the crash, said here and written into the run from here."""
        from stepscope.diagnose.excerpt import with_source
        from stepscope.diagnose.show import render, terminal_width, wants_color
        from stepscope.records import FindingEvent
        from stepscope.track.session import current

        finding = with_source(finding)
        color, width = wants_color(sys.stderr), terminal_width(sys.stderr)
        raw_write(sys.stderr, render(finding, color=color, width=width, root=Path.cwd()) + "\n")
        run = current()
        if run is not None and claims(self._note.folder, finding_key(finding)):
            run._writer.event(FindingEvent(time=clocks.time(), finding=finding))


def _print_exc(limit: int | None = None, file: Any = None, chain: bool = True) -> None:
    """`traceback.print_exc`, without our frames. When multiprocessing calls it, the target has failed."""
    import traceback

    error, frame = sys.exc_info()[1], caller()
    if error is not None:
        if _visitor is not None and frame is not None and frame.f_globals.get("__name__") in _TELLERS:
            _visitor.end()
        without_our_frames(error)
        traceback.print_exception(type(error), error, error.__traceback__, limit, file, chain)
    else:
        print("NoneType: None", file=file or sys.stderr)


def _format_exc(limit: int | None = None, chain: bool = True) -> str:
    """`traceback.format_exc`, without our frames."""
    out = io.StringIO()
    _print_exc(limit, out, chain)
    return out.getvalue()
