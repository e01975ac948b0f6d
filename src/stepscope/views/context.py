"""What every view is given: the runs it reads from and what this server may do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from stepscope.runs.trash import KEPT_S
from stepscope.views.console.index import Consoles
from stepscope.views.media.projection_jobs import Projections
from stepscope.views.profile.open_profiles import OpenProfiles
from stepscope.views.step.open_steps import OpenSteps

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.views.alert_log import AlertLog
    from stepscope.views.live import Hub
    from stepscope.views.open_runs import OpenRuns
    from stepscope.views.search_index import SearchIndex
    from stepscope.views.series import LineCache

__all__ = ["Context"]


def _no_alerts() -> AlertLog:
    from stepscope.views.alert_log import AlertLog

    return AlertLog()


@dataclass
class Context:
    catalogue: Catalogue
    runs: OpenRuns
    """To look into a run, beyond what the catalogue knows of it."""
    lines: LineCache
    hub: Hub
    read_only: bool = False
    """Nothing in the stores may be changed through this server."""
    user: str = ""
    """Who asks; empty in the app of one person, who has no name."""
    sees: Callable[[str], bool] = lambda project: True
    """Whether who asks may see a project (change it, for a view that changes something)."""
    trash_days: Callable[[str], float] = lambda project: KEPT_S / 86400
    """How long the deleted runs of a project can come back."""
    look: Callable[[], None] = lambda: None
    """Look at the stores now, because a view has changed something in them."""
    profiles: OpenProfiles = field(default_factory=OpenProfiles)
    """Profiles of runs that were looked at last; `profile_of(ctx, run, id)` opens one."""
    alerts: AlertLog = field(default_factory=_no_alerts)
    """What people were told about their runs."""
    outlets: tuple[str, ...] = ()
    """Where they are told besides the page."""
    search: SearchIndex | None = None
    """What searches have read so far; `index_of(ctx)` makes it."""
    consoles: Consoles = field(default_factory=Consoles)
    """The lines of runs whose console was looked at; `consoles.of(folder)` has those of one."""
    steps: OpenSteps = field(default_factory=OpenSteps)
    """Recorded steps that were looked at last; `steps.get(folder, key, step)` opens one."""
    projections: Projections = field(default_factory=Projections)
    """Embeddings that are being projected, or were not long ago."""
