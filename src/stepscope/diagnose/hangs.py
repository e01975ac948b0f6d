"""A job that is stuck: what each rank was doing, and what that means, in words. Knows nothing of torch."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from stepscope.common.code_owner import is_own_file
from stepscope.common.units import duration
from stepscope.files.opening import read_file
from stepscope.records import Finding, Related
from stepscope.records.hang import Call, Hang, RankState

__all__ = [
    "ANSWERED", "ASKED", "FILE", "FIX", "FOLDER", "evidence_of", "explain", "finding_of", "label_of",
    "message_of", "parted_finding", "parting", "place_in_doubt", "rank_names", "read_hang", "wait_in_vain",
    "waiting_words",
]  # fmt: skip

FOLDER = "ranks"
FILE = "hang.json"
ASKED, ANSWERED = ".asked", ".stacks.json"
"""Names of what `stepscope stacks` leaves in the folder of a run, and of the answer."""
_LARGEST = 64 << 20
_MOST_PLACES = 4


def read_hang(run: Path) -> Hang | None:
    """The last hang that was recorded in a run's folder, if there was one."""
    try:
        return msgspec.json.decode(read_file(run / FOLDER / FILE, _LARGEST, within=run), type=Hang)
    except (OSError, msgspec.MsgspecError):
        return None


def explain(hang: Hang) -> str:
    """What the ranks are doing, those that do the same together, and why they cannot go on.

    >>> where = dict(kind="collective", doing="all_reduce", number=7, file="/a/train.py", line=88)
    >>> waiting = [RankState(rank=rank, **where) for rank in (0, 1, 2)]
    >>> late = RankState(rank=3, kind="data", doing="DataLoader next", file="/a/data.py", line=41)
    >>> explain(Hang(time=0.0, ranks=(*waiting, late)))
    'ranks 0-2 wait in all_reduce #7 (train.py:88); rank 3 is in DataLoader next (data.py:41)'
    """
    said = "; ".join(_doing(group, _caller(group[0], hang.ranks)) for group in _groups(hang.ranks))
    why = parting(hang.ranks) or _fewer(hang.ranks) or _not_sent(hang.ranks)
    return f"{said}: {why}" if why else said


def _groups(ranks: Iterable[RankState]) -> list[list[RankState]]:
    """Ranks that do the same, the largest group that waits first."""
    groups: dict[tuple[object, ...], list[RankState]] = {}
    states = list(ranks)
    unnumbered = {(one.doing, one.file, one.line) for one in states if one.number is None}
    for one in states:
        number = None if (one.doing, one.file, one.line) in unnumbered else one.number
        groups.setdefault((one.kind, one.doing, number, one.file, one.line, one.error), []).append(
            msgspec.structs.replace(one, number=number)
        )
    return sorted(groups.values(), key=lambda group: (group[0].kind != "collective", -len(group), group[0].rank))


def _caller(one: RankState, ranks: Iterable[RankState]) -> tuple[str, int] | None:
    """The line that called the function in which a rank is, where only the ranks that are there came through it.

    A function that any rank may call says little: what matters is who calls it.
    """
    own = [(file, line) for file, line, _ in one.stack if is_own_file(file)]
    others = {frame[:2] for each in ranks if (each.file, each.line) != (one.file, one.line) for frame in each.stack}
    nearest = own[-2] if len(own) > 1 else None
    return nearest if others and nearest not in others else None


def _doing(group: list[RankState], caller: tuple[str, int] | None) -> str:
    one, many = group[0], len(group) > 1
    who = rank_names(each.rank for each in group)
    place = f"{os.path.basename(one.file)}:{one.line}"
    if caller is not None:
        elsewhere = "" if caller[0] == one.file else f" of {os.path.basename(caller[0])}"
        place += f", called at line {caller[1]}{elsewhere}"
    where = f" ({place})" if one.file else ""
    number = "" if one.number is None else f" #{one.number}"
    if one.kind in ("collective", "backward"):
        return f"{who} {'wait' if many else 'waits'} in {one.doing}{number}{where}"
    if one.kind == "ended":
        how = f" with {one.error}" if one.error else ""
        return f"{who} {'have' if many else 'has'} ended{how} after {one.step} steps{where}"
    if one.kind == "aborted":
        verb = "were" if many else "was"
        inside = f" in {one.doing}" if one.doing else ""
        return f"{who} {verb} ended by C++ code ({one.error}){inside}{where}"
    if one.kind == "silent":
        return f"{who} {'do' if many else 'does'} not answer{one.error and f' ({one.error})'}"
    if not one.doing and not one.file:
        return f"{who} {'are' if many else 'is'} at the end of the script"
    flight = _flight(group)
    return f"{who} {'are' if many else 'is'} in {one.doing}{where}{flight}"


def _flight(group: list[RankState]) -> str:
    """What the device of these ranks waits for, where the script has gone on."""
    oldest = [one.flights[0] for one in group if one.flights]
    if len(oldest) < len(group) or len({(one.name, one.number) for one in oldest}) > 1:
        return ""
    return f", with {oldest[0].name} #{oldest[0].number} in flight"


def rank_names(ranks: Iterable[int]) -> str:
    """Ranks in words.

    >>> rank_names([0, 1, 2, 5]), rank_names([3]), rank_names([0, 1])
    ('ranks 0-2, 5', 'rank 3', 'ranks 0, 1')
    """
    runs: list[list[int]] = []
    for number in sorted(ranks):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    single = len(runs) == 1 and len(runs[0]) == 1
    return f"rank{'' if single else 's'} {', '.join(parts)}"


def parting(ranks: Iterable[RankState]) -> str:
    """Where the collectives of two ranks are not the same for the first time; "" where they are, or nobody knows."""
    states = list(ranks)
    sent = _first_difference({one.rank: one.sent for one in states}, since=1)
    called = _first_difference({one.rank: one.calls for one in states}, since=0)
    long_ago = max(0 if one is None else one.at_least for one in (sent, called))
    if not long_ago:
        known = sent or called
        return "" if known is None else f"they diverge at {known.said}"
    said = f"they diverged at least {long_ago} collectives ago"
    return (
        f"{said}; of those that the script itself calls, the first is {called.said}" if called and called.said else said
    )


_WAITING = ("collective", "backward")


def wait_in_vain(ranks: Iterable[RankState]) -> bool:
    """Whether no rank can go on: all wait in collectives that do not match, or for a rank that has ended.

    >>> waits = RankState(rank=0, kind="collective", doing="barrier", number=3)
    >>> wait_in_vain([waits, RankState(rank=1, kind="ended")]), wait_in_vain([waits, RankState(rank=1)])
    (True, False)
    """
    states = list(ranks)
    waiting = [one for one in states if one.kind in _WAITING and not one.is_busy]
    ended = [one for one in states if one.kind in ("ended", "aborted")]
    if not waiting or len(waiting) + len(ended) < len(states):
        return False
    is_for_all = any(one.number is not None for one in waiting)
    return bool(ended and is_for_all) or bool(parting(states))


class _Difference(NamedTuple):
    """The first call that differs; or only how long ago that was at least, where older calls are not known."""

    number: int
    said: str = ""
    at_least: int = 0


def _first_difference(calls: dict[int, tuple[Call, ...]], since: int) -> _Difference | None:
    """Between the first rank and each other one; only the last calls are known, numbered from `since`."""
    known = [(rank, {call.number: call for call in one}) for rank, one in calls.items() if one]
    found: list[_Difference] = []
    for rank, theirs in known[1:]:
        first, mine = known[0]
        common = sorted(mine.keys() & theirs.keys())
        number = next((one for one in common if mine[one].chain != theirs[one].chain), None)
        if number is None:
            continue
        if number > since and number - 1 not in common:
            return _Difference(number, at_least=max(*mine, *theirs) - number + 1)
        what = f"{_call(mine[number])} on rank {first} and {_call(theirs[number])} on rank {rank}"
        found.append(_Difference(number, f"collective #{number}, which is {what}"))
    return min(found, default=None)


def _call(call: Call) -> str:
    shape = f" of {list(call.shape)}" if call.shape else ""
    where = f" ({os.path.basename(call.file)}:{call.line})" if call.file else ""
    return f"{call.name}{shape}{where}"


def _fewer(ranks: Iterable[RankState]) -> str:
    """Whether ranks that are elsewhere have had fewer batches than those that wait."""
    states = [one for one in ranks if one.kind != "silent"]
    waiting = [one for one in states if one.kind in ("collective", "backward") and one.batches]
    if not waiting:
        return ""
    ahead = max(waiting, key=lambda one: one.batches)
    most = ahead.batches
    short = [one for one in states if (one.file, one.line) != (ahead.file, ahead.line) and 0 < one.batches < most]
    if not short:
        return ""
    count = most - max(one.batches for one in short)
    return f"{rank_names(one.rank for one in short)} had {count} batch{'es' * (count != 1)} fewer"


def _not_sent(ranks: Iterable[RankState]) -> str:
    """Whether torch's flight recorder has a collective in flight that some ranks have never sent out."""
    states = [one for one in ranks if one.enqueued]
    for waiting in states:
        for flight in waiting.flights[:1]:
            members = flight.members or tuple(one.rank for one in states)
            behind = [
                one.rank for one in states if one.rank in members and one.enqueued.get(flight.group, 0) < flight.number
            ]
            if behind:
                verb = "has" if len(behind) == 1 else "have"
                return f"{rank_names(behind)} {verb} not called {flight.name} #{flight.number} of {flight.group}"
    return ""


def place_in_doubt(hang: Hang) -> tuple[str, int] | None:
    """The line to look at first: where the fewest ranks are, and of those a collective first."""
    odd = _odd_one(hang.ranks)
    return None if odd is None else (odd.file, odd.line)


def _odd_one(ranks: Iterable[RankState]) -> RankState | None:
    places = [one for one in ranks if one.file]
    counts = Counter((one.file, one.line) for one in places)
    return min(places, key=lambda one: (counts[one.file, one.line], one.kind != "collective", one.rank), default=None)


FIX = "let all ranks call the same collectives, equally often; only printing and saving belong under `if rank == 0`"


def message_of(hang: Hang) -> str:
    """The hang in a line.

    >>> message_of(Hang(time=0.0, idle_s=31.4, ranks=(RankState(rank=0, kind="silent"),)))
    'no progress for 31 s: rank 0 does not answer'
    """
    return f"no progress for {hang.idle_s:.0f} s: {explain(hang)}"


def evidence_of(hang: Hang) -> dict[str, object]:
    """What proves it: where each rank was."""
    where = {str(one.rank): f"{one.doing or one.kind} {one.file}:{one.line}".strip() for one in hang.ranks[:64]}
    return {"ranks": where, "idle_s": hang.idle_s, "usual_step_s": hang.usual_s}


def label_of(hang: Hang) -> str:
    """Who is at the line in doubt."""
    return _who_is_at(hang.ranks, place_in_doubt(hang))


def _who_is_at(ranks: Iterable[RankState], where: tuple[str, int] | None) -> str:
    there = [one for one in ranks if (one.file, one.line) == where]
    if not there:
        return ""
    names = rank_names(one.rank for one in there)
    if all(one.kind == "ended" for one in there):
        return f"{names} ended here"
    return f"{names} {'is' if len(there) == 1 else 'are'} here"


def finding_of(hang: Hang) -> Finding:
    """As it is reported while the job runs."""
    return _finding("run.hang", message_of(hang), hang)


def parted_finding(ranks: list[RankState]) -> Finding:
    """For a job that failed because ranks did not call the same: the first of them tells."""
    stopped = Hang(time=0.0, ranks=tuple(ranks))
    return _finding(
        "dist.collective-mismatch", f"the ranks do not call the same collectives: {explain(stopped)}", stopped
    )


def _finding(rule: str, message: str, hang: Hang) -> Finding:
    file, line = place_in_doubt(hang) or (None, None)
    return Finding(
        rule=rule,
        severity="error",
        message=message,
        file=file,
        line=line,
        evidence=evidence_of(hang),
        label=label_of(hang),
        fix=FIX,
        related=_other_places(hang),
    )


def _other_places(hang: Hang) -> list[Related]:
    """Where the other ranks are, and who called the functions they are in; each line once."""
    first = place_in_doubt(hang)
    groups = {(one.file, one.line): one for one in reversed(hang.ranks) if one.file}
    found: dict[tuple[str, int], str] = {}
    for place in sorted(groups, key=lambda one: (one != first, groups[one].rank)):
        found.setdefault(place, _who_is_at(hang.ranks, place))
        caller = _caller(groups[place], hang.ranks)
        if caller is not None:
            found.setdefault(caller, f"rank {groups[place].rank} has called it here")
    found.pop(first or ("", 0), None)
    return [Related(file=file, line=line, label=said) for (file, line), said in list(found.items())[:_MOST_PLACES]]


def waiting_words(hang: Hang | None, status: str, now: float) -> str:
    """For a run that is being written: how long it has made no progress, and why; "" if it moves."""
    if hang is None or hang.resumed is not None or status != "running":
        return ""
    seconds = duration(hang.idle_s + max(0.0, now - hang.time))
    return f"{'stuck' if hang.is_sure else 'no progress'} for {seconds}: {explain(hang)}"
