"""A server that a notebook frames may be framed by this machine's own pages, and by no others."""

from __future__ import annotations

import dataclasses

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.server.app import create_app
from stepscope.server.headers import FRAMED, SAFE
from stepscope.server.settings import Settings

from .conftest import signed_in


def test_only_a_notebooks_server_may_be_framed(catalogue: Catalogue, settings: Settings) -> None:
    usual = signed_in(create_app(catalogue, settings)).get("/api/info").headers
    framed = signed_in(create_app(catalogue, dataclasses.replace(settings, framed=True))).get("/api/info").headers

    assert (usual["x-frame-options"], "frame-ancestors 'none'" in usual["content-security-policy"]) == ("DENY", True)
    assert "x-frame-options" not in framed
    ancestors = framed["content-security-policy"].partition("frame-ancestors ")[2]
    assert all(one.startswith(("http://localhost:", "http://127.", "https://localhost:", "https://127.")) for one in
               ancestors.split())  # fmt: skip
    assert SAFE.keys() - FRAMED.keys() == {"x-frame-options"}
    others = SAFE.keys() - {"x-frame-options", "content-security-policy"}
    assert {name: framed[name] for name in others if name in framed} == {name: usual[name] for name in others}
