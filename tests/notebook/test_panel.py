"""What the panel shows, without a kernel; tests/integrations/test_notebook.py has real ones."""

from __future__ import annotations

import math
import re
import sys
import threading
import time
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import stepscope
from stepscope import fence
from stepscope.notebook import kernel, panel
from stepscope.notebook.chart import ChartLine, chart_group, chart_html, spark_html
from stepscope.notebook.panel_html import bundle, panel_html, panel_svg, panel_text
from stepscope.notebook.run_overview import glance
from stepscope.records import Alert, Finding, FindingEvent
from stepscope.runs.read.folder import RunFolder

EVIL = "<script>alert(1)</script>\x1b[31m&\"'"


class Shell:
    """As much of a kernel's shell as is asked of one."""

    def __init__(self) -> None:
        self.kernel = object()
        self.user_ns: dict[str, Any] = {}
        self.sent: list[tuple[dict[str, str], str, bool]] = []
        self.display_pub = SimpleNamespace(parent_header={"msg_id": "1"}, publish=self._publish)
        self.callbacks: list[Any] = []
        self.events = SimpleNamespace(
            register=lambda name, do: self.callbacks.append(do), unregister=lambda name, do: self.callbacks.remove(do)
        )
        self.fails = False

    def _publish(self, data: dict[str, str], metadata: Any, transient: dict[str, str], update: bool) -> None:
        if self.fails:
            raise OSError("the socket is closed")
        self.sent.append((data, transient["display_id"], update))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    made = Shell()
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.delenv("STEPSCOPE_PANEL", raising=False)
    return made


@pytest.fixture
def run_folder(store: Path) -> Path:
    run = stepscope.init(project="demo", name="fox", dir=store, system=False, console=False, git=False)
    for step in range(500):
        run.log({"train/loss": 5.0 if step == 250 else 1.0 / (step + 1), "train/acc": step / 500, "lr": 0.1}, step=step)
    run.log({"val/loss": math.nan}, step=499)
    run.log({"val/loss": 0.5, "epoch": 3}, step=500)
    run.finish()
    assert run.path is not None
    return run.path


def test_a_glance_groups_the_main_series_and_keeps_their_extremes(run_folder: Path) -> None:
    seen = glance(RunFolder(run_folder))

    assert [chart.title for chart in seen.charts] == ["loss", "train/acc", "lr"]
    train, val = seen.charts[0].lines
    assert (train.name, val.name) == ("train", "val")
    assert max(train.high) == 5.0  # one spike of one step in 500
    assert len(train.x) <= 80
    assert train.ends == (0.0, 499.0)
    assert len(val.bad) == 1
    assert seen.values == {"epoch": 3.0}
    assert (seen.status, seen.step) == ("finished", 500)


def test_the_forms_of_a_panel_say_the_same(run_folder: Path) -> None:
    seen = glance(RunFolder(run_folder))
    made = bundle(seen)

    assert set(made) == {"text/html", "text/plain", "image/svg+xml"}
    for form in made.values():
        assert "fox" in form
        assert "loss" in form
        assert "finished" in form
    ElementTree.fromstring(made["image/svg+xml"])
    assert len(made["text/html"]) < 40_000


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_whatever_a_run_says_is_only_text(store: Path) -> None:
    run = stepscope.init(project=EVIL, name=EVIL, dir=store, system=False, console=False, git=False)
    run.log({EVIL: 1.0, f"{EVIL}/x": math.inf, "epoch": 1})
    run.alert(EVIL, EVIL)
    bad = Finding(
        rule=EVIL, severity="error", message=EVIL, file=EVIL, line=3, fix=EVIL, label=EVIL, source=[(3, EVIL)]
    )
    run._writer.event(FindingEvent(time=time.time(), finding=bad))
    run._writer.event(Alert(time=time.time(), title="t", text=EVIL, level="info"))
    run.finish("failed")
    assert run.path is not None
    seen = glance(RunFolder(run.path))

    page = Tags()
    page.feed(re.sub(r"<(br|img [^>]*)>", "", panel_html(seen, EVIL, source=True)))
    assert page.open == []
    assert "script" not in page.seen
    ElementTree.fromstring(panel_svg(seen))
    assert "\x1b" not in panel_text(seen) + panel_html(seen) + panel_svg(seen)


def test_an_empty_run_has_a_panel(store: Path) -> None:
    run = stepscope.init(name="empty", dir=store, system=False, console=False, git=False)
    run.finish()
    assert run.path is not None
    made = bundle(glance(RunFolder(run.path)))
    assert "empty" in made["text/html"]
    ElementTree.fromstring(made["image/svg+xml"])


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [2.0, 2.0], [math.nan, math.nan], [1e308, -1e308, 1e308], [1e-300, 1e300], [-1.0, 0.0, 5e-324]],
)
def test_any_numbers_can_be_drawn(values: list[float]) -> None:
    places = [float(at) for at in range(len(values))]
    bad = [at for at, value in zip(places, values, strict=True) if math.isnan(value)]
    line = ChartLine("any", places, values, values, values, bad, values[-1] if values else None)
    spark = spark_html(values)
    drawings = [chart_group("any", [line]), *(pictured(one) for one in (chart_html("any", [line]), spark) if one)]
    for drawn in drawings:
        ElementTree.fromstring(drawn)
        assert "nan " not in drawn
        assert "inf " not in drawn


def pictured(html: str) -> str:
    """The drawing inside an image."""
    (data,) = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', html)
    return b64decode(data).decode()


def test_without_its_pictures_a_chart_still_says_its_numbers_apart(run_folder: Path) -> None:
    """What is left where a viewer shows neither drawings nor images, read as a person reads it."""
    page = panel_html(glance(RunFolder(run_folder)))
    assert "<svg" not in page
    words = re.sub(r"<[^>]+>", "\n", page).split("\n")
    assert "loss" in words
    assert any(word.startswith("step ") for word in words)
    alt = re.findall(r'alt="([^"]*)"', page)
    assert len(alt) == len(glance(RunFolder(run_folder)).charts)
    assert all(set(one) & set("▁▂▃▄▅▆▇█") for one in alt)


# -- in a kernel -----------------------------------------------------------------------------------------------------


def test_nothing_is_shown_without_somebody_to_see_it(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernel.shell() is shell
    shell.display_pub.parent_header = {}  # a kernel that nobody has asked for anything
    assert kernel.shell() is None
    shell.display_pub.parent_header = {"msg_id": "1"}
    shell.kernel = None  # type: ignore[assignment]
    assert kernel.shell() is None  # IPython in a terminal
    shell.kernel = object()
    monkeypatch.delitem(sys.modules, "ipykernel")
    assert kernel.shell() is None


def open_quietly(store: Path, **more: Any) -> Any:
    return stepscope.init(dir=store, system=False, console=False, git=False, **more)


def test_a_panel_begins_is_renewed_and_ends(shell: Shell, store: Path) -> None:
    run = open_quietly(store, name="one")
    assert [update for _, _, update in shell.sent] == [False]
    assert any(thread.name == "stepscope-panel" for thread in threading.enumerate())
    run.log({"loss": 1.25})
    shell.callbacks[0](None)  # a cell has ended
    run.finish()

    assert [update for _, _, update in shell.sent] == [False, True, True]
    assert len({id for _, id, _ in shell.sent}) == 1
    assert "1.25" in shell.sent[1][0]["text/html"]
    assert "finished" in shell.sent[2][0]["text/html"]
    assert shell.callbacks == []
    assert not any(thread.name == "stepscope-panel" for thread in threading.enumerate())


def test_it_can_be_left_out(shell: Shell, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_quietly(store, panel=False).finish()
    monkeypatch.setenv("STEPSCOPE_PANEL", "off")
    open_quietly(store).finish()
    assert shell.sent == []
    open_quietly(store, panel=True).finish()
    assert len(shell.sent) == 2
    stepscope.init(dir=store, mode="off").finish()
    assert len(shell.sent) == 2


def test_a_notebook_that_fails_is_said_once_and_training_goes_on(
    shell: Shell, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = open_quietly(store, name="brave")
    shell.fails = True
    for _ in range(3):
        run.log({"loss": 1.0})
        shell.callbacks[0](None)
    run.finish()
    said = capsys.readouterr().err
    assert said.count("drawing the panel failed and was skipped; training continues") == 1
    assert run.path is not None
    assert len(RunFolder(run.path).series("loss")) == 3
    fence.reset()


def test_the_pace_grows_calm_and_follows_the_cost() -> None:
    made = panel.Panel(Path("nowhere"))
    assert made._pause(0.001) == 1.0
    assert made._pause(0.1) == pytest.approx(5.0)
    assert made._pause(9.0) == 10.0
    made._began -= 100
    assert made._pause(0.001) == 2.0
    made._began -= 1000
    assert made._pause(0.001) == 5.0


def test_a_second_run_says_what_became_of_the_first(shell: Shell, store: Path) -> None:
    open_quietly(store, name="first")
    second = open_quietly(store, name="second")
    second.finish()
    pages = [data["text/html"] for data, _, _ in shell.sent]
    assert "run &#x27;first&#x27; was still open and has been finished" in pages[-1]
    assert "finished" in pages[1]


def test_a_run_is_named_after_its_notebook(shell: Shell, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/env/ipykernel_launcher.py", "-f", "kernel.json"])
    monkeypatch.setenv("JPY_SESSION_NAME", "/home/me/My digits.ipynb")
    run = open_quietly(store)
    run.finish()
    assert run.project == "My digits"
    assert run.path is not None
    assert RunFolder(run.path).meta.script == "/home/me/My digits.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", "a-console")
    monkeypatch.chdir(store.parent)  # not in a repository: there its name would be taken
    assert open_quietly(store).project == store.parent.name
