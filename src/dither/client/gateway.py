"""A gateway that is asked over HTTP: its datasets, and who asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote as escaped

from dither.arguments import argument_errors
from dither.client.dataset import RemoteDataset
from dither.client.parts import Parts, check_text, sign_text
from dither.client.quote import RemoteBatch, RemoteQuote
from dither.client.session import LARGE, Session
from dither.errors import DataError, GatewayError
from dither.terminal import Explanation


@argument_errors
@dataclass(frozen=True, eq=False)
class RemoteGateway:
    """A gateway and the datasets in it that are yours. Made by `dither.connect`.

    Args:
        name: yours, as the ledgers know you.
        role: what you may do: 'analyst', 'owner' or 'auditor'.

    Raises:
        DataError: there is no such dataset, or it is not yours.
        GatewayError: the gateway cannot be reached, or does not take the token.

    Example:
        >>> from dither.client.gateway import RemoteGateway
        >>> RemoteGateway.__name__
        'RemoteGateway'
    """

    session: Session  # shown by its address
    name: str
    role: str

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets that you may ask."""
        return tuple(one.name for one in self.all_datasets())

    def dataset(self, name: str | None = None) -> RemoteDataset:
        """A dataset by its name; without a name, the only one that is yours."""
        if name is None:
            several = self.all_datasets()
            if len(several) != 1:
                names = ", ".join(repr(one.name) for one in several) or "a token for one: you have none"
                raise DataError("dataset", name, f"you have {len(several)} of them", names)
            return several[0]
        path = f"/v1/datasets/{escaped(check_text(name, 'dataset', repr('clinic')), safe='')}"
        return RemoteDataset.make(self.session, Parts(self.session.get(path, most=LARGE), "dataset"))

    def __getitem__(self, name: str) -> RemoteDataset:
        return self.dataset(check_text(name, "dataset", repr("clinic")))

    def __iter__(self) -> Iterator[str]:
        return iter(self.datasets)

    def quote(self, sql: str | list[str] | tuple[str, ...], **terms: Any) -> RemoteQuote | RemoteBatch:
        """Price and error of a question about the only dataset that is yours; see `RemoteDataset.quote`."""
        return self.dataset().quote(sql, **terms)

    def explain(self) -> Explanation:
        """The only dataset that is yours: what is protected, how, and what is left."""
        return self.dataset().explain()

    def all_datasets(self) -> list[RemoteDataset]:
        """All datasets that are yours."""
        found = Parts(self.session.get("/v1/datasets", most=LARGE), "reply")
        return [RemoteDataset.make(self.session, one) for one in found.objects("datasets")]


def open_gateway(session: Session) -> RemoteGateway:
    """The gateway of a session; it is asked who we are, so that a wrong address or token is known at once."""
    try:
        told = Parts(session.get("/v1/me"), "me")
    except DataError:  # it knows no such page
        why = "there is no gateway at this address"
        raise GatewayError(
            "gateway", str(session.address), why, "its address without /v1, as `dither serve` told it"
        ) from None
    return RemoteGateway(session, *(sign_text(told.text(part), 200) for part in ("name", "role")))
