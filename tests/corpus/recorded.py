"""Recordings of the corpus: one compressed file for each group of scripts, written by record.py, read by the tests.

A recording holds the tables that rules read and what was found live. It has no source: the script is beside it. Folders
of the machine that recorded it are given neutral names.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent
FOLDER = HERE / "recorded"
CORPUS = "/corpus"
"""The corpus's folder, as recordings call it."""
VERSIONS = FOLDER / "versions.json"
"""Of all tables, when it was recorded."""
SCRIPTS = FOLDER / "scripts.json"
"""What each script was when it was recorded, as the beginning of its SHA-256."""


class Found(msgspec.Struct, array_like=True, frozen=True):
    """What identifies a finding."""

    rule: str
    line: int | None
    file: str
    severity: str


class Recording(msgspec.Struct, array_like=True):
    """One script: the evidence of its processes, and what was found while it ran."""

    script: str
    found: list[Found]
    evidence: list[bytes]
    sources: list[str]
    """The files whose text it was judged by, under the corpus's folder."""
    others: dict[str, str]
    """The text of those that the script made itself."""


def pack(kept: dict[str, dict[str, Any]]) -> None:
    """Write the files of the groups that these belong to. Other scripts of a group stay as they were recorded."""
    FOLDER.mkdir(exist_ok=True)
    for name in sorted({script.split("/")[0] for script in kept}):
        before = recordings(name) if name in groups() else ()
        those = {one.script: one for one in before if (HERE / one.script).exists()}
        those |= {script: _recording(script, about) for script, about in kept.items() if script.split("/")[0] == name}
        data = lzma.compress(msgspec.msgpack.encode([those[script] for script in sorted(those)]), preset=9)
        (FOLDER / f"{name}.xz").write_bytes(data)
        print(f"{name:<12} {len(those):4} scripts  {len(data) / 1e3:7.0f} kB")
    known = json.loads(SCRIPTS.read_text()) if SCRIPTS.exists() else {}
    known = {script: was for script, was in known.items() if (HERE / script).exists()}
    known |= {script: digest(script) for script in kept}
    SCRIPTS.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n")
    if known.keys() <= kept.keys():
        VERSIONS.write_text(json.dumps(_versions(), indent=1) + "\n")


def digest(script: str) -> str:
    """Of a script as it is now."""
    return hashlib.sha256((HERE / script).read_bytes()).hexdigest()[:12]


def _versions() -> dict[str, int]:
    from stepscope.evidence.registry import tables

    return {name: table.version for name, table in tables().items()}


def stale() -> list[str]:
    """Tables and scripts that are not what they were when the corpus was recorded.

    A table that has come since is empty in older recordings: its rules are held to their own examples until then.
    """
    then, now = json.loads(VERSIONS.read_text()), _versions()
    scripts = json.loads(SCRIPTS.read_text())
    return [
        f"{script} has changed since it was recorded"
        for script, was in scripts.items()
        if not (HERE / script).exists() or digest(script) != was
    ] + [
        f"the table {name} had version {then.get(name)} when the corpus was recorded, and has {now.get(name)}"
        for name in sorted(then)
        if then[name] != now.get(name)
    ]


def _recording(script: str, about: dict[str, Any]) -> Recording:
    from stepscope.evidence.bundle import unpack
    from stepscope.evidence.codec import encode
    from stepscope.evidence.registry import records

    names = dict(sorted(about["roots"].items(), key=lambda pair: -len(pair[0])))

    def neutral(text: str) -> str:
        for root, name in names.items():
            text = text.replace(root, name)
        return text

    bundles = [unpack(bytes.fromhex(one)) for one in about["evidence"]]
    texts = {neutral(path): text for bundle in bundles for path, text in bundle.sources.items()}
    for bundle in bundles:
        bundle.sources = {}
    mine = sorted(path for path in texts if path.startswith(CORPUS + "/"))
    return Recording(
        script=script,
        found=sorted((_found(one, neutral) for one in about["findings"]), key=repr),
        evidence=[encode(bundle, records(), text=neutral) for bundle in bundles],
        sources=mine,
        others={path: text for path, text in texts.items() if path not in mine},
    )


def _found(finding: dict[str, Any], neutral: Any) -> Found:
    return Found(finding["rule"], finding["line"], neutral(finding["file"] or ""), finding["severity"])


def groups() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.xz"))


def recordings(group: str) -> Iterator[Recording]:
    """All of one group."""
    data = lzma.decompress((FOLDER / f"{group}.xz").read_bytes())
    yield from msgspec.msgpack.decode(data, type=list[Recording])


def replay(recording: Recording) -> tuple[list[Found], list[str]]:
    """What the rules of today find in it, and what could not be asked."""
    from stepscope.diagnose.rediagnose import found_together

    engines = _asked(recording)
    found = [Found(one.rule, one.line, one.file or "", one.severity) for one in found_together(engines)]
    return sorted(found, key=repr), sorted({rule for engine in engines for rule in engine.not_seen})


def findings(recording: Recording) -> list[Any]:
    """What the rules of today find in it, in full."""
    from stepscope.diagnose.rediagnose import found_together

    return found_together(_asked(recording))


def _asked(recording: Recording) -> list[Any]:
    from stepscope.diagnose.rediagnose import asked_again
    from stepscope.evidence.bundle import Bundle
    from stepscope.evidence.codec import decode
    from stepscope.evidence.registry import records, tables

    then = json.loads(VERSIONS.read_text())
    new = {name: table.kind for name, table in tables().items() if name not in then}
    here = {path: (HERE / os.path.relpath(path, CORPUS)).read_text() for path in recording.sources}
    engines = []
    for data in recording.evidence:
        bundle = decode(memoryview(data), records())
        assert isinstance(bundle, Bundle)
        bundle.sources = {**here, **recording.others}
        bundle.tables = {**{name: kind() for name, kind in new.items()}, **bundle.tables}
        engines.append(asked_again(bundle))
    return engines
