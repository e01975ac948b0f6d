"""Views are kept in the store, for everybody; two people who save at once both keep theirs."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from stepscope.errors import Forbidden, NotFound, UsageError
from stepscope.views.context import Context
from stepscope.views.route import Empty
from stepscope.views.saved_views import DropViewRequest, SaveViewRequest, drop_view, save_view, saved_views
from stepscope.views.view_file import FILE


def named(name: str, **more: object) -> SaveViewRequest:
    fields = {"page": "/runs", "query": {"q": "loss < 1"}, **more}
    return SaveViewRequest(name=name, **fields)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def there(store: Path) -> None:
    store.mkdir(exist_ok=True)


def test_a_view_is_kept_renamed_and_forgotten(ctx: Context, store: Path) -> None:
    assert saved_views(ctx, Empty()).views == []
    [made] = save_view(ctx, named(" sweeps ")).views
    assert (made.name, made.page, made.query) == ("sweeps", "/runs", {"q": "loss < 1"})
    [renamed] = save_view(ctx, named("all sweeps", id=made.id, query={"q": "x"})).views
    assert (renamed.id, renamed.name, renamed.query) == (made.id, "all sweeps", {"q": "x"})
    assert drop_view(ctx, DropViewRequest(id=made.id)).views == []
    with pytest.raises(NotFound):
        drop_view(ctx, DropViewRequest(id=made.id))
    assert sorted(path.name for path in store.glob("[!.]*")) == [FILE]


def test_a_page_has_one_default_in_each_project(ctx: Context) -> None:
    save_view(ctx, named("a", default=True))
    save_view(ctx, named("b", default=True, project="vae"))
    views = save_view(ctx, named("c", default=True)).views
    assert {one.name: one.default for one in views} == {"a": False, "b": True, "c": True}


def test_who_saves_at_the_same_time_loses_nothing(ctx: Context) -> None:
    threads = [threading.Thread(target=save_view, args=(ctx, named(f"view {n}"))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(saved_views(ctx, Empty()).views) == 8


def test_a_damaged_file_is_set_aside(ctx: Context, store: Path) -> None:
    (store / FILE).write_bytes(b'{"views": [\xff')
    assert saved_views(ctx, Empty()).views == []
    assert [one.name for one in save_view(ctx, named("fresh")).views] == ["fresh"]
    [aside] = store.glob("views-unreadable-*.json")
    assert aside.read_bytes() == b'{"views": [\xff'


@pytest.mark.parametrize("bad", [{"name": "  "}, {"name": "x" * 101}, {"page": "https://a"}, {"id": "../x"}])
def test_what_cannot_be_a_view_is_refused(ctx: Context, bad: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        save_view(ctx, named(**{"name": "a", **bad}))


def test_a_read_only_server_says_so(ctx: Context, store: Path) -> None:
    save_view(ctx, named("kept"))
    fixed = replace(ctx, read_only=True)
    answer = saved_views(fixed, Empty())
    assert ([one.name for one in answer.views], answer.writable) == (["kept"], False)
    with pytest.raises(Forbidden):
        save_view(fixed, named("no"))
    with pytest.raises(Forbidden):
        drop_view(fixed, DropViewRequest(id=answer.views[0].id))
