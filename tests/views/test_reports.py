"""Reports through their routes: the list, one report, saving, and panels bound to runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepscope.errors import Conflict, Forbidden, NotFound, UsageError
from stepscope.report.store import MAX_BYTES
from stepscope.views.context import Context
from stepscope.views.report.blocks import (
    MarkdownBlock,
    PanelBlock,
    ReportPreview,
    ReportPreviewRequest,
    preview,
)
from stepscope.views.report.draft import DraftRequest, draft
from stepscope.views.report.reports import (
    ReportIdRequest,
    ReportRequest,
    ReportsRequest,
    SaveReportRequest,
    delete_report,
    report,
    reports,
    restore_report,
    save_report,
)
from stepscope.views.report.share import ShareReportRequest, share_report

from .conftest import write_run


def panel(lines: str, kind: str = "chart") -> str:
    return f"```stepscope {kind}\n{lines}\n```\n"


def shown(ctx: Context, text: str, *runs: str) -> ReportPreview:
    return preview(ctx, ReportPreviewRequest(text=text, runs=list(runs)))


def only_panel(found: ReportPreview) -> PanelBlock:
    (block,) = [one for one in found.blocks if isinstance(one, PanelBlock)]
    return block


def test_a_report_is_saved_listed_read_changed_deleted_and_brought_back(store: Path, ctx: Context) -> None:
    run = write_run(store, "baseline", {"loss": [3, 2, 1]}, project="vae")
    text = f"---\ntitle: The VAE\nruns: {run}\n---\nHello\n\n" + panel("key: loss")
    saved = save_report(ctx, SaveReportRequest(text=text))
    (row,) = reports(ctx, ReportsRequest()).reports
    assert (row.id, row.title, row.project, row.version, row.shares) == (saved.id, "The VAE", "vae", 1, 0)
    page = report(ctx, ReportRequest(id=saved.id))
    assert (page.title, page.project, page.version, page.newest, page.text) == ("The VAE", "vae", 1, 1, text)
    assert page.blocks[0] == MarkdownBlock(text="Hello\n\n", line=4, end=6)
    assert isinstance(page.blocks[1], PanelBlock)
    assert [(one.id, one.name, one.project) for one in page.blocks[1].runs] == [(run, "baseline", "vae")]
    assert (page.blocks[1].line, page.blocks[1].end, page.blocks[1].error) == (6, 9, None)
    assert save_report(ctx, SaveReportRequest(text="# Two", id=saved.id, base=1)).version == 2
    assert [one.version for one in report(ctx, ReportRequest(id=saved.id)).versions] == [1, 2]
    assert report(ctx, ReportRequest(id=saved.id, version=1)).text == text
    delete_report(ctx, ReportIdRequest(id=saved.id))
    assert reports(ctx, ReportsRequest()).reports == []
    assert [one.id for one in reports(ctx, ReportsRequest(deleted=True)).reports] == [saved.id]
    restore_report(ctx, ReportIdRequest(id=saved.id))
    assert report(ctx, ReportRequest(id=saved.id)).title == "Two"


def test_saving_over_a_newer_version_is_refused(ctx: Context) -> None:
    saved = save_report(ctx, SaveReportRequest(text="one"))
    save_report(ctx, SaveReportRequest(text="two", id=saved.id, base=1))
    with pytest.raises(Conflict, match="merge both texts") as fault:
        save_report(ctx, SaveReportRequest(text="other two", id=saved.id, base=1))
    assert fault.value.http_status == 409


def test_a_read_only_server_changes_nothing(store: Path, ctx: Context) -> None:
    saved = save_report(ctx, SaveReportRequest(text="one"))
    ctx.read_only = True
    for change in (
        lambda: save_report(ctx, SaveReportRequest(text="two", id=saved.id, base=1)),
        lambda: delete_report(ctx, ReportIdRequest(id=saved.id)),
        lambda: restore_report(ctx, ReportIdRequest(id=saved.id)),
        lambda: share_report(ctx, ShareReportRequest(id=saved.id)),
    ):
        with pytest.raises(Forbidden, match="read-only"):
            change()
    assert reports(ctx, ReportsRequest()).read_only
    assert not report(ctx, ReportRequest(id=saved.id)).editable


def test_panels_find_their_runs_by_id_name_query_front_matter_or_the_page(store: Path, ctx: Context) -> None:
    a = write_run(store, "a", {"loss": [1]}, config={"lr": 0.1})
    b = write_run(store, "b", {"loss": [1]}, config={"lr": 0.2})

    def runs(text: str, *given: str) -> list[str]:
        return [one.name for one in only_panel(shown(ctx, text, *given)).runs]

    assert runs(panel(f"key: loss\nruns: {a}, {b}")) == ["a", "b"]
    assert runs(panel("key: loss\nruns: b")) == ["b"]
    assert runs(panel('key: loss\nruns: ["b", "a"]')) == ["b", "a"]
    assert runs(panel("key: loss\nquery: config.lr > 0.15")) == ["b"]
    assert runs(panel("key: loss\nquery: config.lr > 0\nmost: 1")) == ["b"]
    assert runs(f"---\nruns: {a}\n---\n" + panel("key: loss")) == ["a"]
    assert runs(f"---\nruns: {a}\n---\n" + panel("key: loss\nruns: b")) == ["b"]
    assert runs(panel("key: loss"), b) == ["b"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (panel("key: loss"), "chart needs one and has no run; name them with `runs:` or `query:`"),
        (panel("runs: a"), "chart needs key; the runs have loss, val/acc"),
        (panel("runs: a\nkey: los"), "none of the runs has 'los'; did you mean loss?"),
        (panel("runs: a\nkey: zzz"), "none of the runs has 'zzz'; the runs have loss, val/acc"),
        (panel("runs: a\nkey: loss\nkye: x"), "chart has no option kye; did you mean key?"),
        (panel("runs: a\nkey: loss\nlog: maybe"), "chart cannot take `log: maybe`; expected true or false"),
        (panel("runs: a\nkey: loss\nsmooth: ema:2"), "smooth cannot be 'ema:2'; write ema:0.6"),
        (panel("runs: a\nkey: loss\nx: epoch"), "x cannot be 'epoch'; expected step, relative, wall"),
        (panel("runs: a\nkey: loss\nmost: 0"), "most must be 1 to 200, not 0"),
        (panel("runs: a\nkey: loss\ngroup: nope"), "none of the runs has config.nope to group by"),
        (panel("key: loss\nruns: gone"), "there is no run 'gone'"),
        (panel("key: loss\nquery: lr <"), "the query cannot be read: "),
        (panel("runs: a", "chrat"), "there is no panel 'chrat'; did you mean chart?"),
        (panel("runs: a", "finding\nrule: x"), "none of the runs has a finding 'x'; they have no findings"),
        (panel("runs: a", "graph"), "run 'a' has no recorded step"),
        (panel("runs: a", "profile"), "the runs have no profile"),
        (panel("runs: a", "changed"), "changed needs 2 and has only 1"),
        (panel("runs: a\nkey: pic", "image"), "none of the runs has 'pic'; the runs have none"),
        (panel("runs: a\nkey: w", "distribution"), "none of the runs has 'w'; the runs have none"),
        (panel("runs: a\ncolumns: 'x", "table"), "a table has no column"),
        (panel("runs: a\nlines: 0", "console"), "lines must be 1 to 500, not 0"),
        (panel("", "note"), "note needs text"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_its_place(store: Path, ctx: Context, text: str, error: str) -> None:
    write_run(store, "a", {"loss": [1], "val/acc": [1]})
    found = shown(ctx, "# Title\n" + text + "after\n")
    block = only_panel(found)
    assert block.error is not None
    assert block.error.startswith(error)
    assert found.problems[0].line == 1
    assert str(store) not in block.error
    assert isinstance(found.blocks[-1], MarkdownBlock)


def test_a_run_that_is_gone_is_told_and_the_others_are_drawn(store: Path, ctx: Context) -> None:
    a = write_run(store, "a", {"loss": [1]})
    found = shown(ctx, panel(f"key: loss\nruns: {a}, 01ARZ3NDEKTSV4RRFFQ69G5FAV"))
    assert only_panel(found).error is None
    assert [one.name for one in only_panel(found).runs] == ["a"]
    assert found.problems[0].text.startswith("there is no run '01ARZ3NDEKTSV4RRFFQ69G5FAV'")


def test_numbers_where_text_is_meant_are_text(store: Path, ctx: Context) -> None:
    write_run(store, "a", {"5": [1]})
    assert only_panel(shown(ctx, panel("runs: a\nkey: 5\ntitle: 12\ncaption: true"))).error is None


def test_archived_runs_are_left_out_of_a_query_but_not_when_named(store: Path, ctx: Context) -> None:
    write_run(store, "old", {"loss": [1]}, tags=["archived"])
    assert only_panel(shown(ctx, panel("key: loss\nquery: project = demo"))).runs == []
    assert [one.name for one in only_panel(shown(ctx, panel("key: loss\nruns: old"))).runs] == ["old"]


def test_too_long_a_text_is_refused_before_it_is_read(ctx: Context) -> None:
    with pytest.raises(UsageError, match="the maximum is"):
        shown(ctx, "x" * (MAX_BYTES + 1))


def test_an_unknown_report_is_not_found(ctx: Context) -> None:
    for id in ("nope", "../../etc", ""):
        with pytest.raises(NotFound, match="there is no report"):
            report(ctx, ReportRequest(id=id))


def test_a_damaged_text_is_listed_with_its_reason(ctx: Context, store: Path) -> None:
    saved = save_report(ctx, SaveReportRequest(text="one"))
    (store / "reports" / saved.id / "000002.md").write_bytes(b"x" * (MAX_BYTES + 1))
    (row,) = reports(ctx, ReportsRequest()).reports
    assert row.error is not None
    assert "above the limit of 2,000,000" in row.error


def test_a_draft_of_two_runs_tells_what_changed_and_draws_what_matters(store: Path, ctx: Context) -> None:
    a = write_run(store, "a", {"val/loss": [1, 2], "epoch": [0, 1]})
    b = write_run(store, "b", {"val/loss": [1, 2]})
    made = draft(ctx, DraftRequest(runs=[a, b]))
    assert made.title == "a against b"
    found = shown(ctx, made.text)
    assert found.problems == []
    panels = [one for one in found.blocks if isinstance(one, PanelBlock)]
    assert [one.panel for one in panels] == ["table", "changed", "chart"]
    assert panels[2].options == {"key": "val/loss"}
    assert [one.error for one in panels] == [None, None, None]


def test_every_template_makes_a_text_that_can_be_read(store: Path, ctx: Context) -> None:
    hostile = '# "><script>\n```'
    write_run(store, hostile, {"loss": [1, 2], hostile: [1]}, config={"lr": 1}, project=hostile)
    write_run(store, "b", {"loss": [1, 2]}, config={"lr": 2}, project=hostile)
    for template in reports(ctx, ReportsRequest()).templates:
        made = draft(ctx, DraftRequest(query="loss.last > 0", template=template.name))
        faults = [one.text for one in shown(ctx, made.text).problems]
        assert [one for one in faults if "no option" in one or "never closed" in one] == [], template.name
    with pytest.raises(UsageError, match="there is no template 'x'; there are runs, blank"):
        draft(ctx, DraftRequest(template="x"))


def test_a_draft_without_runs_shows_how(ctx: Context) -> None:
    assert "```stepscope chart" in draft(ctx, DraftRequest()).text
