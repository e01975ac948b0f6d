"""`stepscope data train.py`, as a user sees it."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from .conftest import Done, launch_all

TRAIN = """
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset, Dataset

    torch.manual_seed(0)
    images, labels = torch.rand(50, 1, 8, 8), torch.arange(50) % 5

    class Digits(Dataset):
        def __init__(self, first, last): self.rows = range(first, last)
        def __len__(self): return len(self.rows)
        def __getitem__(self, i):
            return images[self.rows[i]], labels[self.rows[i]]

    def main():
        train_loader = DataLoader(Digits(0, 40), batch_size=16, shuffle=True, num_workers=2)
        val_loader = DataLoader(Digits(30, 50), batch_size=10)
        test = DataLoader(Digits(45, 50), batch_size=5)
        model = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 5))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(50):
            for x, y in train_loader:
                loss = nn.functional.cross_entropy(model(x), y)
                optimizer.zero_grad(); loss.backward(); optimizer.step()
            with torch.no_grad():
                right = sum(int((model(x).argmax(1) == y).sum()) for x, y in val_loader)
            print("epoch", epoch, right)
            torch.save(model.state_dict(), "model.pt")

    if __name__ == "__main__":
        main()
"""
CRASH = TRAIN.replace("return images[self.rows[i]]", "return images[self.rows[i]][..., : 4 + i % 3]")
BARE = """
    import torch
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        x = torch.randn(6, 3)
        loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        print("step", step)
"""
AGAIN = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    x = torch.randn(40, 3)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        for (part,) in DataLoader(TensorDataset(x), batch_size=8, shuffle=True):
            loss = torch.nn.functional.mse_loss(model(part), part.sum(1, keepdim=True))
            optimizer.zero_grad(); loss.backward(); optimizer.step()
"""
CASES = {
    "train": (TRAIN, []),
    "json": (TRAIN, ["--json", "-", "--no-run", "--samples", "20"]),
    "crash": (CRASH, ["--no-run", "-q"]),
    "bare": (BARE, ["--json", "out.json"]),
    "again": (AGAIN, ["--no-run"]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Done]:
    cases = []
    for name, (text, options) in CASES.items():
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(textwrap.dedent(text))
        cases.append({"args": ["data", *options, "train.py"], "cwd": str(folder / name)})
    return dict(zip(CASES, launch_all(cases, torch=True), strict=True))


def test_each_loader_is_shown_by_what_it_is_for(done: dict[str, Done]) -> None:
    out = done["train"].out
    heads = [line.split("  ")[0] for line in out.splitlines() if "DataLoader over" in line]
    assert heads == ["train (train_loader)", "val (val_loader)", "test"], done["train"]
    assert "40 samples, batches of 16 (3), the last has 8, shuffled, 2 workers (none here)" not in out
    assert "40 samples, batches of 16 (3), the last has 8, shuffled" in out
    assert "10 of 20 examined samples are also training samples" in out


def test_a_loader_made_anew_for_each_epoch_is_shown_once(done: dict[str, Done]) -> None:
    assert done["again"].out.count("DataLoader over TensorDataset, 40 samples") == 1, done["again"]


def test_the_first_step_is_shown_and_then_the_script_is_stopped(done: dict[str, Done], folder: Path) -> None:
    out = done["train"].out
    assert "(cross_entropy; chance is ln 5 = 1.61)" in out
    assert "metrics the script computes: eval/val/accuracy" in out
    assert "Linear      16x64     16x8" in out
    assert [line for line in out.splitlines() if line.startswith("epoch")] == ["epoch 0 " + line_of(out)]
    assert sorted(path.name for path in (folder / "train").iterdir()) == ["stepscope-runs", "train.py"]
    assert done["train"].code == 0


def line_of(out: str) -> str:
    return next(line for line in out.splitlines() if line.startswith("epoch 0")).split()[2]


def test_pictures_are_kept_where_it_says(done: dict[str, Done], folder: Path) -> None:
    said = [line.split("pictures: ")[1] for line in done["train"].out.splitlines() if "pictures: " in line]
    assert [Path(path).name for path in said] == ["train.png", "val.png", "test.png"]
    assert all((folder / "train" / path).read_bytes().startswith(b"\x89PNG") for path in said)


def test_json_stands_alone_on_the_standard_output(done: dict[str, Done], folder: Path) -> None:
    report = json.loads(done["json"].out)
    assert [loader["role"] for loader in report["loaders"]] == ["train", "val", "test"]
    assert report["first_step"]["layers"][0]["outputs"] == [[16, 5]]
    assert "epoch 0" in done["json"].err
    assert [path.name for path in (folder / "json").iterdir()] == ["train.py"]


def test_a_crash_in_the_pipeline_still_gives_the_samples(done: dict[str, Done]) -> None:
    assert done["crash"].code == 1
    assert "stepscope data train.py: it crashed" in done["crash"].out
    assert (
        "[0] has 3 different shapes (1x8x4, 1x8x5, 1x8x6); the default collate cannot stack them" in done["crash"].out
    )
    assert "RuntimeError: stack expects each tensor to be equal size" in done["crash"].err


def test_without_a_loader_the_model_s_input_is_shown(done: dict[str, Done], folder: Path) -> None:
    assert "model input  made by the script, without a DataLoader" in done["bare"].out
    assert done["bare"].out.count("step ") < 4
    report = json.loads((folder / "bare" / "out.json").read_text())
    assert [field["path"] for field in report["loaders"][0]["batches"]] == ["[0]", "mse_loss[1]"]
