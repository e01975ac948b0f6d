"""Scripts of public shape: every number they print is in the run, to the printed digits, under the printed name."""

from __future__ import annotations

from pathlib import Path

import pytest

from .derived import derived
from .harness import SCRIPTS, Compared, compared

# fmt: off
EXPECTED = {
    "mnist_example": {"Train Loss", "Test set Average loss", "Test set Accuracy"},
    "vae": {"Train Loss", "Average loss", "Test set loss"},
    "nanogpt": {"train loss", "val loss", "loss", "time", "mfu"},
    "dcgan": {"Loss_D", "Loss_G", "D(x)", "D(G(z))", "D(G(z)) (2)"},
    "manual_numpy_style": {"loss"},
    "manual_data_add": {"lr", "ms/batch", "loss", "ppl"},
    "hand_tqdm": {"loss"},
    "table_rows": {"train_loss", "valid_loss", "accuracy"},
    "imagenet_meters": {"Loss", "Loss (avg)", "Acc@1", "Acc@1 (avg)", "Acc@2", "Acc@2 (avg)"},
    "two_splits": {"val loss", "val acc", "test loss", "test acc"},
    "quickstart": {"loss", "Test Error Accuracy", "Test Error Avg loss"},
    "silent_evaluation": set(),
    "siamese_test": {"test_loss"},
    "manual_foreach": {"mse"},
    "functional_func": {"loss"},
    "evolution_strategy": set(),
    "timm_train": {"Train Loss", "Train Loss (avg)", "Train LR", "Test Loss", "Test Loss (avg)", "Test Acc@1",
                   "Test Acc@1 (avg)", "Best metric"},
    "sb3_box": {"rollout/ep_len_mean", "rollout/ep_rew_mean", "console/time/total_timesteps", "console/train/loss",
                "console/train/entropy_loss", "console/train/policy_gradient_loss"},
    "nested_dicts": {"train loss", "val acc"},
    "seq2seq_attention": {"Loss"},
    "yolo_columns": {"box_loss", "cls_loss", "P", "R"},
}
# fmt: on
"""The series each prints; bench/printed_numbers.py runs all scripts."""
_TERMS = ("translation", "length")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compared]:
    found = compared([SCRIPTS / f"{name}.py" for name in EXPECTED], tmp_path_factory.mktemp("numbers"))
    return {one.name: one for one in found}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_printed_number_is_recorded_under_its_printed_name(done: dict[str, Compared], name: str) -> None:
    assert done[name].missing == []
    assert set(done[name].said) == EXPECTED[name]


def test_a_step_is_gradients_and_then_changed_weights(done: dict[str, Compared]) -> None:
    by_hand = {name: done[name].derived for name in ("manual_numpy_style", "manual_data_add", "manual_foreach")}
    assert {name: len(found["train/loss"]) for name, found in by_hand.items()} == {
        "manual_numpy_style": 40, "manual_data_add": 12, "manual_foreach": 12,
    }  # fmt: skip
    said, felt = done["manual_numpy_style"].said["loss"], by_hand["manual_numpy_style"]["train/loss"]
    assert felt[9::10] == pytest.approx(said)
    assert by_hand["manual_foreach"]["train/loss"][::4] == pytest.approx(done["manual_foreach"].said["mse"], abs=5e-6)


def test_losses_and_models_have_the_names_of_the_script(done: dict[str, Compared]) -> None:
    derived, said = done["dcgan"].derived, done["dcgan"].said
    losses = {name for name in derived if not name.endswith(("/lr", "/grad_norm", "/update_ratio"))}
    assert losses == {"train/netD/errD_real", "train/netD/errD_fake", "train/netG/loss"}
    both = zip(derived["train/netD/errD_real"], derived["train/netD/errD_fake"], strict=True)
    assert [a + b for a, b in both] == pytest.approx(said["Loss_D"], abs=1e-4)
    assert derived["train/netG/loss"] == pytest.approx(said["Loss_G"], abs=1e-4)


def test_optimizers_that_share_a_backward_share_its_step_and_its_losses(done: dict[str, Compared]) -> None:
    derived, said = done["seq2seq_attention"].derived, done["seq2seq_attention"].said
    losses = {name: values for name, values in derived.items() if name.rsplit("/")[-1] in ("loss", *_TERMS)}
    assert {name: len(values) for name, values in losses.items()} == {
        "train/loss": 12, "train/translation": 12, "train/length": 12,
    }  # fmt: skip
    means = [sum(losses["train/loss"][at : at + 3]) / 3 for at in range(0, 12, 3)]
    assert means == pytest.approx(said["Loss"], abs=1e-4)
    both = zip(losses["train/translation"], losses["train/length"], strict=True)
    assert [a + b for a, b in both] == pytest.approx(losses["train/loss"])
    assert len(derived["train/EncoderRNN/lr"]) == len(derived["train/DecoderRNN/lr"]) == 12


def test_no_evaluation_of_ours_stands_beside_what_is_printed_or_was_not_understood(done: dict[str, Compared]) -> None:
    ours = {name: {metric for metric in one.derived if metric.startswith("eval/")} for name, one in done.items()}
    assert {name: found for name, found in ours.items() if found} == {"silent_evaluation": {"eval/val/loss"}}
    assert len(done["silent_evaluation"].derived["eval/val/loss"]) == 3


def test_what_we_derive_without_the_console_is_what_the_script_prints(tmp_path: Path) -> None:
    names = ("mnist_size_average", "vae", "two_splits", "transfer_learning", "imagenet_meters", "early_break")
    found = {one.name: one for one in derived([SCRIPTS / f"{name}.py" for name in names], tmp_path)}
    assert {name: one.equal for name, one in found.items()} == {
        "mnist_size_average": {"eval/test/accuracy": 3, "eval/test/loss": 3},
        "vae": {"eval/test/loss": 4},
        "two_splits": dict.fromkeys(["eval/test/accuracy", "eval/test/loss", "eval/val/accuracy", "eval/val/loss"], 3),
        "transfer_learning": {"eval/val/accuracy": 3, "eval/val/loss": 3},
        "imagenet_meters": {"eval/val/accuracy": 2},
        "early_break": {},
    }
    assert all(not values for one in found.values() for values in one.differ.values())


def test_a_training_that_cannot_be_seen_is_named_with_what_to_call(done: dict[str, Compared]) -> None:
    silent = done["evolution_strategy"].err
    assert "no training step was recognized: the weights of a model changed between its calls" in silent
    assert "run.log({'loss': loss}, step=step)" in silent
    assert {name for name, one in done.items() if "recognized" in one.err} == {"evolution_strategy"}


def test_new_weights_from_gradients_of_torch_func_are_steps(done: dict[str, Compared]) -> None:
    assert "nothing found in 9 steps" in done["functional_func"].err


def test_there_are_forty_scripts_and_each_says_what_it_is() -> None:
    scripts = sorted(SCRIPTS.glob("*.py"))
    assert len(scripts) >= 40
    assert all(Path(one).read_text().startswith('"""') for one in scripts)
