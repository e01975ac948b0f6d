"""The ingest part of a team server: two addresses under which `stepscope sync` asks and sends."""

from __future__ import annotations

import hashlib
import hmac
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from stepscope.errors import BadData, Forbidden, NotFound, StepscopeError, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.packed import inflated
from stepscope.runs.format.layout import run_folders
from stepscope.server.answers import json_response
from stepscope.server.endpoint import body_of
from stepscope.server.settings import Settings
from stepscope.server.sync_access import SyncAccess
from stepscope.sync.checksums import Checksums
from stepscope.sync.keep import Keep
from stepscope.sync.local import frames_from, pieces_of
from stepscope.sync.wire import BEFORE, CHECKSUM, LARGEST_PIECE, TYPE, WHOLE, Fate, RunList, Stored, check_name, is_log

if TYPE_CHECKING:
    from stepscope.server.quotas import Quotas

_MOST_STAMPED = 20_000
_LARGEST_BODY = LARGEST_PIECE + (1 << 20)


class Garbled(StepscopeError):
    """What arrived is not what was sent: send it again."""

    http_status = 503


class _Piece(msgspec.Struct):
    offset: int
    before: int = -1
    sha256: str = ""
    size: int = -1


def sync_routes(keep: Keep, settings: Settings, access: SyncAccess, quotas: Quotas) -> list[Route]:
    """What the guard lets through as everywhere: the Host, who asks, and a type that no form of a page can send."""
    checksums = Checksums()

    async def held(request: Request) -> Response:
        run = request.path_params["run"]
        await run_in_threadpool(access.check_held, request, run)
        answer = await run_in_threadpool(keep.held, run)
        return json_response(answer, request.headers.get("accept-encoding", ""))

    async def add(request: Request) -> Response:
        if settings.read_only:
            raise Forbidden("this server was started read-only")
        if request.headers.get("content-type") != TYPE:
            raise UsageError(f"a piece must be sent as {TYPE}")
        try:
            piece = msgspec.convert(dict(request.query_params), _Piece, strict=False)
            body = await body_of(request, _LARGEST_BODY)
        except MALFORMED as error:
            raise UsageError(f"the piece cannot be read: {error}") from error
        except ClientDisconnect as error:
            raise Garbled("the request ended before it was complete") from error

        def added() -> msgspec.Struct:
            data, where = _unpacked(body, request.headers.get(CHECKSUM, "")), request.path_params
            whole = piece.offset == 0 and piece.size == len(data)
            project, user = access.check_add(request, where["run"], where["name"], data, whole=whole)
            if project is None:
                return _add(keep, where, piece, data)
            with quotas.room(project, user, len(data)):
                stored = _add(keep, where, piece, data)
                if stored.size == piece.offset + len(data):
                    quotas.added(where["run"], project, user, len(data))
            return stored

        return json_response(await run_in_threadpool(added))

    async def runs(request: Request) -> Response:
        found = await run_in_threadpool(run_folders, keep.store)
        deleted = await run_in_threadpool(keep.fates.every)
        visible = await run_in_threadpool(access.listed, request, [path.name for path in found])
        changed = await run_in_threadpool(_changed, keep, visible)
        answer = RunList(visible, deleted, changed)
        return json_response(answer, request.headers.get("accept-encoding", ""))

    async def follow(request: Request) -> Response:
        if settings.read_only:
            raise Forbidden("this server was started read-only")
        run = request.path_params["run"]
        keep.folder_of(run)
        await run_in_threadpool(access.check_change, request, run)
        try:
            fate = msgspec.json.decode(await body_of(request, settings.max_body), type=Fate)
        except MALFORMED as error:
            raise UsageError(f"what was done to the run cannot be read: {error}") from error
        return json_response(Fate(deleted=await run_in_threadpool(keep.fates.follow, run, fate)))

    async def read(request: Request) -> Response:
        offset = request.query_params.get("offset", "0")
        if not offset.isdecimal() or len(offset) > 18:
            raise UsageError(f"the offset {offset[:40]!r} is not a number")
        where = request.path_params
        await run_in_threadpool(access.check_read, request, where["run"])
        return await run_in_threadpool(_read, keep, checksums, where["run"], check_name(where["name"]), int(offset))

    return [
        Route("/api/sync", runs, methods=["GET"]),
        Route("/api/sync/{run}/{name:path}", read, methods=["GET"]),
        Route("/api/sync/{run}", held, methods=["GET"]),
        Route("/api/sync/{run}", follow, methods=["POST"]),
        Route("/api/sync/{run}/{name:path}", add, methods=["POST"]),
    ]


def _changed(keep: Keep, runs: list[str]) -> list[int]:
    """When something was last added to each run; empty if checking that many would take long."""
    return [_mtime(keep.store / run) for run in runs] if len(runs) <= _MOST_STAMPED else []


def _mtime(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:  # deleted meanwhile
        return 0


def _read(keep: Keep, checksums: Checksums, run: str, name: str, offset: int) -> Response:
    """A piece of a file as `stepscope sync --from` takes it."""
    folder = keep.folder_of(run)
    headers = {}
    try:
        if is_log(name):
            data = frames_from(folder, name, offset)
            headers[BEFORE] = str(checksums.before(folder, name, offset))
        else:
            data = next((data for _, data in pieces_of(folder, name, offset)), b"")
            sha256, size = checksums.whole(folder, name)
            headers[WHOLE] = f"{sha256} {size}"
    except FileNotFoundError:
        raise NotFound(f"run {run} has no file {name} on this server") from None
    headers[CHECKSUM] = hashlib.sha256(data).hexdigest()
    return Response(zlib.compress(data, 1), 200, headers, media_type=TYPE)


def _unpacked(body: bytes, checksum: str) -> bytes:
    try:
        data = inflated(body, LARGEST_PIECE, "the piece")
    except BadData as error:
        raise Garbled(str(error)) from error
    if not hmac.compare_digest(hashlib.sha256(data).hexdigest(), checksum):
        raise Garbled("the piece was changed on its way: its checksum does not match; send it again")
    return data


def _add(keep: Keep, where: dict[str, str], piece: _Piece, data: bytes) -> Stored:
    before = None if piece.before < 0 else piece.before
    return keep.add(
        where["run"], where["name"], piece.offset, data, before=before, sha256=piece.sha256, size=piece.size
    )
