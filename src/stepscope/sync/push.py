"""Send runs to a server: only reads here, continues where the server's copy ends, and never sends what is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from stepscope.errors import BadData, Conflict, StepscopeError
from stepscope.files.opening import plain_size
from stepscope.runs.compact.compact import covered_files
from stepscope.runs.format.layout import COMPACT
from stepscope.runs.read.folder import open_run
from stepscope.sync.checksums import Checksums
from stepscope.sync.local import frames_from, names_to_send, pieces_of, sha256_of
from stepscope.sync.remote import NotAllowed, Remote, ServerFull, Unreachable
from stepscope.sync.sent import Sent
from stepscope.sync.wire import Fate, file_id, is_log

_REWINDS = 8
"""How often a server may ask for an earlier place of one file before we take it for confused."""
FULL_S = 60.0
"""How long to rest when the server has room for nothing that is left to send."""
_RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


@dataclass
class Pushed:
    """What one pass over some runs did."""

    runs: int = 0
    bytes: int = 0
    """Bytes that the server did not have before."""
    problems: dict[str, str] = field(default_factory=dict)
    """Files (or runs) that were not sent, and why; everything else was."""
    deleted: int = 0
    """Runs that were deleted on the other side, which are left alone."""
    full: int = 0
    """Runs that the server has no room for now; all of them is still here."""
    cut: Unreachable | None = None
    """Why the rest was not sent, where the server was lost on the way; what was done stays done."""


def push(
    runs: Iterable[Path], remote: Remote, fates: Mapping[str, Fate] | None = None, sent: Sent | None = None
) -> Pushed:
    """Send what is new in these run folders. A file that is refused does not hold up the others.

    `fates` says which runs were deleted or restored here: the server follows, unless something later was done there.
    `sent` remembers what needs no further pass.
    """
    done, sent = Pushed(), sent or Sent()
    finished = 0
    try:
        if fates:
            _tell_fates(fates, remote)
            sent.note_told(fates)
        for run in runs:
            stamp = sent.stamp(run)
            try:
                if _push_run(run, remote, done, sent.checksums):
                    sent.note(run, stamp)
                    finished += 1
            except (BadData, NotAllowed, OSError) as fault:
                done.problems[run.name] = str(fault)
            done.runs += 1
    except Unreachable as fault:
        if not finished and not done.bytes:
            raise
        done.cut = fault
    return done


def _tell_fates(fates: Mapping[str, Fate], remote: Remote) -> None:
    for run, fate in fates.items():
        there = remote.held(run)
        undo = fate.restored is not None and there.deleted is not None and fate.restored > there.deleted
        if undo or (fate.deleted is not None and there.deleted is None and there.files):
            remote.tell(run, fate)


def patiently(
    once: Callable[[], Pushed],
    *,
    follow_s: float | None = None,
    tries: int | None = None,
    until: Callable[[Pushed], bool] = lambda done: False,
    tell: Callable[[Pushed], None] = lambda done: None,
    say: Callable[[str], None] = lambda text: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Pushed:
    """Do it once, and while the server cannot be reached, again. `follow_s`: go on this often, `until` it is enough."""
    failed = 0
    while True:
        try:
            done = once()
        except Unreachable as fault:
            failed += 1
            if tries is not None and failed >= tries:
                raise
            if failed == 1:
                say(f"{fault}; trying again until it answers")
            sleep(_RETRY_S[min(failed, len(_RETRY_S)) - 1])
            continue
        if failed:
            say("the server answers again")
            failed = 0
        tell(done)
        if done.cut is not None:
            sleep(_RETRY_S[0])
            continue
        if follow_s is None or until(done):
            return done
        sleep(max(follow_s, FULL_S) if done.full and not done.bytes else follow_s)


def _push_run(run: Path, remote: Remote, done: Pushed, checksums: Checksums) -> bool:
    """Whether the run has ended and the server has all of it, or wants none of it."""
    try:
        ended = open_run(run).status != "running"
    except StepscopeError:
        ended = True  # what it is can be seen on the server as it is here
    # Listed before we ask: what the run writes meanwhile is for the next time.
    names = names_to_send(run, ended=ended)
    answer = remote.held(run.name)
    if answer.deleted is not None:
        done.deleted += 1
        return ended
    held = {**answer.removed, **answer.compacted, **answer.files}
    known = _compacted_there(run, held)
    refused = len(done.problems)
    for name in names:
        have = held.get(name, 0)
        if name in known:
            continue
        try:
            if is_log(name):
                done.bytes += _push_log(run, name, have, remote, checksums)
            elif have != plain_size(run / name):
                done.bytes += _push_whole(run, name, remote)
        except FileNotFoundError:
            continue  # compacted or deleted meanwhile
        except ServerFull as fault:
            done.full += 1
            done.problems[run.name] = str(fault)
            return False  # other runs may be of a project that has room
        except (Conflict, BadData) as fault:
            done.problems[f"{run.name}/{name}"] = str(fault)
    return ended and len(done.problems) == refused


def _compacted_there(run: Path, held: Mapping[str, int]) -> set[str]:
    """Compacted files here whose logs the server has: it would only get the same again."""
    there = {file_id(name) for name in held if is_log(name)}
    sections: dict[str, set[str]] = {}
    if (run / COMPACT).is_dir():
        for section, path in covered_files(run).items():
            sections.setdefault(f"{COMPACT}/{path.name}", set()).add(section)
    return {name for name, ids in sections.items() if ids <= there and name not in held}


def _push_log(run: Path, name: str, have: int, remote: Remote, checksums: Checksums) -> int:
    if (plain_size(run / name) or 0) <= have:
        return 0
    sent = rewinds = 0
    before = checksums.before(run, name, have)
    while data := frames_from(run, name, have):
        stored = remote.add(run.name, name, have, data, before=before)
        if stored.size > have + len(data) and stored.size > (plain_size(run / name) or 0):
            raise BadData(f"the server claims to have {stored.size} bytes of {name}, which is more than there are")
        as_sent = stored.size == have + len(data)
        before = crc32(data, before) if as_sent else checksums.before(run, name, stored.size)
        if stored.gap or stored.size <= have:
            rewinds += 1
            if rewinds > _REWINDS:
                raise BadData(f"the server keeps asking for {name} from byte {stored.size}; try again later")
        else:
            sent += len(data)
        have = stored.size
    return sent


def _push_whole(run: Path, name: str, remote: Remote) -> int:
    sha256, size = sha256_of(run, name)
    start = 0
    for _ in range(_REWINDS):
        for offset, data in pieces_of(run, name, start):
            stored = remote.add(run.name, name, offset, data, sha256=sha256, size=size)
            start = stored.size
            if start != offset + len(data):  # it has more of it already, or less than we thought
                break
        if start >= size:
            return size
    raise BadData(f"the server keeps asking for parts of {name}; try again later")
