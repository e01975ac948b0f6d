"""What every view receives: its runs and the server's permissions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from stepscope.runs.trash import KEPT_S
from stepscope.views.console.index import Consoles
from stepscope.views.media.projection_jobs import Projections
from stepscope.views.profile.open_profiles import OpenProfiles
from stepscope.views.step.open_steps import OpenSteps

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.runs.catalogue.entry import RunEntry
    from stepscope.views.alert_log import AlertLog
    from stepscope.views.live import Hub
    from stepscope.views.open_runs import OpenRuns
    from stepscope.views.search_index import SearchIndex
    from stepscope.views.series import LineCache


class Links(Protocol):
    """See `server/artifact_links.py`."""

    def note(self, deadline: float) -> int: ...

    def around(self, run: str, may_see: Callable[[str], bool]) -> list[str]: ...

    def with_name(self, project: str, name: str) -> set[str]: ...


def _no_alerts() -> AlertLog:
    from stepscope.views.alert_log import AlertLog

    return AlertLog()


@dataclass
class Context:
    catalogue: Catalogue
    runs: OpenRuns
    """For reading a run's content beyond its catalog entry."""
    lines: LineCache
    hub: Hub
    read_only: bool = False
    """Whether the stores are read-only through this server."""
    user: str = ""
    """The user's name; empty in the single-user app."""
    sees: Callable[[str], bool] = lambda project: True
    """Whether the user may see a project (or change it, for a view that changes something)."""
    trash_days: Callable[[str], float] = lambda project: KEPT_S / 86400
    """How long the deleted runs of a project can be restored."""
    edited: Callable[[Collection[str]], None] = lambda runs: None
    """Called with the runs that a view has changed, deleted or restored, so that the next answer shows it."""
    colors: Callable[[Collection[RunEntry]], dict[str, int]] | None = None
    """The hues of runs where a team's server keeps them; `hues_of(ctx, entries)` asks it."""
    links: Links | None = None
    """Which runs have to do with which artifact, where a team's server keeps that."""
    profiles: OpenProfiles = field(default_factory=OpenProfiles)
    """Recently used profiles; `profile_of(ctx, run, id)` opens one."""
    alerts: AlertLog = field(default_factory=_no_alerts)
    """Notices sent about runs."""
    outlets: tuple[str, ...] = ()
    """Channels for notices besides the page."""
    search: SearchIndex | None = None
    """The search index; `index_of(ctx)` creates it."""
    consoles: Consoles = field(default_factory=Consoles)
    """Console indexes of recently viewed runs; `consoles.of(folder)` returns one."""
    steps: OpenSteps = field(default_factory=OpenSteps)
    """Recently used recorded steps; `steps.get(folder, key, step)` opens one."""
    projections: Projections = field(default_factory=Projections)
    """Embedding projections, running or recent."""
