"""Every rule's documentation, read from the rule files without running them: no torch, no waiting.

The folder is the registry: `diagnose/rules/<group>/<rule>.py` and `profile/advice/rules/<group>/<rule>.py` hold a
function under `@rule("group.rule", ...)`. Rules of other packages are found through the entry point `stepscope.rules`,
and read the same way.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from stepscope.diagnose.rule_text import RuleText, read_docstring
from stepscope.errors import NotFound
from stepscope.records import Severity

FOLDERS = (Path(__file__).parent / "rules", Path(__file__).parent.parent / "profile" / "advice" / "rules")
ENTRY_POINT = "stepscope.rules"


@dataclass(frozen=True)
class RuleDoc:
    """One rule, as its file describes it."""

    id: str
    severity: Severity
    needs: str
    """The evidence it asks for: `steps`, `crash`, `source` ..."""
    text: RuleText
    file: Path = field(repr=False)
    line: int = 1
    device: str = "any"
    """Of a rule over profiles: on which devices it is asked."""

    @property
    def group(self) -> str:
        return self.id.partition(".")[0]

    @property
    def summary(self) -> str:
        return self.text.summary

    def to_dict(self) -> dict[str, str]:
        """For `--json`: every field is there."""
        text = self.text
        prose = {name: getattr(text, name) for name in ("summary", "about", "why", "fix", "how", "bad", "good")}
        return {
            "id": self.id,
            "group": self.group,
            "severity": self.severity,
            "needs": self.needs,
            "device": self.device,
            **prose,
        }


def rules_in(file: Path) -> Iterator[RuleDoc]:
    """The rules a file declares; a file that does not parse has none."""
    try:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text) if "@rule(" in text else ast.Module(body=[], type_ignores=[])
    except (OSError, SyntaxError, ValueError):
        return
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "rule":
                yield _described(mark, ast.get_docstring(node), file, node.lineno)


def _described(mark: ast.Call, docstring: str | None, file: Path, line: int) -> RuleDoc:
    given = {word.arg: word.value for word in mark.keywords if word.arg}
    severity = _literal(given.get("severity"))
    return RuleDoc(
        id=_literal(mark.args[0]) if mark.args else _literal(given.get("id")),
        severity="error" if severity == "error" else "info" if severity == "info" else "warning",
        needs=_needs(given.get("needs")) or "steps",
        device=_literal(given.get("device")) or "any",
        text=read_docstring(docstring),
        file=file,
        line=line,
    )


def _literal(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _needs(node: ast.expr | None) -> str:
    """One word or several: `needs="steps"`, `needs=("steps", "losses")`, `needs=Needs.STEPS`."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return ", ".join(word for one in node.elts if (word := _needs(one)))
    if isinstance(node, ast.Attribute):
        return node.attr.lower()
    return _literal(node)


@lru_cache(maxsize=1)
def rule_docs() -> dict[str, RuleDoc]:
    """All rules by id, in the order of their ids."""
    found = {doc.id: doc for file in _files() for doc in rules_in(file)}
    return dict(sorted(found.items()))


def rule_doc(rule: str) -> RuleDoc:
    """One rule; an unknown name is answered with those it could be."""
    if rule.replace("-", "").replace(".", "").replace("_", "").isalnum():
        files = [folder / f"{rule.replace('-', '_').replace('.', '/', 1)}.py" for folder in FOLDERS]
        for doc in (doc for file in files if file.is_file() for doc in rules_in(file)):
            if doc.id == rule:
                return doc
    known = rule_docs()
    if rule in known:
        return known[rule]
    if any(doc.group == rule for doc in known.values()):
        raise NotFound(f"'{rule}' is a group of rules; 'stepscope rules {rule}' lists them")
    raise NotFound(f"there is no rule '{rule}'; {hint(rule)}")


def hint(rule: str) -> str:
    """What to try instead of a name that is not a rule."""
    near = near_ids(rule)
    if near:
        return f"did you mean {' or '.join(repr(one) for one in near)}?"
    return "'stepscope rules' lists them all"


def near_ids(rule: str, count: int = 3) -> list[str]:
    """The ids that a mistyped one may have meant, likeliest first."""
    known = rule_docs()
    spelled = rule.lower().replace("_", "-")
    if spelled in known:
        return [spelled]
    by_name = [one for one in known if one.partition(".")[2] == spelled.rpartition(".")[2]]
    close = get_close_matches(spelled, [*known, *{doc.group for doc in known.values()}], n=count, cutoff=0.7)
    within = [one for one in known if len(spelled) > 3 and spelled in one]
    return list(dict.fromkeys([*by_name, *close, *within]))[:count]


def _files() -> Iterator[Path]:
    for folder in (*FOLDERS, *_folders_of_others()):
        yield from sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]


def _folders_of_others() -> Iterator[Path]:
    """Where the rules of other packages are; found without importing the modules themselves."""
    for point in entry_points(group=ENTRY_POINT):
        try:
            spec = find_spec(point.module)
        except (ImportError, ValueError):
            continue
        if spec is not None and spec.submodule_search_locations:
            yield from map(Path, spec.submodule_search_locations)
        elif spec is not None and spec.origin:
            yield Path(spec.origin)


_ASKED = {
    "steps": "Runs during training, from the second optimizer step on.",
    "source": "Reads the source of your own files.",
    "crash": "Runs when an exception ends the script.",
    "end": "Runs when the script has ended.",
    "profile": "Runs on a profile, in `stepscope profile`.",
    "curves": "Runs on what was recorded, at the end of `stepscope run`.",
    "stored": "Runs on a run's folder, in `stepscope diagnose` and on the run's page; the script need not run.",
    "probe": "Experiments on a copy of the model, in `stepscope check`.",
}
_ASKED_ON = {
    "any": "",
    "gpu": "Only if work ran on an accelerator.",
    "cuda": "Only on NVIDIA devices.",
    "cpu": "Only if no accelerator was used.",
}


def asked_when(doc: RuleDoc) -> str:
    """When a rule is asked, and of what, in words."""
    said = [_ASKED.get(need, f"It needs {need}.") for need in doc.needs.split(", ")]
    return " ".join([*said, _ASKED_ON.get(doc.device, "")]).rstrip()


_TITLES = {
    "amp": "Mixed precision",
    "api": "Misused calls",
    "autograd": "Gradients and the graph",
    "compile": "Compiled code",
    "config": "Settings",
    "crash": "Crashes",
    "data": "Data",
    "device": "Devices",
    "dist": "Distributed training",
    "dtype": "Data types",
    "eval": "Evaluation",
    "grad": "Gradient flow",
    "hw": "Hardware",
    "index": "Indices and labels",
    "init": "Initial values",
    "io": "Saving and loading",
    "loss": "Losses",
    "math": "Formulas",
    "mem": "Memory",
    "metric": "Metrics",
    "mode": "Training and evaluation mode",
    "model": "The model",
    "num": "Numerical problems",
    "opt": "Optimization",
    "perf": "Speed",
    "repro": "Repeatability",
    "run": "Stored runs",
    "rl": "Reinforcement learning",
    "sched": "Learning-rate schedules",
    "shape": "Shapes",
    "stop": "Early stopping",
}


def group_title(group: str) -> str:
    """What a group of rules is about, in words.

    >>> group_title("opt"), group_title("mine")
    ('Optimization', 'Mine')
    """
    return _TITLES.get(group, group.capitalize())
