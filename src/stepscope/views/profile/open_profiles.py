"""Profiles that stay open: their tables, the analyses' results, and what views derived from them."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from stepscope.errors import BadData, NotFound, StepscopeError
from stepscope.profile.profile import PROFILES, Profile
from stepscope.profile.store import is_profile_folder
from stepscope.profile.trace.cache import SUFFIX

if TYPE_CHECKING:
    from stepscope.profile.analyses.analysis import Answer
    from stepscope.views.context import Context

T = TypeVar("T")
log = logging.getLogger("stepscope.views")

MOST_PROFILES = 8
MOST_BYTES = 256 << 20
"""Maximum size of the files of open profiles; in memory they take a few times that."""

FROM_DATA = (ValueError, LookupError, TypeError, ArithmeticError, AttributeError, MemoryError, OSError)
"""Exceptions that reading an unexpected trace may raise. One failing analysis must not break the
page."""

Fingerprint = tuple[tuple[str, int, int], ...]


class Failed(msgspec.Struct, frozen=True):
    """In place of a result: why there is none."""

    why: str


class OpenProfile:
    """One profile and everything computed from it. Thread-safe."""

    def __init__(self, profile: Profile, size: int) -> None:
        self.profile = profile
        self.size = size
        self._lock = threading.RLock()
        self._kept: dict[Hashable, Any] = {}

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, cached as long as the profile is open; one thread computes, the others wait."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            found: T = self._kept[key]
            return found

    def alone(self) -> threading.RLock:
        """For `with`: nobody else reads the profile meanwhile. It reads its events when they are first asked for."""
        return self._lock

    def rank(self, rank: int | None) -> int:
        """The requested rank, if the profile has it; None for its first."""
        ranks = self.profile.ranks
        if rank is None:
            return ranks[0]
        if rank not in ranks:
            raise NotFound(f"the profile has no rank {rank}; it has {', '.join(map(str, ranks[:20]))}")
        return rank

    def answer(self, id: str, rank: int) -> Answer | Failed | None:
        """The result of an analysis for a rank; `Failed` if the data is damaged, None if it has no data."""
        from stepscope.profile.analyses.analysis import analysis_named

        found = analysis_named(id)
        if found.of == "ranks":
            rank = self.profile.ranks[0]
        return self.keep(("answer", id, rank), lambda: guarded(f"the analysis {id}", lambda: found(self.profile, rank)))


def guarded(what: str, make: Callable[[], T]) -> T | Failed:
    """The result of `make`, or why the profile's data did not allow it."""
    try:
        return make()
    except StepscopeError as fault:
        return Failed(str(fault))
    except FROM_DATA as fault:
        log.warning("%s could not be made", what, exc_info=True)
        return Failed(f"{what} cannot read this profile ({type(fault).__name__}: {fault})"[:500])


class OpenProfiles:
    """Opens profile folders and caches the most recently used; a changed folder is reopened."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: OrderedDict[Path, tuple[Fingerprint, OpenProfile]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def get(self, folder: Path) -> OpenProfile:
        """The profile in this folder, up to date."""
        seen = _fingerprint(folder)
        with self._lock:
            known = self._open.get(folder)
            if known is not None and known[0] == seen:
                self._open.move_to_end(folder)
                return known[1]
        profile = Profile.load(folder)
        for file in profile.meta.files:
            if profile.path(file).is_symlink():
                raise BadData(f"{file.name} of the profile is a symbolic link; only plain files in its folder are read")
        made = OpenProfile(profile, sum(size for _, _, size in seen))
        with self._lock:
            self._open[folder] = (seen, made)
            self._open.move_to_end(folder)
            while len(self._open) > 1 and (
                len(self._open) > MOST_PROFILES or sum(one.size for _, one in self._open.values()) > MOST_BYTES
            ):
                self._open.popitem(last=False)
        return made


def _fingerprint(folder: Path) -> Fingerprint:
    try:
        # a trace's column cache appears because we read the trace: that is not a change of the profile
        files = [(path.name, path.lstat()) for path in folder.iterdir() if path.suffix != SUFFIX]
    except FileNotFoundError:
        raise NotFound(f"the profile {folder.name!r} no longer exists; reload the page") from None
    except OSError as fault:
        raise BadData(f"the profile {folder.name!r} cannot be read: {fault}") from None
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in files))


def profiles_folder(ctx: Context, run: str) -> Path:
    """The folder of a run's profiles; never outside the run's folder."""
    inside = ctx.runs.get(run).path
    folder = inside / PROFILES
    if folder.is_symlink():
        raise BadData(
            f"the folder {PROFILES} of the run is a symbolic link; only plain folders in the run's folder are read"
        )
    return folder


def profile_of(ctx: Context, run: str, profile: str) -> OpenProfile:
    """A profile of a run, by their ids."""
    folder = profiles_folder(ctx, run) / profile
    if Path(profile).name != profile or not is_profile_folder(folder):
        raise NotFound(f"the run has no profile {profile[:100]!r}; reload the page")
    return ctx.profiles.get(folder)
