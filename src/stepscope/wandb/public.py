"""`wandb.Api()`: the runs of the local store, with the names of W&B's public API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from stepscope.errors import StepscopeError
from stepscope.runs.format.layout import run_folders
from stepscope.runs.read.folder import RunFolder, open_run
from stepscope.wandb import artifact_log, artifact_lookup, artifacts, filters
from stepscope.wandb.errors import CommError
from stepscope.wandb.history import names_of, rows_of, thinned
from stepscope.wandb.identity import find, read_identity
from stepscope.wandb.run_config import nested_config
from stepscope.wandb.settings import store_for
from stepscope.wandb.wording import instead_of, not_acted_on

if TYPE_CHECKING:
    from stepscope.wandb.public_sweep import PublicSweep

_STATES = {"stopped": "killed", "killed": "crashed", "lost": "crashed"}


class Api:
    """Runs, summaries and histories of a folder of runs: `wandb.Api().runs("project")`."""

    def __init__(
        self, overrides: Mapping[str, Any] | None = None, timeout: int | None = None, api_key: str | None = None
    ) -> None:
        self.settings = dict(overrides or {})
        self.store = Path(self.settings["dir"]) if "dir" in self.settings else store_for()

    default_entity = ""
    viewer = None

    def runs(
        self,
        path: str | None = None,
        filters: Mapping[str, Any] | None = None,
        order: str = "+created_at",
        per_page: int = 50,
        include_sweeps: bool = True,
        lazy: bool = True,
    ) -> Runs:
        """The runs of a project (`entity/project` or `project`), or of all; filtered and sorted as in W&B."""
        project = (path or "").strip("/").rpartition("/")[2] or self.settings.get("project")
        found = [run for run in self._all() if project in (None, "", run.project)]
        return Runs(found, filters or {}, order)

    def _all(self) -> Iterator[PublicRun]:
        for folder in run_folders(self.store):
            try:
                yield PublicRun(folder)
            except (StepscopeError, OSError):  # one damaged run must not hide the others
                continue

    def run(self, path: str = "") -> PublicRun:
        """One run by `entity/project/id`, `project/id`, its id or its name."""
        *above, last = path.strip("/").split("/")
        project = above[-1] if above else None
        folder = find(self.store, last, project) or find(self.store, last)
        if folder is not None:
            return PublicRun(folder)
        named = [run for run in self._all() if run.name == last and project in (None, run.project)]
        if not named:
            raise CommError(f"Could not find run {path!r} in {self.store}")
        return named[-1]

    def sweep(self, path: str = "") -> PublicSweep:
        """The sweep of `wandb.agent` with this id (`entity/project/id`, `project/id` or the id)."""
        from stepscope.wandb.public_sweep import PublicSweep

        id = path.strip("/").rpartition("/")[2]
        found = self.runs(filters={"sweep": id})
        if not found:
            raise CommError(f"Could not find sweep {path!r} in {self.store}")
        return PublicSweep(id, found)

    def artifact(self, name: str, type: str | None = None) -> artifacts.Artifact:
        """An artifact by `project/name:alias`."""
        return artifact_log.fetched(self.store, name, self.settings.get("project"), type)

    def artifact_exists(self, name: str, type: str | None = None) -> bool:
        try:
            self.artifact(name, type)
        except (CommError, ValueError):
            return False
        return True

    def artifacts(self, type_name: str, name: str, **_: Any) -> list[artifacts.Artifact]:
        """Everything logged under a name, newest first."""
        wanted = artifact_lookup.parse(name)
        found = artifact_lookup.all_kept(self.store, wanted.project or self.settings.get("project"))
        named = [each for each in found if each.record.name == wanted.name and each.record.type == type_name]
        return [artifact_log.from_kept(each) for each in reversed(named)]

    artifact_versions = artifacts

    def projects(self, entity: str | None = None, per_page: int = 200) -> list[Project]:
        return [Project(name) for name in sorted({run.project for run in self._all()})]

    def flush(self) -> None:
        """Nothing is cached: every query reads the store again."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(instead_of(f"Api.{name}"))


@dataclass(frozen=True)
class User:
    name: str

    @property
    def username(self) -> str:
        return self.name


class Project:
    def __init__(self, name: str) -> None:
        self.name = name
        self.entity = ""


class Runs(Sequence["PublicRun"]):
    """Some runs in some order."""

    def __init__(self, found: list[PublicRun], wanted: Mapping[str, Any], order: str) -> None:
        fitting = [run for run in found if filters.fits(run._look, wanted)]
        field, downwards = filters.order_key(order)
        known = [(value, run) for run in fitting if (value := run._look(field)) is not None]
        missing = [run for run in fitting if run._look(field) is None]
        known.sort(key=lambda pair: (isinstance(pair[0], str), pair[0]), reverse=downwards)
        self._runs = [run for _value, run in known] + missing

    def __len__(self) -> int:
        return len(self._runs)

    def by(self, order: str) -> Runs:
        """The same runs in another order."""
        return Runs(self._runs, {}, order)

    @overload
    def __getitem__(self, at: int) -> PublicRun: ...
    @overload
    def __getitem__(self, at: slice) -> list[PublicRun]: ...
    def __getitem__(self, at: int | slice) -> PublicRun | list[PublicRun]:
        return self._runs[at]

    def histories(self, samples: int = 500, keys: list[str] | None = None, **options: Any) -> Any:
        """All histories in one list, each row with its `run_id`."""
        return [{"run_id": run.id, **row} for run in self for row in run.history(samples, keys, pandas=False)]

    def __repr__(self) -> str:
        return f"<Runs {[run.name for run in self._runs[:20]]}>"


class PublicRun:
    """A recorded run: `.config`, `.summary`, `.history()`, `.scan_history()`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: RunFolder = open_run(folder)
        self._who = read_identity(folder)

    @property
    def id(self) -> str:
        return (self._who.id if self._who is not None else None) or self._read.id

    @property
    def name(self) -> str:
        return self._read.name

    display_name = name

    @property
    def project(self) -> str:
        return self._read.project

    @property
    def entity(self) -> str:
        return (self._who.entity if self._who is not None else None) or ""

    @property
    def path(self) -> list[str]:
        return [self.entity, self.project, self.id]

    @property
    def user(self) -> User:
        """Who started it, by the name of their account on that machine."""
        return User(self._read.meta.user)

    @property
    def group(self) -> str | None:
        return self._read.group

    @property
    def job_type(self) -> str | None:
        return self._who.job_type if self._who is not None else None

    jobType = job_type

    @property
    def sweep_name(self) -> str | None:
        return self._who.sweep if self._who is not None else None

    @property
    def tags(self) -> list[str]:
        return [tag for tag in self._read.tags if not tag.startswith("job_type:")]

    @property
    def notes(self) -> str:
        return self._read.notes

    @property
    def state(self) -> str:
        """running, finished, failed, crashed, killed or preempted."""
        return _STATES.get(self._read.status, self._read.status)

    @property
    def created_at(self) -> str:
        return datetime.fromtimestamp(self._read.created, timezone.utc).isoformat()

    @property
    def url(self) -> None:
        return None

    @property
    def config(self) -> dict[str, Any]:
        return nested_config(self._read.config)

    rawconfig = config

    @property
    def summary(self) -> RunSummary:
        """One value per series, and the values set by hand."""
        last = self.lastHistoryStep
        return RunSummary({**self._read.summary, "_runtime": self._read.duration_s, "_step": last})

    summary_metrics = summary

    @property
    def lastHistoryStep(self) -> int:
        steps = [self._read.metric_summary(name).last_step for name in names_of(self._read)]
        return max((step for step in steps if step is not None), default=-1)

    @property
    def metadata(self) -> dict[str, Any]:
        meta = self._read.meta
        return {"host": meta.host, "os": meta.platform, "python": meta.python, "program": meta.script, **meta.hardware}

    @property
    def system_metrics(self) -> dict[str, Any]:
        names = [name for name in self._read.metrics() if name.startswith("system/")]
        return {name.removeprefix("system/"): self._read.metric_summary(name).last for name in names}

    def history(
        self,
        samples: int = 500,
        keys: list[str] | None = None,
        x_axis: str = "_step",
        pandas: bool = True,
        stream: str = "default",
    ) -> Any:
        """Rows by step, at most `samples`: a DataFrame if pandas is installed, else a list of dicts."""
        system = stream in ("system", "systemMetrics", "events")
        rows = list(self._rows(keys, system))
        if x_axis not in ("_step", "_timestamp", "_runtime"):
            rows = [row for row in rows if x_axis in row]
        rows = thinned(rows, samples)
        if keys is not None:
            rows = [{key: row[key] for key in dict.fromkeys([x_axis, *keys])} for row in rows]
        if not pandas:
            return rows
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame.from_records(rows)

    def scan_history(
        self,
        keys: list[str] | None = None,
        page_size: int = 1000,
        min_step: int | None = None,
        max_step: int | None = None,
        use_cache: bool = True,
    ) -> Iterator[dict[str, Any]]:
        """Every row; with `keys`, only those that have all of them."""
        low, high = min_step or 0, max_step
        rows = (row for row in self._rows(keys) if row["_step"] >= low and (high is None or row["_step"] < high))
        return rows if keys is None else ({key: row[key] for key in keys} for row in rows)

    beta_scan_history = scan_history

    def _rows(self, keys: list[str] | None, system: bool = False) -> Iterator[dict[str, Any]]:
        known = [n for n in self._read.metrics() if n.startswith("system/")] if system else names_of(self._read)
        wanted = [name for name in known if keys is None or name in keys]
        for row in rows_of(self._read, wanted, system=system):
            if keys is None or all(key in row for key in keys):
                yield row

    def files(self, names: list[str] | None = None, pattern: str | None = None, per_page: int = 50) -> list[Any]:
        """The files that were stored with the run."""
        listed: dict[str, Any] = {}
        for artifact in self.logged_artifacts():
            listed.update(artifact.manifest.entries)
        return [entry for path, entry in listed.items() if names is None or path in names]

    def file(self, name: str) -> Any:
        found = self.files([name])
        if not found:
            raise CommError(f"run {self.name!r} has no file {name!r}")
        return found[0]

    def logged_artifacts(self, per_page: int = 100) -> list[artifacts.Artifact]:
        return [
            artifact_log.from_kept(artifact_lookup.Kept(self.folder, self.project, each))
            for each in self._read.artifacts
        ]

    def used_artifacts(self, per_page: int = 100) -> list[artifacts.Artifact]:
        not_acted_on("Api.run.used_artifacts()", "which artifacts a run used is not recorded")
        return []

    def load(self, force: bool = False) -> dict[str, Any]:
        """Read what was written since."""
        self._read.refresh()
        return {}

    load_full_data = load

    def wait_until_finished(self) -> None:
        import time

        while self._read.status == "running":
            time.sleep(1.0)
            self._read.refresh()

    def update(self) -> None:
        not_acted_on("Api.run.update()", "change name, tags and notes with: stepscope edit RUN")

    def delete(self, delete_artifacts: bool = False) -> None:
        not_acted_on("Api.run.delete()", "move a run to the trash with: stepscope delete RUN")

    def _look(self, name: str) -> Any:
        """A field of a filter or an order."""
        for prefix in ("config.", "summary_metrics.", "summary."):
            if name.startswith(prefix):
                return _inside(self.config if prefix == "config." else self.summary, name[len(prefix) :])
        fields = {"display_name": "name", "displayName": "name", "createdAt": "created_at", "jobType": "job_type"}
        fields |= {"username": "entity", "sweep": "sweep_name", "heartbeat_at": "created_at"}
        value = getattr(self, fields.get(name, name), None)
        return None if callable(value) else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(instead_of(f"Api.run.{name}"))

    def __repr__(self) -> str:
        return f"<Run {'/'.join(part for part in self.path if part)} ({self.state})>"


class RunSummary(dict[str, Any]):
    """A summary as a dict, with the attribute that scripts use to get one."""

    @property
    def _json_dict(self) -> dict[str, Any]:
        return dict(self)


def _inside(tree: Mapping[str, Any], name: str) -> Any:
    """`opt.lr` of nested settings; W&B also writes `opt.value.lr`."""
    if name in tree:
        return tree[name]
    value: Any = tree
    for part in name.split("."):
        if part == "value" and not (isinstance(value, Mapping) and part in value):
            continue
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
