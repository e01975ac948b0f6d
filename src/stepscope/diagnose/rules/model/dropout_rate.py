from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.records.step import Site


@rule("model.dropout-rate", severity="info", needs="steps, end")
def dropout_rate(run: Evidence) -> Iterator[Proof]:
    """Dropout throws away most of what passes: perhaps the share to keep was meant.

    Why it matters: `nn.Dropout(p)` drops the share p; other libraries ask for the share to keep. With 0.8 four of five
    values are gone and the model hardly learns.

    What to do: give the share to drop: `nn.Dropout(1 - keep_prob)`.

    How it is found: a dropout layer with p of 0.7 or more is called in training; a warning when what it was given is
    called `keep` something.

    Bad:
        nn.Dropout(keep_prob)
    Good:
        nn.Dropout(1 - keep_prob)
    """
    seen: set[tuple[str, int]] = set()
    for root in list(run.layers.calls):
        for layer in root.modules():
            share = layer.attributes.get("p")
            if not layer.is_a("_DropoutNd") or not isinstance(share, (int, float)) or share < 0.5:
                continue
            site = None if layer.made is None else layer.made.site
            kept = site is not None and _says_keep(run, site)
            if site is None or (site.file, site.line) in seen or (share < 0.7 and not kept):
                continue
            seen.add((site.file, site.line))
            yield Proof(
                where=site,
                message=f"{layer.type} with p = {share:g} drops {share:.0%} of its input"
                + ("; its argument is named like a fraction to keep" if kept else ""),
                label=f"only {1 - share:.0%} is kept",
                evidence={"p": share},
                edit=edits.argument(site, 0, "p", f"{1 - share:.2g}") if kept else None,
                fix=f"nn.Dropout(1 - ...), if {share:g} is the fraction to keep",
                severity="warning" if kept else None,
            )


def _says_keep(run: Evidence, site: Site) -> bool:
    """Whether the argument of the call is named for what is kept, and is not turned round."""
    file = run.source.file(site.file)
    for call in file.walk(ast.Call) if file is not None else ():
        if call.lineno <= site.line <= (call.end_lineno or call.lineno) and called_name(call).startswith("Dropout"):
            given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "p")]
            if any("keep" in ast.unparse(value).lower() and not isinstance(value, ast.BinOp) for value in given):
                return True
    return False
