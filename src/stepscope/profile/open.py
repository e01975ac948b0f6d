"""Opens what other tools recorded: traces, ranks, log folders, .prof, speedscope, memory snapshots; and our own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

from stepscope.common import clocks
from stepscope.errors import BadData, NotFound, StepscopeError, UsageError
from stepscope.files.listing import plain_files
from stepscope.files.packed import gunzipped_head
from stepscope.profile.profile import Profile, profiles_in
from stepscope.profile.store import is_profile_folder, write_meta, write_part
from stepscope.records.profile import ProfileMeta
from stepscope.runs.format.layout import is_run_folder

_TRACE = re.compile(r"\.json(\.gz)?$")
_SESSION = re.compile(r"(.+)\.\d{10,}\.pt\.trace\.json(\.gz)?$")
"""As torch's handler for TensorBoard names them: worker.nanoseconds.pt.trace.json; sorted, the newest comes last."""
_EXPECTED = (
    "a torch trace (.json, .json.gz), .prof, speedscope, collapsed stacks, a memory snapshot (.pickle) or a folder"
)


def open_profile(paths: Sequence[str | Path], *, into: Path | None = None) -> Profile:
    """What these files and folders hold, as one profile; several traces are its ranks.

    `into`: a folder to keep it in (`<run>/profiles/<id>`), so that the browser shows it. Without it nothing is kept.
    """
    if not paths:
        raise UsageError(f"nothing to open was given; expected {_EXPECTED}")
    given = [Path(path) for path in paths]
    missing = [str(path) for path in given if not path.exists()]
    if missing:
        raise NotFound(f"there is no {', '.join(missing)}; expected {_EXPECTED}")
    ours = next(filter(None, map(_own_profile, given)), None)
    if ours is not None:
        if len(given) > 1 or into is not None:
            raise UsageError(f"{ours} is a profile of Stepscope already: open it alone")
        return Profile.load(ours)
    files: list[Path] = []
    for path in given:
        files += _files_of(path)
    if not files:
        raise NotFound(f"{', '.join(map(str, given))}: no profile in it; expected {_EXPECTED}")
    return _kept(files, into) if into is not None else _in_memory(files)


def _own_profile(path: Path) -> Path | None:
    """The profile a path means: a profile's folder, or a run's newest."""
    if not path.is_dir():
        return None
    if is_profile_folder(path):
        return path
    if is_run_folder(path):
        found = profiles_in(path)
        if not found:
            raise NotFound(f"the run in {path} has no profile; make one with: stepscope profile train.py")
        return found[-1]
    return None


def _files_of(path: Path) -> list[Path]:
    """A file itself; of a folder (a log_dir) the traces in it, of each worker its newest; else the other profiles."""
    if not path.is_dir():
        return [path]
    inside = sorted(plain_files(path))
    traces = [file for file in inside if _TRACE.search(file.name) and kind_of_file(file) == "trace"]
    newest = {(found[1] if (found := _SESSION.match(str(file))) else str(file)): file for file in traces}
    return list(newest.values()) or [file for file in inside if file.suffix in (".prof", ".speedscope", ".pickle")]


def kind_of_file(path: Path) -> str:
    """trace, speedscope, prof, memory or collapsed: by its name, and for JSON by how it begins."""
    name = path.name.lower()
    if name.endswith((".prof", ".pstats", ".cprof")):
        return "prof"
    if name.endswith((".pickle", ".pkl")):
        return "memory"
    if name.endswith((".folded", ".collapsed")):
        return "collapsed"
    head = _head(path)
    if head[:1] in (b"{", b"["):
        is_speedscope = b"speedscope.app" in head or (b'"shared"' in head and b'"frames"' in head)
        return "speedscope" if is_speedscope else "trace"
    if head[:1] == b"\xfb" or head[:1] == b"{"[:1]:  # marshal's dictionary, as cProfile writes it
        return "prof"
    if head[:2] == b"\x80\x04" or head[:2] == b"\x80\x02":
        return "memory"
    raise BadData(f"{path} is of no kind that can be opened; expected {_EXPECTED}")


def _head(path: Path, size: int = 4096) -> bytes:
    """How its content begins, unpacked when it is gzipped."""
    return gunzipped_head(path, size).lstrip(b"\xef\xbb\xbf \t\r\n")


def _in_memory(files: list[Path]) -> Profile:
    """Tables stay in memory; what else there is goes to a folder that lives as long as the profile."""
    tables = _tables(files)
    folder = Path(mkdtemp(prefix="stepscope-opened-"))
    try:
        profile = Profile(_write_others(files, folder, _meta(files, "opened", tables)), folder, tables)
    except StepscopeError:
        rmtree(folder)
        raise
    finalize(profile, rmtree, folder, ignore_errors=True)
    return profile


def _kept(files: list[Path], into: Path) -> Profile:
    from stepscope.profile.trace.columns import save_events

    into.mkdir(parents=True, exist_ok=True)
    tables = _tables(files)
    for rank, table in tables.items():
        save_events(table, into / f"rank{rank}.events")
    write_meta(into, _write_others(files, into, _meta(files, into.name, tables)))
    return Profile.load(into)


def _meta(files: list[Path], id: str, tables: dict[int, Any]) -> ProfileMeta:
    hosts = {str(table.header.fields.get("host_name") or "") for table in tables.values()}
    said = [int(_distributed(table).get("world_size") or 1) for table in tables.values()]
    numbers = {step.number for rank, table in tables.items() for step in _steps(table, rank)}
    shown = ", ".join(file.name for file in files[:3])
    if len(files) > 3:
        shown += f" and {len(files) - 3} more"
    return ProfileMeta(
        id=id,
        kind="opened",
        created=clocks.time(),
        first_step=min(numbers, default=None),
        last_step=max(numbers, default=None),
        why=f"opened from {shown}",
        host=hosts.pop() if len(hosts) == 1 else "",
        world=max([len(tables) or 1, *said]),
        notes=[note for rank in sorted(tables) for note in tables[rank].header.notes],
    )


def _distributed(table: Any) -> dict[str, Any]:
    said = table.header.fields.get("distributedInfo")
    return said if isinstance(said, dict) else {}


def _steps(table: Any, rank: int) -> Iterable[Any]:
    from stepscope.profile.trace.trace import Trace

    return (step for step in Trace(table, rank).steps if not step.inferred)


def _tables(files: list[Path]) -> dict[int, Any]:
    traces = [file for file in files if kind_of_file(file) == "trace"]
    if not traces:
        return {}
    from stepscope.profile.trace.read import read_ranks

    return dict(read_ranks(traces))


def _write_others(files: list[Path], folder: Path, meta: ProfileMeta) -> ProfileMeta:
    """Files that are not traces, as parts of the profile in `folder`."""
    import msgspec

    from stepscope.profile.store import files_in

    stacks = 0
    for file in files:
        kind = kind_of_file(file)
        if kind == "trace":
            continue
        if kind in ("prof", "speedscope", "collapsed") and stacks:
            raise UsageError(f"{file}: one Python profile can be opened at a time; {files[0]} is one already")
        if kind == "prof":
            _add_prof(file, folder)
            stacks += 1
        elif kind in ("speedscope", "collapsed"):
            write_part(folder, "rank0.stacks", _stack_in(file, kind))
            stacks += 1
        elif kind == "memory":
            _add_memory(file, folder)
    return msgspec.structs.replace(meta, files=files_in(folder))


def _add_prof(file: Path, folder: Path) -> None:
    from stepscope.profile.python.call_tree import call_tree
    from stepscope.profile.python.prof_file import prof_bytes, read_prof

    stats = read_prof(file)
    write_part(folder, "rank0.prof", prof_bytes(stats))
    write_part(folder, "rank0.stacks", call_tree(stats))


def _stack_in(file: Path, kind: str) -> Any:
    from stepscope.profile.python.collapsed import read_collapsed
    from stepscope.profile.python.speedscope import read_speedscope

    return read_speedscope(file) if kind == "speedscope" else read_collapsed(file)


def _add_memory(file: Path, folder: Path) -> None:
    from stepscope.profile.memory.snapshot_file import read_snapshot

    write_part(folder, "rank0.memory", read_snapshot(file))
