"""W&B artifacts: their files are imported if they are still on this disk and unchanged."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import msgspec

from stepscope.eventfiles.wire import pairs
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import open_file
from stepscope.importers.foreign import Bundle
from stepscope.importers.wandb.messages import message, text
from stepscope.records import Artifact, ArtifactFile
from stepscope.runs.artifacts import digest_of
from stepscope.track.secrets import mask_text

_ARTIFACT = {4: "type", 5: "name", 7: "description", 8: "metadata", 11: "aliases*", 12: "manifest"}
_ENTRY = {1: "path", 2: "digest", 3: "ref", 4: "size", 5: "mime", 6: "local"}
_INTERNAL = ("run_table", "wandb-history", "wandb-run-history", "job", "code")
_COPIED = 256 << 20
"""Larger files are not copied: importing a folder must not fill the disk."""


class Artifacts:
    """The artifacts of one run. Versions count its distinct contents of a name."""

    def __init__(self, files: Path) -> None:
        self._files = files
        self._versions: dict[str, dict[str, int]] = {}
        self.lost: list[str] = []

    def of(self, body: bytes, time: float, step: int) -> Bundle | None:
        """One artifact by its manifest; None for those that W&B creates for itself."""
        found = message(body, _ARTIFACT)
        kind = text(found.get("type"))
        if kind in _INTERNAL or kind.startswith("wandb-"):
            return None
        name = text(found.get("name"))[:200]
        listed = [each for number, each in pairs(found.get("manifest", b"")) if number == 4]
        entries = [message(each, _ENTRY) for each in listed if isinstance(each, bytes)]
        held = [(entry, self._held(entry)) for entry in entries]
        files = [_file(entry, there) for entry, there in held]
        self._tell(name, files)
        digest = digest_of(files)
        known = self._versions.setdefault(name, {})
        made = Artifact(
            time=time,
            name=name,
            type=kind,
            version=known.setdefault(digest, len(known)),
            digest=digest,
            files=files,
            aliases=[text(alias) for alias in found.get("aliases", [])],
            metadata=_metadata(found),
            step=step,
        )
        return Bundle(made, {there[1]: there[0] for _, there in held if there is not None})

    def _held(self, entry: dict[str, Any]) -> tuple[Path, str] | None:
        """The file of an entry and its SHA-256, if it is here unchanged, as proven by W&B's own checksum."""
        local = text(entry.get("local"))
        if not local or entry.get("ref") or not text(entry.get("digest")):
            return None
        beside = self._files / "artifacts" / text(entry.get("path"))
        for path in (Path(local), beside):
            try:
                # W&B names files anywhere on the machine. Only files with the checksum in the manifest are used, so a
                # manifest
                # from elsewhere gets nothing that its writer did not already have.
                if path.is_file() and path.stat().st_size == entry.get("size", 0) <= _COPIED:
                    md5, sha256 = _sums(path)
                    if md5 == text(entry.get("digest")):
                        return path, sha256
            except (OSError, ValueError):  # unreadable, or a name with a null byte
                continue
        return None

    def _tell(self, name: str, files: list[ArtifactFile]) -> None:
        gone = [file.path for file in files if not file.sha256 and "://" not in (file.reference or "")]
        if gone:
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            self.lost.append(f"artifact '{name}': '{gone[0]}'{more} not here, or too large; stored as references")


def _sums(path: Path) -> tuple[str, str]:
    """MD5 as W&B writes it, and SHA-256 as Stepscope does."""
    md5, sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
    with open_file(path) as stream:
        while chunk := stream.read(1 << 20):
            md5.update(chunk)
            sha256.update(chunk)
    return base64.b64encode(md5.digest()).decode(), sha256.hexdigest()


def _file(entry: dict[str, Any], there: tuple[Path, str] | None) -> ArtifactFile:
    size = entry.get("size", 0)
    reference = mask_text(text(entry.get("ref")) or text(entry.get("local")))
    return ArtifactFile(
        path=text(entry.get("path")),
        sha256="" if there is None else there[1],
        size=size if isinstance(size, int) else 0,
        mime=text(entry.get("mime")) or "application/octet-stream",
        reference=reference if there is None else None,
    )


def _metadata(found: dict[str, Any]) -> dict[str, Any]:
    try:
        metadata = msgspec.json.decode(found.get("metadata") or b"{}")
    except MALFORMED:
        metadata = {}
    metadata = metadata if isinstance(metadata, dict) else {}
    if found.get("description"):
        metadata = {"description": mask_text(text(found["description"])), **metadata}
    return metadata
