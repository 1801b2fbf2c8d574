"""`dither serve`: a gateway over HTTP, of a configuration or of the made-up clinic."""

from __future__ import annotations

import csv
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dither.demo import save as save_clinic
from dither.errors import ConflictError, DataError
from dither.privacy.guarantee.definitions import approx
from dither.query.dataset import open as open_policy

if TYPE_CHECKING:
    from dither.server.core.config import GatewayConfig
    from dither.server.listener import Listening

GATEWAY = """\
# The gateway of the made-up clinic: dither serve --config gateway.toml
version = 1
database = "gateway.db"  # tokens and stored answers

[server]
new_data = "incoming"  # files for which the page makes policies

[datasets.clinic]
policy = "policy.toml"
"""
ANALYST, OWNER = "ana", "olga"
SHARE = approx(1, "1e-6")  # of the clinic's budget, which is 3
SQL = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def serve(
    config: Annotated[Path, typer.Option(help="The configuration of the gateway.")] = Path("gateway.toml"),
    demo: Annotated[bool, typer.Option("--demo", help="Serve the made-up clinic, without a configuration.")] = False,
    save: Annotated[Path | None, typer.Option(help="With --demo: keep the clinic in this folder.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="Listen here instead; 0 for any free port.")] = None,
) -> None:
    """Let people ask over HTTP: the rows, the ledger and its key stay here. Ctrl-C ends it."""
    if save is not None and not demo:
        raise DataError("--save", str(save), "it keeps the made-up clinic", "--demo --save clinic")
    from dither.server.core.config import read_gateway  # here, so that --help works without the extra
    from dither.server.listener import listen

    if not demo:
        listen(_at(read_gateway(config), port), _told, sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="dither-gateway-") as passing:
        made = demo_gateway(Path(passing) if save is None else save)
        try:
            listen(_at(made, port), _told_demo, sys.stderr)
        except ConflictError as error:
            if port is not None or error.where != "server.port":
                raise
            listen(_at(made, 0), _told_demo, sys.stderr)  # somebody else has the usual port


def _at(config: GatewayConfig, port: int | None) -> GatewayConfig:
    return config if port is None else replace(config, port=port)


def demo_gateway(folder: Path) -> GatewayConfig:
    """The made-up clinic in a folder, with a share of its budget for an analyst."""
    from dither.server.core.config import read_gateway

    save_clinic(folder)
    file = folder / "gateway.toml"
    if file.exists() and file.read_text(encoding="utf-8") != GATEWAY:
        raise ConflictError("--save", str(file), "there is another file of that name", "a new folder")
    file.write_text(GATEWAY, encoding="utf-8")
    _write_new_data(folder)
    clinic = open_policy(folder / "policy.toml")
    try:
        clinic.ledger.remaining(ANALYST)
    except DataError:  # she has none yet
        clinic.ledger.share(ANALYST, SHARE)
    finally:
        clinic.ledger.close()
    return read_gateway(file)


def _write_new_data(folder: Path) -> None:
    """The clinic's rows once more, as a file that nobody has described yet: to try the wizard with."""
    import pyarrow.parquet

    new = folder / "incoming" / "new_visits.csv"
    new.parent.mkdir(exist_ok=True)
    if not new.exists():
        visits = pyarrow.parquet.read_table(folder / "visits.parquet")
        with new.open("w", encoding="utf-8", newline="") as file:
            written = csv.writer(file, lineterminator="\n")
            written.writerow(visits.column_names)
            written.writerows(zip(*(column.to_pylist() for column in visits.columns), strict=True))


def _told(listening: Listening) -> None:
    metrics = "" if listening.metrics is None else f"; metrics on {listening.metrics}"
    typer.echo(f"dither: listening on {listening.address}{metrics}")
    sys.stdout.flush()


def _told_demo(listening: Listening) -> None:
    where, gateway = listening.address, listening.gateway
    _, secret = gateway.tokens.create(name=ANALYST, role="analyst", datasets=("clinic",))
    _, owner = gateway.tokens.create(name=OWNER, role="owner", datasets=("*",))
    _told(listening)
    body = f'{{"dataset": "clinic", "sql": "{SQL}", "epsilon": "0.1"}}'
    sent = f"""-H "Authorization: Bearer $DITHER_TOKEN" -H 'Content-Type: application/json' -d '{body}'"""
    typer.echo(
        f"""
A made-up clinic, and two tokens, which are shown once: of {ANALYST}, an analyst who may spend epsilon 1 of 3,
and of {OWNER}, the owner. In a browser:
  as {ANALYST:5} {where}/login#token={secret}
  as {OWNER:5} {where}/login#token={owner}

From a program:
  export DITHER_TOKEN={secret}
  export OWNER_TOKEN={owner}

What a question costs, and how far its answer may be off, for nothing:
  curl {where}/v1/quotes {sent}
The answer, paid from her share:
  curl {where}/v1/queries -H 'Accept: text/csv' {sent}
From Python:
  dither.connect("{where}")["clinic"].quote("{SQL}", epsilon="0.1").release()
"""
    )
    sys.stdout.flush()
