from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest


def some_runs(wandb: ModuleType) -> None:
    for at in range(3):
        with wandb.init(
            project="p",
            name=f"run {at}",
            id=f"id{at}",
            config={"lr": 10.0**-at, "opt": {"name": "sgd"}},
            tags=[f"t{at}"],
        ) as run:
            run.define_metric("acc", summary="max")
            for step in range(4):
                run.log({"loss": (at + 1) / (step + 1), "acc": [0.1, 0.9, 0.5, 0.2][step], "nested": {"x": step}})
                if step % 2:
                    run.log({"val": step}, step=run.step)
            run.summary["best"] = at
    wandb.init(project="other", name="elsewhere").finish(exit_code=1)


def test_runs_filtered_and_sorted(wandb: ModuleType) -> None:
    some_runs(wandb)
    api = wandb.Api()
    assert [run.name for run in api.runs("team/p")] == ["run 0", "run 1", "run 2"]
    assert [run.name for run in api.runs("p", order="-created_at")] == ["run 2", "run 1", "run 0"]
    assert [run.name for run in api.runs("p", order="+config.lr")] == ["run 2", "run 1", "run 0"]
    assert [run.id for run in api.runs("p", order="-summary_metrics.best")] == ["id2", "id1", "id0"]
    for wanted, names in (
        ({"config.lr": {"$lt": 0.5}}, ["run 1", "run 2"]),
        ({"config.lr": 0.1}, ["run 1"]),
        ({"summary_metrics.best": {"$gte": 1}, "tags": {"$in": ["t2", "t9"]}}, ["run 2"]),
        ({"$or": [{"display_name": "run 0"}, {"display_name": {"$regex": "2$"}}]}, ["run 0", "run 2"]),
        ({"config.opt.name": "sgd", "state": "finished", "tags": "t1"}, ["run 1"]),
        ({"config.nope": {"$exists": True}}, []),
        ({"$not": {"tags": {"$nin": ["t0"]}}}, ["run 0"]),
    ):
        assert [run.name for run in api.runs("p", filters=wanted)] == names, wanted
    with pytest.raises(wandb.UsageError, match="operator '\\$like' is unknown"):
        api.runs("p", filters={"config.lr": {"$like": 1}})
    assert [project.name for project in api.projects()] == ["other", "p"]
    assert len(api.runs("p")[:2]) == 2


def test_one_run_with_its_numbers(wandb: ModuleType, tmp_path: Path) -> None:
    some_runs(wandb)
    run = wandb.Api().run("team/p/id1")
    assert (run.name, run.state, run.project, run.tags) == ("run 1", "finished", "p", ["t1"])
    assert run.config == {"lr": 0.1, "opt": {"name": "sgd"}}
    assert (run.summary["acc"], run.summary["best"], run.summary["_step"]) == (0.9, 1, run.lastHistoryStep)
    assert run.summary._json_dict["loss"] == 0.5
    rows = run.history(pandas=False)
    assert [row["loss"] for row in rows if "loss" in row] == [2.0, 1.0, 2 / 3, 0.5]
    assert set(rows[0]) == {"_step", "_timestamp", "_runtime", "loss", "acc", "nested.x"}
    assert list(run.scan_history(keys=["val"])) == [{"val": 1.0}, {"val": 3.0}]
    assert [row["_step"] for row in run.scan_history(min_step=1, max_step=3)] == [1, 2]
    assert len(run.history(samples=2, pandas=False)) == 2
    assert wandb.Api().run("run 2").id == "id2"
    assert wandb.Api().run("other/elsewhere").state == "failed"
    with pytest.raises(wandb.errors.CommError, match="Could not find run 'p/none'"):
        wandb.Api().run("p/none")
    with pytest.raises(AttributeError, match=r"stepscope\.wandb has no"):
        run.nonsense  # noqa: B018


def test_a_history_is_a_frame_where_there_is_pandas(wandb: ModuleType) -> None:
    pytest.importorskip("pandas")
    some_runs(wandb)
    frame = wandb.Api().runs("p")[0].history(keys=["loss", "acc"])
    assert frame["loss"].tolist() == [1.0, 0.5, 1 / 3, 0.25]
    assert list(frame.columns) == ["_step", "loss", "acc"]


def test_damaged_neighbours_hide_nothing(wandb: ModuleType, store: Path) -> None:
    some_runs(wandb)
    victim = sorted(store.iterdir())[0]
    (victim / "meta.json").write_text("{")
    (sorted(store.iterdir())[1] / "wandb.json").write_bytes(b"\x00garbage")
    names = [run.name for run in wandb.Api().runs("p")]
    assert names == ["run 0", "run 1", "run 2"], "the damaged one is read from its log"
    with wandb.init(project="p", id="id2", resume="must") as run:
        assert run.step > 0


def test_artifacts_through_the_api(wandb: ModuleType) -> None:
    for text in ("one", "two"):
        with wandb.init(project="p") as run:
            artifact = wandb.Artifact("data", type="dataset")
            with artifact.new_file("f.txt") as stream:
                stream.write(text)
            run.log_artifact(artifact)
    api = wandb.Api()
    assert api.artifact("p/data:v0").get_entry("f.txt").size == 3
    assert [each.version for each in api.artifacts("dataset", "p/data")] == ["v1", "v0"]
    assert api.artifact_exists("p/data:v1")
    assert not api.artifact_exists("p/data:v7")
    assert [each.name for each in api.runs("p")[0].logged_artifacts()] == ["data:v0"]
