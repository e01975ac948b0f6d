"""What a script gave the real Aim comes in with every value equal, and Aim's own folder stays as it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.imported import bring, python

from stepscope.importers.import_writer import Landed
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import json, os, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
from aim import Audio, Distribution, Image, Run, Text
out = sys.argv[1]

def started(name):
    kept = {"system_tracking_interval": None, "log_system_params": False, "capture_terminal_logs": False}
    run = Run(repo=out, experiment="expé", **kept)
    run.name = name
    return run

run = started("run one")
run.description = "words"
run.add_tag("first")
run["hparams"] = {"lr": 0.1, "model": {"depth": 3}, "layers": [1, 2]}
rng = np.random.default_rng(0)
losses, began = rng.normal(size=60).tolist(), time.time()
for i in range(60):
    run.track(losses[i], name="loss", step=i, epoch=i // 10, context={"subset": "train"})
    run.track(i * 0.25, name="loss", step=2 * i, context={"subset": "val", "fold": 1})
run.track(float("nan"), name="odd", step=0)
run.track(float("-inf"), name="odd", step=5)
picture = rng.integers(0, 255, (8, 9, 3), dtype=np.uint8)
run.track(Image(picture, caption="noise"), name="image", step=3)
run.track([Image(picture), Image(picture)], name="images", step=3)
run.track(Text("some words"), name="text", step=1)
run.track(Distribution(rng.normal(size=100), bin_count=10), name="spread", step=2, context={"layer": "a"})
run.track(Audio(rng.normal(size=800).astype("float32"), rate=8000, format="wav"), name="sound", step=2)
run.log_warning("careful")
run.close()
print(json.dumps({"losses": losses, "began": began, "ended": time.time()}), flush=True)
open_run = started("killed")
open_run.track(1.0, name="loss", step=0)
time.sleep(1.5)
os._exit(9)
"""


@dataclass
class Written:
    runs: dict[str, RunFolder]
    landed: Landed
    truth: dict[str, Any]
    folder: Path
    before: dict[str, bytes]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("aim")
    out = python(SCRIPT, str(folder), cwd=folder, fails=True)
    truth = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    before = _content(folder)
    found, landed = bring("aim", folder, folder / "store")
    return Written({run.name: run for run in found}, landed, truth, folder, before)


def _content(folder: Path) -> dict[str, bytes]:
    files = (path for path in (folder / ".aim").rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_every_number_is_what_was_tracked(written: Written) -> None:
    assert written.landed.troubles == []
    run, truth = written.runs["run one"], written.truth
    assert sorted(run.metrics()) == ["odd", "train/loss", "val/fold=1/loss"]
    train, held_out, odd = (run.series(name) for name in ("train/loss", "val/fold=1/loss", "odd"))
    assert train.steps.tolist() == list(range(60))
    assert train.values.tolist() == truth["losses"]
    assert held_out.steps.tolist() == [2 * i for i in range(60)]
    assert held_out.values.tolist() == [i * 0.25 for i in range(60)]
    assert (odd.steps.tolist(), [str(value) for value in odd.values]) == ([0, 5], ["nan", "-inf"])
    assert truth["began"] <= train.times.min() <= train.times.max() <= truth["ended"]
    assert (np.diff(train.times) >= 0).all()


def test_what_the_run_is_and_its_media(written: Written) -> None:
    run = written.runs["run one"]
    assert (run.project, run.notes, run.tags, run.status) == ("expé", "words", ["first"], "finished")
    assert run.config == {"hparams/lr": 0.1, "hparams/model/depth": 3, "hparams/layers": [1, 2]}
    assert run.media_keys() == {
        "image": "image",
        "images": "image",
        "text": "text",
        "layer=a/spread": "histogram",
        "sound": "audio",
    }
    assert run.media("image")[0].meta == {"width": 9, "height": 8, "caption": "noise"}
    assert [item.index for item in run.media("images")] == [0, 1]
    assert run.media("layer=a/spread")[0].meta["total"] == pytest.approx(100)
    assert [alert.title for alert in run.alerts] == ["careful"]


def test_aims_own_folder_is_as_it_was(written: Written) -> None:
    assert _content(written.folder) == written.before


def test_a_killed_run_is_there_with_what_it_tracked(written: Written) -> None:
    assert written.runs["killed"].series("loss").values.tolist() == [1.0]


@pytest.mark.parametrize("kind", ["run_metadata.sqlite", "seqs"])
def test_a_damaged_folder_costs_runs_and_no_more(written: Written, tmp_path: Path, kind: str) -> None:
    """Past their first bytes, which is where Aim and its databases notice, or not."""
    for name, content in written.before.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_spoiled(content) if kind in path.relative_to(tmp_path).parts else content)
    found, landed = bring("aim", tmp_path, tmp_path / "store")
    if kind == "seqs":
        assert [(run.name, run.metrics(), run.media_keys()) for run in found] == [
            ("killed", [], {}),
            ("run one", [], {}),
        ]
        assert any("'loss' was tracked up to step" in trouble for trouble in landed.troubles)
    else:
        assert found == []
        assert "Aim could not read the folder" in landed.troubles[0]


def _spoiled(content: bytes) -> bytes:
    return content[:100] + bytes(byte ^ 0x55 if at % 7 == 0 else byte for at, byte in enumerate(content[100:]))
