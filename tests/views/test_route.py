"""Routes are found by listing the folder, and the page's types are written from them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.views.route import Download, all_routes

ROOT = Path(__file__).resolve().parents[2]


def test_every_view_file_that_has_a_route_is_found() -> None:
    names = {route.name for route in all_routes()}
    assert {"POST /api/runs", "POST /api/series", "GET /api/live", "GET /api/blob/{run}/{sha256}"} <= names


def test_a_route_knows_what_it_takes_and_gives() -> None:
    by_name = {route.name: route for route in all_routes()}
    blob, live = by_name["GET /api/blob/{run}/{sha256}"], by_name["GET /api/live"]
    assert (blob.parameters, blob.response, blob.stream) == (["run", "sha256"], Download, False)
    assert (live.response.__name__, live.stream) == ("Live", True)


def test_path_parameters_are_fields_of_the_request() -> None:
    for route in all_routes():
        assert set(route.parameters) <= set(route.request.__struct_fields__), route.name


def test_two_views_cannot_share_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "clashing"
    package.mkdir()
    (package / "__init__.py").touch()
    for name in ("one", "two"):
        (package / f"{name}.py").write_text(
            "from stepscope.views.route import Empty, route\n"
            "@route('GET', '/api/same')\ndef view(ctx: object, request: Empty) -> Empty: ...\n"
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(TypeError, match=r"GET /api/same is both clashing.one.view and clashing.two.view"):
        all_routes("clashing")


def test_the_committed_typescript_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts/types"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
