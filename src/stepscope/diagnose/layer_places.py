"""Where a layer of a model was made."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.attributes import assigned_at
from stepscope.diagnose.source import called_name

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.modules import Module
    from stepscope.records.step import Site

_STACKS = ("TransformerEncoder", "TransformerDecoder")


def built_at(run: Evidence, root: Module, path: str) -> Site | None:
    """Where the layer at this path was made; of a copy, where its holder was; of one that a helper function made, where
    its model asked the helper for it."""
    layer = root.part(path)
    if layer is None or layer.made is None:
        return built_at(run, root, path.rpartition(".")[0]) if "." in path else None
    site = layer.made.site
    if site.function.rpartition(".")[2] in ("__init__", "<module>", "", "setup"):
        return site
    return _asked_for(run, root, path) or site


def layer_copied(run: Evidence, site: Site | None) -> Site | None:
    """Of `nn.TransformerEncoder(layer, 6)`, which holds copies: where that layer was made; else the site itself."""
    call = run.source.expression(site)
    if site is None or not isinstance(call, ast.Call) or called_name(call) not in _STACKS:
        return site
    file = run.source.file(site.file)
    words = {word.arg: word.value for word in call.keywords}
    layer = call.args[0] if call.args else words.get("encoder_layer", words.get("decoder_layer"))
    if file is None or layer is None or isinstance(layer, ast.Call):
        return site if file is None or layer is None else file.site(layer)
    binding = binding_of(file, ast.unparse(layer), call)
    return site if binding is None or not isinstance(binding.value, ast.Call) else binding.site


def _asked_for(run: Evidence, root: Module, path: str) -> Site | None:
    parts = path.split(".")
    for depth in range(len(parts), 0, -1):
        holder = root.part(".".join(parts[: depth - 1]))
        found = None if holder is None else assigned_at(run, holder, parts[depth - 1])
        if found is not None:
            return found
    return None
