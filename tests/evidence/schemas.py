"""What each table of evidence keeps, field by field, and the version it says it has.

    .venv/bin/python tests/evidence/schemas.py        # write schemas.json after a version was raised

A run folder outlives the code that wrote it. A table that keeps something else under the same version would be read as
if it were today's, and rules would judge what is not there; so `schemas.json` holds what every version keeps.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from stepscope.evidence.codec import fields_of
from stepscope.evidence.registry import records, tables

GOLDEN = Path(__file__).with_name("schemas.json")
Fields = dict[str, dict[str, str]]
"""Of each record its fields and their types."""


def fields_now() -> Fields:
    return {kind.__name__: {name: _types(kind).get(name, "Any") for name in fields_of(kind)} for kind in records()}


def schemas_now() -> dict[str, Any]:
    known = tables()
    return {
        "tables": {name: {"version": one.version, "record": one.kind.__name__} for name, one in known.items()},
        "records": fields_now(),
    }


def reached(record: str, fields: Fields) -> set[str]:
    """The records that a record leads to, itself among them."""
    found, waiting = set(), [record]
    while waiting:
        name = waiting.pop()
        if name in fields and name not in found:
            found.add(name)
            waiting += [word for kind in fields[name].values() for word in re.findall(r"\w+", kind)]
    return found


def changes(before: dict[str, Any], now: dict[str, Any]) -> dict[str, list[str]]:
    """Of each table that keeps something else than before under the same version: what is different."""
    found: dict[str, list[str]] = {}
    for name, table in now["tables"].items():
        known = before["tables"].get(name)
        if known is None or known["version"] != table["version"]:
            continue
        then, today = before["records"], now["records"]
        names = reached(known["record"], then) | reached(table["record"], today)
        said = [line for one in sorted(names) for line in _difference(one, then.get(one, {}), today.get(one, {}))]
        if said:
            found[name] = said
    return found


def advice(changed: dict[str, list[str]], now: dict[str, Any]) -> str:
    lines = []
    for name, said in changed.items():
        version = now["tables"][name]["version"]
        lines.append(f"the table {name!r} keeps something else than its version {version} did: {'; '.join(said)}")
        lines.append(f'    raise it where it is defined: @table("{name}", version={version + 1})')
    lines.append("then run tests/evidence/schemas.py, and `make corpus` to record the corpus with it")
    return "\n".join(lines)


def _difference(record: str, then: dict[str, str], today: dict[str, str]) -> list[str]:
    gone = [f"{record}.{name} is gone" for name in then if name not in today]
    new = [f"{record}.{name} is new" for name in today if name not in then]
    other = [
        f"{record}.{name} is {today[name]}, not {kind}"
        for name, kind in then.items()
        if name in today and today[name] != kind
    ]
    return gone + new + other


def _types(kind: type) -> dict[str, str]:
    """The types of a class's fields, as they are written down."""
    if dataclasses.is_dataclass(kind):
        return {field.name: str(field.type) for field in dataclasses.fields(kind)}
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update({name: str(said) for name, said in inspect.get_annotations(base).items()})
        if "__init__" in base.__dict__ and base.__module__.startswith("stepscope."):
            found.update(_set_in(base.__dict__["__init__"]))
    return found


def _set_in(function: Any) -> dict[str, str]:
    """The types of what `__init__` sets: as annotated, of its arguments, or of a constant."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    given = {one.arg: ast.unparse(one.annotation) for one in node.args.args if one.annotation is not None}
    found = {}
    for line in ast.walk(node):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Attribute):
            found[line.target.attr] = ast.unparse(line.annotation)
        elif isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Attribute):
            found.setdefault(line.targets[0].attr, _type_of(line.value, given))
    return found


def _type_of(value: ast.expr, given: dict[str, str]) -> str:
    if isinstance(value, ast.Name):
        return given.get(value.id, "Any")
    return type(value.value).__name__ if isinstance(value, ast.Constant) else "Any"


def main() -> int:
    now = schemas_now()
    changed = changes(json.loads(GOLDEN.read_text()), now) if GOLDEN.exists() else {}
    if changed:
        print(advice(changed, now))
        return 1
    GOLDEN.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
