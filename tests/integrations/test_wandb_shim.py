"""The same script with the real W&B (offline) and with `stepscope.wandb`: the same rows, summaries, settings, pictures.

Each script below is run twice as it stands, apart from its one import. W&B's rows are read from the file it wrote, with
its own message classes; ours from the run folder. `seen` holds what the script itself was told on the way.
"""

from __future__ import annotations

import inspect
import json
import os
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as pillow

import stepscope
import stepscope.wandb as ours

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

SCRIPTS = {
    "training": """
        import argparse, hashlib
        import numpy as np, torch
        import wandb

        args = argparse.Namespace(lr=0.05, epochs=3, batch_size=16)
        run = wandb.init(project="training", name="first", config=args, tags=["a", "b"], notes="n", group="g",
                         job_type="t")
        config = wandb.config
        torch.manual_seed(3)
        net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        wandb.watch(net, torch.nn.CrossEntropyLoss(), log="all", log_freq=4)
        optimizer = torch.optim.SGD(net.parameters(), lr=config.lr)
        x = torch.randn(64, 8); y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
        best, seen_steps = 0.0, []
        for epoch in range(config["epochs"]):
            for at in range(0, 64, config.batch_size):
                loss = torch.nn.functional.cross_entropy(net(x[at:at + 16]), y[at:at + 16])
                optimizer.zero_grad(); loss.backward(); optimizer.step()
                wandb.log({"train/loss": loss.item(), "tensor": loss, "epoch": epoch, "numpy": np.float32(0.5)})
            accuracy = (net(x).argmax(1) == y).float().mean()
            wandb.log({"val/acc": accuracy, "val": {"loss": float(loss) * 2, "deep": {"er": epoch}}}, commit=False)
            if accuracy > best:
                best = float(accuracy)
                wandb.run.summary["best_acc"] = best
            seen_steps.append(run.step)
        seen["steps"] = seen_steps
        seen["who"] = [run.name, run.project, list(run.tags), run.notes, run.group, run.job_type, run.resumed]
        seen["config"] = dict(wandb.config)
        seen["last"] = [run.summary["train/loss"], run.summary["best_acc"], run.summary["val"]["deep"]["er"]]
        weights = b"".join(p.detach().numpy().tobytes() for p in net.parameters())
        seen["weights"] = hashlib.sha256(weights).hexdigest()
        seen["next random number"] = float(torch.rand(1))
        wandb.finish()
        seen["after"] = wandb.run is None
    """,
    "steps": """
        import wandb
        run = wandb.init(project="steps")
        counted = [run.step]
        def log(*args, **kwargs):
            wandb.log(*args, **kwargs)
            counted.append(run.step)
        log({"a": 1})
        log({"b": 1}, commit=False)
        log({"b": 2, "c": {"d": 1, "e": {"f": 2}}})
        log({})
        log({"n": None, "s": "text", "l": [1, 2, 3], "yes": True, "mixed": ["a", 1]})
        log({"a": 2}, step=10)
        log({"b": 3}, step=10)
        log({"a": 5}, step=8)
        log({"x": 1})
        log({"y": 1}, step=20, commit=True)
        log({"nan": float("nan"), "inf": float("inf"), "minus": -float("inf"), "big": 2**53 - 1}, step=21)
        log({"a": 7}, step=22)
        log({"a": 8}, step=22)
        log({"a": 9})
        log({"with/slash": 1, "with.dot": 2, "ünï": 3})
        log({"last": 1}, commit=False)
        seen["counted"] = counted
        run.finish()
        try:
            wandb.log({"a": 1})
        except wandb.Error as error:
            seen["too late"] = str(error)
    """,
    "metrics": """
        import wandb
        with wandb.init(project="metrics") as run:
            run.define_metric("epoch")
            run.define_metric("val/*", step_metric="epoch", summary="min")
            wandb.define_metric("acc", summary="max,last", step_metric="epoch")
            run.define_metric("gone", summary="none")
            run.define_metric("same", summary="copy")
            run.define_metric("mean", summary="mean")
            run.define_metric("other", step_metric="tick", step_sync=False)
            for epoch in range(4):
                run.log({"val/loss": (3 - epoch) ** 2, "acc": epoch % 3, "epoch": epoch, "gone": 1, "same": epoch,
                         "mean": epoch, "tick": 10 * epoch})
            run.log({"val/loss": 7})
            run.log({"acc": 0.5, "other": 1})
            values = {name: run.summary.get(name) for name in ("gone", "same", "epoch")}
            seen["plain"] = values
            seen["inside"] = [run.summary["val/loss"]["min"], run.summary["acc"]["max"], run.summary["acc"]["last"],
                              run.summary["mean"]["mean"]]
            run.summary["by hand"] = 3
            run.summary.update({"more": 4, "nested": {"in": 5}})
            run.summary["same"] = 100
            seen["by hand"] = [run.summary["by hand"], run.summary.get("more"), run.summary["same"],
                               run.summary.get("no")]
            run.log({"same": 5})
            seen["logged again"] = run.summary["same"]
    """,
    "config": """
        import argparse, dataclasses, enum
        import numpy as np
        import wandb
        class Colour(enum.Enum):
            RED = 1
        try:
            wandb.config.lr
        except wandb.Error as error:
            seen["too early"] = str(error)
        wandb.init(project="config", config={"lr": 0.1, "opt": {"name": "adam", "betas": (0.9, 0.99)}, "drop": 1},
                   config_exclude_keys=["drop"])
        wandb.config.update({"new": 1, "np": np.float32(0.5), "colour": Colour.RED})
        wandb.config.epochs = 3
        wandb.config["seed"] = 7
        for change in (lambda: wandb.config.update({"lr": 3}), lambda: setattr(wandb.config, "epochs", 4)):
            try:
                change()
                seen.setdefault("changes", []).append("allowed")
            except Exception as error:
                seen.setdefault("changes", []).append(type(error).__name__)
        wandb.config.update({"lr": 0.2}, allow_val_change=True)
        wandb.config.update(argparse.Namespace(from_args=1))
        wandb.config.setdefaults({"lr": 9, "default": 2})
        seen["values"] = dict(wandb.config)
        seen["asked"] = [wandb.config.get("nope", 3), "lr" in wandb.config, sorted(wandb.config.keys()),
                         wandb.config.opt["name"], len(dict(wandb.config.items()))]
        for ask in (lambda: wandb.config.nope, lambda: wandb.config["nope"]):
            try:
                ask()
            except Exception as error:
                seen.setdefault("missing", []).append(type(error).__name__)
        again = wandb.init(project="other")
        seen["again"] = again is wandb.run
        wandb.finish()
        second = wandb.init(project="second", mode="disabled")
        wandb.log({"a": 1})
        seen["disabled"] = [wandb.run is not None, wandb.run.summary["a"]]
        wandb.finish()
    """,
    "media": """
        import numpy as np, torch
        import wandb
        run = wandb.init(project="media")
        noise = np.random.default_rng(0)
        grey = noise.integers(0, 256, (6, 5), np.uint8)
        colour = noise.integers(0, 256, (6, 5, 3), np.uint8)
        rgba = noise.integers(0, 256, (4, 4, 4), np.uint8)
        run.log({"grey": wandb.Image(grey, caption="c"), "colour": wandb.Image(colour), "rgba": wandb.Image(rgba),
                 "torch": wandb.Image(torch.from_numpy(colour).permute(2, 0, 1)),
                 "column": wandb.Image(grey[..., None]),
                 "list": [wandb.Image(grey), wandb.Image(grey[::-1].copy())]})
        table = wandb.Table(columns=["name", "score", "ok"])
        table.add_data("a", 0.5, True)
        table.add_data("b", None, False)
        table.add_column("extra", [10, 20])
        table.add_computed_columns(lambda at, row: {"twice": row["extra"] * 2})
        seen["table"] = [table.columns, table.get_column("extra"), table.data]
        values = noise.standard_normal(500)
        run.log({"table": table, "histogram": wandb.Histogram(values), "counted":
                 wandb.Histogram(np_histogram=np.histogram(values, 10)), "array": values,
                 "html": wandb.Html("<b>x</b>")})
        run.log({"line": wandb.plot.line(table, "extra", "twice", title="T"),
                 "bar": wandb.plot.bar(table, "name", "extra"), "i": 1})
        seen["mistakes"] = []
        for mistake in (lambda: table.add_data(1), lambda: wandb.Audio([0.0, 1.0]),
                        lambda: wandb.Artifact("a/b", type="t"), lambda: wandb.Object3D("x.txt"),
                        lambda: wandb.Artifact("a", type="t").add_file("no such file")):
            try:
                mistake()
                seen["mistakes"].append("none")
            except Exception as error:
                seen["mistakes"].append(type(error).__name__)
        artifact = wandb.Artifact("files", type="dataset", metadata={"rows": 3})
        open("data.txt", "w").write("hello")
        artifact.add_file("data.txt", name="inner/data.txt")
        with artifact.new_file("made.txt") as stream:
            stream.write("made")
        artifact.add(table, "my_table")
        seen["artifact"] = [artifact.name, artifact.type, artifact.metadata, sorted(artifact.manifest.entries)]
        seen["same object"] = run.log_artifact(artifact, aliases=["best"]) is artifact
        run.finish()
    """,
}
DRIVER = """
import json, os, sys, time
backend, root = sys.argv[1], sys.argv[2]
os.environ["WANDB_DIR"] = root
for name in sorted(os.listdir(root)):
    folder = os.path.join(root, name)
    os.chdir(folder)
    os.environ["STEPSCOPE_DIR"] = os.path.join(folder, "stepscope-runs")
    seen = {}
    exec(compile(open("script.py").read(), "script.py", "exec"), {"seen": seen, "__name__": "__main__"})
    json.dump(seen, open("seen.json", "w"), default=str)
"""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders in which all scripts were run, with the real package and with ours."""
    done: dict[str, Path] = {}
    started: dict[str, subprocess.Popen[str]] = {}
    environment = {
        **os.environ,
        "WANDB_MODE": "offline",
        "WANDB_SILENT": "true",
        "OMP_NUM_THREADS": "1",
        "HOME": str(tmp_path_factory.mktemp("home")),
        "STEPSCOPE_QUIET": "1",
    }
    environment.pop("STEPSCOPE_RUN", None)
    for backend, module in (("real", "wandb"), ("ours", "stepscope.wandb as wandb")):
        root = tmp_path_factory.mktemp(backend)
        for name, text in SCRIPTS.items():
            (root / name).mkdir()
            (root / name / "script.py").write_text(
                textwrap.dedent(text).replace("import wandb\n", f"import {module}\n")
            )
        command = [sys.executable, "-c", DRIVER, backend, str(root)]
        started[backend] = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        done[backend] = root
    for process in started.values():
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors[-3000:]
    return done


# -- reading what each wrote -----------------------------------------------------------------------------------------


def records(path: Path) -> Iterator[Any]:
    """The messages of a `.wandb` file: a log of blocks of 32 KiB, as LevelDB writes them."""
    from wandb.proto import wandb_internal_pb2

    data, at, part = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _crc, length, kind = struct.unpack("<IHB", data[at : at + 7])
        if kind == 0:
            return
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(part)
            part = b""
            yield record


def name_of(item: Any) -> str:
    return ".".join(item.nested_key) or item.key


def real_file(root: Path, project: str) -> Path:
    """The file of the run of a project: all runs of the process lie in one folder."""
    for path in root.glob("wandb/offline-run-*/*.wandb"):
        kinds = (record.run.project for record in records(path) if record.WhichOneof("record_type") == "run")
        if project in kinds:
            return path
    raise AssertionError(f"the real package left no run of {project}")


def real_rows(root: Path, project: str) -> dict[int, dict[str, Any]]:
    """Its history: numbers, words and lists, without what only describes media."""
    rows = {}
    for record in records(real_file(root, project)):
        if record.WhichOneof("record_type") != "history":
            continue
        row = {name_of(item): json.loads(item.value_json) for item in record.history.item}
        things = {name[: -len("._type")] for name in row if name.endswith("._type")}
        kept = {
            name: value
            for name, value in row.items()
            if value is not None
            and name not in ("_step", "_timestamp", "_runtime")
            and not any(name.startswith(thing + ".") for thing in things)
        }
        if kept:
            rows[row["_step"]] = kept
    return rows


def real_config(root: Path, project: str) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for record in records(real_file(root, project)):
        kind = record.WhichOneof("record_type")
        if kind in ("run", "config"):
            changes = record.run.config if kind == "run" else record.config
            config.update({name_of(item): json.loads(item.value_json) for item in changes.update})
    return {name: value for name, value in config.items() if not name.startswith("_wandb")}


def our_run(folder: Path, at: int = 0) -> Any:
    return stepscope.runs(folder / "stepscope-runs")[at]


def our_rows(folder: Path) -> dict[int, dict[str, Any]]:
    run = our_run(folder)
    rows: dict[int, dict[str, Any]] = {}
    for name in run.metrics():
        if not name.startswith("system/"):
            series = run.series(name)
            for step, value in zip(series.steps.tolist(), series.values.tolist(), strict=True):
                assert name not in rows.setdefault(step, {}), f"{name} stands twice at step {step}"
                rows[step][name] = value
    for media in run.media():
        if media.kind == "text":
            text = run.media_bytes(media).decode()
            rows.setdefault(media.step, {})[media.key] = json.loads(text) if text.startswith("[") else text
    return rows


def seen(root: Path, name: str) -> Any:
    return json.loads((root / name / "seen.json").read_text())


def comparable(value: Any) -> Any:
    """NaN equal to itself, and W&B's words for what JSON lacks."""
    if isinstance(value, dict):
        return {name: comparable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [comparable(each) for each in value]
    return "NaN" if isinstance(value, float) and value != value else value


# -- the comparisons -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["training", "steps", "metrics"])
def test_every_row_has_the_same_step_names_and_values(both: dict[str, Path], name: str) -> None:
    real = real_rows(both["real"], name)
    assert len(real) > 5
    assert comparable(our_rows(both["ours"] / name)) == comparable(real)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_the_script_itself_is_told_the_same(both: dict[str, Path], name: str) -> None:
    assert comparable(seen(both["ours"], name)) == comparable(seen(both["real"], name))


@pytest.mark.parametrize("name", ["training", "config"])
def test_the_settings_are_the_same(both: dict[str, Path], name: str) -> None:
    from stepscope.wandb.run_config import nested_config

    runs = stepscope.runs(both["ours"] / name / "stepscope-runs")
    assert len(runs) == 1  # the disabled run left nothing
    assert nested_config(runs[0].config) == real_config(both["real"], name)


def test_the_run_carries_its_names(both: dict[str, Path]) -> None:
    run = our_run(both["ours"] / "training")
    assert (run.project, run.name, run.group, run.notes, run.status) == ("training", "first", "g", "n", "finished")
    assert run.tags == ["a", "b", "job_type:t"]
    assert run.summary["best_acc"] == seen(both["real"], "training")["last"][1]


def test_watched_parameters_and_gradients_are_counted_alike(both: dict[str, Path]) -> None:
    """The same names at the same steps; the counts of our finer rules agree in number and range."""
    real: dict[tuple[str, int], tuple[float, float]] = {}
    for record in records(real_file(both["real"], "training")):
        if record.WhichOneof("record_type") == "history":
            row = {name_of(item): json.loads(item.value_json) for item in record.history.item}
            for name in row:
                if name.startswith(("gradients/", "parameters/")) and name.endswith(".values"):
                    bins = row[name.removesuffix("values") + "bins"]
                    real[name.removesuffix(".values"), row["_step"]] = (sum(row[name]), round(bins[0], 5))
    run = our_run(both["ours"] / "training")
    found = {
        (media.key, media.step): (float(media.meta["total"]), round(media.meta["min"], 5))
        for media in run.media()
        if media.kind == "histogram"
    }
    assert len(real) == 2 * 4 * 3
    assert found == real


def files_of(root: Path, ending: str) -> list[Path]:
    return sorted(real_file(root, "media").parent.glob(f"files/media/**/*{ending}"))


def test_pictures_have_the_same_pixels(both: dict[str, Path]) -> None:
    run = our_run(both["ours"] / "media")
    compared = 0
    for key in ("grey", "colour", "rgba", "torch", "column"):
        [theirs] = [path for path in files_of(both["real"], ".png") if path.name.startswith(f"{key}_")]
        [media] = run.media(key)
        import io

        pixels = np.asarray(pillow.open(io.BytesIO(run.media_bytes(media))))
        assert np.array_equal(pixels, np.asarray(pillow.open(theirs))), key
        compared += 1
    assert compared == 5
    assert [media.index for media in run.media("list")] == [0, 1]
    [grey] = run.media("grey")
    assert grey.meta["caption"] == "c"


def test_tables_have_the_same_cells(both: dict[str, Path]) -> None:
    run = our_run(both["ours"] / "media")
    tables = [path for path in files_of(both["real"], ".table.json") if path.name.startswith("table_")]
    theirs = json.loads(tables[0].read_text())
    [table] = run.media("table")
    mine = json.loads(run.media_bytes(table))
    assert (mine["columns"], mine["rows"]) == (theirs["columns"], theirs["data"])
    assert [media.key for media in run.media() if media.key.startswith("line")] == ["line", "line_table"]


def test_histograms_have_the_same_counts(both: dict[str, Path]) -> None:
    rows: dict[str, Any] = {}
    for record in records(real_file(both["real"], "media")):
        if record.WhichOneof("record_type") == "history":
            rows.update({name_of(item): json.loads(item.value_json) for item in record.history.item})
    run = our_run(both["ours"] / "media")
    for key in ("histogram", "counted", "array"):
        [media] = run.media(key)
        numbers = np.frombuffer(run.media_bytes(media), "<f8")
        bins = media.meta["bins"]
        assert np.allclose(numbers[: bins + 1], rows[f"{key}.bins"], rtol=1e-6), key
        assert numbers[bins + 1 :].tolist() == rows[f"{key}.values"], key


# -- the calls themselves --------------------------------------------------------------------------------------------

FUNCTIONS = [
    "init", "finish", "log", "define_metric", "watch", "unwatch", "save", "restore", "alert", "log_artifact",
    "use_artifact", "log_model", "use_model", "link_model", "login", "setup", "teardown", "sweep", "agent", "attach",
    "mark_preempting", "require", "plot_table", "termlog", "termwarn", "termerror", "box3d",
]  # fmt: skip
CLASSES = [
    "Image", "Histogram", "Table", "Audio", "Video", "Html", "Object3D", "Molecule", "Plotly", "Artifact", "Api",
    "Classes", "Graph",
]  # fmt: skip
PLOTS = ["line", "scatter", "bar", "histogram", "line_series", "pr_curve", "roc_curve", "confusion_matrix"]


def check_call(name: str, theirs: Any, mine: Any) -> list[str]:
    """What a call written for W&B could pass and ours would not take: by name, and by place."""
    wanted = inspect.signature(theirs).parameters.values()
    taken = inspect.signature(mine).parameters
    anything = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    missing = [
        each.name
        for each in wanted
        if each.name not in taken and not anything and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
    ]
    places = [each.name for each in wanted if each.kind is each.POSITIONAL_OR_KEYWORD]
    mine_places = [each.name for each in taken.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    moved = [a for a, b in zip(places, mine_places, strict=False) if a != b and a not in ("goal", "anonymous")]
    needed = [
        each.name
        for each in taken.values()
        if each.default is each.empty
        and each.kind is each.POSITIONAL_OR_KEYWORD
        and each.name in {one.name for one in wanted if one.default is not one.empty}
    ]
    return [f"{name}: {kind} {names}" for kind, names in (("lacks", missing), ("needs", needed)) if names] + (
        [f"{name}: other places {moved}"] if moved and "goal" not in mine_places else []
    )


def test_calls_written_for_it_are_taken() -> None:
    import wandb as real

    faults: list[str] = []
    for name in (*FUNCTIONS, *CLASSES):
        faults += check_call(name, getattr(real, name), getattr(ours, name))
    for name in PLOTS:
        faults += check_call(f"plot.{name}", getattr(real.plot, name), getattr(ours.plot, name))
    for kind in ("Run", "Artifact", "Table"):
        theirs, mine = getattr(real, kind), getattr(ours, kind)
        for name, method in inspect.getmembers(theirs, callable):
            if not name.startswith("_") and inspect.isfunction(method) and hasattr(mine, name):
                faults += check_call(f"{kind}.{name}", method, getattr(mine, name))
    assert faults == []


def test_what_goes_to_tensorboard_is_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorboardX import SummaryWriter

    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "runs"))
    add_scalar = SummaryWriter.add_scalar
    with ours.init(project="both", sync_tensorboard=True) as run, SummaryWriter(str(tmp_path / "logs")) as writer:
        for step in range(3):
            writer.add_scalar("train/loss", 1 / (step + 1), 10 * step)
            writer.add_histogram("weights", np.arange(5.0), 10 * step)
            run.log({"own": step})
        assert run.step == 3
    assert SummaryWriter.add_scalar is add_scalar
    [read] = stepscope.runs(tmp_path / "runs")
    series = read.series("train/loss")
    assert (series.steps.tolist(), series.values.tolist()) == ([0, 10, 20], [1.0, 0.5, 1 / 3])
    assert read.series("own").steps.tolist() == [0, 1, 2]
    assert [media.step for media in read.media("weights")] == [0, 10, 20]


def test_a_bayesian_sweep_learns_with_optuna(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_DIR", str(tmp_path / "runs"))
    config = {
        "method": "bayes",
        "seed": 0,
        "metric": {"name": "loss", "goal": "minimize"},
        "parameters": {"x": {"min": -10.0, "max": 10.0}, "kind": {"values": ["a", "b"]}},
    }
    tried = []

    def train() -> None:
        with ours.init(project="bayes") as run:
            tried.append(run.config.x)
            run.log({"loss": (run.config.x - 3) ** 2 + (run.config.kind == "a")})

    ours.agent(ours.sweep(config), train, count=30)
    assert len(tried) == 30
    assert all(-10 <= x <= 10 for x in tried)
    # The first ten are drawn at random; a sampler that learns from what it was told then comes nearer.
    assert np.median(np.abs(np.array(tried[15:]) - 3)) < np.median(np.abs(np.array(tried[:10]) - 3))
    assert len(stepscope.runs(tmp_path / "runs")) == 30


def test_every_public_name_is_here_or_names_another_way() -> None:
    import wandb as real

    for name in real.__all__:
        if name in ("controller", "EvalTable"):
            with pytest.raises(AttributeError, match=r"stepscope\.wandb has no"):
                getattr(ours, name)
        else:
            assert hasattr(ours, name), name


def test_every_method_of_a_run_is_here() -> None:
    import wandb as real

    missing = [name for name in dir(real.Run) if not name.startswith("_") and not hasattr(ours.Run, name)]
    assert missing == []
