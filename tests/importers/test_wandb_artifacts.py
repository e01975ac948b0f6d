"""W&B's artifacts: a file comes in when it is there and is the one that was logged."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from stepscope.eventfiles.wire import put_bytes, put_int, put_text
from stepscope.importers.foreign import Bundle
from stepscope.importers.wandb.artifacts import Artifacts


def entry(path: str, content: bytes, local: str = "", ref: str = "") -> bytes:
    digest = base64.b64encode(hashlib.md5(content).digest()).decode()
    texts = {1: path, 2: digest, 3: ref, 6: local}
    return b"".join(put_text(number, text) for number, text in texts.items() if text) + put_int(4, len(content))


def logged(*entries: bytes, kind: str = "model", alias: str = "latest") -> bytes:
    manifest = b"".join(put_bytes(4, one) for one in entries)
    metadata = put_bytes(8, b'{"epochs": 3}')
    return (
        put_text(4, kind)
        + put_text(5, "net")
        + put_text(7, "words")
        + metadata
        + put_text(11, alias)
        + put_bytes(12, manifest)
    )


def taken(artifacts: Artifacts, body: bytes) -> Bundle:
    made = artifacts.of(body, 5.0, 2)
    assert made is not None
    return made


def test_a_staged_file_comes_in_and_versions_count_contents(tmp_path: Path) -> None:
    staged = tmp_path / "staged"
    staged.write_bytes(b"one")
    artifacts = Artifacts(tmp_path / "files")
    first = taken(artifacts, logged(entry("w.pt", b"one", str(staged))))
    again = taken(artifacts, logged(entry("w.pt", b"one", str(staged)), alias="best"))
    staged.write_bytes(b"two")
    second = taken(artifacts, logged(entry("w.pt", b"two", str(staged))))
    sha256 = hashlib.sha256(b"one").hexdigest()
    assert first.files == {sha256: staged}
    (file,) = first.artifact.files
    assert (file.path, file.sha256, file.size, file.reference) == ("w.pt", sha256, 3, None)
    assert [one.artifact.version for one in (first, again, second)] == [0, 0, 1]
    assert again.artifact.aliases == ["best"]
    assert first.artifact.metadata == {"description": "words", "epochs": 3}
    assert artifacts.lost == []


def test_what_is_gone_changed_or_elsewhere_stays_a_reference(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"not it")
    artifacts = Artifacts(tmp_path / "files")
    made = taken(
        artifacts,
        logged(
            entry("gone", b"x", "/nowhere/at/all"),
            entry("changed", b"no its", str(other)),
            entry("far", b"", ref="s3://bucket/far"),
            entry("odd", b"x", "a\0b"),
            entry("folder", b"", str(tmp_path)),
        ),
    )
    assert made.files == {}
    assert [file.reference for file in made.artifact.files] == [
        "/nowhere/at/all", str(other), "s3://bucket/far", "a\0b", str(tmp_path),
    ]  # fmt: skip
    assert artifacts.lost == ["artifact 'net': 'gone' and 3 more not here, or too large; stored as references"]


def test_what_wandb_makes_for_itself_is_left_out(tmp_path: Path) -> None:
    assert Artifacts(tmp_path).of(logged(kind="wandb-history"), 0.0, 0) is None
    assert Artifacts(tmp_path).of(logged(kind="job"), 0.0, 0) is None
