"""The plain, frozen records in the middle: made inside the training process, read by everything else.

They import nothing else, have no behavior, and are stored as msgpack inside frames (`runs/format/frames.py`) or sent as
JSON over HTTP. Fields are only ever added, with a default, so that old readers skip them and old files still load.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from stepscope.records.finding import Edit, Finding, Related, Severity, TextChange

__all__ = [
    "FORMAT",
    "Alert",
    "Artifact",
    "ArtifactFile",
    "ArtifactUse",
    "ConfigUpdate",
    "Console",
    "Coverage",
    "Dropped",
    "Edit",
    "End",
    "Environment",
    "Event",
    "FaultNote",
    "FileHeader",
    "Finding",
    "FindingEvent",
    "GitState",
    "Media",
    "MetricRule",
    "NameChange",
    "NotesChange",
    "RankGone",
    "RankJoined",
    "RankSaid",
    "Related",
    "RunMeta",
    "Severity",
    "Status",
    "SummaryUpdate",
    "TagsChange",
    "TextChange",
]

FORMAT = 1
"""The run-folder format this code writes. A reader rejects a higher major number with a clear message."""

Status = Literal["running", "finished", "stopped", "preempted", "failed", "killed", "lost"]
"""running: alive by its heartbeat · finished: ended by itself · stopped: Ctrl-C · preempted: SIGTERM ·
failed: an exception, kept with its traceback · killed: the process is gone without a word ·
lost: no heartbeat and its machine cannot be asked."""


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A record of named fields; unknown fields of a newer writer are ignored."""


# -- a run's description: meta.json ---------------------------------------------------------------------------


class GitState(_Record, frozen=True, kw_only=True):
    """The code of a run."""

    commit: str
    branch: str | None = None
    remote: str | None = None
    dirty: bool = False
    diff: str | None = None
    """Uncommitted changes, secrets masked, truncated at 1 MiB."""
    diff_truncated: bool = False


class RunMeta(_Record, frozen=True, kw_only=True):
    """`meta.json`: written once when a run is created. Later changes are events in the logs, never edits here."""

    format: int = FORMAT
    id: str
    project: str
    name: str
    created: float
    """Unix seconds."""
    config: dict[str, Any] = {}
    """Flat: nested keys are joined with `/`."""
    tags: list[str] = []
    notes: str = ""
    group: str | None = None
    command: list[str] = []
    cwd: str = ""
    script: str | None = None
    host: str = ""
    user: str = ""
    python: str = ""
    platform: str = ""
    packages: dict[str, str] = {}
    hardware: dict[str, Any] = {}
    """cpu, cpu_count, memory_bytes, gpus: [{name, memory_bytes}] ..."""
    env: dict[str, str] = {}
    """Only an allow-list of variables that explain a run (CUDA_VISIBLE_DEVICES, OMP_NUM_THREADS, WORLD_SIZE ...)."""
    git: GitState | None = None
    stepscope: str = ""


# -- records in the logs --------------------------------------------------------------------------------------


class FileHeader(_Record, frozen=True, kw_only=True):
    """The first frame of every log file: its writer. The file name only keeps files apart."""

    format: int = FORMAT
    run_id: str
    file_id: str
    """Unique per file: the key under which frames are merged and synced once."""
    role: Literal["run", "worker", "system", "edit", "node"] = "run"
    """run: the training process, whose life is the run's status · worker: a child process of it ·
    system: the sampler of machine metrics · edit: tags and notes changed later by a person ·
    node: what a node's leader keeps of ranks whose own logs stay on that node."""
    kind: Literal["points", "media"] = "points"
    host: str
    rank: int = 0
    pid: int
    pid_started: float = 0.0
    """Start time of the process (psutil's create_time), to recognize a reused pid."""
    boot_id: str = ""
    attempt: int = 0
    """0 for the first start of a run; each `resume` adds one."""
    segment: int = 0
    base_time: float
    """Unix seconds; a row's time is this plus its ticks."""
    first_step: int | None = None
    """On a resume: the step the attempt starts from, if known."""
    heartbeat_s: float = 10.0


class Media(_Record, frozen=True, kw_only=True):
    """One logged non-scalar at one step. Small data is inline, larger data is found by its hash."""

    key: str
    step: int
    time: float
    kind: str
    """histogram, image, figure, audio, video, text, table, curve, confusion, embedding, html, file ..."""
    mime: str = "application/octet-stream"
    index: int = 0
    """Index among several items logged under one key at one step (a list of images)."""
    place: int = 0
    """Its key's rank in logging order; the file has media in the order they were encoded. 0: unknown."""
    count: int = 1
    meta: dict[str, Any] = {}
    """Small and JSON-ready: width, height, caption, edges, columns ... per kind, see docs/design/001."""
    data: bytes | None = None
    sha256: str | None = None
    size: int = 0


class Console(_Record, frozen=True, kw_only=True):
    """A piece of the script's output."""

    time: float
    stream: Literal["stdout", "stderr"]
    text: str
    rewrite: bool = False
    """The line replaces the previous one (a progress bar's carriage return)."""
    step: int | None = None


class _Event(_Record, frozen=True, kw_only=True, tag_field="event"):
    time: float


class ConfigUpdate(_Event, frozen=True, kw_only=True, tag="config"):
    values: dict[str, Any]
    origins: dict[str, str] = {}
    """The source of settings: command line, default, environment, script, or the name of a file."""


class SummaryUpdate(_Event, frozen=True, kw_only=True, tag="summary"):
    """Summary values the user set by hand; they override those of the series."""

    values: dict[str, Any]


class MetricRule(_Event, frozen=True, kw_only=True, tag="metric"):
    """How one metric (or all that match `name` with a trailing `*`) is summarized and drawn."""

    name: str
    summary: Literal["last", "min", "max", "mean", "first", "none"] | None = None
    x: str | None = None
    """The series to draw it over, instead of the step."""
    goal: Literal["min", "max"] | None = None


class TagsChange(_Event, frozen=True, kw_only=True, tag="tags"):
    add: list[str] = []
    remove: list[str] = []


class NotesChange(_Event, frozen=True, kw_only=True, tag="notes"):
    text: str


class NameChange(_Event, frozen=True, kw_only=True, tag="name"):
    name: str


class Environment(_Event, frozen=True, kw_only=True, tag="environment"):
    """What takes too long to collect before training starts; completes `RunMeta`, field by field, where not empty."""

    git: GitState | None = None
    """With its diff; replaces the one in `meta.json`, which has only what is read from files."""
    packages: dict[str, str] = {}
    hardware: dict[str, Any] = {}
    """Merged into `RunMeta.hardware`: the GPUs."""


class Alert(_Event, frozen=True, kw_only=True, tag="alert"):
    title: str
    text: str = ""
    level: Severity = "warning"
    step: int | None = None
    quiet: bool = False
    """Only for the run's page: no notification is sent."""


class ArtifactFile(_Record, frozen=True, kw_only=True):
    path: str
    sha256: str
    size: int
    mime: str = "application/octet-stream"
    reference: str | None = None
    """The file's location, if only a reference was stored."""


class Artifact(_Event, frozen=True, kw_only=True, tag="artifact"):
    """A named, versioned set of files; equal content keeps its version."""

    name: str
    type: str = "file"
    version: int
    digest: str
    files: list[ArtifactFile] = []
    aliases: list[str] = []
    metadata: dict[str, Any] = {}
    step: int | None = None


class ArtifactUse(_Event, frozen=True, kw_only=True, tag="artifact_use"):
    """A run used an artifact as an input; its content is identified by `digest`."""

    name: str
    type: str = "file"
    digest: str
    wanted: str = ""
    """The requested reference: `model:best`."""
    run: str = ""
    """The id of the run that made it."""
    version: int = 0
    """Its version in that run."""
    step: int | None = None


class FindingEvent(_Event, frozen=True, kw_only=True, tag="finding"):
    finding: Finding


class Dropped(_Event, frozen=True, kw_only=True, tag="dropped"):
    """Lost values: shown to the user, never hidden."""

    count: int
    """Number of values (points or media) lost since the last such event."""
    reason: str


class FaultNote(_Event, frozen=True, kw_only=True, tag="fault"):
    """An internal error that the fence caught."""

    where: str
    error: str
    traceback: str = ""


class WatchedSteps(msgspec.Struct, frozen=True, kw_only=True):
    """An interval of steps that was recorded in depth, and why."""

    first: int
    last: int
    steps: int = 0
    """Number of optimizer steps in it; 0 for an evaluation."""
    why: str = ""
    """the first steps; step 100; a loader's pass; the loss jumped from 1.2 to 9 at step 412; requested"""
    ended: str = ""
    """complete; the budget; the reason why nothing can be recorded in depth any more"""
    alarm: bool = False
    """Something looked wrong, or the user asked."""


class Unproven(msgspec.Struct, frozen=True, kw_only=True):
    """Rules that did not get the data they need."""

    need: str
    """steps, operations, loader, epoch, evaluation, files, ranks"""
    why: str
    rules: list[str] = []


class Coverage(_Event, frozen=True, kw_only=True, tag="coverage"):
    """Which steps of a training were recorded in depth; the rules saw only those."""

    steps: int
    """The total number of steps."""
    closely: list[tuple[int, int]] = []
    """First and last step of each interval, counted from 1."""
    windows: list[WatchedSteps] = []
    """The intervals one by one, including those without a step."""
    closed: str = ""
    """Why nothing could be recorded in depth from some step on: compiled code."""
    aside: dict[str, int] = {}
    """What Stepscope stepped aside for (tracing, export, modes of the script), and how often."""
    unproven: list[Unproven] = []
    """Rules that found nothing and could not have: their silence proves nothing."""


class RankJoined(_Event, frozen=True, kw_only=True, tag="rank_joined"):
    """In a node's log: a rank of the node writes a log of its own that stays there."""

    header: FileHeader


class RankSaid(_Event, frozen=True, kw_only=True, tag="rank_said"):
    """In a node's log: an event of such a rank."""

    log: str
    """The id of the rank's log: the part of its `file_id` before the first dot."""
    segment: int
    seq: int
    """Its place in the rank's log: an event that was passed on twice counts once."""
    content: bytes
    """The payload of its frame in the rank's log."""


class RankGone(_Event, frozen=True, kw_only=True, tag="rank_gone"):
    """In a node's log: the process of such a rank is gone without an end record."""

    log: str


class End(_Event, frozen=True, kw_only=True, tag="end"):
    """A process ended. Without this event a run is running, killed or lost, never finished."""

    status: Literal["finished", "stopped", "preempted", "failed"]
    exit_code: int | None = None
    error: str | None = None
    traceback: str | None = None


Event = (
    ConfigUpdate
    | SummaryUpdate
    | MetricRule
    | TagsChange
    | NotesChange
    | NameChange
    | Environment
    | Alert
    | Artifact
    | ArtifactUse
    | FindingEvent
    | Dropped
    | FaultNote
    | Coverage
    | RankJoined
    | RankSaid
    | RankGone
    | End
)
