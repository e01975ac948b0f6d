"""The shape of the house: imports point one way, and every command, page and room is written about."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest
from tests.touching import touches_of

from stepscope.common import clocks

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "stepscope"

# room -> what it may import of ours. Anything may import errors, fence and records.
GROUND = {
    "common",
    "errors",
    "extension",
    "fence",
    "records",
    "plain_text",
    "_callable",
    "__init__",
    "events",
    "evidence",
    "files",
}
MAY_IMPORT = {
    "common": {"errors"},
    "errors": set(),
    "extension": set(),
    "fence": set(),
    "records": set(),
    "plain_text": set(),
    "_callable": set(),
    "files": {"errors"},
    "evidence": {"records", "errors", "files", "common"},
    "events": GROUND,
    "runs": GROUND,
    "track": GROUND | {"runs", "sync"},
    "eventfiles": GROUND,
    "importers": GROUND | {"runs", "track", "eventfiles", "inspect", "profile"},
    "export": GROUND | {"runs", "eventfiles"},
    "record": GROUND | {"runs"},
    "inspect": GROUND | {"runs", "record"},
    "experiments": GROUND | {"record"},
    "diagnose": GROUND | {"runs", "inspect"},
    "profile": GROUND | {"runs", "export", "record", "inspect", "diagnose"},
    "launch": GROUND | {"runs", "track", "record", "experiments", "inspect", "diagnose", "profile"},
    "sweep": GROUND | {"runs", "track"},
    "integrations": GROUND
    | {"runs", "track", "eventfiles", "record", "inspect", "diagnose", "profile", "launch", "sweep"},
    "tensorboard": {"integrations"},
    "wandb": GROUND | {"runs", "track", "integrations", "sweep"},
    "report": GROUND | {"runs"},
    "views": GROUND | {"runs", "track", "export", "inspect", "diagnose", "profile", "report", "sweep"},
    "sync": GROUND | {"runs"},
    "database": GROUND,
    "people": GROUND | {"database"},
    "server": GROUND | {"runs", "report", "views", "importers", "sync", "database", "people"},
    "notebook": GROUND
    | {"runs", "track", "record", "inspect", "diagnose", "profile", "launch", "report", "views", "server"},
    "agents": GROUND | {"runs", "track", "export", "inspect", "diagnose", "profile", "report", "views"},
    "testing": GROUND | {"runs", "track", "record", "inspect", "diagnose", "profile", "launch"},
    "demo": GROUND,
    "cli": GROUND
    | {"runs", "track", "export", "record", "inspect", "diagnose", "profile", "launch", "report", "views", "server"}
    | {"importers", "sweep", "agents", "integrations", "notebook", "demo", "sync", "database", "people"},
    "__main__": {"cli"},
}


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "stepscope":
            parts = node.module.split(".")
            if len(parts) > 1:
                yield node.lineno, parts[1]
            else:
                for alias in node.names:
                    yield node.lineno, alias.name if (SOURCE / alias.name).exists() else "__init__"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "stepscope":
                    yield node.lineno, parts[1] if len(parts) > 1 else "__init__"


def room_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else path.stem


def test_imports_point_one_way() -> None:
    backwards = []
    for path in SOURCE.rglob("*.py"):
        room = room_of(path)
        if room == "__init__":  # the public API names every room, and imports each on first use
            continue
        assert room in MAY_IMPORT, f"{path}: the room '{room}' is not in the house plan; add it to MAY_IMPORT"
        for line, imported in imports_of(path):
            imported = imported if (SOURCE / imported).exists() or (SOURCE / f"{imported}.py").exists() else "__init__"
            if imported != room and imported not in MAY_IMPORT[room]:
                backwards.append(f"{path.relative_to(ROOT)}:{line} imports stepscope.{imported} from {room}")
    assert not backwards, "\n".join(backwards)


def folders_imported(path: Path) -> Iterator[tuple[int, str]]:
    """The folders of its own room that a file in a folder imports from, with the line."""
    room, folder = path.relative_to(SOURCE).parts[:2]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            package, *parts = name.split(".")
            inside = package == "stepscope" and len(parts) > 1 and parts[0] == room and parts[1] != folder
            if inside and (SOURCE / room / parts[1]).is_dir():
                yield node.lineno, parts[1]


def test_folders_of_a_room_import_each_other_one_way() -> None:
    """The files at the top of a room are not held to this: they are its ground and its front door."""
    places: dict[str, dict[str, str]] = {}
    for path in SOURCE.glob("*/*/**/*.py"):
        home = "/".join(path.relative_to(SOURCE).parts[:2])
        for line, folder in folders_imported(path):
            target = f"{home.partition('/')[0]}/{folder}"
            places.setdefault(home, {}).setdefault(target, f"{path.relative_to(ROOT)}:{line} imports {target}")
    done: set[str] = set()

    def visit(folder: str, way: list[str]) -> None:
        if folder in way:
            circle = [*way[way.index(folder) :], folder]
            pytest.fail("\n".join(places[a][b] for a, b in pairwise(circle)))
        if folder not in done:
            for target in sorted(places.get(folder, ())):
                visit(target, [*way, folder])
            done.add(folder)

    for folder in sorted(places):
        visit(folder, [])


CIRCLES = {
    ("stepscope.wandb.artifacts", "stepscope.wandb.public"),
}
"""Imports inside a function that close a circle of modules. Break one and remove its line; add none."""


def modules_imported(path: Path, modules: dict[str, Path]) -> set[str]:
    """The modules of ours that a file imports anywhere, except for type checking only."""
    tree = ast.parse(path.read_text())
    checks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    for_types = {id(inner) for check in checks for statement in check.body for inner in ast.walk(statement)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in for_types:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & modules.keys() or {node.module}
        elif isinstance(node, ast.Import) and id(node) not in for_types:
            found |= {alias.name for alias in node.names}
    return found & modules.keys()


def test_modules_import_each_other_one_way() -> None:
    """Also inside functions: a circle that is only put off is still a circle for whoever reads it."""
    modules = {".".join(path.relative_to(SOURCE.parent).with_suffix("").parts): path for path in SOURCE.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    imports = {name: modules_imported(path, modules) - {name} for name, path in modules.items()}
    assert [pair for pair in sorted(CIRCLES) if pair[1] not in imports.get(pair[0], ())] == [], "remove these lines"
    one_way = {name: {to for to in found if (name, to) not in CIRCLES} for name, found in imports.items()}
    try:
        TopologicalSorter(one_way).prepare()
    except CycleError as circle:
        pytest.fail("modules import each other in a circle: " + " <- ".join(circle.args[1]))


MAY_TOUCH = {
    "cli/_sweep_progress.py": "signals of our own process, which runs no script",
    "fence.py": "its own lock in a forked child; it stands below events",
    "launch/debugger.py": "the debugger that the user asked for",
    "launch/script.py": "the script's debugger ends where the script ends",
    "record/observers/fork_probe.py": "our forked copy, which ends without running the script",
    "server/workers.py": "signals of our own processes, which run no script",
    "runs/write/forks.py": "the writer's own files in a forked child, before anything else runs there",
}


def test_only_the_events_room_touches_the_process() -> None:
    """Patches, hooks, modes and handlers belong in events/: subscribe there, or declare a point and wrap it."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("events/") and name not in MAY_TOUCH:
            found += [f"{path.relative_to(ROOT)}:{touch.line} {touch.what}" for touch in touches_of(path)]
    assert not found, "\n".join(found)


def test_every_exception_is_still_needed() -> None:
    idle = [name for name in MAY_TOUCH if not touches_of(SOURCE / name)]
    assert idle == []


TOUCHING = """
import sys, signal, os, gc, threading, faulthandler
import torch
import torch.nn.modules.module as modules
from torch.optim import Optimizer
from torch.overrides import TorchFunctionMode
def patches(installed, model, tensor, stream, ours):
    torch.compile = ours
    Optimizer.step = ours
    kind = torch.nn.Module; kind.__call__ = ours; setattr(kind, "train", ours)
    setattr(torch.Tensor, "backward", ours)
    sys.excepthook, sys.stdout = ours, ours
    stream.write = ours
    installed.patch(torch, "save", ours)
    modules.register_module_forward_hook(ours)
    tensor.register_hook(ours); model.register_full_backward_pre_hook(ours)
    tensor.register_post_accumulate_grad_hook(ours)
    torch.autograd._engine_run_backward
    signal.signal(signal.SIGTERM, ours); os.register_at_fork(after_in_child=ours)
    gc.callbacks.append(ours); sys.settrace(ours); threading.settrace(ours)
    sys.meta_path.insert(0, ours); faulthandler.enable()
    with torch.autograd.graph.saved_tensors_hooks(ours, ours): pass
class Mode(TorchFunctionMode): pass
from stepscope.events.patches import Layer, install
"""
TOUCHED = [
    (8, "sets torch.compile"), (9, "sets Optimizer.step"), (10, "sets an attribute of kind"),
    (10, "sets kind.__call__"), (11, "sets an attribute of torch.Tensor"), (12, "sets sys.excepthook"),
    (12, "sets sys.stdout"), (13, "sets stream.write"), (14, "patches by Installed.patch"),
    (15, "calls register_module_forward_hook"), (16, "calls register_full_backward_pre_hook"),
    (16, "calls register_hook"), (17, "calls register_post_accumulate_grad_hook"),
    (18, "reaches for autograd's engine"), (19, "calls os.register_at_fork"), (19, "calls signal.signal"),
    (20, "calls gc.callbacks.append"), (20, "calls sys.settrace"), (20, "calls threading.settrace"),
    (21, "calls faulthandler.enable"), (21, "calls sys.meta_path.insert"), (22, "enters saved_tensors_hooks"),
    (23, "subclasses TorchFunctionMode"),
    (24, "patches by events.patches.install, past the table of points"),
]  # fmt: skip


def test_every_kind_of_touch_is_seen(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(TOUCHING)
    assert touches_of(tmp_path / "one.py") == TOUCHED


IN_THE_PROCESS = (
    "common", "diagnose", "events", "evidence", "experiments", "inspect", "launch", "profile", "record", "runs",
    "track",
)  # fmt: skip


def test_clocks_are_those_from_before_the_script() -> None:
    """A script's tests replace `time.time` and count its calls: what runs in their process asks `common.clocks`."""
    asked = [
        f"{path.relative_to(ROOT)}:{node.lineno} asks time.{node.attr}; import clocks from stepscope.common"
        for room in IN_THE_PROCESS
        for path in (SOURCE / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "time"
        if node.attr in clocks.__all__
    ]
    assert not asked, "\n".join(asked)


def test_our_own_objects_may_be_set(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "import torch\nfrom stepscope import fence\n"
        "def set(self, visit, out):\n"
        "    self.write = 1; visit.step = 2; fence.lock = 3; x = torch.zeros(1); x.grad = None; out['a'] = 4\n"
    )
    assert touches_of(tmp_path / "one.py") == []


def test_nothing_heavy_comes_with_import_stepscope() -> None:
    heavy = ("torch", "numpy", "starlette", "rich", "psutil")
    code = f"import sys, stepscope; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_reading_and_serving_never_import_torch() -> None:
    code = (
        "import sys, stepscope.runs.catalogue.catalogue, stepscope.runs.read.folder;"
        "import stepscope.server.app, stepscope.cli.main, stepscope.inspect.step, stepscope.inspect.graph;"
        "print('torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


def test_rules_and_evidence_cannot_reach_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import importlib, pkgutil, stepscope.diagnose as d, stepscope.evidence as e\n"
        "found = [m.name for p in (d, e) for m in pkgutil.walk_packages(p.__path__, p.__name__ + '.')]\n"
        "print(len([importlib.import_module(name) for name in found]) > 250)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (out.stdout.strip(), out.stderr) == ("True", "")


def test_every_public_name_can_be_imported() -> None:
    import stepscope

    missing = [name for name in stepscope.__all__ if not hasattr(stepscope, name)]
    assert missing == []


def test_every_public_name_is_documented() -> None:
    import stepscope

    page = (ROOT / "docs" / "api.md").read_text()
    missing = [name for name in stepscope.__all__ if name != "__version__" and f"stepscope.{name}" not in page]
    assert missing == [], f"docs/api.md says nothing of {missing}"


@pytest.mark.parametrize("command", sorted(p.stem for p in (SOURCE / "cli").glob("[a-z]*.py") if p.stem != "main"))
def test_every_command_has_a_page(command: str) -> None:
    page = ROOT / "docs" / "commands" / f"{command}.md"
    assert page.exists(), f"write {page.relative_to(ROOT)}"
    assert f"stepscope {command.replace('_', '-')}" in page.read_text()


@pytest.mark.parametrize("page", sorted(p.stem for p in (ROOT / "web" / "src" / "views").glob("*.tsx")))
def test_every_browser_page_is_described(page: str) -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert f"`{page}`" in text or f"# {page.capitalize()}" in text.replace("##", "#"), (
        f"docs/ui.md has no section on {page}"
    )


def test_files_stay_small_enough_to_read() -> None:
    sources = [*SOURCE.rglob("*.py"), *(ROOT / "web" / "src").rglob("*.ts*")]
    grown = {str(p.relative_to(ROOT)): n for p in sources if (n := len(p.read_text().splitlines())) > 420}
    grown.pop("web/src/lib/schema.ts", None)  # generated
    assert grown == {}, f"files with two subjects? {grown}"
