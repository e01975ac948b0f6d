"""Every rule is held to its examples: `<group>/<rule>.md`, with what it must find and what it must let pass.

A block under `## Setup` goes before every block after it. Under `## Buggy: ...` the rule must find the fault at the
line with the comment `# cause` (within one line; without the comment, anywhere), and no other rule may find anything at
warning or above. Under `## Healthy: ...` no rule at all may. `## Buggy, probe: ...` asks the probes too, `## Buggy,
info: ...` expects severity info, `bare` leaves out the imports and the seed that come before every example,
`processes` is for scripts that start processes of their own, `sampled` has a sampler look at their lines, `printed`
has what they print read, `facts` is for rules over ranks: the code makes `ranks`, what each rank has told, and only
this rule is asked (bench/ranks.py has real jobs). Examples of rules for stored runs (`run/`, and `stored` in the
heading) write a run instead of training: see tests/diagnose/stored/test_stored_rules.py; those of rules over profiles
(`profiled` where the rule is asked of trainings too) are profiled: see tests/profile/advice/test_examples.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import all_rules
from stepscope.diagnose.source import Source
from stepscope.evidence import optimizers, ranks as facts_of_ranks
from stepscope.evidence.trainer import Trainer
from stepscope.record.observers import ranks as facts_of_a_rank
from stepscope.records.place import Place
from stepscope.records.step import Site

HERE = Path(__file__).parent
BLOCK = re.compile(r"^## (?P<head>[^\n]+)\n(?P<said>.*?)```python\n(?P<code>.*?)^```", re.M | re.S)


def examples() -> list[tuple[str, str, str]]:
    """(rule, heading, code) of every example."""
    found = []
    for path in sorted(HERE.glob("*/*.md")):
        text = path.read_text()
        rule = text.split("\n")[0].lstrip("# ").strip()
        setup = ""
        for match in BLOCK.finditer(text):
            if match["head"].startswith("Setup"):
                setup = match["code"]
            else:
                found.append((rule, match["head"], setup + match["code"]))
    return found


EVERY = examples()
RULES = all_rules()


def asked_of(example: tuple[str, str, str], need: str) -> bool:
    """Whether an example is for a rule that needs only this, or says in its heading that this one is."""
    rule, head, _ = example
    needs = RULES[rule].needs.removeprefix("curves, ")
    return needs == need or {"profile": "profiled"}.get(need, need) in head.split(":")[0]


EXAMPLES = [one for one in EVERY if not asked_of(one, "stored") and not asked_of(one, "profile")]
FACTS = [example for example in EXAMPLES if "facts" in example[1].split(":")[0]]
EXAMPLES = [example for example in EXAMPLES if example not in FACTS]


def _id(example: tuple[str, str, str]) -> str:
    return f"{example[0]}: {example[1]}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e[1].startswith("Buggy")], ids=_id)
def test_finds_what_is_wrong(diagnose, example: tuple[str, str, str]) -> None:
    rule, head, code = example
    options = head.split(":")[0]
    bare, processes = "bare" in options, "processes" in options
    ways = {way: way in options for way in ("probe", "sampled", "printed")}
    found = diagnose(code, prelude=not bare, processes=processes, **ways)
    severity = "info" if "info" in options else RULES[rule].severity
    mine = [finding for finding in found if finding.rule == rule]
    said = [(f.rule, f.severity, f.line, f.message) for f in found]
    assert mine, f"{rule} found nothing; findings: {said}"
    if severity != "info":
        assert any(f.severity != "info" for f in mine), f"only at info: {said}"
    lines = [number for number, line in enumerate(found.script.splitlines(), 1) if line.endswith("# cause")]
    if lines:
        near = [f.line for f in mine if f.line is not None and any(abs(f.line - line) <= 1 for line in lines)]
        assert near, f"the cause is at {lines}; findings: {said}"
    others = [one for one in said if one[0] != rule and one[1] != "info"]
    assert not others, f"other rules cry too: {others}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e[1].startswith("Healthy")], ids=_id)
def test_lets_pass_what_is_right(diagnose, example: tuple[str, str, str]) -> None:
    _, head, code = example
    options = head.split(":")[0]
    found = diagnose(code, **{way: way in options for way in ("probe", "processes", "sampled", "printed")})
    alarms = [(f.rule, f.severity, f.line, f.message) for f in found if f.severity != "info"]
    assert not alarms


@pytest.mark.parametrize("example", FACTS, ids=_id)
def test_compares_what_ranks_told(example: tuple[str, str, str]) -> None:
    rule, head, code = example
    names = {**vars(facts_of_a_rank), **vars(facts_of_ranks), **vars(optimizers), "Place": Place, "Site": Site}
    exec(compile(code, head, "exec"), names)
    source = Source({"/a/train.py": names.get("script", "")})
    told = facts_of_ranks.Ranks(facts_of_a_rank.read_ranks(names["ranks"]))
    made = names.get("optimizers", optimizers.Optimizers())
    run = Evidence({"ranks": told, "trainer": Trainer(), "optimizers": made}, source)
    proofs = list(RULES[rule].check(run))
    assert bool(proofs) == head.startswith("Buggy"), [proof.message for proof in proofs]
    if proofs and "message" in names:
        assert (proofs[0].message, proofs[0].where) == (names["message"], names["where"])


def test_every_rule_has_examples_of_both_kinds() -> None:
    buggy = {rule for rule, head, _ in EVERY if head.startswith("Buggy")}
    healthy = {rule for rule, head, _ in EVERY if head.startswith("Healthy")}
    rules = {id for id, rule in RULES.items() if rule.module.startswith("stepscope.")}
    missing = {id: [kind for kind, have in (("buggy", buggy), ("healthy", healthy)) if id not in have] for id in rules}
    assert not {id: kinds for id, kinds in missing.items() if kinds}
    unknown = (buggy | healthy) - set(RULES)
    assert not unknown, f"examples of rules that do not exist: {unknown}"
