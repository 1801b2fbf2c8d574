"""Sessions of Spark Connect: a client here, and the session itself at a server.

They have the methods of other sessions, but no context, and three habits of their own. A new session does not try again for
as long as the one that was given: it is told to. A client that nobody closes keeps its session at the server for an hour.
And `stop` of a session also stops a server that this process has started, so that it is never called here.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from dither.extras import needs

MODULE = "pyspark.sql.connect."


def is_connect(session: Any) -> bool:
    """Whether a session, or what is made of it, is of Spark Connect."""
    return any(one.__module__.startswith(MODULE) for one in type(session).__mro__)


def is_closed(session: Any) -> bool:
    """Whether its owner has stopped it: new ones could be made of it all the same."""
    return bool(session.client.is_closed)


def client_version() -> str:
    """The version of PySpark here; that of Spark at the server may be another."""
    with needs("dither[spark]"):
        import pyspark
    return str(pyspark.__version__)


def keep_retries(own: Any, given: Any) -> None:
    """Try again as often as the session that was given."""
    own.client.set_retry_policies(given.client.get_retry_policies())


def held_settings(session: Any, settings: Iterable[str]) -> dict[str, str]:
    """Several settings by one request."""
    return {name: str(value) for name, value in session.client.get_config_dict(*settings).items()}


def end_session(session: Any) -> None:
    """Let go of a session of ours: what it runs is stopped, and its views go. A server that is lost has none."""
    with suppress(Exception):
        session.client.set_retry_policies([])
        session.client.release_session()
    with suppress(Exception):
        session.client.close()
