"""`--pdb`: the debugger opens in the user's frame and knows tensors."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import torch

from stepscope.launch.debugger import own_traceback, post_mortem


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = x.repeat(1, 2)
        return self.head(hidden)


def crash() -> BaseException:
    batch = {"x": torch.tensor([[1.0, float("nan"), 3.0]])}
    try:
        Model()(batch["x"])
    except RuntimeError as error:
        return error
    raise AssertionError("it should have failed")


def session(commands: str, error: BaseException) -> str:
    out = io.StringIO()
    assert post_mortem(error, stdin=io.StringIO(commands), stdout=out)
    return out.getvalue()


def test_it_opens_in_the_innermost_frame_of_the_user() -> None:
    told = session("p hidden.shape\nup\np list(batch)\nq\n", crash())
    assert "return self.head(hidden)" in told
    assert "torch.Size([1, 6])" in told
    assert "['x']" in told
    assert "torch/nn" not in told


def test_tensors_are_shown_with_what_they_hold() -> None:
    told = session("t x\ntensors\nlayers\nt nothing\nt 3\nup\ntensors\nq\n", crash())
    assert "x: 1x3 float32 cpu, 1 NaN of 3, from 1 to 3" in told
    assert "hidden: 1x6 float32 cpu, 2 NaN of 6, from 1 to 3" in told
    assert "head: Linear(in_features=4, out_features=2, bias=True)  weight 2x4  bias 2" in told
    assert "NameError" in told
    assert "3 is a int and contains no tensor" in told
    assert "batch['x']: 1x3 float32 cpu" in told


def test_a_workers_error_asks_for_no_workers() -> None:
    try:
        raise RuntimeError("Caught KeyError in DataLoader worker process 0.")
    except RuntimeError as error:
        told = session("q\n", error)
    assert "--no-workers" in told


def test_without_a_frame_of_the_users_nothing_opens(capsys: pytest.CaptureFixture[str]) -> None:
    assert post_mortem(ValueError("never raised")) is False
    assert own_traceback(None) is None


def test_a_missing_debugpy_names_its_install_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from stepscope.errors import MissingExtra
    from stepscope.launch.debugpy_wait import wait_for_editor

    monkeypatch.setitem(__import__("sys").modules, "debugpy", None)
    with pytest.raises(MissingExtra, match="pip install debugpy"):
        wait_for_editor()


def test_an_editor_is_waited_for_on_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from stepscope.launch.debugpy_wait import wait_for_editor

    (tmp_path / "debugpy.py").write_text(
        "calls = []\ndef listen(at): calls.append(at)\ndef wait_for_client(): calls.append('waited')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert wait_for_editor(7000) == 7002
    import debugpy  # type: ignore[import-not-found]

    assert debugpy.calls == [("127.0.0.1", 7002), "waited"]
    assert "127.0.0.1:7002" in capsys.readouterr().err
    monkeypatch.delitem(__import__("sys").modules, "debugpy")
