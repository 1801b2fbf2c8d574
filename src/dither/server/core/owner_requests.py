"""What owners and auditors ask of a gateway: datasets and their health, history, the difference of policies, tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from dither.errors import DitherError
from dither.server.core.callers import ALL, Caller
from dither.server.core.config import GatewayConfig, GatewayDataset
from dither.server.core.problems import Problem, absent, problem_of
from dither.server.core.processes.desk import Desk
from dither.server.core.processes.wizard_process import WizardProcess
from dither.server.core.processes.worker_pool import WorkerPool
from dither.server.core.roles import Role
from dither.server.core.tokens import Token, TokenStore

Json = dict[str, Any]


class OwnerRequests:
    """The part of a gateway for those who answer for it."""

    known: dict[str, GatewayDataset]
    desk: Desk
    tokens: TokenStore
    workers: WorkerPool
    config: GatewayConfig
    new_data: WizardProcess | None

    def _dataset(self, caller: Caller, name: str) -> GatewayDataset:
        found = self.known.get(name)
        if found is None or not caller.sees(name):
            raise absent()
        return found

    # -- datasets, for owners ----------------------------------------------------------------------------------------

    async def owner_dataset(self, caller: Caller, dataset: str) -> Json:
        """What an owner is told of a dataset: policy, sources, ledger, budget; `opens` is false where it does not open."""
        policy = self._dataset(caller, dataset).policy
        caller.must("own", dataset)
        return {"name": dataset, **await self.desk.ask("owner_facts", dataset, policy=str(policy))}

    async def owner_datasets(self, caller: Caller) -> list[Json]:
        """The same of each dataset of the owner's; one that cannot be asked about now keeps none of the others."""
        caller.must("own")
        found = []
        for name in self.known:
            if caller.sees(name):
                try:
                    found.append(await self.owner_dataset(caller, name))
                except Problem as problem:
                    told = {"where": problem.where, "came": problem.came, "why": problem.why, "instead": problem.instead}
                    found.append({"name": name, "opens": False, "problem": told})
        return found

    async def owner_health(self, caller: Caller) -> Json:
        """Which processes of the gateway can be asked."""
        caller.must("own")
        return {"workers": self.workers.alive, "wanted": self.config.workers, "desk": self.desk.alive}

    async def shares_left(self, caller: Caller, names: Sequence[str]) -> dict[str, Json]:
        """What is left of the shares of analysts, by dataset and by name; a dataset that cannot be asked now is left out."""
        caller.must("own")
        found: dict[str, Json] = {}
        for dataset in self.known:
            if caller.sees(dataset):
                with suppress(Problem):
                    told = (await self.desk.ask("shares", dataset, names=list(names)))["shares"]
                    found[dataset] = {share["name"]: share for share in told if share["name"] in names}
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

    async def shares(self, caller: Caller, dataset: str) -> Json:
        """What those whom the caller gave a token, or the policy a share, have of the budget, and what is left of it."""
        caller.must("own", self._dataset(caller, dataset).name)
        tokens = await self.list_tokens(caller)
        names = {token.name for token in tokens if dataset in token.datasets or ALL in token.datasets}
        return await self.desk.ask("shares", dataset, names=sorted(names))

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

    async def token_grants(
        self, caller: Caller, *, name: str, role: Role = "analyst", datasets: Sequence[str], share: Json | None = None
    ) -> dict[str, Json]:
        """What a token would have of each of its datasets, in words and with cautions; nothing is written.

        Raises:
            Problem: `create_token` would refuse it.
        """
        caller.must("own")
        for dataset in datasets:
            if dataset != ALL:
                self._dataset(caller, dataset)
            elif ALL not in caller.datasets:
                raise Problem("forbidden", why="this token is not for all datasets", instead="the names of datasets")
        asked = {"name": name, "role": role, "share": share or {}, "write": False}
        several = list(self.known) if ALL in datasets else list(dict.fromkeys(datasets))
        grants = {dataset: await self.desk.ask("grant", dataset, **asked) for dataset in several}
        if len({grant["portion"] for grant in grants.values()}) > 1:
            why = f"{' and '.join(grants)} count it differently, since their shares do"
            raise Problem("refused", where="daily", why=why, instead="a token for each of them", error="ConflictError")
        return grants

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
        asked: Json = {"name": name, "role": role, "share": share or {}}
        grants = await self.token_grants(caller, **asked, datasets=datasets)  # all are looked at before anything is written
        for dataset in grants:
            await self.desk.ask("grant", dataset, **asked, write=True)
        expires = None if days is None else datetime.now(UTC) + timedelta(days=days)
        told = {"name": name, "role": role, "datasets": datasets, "expires": expires}
        try:
            portion = next((grant["portion"] for grant in grants.values()), None)
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
