"""Several items under one key at one step: each has its `index` and the `count`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stepscope.errors import UsageError
from stepscope.track.media.loggable import Encoded, Loggable, harmless

MAX_ITEMS = 1_000


@harmless
class Several:
    """A list of media: `run.log({"samples": [stepscope.Image(a), stepscope.Image(b)]})`."""

    def __init__(self, items: Sequence[Loggable]) -> None:
        if not 1 <= len(items) <= MAX_ITEMS:
            raise UsageError(f"a list of {len(items)} media; expected 1 to {MAX_ITEMS:,}: log fewer, or use a grid")
        self.items = list(items)

    def encode(self, key: str, step: int, time: float) -> Encoded:
        encoded = [pair for item in self.items for pair in item.encode(key, step, time)]
        count = len(encoded)
        return [
            (msgspec.structs.replace(record, index=index, count=count), data)
            for index, (record, data) in enumerate(encoded)
        ]
