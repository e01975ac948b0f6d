"""`--sarif FILE`: SARIF 2.1.0, which code-scanning services and editors read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from stepscope import __version__
from stepscope.diagnose.catalogue import RuleDoc, rule_docs
from stepscope.diagnose.evidence_words import evidence_words
from stepscope.diagnose.outputs.json import as_json
from stepscope.diagnose.outputs.write_output import place, relative_to
from stepscope.records import Edit, Finding, Related, Severity, TextChange

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
DOCS = "https://github.com/stepscope/stepscope/tree/main/docs"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}
_MOST = 1000
"""Letters of a full description; GitHub takes 1,024."""


def write(
    findings: Iterable[Finding],
    path: str | os.PathLike[str],
    root: Path | None = None,
    otherwise: str | None = None,
) -> None:
    """All findings as one SARIF log, with paths told from `root` (the current folder by default; see `_checkout`).

    A finding without a place is put at the top of `otherwise`: GitHub refuses a whole log for one result without.
    """
    placed = [one if one.file or otherwise is None else replace(one, file=otherwise, line=1) for one in findings]
    log = sarif_log(placed, _checkout((root or Path.cwd()).absolute()))
    place(msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n", path)


def _checkout(root: Path) -> Path:
    """The repository on GitHub's machines, where paths are counted from its top and not from the job's folder."""
    top = os.environ.get("GITHUB_WORKSPACE")
    return Path(top) if top and Path(top) in root.parents else root


def sarif_log(findings: Sequence[Finding], root: Path) -> dict[str, Any]:
    """The log as SARIF lays it out: one tool, its rules, and a result a finding."""
    ids = sorted({one.rule for one in findings})
    docs = rule_docs() if ids else {}
    driver = {
        "name": "stepscope",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": DOCS,
        "rules": [_rule(rule, docs.get(rule)) for rule in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": root.as_uri() + "/"}},
        "results": _told_apart([_result(one, ids.index(one.rule), root) for one in findings]),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _told_apart(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What GitHub knows a result by from one commit to the next; the same fault on equal lines is counted."""
    seen: Counter[str] = Counter()
    for result in results:
        prints = result["partialFingerprints"]
        seen[prints["stepscope/v1"]] += 1
        prints["primaryLocationLineHash"] = f"{prints['stepscope/v1'][:16]}:{seen[prints['stepscope/v1']]}"
    return results


def _rule(rule: str, doc: RuleDoc | None) -> dict[str, Any]:
    described: dict[str, Any] = {"id": rule, "name": _pascal(rule), "helpUri": f"{DOCS}/rules/{rule}.md"}
    if doc is None:  # a rule of somebody else's
        said = {"text": f"`stepscope explain {rule}` has the details."}
        return {**described, "shortDescription": {"text": rule}, "fullDescription": said, "help": said}
    text = doc.text
    prose = [words for words in (text.why, text.fix) if words]
    code = [f"{title}:\n\n```python\n{body}\n```" for title, body in (("Bad", text.bad), ("Good", text.good)) if body]
    described["shortDescription"] = {"text": text.summary or rule}
    described["fullDescription"] = {"text": " ".join([text.summary, *prose[:1]]).strip()[:_MOST] or rule}
    described["help"] = {
        "text": "\n\n".join(prose) or text.summary or rule,
        "markdown": "\n\n".join([*prose, *code]) or text.summary or rule,
    }
    described["defaultConfiguration"] = {"level": _LEVELS[doc.severity]}
    described["properties"] = {
        "tags": ["pytorch", "training", doc.group],
        "precision": "high",
        "problem.severity": _PROBLEMS[doc.severity],
    }
    return described


def _pascal(rule: str) -> str:
    """A rule's name as SARIF wants it: `opt.no-zero-grad` is `OptNoZeroGrad`."""
    return "".join(word.capitalize() for word in rule.replace(".", "-").replace("_", "-").split("-"))


def _result(finding: Finding, index: int, root: Path) -> dict[str, Any]:
    seen = finding.label or evidence_words(finding.evidence)
    words = [finding.message, *([f"Seen: {seen}."] if seen else []), *([f"Fix: {finding.fix}"] if finding.fix else [])]
    plain = as_json(finding)
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(str(_clean(word)) for word in words)},
        "partialFingerprints": {"stepscope/v1": _fingerprint(finding, root)},
        "properties": {"evidence": plain["evidence"], "step": plain["step"]},
    }
    if finding.file:
        region = _region(finding.line, finding.column, finding.end_column)
        result["locations"] = [_location(finding.file, region, root, finding.function)]
    if finding.related:
        result["relatedLocations"] = [_related(one, at, root) for at, one in enumerate(finding.related, 1)]
    if finding.edits:
        result["fixes"] = [_fix(one, finding, root) for one in finding.edits]
    return result


def _fix(edit: Edit, finding: Finding, root: Path) -> dict[str, Any]:
    """An edit as SARIF has it: regions of whole lines, and what takes their place."""
    files = dict.fromkeys(change.file for change in edit.changes)
    return {
        "description": {"text": _clean(edit.label or finding.fix)},
        "artifactChanges": [
            {
                "artifactLocation": _location(file, None, root)["physicalLocation"]["artifactLocation"],
                "replacements": [_replacement(one) for one in edit.changes if one.file == file],
            }
            for file in files
        ],
    }


def _replacement(change: TextChange) -> dict[str, Any]:
    region = {"startLine": change.line, "startColumn": 1, "endLine": change.line + len(change.old), "endColumn": 1}
    text = "".join(f"{line}\n" for line in change.new)
    return {"deletedRegion": region, "insertedContent": {"text": _clean(text)}}


def _related(one: Related, number: int, root: Path) -> dict[str, Any]:
    words = {"text": _clean(one.label) or "related to this place"}
    return {"id": number, "message": words, **_location(one.file, _region(one.line), root)}


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _location(file: str, region: dict[str, int] | None, root: Path, function: str = "") -> dict[str, Any]:
    path = _clean(relative_to(root, file))
    artifact: dict[str, Any] = {"uri": quote(path), "uriBaseId": "SRCROOT"}
    if os.path.isabs(path):
        artifact = {"uri": Path(path).as_uri()}
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if region:
        physical["region"] = region
    found: dict[str, Any] = {"physicalLocation": physical}
    if function:
        found["logicalLocations"] = [{"fullyQualifiedName": _clean(function), "kind": "function"}]
    return found


def _region(line: int | None, column: int | None = None, end_column: int | None = None) -> dict[str, int] | None:
    """SARIF counts columns from 1, and an end is after the last letter."""
    if not line or line < 1:
        return None
    region = {"startLine": line}
    if column is not None and column >= 0:
        region["startColumn"] = column + 1
        if end_column is not None and end_column > column:
            region["endColumn"] = end_column + 1
    return region


def _fingerprint(finding: Finding, root: Path) -> str:
    """The same finding after an edit above it: known by its rule, file and line's text, not by its number."""
    text = dict(finding.source).get(finding.line or 0, str(finding.line))
    file = relative_to(root, finding.file) if finding.file else ""
    return sha256(_clean(f"{finding.rule}\0{file}\0{text.strip()}").encode()).hexdigest()[:32]
