"""A mistake in how the server is started never opens it to strangers (RELIABILITY 54, 62)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stepscope.errors import ConfigError, Forbidden
from stepscope.server.serve import serve
from stepscope.server.settings import Settings, read_token_file


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "gpu-box", ""])
def test_no_server_for_strangers_without_a_token(host: str, store: Path) -> None:
    with pytest.raises(Forbidden, match=r"refusing to serve on .* without a token"):
        serve([store], host=host, no_token=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_a_loopback_address_may_do_without(host: str) -> None:
    assert Settings(host=host, token=None).checked().token is None


def test_a_token_is_made_when_none_is_given() -> None:
    tokens = {Settings().token for _ in range(10)}
    assert len(tokens) == 10
    assert all(len(token or "") >= 32 for token in tokens)


@pytest.mark.parametrize(
    ("token", "why"), [("short", "5 characters"), ("spaces are not fine here", "survive in a URL")]
)
def test_a_poor_token_is_refused(token: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Settings(token=token).checked()


def test_names_for_a_server_that_others_reach() -> None:
    public = Settings(host="0.0.0.0", allow_hosts=("runs.example.org",))
    names = ["10.0.0.7", "[fe80::1]", "localhost", "runs.example.org", "evil.example", "10.0.0.7.evil.example"]
    assert [public.allows_host(name) for name in names] == [True, True, True, True, False, False]


def test_a_token_file_is_private_and_keeps_its_token(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        token = read_token_file(tmp_path / "token")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "token").stat().st_mode) == 0o600
    assert read_token_file(tmp_path / "token") == token
    assert Settings(token=token).checked()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    read_token_file(path)
    path.chmod(0o644)
    with pytest.raises(Forbidden, match="chmod 600"):
        read_token_file(path)
