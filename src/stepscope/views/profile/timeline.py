"""The *Timeline* tab of the Profile page: lanes, tiles, search, one event, a selection."""

from __future__ import annotations

import msgspec

from stepscope.errors import BadData, NotFound, UsageError
from stepscope.profile.clocks import align
from stepscope.profile.timeline.find import FoundEvents
from stepscope.profile.timeline.lanes import Lane, LaneGroup
from stepscope.profile.timeline.picked import PickedEvent
from stepscope.profile.timeline.selection import Selection
from stepscope.profile.timeline.tiles import TILE
from stepscope.profile.timeline.timeline import Timeline
from stepscope.views.context import Context
from stepscope.views.profile.open_profiles import Failed, OpenProfile, guarded, profile_of
from stepscope.views.route import Download, route

NAMES_PAGE = 20_000
MOST_NAMES = 200_000
MOST_LETTERS = 400
"""Maximum characters of a name; template kernels have several thousand, and the event's details show all of them."""


class TimelineRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int | None = None
    together: bool = False
    """Several ranks on one axis: their clocks are aligned."""


class TimelineStep(msgspec.Struct):
    number: int
    begin_ns: float
    end_ns: float
    inferred: bool


class TimelinePage(msgspec.Struct):
    """Fetched once; everything else comes as tiles."""

    rank: int
    ranks: list[int]
    base_ns: str
    """Unix time of 0 on the axis; as text, since a browser rounds numbers this large."""
    span_ns: float
    begin_ns: float
    """Start and end of the program itself, on the axis."""
    end_ns: float
    tile: int
    """Width of a tile in pixels."""
    events: int
    lanes: list[Lane]
    groups: list[LaneGroup]
    steps: list[TimelineStep]
    names: int
    """Number of names; they come in pages."""
    notes: list[str]


class NamesRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int
    first: int = 0


class NamesPage(msgspec.Struct):
    first: int
    names: list[str]
    more: bool


class TilesRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int
    level: int
    """A pixel is `1 << level` nanoseconds."""
    first: int
    count: int
    lanes: list[int]


class FindRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int
    names: list[int]
    """Indices of the matching names; the browser has all names and does the matching."""
    index: int | None = None
    after_ns: float = 0
    """Without an index: the first match that begins after this."""


class EventRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int
    event: int


class RangeRequest(msgspec.Struct):
    run: str
    profile: str
    rank: int
    begin_ns: float
    end_ns: float
    lanes: list[int] | None = None


@route("POST", "/api/timeline")
def timeline(ctx: Context, request: TimelineRequest) -> TimelinePage:
    """The lanes, the steps and the size of a rank's timeline."""
    opened = profile_of(ctx, request.run, request.profile)
    rank = opened.rank(request.rank)
    made = _timeline(opened, rank)
    lines, trace = made.lines, made.trace
    clocks = opened.keep(("clocks",), lambda: align(opened.profile)) if request.together else None
    return TimelinePage(
        rank=rank,
        ranks=opened.profile.ranks,
        base_ns=str(lines.base_ns + (clocks.offset_ns.get(rank, 0) if clocks else 0)),
        span_ns=lines.span_ns,
        begin_ns=made.seen[0],
        end_ns=made.seen[1],
        tile=TILE,
        events=len(lines),
        lanes=made.lanes,
        groups=made.groups,
        steps=[
            TimelineStep(
                number=step.number,
                begin_ns=step.begin_ns - lines.base_ns,
                end_ns=step.end_ns - lines.base_ns,
                inferred=step.inferred,
            )
            for step in trace.steps
        ],
        names=min(len(trace.events.names), MOST_NAMES),
        notes=[*made.notes, *(clocks.notes if clocks else [])],
    )


@route("POST", "/api/timeline/names")
def names(ctx: Context, request: NamesRequest) -> NamesPage:
    """The names of events, page by page."""
    made = _of(ctx, request.run, request.profile, request.rank)
    all_names = made.trace.events.names[:MOST_NAMES]
    end = max(0, request.first) + NAMES_PAGE
    return NamesPage(
        first=max(0, request.first),
        names=[name[:MOST_LETTERS] for name in all_names[max(0, request.first) : end]],
        more=end < len(all_names),
    )


@route("POST", "/api/timeline/tiles")
def tiles(ctx: Context, request: TilesRequest) -> Download:
    """Blocks as packed columns; see `profile/timeline/tiles.py`."""
    made = _of(ctx, request.run, request.profile, request.rank)
    packed = made.tiles(level=request.level, first=request.first, count=request.count, lanes=request.lanes)
    return Download("application/octet-stream", body=packed)


@route("POST", "/api/timeline/find")
def find(ctx: Context, request: FindRequest) -> FoundEvents:
    """Number of events with one of these names, and one of them in full."""
    made = _of(ctx, request.run, request.profile, request.rank)
    return made.finder.find(request.names, request.index, request.after_ns)


@route("POST", "/api/timeline/event")
def event(ctx: Context, request: EventRequest) -> PickedEvent:
    """All details of one event."""
    return _of(ctx, request.run, request.profile, request.rank).pick(request.event)


@route("POST", "/api/timeline/range")
def selection(ctx: Context, request: RangeRequest) -> Selection:
    """What happened between two times."""
    if not request.begin_ns < request.end_ns:
        raise UsageError("a selection must end after it begins")
    made = _of(ctx, request.run, request.profile, request.rank)
    begin, end = max(0, int(request.begin_ns)), min(int(request.end_ns), made.lines.span_ns + 1)
    return made.select(begin, max(begin, end), request.lanes)


def _of(ctx: Context, run: str, profile: str, rank: int) -> Timeline:
    opened = profile_of(ctx, run, profile)
    return _timeline(opened, opened.rank(rank))


def _timeline(opened: OpenProfile, rank: int) -> Timeline:
    found = opened.keep(("timeline", rank), lambda: guarded("the timeline", lambda: _made(opened, rank)))
    if isinstance(found, Failed):
        raise BadData(found.why)
    if found is None:
        raise NotFound("this profile has no events; record some with `stepscope profile --profiler pytorch train.py`")
    return found


def _made(opened: OpenProfile, rank: int) -> Timeline | None:
    trace = opened.profile.trace(rank)
    return None if trace is None or len(trace) == 0 else Timeline(trace)
