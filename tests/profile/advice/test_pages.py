"""Advice is documented, listed and named as rules are."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stepscope.diagnose.catalogue import ADVICE, asked_when, rule_doc, rule_docs
from stepscope.diagnose.rule import all_rules
from stepscope.profile.advice.advice import all_advice


def test_the_folder_is_the_registry() -> None:
    written = {doc.id for doc in rule_docs().values() if doc.file.is_relative_to(ADVICE)}
    assert written == set(all_advice())
    assert len(written) >= 35


@pytest.mark.parametrize("id", sorted(all_advice()))
def test_every_advice_has_a_whole_page(id: str) -> None:
    doc = rule_doc(id)
    assert doc.text.missing == []
    assert doc.text.how, "how it is found, and where the saving comes from"
    assert doc.file.stem == id.removeprefix("perf.").replace("-", "_")


def test_no_advice_has_the_name_of_a_rule() -> None:
    assert set(all_advice()) & set(all_rules()) == set()


def test_a_page_says_on_which_device_it_is_asked() -> None:
    assert asked_when(rule_doc("perf.tensor-loop")) == "`stepscope profile` gives this advice."
    assert asked_when(rule_doc("perf.no-tf32")).endswith("Only on NVIDIA devices.")


def test_advice_is_given_without_torch() -> None:
    code = (
        "import sys; from stepscope.profile.advice.verdict import verdict;"
        "from stepscope.profile.advice.advice import all_advice; all_advice(); print('torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"
