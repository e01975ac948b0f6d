"""Arithmetic of each op: floating-point operations and multiply-accumulates, one file per family of ops.

A formula is a function under `@formula("name", ...)` in any file of this folder; the folder is the registry. An op
without a formula counts as unknown (None), never as zero. docs/flops.md says what is counted and how.
"""

from stepscope.record.flops.observer import FlopsObserver
from stepscope.record.flops.registry import Called, Work, formula, known_ops, work_of

__all__ = ["Called", "FlopsObserver", "Work", "formula", "known_ops", "work_of"]
