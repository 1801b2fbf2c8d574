"""The share that comes with a token which an owner makes over HTTP: the same rules as of `dither token create`."""

from __future__ import annotations

from typing import Any

from dither.errors import ConflictError, DataError
from dither.ledger.ledger import Ledger
from dither.privacy.budget.filter import ZcdpFilter
from dither.query.policy.policy import Policy
from dither.server.core.token_shares import Grant, ShareTerms, read_grant, write_shares

Json = dict[str, Any]


def grant_share(policy: Policy, ledger: Ledger, message: Json) -> Json:
    """What a name has of a dataset: looked at, and written into the ledger where `write` says so.

    Args:
        policy: that of the dataset.
        ledger: that of the dataset.
        message: `dataset`, `analyst`, `role`, `write`; `share` and `daily`, each {"epsilon" or "rho", "delta"} or None.

    Raises:
        DataError: the name has another share, or none where all who ask need one; or the portion is not of the share.
        NumberError, GuaranteeError, UnitError: the share is none.
    """
    dataset, name, share, daily = (message[part] for part in ("dataset", "analyst", "share", "daily"))
    amount = None if daily is None else daily.get("epsilon") or daily.get("rho")
    stated = {part: (share or {}).get(part) for part in ("epsilon", "delta", "rho")}
    try:
        grant = read_grant(dataset, policy, ledger, name, message["role"], ShareTerms(**stated, daily=amount))
    except ConflictError as error:  # of the owner's own making: she is told which
        raise DataError(error.where, error.came, error.why, error.instead) from None
    if daily is not None:
        _must_count_alike(grant, daily)
    if message["write"]:
        write_shares({dataset: (policy, ledger)}, name, [grant])
    return {"portion": None if grant.portion is None else grant.portion.to_json()}


def _must_count_alike(grant: Grant, daily: Json) -> None:
    """Refuse a portion in rho of a share in epsilon, or with a delta that is not the share's."""
    counts = "rho" if isinstance(grant.limit, ZcdpFilter) else "epsilon"
    if daily.get(counts) is None:
        raise DataError("daily", daily, f"the share counts {counts}", f'{{"{counts}": ...}}, a part of the share')
    if grant.limit is None or daily.get("delta") is None:
        return
    again = ShareTerms(**{counts: daily[counts]}, delta=daily["delta"]).limit(grant.limit)
    if again is not None and grant.portion is not None and again.ceiling != grant.portion:
        raise DataError("daily.delta", daily["delta"], "it is not that of the share", "leaving it out")
