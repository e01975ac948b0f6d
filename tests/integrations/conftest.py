"""Scripts that these tests start take the environment as it is, also from fixtures made before a test's own begin."""

from __future__ import annotations

import os

for _name in ("STEPSCOPE_DIR", "STEPSCOPE_MODE", "STEPSCOPE_RUN", "RANK", "WORLD_SIZE", "LOCAL_RANK"):
    os.environ.pop(_name, None)
