from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.hangs import rank_names
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.ranks import Saved


@rule("dist.shared-checkpoint", severity="error", needs="steps, end, crash")
def shared_checkpoint(run: Evidence) -> Iterator[Proof]:
    """Several ranks save to the same file, so one overwrites what another is writing.

    Why it matters: two writers of one file leave a mixture that may not load, or the state of whichever came last.

    What to do: save on rank 0 only (and let the others wait with `dist.barrier()` outside the `if`), or give each
    rank a file of its own where their states differ.

    How it is found: `torch.save` was called with the same path by several ranks of one machine, or of several that
    share a network file system. If each rank saves a temporary file and renames it, no file is a mixture; but all ranks
    save, and the last one stays. That is a warning.

    Bad:
        torch.save(model.state_dict(), "last.pt")
    Good:
        if dist.get_rank() == 0:
            torch.save(model.state_dict(), "last.pt")
        dist.barrier()
    """
    writers: dict[tuple[str, str], dict[int, Saved]] = {}
    for one in run.ranks.all:
        for saved in one.saved:
            writers.setdefault((saved.host, saved.path), {})[one.rank] = saved
    shared = {where: who for where, who in writers.items() if len(who) > 1}
    if not shared:
        return
    (_, path), who = next(iter(shared.items()))
    more = f" (and {len(shared) - 1} more files)" if len(shared) > 1 else ""
    are_renamed = all(one.is_renamed for one in who.values())
    how = "rename their files to" if are_renamed else "save to the same file:"
    yield Proof(
        where=next(iter(who.values())).place,
        severity="warning" if are_renamed else None,
        message=f"{rank_names(who)} {how} {path.rpartition('/')[2]}{more}",
        label=f"called on {rank_names(who)}",
        evidence={"ranks": sorted(who), "files": [path for _, path in shared][:10]},
        fix="save on rank 0 only: if dist.get_rank() == 0: torch.save(...)",
    )
