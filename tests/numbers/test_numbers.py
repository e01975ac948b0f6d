"""Scripts of public shape: every number they print is in the run, to the printed digits, under the printed name."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import SCRIPTS, Compared, compared

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
}
"""The series each prints; bench/numbers.py runs all scripts."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Compared]:
    found = compared([SCRIPTS / f"{name}.py" for name in EXPECTED], tmp_path_factory.mktemp("numbers"))
    return {one.name: one for one in found}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_printed_number_is_recorded_under_its_printed_name(done: dict[str, Compared], name: str) -> None:
    assert done[name].missing == []
    assert set(done[name].said) == EXPECTED[name]


def test_there_are_forty_scripts_and_each_says_what_it_is() -> None:
    scripts = sorted(SCRIPTS.glob("*.py"))
    assert len(scripts) >= 40
    assert all(Path(one).read_text().startswith('"""') for one in scripts)
