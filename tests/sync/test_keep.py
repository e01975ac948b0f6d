"""The server's copies: pieces twice, late, out of order, cut and wrong; what was acknowledged is there, once."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from zlib import crc32

import pytest

from stepscope.errors import BadData, Conflict, NotFound, UsageError
from stepscope.runs.format.frames import Kind, encode
from stepscope.runs.format.ids import new_run_id
from stepscope.sync.keep import Keep
from stepscope.sync.wire import Stored

RUN = new_run_id(1.0)
META = b'{"id": "x", "name": "first"}'
LOG = "host.0.1.b.01AA.points.000000.log"
FRAMES = [encode(Kind.ROW, seq, bytes([seq]) * (seq * 7 % 50)) for seq in range(40)]
WHOLE = b"".join(FRAMES)


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    keep = Keep(tmp_path / "server")
    whole(keep, "meta.json", META)
    return keep


def whole(keep: Keep, name: str, data: bytes, offset: int = 0, end: int | None = None) -> Stored:
    sha256 = hashlib.sha256(data).hexdigest()
    return keep.add(RUN, name, offset, data[offset:end], sha256=sha256, size=len(data))


def frames(keep: Keep, first: int, last: int, source: list[bytes] = FRAMES) -> Stored:
    offset = sum(map(len, source[:first]))
    before = crc32(b"".join(source)[:offset])
    return keep.add(RUN, LOG, offset, b"".join(source[first:last]), before=before)


def log_of(keep: Keep) -> bytes:
    return (keep.store / RUN / LOG).read_bytes()


@pytest.mark.parametrize("seed", range(20))
def test_pieces_in_any_order_and_number_give_the_same_bytes(keep: Keep, seed: int) -> None:
    luck = random.Random(seed)
    acknowledged = 0
    while acknowledged < len(WHOLE):
        first = luck.randrange(len(FRAMES))
        stored = frames(keep, first, luck.randrange(first, len(FRAMES)) + 1)
        assert stored.size >= acknowledged
        acknowledged = stored.size
        assert WHOLE[:acknowledged] == log_of(keep)[:acknowledged] if acknowledged else True
        if luck.random() < 0.2:
            keep = Keep(keep.store)  # a server that was started again
    assert log_of(keep) == WHOLE
    assert keep.held(RUN).files == {"meta.json": len(META), LOG: len(WHOLE)}


def test_a_piece_behind_the_end_is_not_kept(keep: Keep) -> None:
    assert frames(keep, 3, 5) == Stored(0, gap=True)
    frames(keep, 0, 2)
    assert frames(keep, 3, 5) == Stored(len(FRAMES[0] + FRAMES[1]), gap=True)


def test_different_bytes_are_refused_and_nothing_is_changed(keep: Keep) -> None:
    frames(keep, 0, 5)
    other = [*FRAMES[:3], encode(Kind.ROW, 3, b"x" * 21), *FRAMES[4:]]
    before = log_of(keep)
    with pytest.raises(Conflict, match="other bytes on the server"):
        frames(keep, 0, 6, other)
    with pytest.raises(Conflict, match="other bytes on the server"):
        frames(keep, 5, 6, other)  # it would fit, but behind other bytes
    assert log_of(keep) == before


@pytest.mark.parametrize("torn", [b"\0" * 40, FRAMES[5][:-1], b"\xf5S\x03\0", FRAMES[5][:20] + b"\0" * 20])
def test_what_a_crash_left_behind_the_last_frame_goes(keep: Keep, torn: bytes) -> None:
    size = frames(keep, 0, 5).size
    path = keep.store / RUN / LOG
    path.write_bytes(path.read_bytes() + torn)
    keep = Keep(keep.store)
    assert keep.held(RUN).files[LOG] == size
    assert frames(keep, 5, 40).size == len(WHOLE)
    assert log_of(keep) == WHOLE


def test_only_whole_frames_in_their_order(keep: Keep) -> None:
    with pytest.raises(BadData, match="after its last whole frame"):
        keep.add(RUN, LOG, 0, WHOLE[:-1], before=0)
    with pytest.raises(BadData, match="frame 1 after 2"):
        keep.add(RUN, LOG, 0, FRAMES[0] + FRAMES[2] + FRAMES[1], before=0)
    assert not (keep.store / RUN / LOG).exists()


def test_a_blob_is_kept_once_and_checked(keep: Keep) -> None:
    data = random.Random(1).randbytes(5000)
    name = f"blobs/{hashlib.sha256(data).hexdigest()}"
    assert whole(keep, name, data, 0, 3000) == Stored(3000)
    assert name not in keep.held(RUN).files
    assert whole(keep, name, data, 4000) == Stored(3000, gap=True)
    assert whole(keep, name, data, 2000) == Stored(5000)
    assert whole(keep, name, data, 0, 10) == Stored(5000)  # sent again: it is there
    assert (keep.store / RUN / name).read_bytes() == data
    assert [path.name for path in (keep.store / RUN / "blobs").iterdir()] == [name[6:]]
    with pytest.raises(BadData, match="expected its name"):
        whole(keep, f"blobs/{'0' * 64}", data)
    with pytest.raises(BadData, match="does not have the SHA-256"):
        keep.add(RUN, "evidence/0.a.gz", 0, b"data", sha256="0" * 64, size=4)


def test_a_whole_file_is_never_replaced(keep: Keep) -> None:
    with pytest.raises(Conflict, match="other content on the server"):
        whole(keep, "meta.json", b'{"id": "y", "name": "other"}')
    assert (keep.store / RUN / "meta.json").read_bytes() == META


@pytest.mark.parametrize(
    "name", ["../x.log", "/etc/passwd", ".hidden", "a/../../x", "a//b", "a/.b", "", "a/b/c/d/e", "x\n", "a\\..\\b", "é"]
)
def test_names_that_lead_elsewhere_are_refused(keep: Keep, name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a file"):
        whole(keep, name, b"data")


def test_a_link_on_the_server_is_not_followed(keep: Keep, tmp_path: Path) -> None:
    outside = tmp_path / "outside.log"
    outside.write_bytes(WHOLE)
    (keep.store / RUN / LOG).symlink_to(outside)
    with pytest.raises(Exception, match=r"cannot keep|link"):
        frames(keep, 0, 5)
    assert outside.read_bytes() == WHOLE


def test_a_run_begins_with_its_meta_and_an_id(keep: Keep) -> None:
    with pytest.raises(NotFound, match=r"send its meta\.json first"):
        keep.add(new_run_id(), LOG, 0, FRAMES[0], before=0)
    with pytest.raises(UsageError, match="not a run id"):
        keep.held("../other")
