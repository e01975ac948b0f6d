"""Sound: waveforms as 16-bit WAV, sound files unchanged."""

from __future__ import annotations

import math
import os
import struct
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.track.media.arrays import Held, hold, is_tensor, shaped
from stepscope.track.media.loggable import Encoded, harmless, one
from stepscope.track.media.sniff import mime_of, read_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_FILE_BYTES = 128 << 20
MAX_SAMPLES = 64_000_000
MAX_CHANNELS = 8


@harmless
class Audio:
    """A sound to log: `run.log({"speech": stepscope.Audio(waveform, rate=16000)})`.

    `data` is a tensor or array of samples, (samples,), (samples, channels) or (channels, samples) with up to 8
    channels, or the path of a WAV, MP3, OGG, FLAC or M4A file, which is stored unchanged. Floats are amplitudes from -1
    to 1; louder signals are scaled down as a whole and the record has the factor. NaN becomes silence and is counted.
    """

    def __init__(self, data: Any, rate: int | None = None, caption: str | None = None) -> None:
        self.caption = caption
        self._file: tuple[bytes, str, dict[str, Any]] | None = None
        self._held: Held | None = None
        if isinstance(data, (str, os.PathLike)):
            self._file = _sound_file(data)
            return
        if isinstance(rate, bool) or not isinstance(rate, int) or not 1 <= rate <= 768_000:
            raise UsageError(f"rate={rate!r} must be the samples per second, a whole number such as 16000 or 44100")
        self._rate = rate
        data, shape = shaped(data, "audio")
        self._channels_first = _channels_first(shape, is_tensor(data))
        self._held = hold(data, "audio")

    def encode(self, key: str, step: int, time: float) -> Encoded:
        if self._file is not None:
            data, mime, meta = self._file
        else:
            data, mime, meta = self._wave()
        return one(key, step, time, kind="audio", mime=mime, data=data, meta=meta, caption=self.caption)

    def _wave(self) -> tuple[bytes, str, dict[str, Any]]:
        assert self._held is not None
        samples = self._held.numpy()
        if samples.ndim == 1:
            samples = samples[:, None]
        elif self._channels_first:
            samples = samples.T
        levels, notes = _to_int16(samples)
        count, channels = samples.shape
        meta = {"rate": self._rate, "seconds": count / self._rate, "channels": channels, **notes}
        return wav(levels.tobytes(), self._rate, channels), "audio/wav", meta


def wav(samples: bytes, rate: int, channels: int) -> bytes:
    """A WAV file of 16-bit little-endian samples."""
    form = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"".join(
        (b"WAVEfmt ", struct.pack("<I", len(form)), form, b"data", struct.pack("<I", len(samples)), samples)
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _channels_first(shape: tuple[int, ...], torch_order: bool) -> bool:
    total = math.prod(shape)
    if len(shape) not in (1, 2):
        raise UsageError(
            f"audio of shape {shape} has {len(shape)} axes; expected (samples,), (samples, channels) or "
            "(channels, samples); log the sounds of a batch one by one, as a list"
        )
    if total == 0:
        raise UsageError(f"audio of shape {shape} has no samples; log it only when there is something to hear")
    if total > MAX_SAMPLES:
        raise UsageError(f"audio of {total:,} samples is longer than the maximum of {MAX_SAMPLES:,}; cut it first")
    if len(shape) == 1:
        return False
    if min(shape) > MAX_CHANNELS:
        raise UsageError(
            f"audio of shape {shape} has no axis of 1 to {MAX_CHANNELS} channels; expected (samples, "
            "channels) or (channels, samples)"
        )
    if max(shape) <= MAX_CHANNELS:  # very few samples: torch puts channels first, files samples first
        return torch_order
    return shape[0] < shape[1]


def _to_int16(samples: NDArray[Any]) -> tuple[NDArray[Any], dict[str, Any]]:
    import numpy as np

    kind, size = samples.dtype.kind, samples.dtype.itemsize
    if kind == "b":
        raise UsageError("audio of booleans; expected amplitudes as floats from -1 to 1 or as integers")
    if kind in "iu":
        if samples.dtype == np.uint8:
            return ((samples.astype(np.int16) - 128) << 8).astype("<i2"), {}
        if samples.dtype == np.int32:
            return (samples >> 16).astype("<i2"), {}
        if size > 2 and (samples.min() < -32768 or samples.max() > 32767):
            raise UsageError(f"audio of {samples.dtype} goes beyond 16 bits; give floats from -1 to 1, int16 or int32")
        if samples.dtype == np.uint16:
            return (samples.astype(np.int32) - 32768).astype("<i2"), {}
        return samples.astype("<i2"), {}
    values = samples.astype(np.float64)
    notes: dict[str, Any] = {}
    bad = ~np.isfinite(values)
    if bad.any():
        notes["nan"] = int(bad.sum())
        values[bad] = 0.0
    peak = float(np.abs(values).max())
    if peak > 1.0:
        notes["scaled"] = peak
        values /= peak
    return np.rint(values * 32767).astype("<i2"), notes


def _sound_file(path: str | os.PathLike[str]) -> tuple[bytes, str, dict[str, Any]]:
    data = read_file(path, "audio file", MAX_FILE_BYTES)
    mime = mime_of(data[:4096])
    if mime is None or not mime.startswith("audio/"):
        raise UsageError(
            f"audio file '{os.fspath(path)}' is {mime or 'of an unknown type'}; expected WAV, MP3, OGG, FLAC or M4A "
            "(recognized by its first bytes)"
        )
    return data, mime, _wav_meta(data) if mime == "audio/wav" else {}


def _wav_meta(data: bytes) -> dict[str, Any]:
    """Rate, channels and length from the chunks of a WAV file, as far as they are readable."""
    meta: dict[str, Any] = {}
    at, bytes_per_second = 12, 0
    while at + 8 <= len(data):
        name, length = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt " and len(data) >= at + 24:
            _, meta["channels"], meta["rate"], bytes_per_second, _, _ = struct.unpack("<HHIIHH", data[at + 8 : at + 24])
        if name == b"data":
            if bytes_per_second:
                meta["seconds"] = min(length, len(data) - at - 8) / bytes_per_second
            break
        at += 8 + length + length % 2
    return meta
