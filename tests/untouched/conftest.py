"""One warm process for all scripts; each runs plain once, whatever it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from .harness import SCRIPTS, Done, Zygote

Run = Callable[[str, str], Done]


@pytest.fixture(scope="session")
def run_script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """`run_script(name, arm)`: how the script ended and what it left."""
    zygote = Zygote(tmp_path_factory.mktemp("untouched") / "run")
    plain = cache(lambda name: zygote.run(SCRIPTS / f"{name}.py", "plain"))

    def run(name: str, arm: str) -> Done:
        return plain(name) if arm == "plain" else zygote.run(SCRIPTS / f"{name}.py", arm)

    yield run
    zygote.close()
