"""Start the server: bind a port, print the address with its token, run until Ctrl-C."""

from __future__ import annotations

import errno
import gc
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette

from stepscope.errors import ConfigError, StepscopeError
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.doors import Codes
from stepscope.server.follow import followed_stores
from stepscope.server.protocol import uvicorn_options
from stepscope.server.settings import Settings, is_loopback, read_token_file
from stepscope.server.workers import serve_by_workers
from stepscope.sync.archive import read_from
from stepscope.sync.objects import Objects

if TYPE_CHECKING:
    from stepscope.database.engine import Database
    from stepscope.server.mail import Mail
    from stepscope.server.oidc import Oidc

PORT = 7007
QUEUED = 4096
"""Connections the kernel keeps until we take them; past that, a client's next try is a second later."""
_TRIES = 50
_COLLECT = (50_000, 20, 50)
"""Garbage is looked for less often than by default: going through the entries of 100,000 runs takes half a second."""


class _Server(uvicorn.Server):
    """Uvicorn waits for open connections before it tells the app to stop; streams only end when told. So tell them."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():  # uvicorn's one number is for the kernel's queue and for each turn of the loop
            listener.listen(QUEUED)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.health.stopping = True
        self._app.state.hub.close()
        await super().shutdown(sockets)


class Running:
    """A server in a thread of this process."""

    def __init__(self, server: _Server, url: str, token: str | None, codes: Codes) -> None:
        self._server = server
        self._codes = codes
        self.url = url
        """Where it is, without the token: `http://127.0.0.1:7007`."""
        self.token = token

    @property
    def address(self) -> str:
        """What a person opens: with the token."""
        return address(self.url, self.token)

    def code(self) -> str:
        """Stands in for the token once, within a minute: for an address that others may read later."""
        return self._codes.make()


def serve(
    dirs: Sequence[str | Path],
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    *,
    no_token: bool = False,
    token_file: str | Path | None = None,
    allow_hosts: Sequence[str] = (),
    read_only: bool = False,
    compact: bool = True,
    open_browser: bool = False,
    notify: bool = False,
    webhook: str | None = None,
    tell: Sequence[str] = (),
    ingest: Path | None = None,
    objects: Objects | None = None,
    people: Database | None = None,
    oidc: Oidc | None = None,
    mail: Mail | None = None,
    public_url: str = "",
    listener: socket.socket | None = None,
    meters: Path | None = None,
    workers: Sequence[str] | None = None,
    count: int = 1,
    say: Callable[[str], object] = print,
    on_address: Callable[[str, str | None], object] | None = None,
) -> None:
    """Serve the stores in `dirs` until Ctrl-C.

    `say` gets the line with the address to open, `on_address` the address and its token. With `people` it is a team's
    server, and the token an invitation for its first admin, until there is one.

    Without a port: 7007 or the next one free. Without a token: a new one, unless `no_token`, which is refused where
    other machines could reach the server.

    With `count` above 1, that many processes serve one address, each started by `stepscope WORKERS...`; a worker gets
    the address's `listener`, and a file for its `meters`.
    """
    settings = Settings(
        host=host,
        token=None if people is not None else _chosen_token(token, no_token, token_file),
        allow_hosts=tuple(name.lower() for name in allow_hosts),
        read_only=read_only,
        compact=compact,
        notify=notify,
        webhook=webhook,
        tell=tuple(tell),
        ingest=ingest,
        objects=objects,
        people=people,
        oidc=oidc,
        mail=mail,
        public_url=public_url,
        meters=meters,
    ).checked()
    if workers is not None and count > 1:
        listener, url = bind(settings.host, port)
        secret = _say_address(settings, url, say)
        if on_address is not None:
            on_address(url, secret)
        serve_by_workers(workers, listener, count)
        return
    with _reading(settings), followed_stores(dirs, say) as stores, _catalogue(stores, settings) as catalogue:
        app = create_app(catalogue, settings)
        if listener is not None:
            _run(_made(app, settings), listener, say)
            return
        listener, url = bind(settings.host, port)
        for missing in (place for place in dirs if Path(place) in stores and not Path(place).exists()):
            say(f"The folder {str(missing)!r} does not exist yet; runs appear once they are recorded there.")
        secret = _say_address(settings, url, say)
        if on_address is not None:
            on_address(url, secret)
        if app.state.outlets:
            say(f"Alerts go to the {' and the '.join(app.state.outlets)}.")
        if open_browser:
            _open_browser(app, url)
        _run(_made(app, settings), listener, say)


def _run(server: _Server, listener: socket.socket, say: Callable[[str], object]) -> None:
    collected = gc.get_threshold()
    gc.set_threshold(*_COLLECT)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn has shut down by now and hands the signal on
        say("Stopped.")
    finally:
        gc.set_threshold(*collected)


def _say_address(settings: Settings, url: str, say: Callable[[str], object]) -> str | None:
    """Print where the server is and how to get in; returns the secret that the address has in it."""
    secret = settings.token
    if settings.people is None:
        say(f"Stepscope is on  {address(url, secret)}\nCtrl-C stops it.")
        return secret
    from stepscope.people.address import note_address
    from stepscope.people.setup import first_invitation

    note_address(settings.people, settings.public_url or url)
    invitation = first_invitation(settings.people)
    say(f"Stepscope is on  {url}/\nCtrl-C stops it.")
    if invitation is None:
        return None
    name, secret = invitation
    say(f"Sign in as {name}, the first admin (works once, within 3 days):\n  {address(url, secret)}")
    return secret


def _chosen_token(token: str | None, no_token: bool, token_file: str | Path | None) -> str | None:
    if no_token:
        return None
    if token_file is not None:
        return read_token_file(Path(token_file))
    return token or secrets.token_urlsafe(24)


@contextmanager
def running(dirs: Sequence[str | Path], settings: Settings | None = None, port: int = 0) -> Iterator[Running]:
    """The same server in a thread, for tests and notebooks.

    with running(["stepscope-runs"]) as server:
        webbrowser.open(server.address)
    """
    settings = (settings or Settings()).checked()
    with _reading(settings), followed_stores(dirs) as stores, _catalogue(stores, settings) as catalogue:
        app = create_app(catalogue, settings)
        listener, url = bind(settings.host, port)
        server = _made(app, settings)
        run = partial(server.run, sockets=[listener])
        thread = threading.Thread(target=run, name="stepscope-server", daemon=True)
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise StepscopeError("the server stopped while it was starting; its log says why")
                time.sleep(0.01)
            yield Running(server, url, settings.token, app.state.codes)
        finally:
            server.should_exit = True
            thread.join(10)


def _catalogue(stores: Sequence[Path], settings: Settings) -> Catalogue:
    """The runs of the stores; on PostgreSQL all processes share what one has read, and pages are made by SQL."""
    if settings.people is None or not settings.people.is_postgresql:
        return Catalogue(*stores)
    from stepscope.server.run_table import RunTable
    from stepscope.server.sql_catalogue import SqlCatalogue

    return SqlCatalogue(*stores, table=RunTable(settings.people))


def _reading(settings: Settings) -> AbstractContextManager[None]:
    return read_from(settings.objects) if settings.objects is not None else nullcontext()


def address(url: str, token: str | None) -> str:
    return f"{url}/?token={token}" if token else f"{url}/"


def bind(host: str, port: int | None) -> tuple[socket.socket, str]:
    """A listening socket and its URL. A port that was asked for is taken or refused; otherwise the next free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in [port] if port is not None else range(PORT, PORT + _TRIES):
        # With the protocol named, asyncio turns off Nagle's algorithm, which would hold each answer back for 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(QUEUED)
        except OSError as error:
            listener.close()
            if error.errno == errno.EADDRINUSE and port is None:
                continue
            raise ConfigError(
                f"cannot serve on {host} port {number}: {error.strerror or error}; choose another with --port"
            ) from error
        listener.setblocking(False)
        return listener, _url(host, listener.getsockname()[1])
    raise ConfigError(f"the ports {PORT} to {PORT + _TRIES - 1} are all taken; choose one with --port")


def _url(host: str, port: int) -> str:
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname().lower()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _made(app: Starlette, settings: Settings) -> _Server:
    options: dict[str, Any] = uvicorn_options(settings.header_s, settings.body_s)
    return _Server(uvicorn.Config(app, **options), app)


def _open_browser(app: Starlette, url: str) -> None:
    """Hand the browser a single-use code: its command line can be seen by every user of the machine."""
    import webbrowser

    settings: Settings = app.state.settings
    code = app.state.codes.make() if settings.token and is_loopback(settings.host) else None
    threading.Timer(0.5, webbrowser.open, [address(url, code)]).start()
