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

from stepscope.evidence.bundle import Bundle, unpack
from stepscope.evidence.codec import decode, encode
from stepscope.evidence.registry import records, tables

HERE = Path(__file__).parent
FOLDER = HERE / "recorded"
CORPUS = "/corpus"
"""The corpus's folder, as recordings call it."""
SCRIPTS = FOLDER / "scripts.json"
"""What each script was when it was recorded, as the beginning of its SHA-256."""
SOMETIMES = frozenset({"crash"})
"""Tables that a process keeps only where there is something in them."""


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


def digest(script: str) -> str:
    """Of a script as it is now."""
    return hashlib.sha256((HERE / script).read_bytes()).hexdigest()[:12]


def stale() -> list[str]:
    """Scripts that are not what they were when they were recorded."""
    scripts = json.loads(SCRIPTS.read_text())
    return [
        f"{script} has changed since it was recorded"
        for script, was in scripts.items()
        if not (HERE / script).exists() or digest(script) != was
    ]


def bring_up_to_date(bundle: Bundle) -> list[str]:
    """Give a recorded process the tables of today; those that hold something of another version are named.

    A table that has come since is empty: its rules are held to their own examples until the script is recorded again.
    """
    old = []
    for name, table in tables().items():
        then = bundle.versions.get(name)
        if then == table.version or (then is None and name in SOMETIMES):
            continue
        empty = table.kind()
        if then is not None and _plain(bundle.tables[name]) != _plain(empty):
            old.append(f"{name} was recorded as version {then} and is {table.version}")
        bundle.tables[name] = empty
    return old


def _plain(table: object) -> bytes:
    return encode(table, records(), strict=False)


def _recording(script: str, about: dict[str, Any]) -> Recording:
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

    engines, old = _asked(recording)
    found = [Found(one.rule, one.line, one.file or "", one.severity) for one in found_together(engines)]
    not_seen = sorted({rule for engine in engines for rule in engine.not_seen})
    return sorted(found, key=repr), [*old, *(f"{rule} could not be asked" for rule in not_seen)]


def findings(recording: Recording) -> list[Any]:
    """What the rules of today find in it, in full."""
    from stepscope.diagnose.rediagnose import found_together

    return found_together(_asked(recording)[0])


def _asked(recording: Recording) -> tuple[list[Any], list[str]]:
    """An engine for each process, and the tables that are too old to ask."""
    from stepscope.diagnose.rediagnose import asked_again

    old: list[str] = []
    here = {path: (HERE / os.path.relpath(path, CORPUS)).read_text() for path in recording.sources}
    engines = []
    for data in recording.evidence:
        bundle = decode(memoryview(data), records())
        assert isinstance(bundle, Bundle)
        bundle.sources = {**here, **recording.others}
        old += bring_up_to_date(bundle)
        engines.append(asked_again(bundle))
    return engines, sorted(set(old))
