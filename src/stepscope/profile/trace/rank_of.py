"""Which rank a trace is of: by what it says, or by what its file is called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_RANK = re.compile(r"rank[-_.= ]?(\d{1,6})(?!\d)", re.IGNORECASE)
_LAST = re.compile(r"[-_.](\d{1,5})\.json(?:\.gz)?$")


def rank_in_fields(fields: Mapping[str, Any]) -> int | None:
    """The rank that the trace's own distributedInfo gives."""
    info = fields.get("distributedInfo")
    rank = info.get("rank") if isinstance(info, Mapping) else None
    return rank if isinstance(rank, int) and not isinstance(rank, bool) and 0 <= rank < 1 << 20 else None


def ranks_of_names(names: Sequence[str]) -> list[int | None]:
    """The ranks in the names of files, if every one has its own; a number at the end counts where all have one.

    >>> ranks_of_names(["rank0.json", "rank1.json.gz"]), ranks_of_names(["t_3.json", "t_4.json"])
    ([0, 1], [3, 4])
    >>> ranks_of_names(["host_4711.1690000000000.pt.trace.json"])
    [None]
    """
    for pattern in (_RANK, _LAST):
        found = [int(match[1]) if (match := pattern.search(name)) else None for name in names]
        if None not in found and len(set(found)) == len(found):
            return found
    return [int(match[1]) if (match := _RANK.search(name)) else None for name in names]
