from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from stepscope.cli.main import main

SOURCE = """
import torch
from torch import nn

print("the file says hello")

class Net(nn.Module):
    def __init__(self, width: int, depth: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x):
        return self.layers(x)

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(100, 4)

    def forward(self, *, ids):
        return self.embed(ids)

def build(width=4):
    return Net(width)

def broken():
    raise ValueError("no such depth")

model = Net(3)
number = 7
"""

Inspect = Callable[..., tuple[int, str, str]]


@pytest.fixture
def inspect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Inspect]:
    """`inspect("net.py:Net", ...)` in a folder with the file, as (exit code, stdout, stderr)."""
    (tmp_path / "little_net.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*args: str) -> tuple[int, str, str]:
        code = 0
        try:
            main(["inspect", *args])
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        out = capsys.readouterr()
        return code, out.out, out.err

    yield run
    for name in [name for name in sys.modules if name == "little_net" or name.startswith("_inspected_")]:
        del sys.modules[name]


def test_a_class_with_an_input_gives_the_table(inspect: Inspect) -> None:
    code, out, err = inspect("little_net.py:Net", "--args", "[4]", "--input", "2,4")
    assert code == 0
    assert "└─ 1    Linear      2×4    2×4         20        yes     64" in out
    assert "40 parameters (160 B), all trainable, 128 FLOPs (64 multiply-adds)" in out
    assert "the file says hello" in err
    assert "hello" not in out


def test_a_module_on_the_path_of_the_current_folder(inspect: Inspect) -> None:
    code, out, _ = inspect("little_net:build", "--kwargs", '{"width": 5}')
    assert code == 0
    assert "60 parameters" in out


def test_named_inputs_with_a_range_of_ids(inspect: Inspect) -> None:
    code, out, _ = inspect("little_net:Tagger", "--input", "ids=1,7:int64:0-99")
    assert code == 0
    assert "1×7" in out


def test_json_is_json_and_has_the_numbers(inspect: Inspect) -> None:
    _, out, _ = inspect("little_net:model", "--input", "2,3", "--backward", "--json")
    read = json.loads(out)
    assert (read["parameters"], read["flops"], read["macs"]) == (24, 72, 36)
    assert read["memory"]["measured_activations"] == read["memory"]["activations"] == 48
    assert read["failure"] is None
    assert read["table"]["rows"][0]["type"] == "Net"


def test_csv_columns_and_grouping(inspect: Inspect, tmp_path: Path) -> None:
    code, out, _ = inspect(
        "little_net:model", "--input", "2,3", "--by", "op", "--columns", "flops,line", "--csv", "t.csv"
    )
    assert code == 0
    assert out.split("\n")[1].split() == ["op", "FLOPs", "line"]
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text().splitlines()))
    assert [row["flops"] for row in rows] == ["36", "36"]


@pytest.mark.parametrize("suffix", ["json", "svg", "dot"])
def test_the_graph_is_written_beside_the_table(inspect: Inspect, tmp_path: Path, suffix: str) -> None:
    code, out, err = inspect("little_net:model", "--input", "2,3", "--graph", f"net.{suffix}")
    assert code == 0
    assert "Linear" in out
    assert f"graph written to net.{suffix}" in err
    assert "linear" in (tmp_path / f"net.{suffix}").read_text().lower()


def test_inputs_from_a_file(inspect: Inspect, tmp_path: Path) -> None:
    torch.save({"ids": torch.zeros(2, 3, dtype=torch.int64)}, tmp_path / "x.pt")
    code, out, _ = inspect("little_net:Tagger", "--input-file", "x.pt")
    assert code == 0
    assert "2×3×4" in out


def test_a_failing_model_names_the_layer_and_exits_with_1(inspect: Inspect) -> None:
    code, out, err = inspect("little_net:model", "--input", "2,5")
    assert code == 1
    assert "FAILED in layers.0 Linear(in_features=3" in out
    assert "error: the model failed in layers.0: RuntimeError" in err


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["nowhere:Net"], 3, "there is no module 'nowhere'"),
        (["nothing.py:Net"], 3, "there is no file 'nothing.py'"),
        (["little_net:Nett"], 3, "has no 'Nett'; did you mean Net?"),
        (["little_net"], 2, "which model of little_net? Name it as little_net:NAME; it has Net, Tagger, model"),
        (["little_net:Net"], 2, "missing a required argument: 'width'. It needs width (int)"),
        (["little_net:build", "--kwargs", '{"wide": 3}'], 2, "got an unexpected keyword argument 'wide'"),
        (["little_net:build", "--kwargs", "{width: 3}"], 2, "is not valid JSON"),
        (["little_net:build", "--args", "3"], 2, "expected a JSON list"),
        (["little_net:model", "--args", "[1]"], 2, "is already a model"),
        (["little_net:number"], 2, "number is not a model; its type is int; expected a torch.nn.Module"),
        (["little_net:broken"], 2, "ValueError: no such depth"),
        (["little_net:model", "--input", "2,x"], 2, "is not a shape"),
        (["little_net:model", "--input", "2,3:flat32"], 2, "there is no dtype 'flat32'"),
        (["little_net:model", "--input", "2:9-3"], 2, "the range 9-3 is empty"),
        (["little_net:model", "--input", "2,3", "--columns", "size"], 2, "there is no column 'size'"),
        (["little_net:model", "--graph", "net.gif"], 2, "must end in .html"),
        (["little_net:model", "--backward"], 2, "--backward needs an input"),
        (["little_net:model", "--device", "warp"], 2, "--device warp"),
        (["gone.pt"], 3, "there is no file 'gone.pt'"),
        (["what/is:this/then"], 2, "is neither a module name nor a file"),
    ],
)
def test_each_mistake_says_what_it_is(inspect: Inspect, args: list[str], code: int, words: str) -> None:
    found, _, err = inspect(*args)
    assert words in err
    assert found == code


def test_a_file_that_fails_to_import_names_its_line(inspect: Inspect, tmp_path: Path) -> None:
    (tmp_path / "bad_net.py").write_text("x = 1\nraise KeyError('x')\n")
    code, _, err = inspect("bad_net.py:Net")
    assert code == 2
    assert "bad_net.py:2: KeyError: 'x'" in err
    (tmp_path / "needy_net.py").write_text("import not_there_at_all\n")
    assert "it needs 'not_there_at_all', which is not installed" in inspect("needy_net:Net")[2]
    assert "needs 'not_there_at_all'" in inspect("needy_net.py:Net")[2]


def test_checkpoints_and_saved_steps(inspect: Inspect, tmp_path: Path) -> None:
    torch.save({"model": torch.nn.Linear(2, 2).state_dict(), "epoch": 4}, tmp_path / "c.pt")
    code, out, _ = inspect("c.pt", "--csv", "c.csv")
    assert code == 0
    assert "model.weight" in out
    assert "also: epoch = 4" in out
    assert (tmp_path / "c.csv").read_text().startswith("tensor,shape,dtype,params,bytes,mean,std,")
    from stepscope.inspect.summary import summary

    summary(torch.nn.Linear(2, 3), input_size=(1, 2)).step.save(tmp_path / "one.step")
    assert "1×3" in inspect("one.step", "--by", "op")[1]
    torch.save(torch.nn.Linear(2, 2), tmp_path / "whole.pt")
    assert inspect("whole.pt")[0] == 5


def test_safetensors_do_not_wait_for_torch(tmp_path: Path) -> None:
    raw = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    (tmp_path / "m.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + b"\0" * 8)
    code = (
        "import sys; from stepscope.cli.main import main\n"
        "try: main(['inspect', 'm.safetensors'])\nfinally: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.strip().endswith("False")
    assert "100.0%" in done.stdout
