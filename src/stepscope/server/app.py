"""Puts the server together: every view under its address, the pages, and the guard in front of all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stepscope.errors import StepscopeError
from stepscope.server.alert_channels import outlets_of
from stepscope.server.answers import failure, problem, refusal
from stepscope.server.contexts import Contexts
from stepscope.server.crowd import Crowd
from stepscope.server.doors import Codes, Door, PeopleDoor, TokenDoor
from stepscope.server.endpoint import endpoint
from stepscope.server.guard import Guard
from stepscope.server.headers import SafeHeaders
from stepscope.server.monitor import Health, Meters, Monitor, metrics_route
from stepscope.server.pages import Pages
from stepscope.server.permissions import protected
from stepscope.server.settings import Settings
from stepscope.server.shared_meters import SharedMeters
from stepscope.server.sync_access import SyncAccess
from stepscope.server.sync_routes import sync_routes
from stepscope.server.watch import Watch
from stepscope.server.webhook import Webhook
from stepscope.sync.keep import Keep
from stepscope.views.alert_log import AlertLog, alert_file
from stepscope.views.context import Context
from stepscope.views.live import Hub
from stepscope.views.open_runs import OpenRuns
from stepscope.views.route import all_routes
from stepscope.views.series import LineCache

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.server.bell import Bell
    from stepscope.server.edited_runs import EditedRuns
    from stepscope.server.housekeeper import Housekeeper
    from stepscope.server.messenger import Messenger


def create_app(catalogue: Catalogue, settings: Settings | None = None) -> Starlette:
    """The application over a catalogue of runs; `serve` runs it, tests call it directly."""
    settings = (settings or Settings()).checked()
    hub = Hub(settings.max_listeners)
    runs = OpenRuns(catalogue)
    alerts, outlets = AlertLog(alert_file(catalogue.stores)), outlets_of(settings)
    watch = Watch(catalogue, runs, hub, settings, alerts, outlets, _edits(settings))
    ctx = Context(
        catalogue=catalogue,
        runs=runs,
        lines=LineCache(),
        hub=hub,
        read_only=settings.read_only,
        edited=watch.edited,
        alerts=alerts,
        outlets=outlets.names,
    )
    if settings.people is not None:
        from stepscope.server.artifact_links import ArtifactLinks
        from stepscope.server.policies import trash_days
        from stepscope.server.run_colors import RunColors

        ctx.colors, ctx.links = RunColors(settings.people), ArtifactLinks(settings.people, catalogue)
        ctx.trash_days = partial(trash_days, settings.people)
    codes, health = Codes(), Health()
    meters = Meters() if settings.ingest is not None else None
    keeper = _housekeeper(catalogue, settings)
    if meters is not None and keeper is not None:
        meters.watch(catalogue, hub)
        meters.gauge("stepscope_runs_moved", "Runs moved to the object store.", lambda: keeper.moved)

    bell = _bell(settings, watch, hub)
    messenger = _messenger(catalogue, settings, hub.commented if bell is None else bell.send)
    shared = SharedMeters(meters, settings.meters) if meters is not None and settings.meters is not None else None
    helpers = [one for one in (watch, bell, keeper, messenger, shared) if one is not None]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        for one in helpers:
            one.start()
        yield
        for one in reversed(helpers):
            one.stop()

    app = Starlette(
        lifespan=lifespan,
        routes=[protected(route) for route in _routes(ctx, settings, watch, shared or meters, messenger)],
        middleware=[  # the outermost first: the headers cover the guard's refusals too
            Middleware(Monitor, health=health, meters=meters),
            Middleware(SafeHeaders, framed=settings.framed),
            *_database_away(settings),
            Middleware(Guard, settings=settings, door=_door(settings, codes)),
            Middleware(Crowd),
        ],
        exception_handlers={StepscopeError: problem, HTTPException: _unknown, Exception: failure},
    )
    app.state.hub, app.state.watch, app.state.codes, app.state.settings = hub, watch, codes, settings
    app.state.outlets, app.state.health = outlets.names, health
    return app


def _housekeeper(catalogue: Catalogue, settings: Settings) -> Housekeeper | None:
    if settings.ingest is None or settings.people is None or settings.read_only or not settings.compact:
        return None
    from stepscope.server.housekeeper import Housekeeper

    return Housekeeper(
        catalogue,
        settings.ingest,
        settings.objects,
        settings.people,
        settings.rest_s,
        min(10.0, settings.rest_s),
        settings.retain_after_s,
    )


def _database_away(settings: Settings) -> list[Middleware]:
    if settings.people is None:
        return []
    from stepscope.server.database_away import DatabaseAway

    return [Middleware(DatabaseAway)]


def _edits(settings: Settings) -> EditedRuns | None:
    """What people changed, where several processes may serve the same runs."""
    if settings.people is None:
        return None
    from stepscope.server.edited_runs import EditedRuns

    return EditedRuns(settings.people)


def _messenger(catalogue: Catalogue, settings: Settings, announce: Callable[[str], object]) -> Messenger | None:
    """Passes mentions on, where there are people."""
    if settings.people is None:
        return None
    from stepscope.server.messenger import Messenger
    from stepscope.server.topics import title_of

    webhook = Webhook(settings.webhook) if settings.webhook is not None else None
    title = partial(title_of, catalogue)
    return Messenger(settings.people, settings.mail, webhook, settings.public_url, announce, title)


def _bell(settings: Settings, watch: Watch, hub: Hub) -> Bell | None:
    """Hears of what other processes took in, where they share a PostgreSQL."""
    if settings.people is None or not settings.people.is_postgresql:
        return None
    from stepscope.server.bell import Bell

    bell = Bell(settings.people, watch.wake, hub.commented)
    watch.on_change = bell.ring
    return bell


def _door(settings: Settings, codes: Codes) -> Door:
    if settings.people is None:
        return TokenDoor(settings.token, codes)
    return PeopleDoor(settings.people, provider=settings.oidc is not None)


def _routes(
    ctx: Context, settings: Settings, watch: Watch, meters: Meters | SharedMeters | None, messenger: Messenger | None
) -> list[Route]:
    """Every view under its address, what a team's server has besides, and the pages under all others."""
    contexts, team = Contexts(ctx), None
    if settings.people is not None and messenger is not None:
        from stepscope.server.team_app import TeamApp, still_valid

        contexts = Contexts(ctx, partial(still_valid, settings.people))
        team = TeamApp(settings.people, contexts, settings, messenger)
    found = []
    for view in all_routes():
        # msgspec (0.22) makes what it knows of a struct on first use; two threads that do so at once end the process.
        msgspec.json.Decoder(view.request)
        after = partial(team.after, view.name) if team is not None else None
        answer = endpoint(view, partial(contexts.of, name=view.name), settings, watch.fresh, after)
        found.append(Route(view.path, answer, methods=[view.method]))
    if team is not None:
        found += team.routes()
    if settings.people is not None and settings.oidc is not None:
        from stepscope.server.oidc import OidcLogin

        found += OidcLogin(settings.oidc, settings.people).routes()
    if settings.ingest is not None and settings.people is not None:
        from stepscope.server.quotas import Quotas

        keep, access = Keep(settings.ingest, lambda: watch.on_change()), SyncAccess(ctx.catalogue)
        found += sync_routes(keep, settings, access, Quotas(settings.people))
    if meters is not None:
        found.append(metrics_route(meters))
    found.append(Route("/api/{rest:path}", _no_such_call, methods=["GET", "POST"]))
    found.append(Route("/{path:path}", Pages(settings.static).answer, methods=["GET"]))
    return found


async def _no_such_call(request: Request) -> Response:
    return refusal(404, f"There is no {request.method} {request.url.path[:200]}.")


async def _unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(error.status_code, f"{request.method} {request.url.path[:200]}: {error.detail}")
