"""Sound inputs changed in the ways that files are damaged, and in those that attackers think of."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["changed"]

_NUMBERS = (
    b"\xff\xff\xff\xff",
    b"\x00\x00\x00\x80",
    b"\xff" * 8,
    b"9" * 30,
    b"-1",
    b"1e999",
    b"\0" * 16,
    b"\x7f\xff\xff\xff",
)
_NESTS = (
    b"[" * 2000,
    b'{"a":' * 500,
    b"(" * 2000,
    b"\x91" * 2000,
    b"\x81\xa1a" * 800,
    b"]" * 50,
    b'"',
    b"\\u",
    b"\xc0\x80",
)


@st.composite
def changed(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    """One of the inputs after a few changes."""
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        kind = draw(st.integers(0, 7))
        if kind == 0 and data:
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == 1 and data:
            data[at] = draw(st.integers(0, 255))
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = draw(st.sampled_from(_NUMBERS))
        elif kind == 4:
            put = draw(st.sampled_from(_NUMBERS))
            data[at : at + len(put)] = put
        elif kind == 5:
            data[at:at] = draw(st.sampled_from(_NESTS))
        elif kind == 6:
            length = draw(st.integers(1, 64))
            to = draw(st.integers(0, len(data)))
            data[to:to] = data[at : at + length]
        else:
            del data[at : at + draw(st.integers(1, 32))]
    return bytes(data[: 1 << 16])
