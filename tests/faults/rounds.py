"""How often the fault and attack suites try: short and with fixed seeds in the gate, longer and others in `make soak`.

`scripts/soak` sets STEPSCOPE_SOAK to the number of its round, from 1, and STEPSCOPE_SOAK_TRIES to a file.
"""

from __future__ import annotations

import os
import random

__all__ = ["LONGER", "ROUND", "chance", "note_tries", "times"]

ROUND = int(os.environ.get("STEPSCOPE_SOAK", "0"))
LONGER = 10
"""How much more a round of the soak tries than the gate."""


def times(short: int) -> int:
    """How often to try: `short` in the gate."""
    return short * LONGER if ROUND else short


def chance(seed: int) -> random.Random:
    """The same dice in every gate, others in each round of the soak."""
    return random.Random(seed + 1_000_003 * ROUND)


def note_tries(count: int) -> None:
    """For the table of the soak: how often this test has tried."""
    place = os.environ.get("STEPSCOPE_SOAK_TRIES")
    if place:
        with open(place, "a") as file:  # one short write, so that two workers do not mix
            file.write(f"{count}\n")
