"""One warm process for all scripts; each runs plain once, whatever it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from .harness import SCRIPTS, Done, Zygote

Run = Callable[[str, str], Done]


@pytest.fixture(scope="session")
def fresh_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """`fresh_run(name, arm)`: how the script ended and what it left."""
    zygote = Zygote(tmp_path_factory.mktemp("untouched") / "run")
    yield lambda name, arm: zygote.run(SCRIPTS / f"{name}.py", arm)
    zygote.close()


@pytest.fixture(scope="session")
def run_script(fresh_run: Run) -> Run:
    """The same, with what a script does under plain Python kept."""
    plain = cache(lambda name: fresh_run(name, "plain"))
    return lambda name, arm: plain(name) if arm == "plain" else fresh_run(name, arm)
