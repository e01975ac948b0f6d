"""A few rounds under fire in the gate; `python -m tests.sync.team_rounds` does 500."""

from __future__ import annotations

import shutil

import pytest
from tests.faults.rounds import ROUND, note_tries, times


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("initdb") is None, reason="PostgreSQL's initdb is not on the PATH")
def test_kills_of_client_server_and_postgresql_lose_nothing() -> None:
    from tests.sync.team_rounds import fire

    rounds = times(3)
    seen = fire(rounds, seed=ROUND)
    assert sum(seen[what] for what in ("client", "server", "postgresql", "network only")) == rounds
    assert seen["files compared"] > 2
    note_tries(rounds)
