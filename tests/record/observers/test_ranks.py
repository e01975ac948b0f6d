"""What processes write down for each other survives a kill, and says which rank did what."""

from __future__ import annotations

from pathlib import Path

import torch

from stepscope.evidence.ranks import Called, Ended, Synced
from stepscope.record.fingerprints import Fingerprints, digest_of
from stepscope.record.observers.ranks import (
    Began,
    Found,
    Notes,
    Outbox,
    Returned,
    facts_in,
    is_private,
    read_facts,
    read_ranks,
)
from stepscope.records import Finding


def write(folder: Path, *facts: object) -> None:
    notes = Notes(str(folder))
    for fact in facts:
        notes.write(fact)  # type: ignore[arg-type]
    notes.close()


def test_facts_come_back_as_they_were_written(tmp_path: Path) -> None:
    facts = [
        Began(1, 2),
        Called(0, "barrier", [], ("train.py", 3)),
        Found(Finding(rule="a.b", severity="info", message="")),
    ]
    write(tmp_path, *facts)
    assert read_facts(tmp_path) == [facts]


def test_a_line_cut_off_by_a_kill_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, Began(0, 2))
    (path,) = tmp_path.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b'["Called",0,"all_re')
    assert read_facts(tmp_path) == [[Began(0, 2)]]


def test_ranks_are_those_of_a_group_of_several(tmp_path: Path) -> None:
    write(tmp_path, Ended(3, 3, {}, None, None))
    write(tmp_path, Began(0, 1))
    write(tmp_path, Began(1, 2), Synced("grads", 0, ["0:weight"]))
    write(tmp_path, Began(0, 2), Called(0, "all_reduce", [2], None), Returned(0), Called(1, "barrier", [], None))
    first, second = read_ranks(read_facts(tmp_path))
    assert (first.rank, first.waits_in, first.shares_gradients) == (0, Called(1, "barrier", [], None), False)
    assert (second.rank, second.waits_in, second.shares_gradients) == (1, None, True)


def test_a_folder_that_is_gone_ends_the_notes_and_nothing_else(tmp_path: Path) -> None:
    notes = Notes(str(tmp_path))
    for file in tmp_path.iterdir():
        file.unlink()
    notes.write(Began(0, 2))
    notes.close()
    notes.write(Began(0, 2))
    assert read_facts(tmp_path) == []


def test_a_folder_that_others_can_write_to_is_not_private(tmp_path: Path) -> None:
    folder, link = tmp_path / "ranks", tmp_path / "link"
    folder.mkdir(0o700)
    link.symlink_to(folder)
    assert (is_private(folder), is_private(link), is_private(tmp_path / "none")) == (True, False, False)
    folder.chmod(0o755)
    assert not is_private(folder)


def test_the_same_values_have_the_same_digest_and_no_others() -> None:
    one = torch.arange(6.0).reshape(2, 3)
    assert digest_of([one]) == digest_of([one.t().clone().t()])
    assert digest_of([one]) != digest_of([one.reshape(3, 2)])
    assert digest_of([one]) != digest_of([one + 1])
    assert digest_of([one.bfloat16(), one.bool(), one.to(torch.complex64)]) is not None
    assert digest_of([torch.ones(2, device="meta")]) is None


def test_a_box_gives_its_facts_in_messages_of_bounded_size() -> None:
    box, facts = Outbox(), [Returned(number) for number in range(100)]
    for fact in facts:
        box.write(fact)
    messages = []
    while message := box.take(200):
        messages.append(message)
    assert len(messages) > 5
    assert max(map(len, messages)) <= 250
    assert [fact for message in messages for fact in facts_in(message.split(b"\n"))] == facts


def test_fingerprints_on_the_host_are_there_at_once() -> None:
    given: list[object] = []
    Fingerprints().ask([torch.arange(8.0), torch.ones(2, device="meta")], given.append)
    assert given == [[(digest_of([torch.arange(8.0)]), [0.0, 2.0, 4.0, 6.0]), ("", [])]]
