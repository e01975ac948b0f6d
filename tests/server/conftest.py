"""A server over real run folders, called in process or over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.settings import Settings

TOKEN = "correct-horse-battery-staple"
URL = "http://127.0.0.1:7007"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(token=TOKEN, allow_hosts=("lab.example",), static=tmp_path / "not-built", poll_s=0.05)


@pytest.fixture
def catalogue(store: Path) -> Iterator[Catalogue]:
    with Catalogue(store) as catalogue:
        yield catalogue


@pytest.fixture
def app(catalogue: Catalogue, settings: Settings) -> Starlette:
    return create_app(catalogue, settings)


class Caller:
    """Calls the app in process, as httpx calls a server; keeps cookies."""

    def __init__(self, app: Starlette, **headers: str) -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url=URL, headers=headers)
        self.cookies = self._client.cookies
        self.build_request = self._client.build_request

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(self._client.request(method, path, **options))

    def send(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run(self._client.send(request))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> httpx.Response:
        options = options if "content" in options else {"json": {} if body is None else body, **options}
        return self.request("POST", path, **options)


@pytest.fixture
def client(app: Starlette) -> Caller:
    """Somebody with the token."""
    return signed_in(app)


@pytest.fixture
def stranger(app: Starlette) -> Caller:
    """Somebody without it."""
    return Caller(app)


def signed_in(app: Starlette) -> Caller:
    return Caller(app, **{"authorization": f"Bearer {TOKEN}", "x-stepscope": "1"})


def every_call(app: Starlette) -> list[tuple[str, str]]:
    """Method and path of every route of the app, as the router has them, with plausible values filled in."""
    filled = {"{run}": "0" * 26, "{sha256}": "a" * 64, "{profile}": "p1", "{kind}": "chrome", "{rest:path}": "x/y",
              "{path:path}": "charts", "{token}": "no-link", "{name:path}": "meta.json"}  # fmt: skip
    calls = []
    for route in app.routes:
        path = route.path  # type: ignore[attr-defined]
        for name, value in filled.items():
            path = path.replace(name, value)
        assert "{" not in path, f"say in conftest.py how to fill {path}"
        calls += [(method, path) for method in sorted(route.methods or {"GET", "POST"})]  # type: ignore[attr-defined]
    return calls
