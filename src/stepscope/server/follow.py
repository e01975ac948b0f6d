"""Folders of other tools and runs of a server, opened as if they were ours: read into the user's cache and followed.

The other tool's folder is only read. The page opens at once; runs appear as they come in.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import Conflict, StepscopeError, StorageError
from stepscope.fence import fenced
from stepscope.runs.catalogue.discover import find_run_folders
from stepscope.runs.catalogue.index import cache_folder
from stepscope.server.mirror import Mirror, is_address

if TYPE_CHECKING:
    from stepscope.importers.foreign import Source
    from stepscope.importers.import_writer import Landing

log = logging.getLogger("stepscope.server")

LOOK_S = 1.0
BUSY_S = 5.0
"""How long to wait when another process imports the same folder: its work is ours too."""
_NAMES = {"tensorboard": "TensorBoard", "wandb": "W&B", "mlflow": "MLflow", "trackio": "trackio", "aim": "Aim"}


def imported_store(source: Source) -> Path:
    """Where a folder's runs are kept for the page: in the cache, by the folder's own path and the name it was given."""
    named = getattr(source, "name", "")
    key = sha256(f"{source.kind}:{source.path.resolve()}:{named}".encode()).hexdigest()[:16]
    return cache_folder() / "imported" / f"{source.kind}-{key}"


@contextmanager
def followed_stores(dirs: Sequence[str | Path], say: Callable[[str], object] | None = None) -> Iterator[list[Path]]:
    """The stores to serve: Stepscope's folders as they are, for each folder of another tool its import, for each
    server's address a copy of its runs."""
    stores: list[Path] = []
    sources: list[Source] = []
    mirrors: list[Mirror] = []
    for place in dirs:
        if is_address(place):
            mirrors.append(Mirror(str(place)))
            stores.append(_made(mirrors[-1].store))
            if say is not None:
                say(f"Runs of {mirrors[-1].url} are read into {mirrors[-1].store} and followed.")
            continue
        found = _foreign(place)
        if not found:
            stores.append(Path(place))
        for source in found:
            sources.append(source)
            stores.append(_made(imported_store(source)))
            if say is not None:
                name = _NAMES.get(source.kind, source.kind)
                say(f"{source.path} holds runs of {name}: they are read into your cache and followed.")
    followers: list[_Follower | Mirror] = [_Follower(sources), *mirrors]
    for one in followers:
        one.start()
    try:
        yield list(dict.fromkeys(stores))
    finally:
        for one in followers:
            one.stop()


def _made(store: Path) -> Path:
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise StorageError(
            f"{store} cannot be made ({fault.strerror}); name a folder for caches in $STEPSCOPE_CACHE, "
            "or bring the runs into a store with `stepscope import`"
        ) from fault
    return store


def _foreign(place: str | Path) -> list[Source]:
    """The other tools' runs in a folder without Stepscope runs."""
    path = Path(place).expanduser()
    if path.exists():
        if path.is_dir() and next(islice(find_run_folders(path), 1), None) is not None:
            return []
        from stepscope.importers.detect import sources_in

        return list(sources_in(path))
    if ":" in str(place) or "," in str(place):
        from stepscope.importers.tensorboard import named_folders

        if named_folders(str(place)) is not None:
            from stepscope.importers.detect import find_sources

            return find_sources(str(place))
    return []


class _Follower:
    """The thread that brings in what is new."""

    def __init__(self, sources: list[Source]) -> None:
        self._sources = sources
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self._sources:
            run = fenced("following other tools' folders")(self._run)
            self._thread = threading.Thread(target=run, name="stepscope-follow", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(30)
            self._thread = None

    def _run(self) -> None:
        from stepscope.importers.import_writer import Landing

        landings = [Landing(source, imported_store(source)) for source in self._sources]
        waits = dict.fromkeys(landings, 0.0)
        told: set[str] = set()
        clock = 0.0
        while not self._stopping.is_set():
            for landing in landings:
                if clock >= waits[landing] and not self._stopping.is_set():
                    waits[landing] = clock + self._look(landing, told)
            self._stopping.wait(LOOK_S)
            clock += LOOK_S
        for landing in landings:
            landing.close()

    def _look(self, landing: Landing, told: set[str]) -> float:
        """Look once; how long to rest after it."""
        try:
            landed = landing.look(follow=True, stop=self._stopping.is_set)
        except Conflict:
            return BUSY_S
        except (StepscopeError, OSError) as error:
            self._tell(f"cannot read {landing.source.path}: {error}", told)
            return BUSY_S
        for trouble in landed.troubles:
            self._tell(trouble, told)
        return LOOK_S

    def _tell(self, what: str, told: set[str]) -> None:
        if what not in told:
            told.add(what)
            log.warning("%s", what)
