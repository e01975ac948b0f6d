"""View-only links: who has one sees one report, and the disk gives no link away."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stepscope.errors import NotFound, UsageError
from stepscope.report import shares, store


@pytest.fixture
def found(tmp_path: Path) -> store.Found:
    return store.save([tmp_path], "text", "r")[0]


def test_a_token_opens_its_report_until_it_is_revoked(found: store.Found, tmp_path: Path) -> None:
    other = store.save([tmp_path], "other", "other")[0]
    share, token = shares.make_share(found, "for Ada")
    _, second = shares.make_share(other)
    assert shares.report_of_token([tmp_path], token) == found
    assert shares.report_of_token([tmp_path], second) == other
    shares.revoke_share(found, share.id)
    assert shares.report_of_token([tmp_path], token) is None
    assert shares.report_of_token([tmp_path], second) == other
    with pytest.raises(NotFound, match="no such link"):
        shares.revoke_share(found, share.id)


def test_only_the_hash_is_kept_and_only_for_us(found: store.Found) -> None:
    _, token = shares.make_share(found)
    file = found.path / "shares.log"
    assert len(token) == 43
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_ends_when_its_time_is_over(found: store.Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share, token = shares.make_share(found, days=2)
    assert share.expires is not None
    monkeypatch.setattr(shares.time, "time", lambda: share.expires - 1)
    assert shares.report_of_token([tmp_path], token) == found
    monkeypatch.setattr(shares.time, "time", lambda: share.expires + 1)
    assert shares.report_of_token([tmp_path], token) is None
    assert shares.active_shares(found) == []


def test_a_deleted_report_is_closed_and_opens_again_when_restored(found: store.Found, tmp_path: Path) -> None:
    _, token = shares.make_share(found)
    store.delete([tmp_path], found.id)
    assert shares.report_of_token([tmp_path], token) is None
    store.restore([tmp_path], found.id)
    assert shares.report_of_token([tmp_path], token) == found


def test_damaged_lines_open_nothing_and_hide_nothing(found: store.Found, tmp_path: Path) -> None:
    _, token = shares.make_share(found)
    with open(found.path / "shares.log", "ab") as file:
        file.write(b'\xff\xfe{"made": {"id": 1}}\n{"made"\n' + b"[" * 5000 + b'\n{"made":null,"revoked":"nobody"')
        file.write('\n{"made":{"id":"x","sha256":"é","label":"","created":1}}'.encode())
    _, later = shares.make_share(found)
    assert shares.report_of_token([tmp_path], token) == found
    assert shares.report_of_token([tmp_path], later) == found
    assert len(shares.active_shares(found)) == 3
    assert shares.report_of_token([tmp_path], "A" * 43) is None


@pytest.mark.parametrize("days", [0, -1, 1e9, float("nan")])
def test_a_senseless_time_is_refused(found: store.Found, days: float) -> None:
    with pytest.raises(UsageError, match="a link is valid for up to 3650 days"):
        shares.make_share(found, days=days)


def test_strange_tokens_open_nothing(found: store.Found, tmp_path: Path) -> None:
    shares.make_share(found)
    for token in ("", "x", "\udcff", "a" * 100_000, "é" * 43):
        assert shares.report_of_token([tmp_path], token) is None
