"""The description of a W&B run: name, project and settings from the first records of its file, and its environment."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import BadData
from stepscope.eventfiles.wire import pairs
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file, read_text
from stepscope.files.yaml_text import load_yaml
from stepscope.importers.foreign import ForeignRun
from stepscope.importers.wandb.log import LogFile
from stepscope.importers.wandb.messages import items, kind_and_body, message, stamp, text
from stepscope.records import GitState
from stepscope.track.config import flatten, masked
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

_LARGEST = 1 << 20
_LOOK_AT = 40
"""The run and its environment are among the first records; the search stops after this many."""
_RUN = {
    1: "run_id",
    3: "project",
    4: "config",
    6: "group",
    7: "job_type",
    8: "name",
    9: "notes",
    10: "tags*",
    12: "sweep_id",
    13: "host",
    17: "start_time",
    21: "git",
}
_ENVIRONMENT = {
    1: "os",
    2: "python",
    5: "args*",
    6: "program",
    9: "git",
    11: "root",
    12: "host",
    13: "user",
    14: "executable",
    16: "cpu_count",
    18: "gpu_type",
    19: "gpu_count",
    21: "memory",
}
UNNAMED = "uncategorized"
"""W&B's own project for runs without one."""


@dataclass
class _Seen:
    run: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    count: int = 0


def first_facts(path: Path, key: str) -> ForeignRun | None:
    """The run of one `.wandb` file; None while it is still empty."""
    log = LogFile(path)
    if not log.check():
        return None
    seen = _Seen()
    for record in islice(log.records(), _LOOK_AT):
        with contextlib.suppress(BadData):  # reported when the file is read
            _look(record, seen)
    if not seen.count:
        return None
    return _run_of(path, key, seen)


def _look(record: bytes, seen: _Seen) -> None:
    kind, body = kind_and_body(record)
    seen.count += 1
    if kind == "run":
        seen.run = message(body, _RUN)
    elif kind == "environment":
        seen.environment |= message(body, _ENVIRONMENT)


def _run_of(path: Path, key: str, seen: _Seen) -> ForeignRun:
    run, files = seen.run, path.parent / "files"
    number = text(run.get("run_id")) or path.stem.removeprefix("run-")
    config = nested(items(run["config"])) if "config" in run else _config_file(files / "config.yaml")
    config.pop("_wandb", None)
    kept = masked(flatten(config))
    job = text(run.get("job_type"))
    if job:
        kept.setdefault("job_type", job)
    return ForeignRun(
        key=key,
        name=mask_text(text(run.get("name")) or number),
        project=mask_text(text(run.get("project")) or UNNAMED),
        created=stamp(run.get("start_time")) or path.stat().st_mtime,
        config=kept,
        tags=[mask_text(text(tag)) for tag in run.get("tags", [])],
        notes=mask_text(text(run.get("notes"))),
        group=text(run.get("group")) or text(run.get("sweep_id")) or None,
        more=_surroundings(seen, files),
    )


def nested(values: Any) -> dict[str, Any]:
    """Values by path, as nested dicts."""
    tree: dict[str, Any] = {}
    for path, value in values:
        node = tree
        for name in path[:-1]:
            inner = node.get(name)
            if not isinstance(inner, dict):
                inner = node[name] = {}
            node = inner
        if path:
            node[path[-1]] = value
    return tree


def _config_file(path: Path) -> dict[str, Any]:
    """`config.yaml`, which has each setting as `name: {value: ...}`."""
    try:
        content = load_yaml(read_text(path, _LARGEST, within=path.parents[1]), str(path))
    except (OSError, BadData):
        return {}
    if not isinstance(content, dict):
        return {}
    return {str(name): each["value"] for name, each in content.items() if isinstance(each, dict) and "value" in each}


def _surroundings(seen: _Seen, files: Path) -> dict[str, Any]:
    """The environment fields of `RunMeta`; older versions have them in `wandb-metadata.json`."""
    found = seen.environment
    old = _json_file(files / "wandb-metadata.json")
    facts = {name: text(found.get(name)) for name in ("os", "python", "program", "host", "user", "executable", "root")}
    for name in ("os", "python", "program", "host"):
        facts[name] = facts[name] or str(old.get(name) or "")
    facts["user"] = facts["user"] or str(old.get("username") or "")
    arguments = [text(each) for each in found.get("args", [])] or [str(each) for each in old.get("args") or []]
    return {
        "host": as_name(facts["host"] or text(seen.run.get("host"))),
        "user": facts["user"],
        "python": facts["python"].removeprefix("CPython "),
        "platform": facts["os"],
        "script": facts["program"] or None,
        "command": _command(facts["executable"], facts["program"], arguments),
        "hardware": _hardware(found),
        "packages": _packages(files / "requirements.txt"),
        "git": _git(found, old),
    }


def _git(found: dict[str, Any], old: dict[str, Any]) -> GitState | None:
    git = message(found["git"], {1: "remote", 2: "commit"}) if "git" in found else {}
    older = old.get("git")
    older_git: dict[str, Any] = older if isinstance(older, dict) else {}
    remote = text(git.get("remote")) or str(older_git.get("remote") or "")
    commit = text(git.get("commit")) or str(older_git.get("commit") or "")
    return GitState(commit=commit, remote=mask_text(remote) or None) if commit else None


def _hardware(found: dict[str, Any]) -> dict[str, Any]:
    hardware: dict[str, Any] = {}
    if found.get("cpu_count"):
        hardware["cpu_count"] = found["cpu_count"]
    if isinstance(found.get("memory"), bytes):
        hardware["memory_bytes"] = dict(pairs(found["memory"])).get(1, 0)
    if found.get("gpu_count"):
        hardware["gpus"] = [{"name": text(found.get("gpu_type"))}] * min(int(found["gpu_count"]), 64)
    return hardware


def _command(executable: str, program: str, arguments: list[str]) -> list[str]:
    if not program:
        return []
    return [mask_text(part) for part in (executable or "python", program, *arguments) if part]


def _json_file(path: Path) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(read_file(path, _LARGEST, within=path.parents[1]))
    except (OSError, *MALFORMED):
        return {}
    return content if isinstance(content, dict) else {}


def _packages(path: Path) -> dict[str, str]:
    try:
        lines = read_text(path, _LARGEST, within=path.parents[1]).splitlines()
    except OSError:
        return {}
    found = (line.split("==", 1) for line in lines if "==" in line)
    return {name.strip(): version.strip() for name, version in found}
