"""The words of `%stepscope`, and displays told to a shell; what cells do is tested with real kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import stepscope
from stepscope.notebook import displays, frame
from stepscope.notebook.magics import HELP, Magic, load, unload
from stepscope.records import Finding
from stepscope.records.profile import Column, Part, ProfileDiff, Sheet, StepParts


class Refused(Exception):
    pass


class Shown:
    def __init__(self) -> None:
        self.things: list[Any] = []

    def display(self, thing: Any, raw: bool = False) -> None:
        self.things.append(thing)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    shown = Shown()
    errors, display = ModuleType("IPython.core.error"), ModuleType("IPython.display")
    errors.UsageError = Refused  # type: ignore[attr-defined]
    display.display = shown.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython.core.error", errors)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


@pytest.fixture
def magic(shown: Shown, store: Path, monkeypatch: pytest.MonkeyPatch) -> Magic:
    monkeypatch.setenv("STEPSCOPE_DIR", str(store))
    with stepscope.init(name="fox", dir=store, system=False, console=False, git=False, config={"lr": 0.1}) as run:
        run.log({"loss": 1.0})
    return Magic(SimpleNamespace(user_ns={}))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", "there is no %stepscope nonsense"),
        ("check", "it is a cell magic: write %%stepscope"),
        ("show nobody", "there is no run 'nobody'"),
        ("runs loss <", "expected a value"),
        ("runs --dir", "--dir needs a value"),
        ("runs --dir /no/such/folder", "there is no folder"),
        ("ui --height tall", "not a number of pixels"),
        ("ui --wrong", "unknown here"),
        ("panel maybe", "write %stepscope panel on"),
        ("show 'open", "check the quotes"),
    ],
)
def test_mistakes_say_what_to_do(magic: Magic, line: str, words: str) -> None:
    with pytest.raises(Refused) as refused:
        magic(line)
    assert words in str(refused.value)


@pytest.mark.parametrize("line", ["", "nonsense", "record two words", "record a-b", "profile 3"])
def test_mistakes_of_cells(magic: Magic, line: str) -> None:
    with pytest.raises(Refused):
        magic(line, "1 + 1")


def test_help_names_every_word(magic: Magic, capsys: pytest.CaptureFixture[str]) -> None:
    magic("")
    assert capsys.readouterr().out.strip() == HELP
    for word in ("ui", "runs", "show", "panel", "check", "run", "record", "profile"):
        assert f"stepscope {word}" in HELP


def test_runs_and_show_find_what_they_are_asked_for(magic: Magic, shown: Shown) -> None:
    magic("runs status = finished and config.lr < 1")
    magic("show fox")
    listed, found = shown.things
    assert [one.name for one in listed] == ["fox"]
    assert found.name == "fox"
    assert "fox" in displays.run_list(listed)
    assert "fox" in displays.run_folder(found)
    assert "0 runs" in displays.run_list(listed[:0])


def test_the_frame_holds_no_token(magic: Magic, shown: Shown, store: Path) -> None:
    magic("ui --height 300")
    (bundle,) = shown.things
    server = frame.server_for((store.absolute(),))
    try:
        assert "height:300px" in bundle["text/html"]
        assert server.token not in bundle["text/html"]
        magic("ui")
        assert frame.server_for((store.absolute(),)) is server  # the one that runs
        page = frame.page_of(store / "01JCQ4")
        assert page is not None
        assert page.endswith("/run/01JCQ4")
        assert frame.page_of(store.parent / "01JCQ4") is None
    finally:
        assert frame.stop() == 1
    assert frame.stop() == 0


class Formatter:
    def __init__(self) -> None:
        self.deferred_printers: dict[tuple[str, str], Any] = {}
        self.type_printers: dict[type, Any] = {}

    def for_type_by_name(self, module: str, name: str, show: Any) -> None:
        self.deferred_printers[module, name] = show


def test_loading_and_unloading_leave_nothing() -> None:
    formatters = {"text/html": Formatter(), "text/plain": Formatter()}
    kinds: dict[str, dict[str, Any]] = {"line": {}, "cell": {}}
    shell = SimpleNamespace(
        display_formatter=SimpleNamespace(formatters=formatters),
        register_magic_function=lambda do, magic_kind, magic_name: [
            kinds[kind].__setitem__(magic_name, do) for kind in kinds
        ],
        magics_manager=SimpleNamespace(magics=kinds),
    )
    load(shell)
    assert "stepscope" in kinds["line"]
    for module, name in formatters["text/html"].deferred_printers:
        __import__(module)
        assert hasattr(sys.modules[module], name), f"{module} has no {name}"
    unload(shell)
    assert kinds == {"line": {}, "cell": {}}
    assert formatters["text/html"].deferred_printers == {}


def test_tables_and_parts_of_profiles_are_escaped() -> None:
    evil = "<img src=x onerror=y>"
    sheet = Sheet(
        id="a", title=evil, columns=[Column(key="n", label=evil), Column(key="t", label="t", unit="ns")],
        rows=[[evil, 1000], ["/tmp/ipykernel_1/23.py:4", None]], notes=[evil],
    )  # fmt: skip
    parts = StepParts(
        id="p", title=evil, parts=[Part(key="a", label=evil)], steps=[1], wall_ns=[5], parts_ns=[[5]], typical_ns=[5]
    )
    diff = ProfileDiff(a=evil, b=evil, headline=evil, sheets=[sheet])
    finding = Finding(rule=evil, severity="warning", message=evil, fix=evil, source=[(1, evil)], line=1)
    for page in (
        displays.sheet(sheet),
        displays.step_parts(parts),
        displays.profile_diff(diff),
        displays.finding(finding),
    ):
        assert "<img" not in page
        assert "&lt;img" in page
    assert "a cell, line 4" in displays.sheet(sheet)
    assert "1 us" in displays.sheet(sheet)
