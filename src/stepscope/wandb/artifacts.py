"""`wandb.Artifact`: named, versioned sets of files, collected first and stored with a run when logged."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from stepscope.runs.artifacts import check_inner_path, digest_of, restore
from stepscope.track.artifacts import Noted, described
from stepscope.wandb import artifact_lookup
from stepscope.wandb.artifact_values import entries_of, value_from
from stepscope.wandb.errors import UsageError
from stepscope.wandb.open_runs import the_run
from stepscope.wandb.util import make_artifact_name_safe as _safe
from stepscope.wandb.wording import instead_of, not_acted_on


@dataclass(frozen=True)
class Entry:
    """One file of an artifact."""

    artifact: Artifact
    path: str
    size: int = 0
    digest: str = ""
    ref: str | None = None

    @property
    def name(self) -> str:
        return self.path

    def download(self, root: str | os.PathLike[str] | None = None, **_: Any) -> str:
        return str(Path(self.artifact.download(root)) / self.path)

    def ref_target(self) -> str:
        return self.ref or ""


@dataclass(frozen=True)
class Manifest:
    entries: dict[str, Entry]


class Artifact:
    """Files that belong together: `artifact.add_file("model.pt"); run.log_artifact(artifact, aliases=["best"])`."""

    def __init__(
        self,
        name: str,
        type: str,
        description: str | None = None,
        metadata: dict[str, Any] | None = None,
        incremental: bool = False,
        use_as: str | None = None,
        storage_region: str | None = None,
        digest_algorithm: str = "MD5",
    ) -> None:
        if not name or any(letter in name for letter in "/:\\\0"):
            raise ValueError(f"artifact name {name!r} cannot be used; expected letters, digits, '-', '_' and '.'")
        self._base = name
        self.type = type
        self.description = description
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.tags: list[str] = []
        self.ttl: Any = None
        self._aliases: list[str] = []
        self._pieces: dict[str, Path | bytes | Noted] = {}
        self._staging: Path | None = None
        self._kept: artifact_lookup.Kept | None = None

    # -- gathering --------------------------------------------------------------------------------------------------

    def add_file(
        self,
        local_path: str | os.PathLike[str],
        name: str | None = None,
        is_tmp: bool | None = False,
        skip_cache: bool | None = False,
        policy: str | None = "mutable",
        overwrite: bool = False,
    ) -> Entry:
        """Add a file as it is now; with policy="immutable" it is not copied before the artifact is logged."""
        path = Path(local_path)
        if not path.is_file():
            raise ValueError(f"Path is not a file: {os.fspath(local_path)!r}")
        return self._add(name or path.name, path if policy == "immutable" else self._copied(path), overwrite=True)

    def add_dir(
        self,
        local_path: str | os.PathLike[str],
        name: str | None = None,
        skip_cache: bool | None = False,
        policy: str | None = "mutable",
        merge: bool = False,
    ) -> None:
        """Add everything in a folder."""
        root = Path(local_path)
        if not root.is_dir():
            raise ValueError(f"Path is not a directory: {os.fspath(local_path)!r}")
        for path in sorted(path for path in root.rglob("*") if path.is_file()):
            inner = path.relative_to(root).as_posix()
            self.add_file(path, f"{name.rstrip('/')}/{inner}" if name else inner, policy=policy)

    def add_reference(
        self, uri: Any, name: Any = None, checksum: bool = True, max_objects: int | None = None
    ) -> Sequence[Entry]:
        """Record a location; it is neither fetched nor copied."""
        where = str(uri.ref or uri.path) if isinstance(uri, Entry) else str(uri)
        inner = str(name) if name else where.rstrip("/").rpartition("/")[2] or "reference"
        return [self._add(inner, Noted(where), overwrite=True)]

    @contextmanager
    def new_file(
        self, name: str, mode: str = "x", encoding: str | None = None, policy: str = "mutable"
    ) -> Iterator[Any]:
        """A new file of the artifact, open for writing."""
        check_inner_path(str(name))
        path = self._folder() / f"{len(self._pieces)}-{Path(name).name}"
        with open(path, mode.replace("x", "w"), encoding=encoding) as stream:
            yield stream
        self._add(str(name), path, overwrite="x" not in mode)

    def add(self, obj: Any, name: str | os.PathLike[str], overwrite: bool = False) -> Entry:
        """Add a table, an image or another loggable value; `get(name)` returns it."""
        added = [self._add(inner, data, overwrite) for inner, data in entries_of(obj, os.fspath(name)).items()]
        return added[0]

    def remove(self, item: Any) -> None:
        """Remove a file."""
        self._check_draft()
        path = item.path if isinstance(item, Entry) else os.fspath(item)
        if path not in self._pieces:
            raise FileNotFoundError(f"artifact '{self._base}' has no file {path!r}; its manifest lists them")
        del self._pieces[path]

    def _add(self, inner: str, content: Path | bytes | Noted, overwrite: bool) -> Entry:
        self._check_draft()
        check_inner_path(inner)
        if inner in self._pieces and not overwrite:
            raise ValueError(f"artifact '{self._base}' already has a file {inner!r}; pass overwrite=True")
        self._pieces[inner] = content
        return self._entry(inner, content)

    def _check_draft(self) -> None:
        if self._kept is not None:
            raise UsageError(f"artifact '{self._base}' is already logged; create a new wandb.Artifact with that name")

    def _folder(self) -> Path:
        if self._staging is None:
            self._staging = Path(tempfile.mkdtemp(prefix="stepscope-artifact-"))
            weakref.finalize(self, shutil.rmtree, self._staging, ignore_errors=True)
        return self._staging

    def _copied(self, path: Path) -> Path:
        return Path(shutil.copyfile(path, self._folder() / f"{len(self._pieces)}-{path.name}"))

    # -- properties
    # -----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._base if self._kept is None else f"{self._base}:{self.version}"

    @property
    def version(self) -> str:
        one = self._logged("version")
        return f"v{artifact_lookup.version_of(artifact_lookup.all_kept(one.run.parent, one.project), one)}"

    @property
    def aliases(self) -> list[str]:
        return list(self._aliases)

    @aliases.setter
    def aliases(self, aliases: Sequence[str]) -> None:
        if self._kept is not None:
            not_acted_on("Artifact.aliases", "log it again with aliases=; the newest with an alias has it")
        self._aliases = list(aliases)

    @property
    def digest(self) -> str:
        """One hash over its files; before it is logged, over what was added so far."""
        if self._kept is not None:
            return self._kept.record.digest
        return digest_of(described(inner, content) for inner, content in self._pieces.items())

    @property
    def state(self) -> str:
        return "PENDING" if self._kept is None else "COMMITTED"

    def is_draft(self) -> bool:
        return self._kept is None

    @property
    def project(self) -> str:
        return self._logged("project").project

    @property
    def qualified_name(self) -> str:
        return f"{self.project}/{self.name}"

    source_name = name
    source_version = version

    @property
    def id(self) -> str | None:
        return None if self._kept is None else self._kept.record.digest

    @property
    def created_at(self) -> str:
        from datetime import datetime, timezone

        return datetime.fromtimestamp(self._logged("created_at").record.time, timezone.utc).isoformat()

    @property
    def manifest(self) -> Manifest:
        if self._kept is None:
            return Manifest({inner: self._entry(inner, content) for inner, content in self._pieces.items()})
        files = self._kept.record.files
        return Manifest({f.path: Entry(self, f.path, f.size, f.sha256, f.reference) for f in files})

    def _entry(self, inner: str, content: Path | bytes | Noted) -> Entry:
        if isinstance(content, Noted):
            return Entry(self, inner, ref=str(content))
        return Entry(self, inner, len(content) if isinstance(content, bytes) else content.stat().st_size)

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.manifest.entries.values())

    @property
    def file_count(self) -> int:
        return len(self.manifest.entries)

    @property
    def only_file(self) -> str | None:
        """The path of its file, if it has just one."""
        files = list(self.manifest.entries)
        return files[0] if len(files) == 1 else None

    def files(self, names: list[str] | None = None, per_page: int = 50, start: str | None = None) -> list[Entry]:
        return [entry for path, entry in self.manifest.entries.items() if names is None or path in names]

    def wait(self, timeout: int | None = None) -> Artifact:
        """Nothing to wait for: it is stored when `log_artifact` returns."""
        return self

    def finalize(self) -> None:
        """Nothing to do: logging makes it final."""

    def logged_by(self) -> Any:
        from stepscope.wandb.public import PublicRun

        return PublicRun(self._logged("logged_by()").run)

    def used_by(self) -> list[Any]:
        not_acted_on("Artifact.used_by()", "which runs used an artifact is not recorded")
        return []

    def save(self, project: str | None = None, settings: Any = None) -> None:
        """Store it with the open run."""
        the_run("Artifact.save()").log_artifact(self)

    def link(self, target_path: str, aliases: Sequence[str] | None = None) -> Artifact:
        return the_run("Artifact.link()").link_artifact(self, target_path, list(aliases or ()))

    def delete(self, delete_aliases: bool = False) -> None:
        not_acted_on("Artifact.delete()", "an artifact is deleted with its run: stepscope delete RUN")

    # -- getting it back --------------------------------------------------------------------------------------------

    def download(
        self,
        root: str | os.PathLike[str] | None = None,
        allow_missing_references: bool = False,
        skip_cache: bool | None = None,
        path_prefix: str | os.PathLike[str] | None = None,
        multipart: bool | None = None,
    ) -> str:
        """Write its files to a folder, each checked against its hash; returns the folder's path."""
        one = self._logged("download()")
        # The name is untrusted: it must not lead out of the folder.
        folder = Path(root) if root is not None else Path("artifacts") / f"{_safe(self._base)}:{self.version}"
        prefix = "" if path_prefix is None else os.fspath(path_prefix)
        files = [file for file in one.record.files if file.path.startswith(prefix)]
        restore(one.run, msgspec.structs.replace(one.record, files=files), folder, overwrite=True)
        for file in files:
            _fetch_noted(file, folder)
        return os.path.abspath(folder)

    checkout = download

    def file(self, root: str | os.PathLike[str] | None = None) -> str:
        """The path of its only file, written out."""
        if self.only_file is None:
            raise ValueError(f"artifact '{self._base}' has {self.file_count} files; use download() and pick one")
        return str(Path(self.download(root)) / self.only_file)

    def get_entry(self, name: str | os.PathLike[str]) -> Entry:
        entries = self.manifest.entries
        path = os.fspath(name)
        if path not in entries:
            raise KeyError(f"artifact '{self._base}' has no file {path!r}; it has {', '.join(list(entries)[:20])}")
        return entries[path]

    get_path = get_entry

    def get(self, name: str) -> Any:
        """The table or image that was added under a name, or None."""
        return value_from(Path(self.download()), name)

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def __setitem__(self, name: str, obj: Any) -> None:
        self.add(obj, name)

    def verify(self, root: str | os.PathLike[str] | None = None) -> None:
        """Raise if a file is missing or damaged: each is checked against its hash when it is written."""
        with tempfile.TemporaryDirectory(prefix="stepscope-") as folder:
            self.download(folder)

    def _logged(self, what: str) -> artifact_lookup.Kept:
        if self._kept is None:
            raise UsageError(f"Artifact.{what} is known once the artifact is logged: run.log_artifact(artifact)")
        return self._kept

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(instead_of(f"Artifact.{name}"))

    def __repr__(self) -> str:
        return f"<stepscope.wandb.Artifact {self._base!r}, type {self.type!r}, {self.state.lower()}>"


def _fetch_noted(file: Any, folder: Path) -> None:
    """A referenced local file is copied beside the rest; a remote one is not fetched."""
    where = file.reference or ""
    source = Path(where.removeprefix("file://"))
    if ("://" not in where or where.startswith("file://")) and source.is_file():
        target = folder / check_inner_path(file.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
