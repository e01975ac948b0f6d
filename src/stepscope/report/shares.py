"""View-only links to a report. Only the hash of a link's token is stored, so the folder reveals no link.

`<report>/shares.log` has a line of JSON for each link that was created or revoked, and is append-only. Unreadable
lines are ignored: they open nothing.
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

FILE = "shares.log"
MAX_SHARES = 200
MAX_LABEL = 200
MAX_DAYS = 3650.0
_LARGEST = 4 << 20


class Share(msgspec.Struct, frozen=True):
    """A link that was given out."""

    id: str
    sha256: str
    """Of its token."""
    label: str
    created: float
    expires: float | None = None


class _Line(msgspec.Struct, omit_defaults=True):
    made: Share | None = None
    revoked: str | None = None


# Created at import, not on first use: if two threads create one at the same time, msgspec (0.22) kills the process.
_line_decoder = msgspec.json.Decoder(_Line)


def make_share(found: Found, label: str = "", days: float | None = None) -> tuple[Share, str]:
    """A new link: its record, and its token, which cannot be read again later."""
    if days is not None and not 0 < days <= MAX_DAYS:
        raise UsageError(f"a link is valid for up to {MAX_DAYS:.0f} days, not {days:g}; omit it for no limit")
    if len(label) > MAX_LABEL:
        raise UsageError(f"the label has {len(label)} characters; the maximum is {MAX_LABEL}")
    if len(active_shares(found)) >= MAX_SHARES:
        raise UsageError(f"the report already has {MAX_SHARES} links; revoke some first")
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
    """Revoke a link; from now on it leads to an error page."""
    if id not in {share.id for share in _shares(found)}:
        raise NotFound("the report has no such link; it may already be revoked")
    _append(found.path, _Line(revoked=id))


def active_shares(found: Found) -> list[Share]:
    """The currently valid links, oldest first. A deleted report has none."""
    now = time.time()
    return [] if found.deleted else [one for one in _shares(found) if one.expires is None or one.expires > now]


def report_of_token(stores: Iterable[Path], token: str) -> Found | None:
    """The report that a token opens. Takes the same time for wrong and right tokens."""
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
            # On a new line, whatever a crash has left of the previous one.
            file.write(b"\n" + msgspec.json.encode(line) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)
    except OSError as error:
        raise StorageError(
            f"the link could not be saved: {error.strerror}; make the report's folder writable"
        ) from error
