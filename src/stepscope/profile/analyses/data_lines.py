"""Which lines load the data: what workers were seen at while they fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.profile.analyses.analysis import analysis
from stepscope.profile.data.facts import loader_names, worker_lines
from stepscope.records.profile import Column, Sheet

if TYPE_CHECKING:
    from stepscope.profile.profile import Profile


@analysis("data-lines", view="data", of="profile")
def data_lines(profile: Profile, rank: int) -> Sheet | None:
    """The lines of your code that workers spend their time in while they load."""
    lines = worker_lines(profile, rank)
    if not lines:
        return None
    names = loader_names(profile, rank)
    whole: dict[int, int] = {}
    for loader, _, _, _, nanoseconds in lines:
        whole[loader] = whole.get(loader, 0) + nanoseconds
    return Sheet(
        id="data-lines",
        title="Lines that load the data",
        columns=[
            Column(key="loader", label="loader", help="The loader of the worker.", hidden=len(whole) == 1),
            Column(
                key="place",
                label="line",
                unit="line",
                help="Your line, including the libraries it calls; none for torch itself.",
            ),
            Column(key="function", label="function", help="The function it is in."),
            Column(key="time", label="time", unit="ns", help="How long one worker was sampled there.", sums=True),
            Column(
                key="share",
                label="share",
                unit="share",
                help="Of the time the worker was loading.",
                sums=len(whole) == 1,
            ),
        ],
        rows=[
            [
                names.get(loader, f"loader {loader}"),
                f"{file}:{line}" if file else None,
                function,
                time,
                time / max(whole[loader], 1),
            ]
            for loader, file, line, function, time in lines
        ],
        sort="time",
        notes=["Sampled in the first worker of each loader, every 10 ms; loading in the main process is not included."],
    )
