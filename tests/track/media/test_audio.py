"""Sound: what the standard library's wave module reads back, sample by sample."""

from __future__ import annotations

import io
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from stepscope.errors import UsageError
from stepscope.track.media import Audio


def decoded(audio: Audio) -> tuple[dict[str, Any], np.ndarray]:
    [(record, data)] = audio.encode("k", 0, 0.0)
    assert (record.kind, record.mime) == ("audio", "audio/wav")
    assert data is not None
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getsampwidth()) == (record.meta["rate"], 2)
        frames = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, file.getnchannels())
    assert record.meta["channels"] == frames.shape[1]
    assert record.meta["seconds"] == len(frames) / record.meta["rate"]
    return record.meta, frames


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (np.array([0.0, 0.5, -1.0, 1.0]), [0, 16384, -32767, 32767]),
        (torch.tensor([0.0, 0.5, -1.0, 1.0], dtype=torch.bfloat16), [0, 16384, -32767, 32767]),
        (np.array([-32768, 5], np.int16), [-32768, 5]),
        (np.array([-(2**31), 2**31 - 1], np.int32), [-32768, 32767]),
        (np.array([0, 128, 255], np.uint8), [-32768, 0, 32512]),
        ([1, -2, 3], [1, -2, 3]),
    ],
)
def test_samples_of_every_type(samples: Any, expected: list[int]) -> None:
    assert decoded(Audio(samples, 8000))[1][:, 0].tolist() == expected


def test_stereo_either_way_round() -> None:
    stereo = np.random.default_rng(0).integers(-99, 99, (50, 2)).astype(np.int16)
    for given in (stereo, stereo.T, torch.from_numpy(stereo.T.copy())):
        np.testing.assert_array_equal(decoded(Audio(given, 44100))[1], stereo)


def test_too_loud_is_scaled_as_a_whole_and_told() -> None:
    meta, samples = decoded(Audio(np.array([0.0, 2.0, -4.0]), 10))
    assert samples[:, 0].tolist() == [0, 16384, -32767]
    assert meta["scaled"] == 4.0


def test_nan_is_silence_and_counted() -> None:
    meta, samples = decoded(Audio(np.array([np.nan, 1.0, np.inf]), 10))
    assert samples[:, 0].tolist() == [0, 32767, 0]
    assert meta["nan"] == 2


def test_later_changes_do_not_show() -> None:
    samples = torch.zeros(5)
    audio = Audio(samples, 10)
    samples += 1
    assert decoded(audio)[1].max() == 0


def test_a_file_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "beep"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 100, 0, "NONE", ""))
        file.writeframes(b"\0" * 4 * 250)
    [(record, data)] = Audio(path).encode("k", 0, 0.0)
    assert data == path.read_bytes()
    assert record.meta == {"channels": 2, "rate": 100, "seconds": 2.5}
    path.write_bytes(b"ID3 and so on")
    assert Audio(str(path)).encode("k", 0, 0.0)[0][0].mime == "audio/mpeg"
    for bad in (b"", b"hello", b"RIFF"):
        path.write_bytes(bad)
        with pytest.raises(UsageError, match="expected WAV, MP3"):
            Audio(path).encode("k", 0, 0.0)


@pytest.mark.parametrize(
    ("data", "rate", "message"),
    [
        (np.zeros(5), None, "rate=None"),
        (np.zeros(5), 0, "rate=0"),
        (np.zeros(5), 44100.5, "rate=44100.5"),
        (np.zeros(0), 8000, "no samples"),
        (np.zeros((2, 3, 4)), 8000, "3 axes"),
        (np.zeros((20, 30)), 8000, "no axis of 1 to 8 channels"),
        (np.broadcast_to(np.int8(0), (70_000_000,)), 8000, "longer than"),
        ("missing.wav", None, "is missing"),
        (None, 8000, "cannot be made from None"),
    ],
)
def test_what_is_wrong_is_said(data: Any, rate: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Audio(data, rate).encode("k", 0, 0.0)


def test_integers_beyond_16_bits_are_refused() -> None:
    with pytest.raises(UsageError, match="beyond 16 bits"):
        Audio(np.array([100_000]), 8000).encode("k", 0, 0.0)
