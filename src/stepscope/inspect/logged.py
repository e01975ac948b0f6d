"""A recorded step in a run: logged with `run.log({"recording": step})`, shown on the *Model* page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.records import Media

if TYPE_CHECKING:
    from stepscope.records.step import StepRecord

STEP_KIND = "step"
_MIME = "application/vnd.stepscope.step"


class LoggedStep:
    """What `run.log` stores of a step. The record is frozen, so nothing is copied; `encode` packs it, on any thread."""

    def __init__(self, record: StepRecord) -> None:
        self._record = record

    def encode(self, key: str, step: int, time: float) -> list[tuple[Media, bytes | None]]:
        from stepscope.record.serialise import pack

        meta = {"model": self._record.model, "ops": len(self._record.ops), "device": self._record.device}
        media = Media(key=key, step=step, time=time, kind=STEP_KIND, mime=_MIME, meta=meta)
        return [(media, pack(self._record))]


def read_logged(data: bytes, key: str) -> StepRecord:
    """The record that was logged; `BadData` if the bytes are not one."""
    from stepscope.record.serialise import unpack

    return unpack(data, f"the recording {key!r}")
