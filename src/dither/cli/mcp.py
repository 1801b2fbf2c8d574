"""`dither mcp`: the tools of a gateway for a model on this machine, over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def mcp(
    url: Annotated[str, typer.Option("--url", help="The address of the gateway; the token is that of DITHER_TOKEN.")],
    certificates: Annotated[Path | None, typer.Option(help="A file of certificates to trust.")] = None,
    cleartext: Annotated[bool, typer.Option(help="Allow http to another machine.")] = False,
) -> None:
    """Tools for a model that asks a gateway (Model Context Protocol): price first, within the share of its token."""
    from dither.client.connect import connect
    from dither.server.mcp.protocol import serve_stdio  # here, so that --help works without the extra

    serve_stdio(connect(url, certificates=certificates, cleartext=cleartext))
