"""The configuration of a gateway, from `gateway.toml`: datasets by name, where tokens are kept, address, limits.

It is the owner's, and public but for passwords in the address of a database, which are never shown. What is not known in it
is refused: a limit that is misspelled would be one that nobody keeps.
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from dither.errors import PolicyError
from dither.query.policy.toml_text import read_toml, toml_text
from dither.query.policy.version import check_version
from dither.server.core.config_values import (
    Stated,
    StatedFolder,
    must_be_known,
    read_file,
    read_flag,
    read_folder,
    read_integer,
    read_line,
    read_number,
    read_part,
)
from dither.server.core.oidc_facts import OidcFacts, read_oidc

VERSION = 1
NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")  # stands in addresses, and in the names of metrics' labels
PARTS = ("version", "database", "server", "limits", "datasets", "oidc")
SERVER = ("host", "port", "metrics_port", "workers", "certificate", "certificate_key", "proxy", "plain_http", "new_data")
DATASET = ("policy", "answers", "slots")
DRAFT = 'version = 1, database = "gateway.db", and [datasets.clinic] with policy = "policy.toml"'
LONGEST_SLOT = 86_400.0
MOST_SLOTS = 32


@dataclass(frozen=True)
class Limits:
    """How much may be asked for at a time, and how much one question may take."""

    quotes_per_second: float = 20.0  # of a token
    queries_per_second: float = 2.0  # of a token
    under_way: int = 4  # questions of a token at a time
    queue: int = 100  # questions of all that wait for a worker
    sql_bytes: int = 20_000
    body_bytes: int = 65_536
    seconds: float = 60.0  # of one question in a worker
    memory_mb: int = 4096  # of a worker
    wrong_tokens_per_minute: int = 5  # from one address


MOST: dict[str, float] = {  # above these a limit is a slip
    "quotes_per_second": 1e5,
    "queries_per_second": 1e5,
    "under_way": 10_000,
    "queue": 100_000,
    "sql_bytes": 1_000_000,  # what a ledger keeps of a question
    "body_bytes": 2**26,
    "seconds": 86_400.0,
    "memory_mb": 2**24,
    "wrong_tokens_per_minute": 10_000,
}


@dataclass(frozen=True)
class GatewayDataset:
    """A dataset that can be asked about, by its name."""

    name: str
    policy: Path
    answers: Literal["shared", "own"] = "shared"  # who may look at stored answers: all analysts of it, or who asked
    slots: tuple[float, ...] = ()  # seconds after which an answer may leave; none: as soon as it is there


@dataclass(frozen=True)
class GatewayConfig:
    """All that a gateway is told by its owner."""

    datasets: tuple[GatewayDataset, ...]
    database: str = field(repr=False)  # of tokens and stored answers: a file or postgresql://..., perhaps with a password
    host: str = "127.0.0.1"
    port: int = 8765  # 0: any that is free
    metrics_port: int | None = None
    workers: int = 2
    limits: Limits = field(default_factory=Limits)
    certificate: Path | None = None
    certificate_key: Path | None = None
    proxy: bool = False  # behind one that ends TLS, and whose X-Forwarded-For is believed
    oidc: OidcFacts | None = None
    new_data: StatedFolder | None = None  # of files for which owners may make policies on the page

    def dataset(self, name: str) -> GatewayDataset | None:
        """The dataset of that name; None if there is none."""
        return next((dataset for dataset in self.datasets if dataset.name == name), None)


def read_gateway(path: Path) -> GatewayConfig:
    """The configuration in a file; paths in it are relative to its folder.

    Args:
        path: a TOML file, such as gateway.toml.

    Raises:
        PolicyError: it cannot be read, or says too little, too much or what no gateway can keep; `where` is the place in it.

    Example:
        >>> import tempfile, pathlib
        >>> from dither.server.core.config import read_gateway
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "policy.toml").write_text("version = 1")
        >>> file = pathlib.Path(folder.name, "gateway.toml")
        >>> _ = file.write_text('version = 1\\ndatabase = "gateway.db"\\ndatasets.clinic.policy = "policy.toml"')
        >>> read_gateway(file).datasets[0].name
        'clinic'
        >>> folder.cleanup()
    """
    stated, folder = _stated(path), path.resolve().parent
    check_version(stated, VERSION)
    must_be_known(stated, "", PARTS)
    return GatewayConfig(
        datasets=_datasets(stated, folder),
        database=_database(stated.get("database"), folder),
        limits=_limits(stated),
        oidc=read_oidc(stated, folder),
        **_server(stated, folder),
    )


def _stated(path: Path) -> Stated:
    try:
        return read_toml(toml_text(path, "gateway"))
    except OSError as error:
        raise PolicyError("gateway", str(path), f"it cannot be read: {error.strerror}", f"a file with {DRAFT}") from error
    except UnicodeDecodeError as error:
        raise PolicyError("gateway", str(path), "it is not TOML, nor any text", f"a file with {DRAFT}") from error
    except tomllib.TOMLDecodeError as error:
        raise PolicyError("gateway", str(path), f"it is not TOML: {error}", f"a file with {DRAFT}") from error


def _datasets(stated: Stated, folder: Path) -> tuple[GatewayDataset, ...]:
    part = stated.get("datasets")
    if not isinstance(part, dict) or not part:
        raise PolicyError("datasets", part, "a gateway has at least one dataset", '[datasets.clinic] policy = "policy.toml"')
    return tuple(_dataset(name, facts, folder) for name, facts in part.items())


def _dataset(name: str, facts: Any, folder: Path) -> GatewayDataset:
    where = f"datasets.{name}"
    if not NAME.fullmatch(name):
        why = "the name stands in addresses: up to 63 small letters, digits, - and _, the first a letter"
        raise PolicyError(where, name, why, "clinic, or visits-2026")
    if not isinstance(facts, dict):
        raise PolicyError(where, facts, "a dataset has a policy", f'[{where}] policy = "policy.toml"')
    must_be_known(facts, f"{where}.", DATASET)
    answers = facts.get("answers", "shared")
    if answers not in ("shared", "own"):
        why = "it says who may look at stored answers"
        raise PolicyError(f"{where}.answers", answers, why, '"shared": all analysts of the dataset, or "own": who asked')
    return GatewayDataset(
        name,
        read_file(
            facts.get("policy"), f"{where}.policy", folder, 'policy = "policy.toml", which `dither policy init` drafts'
        ),
        answers,
        _slots(facts.get("slots", []), f"{where}.slots"),
    )


def _slots(stated: Any, where: str) -> tuple[float, ...]:
    if not isinstance(stated, list) or len(stated) > MOST_SLOTS:
        raise PolicyError(
            where, stated, f"it is not a list of at most {MOST_SLOTS} times in seconds", "[0.25, 1, 5, 30, 120]"
        )
    slots = tuple(read_number(slot, where, least=0, most=LONGEST_SLOT) for slot in stated)
    if any(later <= earlier for earlier, later in pairwise(slots)):
        raise PolicyError(where, stated, "each slot is later than the one before", "[0.25, 1, 5, 30, 120]")
    return slots


def _database(stated: Any, folder: Path) -> str:
    text = read_line(stated, "database", '"gateway.db", or "postgresql://user@host/database#gateway"')
    if "://" not in text:
        return str(folder / Path(text).expanduser())
    # Apart from a ledger, whose schema is "dither" where nothing is said.
    return text if urlsplit(text).fragment else f"{text.removesuffix('#')}#gateway"


def _limits(stated: Stated) -> Limits:
    part = read_part(stated, "limits", MOST)
    read: dict[str, Any] = {}
    for each in fields(Limits):
        if each.name in part:
            value, where, most = part[each.name], f"limits.{each.name}", MOST[each.name]
            if each.type == "int":
                read[each.name] = read_integer(value, where, least=1, most=int(most))
            else:
                read[each.name] = read_number(value, where, least=0, most=most)
    limits = Limits(**read)
    if limits.body_bytes < limits.sql_bytes:
        why = f"a question may have {limits.sql_bytes} bytes, and comes in a body"
        raise PolicyError("limits.body_bytes", limits.body_bytes, why, f"body_bytes = {2 * limits.sql_bytes}")
    return limits


def _server(stated: Stated, folder: Path) -> dict[str, Any]:
    part = read_part(stated, "server", SERVER)
    read: dict[str, Any] = {"host": read_line(part.get("host", "127.0.0.1"), "server.host", '"127.0.0.1"')}
    for name, least, most in (("port", 0, 65_535), ("metrics_port", 0, 65_535), ("workers", 1, 256)):
        if name in part:
            read[name] = read_integer(part[name], f"server.{name}", least=least, most=most)
    if read.get("metrics_port", 0) and read["metrics_port"] == read.get("port", 8765):
        raise PolicyError("server.metrics_port", read["metrics_port"], "it is the port of the gateway", "another one")
    for name in ("certificate", "certificate_key"):
        if name in part:
            read[name] = read_file(part[name], f"server.{name}", folder, "a file in PEM, or neither of the two")
    if "new_data" in part:
        instead = 'new_data = "incoming", a folder for files that have no policy yet; or leaving it out'
        read["new_data"] = read_folder(part["new_data"], "server.new_data", folder, instead)
    if ("certificate" in part) != ("certificate_key" in part):
        raise PolicyError("server.certificate", None, "a certificate and its key come together", "both, or neither")
    read["proxy"] = read_flag(part.get("proxy", False), "server.proxy")
    plain = read_flag(part.get("plain_http", False), "server.plain_http")
    if not ("certificate" in part or read["proxy"] or plain or _loopback(read["host"])):
        why = "others could reach it, and tokens would go over the network as clear text"
        instead = "certificate and certificate_key; proxy = true behind one that ends TLS; or plain_http = true, if it is so"
        raise PolicyError("server.host", read["host"], why, instead)
    return read


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name
        return False
