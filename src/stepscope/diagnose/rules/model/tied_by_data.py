from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.aliases import Alias, Aliases
from stepscope.evidence.modules import Parameter
from stepscope.evidence.optimizers import Made
from stepscope.records.step import Site


@rule("model.tied-by-data", severity="warning")
def tied_by_data(run: Evidence) -> Iterator[Proof]:
    """Two parameters share their memory without being one parameter, so every step updates the same numbers twice.

    Why it matters: each of the two has a gradient and optimizer state of its own. Adam divides each gradient by its
    own history and weight decay is subtracted twice, so the shared weights move about twice as far as they should; and
    `model.to(device)` silently separates them.

    What to do: tie the parameter itself: `self.head.weight = self.embed.weight`.

    How it is found: two parameters of one optimizer start at the same address and have the same size, and both get
    gradients. Plain SGD without weight decay is left alone: there two updates are the same as one.

    Bad:
        self.head.weight.data = self.embed.weight.data
    Good:
        self.head.weight = self.embed.weight
    """
    for alias in run[Aliases].all:
        made = run.optimizers.of(alias.optimizer)
        trained = [one for one in alias.parameters if one.requires_grad and one.gradients >= 2]
        if len(trained) < 2 or _adds_up(made):
            continue
        first, second = trained[0].title, trained[1].title
        yield Proof(
            where=_tied_at(run, alias) or made.place,
            message=f"{second} shares the memory of {first} but is a separate parameter: "
            f"{made.type} updates the same numbers twice in every step",
            label=f"{trained[0].size:,} numbers, updated twice",
            evidence={"parameters": [one.title for one in trained], "shape": list(trained[0].shape)},
            fix=f"assign the parameter itself, not its data: {second} = {first}",
        )


def _adds_up(made: Made) -> bool:
    """Two updates of this optimizer are one with the sum of the gradients."""
    return made.type == "SGD" and not made.defaults.get("weight_decay")


def _tied_at(run: Evidence, alias: Alias) -> Site | None:
    """The assignment to one of the parameters, or to its data."""
    names = {_ending(one) for one in alias.parameters}
    for file in run.source.files():
        for node in file.walk(ast.Assign):
            target = ast.unparse(node.targets[0]).removesuffix(".data")
            if any(name and f".{target}".endswith(f".{name}") for name in names):
                return file.site(node)
    return None


def _ending(parameter: Parameter) -> str:
    """`head.weight` of `model.decoder.head.weight`: what an assignment in the module itself says."""
    return ".".join(parameter.name.split(".")[-2:])
