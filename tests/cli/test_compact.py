from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

import stepscope
from stepscope.cli.main import commands


def test_ended_runs_get_smaller_and_keep_every_value(store: Path) -> None:
    with stepscope.init(project="p", name="one", dir=store, console=False, system=False, git=False) as run:
        for step in range(3000):
            run.log({"loss": 1 / (step + 1)})
    before = stepscope.run("one", store).series("loss").values.tolist()
    done = json.loads(CliRunner().invoke(commands, ["compact", "--dir", str(store), "--json"]).output)
    assert done["runs"] == 1
    assert done["points"] == 3000
    assert done["bytes_after"] < done["bytes_before"] / 2
    assert stepscope.run("one", store).series("loss").values.tolist() == before
    again = CliRunner().invoke(commands, ["compact", "--dir", str(store)])
    assert "nothing to compact" in again.output
