"""One `.wandb` file as pieces: record by record, from where the last poll stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.eventfiles.wire import pairs, signed
from stepscope.files.opening import read_text
from stepscope.importers.columns import Gathered
from stepscope.importers.foreign import ForeignRun, Piece, Thing
from stepscope.importers.printed import Printed
from stepscope.importers.things import file_thing
from stepscope.importers.wandb.artifacts import Artifacts
from stepscope.importers.wandb.events import alert, rule_of, summary_by_hand
from stepscope.importers.wandb.facts import nested
from stepscope.importers.wandb.history import History
from stepscope.importers.wandb.log import START, LogFile
from stepscope.importers.wandb.media import Shelf
from stepscope.importers.wandb.messages import items, kind_and_body, message, stamp, text
from stepscope.importers.wandb.system import meter
from stepscope.records import ConfigUpdate, Console, End, SummaryUpdate
from stepscope.track.config import flatten, masked

SILENT_S = 60.0
"""A file without an end that has not been written to for this long belongs to a dead process."""
_LARGEST_OUTPUT = 256 << 20
_OWN_FILES = ("output.log", "requirements.txt", "config.yaml", "diff.patch", "conda-environment.yaml")
_OUTPUT = {1: "stream", 2: "time", 3: "line"}


class Reader:
    """The reading state of one run. A cursor is a position in the file; earlier records are read but not returned."""

    def __init__(self, path: Path, run: ForeignRun) -> None:
        self._log = LogFile(path)
        self._path = path
        files = path.parent / "files"
        self._points = Gathered()
        self._history = History(Shelf(files), self._points, run.created)
        self._shelf = Shelf(files)
        self._printed = Printed()
        self._heard_console = False
        self._summary: dict[str, Any] = {}
        self._told_summary: dict[str, Any] = {}
        self._artifacts = Artifacts(files)
        self._saved: set[str] = set()
        self._runs = 0
        self._preempted = False
        self._end: End | None = None
        self._told_end = False
        self.lost: list[str] = []

    @property
    def cursor(self) -> dict[str, Any]:
        return {"at": self._log.at, "ended": self._told_end}

    def stands_at(self, cursor: Any) -> bool:
        return bool(self.cursor == (cursor or {"at": START, "ended": False}))

    def catch_up(self, cursor: Any) -> None:
        """Read what an earlier import has read, for the state it implies."""
        at = cursor.get("at") if isinstance(cursor, dict) else None
        if not isinstance(at, int):
            raise BadData(f"{self._path}: the position of the last import cannot be read; import it again")
        for record in self._log.records():
            for _had in self._pieces(record):
                pass
            if self._log.at >= at:
                break
        for _had in self._points.take():
            pass
        self._told_summary = self._by_hand()
        self._told_end = bool(cursor.get("ended"))
        self.lost, self._log.lost, self._history.lost, self._artifacts.lost = [], [], [], []

    def read(self) -> Iterator[Piece]:
        """Everything new, including the end of the run if there is one."""
        before = self._log.at
        for record in self._log.records():
            yield from self._pieces(record)
            if self._points.is_full:
                yield from self._points.take()
        yield from self._points.take()
        is_new = self._log.at != before
        summary = self._by_hand()
        changed = {name: value for name, value in summary.items() if self._told_summary.get(name) != value}
        if changed:
            self._told_summary = summary
            yield SummaryUpdate(time=self._history.time, values=masked(_dotted(changed)))
        yield from self._ending(is_new)
        reasons = [*self._history.lost, *self._artifacts.lost]
        self.lost += self._log.lost + [f"{self._path}: {reason}" for reason in reasons]
        self._log.lost, self._history.lost, self._artifacts.lost = [], [], []

    def _by_hand(self) -> dict[str, Any]:
        return summary_by_hand(self._summary, self._history.last)

    def _ending(self, is_new: bool) -> Iterator[Piece]:
        stat = self._path.stat()
        silent = time.time() - stat.st_mtime > SILENT_S
        if self._told_end and not is_new:
            return
        self._told_end = False
        if self._end is None and not silent:
            return
        if self._end is None and stat.st_size > self._log.at:
            cut = stat.st_size - self._log.at
            self.lost.append(f"{self._path}: the last {cut:,} bytes are truncated or damaged and were skipped")
        self._told_end = True
        yield from self._printed.close(self._history.time, self._history.step)
        if not self._heard_console:
            yield from self._output_log()
        yield self._end or End(
            time=self._history.time, status="failed", error="W&B recorded no end: the process was killed or lost"
        )

    def _output_log(self) -> Iterator[Console]:
        """The console output, from the file where some versions store it; all of it at the end's time."""
        self._heard_console = True
        try:
            run = self._path.parent
            words = read_text(run / "files" / "output.log", _LARGEST_OUTPUT, within=run)
        except OSError:
            return
        yield from self._printed.write("stdout", words, self._history.time, None)
        yield from self._printed.close(self._history.time, None)

    # -- record by record -----------------------------------------------------------------------------------------

    def _pieces(self, record: bytes) -> Iterator[Piece]:
        try:
            kind, body = kind_and_body(record)
            if kind == "history":
                yield from self._history.row(body)
            elif kind is not None:
                take = getattr(self, f"_take_{kind}", None)
                if take is not None:
                    yield from take(body) or ()
        except BadData as fault:
            self.lost.append(f"{self._path}: a record that ends at {self._log.at:,} cannot be read: {fault}")

    def _take_run(self, body: bytes) -> Iterator[Piece]:
        """The first describes the run (`facts.py`); later ones change its settings."""
        self._runs += 1
        if self._runs > 1:
            for number, value in pairs(body):
                if number == 4 and isinstance(value, bytes):
                    yield from self._take_config(value)

    def _take_config(self, body: bytes) -> Iterator[Piece]:
        config = nested(items(body))
        config.pop("_wandb", None)
        if config:
            yield ConfigUpdate(time=self._history.time, values=masked(flatten(config)))

    def _take_summary(self, body: bytes) -> None:
        for path, value in items(body):
            self._summary[".".join(path)] = value
        for path, _ in items(body, 2):
            self._summary.pop(".".join(path), None)

    def _take_stats(self, body: bytes) -> None:
        when = next((stamp(value) for number, value in pairs(body) if number == 2), None) or self._history.time
        for path, value in items(body, 3):
            if path and isinstance(value, (int, float)):
                name, factor = meter(path[0])
                self._points.add(name, self._history.step, when, value * factor)

    def _take_output(self, body: bytes) -> Iterator[Piece]:
        found = message(body, _OUTPUT)
        when = stamp(found.get("time")) or self._history.time
        stream = found.get("stream", 1)
        self._heard_console = True
        yield from self._printed.write(
            "stderr" if stream == 0 else "stdout", text(found.get("line")), when, self._history.step
        )

    def _take_metric(self, body: bytes) -> Iterator[Piece]:
        rule = rule_of(body, self._history.time)
        if rule is not None:
            yield rule

    def _take_alert(self, body: bytes) -> Iterator[Piece]:
        yield alert(body, self._history.time, self._history.step)

    def _take_artifact(self, body: bytes) -> Iterator[Piece]:
        made = self._artifacts.of(body, self._history.time, self._history.step)
        if made is not None:
            yield made

    def _take_files(self, body: bytes) -> Iterator[Thing]:
        """Files the script saved; media are named by the history, and W&B's own files are not part of the run."""
        for number, value in pairs(body):
            if number != 1 or not isinstance(value, bytes):
                continue
            found = message(value, {1: "path", 3: "type"})
            path = text(found.get("path"))
            if found.get("type", 0) != 0 or path in self._saved or path in _OWN_FILES:
                continue
            if path.startswith(("media/", "wandb-", "artifact/", "logs/")):
                continue
            self._saved.add(path)
            try:
                file = self._shelf.file(path)
                step, when = self._history.step, self._history.time
                yield file_thing(file, f"files/{path}", step, when, within=self._shelf.folder)
            except (BadData, OSError) as fault:
                self.lost.append(f"{self._path}: the saved file '{path}' cannot be read: {fault}")

    def _take_preempting(self, body: bytes) -> None:
        self._preempted = True

    def _take_exit(self, body: bytes) -> None:
        found = {number: value for number, value in pairs(body) if isinstance(value, int)}
        code = signed(found.get(1, 0))
        status = "preempted" if self._preempted else "failed" if code else "finished"
        self._end = End(time=self._history.time, status=status, exit_code=code)  # type: ignore[arg-type]


def _dotted(values: dict[str, Any]) -> dict[str, Any]:
    """Nested summaries under W&B's names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        inner = {f"{name}.{key}": each for key, each in value.items()} if isinstance(value, dict) else None
        flat.update({name: value} if inner is None else _dotted(inner))
    return flat
