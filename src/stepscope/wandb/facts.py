"""The facts of a W&B run: names, paths, times. `handle.py` has the actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stepscope.wandb.wording import not_acted_on

if TYPE_CHECKING:
    from stepscope.track.run import Run as Recorded
    from stepscope.wandb.files import Files
    from stepscope.wandb.identity import Identity
    from stepscope.wandb.settings import Settings


class Facts:
    """A run's names and paths, as properties."""

    _run: Recorded
    _identity: Identity
    _settings: Settings
    _files: Files

    @property
    def id(self) -> str:
        return self._identity.id or self._run.id

    @property
    def name(self) -> str:
        return self._run.name

    @name.setter
    def name(self, name: str) -> None:
        self._run.name = name

    @property
    def notes(self) -> str | None:
        return self._run.notes or None

    @notes.setter
    def notes(self, notes: str) -> None:
        self._run.notes = notes

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in self._run.tags if not tag.startswith("job_type:"))

    @tags.setter
    def tags(self, tags: Sequence[str]) -> None:
        kept = [tag for tag in self._run.tags if tag.startswith("job_type:")]
        self._run.tags = [*([tags] if isinstance(tags, str) else tags), *kept]

    @property
    def project(self) -> str:
        return self._run.project

    def project_name(self) -> str:
        return self.project

    @property
    def entity(self) -> str:
        return self._identity.entity or ""

    @property
    def group(self) -> str:
        return self._run.group or ""

    @property
    def job_type(self) -> str:
        return self._identity.job_type or ""

    @property
    def sweep_id(self) -> str | None:
        return self._identity.sweep

    @property
    def path(self) -> str:
        """`project/id`, or with an entity before it: the argument of `wandb.Api().run`."""
        return "/".join(part for part in (self.entity, self.project, self.id) if part)

    @property
    def dir(self) -> str:
        """A folder for the script's own files; its contents at the end are stored with the run."""
        return str(self._files.folder)

    @property
    def sync_dir(self) -> str:
        return str(self._run.path or self._files.folder)

    @property
    def resumed(self) -> bool:
        return self._run.attempt > 0

    @property
    def offline(self) -> bool:
        return True

    @property
    def disabled(self) -> bool:
        return self._run.path is None

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def start_time(self) -> float:
        return self._run._meta.created

    @property
    def url(self) -> str | None:
        """None, as for every run that is not on a server; `stepscope ui` shows it."""
        return None

    project_url = url
    sweep_url = url

    def get_url(self) -> str | None:
        return None

    get_project_url = get_url
    get_sweep_url = get_url

    def status(self) -> Any:
        not_acted_on("Run.status()", "nothing is synced; the run is on disk")
        return None

    def display(self, height: int = 420, hidden: bool = False) -> bool:
        return False

    def to_html(self, height: int = 420, hidden: bool = False) -> str:
        return self._run._repr_html_()

    def _repr_html_(self) -> str:
        return self._run._repr_html_()
