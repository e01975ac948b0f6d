"""A run as the training sees it: log values, change config, set its end."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from stepscope.common import clocks
from stepscope.fence import fenced
from stepscope.records import (
    Alert,
    Artifact,
    ArtifactUse,
    ConfigUpdate,
    End,
    MetricRule,
    NameChange,
    NotesChange,
    RunMeta,
    Severity,
    SummaryUpdate,
    TagsChange,
)
from stepscope.runs.store import usual_store
from stepscope.track.config import Config, masked
from stepscope.track.ending import Ending, ending_of
from stepscope.track.logger import Logger
from stepscope.track.names import as_name
from stepscope.track.summary import Summary, Tags

if TYPE_CHECKING:
    from stepscope.runs.write.writer import RunWriter
    from stepscope.track.joining import Joining
    from stepscope.track.run_services import Attendants
    from stepscope.track.sink import RunSink
    from stepscope.track.use_artifact import UsedArtifact


class Run:
    """One training being recorded. Created by `stepscope.init`; nothing here raises into the training.

    with stepscope.init(project="vae", config={"lr": 1e-3}) as run:
        run.log({"loss": 0.5, "acc": {"train": 0.9}})
    """

    def __init__(
        self,
        meta: RunMeta,
        path: Path | None,
        writer: RunWriter,
        sink: RunSink,
        *,
        config: Any = None,
        first_step: int = 0,
        rank: int = 0,
        attempt: int = 0,
        is_worker: bool = False,
    ) -> None:
        self._meta = meta
        self._path = path
        self._writer = writer
        self._sink = sink
        self._logger = Logger(sink, first_step)
        self._log = self._logger.log
        self._finish_lock = threading.RLock()
        self._ending: Ending | None = None
        self._name, self._notes = meta.name, meta.notes
        self._config = Config(config, self._record_config)
        self._summary = Summary(self._record_summary)
        self._tags = Tags(meta.tags, self._record_tags)
        self._attendants: Attendants | None = None
        self._joining: Joining | None = None
        """On a rank above 0: how it finds the run of rank 0."""
        self._last_words: list[Callable[[], None]] = []
        self._afterwards: list[Callable[[], None]] = []
        self._preempted = False
        self.is_launched = False
        """Opened by `stepscope run`, which logs every step under `train/` automatically."""
        self.is_worker = is_worker
        """This process only joined the run: its end is not the run's."""
        self.rank = rank
        self.attempt = attempt

    # -- the values of a step -------------------------------------------------------------------------------------

    def log(self, values: Mapping[Any, Any], step: Any = None) -> None:
        """Record values at a step: numbers, tensors, text, media; nested dicts are joined with `/`.

        Without `step` the values belong to the current step, or to the next one if one of the names was already
        logged at the current one. A value that cannot be logged is reported once on stderr; the others are logged.
        """
        self._log(values, step)

    @property
    def step(self) -> int:
        """The current step."""
        return self._logger.step

    @fenced("rewind()")
    def rewind(self, step: Any) -> None:
        """Continue counting from `step`: after loading an older checkpoint into a resumed run.

        Later points of an earlier attempt are kept, but hidden by default.
        """
        self._logger.rewind(step)

    # -- what the run is ------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self._meta.id

    @property
    def path(self) -> Path | None:
        """The run's folder; None when recording is off, and on ranks above 0 until rank 0 has created it."""
        return self._path

    def _arrived(self, path: Path, meta: RunMeta, attempt: int) -> None:
        """On a rank above 0: rank 0's folder is now known."""
        self._path, self._meta, self.attempt = path, meta, attempt
        self._name, self._notes = meta.name, meta.notes
        if self._attendants is not None:
            self._attendants.arrived(path)

    @property
    def project(self) -> str:
        return self._meta.project

    @property
    def group(self) -> str | None:
        return self._meta.group

    @property
    def is_finished(self) -> bool:
        return self._ending is not None

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = as_name(name)
        self._writer.event(NameChange(time=clocks.time(), name=self._name))

    @property
    def notes(self) -> str:
        return self._notes

    @notes.setter
    def notes(self, text: str | None) -> None:
        self._notes = as_name(text or "")
        self._writer.event(NotesChange(time=clocks.time(), text=self._notes))

    @property
    def config(self) -> Config:
        """The settings of the run; changes are recorded: `run.config.update({"lr": 0.01})`."""
        return self._config

    @config.setter
    def config(self, values: Any) -> None:
        self._config.update(values)

    @property
    def summary(self) -> Summary:
        """Summary values of the run: `run.summary["best_acc"] = 0.93`."""
        return self._summary

    @property
    def tags(self) -> Tags:
        return self._tags

    @tags.setter
    def tags(self, tags: Any) -> None:
        wanted = [tags] if isinstance(tags, str) else list(tags)
        self._tags.discard(*[tag for tag in self._tags if tag not in wanted])
        self._tags.add(*wanted)

    @fenced("recording the config")
    def _record_config(self, changed: dict[str, Any], origins: dict[str, str]) -> None:
        self._writer.event(ConfigUpdate(time=clocks.time(), values=masked(changed), origins=origins))

    @fenced("recording the summary")
    def _record_summary(self, changed: dict[str, Any]) -> None:
        self._writer.event(SummaryUpdate(time=clocks.time(), values=masked(changed)))

    @fenced("recording tags")
    def _record_tags(self, add: list[str], remove: list[str]) -> None:
        self._writer.event(TagsChange(time=clocks.time(), add=add, remove=remove))

    @fenced("define()")
    def define(
        self,
        name: str,
        *,
        summary: Literal["last", "min", "max", "mean", "first", "none"] | None = None,
        x: str | None = None,
        goal: Literal["min", "max"] | None = None,
    ) -> None:
        """Define how a metric is summarized and drawn: `run.define("val/*", summary="min", x="epoch")`."""
        self._writer.event(MetricRule(time=clocks.time(), name=as_name(name), summary=summary, x=x, goal=goal))

    @fenced("alert()")
    def alert(self, title: str, text: str = "", level: Severity = "warning") -> None:
        """Send an alert at the current step."""
        title, text = as_name(title), as_name(text)
        self._writer.event(Alert(time=clocks.time(), title=title, text=text, level=level, step=self.step))

    @fenced("log_artifact()")
    def log_artifact(
        self,
        source: Any,
        name: str | None = None,
        type: str = "file",
        *,
        aliases: str | Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        reference: bool = False,
    ) -> Artifact | None:
        """Store a file, a folder or a dict of files as a named, versioned artifact; returns its record.

        Copies while the caller waits. With `reference=True` files are not copied and only their hash is recorded.
        """
        if self._path is None:
            return None
        from stepscope.track.artifacts import log_artifact

        return log_artifact(self._writer, source, name, type, aliases, metadata, reference, step=self.step)

    def use_artifact(
        self,
        wanted: str,
        *,
        dest: str | os.PathLike[str] | None = None,
        server: str | None = None,
    ) -> UsedArtifact:
        """Use an artifact as an input and record that this run uses it: `run.use_artifact("model:best").path`.

        It is looked up in this run's store and on the server that you are logged in to (or `server`), in this
        project unless the name has another as prefix: `vision/model:v3`. Raises if it is unavailable.
        """
        from stepscope.track.use_artifact import fetch_artifact

        self.flush()
        store = self._path.parent if self._path is not None else usual_store()
        found = fetch_artifact(wanted, store, self.project, dest, server)
        self._note_use(found.name, found.type, found.digest, wanted, found.run, found.run_version)
        return found

    def note_use(self, artifact: Artifact, wanted: str = "", run: str = "") -> None:
        """Record that this run uses an artifact that another run (its id) has logged."""
        self._note_use(artifact.name, artifact.type, artifact.digest, wanted, run, artifact.version)

    @fenced("noting the use of an artifact")
    def _note_use(self, name: str, type: str, digest: str, wanted: str, run: str, version: int) -> None:
        self._writer.event(
            ArtifactUse(
                time=clocks.time(),
                name=name,
                type=type,
                digest=digest,
                wanted=wanted,
                run=run,
                version=version,
                step=self.step,
            )
        )

    def log_file(self, path: str | os.PathLike[str], name: str | None = None) -> Artifact | None:
        """Store one file with the run, as an artifact."""
        return self.log_artifact(path, name)

    # -- its end --------------------------------------------------------------------------------------------------

    @fenced("flush()", default=False)
    def flush(self) -> bool:
        """Write everything logged so far to disk; False if the disk did not accept it in time."""
        self._logger.flush()
        self._sink.flush()
        return self._writer.flush()

    def flush_device(self, timeout_s: float) -> None:
        """Wait for values that are still on a device."""
        self._logger.flush(timeout_s)

    def finish(
        self,
        status: Literal["finished", "stopped", "preempted", "failed"] | None = None,
        exit_code: int | None = None,
    ) -> None:
        """End the run: everything is written and all hooks are removed. Later calls do nothing."""
        self._end(Ending(status or ("failed" if exit_code else "finished"), exit_code))

    def before_end(self, say: Callable[[], None]) -> None:
        """Call `say` before the run ends, however it ends, while it can still log."""
        self._last_words.append(fenced("the last words of a run")(say))

    def after_end(self, do: Callable[[], None]) -> None:
        """Call `do` once the run has ended and everything is written."""
        self._afterwards.append(fenced("what follows the end of a run")(do))

    def every(self, seconds: float, job: Callable[[], None], name: str) -> None:
        """Call `job` periodically, on a thread, until the run ends; not while recording is off."""
        if self._attendants is not None:
            self._attendants.every(seconds, job, name)

    def _end(self, ending: Ending) -> None:
        with self._finish_lock:
            if self._ending is not None:
                return
            words, self._last_words = self._last_words, []
            for say in words:
                say()
            if self._preempted and ending.status == "finished":  # SIGTERM came, and the script ended normally
                ending = ending._replace(status="preempted")
            self._ending = ending
            self._shut(ending)
            afterwards, self._afterwards = self._afterwards, []
        for do in afterwards:
            do()

    def _shut(self, ending: Ending) -> None:
        attendants = self._attendants
        try:
            if attendants is not None:
                fenced("stopping the watch")(attendants.stop)()
            fenced("finishing rows")(self._logger.close)()
            fenced("finishing media")(self._sink.close)()
        finally:  # even if a second Ctrl-C comes in between
            if attendants is not None:
                fenced("releasing the process")(attendants.release)()
            # A worker's end is not the run's; and one that logged nothing must leave no file.
            end = None if self.is_worker else self._end_event(ending)
            fenced("closing the run")(self._writer.close)(end)

    def _end_event(self, ending: Ending) -> End:
        return End(time=clocks.time(), **ending._asdict())

    def _after_fork(self) -> None:
        """In a forked child: log to separate files. The writer handles the fork itself."""
        self.is_worker = True
        self._finish_lock = threading.RLock()
        self._logger.after_fork()
        self._sink.after_fork()
        if self._attendants is not None:
            self._attendants.after_fork()

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(ending_of(error))

    def __repr__(self) -> str:
        state = "running" if self._ending is None else self._ending.status
        return f"<stepscope.Run {self.name!r} of {self.project!r}, {state}, step {self.step}, {self._path or 'off'}>"

    def _repr_html_(self) -> str:
        state = "running" if self._ending is None else self._ending.status
        import html

        where = html.escape(str(self._path or "recording is off"))
        return (
            f"<b>{html.escape(self.name)}</b> · {html.escape(self.project)} · {state} · step {self.step}<br>"
            f"<code>{where}</code> · open it with <code>stepscope ui</code>"
        )
