"""A secret in text that a person types is refused with a message; nothing is masked without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

import stepscope
from stepscope.errors import UsageError
from stepscope.report.store import reports_in
from stepscope.views.context import Context
from stepscope.views.edit import EditRequest, changes, edit, write_changes
from stepscope.views.report.reports import SaveReportRequest, save_report

from .conftest import write_run

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
TYPED = {
    "notes": f"second try\n\nlogs in with `GITHUB_TOKEN={SECRET}`, lr=3e-4",
    "name": f"baseline {SECRET}",
    "add_tags": ["good", f"token={SECRET}"],
}
PLACES = {"notes": "line 3 of the notes", "name": "the name", "add_tags": "line 2 of a tag"}


@pytest.mark.parametrize("field", list(TYPED))
def test_a_typed_secret_is_refused_and_reaches_no_file(store: Path, ctx: Context, field: str) -> None:
    run = write_run(store)
    with pytest.raises(UsageError, match=f"{PLACES[field]} seems to contain a secret") as refused:
        edit(ctx, EditRequest(runs=[run], **{field: TYPED[field]}))  # type: ignore[arg-type]
    assert SECRET not in str(refused.value)
    assert "***" in str(refused.value)
    assert not [path for path in store.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def test_ordinary_text_is_kept_letter_for_letter(store: Path, ctx: Context) -> None:
    run = write_run(store)
    notes = "max_tokens=512, tokenizer: bert\npassword: *** (in the vault)\ncommit 3f786850e387550fdab836ed7e6d"
    assert edit(ctx, EditRequest(runs=[run], notes=notes, name="token ablation", add_tags=["key"])).changed == [run]
    read = stepscope.run(store / run)
    assert (read.notes, read.name, read.tags) == (notes, "token ablation", ["key"])


def test_a_tag_with_a_secret_can_be_removed(store: Path, ctx: Context) -> None:
    run = write_run(store, tags=[f"token={SECRET}"])
    edit(ctx, EditRequest(runs=[run], remove_tags=[f"token={SECRET}"]))
    assert stepscope.run(store / run).tags == []


def test_who_insists_may_keep_it(store: Path) -> None:
    run = write_run(store)
    write_changes(store / run, run, changes(EditRequest(runs=[run], notes=TYPED["notes"]), allow_secrets=True))  # type: ignore[arg-type]
    assert stepscope.run(store / run).notes == TYPED["notes"]


def test_a_report_with_a_secret_is_refused_with_its_line(store: Path, ctx: Context) -> None:
    write_run(store)
    with pytest.raises(UsageError, match="line 3 of the report seems to contain a secret: 'key:"):
        save_report(ctx, SaveReportRequest(text=f"# Results\n\nkey: {SECRET}\n"))
    assert list(reports_in([store])) == []
    save_report(ctx, SaveReportRequest(text="# Results\n\nkey: ***\n"))
    assert len(list(reports_in([store]))) == 1
