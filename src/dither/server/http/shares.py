"""Shares of budgets, as owners state them over HTTP: an epsilon and a delta, or a rho, in the unit of the datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dither.errors import DitherError
from dither.privacy.guarantee.definitions import approx, zcdp
from dither.server.core.callers import ALL, Caller
from dither.server.core.gateway import Gateway
from dither.server.core.problems import Problem, problem_of
from dither.server.http.models import Ceiling
from dither.server.http.refusals import refused


async def unit_of(gateway: Gateway, caller: Caller, datasets: Sequence[str]) -> str:
    """The unit that all the datasets have; a share of datasets with several units is no one number."""
    every = await gateway.datasets(caller) if ALL in datasets else [await gateway.dataset(caller, name) for name in datasets]
    units = {each["unit"] for each in every}
    if len(units) != 1:
        raise refused("datasets", "they have different units, and a share is counted in one", "a token for each of them")
    unit: str = units.pop()
    return unit


def stated_of(stated: Ceiling | None, unit: str, where: str) -> dict[str, Any] | None:
    """What is stated, as it was written: a delta that is left out is that of the budget, which is not known here."""
    if stated is None:
        return None
    if (stated.epsilon is None) == (stated.rho is None):
        raise refused(where, "it states epsilon or rho, and perhaps delta", '{"epsilon": "0.5", "delta": "1e-7"}')
    delta = "0" if stated.delta is None else stated.delta
    try:
        if stated.rho is not None:
            zcdp(stated.rho, delta=delta, unit=unit)
        else:
            approx(stated.epsilon or "", delta, unit=unit)
    except DitherError as error:
        problem: Problem = problem_of(error, "quote")
        problem.where = f"{where}.{problem.where}"
        raise problem from None
    return {"epsilon": stated.epsilon, "delta": stated.delta, "rho": stated.rho}
