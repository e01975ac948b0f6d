"""What an analysis is: a function of a trace (or of all ranks) that answers with one of the records of a profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope.common.folders import modules_in
from stepscope.errors import NotFound
from stepscope.records.profile import Curve, Sheet, Stack, StepParts

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile

Answer = Sheet | StepParts | Curve | Stack


@dataclass(frozen=True)
class Analysis:
    id: str
    view: str
    """The page of the browser app it stands on: overview, operators, kernels, modules, python, memory, data, ranks."""
    of: str
    run: Callable[..., Answer | None]

    @property
    def summary(self) -> str:
        return (self.run.__doc__ or "").strip().split("\n")[0]

    def __call__(self, profile: Profile, rank: int = 0) -> Answer | None:
        """The answer, or None when this profile has nothing for it."""
        if self.of == "ranks":
            return self.run(profile)
        if self.of == "profile":
            return self.run(profile, rank)
        trace = profile.trace(rank)
        return None if trace is None else self.run(trace)


_analyses: dict[str, Analysis] = {}


def analysis(id: str, *, view: str, of: str = "trace") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function an analysis.

        @analysis("operators", view="operators")
        def operators(trace: Trace) -> Sheet | None: ...

    `of`: "trace" gets the trace of one rank, "profile" the profile and a rank (for what is not in the trace),
    "ranks" the profile with all its ranks. None means: there is nothing of that in this profile.
    """

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        _analyses[id] = Analysis(id, view, of, run)
        return run

    return register


def all_analyses() -> dict[str, Analysis]:
    """Every analysis by its id."""
    modules_in("stepscope.profile.analyses")
    return dict(sorted(_analyses.items()))


def analysis_named(id: str) -> Analysis:
    known = all_analyses()
    if id not in known:
        raise NotFound(f"there is no analysis {id!r}; there are {', '.join(known)}")
    return known[id]
