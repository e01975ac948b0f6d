"""Runs that earlier versions have written are read as they always were (RELIABILITY 35).

`tests/samples/<version>/` holds run folders, written by `make.py` when that version was made and never changed since;
`<version>.json` is what a reader says about them; `pytest tests/test_samples.py --renew` writes it anew.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.export.as_json import jsonable
from stepscope.runs.artifacts import choose, restore
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.runs.compact.compact import compact
from stepscope.runs.read.folder import RunFolder
from stepscope.runs.read.status import Machine

SAMPLES = Path(__file__).parent / "samples"
VERSIONS = sorted(path.stem for path in SAMPLES.glob("*.json") if path.with_suffix("").is_dir())
"""Each with what it must read as beside it; samples of traces and profiles have tests of their own."""
LATER = Machine("sample-host", "another boot", lambda: 4e9, lambda pid: None)


def described(path: Path) -> dict[str, Any]:
    """All that a reader has to say about a run, as JSON has it."""
    run = RunFolder(path, machine=LATER)
    series = [
        (name, rank, run.series(name, rank, superseded=True))
        for name in run.metrics()
        for rank in run.ranks
        if rank in run._names()[name]
    ]
    return jsonable(
        {
            "meta": msgspec.to_builtins(run.meta),
            "now": [run.name, run.tags, run.notes, run.config, run.summary],
            "standing": [run.status, run.status_detail.partition(";")[0], run.ended, run.standing.exit_code],
            "attempts": [(one.attempt, one.rank, one.status, one.first_step) for one in run.attempts],
            "series": {
                f"{name} of rank {rank}": {
                    "steps": one.steps.tolist(),
                    "times": one.times.tolist(),
                    "values": [float(value).hex() for value in one.values],
                    "exact": {str(at): str(number) for at, number in (one.exact or {}).items()},
                    "superseded": [] if one.superseded is None else one.superseded.nonzero()[0].tolist(),
                }
                for name, rank, one in series
            },
            "summaries": {name: _rounded(msgspec.to_builtins(one)) for name, one in run.summaries().items()},
            "media": [
                [one.key, one.step, one.kind, one.mime, one.meta, hashlib.sha256(run.media_bytes(one)).hexdigest()]
                for one in run.media()
            ],
            "artifacts": msgspec.to_builtins(run.artifacts),
            "alerts": msgspec.to_builtins(run.alerts),
            "faults": msgspec.to_builtins(run.faults),
            "console": [piece.text for piece in run.console()],
            "damage": [run.holes, run.damage.torn_bytes, run.damage.unknown_frames, run.damage.nameless_rows],
        }
    )


def _rounded(summary: dict[str, Any]) -> dict[str, Any]:
    """A mean is a sum, and sums differ in their last bits from one numpy to the next."""
    return {key: float(f"{value:.9g}") if isinstance(value, float) else value for key, value in summary.items()}


def all_described(version: str) -> dict[str, Any]:
    found = {}
    for path in sorted(SAMPLES.joinpath(version).iterdir()):
        about = described(path)
        found[about["now"][0]] = about
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_every_sample_reads_as_it_always_did(version: str, request: pytest.FixtureRequest) -> None:
    golden = SAMPLES / f"{version}.json"
    found = json.loads(json.dumps(all_described(version)))
    if request.config.getoption("--renew"):
        golden.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert found == json.loads(golden.read_text())


@pytest.mark.parametrize("version", VERSIONS)
def test_every_sample_is_listed_restored_and_compacted_into_the_same(version: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    shutil.copytree(SAMPLES / version, store)
    expected = all_described(version)
    with Catalogue(store, index=Index(tmp_path / "cache")) as catalogue:
        assert sorted(entry.name for entry in catalogue.entries()) == sorted(expected)
        assert catalogue.problems == {}
    for path in store.iterdir():
        run = RunFolder(path)
        if run.artifacts:
            restore(path, choose(run.artifacts, "bundle:best"), tmp_path / "out")
            assert (tmp_path / "out" / "note.txt").read_bytes() == b"hi"
        compact(path, gone=True)
        again = described(path)
        for part in ("series", "now", "media", "console", "alerts"):
            assert again[part] == expected[run.name][part]
