"""The part of the app that only a team's server has: its people's calls, their audit log, and who may sync what."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from stepscope.database.engine import Database
from stepscope.errors import Forbidden, UsageError
from stepscope.files.decoding import MALFORMED
from stepscope.people.audit import note
from stepscope.people.caller import Caller
from stepscope.people.tokens import SESSION_S, caller_of, redeem_invite, token_holds
from stepscope.server.answers import json_response
from stepscope.server.contexts import Contexts
from stepscope.server.doors import CALLER, INVITATION, cookie_name
from stepscope.server.endpoint import body_of, endpoint
from stepscope.server.messenger import Messenger
from stepscope.server.permissions import need_of, scope_of
from stepscope.server.settings import Settings
from stepscope.server.team.desk import Desk
from stepscope.views.route import all_routes

_CHANGES = ("write", "admin", "write everywhere")
_SUBJECTS = ("runs", "run", "id", "name")


class TeamApp:
    def __init__(self, database: Database, contexts: Contexts, settings: Settings, messenger: Messenger) -> None:
        self._database = database
        self._contexts = contexts
        self._settings = settings
        self._messenger = messenger

    def routes(self) -> list[Route]:
        found = [
            Route("/api/login", self._login, methods=["POST"]),
            Route(INVITATION, self._accept, methods=["POST"]),
        ]
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
        secret = await run_in_threadpool(self._redeemed, request, asked.invitation, "personal", asked.name[:200])
        return json_response(_LoggedIn(secret))

    async def _accept(self, request: Request) -> Response:
        """An invitation for a session of this browser: the form of the page that it opens."""
        form = parse_qs((await body_of(request, 10_000)).decode("latin-1"))
        invitation = form.get("invitation", [""])[-1]
        secret = await run_in_threadpool(self._redeemed, request, invitation, "session", "")
        answer = RedirectResponse("/", 303)
        name, secure = cookie_name(request.scope), request.url.scheme == "https"
        answer.set_cookie(name, secret, int(SESSION_S), httponly=True, samesite="strict", secure=secure)
        return answer

    def _redeemed(self, request: Request, invitation: str, kind: str, name: str) -> str:
        made = redeem_invite(self._database, invitation, kind, name)
        if made is None:
            raise Forbidden("the invitation has been used, has expired, or never was; ask for a new one")
        caller = caller_of(self._database, made[1], (kind,))
        user = caller.name if caller is not None else ""
        note(self._database, user, "sign in", name, detail="by invitation", address=_address(request))
        return made[1]


class _Login(msgspec.Struct):
    invitation: str
    name: str = ""
    """What the token is for: the machine's name."""


class _LoggedIn(msgspec.Struct):
    token: str


async def still_valid(database: Database, caller: Caller) -> bool:
    """Whether the token and the roles that somebody came with still hold."""
    return await run_in_threadpool(token_holds, database, caller)


def _subject(asked: msgspec.Struct) -> str:
    for field in _SUBJECTS:
        value: Any = getattr(asked, field, None)
        if value:
            return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return ""


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
