"""What every test gets: a private cache, and the proof that nothing of ours is left behind."""

from __future__ import annotations

import builtins
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.ports import reserved_port

from stepscope import events, fence
from stepscope.events import hub

if TYPE_CHECKING:
    from tests.postgres import Postgres

# A machine that does other things too is slow at making examples and at running them; neither says anything of ours.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The gate tries the same examples every time: what fails, fails for the change at hand. Each night looks further.
settings.register_profile("gate", settings.get_profile("any machine"), derandomize=True)
settings.load_profile("any machine" if {"STEPSCOPE_NIGHTLY", "STEPSCOPE_SOAK"} & {*os.environ} else "gate")

# Started by a shell in the background, this process and all that it starts would never hear of Ctrl+C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew", action="store_true", help="write golden files anew; then look at the diff")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get("STEPSCOPE_NIGHTLY"):
        for item in items:
            if item.get_closest_marker("nightly"):
                item.add_marker(pytest.mark.skip(reason="scripts/nightly runs it"))


@pytest.fixture(autouse=True)
def private_surroundings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the developer's own cache or runs."""
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("STEPSCOPE_CONFIG", str(tmp_path_factory.getbasetemp() / "config"))
    for name in (
        "STEPSCOPE_DATABASE",
        "STEPSCOPE_TOKEN",
        "STEPSCOPE_DIR",
        "STEPSCOPE_MODE",
        "STEPSCOPE_RUN",
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def nothing_left_behind(private_surroundings: None) -> Iterator[None]:
    """After a test no hook, patch, signal handler or thread of ours is left."""
    before = (sys.excepthook, threading.excepthook, signal.getsignal(signal.SIGTERM), type(builtins.exit).__call__)
    streams = (sys.stdout, sys.stderr)
    fence.reset()
    yield
    session = sys.modules.get("stepscope.track.session")
    if session is not None:
        session.finish()
    fence.reset()
    after = (sys.excepthook, threading.excepthook, signal.getsignal(signal.SIGTERM), type(builtins.exit).__call__)
    assert after == before, "a hook or signal handler of ours is still installed"
    for now, then in zip((sys.stdout, sys.stderr), streams, strict=True):
        assert type(now) is type(then), f"{then} is still wrapped"
    for thread in [one for one in threading.enumerate() if one.name.startswith("stepscope")]:
        thread.join(30)  # on a busy machine one that has been told to end may still be about to
    ours = [thread.name for thread in threading.enumerate() if thread.name.startswith("stepscope")]
    assert not ours, f"threads of ours are still running: {ours}"
    patched = [f"{patch.point or patch.owner}.{patch.name}" for patch in events.installed_now()]
    assert not patched, f"patches of ours are still in place: {patched}"
    subscribed = [subscription.who for subscription in hub.subscriptions()]
    assert not subscribed, f"still subscribed to events: {subscribed}"
    left = _modes_and_hooks()
    assert not left, f"torch is left with: {left}"


def _modes_and_hooks() -> list[str]:
    """Modes and global optimizer hooks that torch has now, if it is there."""
    torch = sys.modules.get("torch")
    optimizer = sys.modules.get("torch.optim.optimizer")
    if torch is None or optimizer is None:
        return []
    modes = [type(mode).__name__ for mode in torch.overrides._get_current_function_mode_stack()]
    hooks = {**optimizer._global_optimizer_pre_hooks, **optimizer._global_optimizer_post_hooks}
    dispatching = torch._C._len_torch_dispatch_stack()
    return [*modes, *map(repr, hooks.values()), *["a dispatch mode"] * dispatching]


@pytest.fixture
def port() -> Iterator[int]:
    """A port that nothing listens on, kept for this test."""
    with reserved_port() as number:
        yield number


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """An empty folder for runs."""
    path = tmp_path / "runs"
    path.mkdir()
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this test process; `postgres.new_database()` is the address of an empty database."""
    if shutil.which("initdb") is None:
        pytest.skip("PostgreSQL's initdb is not on the PATH")
    from tests.postgres import Postgres

    server = Postgres()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind that the team server runs on."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'server.db'}"
    return str(request.getfixturevalue("postgres").new_database())
