"""View-only links: the self-contained page of the download, under an unguessable address."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

import msgspec

from stepscope.errors import NotFound
from stepscope.report import shares, store
from stepscope.views.context import Context
from stepscope.views.report.reports import ReportIdRequest, refuse_read_only
from stepscope.views.route import Download, route

_KEPT = 4
FRESH_S = 20.0
"""While runs are live, a page is rebuilt at most this often, however many people open it."""
_made: OrderedDict[tuple[object, ...], tuple[int, float, bytes]] = OrderedDict()
"""Recently requested pages: the catalog's version, the time, and the bytes."""
_lock = threading.Lock()


class ShareReportRequest(msgspec.Struct):
    id: str
    label: str = ""
    """The recipient."""
    days: float | None = None
    """Seconds until it expires; None: valid until revoked."""


class ReportShare(msgspec.Struct):
    id: str
    label: str
    created: float
    expires: float | None


class MadeShare(msgspec.Struct):
    share: ReportShare
    url: str
    """Relative to this server's address. It is shown once: only its hash is stored."""


class ReportShares(msgspec.Struct):
    shares: list[ReportShare]


class UnshareReportRequest(msgspec.Struct):
    id: str
    share: str


class SharedRequest(msgspec.Struct):
    token: str


@route("POST", "/api/report/share")
def share_report(ctx: Context, request: ShareReportRequest) -> MadeShare:
    """Create a link to one report."""
    refuse_read_only(ctx)
    made, token = shares.make_share(store.find(ctx.catalogue.stores, request.id), request.label, request.days)
    return MadeShare(share=_shown(made), url=f"/shared/{token}")


@route("POST", "/api/report/shares")
def shares_of_report(ctx: Context, request: ReportIdRequest) -> ReportShares:
    """The valid links to a report."""
    found = store.find(ctx.catalogue.stores, request.id)
    return ReportShares(shares=[_shown(one) for one in shares.active_shares(found)])


@route("POST", "/api/report/unshare")
def unshare_report(ctx: Context, request: UnshareReportRequest) -> ReportShares:
    """Revoke a link, at once."""
    refuse_read_only(ctx)
    shares.revoke_share(store.find(ctx.catalogue.stores, request.id), request.share)
    return shares_of_report(ctx, ReportIdRequest(id=request.id))


@route("GET", "/shared/{token}")
def shared(ctx: Context, request: SharedRequest) -> Download:
    """The report behind a link, and nothing else."""
    found = shares.report_of_token(ctx.catalogue.stores, request.token)
    if found is None:
        raise NotFound(
            "this link does not work: it was revoked, has expired, or never existed; ask its sender for a new one"
        )
    return Download("text/html", body=_page(ctx, found), document=True)


def _page(ctx: Context, found: store.Found) -> bytes:
    """Rebuilt when the report changes, and now and then while its runs do."""
    from stepscope.views.report.file import page_of

    version, now = found.version(), ctx.catalogue.version
    key = (version.path, version.time, id(ctx.catalogue))
    with _lock:  # of several concurrent requests, one builds the page and the others wait for it
        known = _made.get(key)
        if known is not None and (known[0] == now or time.monotonic() - known[1] < FRESH_S):
            page = known[2]
        else:
            page = page_of(ctx, found).data
            _made[key] = (now, time.monotonic(), page)
        _made.move_to_end(key)
        while len(_made) > _KEPT:
            _made.popitem(last=False)
    return page


def _shown(one: shares.Share) -> ReportShare:
    return ReportShare(id=one.id, label=one.label, created=one.created, expires=one.expires)
