"""Hugging Face Trainer: the callback, `report_to`, and unmodified scripts under `stepscope run`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.warm import Done, Warm

import stepscope

PRELUDE = """\
import json, numpy as np, torch
from torch.utils.data import Dataset, Subset
from transformers import (BertConfig, BertForSequenceClassification, EarlyStoppingCallback, GPT2Config,
    GPT2LMHeadModel, Trainer, TrainingArguments, set_seed)
set_seed(0)
class Pairs(Dataset):
    def __init__(self, n, seed, classes=2):
        self.ids = torch.randint(3, 50, (n, 12), generator=torch.Generator().manual_seed(seed))
        self.labels = (self.ids[:, 0] * classes // 50).long()
    def __len__(self): return len(self.ids)
    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "attention_mask": torch.ones(12, dtype=torch.long), "labels": self.labels[i]}
class Text(Dataset):
    def __init__(self, n, seed):
        start = torch.randint(0, 64, (n, 1), generator=torch.Generator().manual_seed(seed))
        self.ids = (start + torch.arange(16) * 3) % 64
    def __len__(self): return len(self.ids)
    def __getitem__(self, i): return {"input_ids": self.ids[i], "labels": self.ids[i]}
def bert(**kw):
    return BertForSequenceClassification(BertConfig(**{**dict(vocab_size=50, hidden_size=32, num_hidden_layers=1,
        num_attention_heads=2, intermediate_size=64, max_position_embeddings=16), **kw}))
def gpt():
    return GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=32, n_layer=1, n_head=2))
def accuracy(p): return {"accuracy": float((np.argmax(p.predictions, axis=-1) == p.label_ids).mean())}
def options(**kw):
    return TrainingArguments(**{**dict(output_dir="out", num_train_epochs=2, per_device_train_batch_size=8,
        learning_rate=2e-3, logging_steps=4, eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True,
        disable_tqdm=True), **kw})
def tell(trainer):
    print("history=" + json.dumps(trainer.state.log_history))
    print("weights=" + json.dumps([p.detach().double().sum().item() for p in trainer.model.parameters()]))
"""
LINES = PRELUDE.count("\n")


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    process = Warm(
        "transformers.trainer", "transformers.models.bert.modeling_bert", "transformers.models.gpt2.modeling_gpt2"
    )
    yield process
    process.close()


def values_at(run: Any, name: str) -> list[tuple[int, float]]:
    series = run.series(name)
    return list(zip(series.steps.tolist(), series.values.tolist(), strict=True))


# -- the callback -----------------------------------------------------------------------------------------------------

CALLBACK = """
import os, stepscope.integrations.transformers
os.environ["STEPSCOPE_CHECKPOINTS"] = "copy"
trainer = Trainer(gpt(), options(report_to="stepscope", run_name="mine", save_strategy="epoch", eval_on_start=True,
    load_best_model_at_end=True), train_dataset=Text(64, 0), eval_dataset=Text(16, 1))
trainer.train()
print("test=" + json.dumps(trainer.predict(Text(16, 3)).metrics))
tell(trainer)
"""


@pytest.fixture(scope="module")
def recorded(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Done]:
    folder = tmp_path_factory.mktemp("callback")
    done = warm.python(folder, PRELUDE + CALLBACK)
    assert done.code == 0, done.err
    return stepscope.run("mine", folder / "stepscope-runs"), done


def test_report_to_keeps_every_value_the_trainer_logged(recorded: tuple[Any, Done]) -> None:
    run, done = recorded
    expected: dict[str, list[tuple[int, float]]] = {}
    for entry in done.value("history"):
        step = entry.pop("step")
        if "train_runtime" in entry:
            continue
        is_eval = "eval_loss" in entry
        for name, value in entry.items():
            if is_eval and name != "epoch":
                expected.setdefault(f"eval/{name.removeprefix('eval_')}", []).append((step, value))
            elif not is_eval:
                expected.setdefault(f"train/{name}", []).append((step, value))
    for name, value in done.value("test").items():
        expected[f"test/{name.removeprefix('test_')}"] = [(16, value)]
    assert {name: values_at(run, name) for name in expected} == expected
    assert len(expected["eval/loss"]) == 3
    assert [step for step, _ in expected["train/loss"]] == [4, 8, 12, 16]


def test_arguments_model_and_summary_are_kept(recorded: tuple[Any, Done]) -> None:
    run, done = recorded
    config = run.config
    assert (config["learning_rate"], config["num_train_epochs"], config["lr_scheduler_type"]) == (0.002, 2, "linear")
    assert (config["model/class"], config["model/n_embd"], config["model/vocab_size"]) == ("GPT2LMHeadModel", 32, 64)
    assert config["model/parameters"] == config["model/trainable_parameters"] > 10_000
    assert not any("token" in name and "hub" in name for name in config)
    last = done.value("history")[-1]
    assert run.summary["train_loss"] == last["train_loss"]
    losses = [value for _, value in values_at(run, "eval/loss")]
    assert run.summary["best_metric"] == min(losses)


def test_checkpoints_become_versions_of_one_artifact(recorded: tuple[Any, Done]) -> None:
    run, _ = recorded
    found = [one for one in run.artifacts if one.name == "checkpoint"]
    assert [one.version for one in found] == [0, 1]
    assert ["step-8" in found[0].aliases, "step-16" in found[1].aliases] == [True, True]
    names = {file.path for file in found[1].files}
    assert {"trainer_state.json", "config.json"} <= names
    assert found[1].metadata["eval/loss"] == values_at(run, "eval/loss")[-1][1]


MORE = """
from transformers.integrations import get_available_reporting_integrations, get_reporting_integration_callbacks
import stepscope, stepscope.integrations.transformers
from stepscope.integrations.transformers import StepscopeCallback
assert "stepscope" not in get_available_reporting_integrations()          # so "all" is as it was
assert StepscopeCallback not in get_reporting_integration_callbacks("all")
assert get_reporting_integration_callbacks(["stepscope"]) == [StepscopeCallback]
try:
    StepscopeCallback(checkpoints="sometimes")
except stepscope.StepscopeError as error:
    print("said=" + json.dumps(str(error)))
def train(**kw):
    trainer = Trainer(bert(), options(num_train_epochs=1, eval_strategy="no"), train_dataset=Pairs(32, 0),
                      callbacks=[StepscopeCallback(dir="runs", **kw)])
    trainer.train()
    return trainer
train(name="first", tags=["a"])
second = train(name="second")
second.evaluate(Pairs(16, 1), metric_key_prefix="fold_1")
with stepscope.init(name="own", dir="runs") as run:
    train(name="ignored")
"""


def test_each_training_is_a_run_unless_the_script_has_opened_one(warm: Warm, tmp_path: Path) -> None:
    done = warm.python(tmp_path, PRELUDE + MORE)
    assert done.code == 0, done.err
    assert done.value("said").startswith("checkpoints='sometimes' is unknown; use 'copy'")
    runs = {run.name: run for run in stepscope.runs(tmp_path / "runs")}
    assert sorted(runs) == ["first", "own", "second"]
    assert list(runs["first"].tags) == ["a"]
    assert [len(values_at(run, "train/loss")) for run in runs.values()] == [1, 1, 1]
    assert len(values_at(runs["second"], "fold_1/loss")) == 1


# -- unmodified scripts under `stepscope run` --------------------------------------------------------------------------

UNMODIFIED = """
class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels, weight=torch.tensor([1.0, 2.0]))
        return (loss, outputs) if return_outputs else loss
trainer = Weighted(bert(), options(gradient_accumulation_steps=2, warmup_steps=2, max_grad_norm=0.5,
    save_strategy="epoch", load_best_model_at_end=True, lr_scheduler_type="cosine", weight_decay=0.1),
    train_dataset=Pairs(160, 0), eval_dataset=Pairs(32, 1), compute_metrics=accuracy,
    callbacks=[EarlyStoppingCallback(2)])
trainer.train()
print("test=" + json.dumps(trainer.predict(Pairs(16, 2)).metrics))
tell(trainer)
"""


@pytest.fixture(scope="module")
def both(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Done, Done]:
    alone = warm.python(tmp_path_factory.mktemp("alone"), PRELUDE + UNMODIFIED)
    folder = tmp_path_factory.mktemp("watched")
    watched = warm.stepscope(folder, PRELUDE + UNMODIFIED, "run", "--name", "bert")
    assert (alone.code, watched.code) == (0, 0), watched.err
    return stepscope.run("bert", folder / "stepscope-runs"), alone, watched


def without_times(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    timed = ("runtime", "per_second")
    return [{name: value for name, value in one.items() if not name.endswith(timed)} for one in history]


def test_training_is_the_same_to_the_last_bit(both: tuple[Any, Done, Done]) -> None:
    _, alone, watched = both
    assert watched.value("weights") == alone.value("weights")
    assert without_times(watched.value("history")) == without_times(alone.value("history"))


def test_a_healthy_script_gives_no_findings(both: tuple[Any, Done, Done]) -> None:
    assert both[2].rules == []


def test_evaluations_are_the_trainers_own(both: tuple[Any, Done, Done]) -> None:
    run, _, watched = both
    told = [one for one in watched.value("history") if "eval_loss" in one]
    for name in ("loss", "accuracy"):
        assert values_at(run, f"eval/{name}") == [(one["step"], one[f"eval_{name}"]) for one in told]
    assert values_at(run, "test/loss") == [(20, watched.value("test")["test_loss"])]


def test_the_loss_of_a_step_is_that_of_its_whole_batch(both: tuple[Any, Done, Done]) -> None:
    run, _, watched = both
    losses = values_at(run, "train/loss")
    assert [step for step, _ in losses] == list(range(20))
    end = next(one for one in watched.value("history") if "train_loss" in one)
    assert math.isclose(sum(value for _, value in losses) / 20, end["train_loss"], rel_tol=1e-5)
    means = values_at(run, "transformers/loss")
    assert [step for step, _ in means] == [4, 8, 12, 16, 20]
    assert math.isclose(sum(value for _, value in losses[:4]) / 4, means[0][1], abs_tol=1e-4)  # some versions round
    assert run.summary["train_loss"] == end["train_loss"]


def test_phases_are_of_training_steps_only(both: tuple[Any, Done, Done]) -> None:
    run, _, _ = both
    from stepscope.profile.analyses.analysis import analysis_named
    from stepscope.profile.profile import Profile

    profile = Profile.load(next((run.path / "profiles").iterdir()))
    parts: Any = analysis_named("run-phases")(profile, 0)
    # The first step is not counted, and no evaluation, prediction or saving is taken for a step.
    assert list(parts.steps) in (list(range(20)), list(range(1, 20)))
    typical = {part.label: spent for part, spent in zip(parts.parts, parts.typical_ns, strict=True)}
    assert all(typical[name] > 0 for name in ("Data", "Forward", "Backward", "Optimizer")), typical


def test_settings_are_the_arguments_and_the_model(both: tuple[Any, Done, Done]) -> None:
    config = both[0].config
    assert (config["gradient_accumulation_steps"], config["lr_scheduler_type"]) == (2, "cosine")
    assert (config["model/class"], config["model/hidden_size"]) == ("BertForSequenceClassification", 32)
    assert not any(name.startswith(("_", "distributed_state")) for name in config)


# what is wrong, the rule that says so, the line it points to (counted in the script below the prelude)
BUGGY = {
    "masked labels": ("""
class Masked(Text):
    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": torch.full_like(self.ids[i], -100)}
Trainer(gpt(), options(eval_strategy="no"), train_dataset=Masked(64, 0)).train()
""", "loss.no-valid-target", 4),
    "labels shifted twice": ("""
class Shifted(Text):
    def __getitem__(self, i):
        return {"input_ids": self.ids[i][:-1], "labels": self.ids[i][1:]}
Trainer(gpt(), options(eval_strategy="no"), train_dataset=Shifted(64, 0)).train()
""", "data.target-shifted-twice", 4),
    "a rate of 0": ("""
trainer = Trainer(bert(), options(learning_rate=0.0, eval_strategy="no"), train_dataset=Pairs(96, 0))
trainer.train()
""", "opt.lr-too-low", 3),
    "softmax twice": ("""
class Soft(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        probs = torch.softmax(outputs.logits, dim=-1)
        return torch.nn.functional.cross_entropy(probs, labels)
Soft(bert(), options(eval_strategy="no"), train_dataset=Pairs(96, 0)).train()
""", "loss.softmax-before-ce", 6),
    "a part that is not trained": ("""
model = bert()
optimizer = torch.optim.AdamW(model.bert.parameters(), lr=2e-3)
Trainer(model, options(eval_strategy="no"), train_dataset=Pairs(160, 0), optimizers=(optimizer, None)).train()
""", "opt.missing-params", 3),
    "rows of the evaluation in training": ("""
data = Pairs(256, 0)
Trainer(bert(), options(per_device_train_batch_size=16, per_device_eval_batch_size=16), train_dataset=data,
        eval_dataset=Subset(data, range(64))).train()
""", "data.test-in-train", 3),
    "a token beyond the vocabulary": ("""
model = bert(vocab_size=40)
Trainer(model, options(eval_strategy="no"), train_dataset=Pairs(64, 0)).train()
""", "index.embedding-range", None),
    "class numbers as floats": ("""
class Floats(Pairs):
    def __getitem__(self, i):
        return {**super().__getitem__(i), "labels": self.labels[i].float()}
Trainer(bert(), options(eval_strategy="no"), train_dataset=Floats(64, 0)).train()
""", "shape.broadcast-crash", 5),
}  # fmt: skip


@pytest.mark.parametrize("fault", BUGGY)
def test_what_is_wrong_is_found_at_the_users_own_line(warm: Warm, tmp_path: Path, fault: str) -> None:
    script, rule, line = BUGGY[fault]
    done = warm.stepscope(tmp_path, PRELUDE + script, "run")
    assert done.rules == [rule], done.err
    where = done.place_of(rule)
    assert where.startswith("train.py:")
    if line is not None:
        assert int(where.partition(":")[2]) == LINES + line
    assert "handle_torch_function" not in done.err.partition("Traceback")[0]
    if fault == "class numbers as floats":
        said = " ".join(done.err.split())
        assert "binary cross entropy compares one score with one label, and the model gives 2 scores per sample" in said
        assert "input [8, 2], target [8]" in said
        assert "Transformers chooses this loss because the labels are floats" in said


def test_check_looks_at_a_trainer_and_leaves_nothing(warm: Warm, tmp_path: Path) -> None:
    done = warm.stepscope(tmp_path, PRELUDE + UNMODIFIED, "check")
    assert done.code == 0, done.err
    assert "nothing suspicious was found" in done.err
    assert not (tmp_path / "stepscope-runs").exists()
    assert list((tmp_path / "out").glob("checkpoint-*")) == []


# -- one step, recorded -----------------------------------------------------------------------------------------------

RECORDED = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from tests.record.conftest import record_and_compare
def build():
    model, ids = gpt(), torch.randint(0, 64, (2, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    def step():
        optimizer.zero_grad()
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        return loss
    return model, step
torch.set_num_threads(1)
step = record_and_compare(build)
print("called=" + json.dumps([call.path for call in step.calls]))
"""


def test_a_recorded_step_of_a_model_from_its_config_changes_nothing(warm: Warm, tmp_path: Path) -> None:
    done = warm.python(tmp_path, PRELUDE + RECORDED)
    assert done.code == 0, done.err
    assert {"transformer.h.0.attn", "lm_head"} <= set(done.value("called"))


NAMES = """
import sys
report = sys.argv[1]
if report == "stepscope":
    import stepscope.integrations.transformers
trainer = Trainer(bert(), options(report_to=report, eval_strategy="epoch", logging_steps=1, num_train_epochs=2),
    train_dataset=Pairs(16, 0), eval_dataset=Pairs(8, 1), compute_metrics=lambda found: {"acc": 0.5})
trainer.train()
print(trainer.evaluate(metric_key_prefix="final"))
print(trainer.predict(Pairs(8, 2)).metrics)
"""


def test_series_have_one_name_whatever_report_to_says(warm: Warm, tmp_path: Path) -> None:
    names = {}
    for report in ("none", "wandb", "stepscope"):
        folder = tmp_path / report
        folder.mkdir()
        words = ["run", "--no-diagnose", "--dir", str(folder / "runs"), "train.py", report]
        done = warm.stepscope(folder, PRELUDE + NAMES, *words)
        assert done.code == 0, done.err
        assert "circular import" not in done.err
        assert "failed and was skipped" not in done.err
        (run,) = stepscope.runs(folder / "runs")
        ours = ("system/", "time/", "speed/", "memory/")
        names[report] = sorted(name for name in run.metrics() if not name.startswith(ours))
    assert names["wandb"] == names["none"]
    assert names["stepscope"] == names["none"]
    assert {"eval/acc", "eval/loss", "train/epoch", "final/acc", "test/acc"} <= set(names["none"])
