"""A small folder of rules for the tests of how rules are found, named and described."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope.diagnose import catalogue

TEXT = '''
@rule("{id}", severity="{severity}", needs="steps")
def {name}(run):
    """{summary}

    Why it matters: each update uses the sum of all gradients so far,
    so the step grows without bound.

    What to do: call `optimizer.zero_grad()` once per step.

    How it is found: the gradients of a step are looked at before its `backward()`.

    Bad:
        loss.backward()
        optimizer.step()
    Good:
        optimizer.zero_grad()
        loss.backward()
    """
    yield from ()
'''

RULES = {
    "opt.no-zero-grad": ("error", "Gradients accumulate because nothing clears them between optimizer steps."),
    "opt.stale-params": ("error", "The optimizer holds parameters that the model no longer has."),
    "loss.nan": ("warning", "The loss is not a number."),
    "repro.no-seed": ("info", "Nothing sets a seed."),
}


@pytest.fixture
def sample_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Four rules in three groups, in place of our own."""
    folder = tmp_path / "rules"
    for id, (severity, summary) in RULES.items():
        group, name = id.replace("-", "_").split(".")
        (folder / group).mkdir(parents=True, exist_ok=True)
        text = TEXT.format(id=id, severity=severity, name=name, summary=summary)
        (folder / group / f"{name}.py").write_text(f'"""{summary}"""\nimport torch\n{text}')
    monkeypatch.setattr(catalogue, "FOLDERS", (folder,))
    catalogue.rule_docs.cache_clear()
    yield folder
    catalogue.rule_docs.cache_clear()
