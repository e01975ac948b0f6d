"""`stepscope server retention` and `server storage`: set, shown, and tried without doing anything."""

from __future__ import annotations

import json
import time
from pathlib import Path

from click.testing import CliRunner
from tests.runs.making import make_run
from tests.team import people_in

from stepscope.cli.main import commands
from stepscope.people.audit import audit_log
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.compact.compact import compact
from stepscope.runs.compact.thin import is_thinned
from stepscope.server.housekeeper import Housekeeper


def call(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(commands, ["server", *words])
    return result.exit_code, result.output or str(result.exception)


def test_settings_are_kept_shown_and_tried(tmp_path: Path) -> None:
    home = tmp_path / "server"
    long_ago = time.time() - 100 * 86400
    run = make_run(home, series={"loss": [float(step) for step in range(5000)]}, created=long_ago, project="vision")
    compact(run)
    with people_in(home) as people:
        folder = ("--folder", str(home))
        assert "every other project: keep everything" in call("retention", *folder)[1]
        code, said = call("retention", *folder, "--project", "vision", "--points-days", "30", "--dry-run")
        assert code == 0
        assert said.endswith("of 1 run would be removed; nothing was changed\n")
        assert run.name in said
        assert not is_thinned(run)
        code, said = call("retention", *folder, "--project", "vision", "--points-days", "30", "--quota", "2GB")
        assert (code, said.splitlines()[0]) == (
            0,
            "project vision: thin points after 30 days, empty the trash after 30 days, quota 1.863 GiB",
        )
        assert call("retention", *folder, "--project", "vision", "--points-days", "none", "--json")[0] == 0
        held = json.loads(call("retention", *folder, "--json")[1])["projects"]["vision"]
        assert (held["policy"]["points_days"], held["quota_bytes"]) == (None, 2_000_000_000)
        assert call("retention", *folder, "--user", "ada", "--quota", "5MB")[0] == 0
        assert [one.subject for one in audit_log(people)] == ["user ada", "project vision", "project vision"]
        assert call("storage", *folder)[1].startswith("nothing has been measured yet")
        with Catalogue(home) as catalogue:
            catalogue.refresh()
            Housekeeper(catalogue, home, None, people, rest_s=0.0).once()
        assert json.loads(call("storage", *folder, "--json")[1])[0]["project"] == "vision"
        assert run.name in call("storage", *folder, "--project", "vision")[1]


def test_mistakes_are_named(tmp_path: Path) -> None:
    with people_in(tmp_path / "server"):
        folder = ("--folder", str(tmp_path / "server"))
        assert "pass either --project NAME or --user NAME" in call("retention", *folder, "--points-days", "3")[1]
        assert "only a --quota" in call("retention", *folder, "--user", "ada", "--trash-days", "3")[1]
        assert "is not a number" in call("retention", *folder, "--project", "p", "--media-newest", "many")[1]
        assert "must be 0 or more" in call("retention", *folder, "--project", "p", "--points-days=-1")[1]
