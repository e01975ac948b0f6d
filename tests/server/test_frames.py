"""The figure's frame runs the scripts it carries, and reaches nothing."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import pytest

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.frames import FIGURE_FRAME, frame_headers
from stepscope.server.settings import Settings

from .conftest import Caller

PAGE = b'<!doctype html><body><script>one("<\\/script>")</script><script type="module">two()</script></body>'


def hashed(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"


def test_only_the_scripts_of_the_page_may_run() -> None:
    policy = frame_headers(PAGE)["content-security-policy"].split("; ")
    assert policy[0] == "sandbox allow-scripts"  # and no more: an origin of its own, no windows, no downloads
    assert "default-src 'none'" in policy
    scripts = next(part for part in policy if part.startswith("script-src"))
    assert scripts == "script-src " + hashed(b'one("<\\/script>")') + " " + hashed(b"two()")
    assert not any(part.startswith(("connect-src", "frame-src", "worker-src")) for part in policy)


def test_a_page_without_scripts_runs_none() -> None:
    assert "script-src 'none'" in frame_headers(b"<p>")["content-security-policy"]


@pytest.mark.parametrize("path", [FIGURE_FRAME, FIGURE_FRAME + "?v=4.1.1-1"])
def test_the_server_gives_the_frame_its_own_policy_and_others_theirs(store: Path, tmp_path: Path, path: str) -> None:
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames/figure.html").write_bytes(PAGE)
    (tmp_path / "frames/other.html").write_bytes(PAGE)
    with Catalogue(store) as catalogue:
        caller = Caller(create_app(catalogue, Settings(token=None, static=tmp_path)))
        frame, other = caller.get(path), caller.get("/frames/other.html")
    assert frame.content == PAGE
    assert frame.headers["content-security-policy"] == frame_headers(PAGE)["content-security-policy"]
    assert frame.headers["x-frame-options"] == "SAMEORIGIN"
    assert "immutable" in frame.headers["cache-control"]
    assert "script-src 'self'" in other.headers["content-security-policy"]
    assert other.headers["x-frame-options"] == "DENY"
