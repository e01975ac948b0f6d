"""`stepscope ui`: the browser app."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from stepscope.cli._json import json_option, print_json, print_json_line
from stepscope.runs.store import usual_store

__all__ = ["command"]


@click.command(name="ui", short_help="Open the browser app.")
@click.argument("dirs", nargs=-1)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 7007 or the next free one by default.")
@click.option(
    "--token", help="The access token; a new one by default. Better in $STEPSCOPE_TOKEN than on the command line."
)
@click.option("--token-file", type=click.Path(path_type=Path), help="A file with the token, readable only by you.")
@click.option("--no-token", is_flag=True, help="Require no token; only for a machine you do not share.")
@click.option("--allow-host", multiple=True, help="A host name the page may be opened under (behind a proxy).")
@click.option("--read-only", is_flag=True, help="Do not allow changes from the page.")
@click.option("--no-compact", is_flag=True, help="Do not compact the logs of finished runs.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
@click.option("--notify", is_flag=True, help="Show alerts on this machine's desktop.")
@click.option(
    "--webhook",
    metavar="URL",
    help="Send alerts to this URL (Slack, Discord, Teams or any other). Prefer $STEPSCOPE_WEBHOOK.",
)
@click.option("--tell", metavar="KINDS", help="Alerts to send: failed,lost,nonfinite,stalled,finding,alert,dropped.")
@click.option("--test-webhook", is_flag=True, help="Send one message to the webhook, report the result, and exit.")
@json_option
def command(
    dirs: tuple[str, ...],
    host: str,
    port: int | None,
    token: str | None,
    token_file: Path | None,
    no_token: bool,
    allow_host: tuple[str, ...],
    read_only: bool,
    no_compact: bool,
    open_browser: bool,
    notify: bool,
    webhook: str | None,
    tell: str | None,
    test_webhook: bool,
    as_json: bool,
) -> None:
    """Open the browser app.

    \b
    stepscope ui                       # ./stepscope-runs
    stepscope ui runs/ /shared/runs --port 8000
    stepscope ui logs/                 # a folder of TensorBoard's, W&B's, MLflow's ...: read and followed
    stepscope ui https://runs.example.org     # the runs of a server you are logged in to
    stepscope ui --notify --tell failed,lost,nonfinite
    """
    from stepscope.server.alert_channels import kinds_of
    from stepscope.server.serve import serve

    webhook = webhook or os.environ.get("STEPSCOPE_WEBHOOK") or None
    if test_webhook:
        _test(webhook, as_json)
        return
    folders: list[str | Path] = list(dirs) or [usual_store()]
    serve(
        folders,
        host=host,
        port=port,
        token=token or (None if token_file else os.environ.get("STEPSCOPE_TOKEN")),
        no_token=no_token,
        token_file=token_file,
        allow_hosts=allow_host,
        read_only=read_only,
        compact=not no_compact,
        open_browser=open_browser,
        notify=notify,
        webhook=webhook,
        tell=kinds_of(tell or ""),
        say=partial(click.echo, err=True) if as_json else click.echo,
        on_address=_print_address if as_json else None,
    )


def _print_address(url: str, token: str | None) -> None:
    """For a program that starts the server: one line, as soon as it listens."""
    from stepscope.server.serve import address

    print_json_line({"url": url, "token": token, "address": address(url, token)})


def _test(webhook: str | None, as_json: bool) -> None:
    """One message now, so that nobody learns of a typing mistake from an alert that never came."""
    import time

    from stepscope.errors import ConfigError, StepscopeError
    from stepscope.server.webhook import Webhook
    from stepscope.views.notice import Notice

    if webhook is None:
        raise ConfigError("there is no webhook to test; give --webhook URL or set $STEPSCOPE_WEBHOOK")
    outlet = Webhook(webhook)
    notice = Notice(
        run="test", title="Stepscope can reach you", text="alerts will look like this", level="info", time=time.time(),
        name="a-run", project="a-project",
    )  # fmt: skip
    trouble = outlet.send(notice)
    if trouble is not None:
        raise StepscopeError(f"the test message was not taken: {trouble}")
    if as_json:
        print_json({"sent_to": outlet.host})
    else:
        click.echo(f"sent to {outlet.host}")
