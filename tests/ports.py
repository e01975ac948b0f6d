"""A TCP port that stays free until the test is over.

A port that was bound and let go may be given to any connection of the machine before the server under test asks for it:
the kernel takes the local ports of outgoing connections from the same range. One that stays bound, without listening,
is given to nobody, and a server that sets SO_REUSEADDR can still listen on it.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["reserved_port"]


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port of 127.0.0.1 that nothing listens on, kept from all others until the end of the block."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])
