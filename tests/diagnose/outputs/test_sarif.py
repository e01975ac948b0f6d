from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.diagnose.sample_rules import sample_rules as sample_rules

from stepscope.diagnose.outputs.sarif import sarif_log, write
from stepscope.records import Finding, Related

ROOT = Path("/project")
FOUND = Finding(
    rule="opt.no-zero-grad",
    severity="error",
    message="gradients pile up",
    file="/project/my code/train.py",
    line=88,
    column=8,
    end_column=23,
    evidence={"norm": [1.0, float("nan")]},
    fix="clear them",
    function="fit",
    source=[(88, "        loss.backward()")],
    related=[Related(file="/elsewhere/m.py", line=2, label="made here")],
)


def result_of(finding: Finding) -> dict[str, Any]:
    result: dict[str, Any] = sarif_log([finding], ROOT)["runs"][0]["results"][0]
    return result


@pytest.mark.usefixtures("sample_rules")
def test_the_whole_log_with_its_rules(tmp_path: Path) -> None:
    others = [replace(FOUND, rule="repro.no-seed", severity="info"), replace(FOUND, rule="mine.own")]
    write([FOUND, *others], tmp_path / "found.sarif", root=ROOT)
    log = json.loads((tmp_path / "found.sarif").read_text(), parse_constant=pytest.fail)
    (run,) = log["runs"]
    assert (log["version"], log["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    rules = run["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["name"]) for rule in rules] == [
        ("mine.own", "MineOwn"),
        ("opt.no-zero-grad", "OptNoZeroGrad"),
        ("repro.no-seed", "ReproNoSeed"),
    ]
    assert rules[1]["help"]["markdown"].endswith("```python\noptimizer.zero_grad()\nloss.backward()\n```")
    assert [(one["ruleId"], one["ruleIndex"], one["level"]) for one in run["results"]] == [
        ("opt.no-zero-grad", 1, "error"),
        ("repro.no-seed", 2, "note"),
        ("mine.own", 0, "error"),
    ]


def test_a_result_tells_its_place_from_the_root_with_columns_from_one() -> None:
    result = result_of(FOUND)
    assert result["message"]["text"] == "gradients pile up\nSeen: norm 1 -> NaN.\nFix: clear them"
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "my%20code/train.py", "uriBaseId": "SRCROOT"},
                "region": {"startLine": 88, "startColumn": 9, "endColumn": 24},
            },
            "logicalLocations": [{"fullyQualifiedName": "fit", "kind": "function"}],
        }
    ]
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"] == {"uri": "file:///elsewhere/m.py"}
    assert (related["id"], related["message"]["text"]) == (1, "made here")


def test_a_finding_is_known_again_when_lines_were_added_above_it() -> None:
    moved = replace(FOUND, line=90, source=[(90, "    loss.backward()")])
    assert result_of(moved)["partialFingerprints"] == result_of(FOUND)["partialFingerprints"]
    other = replace(FOUND, source=[(88, "        loss.mean().backward()")])
    assert result_of(other)["partialFingerprints"] != result_of(FOUND)["partialFingerprints"]


def test_a_finding_without_a_place_has_no_location() -> None:
    result = result_of(Finding(rule="loss.nan", severity="warning", message="NaN"))
    assert "locations" not in result
    assert "relatedLocations" not in result


def test_nothing_found_is_a_run_without_results() -> None:
    assert sarif_log([], ROOT)["runs"][0]["results"] == []
