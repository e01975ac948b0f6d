from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.diagnose.sample_rules import RULES, sample_rules as sample_rules

from stepscope.diagnose import catalogue
from stepscope.diagnose.catalogue import asked_when, near_ids, rule_doc, rule_docs, rules_in
from stepscope.diagnose.rule import NEEDS, all_rules
from stepscope.diagnose.rule_text import read_docstring
from stepscope.errors import NotFound

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("sample_rules")
def test_rules_are_read_from_their_files_without_running_them() -> None:
    assert {doc.id: (doc.severity, doc.summary) for doc in rule_docs().values()} == RULES
    doc = rule_doc("opt.no-zero-grad")
    assert (doc.group, doc.needs) == ("opt", "steps")
    assert doc.text.why == "Each update uses the sum of all gradients so far, so the step grows without bound."
    assert doc.text.bad == "loss.backward()\noptimizer.step()"
    assert doc.text.missing == []


@pytest.mark.usefixtures("sample_rules")
@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("opt.no-zero-gard", "opt.no-zero-grad"),
        ("opt.no_zero_grad", "opt.no-zero-grad"),
        ("Opt.No-Zero-Grad", "opt.no-zero-grad"),
        ("no-zero-grad", "opt.no-zero-grad"),
        ("zero-grad", "opt.no-zero-grad"),
        ("lossnan", "loss.nan"),
    ],
)
def test_a_mistyped_rule_is_answered_with_the_one_meant(typed: str, meant: str) -> None:
    assert near_ids(typed)[0] == meant
    with pytest.raises(NotFound, match=f"there is no rule '{typed}'; did you mean '{meant}'"):
        rule_doc(typed)


@pytest.mark.usefixtures("sample_rules")
def test_a_path_is_no_rule() -> None:
    for name in ("../../secrets", "opt/../x", "", "a.b.c", "opt\0x"):
        with pytest.raises(NotFound, match="there is no rule"):
            rule_doc(name)


def test_several_needs_and_a_file_that_does_not_parse(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text('@rule("a.b", severity="info", needs=("steps", Needs.LOSSES))\ndef b(run): ...\n')
    assert [(doc.id, doc.needs) for doc in rules_in(file)] == [("a.b", "steps, losses")]
    file.write_text("@rule(\n")
    assert list(rules_in(file)) == []


def test_a_docstring_that_lacks_a_part_says_which() -> None:
    assert read_docstring("Only a line.").missing == ["Why it matters:", "What to do:", "Bad:", "Good:"]
    assert read_docstring(None).missing[0] == "a first line"
    assert read_docstring("Why it matters: x.").summary == ""


@pytest.mark.parametrize("id", rule_docs())
def test_every_rule_is_documented_and_named_as_its_file(id: str) -> None:
    doc = rule_docs()[id]
    assert doc.text.missing == [], f"{doc.file}:{doc.line}: the docstring lacks {', '.join(doc.text.missing)}"
    assert len(doc.summary) <= 120, f"{doc.file}:{doc.line}: the first line is for tables; keep it under 120 letters"
    for folder in [one for one in catalogue.FOLDERS if doc.file.is_relative_to(one)]:
        named = ".".join(doc.file.relative_to(folder).with_suffix("").parts).replace("_", "-")
        assert doc.id == named, f"{doc.file}:{doc.line}: the rule of this file is '{named}', not '{doc.id}'"


@pytest.mark.parametrize("id", rule_docs())
def test_the_examples_of_every_rule_are_python(id: str) -> None:
    for code in (rule_docs()[id].text.bad, rule_docs()[id].text.good):
        compile(code, id, "exec", dont_inherit=True, flags=0x2000)  # PyCF_ALLOW_TOP_LEVEL_AWAIT


def test_what_is_read_of_the_files_is_what_is_registered() -> None:
    registered = {id: rule for id, rule in all_rules().items() if rule.module.startswith("stepscope.")}
    written = {id: doc for id, doc in rule_docs().items() if any(map(doc.file.is_relative_to, catalogue.FOLDERS))}
    assert {id: (rule.severity, rule.needs, rule.device) for id, rule in registered.items()} == {
        id: (doc.severity, doc.needs, doc.device) for id, doc in written.items()
    }
    assert {need for rule in registered.values() for need in rule.needs.split(", ")} <= set(NEEDS)


def test_a_page_says_when_and_on_which_device_it_is_asked() -> None:
    assert asked_when(rule_doc("perf.tensor-loop")) == "Runs on a profile, in `stepscope profile`."
    assert asked_when(rule_doc("perf.no-tf32")).endswith("Only on NVIDIA devices.")


def test_rules_for_one_thing_import_no_others() -> None:
    code = (
        "import sys; from stepscope.diagnose import rule; rule.running_rules()\n"
        "needs = {id: set(one.needs.split(', ')) for id, one in rule._rules.items()}\n"
        "early = [id for id, need in needs.items() if not need & set(rule.RUNNING)]\n"
        "print(early, {'torch', 'numpy'} & sys.modules.keys() or 'light')\n"
        "print(len(rule.rules_for('stored')) > 9, len(rule.rules_for('profile')) > 35)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == ["[] light", "True True"]


def test_rules_can_be_read_where_there_is_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from stepscope.diagnose.settings import load_settings\n"
        "from stepscope.diagnose.outputs import sarif, json, github\n"
        "from stepscope.diagnose.catalogue import rule_docs; from stepscope.diagnose.show import render\n"
        "rule_docs(); load_settings()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_rule_has_its_page() -> None:
    checked = subprocess.run([sys.executable, ROOT / "scripts" / "rules", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
