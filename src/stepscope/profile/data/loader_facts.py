"""What is written down of a DataLoader. No torch: the reading side knows it too."""

from __future__ import annotations

import msgspec


class LoaderFacts(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One loader in `rankN.data.json`."""

    number: int
    made: str = ""
    """`train.py:34`"""
    file: str = ""
    line: int = 0
    dataset: str = ""
    samples: int | None = None
    batch_size: int | None = None
    workers: int = 0
    prefetch: int | None = None
    persistent: bool = False
    pin: bool = False
    start_method: str = ""
    passes: int = 0
