"""View-only links to a report. What is kept is the hash of a link's token, so the folder gives no link away.

`<report>/shares.log` has a line of JSON for each link that was made and each that was revoked, and is only ever added
to. A line that cannot be read is passed over: it can open nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from stepscope.errors import NotFound, StorageError, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.report.store import Found, reports_in
from stepscope.runs.format.filesystem import sync_folder

__all__ = ["Share", "active_shares", "make_share", "report_of_token", "revoke_share"]

FILE = "shares.log"
MAX_SHARES = 200
MAX_LABEL = 200
MAX_DAYS = 3650.0
_LARGEST = 4 << 20


class Share(msgspec.Struct, frozen=True):
    """A link somebody was given."""

    id: str
    sha256: str
    """Of its token."""
    label: str
    created: float
    expires: float | None = None


class _Line(msgspec.Struct, omit_defaults=True):
    made: Share | None = None
    revoked: str | None = None


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_line_decoder = msgspec.json.Decoder(_Line)


def make_share(found: Found, label: str = "", days: float | None = None) -> tuple[Share, str]:
    """A new link: what is kept of it, and its token, which nobody can read again later."""
    if days is not None and not 0 < days <= MAX_DAYS:
        raise UsageError(f"a link is good for up to {MAX_DAYS:.0f} days, not {days:g}; leave it out for no end")
    if len(label) > MAX_LABEL:
        raise UsageError(f"the label has {len(label)} characters; at most {MAX_LABEL} are kept")
    if len(active_shares(found)) >= MAX_SHARES:
        raise UsageError(f"the report has {MAX_SHARES} links already; revoke some first")
    token, now = secrets.token_urlsafe(32), time.time()
    share = Share(
        id=secrets.token_hex(6),
        sha256=_hash(token),
        label=label.strip(),
        created=now,
        expires=None if days is None else now + days * 86_400,
    )
    _append(found.path, _Line(made=share))
    return share, token


def revoke_share(found: Found, id: str) -> None:
    """Close a link; who opens it from now on is told that there is no such page."""
    if id not in {share.id for share in _shares(found)}:
        raise NotFound("the report has no such link; it may be revoked already")
    _append(found.path, _Line(revoked=id))


def active_shares(found: Found) -> list[Share]:
    """The links that open the report now, oldest first. A deleted report has none."""
    now = time.time()
    return [] if found.deleted else [one for one in _shares(found) if one.expires is None or one.expires > now]


def report_of_token(stores: Iterable[Path], token: str) -> Found | None:
    """The report that a token opens. Takes as long for a wrong token as for a right one."""
    given = _hash(token)
    opened: Found | None = None
    for found in reports_in(stores):
        for share in active_shares(found):
            if hmac.compare_digest(share.sha256.encode("utf-8", "replace"), given.encode()):
                opened = found
    return opened


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _shares(found: Found) -> list[Share]:
    made: dict[str, Share] = {}
    for line in _lines(found.path / FILE):
        try:
            read = _line_decoder.decode(line)
        except MALFORMED:
            continue
        if read.made is not None:
            made[read.made.id] = read.made
        if read.revoked is not None:
            made.pop(read.revoked, None)
    return list(made.values())


def _lines(path: Path) -> list[bytes]:
    try:
        return read_file(path, _LARGEST, within=path.parent).splitlines()
    except OSError:
        return []


def _append(folder: Path, line: _Line) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(folder / FILE, flags, 0o600)
        with os.fdopen(handle, "ab") as file:
            # A line of its own, whatever a crash has left of the one before.
            file.write(b"\n" + msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)
    except OSError as error:
        raise StorageError(f"the link could not be written down: {error.strerror}") from error
