"""The part of the app that only a team's server has: its people's calls, their audit log, and who may sync what."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stepscope.database.engine import Database
from stepscope.errors import Forbidden, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.people.audit import note
from stepscope.people.caller import Caller
from stepscope.people.tokens import redeem_invite, token_holds
from stepscope.server.answers import json_response
from stepscope.server.contexts import Contexts
from stepscope.server.doors import CALLER
from stepscope.server.endpoint import body_of, endpoint
from stepscope.server.messenger import Messenger
from stepscope.server.permissions import need_of, scope_of
from stepscope.server.settings import Settings
from stepscope.server.team.desk import Desk
from stepscope.views.route import all_routes

__all__ = ["TeamApp"]

_CHANGES = ("write", "admin", "write everywhere")
_SUBJECTS = ("runs", "run", "id", "name")


class TeamApp:
    def __init__(self, database: Database, contexts: Contexts, settings: Settings, messenger: Messenger) -> None:
        self._database = database
        self._contexts = contexts
        self._settings = settings
        self._messenger = messenger

    def routes(self) -> list[Route]:
        found = [Route("/api/login", self._login, methods=["POST"])]
        for view in all_routes("stepscope.server.team"):
            msgspec.json.Decoder(view.request)
            desk_of = partial(self._desk, view.name)
            found.append(Route(view.path, endpoint(view, desk_of, self._settings, lambda: None), methods=[view.method]))
        return found

    def after(self, name: str, request: Request, asked: msgspec.Struct) -> None:
        """Write down a change that a view has made."""
        if need_of(name) in _CHANGES:
            caller: Caller = request.scope[CALLER]
            action = name.partition("/api/")[2]
            note(self._database, caller.name, action, _subject(asked), address=_address(request))

    def _desk(self, name: str, request: Request) -> Desk:
        caller: Caller = request.scope[CALLER]
        ctx = self._contexts.for_caller(caller, scope_of(need_of(name)))
        return Desk(self._database, caller, ctx, self._messenger, _address(request))

    async def _login(self, request: Request) -> Response:
        """An invitation for a personal token: `stepscope login`."""
        try:
            asked = msgspec.json.decode(await body_of(request, 10_000), type=_Login)
        except MALFORMED as error:
            raise UsageError(f"the request cannot be read: {error}") from error
        made = await run_in_threadpool(redeem_invite, self._database, asked.invitation, "personal", asked.name[:200])
        if made is None:
            raise Forbidden("the invitation has been used, has expired, or never was; ask for a new one")
        await run_in_threadpool(note, self._database, asked.name, "sign in", "by invitation", address=_address(request))
        return json_response(_LoggedIn(made[1]))


class _Login(msgspec.Struct):
    invitation: str
    name: str = ""
    """What the token is for: the machine's name."""


class _LoggedIn(msgspec.Struct):
    token: str


async def still_valid(database: Database, caller: Caller) -> bool:
    """Whether the token that somebody came with still holds."""
    return await run_in_threadpool(token_holds, database, caller.token)


def _subject(asked: msgspec.Struct) -> str:
    for field in _SUBJECTS:
        value: Any = getattr(asked, field, None)
        if value:
            return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return ""


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
