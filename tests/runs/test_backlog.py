from __future__ import annotations

import os
from pathlib import Path

from stepscope.records import Alert, Console
from stepscope.runs.format.packing import clean_text, pack
from stepscope.runs.write.backlog import Backlog, Entry, Note


def note(size: int, *, precious: bool = False, name: bytes = b"n") -> Note:
    return Note(6, name.ljust(size - 240, b"."), 0.0, count=0 if precious else 1, precious=precious)


def names(entries: list[Entry]) -> list[bytes]:
    return [entry.payload.rstrip(b".") for entry in entries if isinstance(entry, Note)]


def test_the_oldest_are_given_up_and_counted_and_events_are_not_among_them() -> None:
    backlog = Backlog(limit=3000, precious_limit=1000)
    backlog.push(note(300, precious=True, name=b"event"))
    for n in range(10):
        backlog.push(note(1000, name=b"%d" % n))
    assert backlog.lost == 7
    assert backlog.bytes == 3000
    assert names(backlog.take(10_000)) == [b"event", b"7", b"8", b"9"]
    assert (len(backlog), backlog.bytes) == (0, 0)


def test_events_beyond_their_own_space_compete_like_the_rest() -> None:
    backlog = Backlog(limit=1000, precious_limit=600)
    for n in range(5):
        backlog.push(note(300, precious=True, name=b"%d" % n))
    assert len(backlog) == 5
    assert backlog.bytes == 900


def test_one_giant_does_not_push_out_everything_else() -> None:
    backlog = Backlog(limit=3000)
    backlog.push(note(400, name=b"small"))
    backlog.push(note(2900, name=b"giant"))
    assert names(backlog.take(10_000)) == [b"small"]
    assert backlog.lost == 1


def test_what_is_put_back_comes_first_again() -> None:
    backlog = Backlog()
    for n in range(4):
        backlog.push(note(300, name=b"%d" % n))
    taken = backlog.take(900)
    assert names(taken) == [b"0", b"1", b"2"]
    backlog.put_back(taken[1:])
    assert names(backlog.take(10_000)) == [b"1", b"2", b"3"]


def test_giving_up_counts_what_was_left() -> None:
    backlog = Backlog()
    backlog.push(note(300))
    backlog.push(note(300))
    assert backlog.give_up() == 2
    assert (len(backlog), backlog.lost) == (0, 2)


def test_a_record_with_anything_in_it_can_be_packed() -> None:
    import msgspec

    torn = os.fsdecode(b"caf\xe9")
    piece = msgspec.msgpack.decode(pack(Console(time=1.0, stream="stdout", text=torn)), type=Console)
    assert piece.text == "caf\\udce9" == clean_text(torn)
    odd = {"big": 1 << 90, "path": Path("/x"), "torn": [torn], torn: {"1": 1 << 70}}
    assert msgspec.msgpack.decode(pack(odd), strict=False) == {
        "big": str(1 << 90),
        "path": "/x",
        "torn": ["caf\\udce9"],
        "caf\\udce9": {"1": str(1 << 70)},
    }
    assert pack(Alert(time=1.0, title=torn))
