"""`stepscope inspect`: describe a model or a checkpoint."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import json_option, print_json
from stepscope.errors import MissingExtra, StepscopeError, UsageError

if TYPE_CHECKING:
    from stepscope.inspect.summary import Summary
    from stepscope.inspect.table import Table

_GRAPHS = (".html", ".svg", ".png", ".json", ".dot")


class ModelFailed(StepscopeError):
    """The model's own forward raised; the table shows where."""


@click.command(name="inspect", short_help="Print a model or checkpoint: table, shapes, cost, graph.")
@click.argument("target")
@click.option("--args", "arguments", default="[]", help="Positional arguments of the model, as a JSON list.")
@click.option("--kwargs", "keywords", default="{}", help="Keyword arguments of the model, as a JSON object.")
@click.option(
    "--input", "specs", multiple=True, metavar="[NAME=]SHAPE[:DTYPE][:LOW-HIGH]", help="The shape of an input."
)
@click.option("--input-file", type=click.Path(path_type=Path), help="Inputs saved with torch.save.")
@click.option("--depth", type=int, default=3, show_default=True, help="Depth of modules to show; -1 for all.")
@click.option(
    "--by",
    type=click.Choice(["module", "op", "line", "phase", "type"]),
    default="module",
    show_default=True,
    help="What a row of the table is.",
)
@click.option("--columns", help="Columns to show, separated by commas.")
@click.option("--sort", help="Sort by a column, largest first (-COLUMN: smallest first).")
@click.option("--backward", is_flag=True, help="Also run backward, from a placeholder loss.")
@click.option("--train", is_flag=True, help="Run in training mode.")
@click.option("--device", help="Where to run: cpu, cuda, cuda:1 ...")
@click.option("--batch-size", type=int, help="Estimate the training memory for this batch size.")
@click.option("--optimizer", default="adam", show_default=True, help="Estimate the training memory for this optimizer.")
@click.option(
    "--graph", "graph", type=click.Path(path_type=Path), help="Draw the graph: .html, .svg, .png, .json, .dot."
)
@click.option("--csv", "csv_file", type=click.Path(path_type=Path), help="Also write the table as CSV.")
@click.option("--no-stats", is_flag=True, help="Show only names and shapes of a checkpoint.")
@json_option
def command(target: str, as_json: bool, csv_file: Path | None, **options: Any) -> None:
    """Describe a model or a checkpoint: table, shapes, cost, graph.

    TARGET is pkg.module:Net or file.py:Net (a class, a function that makes a model, or a model), a checkpoint
    (.pt, .pth, .bin, .safetensors), or a saved step (.step).

    \b
    stepscope inspect pkg.module:Net --input 1,3,224,224
    stepscope inspect net.py:build --kwargs '{"depth": 4}' --input ids=1,128:int64:0-50256
    stepscope inspect checkpoint.pt
    """
    if options["depth"] < 0:
        options["depth"] = None
    path = Path(target)
    if path.suffix == ".step":
        _show_step(path, options, as_json, csv_file)
    elif (path.is_file() and path.suffix != ".py") or path.suffix in (".pt", ".pth", ".bin", ".safetensors", ".ckpt"):
        from stepscope.inspect.checkpoint import read_checkpoint

        _show(read_checkpoint(path, statistics=not options["no_stats"]).table, as_json, csv_file)
    else:
        _show_model(target, options, as_json, csv_file)


def _show(table: Table, as_json: bool, csv_file: Path | None) -> None:
    if csv_file is not None:
        table.to_csv(csv_file)
    if as_json:
        print_json(json.loads(table.to_json()))
    else:
        table.print()


def _show_step(path: Path, options: dict[str, Any], as_json: bool, csv_file: Path | None) -> None:
    from stepscope.inspect.step import Step

    step = Step.load(path)
    if options["graph"] is not None:
        _draw(step, options["graph"], backward=options["backward"])
    _show(step.table(**{name: options[name] for name in ("by", "depth", "columns", "sort")}), as_json, csv_file)


def _show_model(target: str, options: dict[str, Any], as_json: bool, csv_file: Path | None) -> None:
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra("inspecting a model", "torch", extra="torch") from None
    from stepscope.inspect.target import load_model

    arguments, keywords = _json("--args", options["arguments"], list), _json("--kwargs", options["keywords"], dict)
    if options["graph"] is not None and options["graph"].suffix not in _GRAPHS:
        raise UsageError(f"--graph {options['graph']}: the file must end in {', '.join(_GRAPHS)}")
    with _prints_aside():
        found = _summarise(load_model(target, arguments, keywords), options)
    if options["graph"] is not None and found.error is None:
        _draw(found, options["graph"], backward=options["backward"])
    if csv_file is not None:
        found.to_csv(csv_file)
    if as_json:
        print_json(_as_json(found))
    else:
        found.print()
    if found.failure is not None:
        raise ModelFailed(f"the model failed in {found.failure.path or 'its forward'}: {found.failure.message}")


def _summarise(model: Any, options: dict[str, Any]) -> Summary:
    from stepscope.inspect.inputs import device_of, load_inputs, make_tensor, parse_input
    from stepscope.inspect.summary import summary

    device = _device(options["device"]) if options["device"] else device_of(model)
    if options["device"]:
        model.to(device)
    inputs, named = load_inputs(options["input_file"], device) if options["input_file"] is not None else ([], {})
    for seed, spec in enumerate(map(parse_input, options["specs"])):
        tensor = make_tensor(spec, model, device, seed)
        if spec.name is None:
            inputs.append(tensor)
        else:
            named[spec.name] = tensor
    if options["backward"] and not inputs and not named:
        raise UsageError("--backward needs an input: give one with --input 1,3,224,224 or --input-file")
    return summary(
        model,
        *inputs,
        inputs=named,
        mode="train" if options["train"] else "eval",
        **{name: options[name] for name in ("backward", "depth", "columns", "by", "sort", "batch_size", "optimizer")},
    )


def _draw(found: Any, path: Path, *, backward: bool = False) -> None:
    found.graph(backward=backward).save(path)
    click.echo(f"graph written to {path}", err=True)


def _device(name: str) -> Any:
    import torch

    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as fault:
        raise UsageError(f"--device {name}: {str(fault).splitlines()[0]}") from None
    return device


def _json(option: str, text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as fault:
        raise UsageError(f"{option} {text!r} is not valid JSON: {fault}; put it in single quotes") from None
    if not isinstance(value, kind):
        word = "list, such as [1, 2]" if kind is list else 'object, such as {"depth": 4}'
        raise UsageError(f"{option} {text!r} is a {type(value).__name__}; expected a JSON {word}")
    return value


@contextlib.contextmanager
def _prints_aside() -> Iterator[None]:
    """Send the output of the user's own code to stderr, so that stdout has only the result."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def _as_json(found: Summary) -> dict[str, Any]:
    return {
        "model": found.step.record.model,
        "parameters": found.parameters,
        "trainable": found.trainable,
        "parameter_bytes": found.parameter_bytes,
        "flops": found.flops,
        "macs": found.macs,
        "memory": None if found.estimate is None else found.estimate.to_dict(),
        "failure": None if found.failure is None else vars(found.failure),
        "table": json.loads(found.to_json()),
    }
