"""What each call needs. A call that is not named here is refused to everybody but the local user.

`read`, `write`, `admin` and `ingest` are scopes (`people/caller.py`): the caller must have them in some project, and is
shown only the runs of those projects. `read everywhere` and `write everywhere` are for what does not belong to one
project. `server` is for admins of the server, `signed in` for everybody, `public` for strangers too.
"""

from __future__ import annotations

from typing import Literal, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stepscope.errors import Forbidden
from stepscope.people.caller import EVERY, Caller, Role, Scope
from stepscope.server.doors import CALLER

Need = Literal[
    "read", "write", "admin", "ingest", "read everywhere", "write everywhere", "server", "signed in", "public"
]

_READ = """
GET /api/info /api/live /api/blob/{run}/{sha256} /api/page/{run}/{sha256} /api/export/{run}.csv /api/artifact/file
GET /api/artifact/zip /api/console/text/{run} /api/profile/download/{run}/{profile}/{kind}
GET /api/sync /api/sync/{run}/{name:path}
POST /api/runs /api/columns /api/column /api/run /api/rule /api/findings /api/search /api/alive /api/alerts /api/views
POST /api/ranks /api/panels /api/series /api/lines /api/formula /api/media /api/media/index
POST /api/projection /api/projection/near
POST /api/histograms /api/distributions /api/parameters /api/importance /api/runs/weigh /api/trash
POST /api/profiles /api/profile /api/profile/answer /api/profile/advice /api/profile/diff /api/stack /api/stacks
POST /api/timeline /api/timeline/names /api/timeline/tiles /api/timeline/find /api/timeline/event /api/timeline/range
POST /api/steps /api/model /api/step /api/step/ops /api/step/op /api/step/costs /api/step/compare
POST /api/files /api/artifact /api/artifact/preview /api/artifact/diff
POST /api/console /api/console/find /api/console/copy
POST /api/compare/metrics /api/compare/test /api/compare/changed /api/compare/lines /api/compare/columns
POST /api/compare/config /api/compare/environment /api/compare/code
POST /api/report/draft /api/report/preview
POST /api/people /api/comments /api/comments/add /api/comments/remove /api/storage /api/storage/runs
POST /api/lineage /api/artifact/find
"""
_WRITE = """
POST /api/runs/edit /api/runs/delete /api/trash/restore /api/profile/request /api/views/save /api/views/drop
POST /api/sync/{run}
POST /api/links /api/links/make /api/links/revoke
"""
_READ_EVERYWHERE = """
GET /api/report/file /metrics
POST /api/reports /api/report /api/report/shares /api/sweeps
"""
_WRITE_EVERYWHERE = """
POST /api/report/save /api/report/delete /api/report/restore /api/report/share /api/report/unshare /api/sweeps/pause
"""
_ADMIN = """
POST /api/trash/purge /api/members /api/members/set /api/storage/policy /api/storage/preview
"""
_INGEST = """
GET /api/sync/{run}
POST /api/sync/{run}/{name:path}
"""
_SERVER = """
POST /api/people/add /api/people/change /api/people/invite /api/teams /api/teams/set /api/audit /api/storage/quota
"""
_SIGNED_IN = """
GET /api/me /api/{rest:path} /{path:path}
POST /api/tokens /api/tokens/make /api/tokens/revoke /api/logout /api/mentions /api/mentions/seen /api/{rest:path}
"""
_PUBLIC = """
GET /shared/{token} /login /login/done
POST /api/login /login/invitation
"""


_ROLE: dict[Scope, Role] = {"read": "viewer", "write": "writer", "ingest": "writer", "admin": "admin"}


def _table() -> dict[str, Need]:
    found: dict[str, Need] = {}
    lists: dict[Need, str] = {
        "read": _READ,
        "write": _WRITE,
        "read everywhere": _READ_EVERYWHERE,
        "write everywhere": _WRITE_EVERYWHERE,
        "admin": _ADMIN,
        "ingest": _INGEST,
        "server": _SERVER,
        "signed in": _SIGNED_IN,
        "public": _PUBLIC,
    }
    for need, text in lists.items():
        for line in text.split("\n"):
            method, *paths = line.split() or [""]
            found.update({f"{method} {path}": need for path in paths})
    return found


NEEDS = _table()
"""Method and path of a route, as the router has them -> what it needs."""


def need_of(name: str) -> Need:
    """What a route needs; only the local user and admins may call one that nobody has decided on."""
    return NEEDS.get(name, "server")


def protected(route: Route) -> Route:
    """The same route, for callers who have what it needs."""
    inner = route.endpoint

    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        need = need_of(f"{method} {route.path}")
        if need != "public":
            check_need(request.scope[CALLER], need)
        response: Response = await inner(request)
        return response

    return Route(route.path, answer, methods=list(route.methods or ()))


def scope_of(need: Need) -> Scope:
    """In which projects a call may look: those where the caller has this."""
    word = need.partition(" ")[0]
    return cast(Scope, word) if word in ("read", "write", "admin", "ingest") else "read"


def check_need(caller: Caller, need: Need) -> None:
    """Refuse a call that this caller may make for no run at all."""
    if need == "server":
        if caller.admin and not caller.is_admin:
            raise Forbidden("this needs a token with the scope 'admin'; make one on the People page")
        if not caller.is_admin:
            raise Forbidden(f"{caller.name} is not an admin of this server; ask one to do this")
        return
    if need in ("signed in", "public"):
        return
    scope = scope_of(need)
    if scope not in caller.scopes and not (need == "ingest" and "read" in caller.scopes):
        held = ", ".join(sorted(caller.scopes))
        what = "link" if caller.kind == "link" else "token"
        raise Forbidden(f"this needs the scope {scope!r}; the {what} has only {held}")
    if need.endswith("everywhere"):
        if not caller.may(scope, EVERY):
            raise Forbidden(f"this needs the role {_ROLE[scope]} in every project (*); ask an admin for it")
    elif not caller.may_somewhere(scope) and not (need == "ingest" and caller.may_somewhere("read")):
        raise Forbidden(
            f"this needs the role {_ROLE[scope]} in a project, which {caller.name} lacks; ask an admin for it"
        )
