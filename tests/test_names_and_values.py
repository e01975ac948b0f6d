"""Whatever a thing is called and whatever a value is: it comes back through the API as it was, and is never a path."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.server.conftest import TOKEN, Caller, signed_in

import stepscope
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.index import Index
from stepscope.server.app import create_app
from stepscope.server.settings import Settings

HOSTILE = [
    "x" * 10_000, "a\0b", "a\nb", "..", "../../etc/hosts", "/etc/hosts", "C:\\x", "CON", "nul.txt", "~", ".", "-rf",
    "😀", "\u202eabc", "é", "e\u0301", "<script>alert(1)</script>", "=1+1", "'; drop table runs;--", "\x1b[31m",
    "a" + "/b" * 50, "\ufeff", "\u2028", "%2e%2e%2f", "${HOME}", "{{7*7}}", "\ud800",
]  # fmt: skip


def strict(text: bytes) -> Any:
    """As a browser parses it: NaN and Infinity are no JSON."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not valid JSON")

    return json.loads(text, parse_constant=refuse)


def client_for(store: Path, tmp_path: Path) -> tuple[Caller, Catalogue]:
    catalogue = Catalogue(store, index=Index(tmp_path / "cache"))
    return signed_in(create_app(catalogue, Settings(token=TOKEN, static=tmp_path / "no"))), catalogue


def as_kept(name: str) -> str:
    """A lone surrogate has no UTF-8 and is spelled out."""
    return name.encode("utf-8", "backslashreplace").decode()


def record_and_look(name: str, store: Path, tmp_path: Path) -> None:
    before = set(os.listdir(tmp_path))
    source = tmp_path / "weights.bin"
    source.write_bytes(b"w")
    options: dict[str, Any] = {"system": False, "git": False, "console": False}
    run = stepscope.init(project=name, name=name, tags=[name], notes=name, config={name: name}, dir=store, **options)
    run.log({name: 1.5, "plain": 1.0})
    run.log({"text": name, name + "m": stepscope.Text(name)})
    run.log_artifact(source, name=name)
    run.alert(name, name)
    run.finish()
    assert run.path is not None
    client, catalogue = client_for(store, tmp_path)
    with catalogue:
        catalogue.refresh()
        about = strict(client.post("/api/run", {"run": run.id}).content)
        kept = as_kept(name)
        assert about["name"] == kept
        assert about["config"] == {kept: kept}
        lines = strict(client.post("/api/series", {"runs": [run.id], "keys": [kept]}).content)["lines"]
        assert [(line["key"], line["value"]) for line in lines] == [(kept, [1.5])]
        assert len(strict(client.post("/api/runs", {"columns": [f"config.{kept}"]}).content)["rows"]) == 1
    inside = {path.relative_to(store).parts[0] for path in store.rglob("*")}
    assert inside == {run.id}, "a file outside the run's folder"
    assert set(os.listdir(tmp_path)) - before <= {"weights.bin", "cache", "runs", "cache-wal"}


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:20])
def test_a_hostile_name_comes_back_and_is_never_a_path(name: str, store: Path, tmp_path: Path) -> None:
    record_and_look(name, store, tmp_path)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), min_size=1, max_size=30).filter(lambda name: name.strip(" \t\r\n")))
def test_any_name_comes_back_and_is_never_a_path(
    tmp_path_factory: pytest.TempPathFactory, nothing_left_behind: None, name: str
) -> None:
    folder = tmp_path_factory.mktemp("names")
    (folder / "runs").mkdir()
    record_and_look(name, folder / "runs", folder)


VALUES: list[tuple[Any, Any]] = [
    (1, 1), (0.1, 0.1), (True, 1), (-0.0, 0), (5e-324, 5e-324), (1.7976931348623157e308, 1.7976931348623157e308),
    (math.nan, None), (math.inf, None), (-math.inf, None), (2**53 + 1, 2**53), (2**70, 2**70), (10**400, None),
    (np.float16(0.5), 0.5), (np.float32(0.1), float(np.float32(0.1))), (np.int64(2**62 + 1), 2**62),
    (np.array(2.5), 2.5), (np.longdouble(1.5), 1.5), (np.uint64(2**64 - 1), 2**64),
]  # fmt: skip


def test_every_value_is_valid_json_by_the_time_a_page_sees_it(store: Path, tmp_path: Path) -> None:
    run = stepscope.init(dir=store, system=False, git=False, console=False)
    for number, (value, _shown) in enumerate(VALUES):
        run.log({f"v{number}": value}, step=0)
    run.finish()
    client, catalogue = client_for(store, tmp_path)
    with catalogue:
        catalogue.refresh()
        keys = [f"v{number}" for number in range(len(VALUES))]
        lines = strict(client.post("/api/series", {"runs": [run.id], "keys": keys}).content)["lines"]
        found = {line["key"]: line["value"][0] for line in lines}
        assert found == {key: shown for key, (_value, shown) in zip(keys, VALUES, strict=True)}
        for path, body in (("/api/run", {"run": run.id}), ("/api/runs", {"columns": [f"{key}.last" for key in keys]})):
            strict(client.post(path, body).content)
