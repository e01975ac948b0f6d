"""Keep secrets out of the run folder: recognized by their name, by their shape, or by an earlier occurrence.

Everything Stepscope writes about a run (arguments, environment, config, git diff, console, notes, text, tracebacks,
findings, capsules) passes through here before it reaches the disk. Only text is ever masked: a number under `token_dim`
or `max_tokens` is a setting, not a secret. docs/security.md has the measured detection rates.
"""

from stepscope.track.secrets.argv import mask_argv
from stepscope.track.secrets.known import forget_all, learn, learn_from, learn_from_crash
from stepscope.track.secrets.names import is_secret_name
from stepscope.track.secrets.shapes import PEM_BEGIN, PEM_END
from stepscope.track.secrets.structures import mask_nested, mask_record, mask_value
from stepscope.track.secrets.text import MASK, ends_in_secret, mask_text
from stepscope.track.secrets.typed import refuse_secret

__all__ = [
    "MASK",
    "PEM_BEGIN",
    "PEM_END",
    "ends_in_secret",
    "forget_all",
    "is_secret_name",
    "learn",
    "learn_from",
    "learn_from_crash",
    "mask_argv",
    "mask_nested",
    "mask_record",
    "mask_text",
    "mask_value",
    "refuse_secret",
]
