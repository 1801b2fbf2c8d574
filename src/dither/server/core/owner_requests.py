"""What owners and auditors ask of a gateway: history, the difference of policies, tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from dither.errors import DitherError
from dither.server.core.callers import ALL, Caller
from dither.server.core.config import GatewayDataset
from dither.server.core.problems import Problem, absent, problem_of
from dither.server.core.processes.desk import Desk
from dither.server.core.processes.wizard_process import WizardProcess
from dither.server.core.roles import Role
from dither.server.core.tokens import Token, TokenStore

Json = dict[str, Any]


class OwnerRequests:
    """The part of a gateway for those who answer for it."""

    known: dict[str, GatewayDataset]
    desk: Desk
    tokens: TokenStore
    new_data: WizardProcess | None

    def _dataset(self, caller: Caller, name: str) -> GatewayDataset:
        found = self.known.get(name)
        if found is None or not caller.sees(name):
            raise absent()
        return found

    # -- history, for owners and auditors ----------------------------------------------------------------------------

    async def ledger(self, caller: Caller, dataset: str, *, last: int = 100) -> list[Json]:
        """The last entries of the dataset's ledger, in words."""
        caller.must("history", self._dataset(caller, dataset).name)
        lines: list[Json] = (await self.desk.ask("ledger", dataset, last=last))["lines"]
        return lines

    async def verify(self, caller: Caller, dataset: str) -> Json:
        """Whether all that the ledger says holds."""
        caller.must("history", self._dataset(caller, dataset).name)
        return await self.desk.ask("verify", dataset)

    async def policy_diff(self, caller: Caller, dataset: str, text: str) -> Json:
        """What another policy would change, and whether it allows more."""
        caller.must("own", self._dataset(caller, dataset).name)
        return await self.desk.ask("policy_diff", dataset, text=text)

    async def wizard(self, caller: Caller, task: str, **told: Any) -> Json | None:
        """What the wizard's process gives for a task; None where the operator names no folder of new data.

        Args:
            caller: an owner of all datasets: the folder is not that of one.
            task: files, step or save.
            told: of a step its replies, the consent to look at rows, and the move.

        Raises:
            Problem: the role may not, or it is refused.
        """
        caller.must("own")
        if ALL not in caller.datasets:
            raise Problem("forbidden", why="this token is not for all datasets", instead="an owner's token for all of them")
        return None if self.new_data is None else await self.new_data.ask(task, **told)

    # -- tokens, for owners ------------------------------------------------------------------------------------------

    async def create_token(
        self,
        caller: Caller,
        *,
        name: str,
        role: Role = "analyst",
        datasets: Sequence[str],
        share: Json | None = None,
        days: int | None = None,
    ) -> tuple[Token, str]:
        """A new token and its secret, which is told once; with its share in each of its ledgers.

        Args:
            caller: an owner of the datasets.
            name: of the analyst.
            role: of the token.
            datasets: names, or '*' for all.
            share: 'epsilon', 'delta' or 'rho', and 'daily', as `ShareTerms` has them.
            days: after which it ends; None for never.

        Raises:
            Problem: it is refused; nothing is written then, but where another owner wrote in the middle.
        """
        caller.must("own")
        for dataset in datasets:
            if dataset != ALL:
                self._dataset(caller, dataset)
            elif ALL not in caller.datasets:
                raise Problem("forbidden", why="this token is not for all datasets", instead="the names of datasets")
        asked, portions = {"name": name, "role": role, "share": share or {}}, dict[str, str | None]()
        several = list(self.known) if ALL in datasets else list(dict.fromkeys(datasets))
        for dataset in several:  # all are looked at before anything is written
            portions[dataset] = (await self.desk.ask("grant", dataset, **asked, write=False))["portion"]
        if len({*portions.values()}) > 1:
            why = f"{' and '.join(portions)} count it differently, since their shares do"
            raise Problem("refused", where="daily", why=why, instead="a token for each of them", error="ConflictError")
        for dataset in several:
            await self.desk.ask("grant", dataset, **asked, write=True)
        expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
        told = {"name": name, "role": role, "datasets": datasets, "expires": expires}
        try:
            portion = next(iter(portions.values()), None)
            return await asyncio.to_thread(self.tokens.create, **told, daily=portion)  # type: ignore[arg-type]
        except DitherError as error:
            raise problem_of(error, "quote") from None

    async def list_tokens(self, caller: Caller) -> list[Token]:
        """All tokens, without their secrets."""
        caller.must("own")
        return [token for token in await asyncio.to_thread(self.tokens.list) if self._owns(caller, token)]

    async def revoke_token(self, caller: Caller, id: str) -> Token:  # noqa: A002
        """Let a token end now."""
        if not any(token.id == id for token in await self.list_tokens(caller)):
            raise absent()
        return await asyncio.to_thread(self.tokens.revoke, id)

    def _owns(self, caller: Caller, token: Token) -> bool:
        """Whether all that a token may be used for is the caller's."""
        return ALL in caller.datasets or set(token.datasets) <= set(caller.datasets)
