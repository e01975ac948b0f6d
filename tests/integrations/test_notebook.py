"""Notebooks run by real kernels: the live panel and what stays of it, magics, displays, kernels that end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import KernelManager, start_new_kernel
from nbclient import NotebookClient

import stepscope
from stepscope.runs.read.folder import RunFolder
from stepscope.runs.read.status import this_machine

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Client(NotebookClient):  # type: ignore[misc]
    """Runs a notebook and notes every message that changes a display, with when it came."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.heard: list[tuple[str, float, dict[str, Any]]] = []

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.heard.append((msg["msg_type"], time.monotonic(), msg["content"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(monkeypatch, tmp_path)


def prepare(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """A kernel takes its environment from us."""
    patch.setenv("OMP_NUM_THREADS", "1")
    patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    patch.setenv("IPYTHONDIR", str(folder / "ipython"))
    patch.setenv("STEPSCOPE_DIR", str(folder / "runs"))
    patch.setenv("STEPSCOPE_CACHE", str(folder / "cache"))


def play(tmp_path: Path, *cells: str, allow_errors: bool = False) -> tuple[Any, Client]:
    """The notebook as it is saved, and the client that ran it."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = Client(
        notebook, timeout=300, kernel_name="python3", allow_errors=allow_errors,
        resources={"metadata": {"path": str(tmp_path)}},
    )  # fmt: skip
    client.execute()
    nbformat.validate(notebook)
    nbformat.write(notebook, tmp_path / "saved.ipynb")
    return notebook, client


def outputs(cell: Any, kind: str | None = None) -> list[Any]:
    return [one for one in cell.outputs if kind is None or one.output_type == kind]


def html_of(output: Any) -> str:
    found: str = output.data["text/html"]
    return found


def runs(tmp_path: Path) -> dict[str, RunFolder]:
    return {one.name: one for one in stepscope.runs(tmp_path / "runs")}


# -- the panel -------------------------------------------------------------------------------------------------------

TRAIN = """
import math, time
for step in range(300):
    run.log({"train/loss": 2 * math.exp(-step / 100), "lr": 0.1}, step=step)
    if step % 50 == 0:
        run.log({"val/loss": 2.5 * math.exp(-step / 100)}, step=step)
    time.sleep(0.01)
"""


def test_a_panel_lives_under_the_cell_and_stays_as_a_picture(tmp_path: Path) -> None:
    begin = "import stepscope\nrun = stepscope.init(project='demo', name='<b>brave</b> fox')"
    notebook, client = play(tmp_path, begin, TRAIN, "run.alert('Look <i>here</i>')\nrun.finish()")

    (panel,) = outputs(notebook.cells[0])
    assert set(panel.data) == {"text/html", "text/plain", "image/svg+xml"}
    page = html_of(panel)
    assert "finished" in page
    assert "step 299" in page
    assert "&lt;b&gt;brave&lt;/b&gt; fox" in page
    assert "<b>brave" not in page
    assert "Look &lt;i&gt;here&lt;/i&gt;" in page
    assert "<script" not in page
    assert "<style" not in page
    assert page.count('<img src="data:image/svg+xml;base64,') == 2  # loss of train and val together, and lr
    assert panel.data["image/svg+xml"].startswith("<svg")
    assert panel.data["text/plain"].startswith("<b>brave</b> fox (demo): finished")
    assert (tmp_path / "saved.ipynb").stat().st_size < 200_000
    assert notebook.cells[1].outputs == []  # nothing of ours elsewhere

    begun = [one for one in client.heard if one[0] == "display_data"]
    updates = [one for one in client.heard if one[0] == "update_display_data"]
    assert len(begun) == 1
    assert len({content["transient"]["display_id"] for _, _, content in client.heard}) == 1
    assert len(updates) >= 3
    live = [content["data"]["text/html"] for _, _, content in updates[:-1]]
    assert any("running" in one and "as of " in one for one in live)
    spent = updates[-1][1] - begun[0][1]
    assert len(updates) <= spent / 1.0 + 6  # about one a second, and one at the end of each cell
    found = runs(tmp_path)["<b>brave</b> fox"]
    assert (found.status, len(found.series("train/loss"))) == ("finished", 300)


def test_runs_one_after_the_other_errors_and_no_panel(tmp_path: Path) -> None:
    notebook, _ = play(
        tmp_path,
        "import stepscope\nfirst = stepscope.init(name='first')\nfirst.log({'loss': 1.0})",
        "second = stepscope.init(name='second')\nsecond.log({'loss': 1.0})",
        "1 / 0",
        "second.log({'loss': 0.5})\nsecond.finish()",
        "with stepscope.init(name='third') as r:\n    r.log({'loss': float('nan')})\n    raise ValueError('<b> bad')",
        "stepscope.init(name='silent', panel=False).log({'loss': 1.0})",
        "%load_ext stepscope\n%stepscope panel off",
        "stepscope.init(name='off').log({'loss': 1.0})",
        "%stepscope panel on",
        "stepscope.init(name='open').log({'loss': 3.0})",
        allow_errors=True,
    )
    cells = notebook.cells

    assert "finished" in html_of(outputs(cells[0], "display_data")[0])
    again = html_of(outputs(cells[1], "display_data")[0])
    assert "run &#x27;first&#x27; was still open and has been finished" in again
    assert "finished" in again
    third = html_of(outputs(cells[4], "display_data")[0])
    assert "failed" in third
    assert "ValueError: &lt;b&gt; bad" in third
    assert outputs(cells[5], "display_data") == []
    assert outputs(cells[7], "display_data") == []
    last = html_of(outputs(cells[9], "display_data")[0])  # drawn at the end of the cell, before the kernel goes
    assert "running" in last
    assert ">3</span>" in last
    found = runs(tmp_path)
    assert {name: one.status for name, one in found.items()} == {
        "first": "finished", "second": "finished", "third": "failed", "silent": "finished", "off": "finished",
        "open": found["open"].status,
    }  # fmt: skip
    assert len(found["second"].series("loss")) == 2  # the cell that failed ended nothing
    assert found["open"].status in ("finished", "preempted", "killed")


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[KernelManager, Any]]:
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(tmp_path))
    yield manager, client
    client.stop_channels()
    if manager.is_alive():
        manager.shutdown_kernel(now=True)
    manager.cleanup_resources()


def wait_for(check: Any, what: str) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if check():
            return
        time.sleep(0.1)
    raise AssertionError(what)


LOOP = """
import stepscope, time
with stepscope.init(name="loop") as run:
    for step in range(100000):
        run.log({"loss": 1.0 / (step + 1)})
        time.sleep(0.005)
"""


def has_points(tmp_path: Path) -> bool:
    store = tmp_path / "runs"
    return store.is_dir() and any(len(one.metrics()) and len(one.series("loss")) > 20 for one in stepscope.runs(store))


def test_an_interrupted_cell_stops_its_run(tmp_path: Path, kernel: tuple[KernelManager, Any]) -> None:
    manager, client = kernel
    client.execute(LOOP)
    wait_for(lambda: has_points(tmp_path), "the loop began")
    manager.interrupt_kernel()
    wait_for(lambda: runs(tmp_path)["loop"].status == "stopped", "it was stopped")
    pages = []
    while True:
        try:
            message = client.get_iopub_msg(timeout=1)
        except Exception:
            break
        if "display" in message["msg_type"]:
            pages.append(message["content"]["data"]["text/html"])
    assert "stopped" in pages[-1]


def test_a_kernel_that_is_killed_leaves_a_killed_run(tmp_path: Path, kernel: tuple[KernelManager, Any]) -> None:
    manager, client = kernel
    client.execute(LOOP)
    wait_for(lambda: has_points(tmp_path), "the loop began")
    os.kill(manager.provisioner.pid, signal.SIGKILL)
    wait_for(lambda: not manager.is_alive(), "the kernel is dead")
    found = runs(tmp_path)["loop"]
    later = replace(this_machine(), now=lambda: time.time() + 60)  # when its heartbeat is missed
    assert RunFolder(found.path, machine=later).status == "killed"
    assert len(found.series("loss")) > 20


# -- magics and displays ---------------------------------------------------------------------------------------------

CHECK = """%%stepscope check
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
pairs = torch.utils.data.TensorDataset(torch.randn(128, 8), torch.randint(0, 3, (128,)))
for epoch in range(5):
    for x, y in torch.utils.data.DataLoader(pairs, 16):
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
"""
CRASH = """%%stepscope check
head = nn.Linear(10, 3)
nn.functional.cross_entropy(head(torch.randn(4, 8)), torch.randint(0, 3, (4,)))
"""
RECORD = """%%stepscope record seen --stats
loss = nn.Linear(8, 1)(torch.randn(4, 8)).pow(2).mean()
loss.backward()
type(loss).__name__
"""
PROFILE = """%%stepscope profile p
net = nn.Linear(8, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(4):
    opt.zero_grad()
    net(torch.randn(64, 8)).pow(2).mean().backward()
    opt.step()
"""
RUN = """%%stepscope run watched
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=5.0)
for step in range(30):
    x = torch.randn(32, 8)
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
SAME = """
def train():
    torch.manual_seed(7)
    net = nn.Linear(8, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for step in range(200):
        x = torch.randn(16, 8)
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
        stepscope.log({"loss": loss})
    return loss.item().hex(), [value.hex() for value in net.weight.flatten().tolist()]
import stepscope
stepscope.init(mode="off"); plain = train()
stepscope.init(name="with-panel"); watched = train(); stepscope.finish()
print(plain == watched)
"""


@pytest.fixture(scope="module")
def magics(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """One notebook for all of them: importing torch takes longest."""
    folder = tmp_path_factory.mktemp("magics")
    cells = [
        "%load_ext stepscope\n%stepscope\nimport torch, stepscope\nfrom torch import nn", CHECK, CRASH, RECORD, PROFILE,
        RUN, SAME, "%stepscope runs status = finished", "%stepscope show watched",
        "stepscope.run('watched', 'runs').findings[0]", "stepscope.run('with-panel', 'runs').series('loss')",
        "p.sheet('operators')",
        "stepscope.diff(seen, seen)", "%stepscope nonsense", "%stepscope show no-such-run", "%%stepscope record a-b\n1",
        "%stepscope ui", "%stepscope ui --stop", "seen.graph()",
    ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        prepare(patch, folder)
        notebook, _ = play(folder, *cells, allow_errors=True)
    return folder, notebook.cells


def text_of(cell: Any) -> str:
    return "".join(one.text for one in outputs(cell, "stream"))


def test_help_and_mistakes_are_told_in_a_line(magics: tuple[Path, list[Any]]) -> None:
    _, cells = magics
    assert "%%stepscope check" in text_of(cells[0])
    assert text_of(cells[13]).startswith("UsageError: there is no %stepscope nonsense")
    assert "there is no run 'no-such-run'" in text_of(cells[14])
    assert "'a-b' cannot be the name of a variable" in text_of(cells[15])
    for cell in cells[13:16]:
        assert "Traceback" not in text_of(cell)


def test_check_names_the_lines_as_the_notebook_counts_them(magics: tuple[Path, list[Any]]) -> None:
    _, cells = magics
    finding, verdict = outputs(cells[1], "display_data")
    line = next(number for number, text in enumerate(CHECK.splitlines(), 1) if "loss.backward()" in text)
    assert f"this notebook, line {line} of the cell" in html_of(finding)
    assert "opt.no-zero-grad" in html_of(finding)
    assert "loss.backward()" in html_of(finding)
    assert verdict.data["text/plain"].startswith("stepscope check of this cell: 1 error\n  tried ")
    assert "<b>1 error</b>" in html_of(verdict)
    assert "the model can overfit one batch" in html_of(verdict)
    assert "stepscope check" not in text_of(cells[1])  # said once

    crash, verdict = outputs(cells[2], "display_data")
    assert "it does not run; 1 error" in html_of(verdict)
    assert "this notebook, line 2 of the cell" in html_of(crash)
    assert "in_features should be 8" in html_of(crash)
    (error,) = outputs(cells[2], "error")
    assert error.ename == "RuntimeError"
    assert "stepscope/record" not in "\n".join(error.traceback)  # our frames are not theirs to read


def test_record_and_profile_show_and_keep_what_they_saw(magics: tuple[Path, list[Any]]) -> None:
    _, cells = magics
    assert outputs(cells[3], "execute_result")[0].data["text/plain"] == "'Tensor'"
    step = html_of(outputs(cells[3], "display_data")[0])
    assert "Linear" in step
    verdict, operators = outputs(cells[4], "display_data")
    assert "of each step" in html_of(verdict)
    assert "aten::" in html_of(operators)
    assert "ipykernel_" not in html_of(operators)


def test_a_run_in_a_cell_is_recorded_with_its_findings(magics: tuple[Path, list[Any]]) -> None:
    folder, cells = magics
    found = stepscope.run("watched", folder / "runs")
    assert (found.status, len(found.series("train/loss"))) == ("finished", 30)
    (finding,) = [one for one in found.findings if one.severity != "info"]
    assert finding.rule == "opt.lr-too-high"
    assert finding.line == 4
    (shown,) = outputs(cells[5], "display_data")  # its findings stand in the panel, with their source
    panel = html_of(shown)
    assert panel.count("opt.lr-too-high") == 1
    assert f"{finding.line:>4}  " in panel
    assert "watched" in panel
    assert "the learning rate 5 is too high" in panel


def test_training_with_a_panel_is_the_same_bit_for_bit(magics: tuple[Path, list[Any]]) -> None:
    assert text_of(magics[1][6]).strip() == "True"


def test_objects_have_rich_displays_with_words_beside_them(magics: tuple[Path, list[Any]]) -> None:
    _, cells = magics
    listed, shown = (outputs(cells[at], "display_data")[0] for at in (7, 8))
    assert "watched" in html_of(listed)
    assert "with-panel" in html_of(listed)
    assert "opt = torch.optim.SGD(net.parameters(), lr=5.0)" in html_of(shown)
    finding, series, sheet, diff = (outputs(cells[at], "execute_result")[0] for at in (9, 10, 11, 12))
    assert "opt.lr-too-high" in html_of(finding)
    assert finding.data["text/plain"].startswith("warning[opt.lr-too-high]")
    assert "200 points, steps 0 to 199" in html_of(series)
    assert "Host self" in html_of(sheet)
    assert sheet.data["text/plain"].startswith("Operators")
    assert "no difference" in html_of(diff)
    graph = outputs(cells[18], "execute_result")[0]
    assert "image/svg+xml" in graph.data
    assert "<details>" in html_of(graph)  # a picture, for notebooks that are not trusted


def test_the_app_opens_in_a_frame_without_its_token(magics: tuple[Path, list[Any]]) -> None:
    folder, cells = magics
    frame = html_of(outputs(cells[16], "display_data")[0])
    assert '<iframe src="http://localhost:' in frame
    assert "the server has ended" in text_of(cells[17])
    assert (folder / "saved.ipynb").stat().st_size < 400_000


def test_no_display_needs_a_script_or_lets_one_in(magics: tuple[Path, list[Any]]) -> None:
    _, cells = magics
    for at, cell in enumerate(cells):
        for one in outputs(cell):
            page = one.get("data", {}).get("text/html", "")
            if at != 18:  # the graph's viewer is a page in a sandbox of its own
                assert "<script" not in page
