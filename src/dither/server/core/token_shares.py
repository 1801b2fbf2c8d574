"""The shares that come with a token: what its name may spend of each dataset, written into the ledgers.

A token has no money of its own. Whoever asks with it asks under its name, and a ledger knows names: two tokens of one name,
of one gateway or of two, spend one share. Everything is looked at first, for all datasets, and refused before anything is
written; what is written stays when a later step fails, and the same command again finds it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from dither.errors import ConflictError, DataError, NumberError
from dither.ledger.entries.budget import read_ceiling
from dither.ledger.entries.texts import read_name
from dither.ledger.ledger import Ledger
from dither.numeric.number import Number, exact, rational
from dither.privacy.budget.filter import ApproxFilter, Filter, Spent, SumFilter, ZcdpFilter
from dither.privacy.guarantee.definitions import approx, gdp, zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.dataset import policy_ledger
from dither.query.policy.policy import Policy, load_policy
from dither.server.core.config import GatewayConfig
from dither.server.core.roles import ROLES, Role
from dither.server.core.tokens import ALL


@dataclass(frozen=True)
class ShareTerms:
    """A share as it was stated: an epsilon, perhaps with a delta, or a rho; and how much of it in a day."""

    epsilon: str | None = None
    delta: str | None = None  # left out: that of the budget
    rho: str | None = None
    daily: str | None = None  # in what the share counts: epsilon or rho

    def limit(self, budget: Filter) -> Filter | None:
        """The share under a budget; None where none was stated."""
        if self.epsilon is not None and self.rho is not None:
            stated = (self.epsilon, self.rho)
            raise NumberError("epsilon, rho", stated, "a share is stated in one of them", "epsilon='0.5', or rho='0.01'")
        if self.epsilon is None and self.rho is None:
            if self.delta is not None:
                raise NumberError("delta", self.delta, "there is no share that it belongs to", "epsilon='0.5' beside it")
            return None
        delta = budget.ceiling.charge().delta if self.delta is None else self.delta
        if self.rho is not None:
            return read_ceiling(zcdp(self.rho, delta=delta, unit=budget.unit), name="rho")
        return read_ceiling(approx(self.epsilon or "0", delta, unit=budget.unit), name="epsilon")

    def portion(self, share: Filter) -> Guarantee | None:
        """The portion of a day, as the share counts; None where none was stated."""
        if self.daily is None:
            return None
        amount = exact(self.daily, name="daily", positive=True)
        match share:
            case SumFilter() | ApproxFilter():
                whole, portion = share.epsilon, approx(amount, share.delta, unit=share.unit)
            case ZcdpFilter():
                rho = rational(self.daily, name="daily", positive=True)
                whole, portion = Number(share.rho), zcdp(rho, delta=share.delta, unit=share.unit)
            case _:
                why = f"the share is {share.ceiling}, which counts neither epsilon nor rho"
                raise ConflictError("daily", self.daily, why, "a share in one of them")
        if amount > whole:
            raise NumberError("daily", self.daily, f"the whole share is {share.ceiling}", "a part of that")
        return portion


@dataclass(frozen=True)
class Grant:
    """What a name has of one dataset, or will have once it is written."""

    dataset: str
    limit: Filter | None  # the share; None: all of the budget is open, or nothing is asked
    new: bool = False  # it is not in the ledger yet
    shared: bool = False  # the ledger has shares, so that all who ask need one
    portion: Guarantee | None = None
    without_gaussian: bool = False  # the budget pays for Gaussian noise, and the share does not
    above_left: bool = False  # the whole share is more than what is left of the budget, or cannot be held against it

    def words(self, role: Role) -> str:
        """In words, for whoever makes the token."""
        if self.limit is None:
            lacks = "it has no share, and asks nothing until it has one"
            asks = lacks if self.shared else "all of the budget is open to it"
            return f"{self.dataset}: {'it reads, and asks nothing' if role == 'auditor' else asks}"
        day = "" if self.portion is None else f", {self.portion} of it in a day"
        return f"{self.dataset}: a share of {self.limit.ceiling}{day}"


def read_datasets(config: GatewayConfig, role: Role, names: Sequence[str]) -> tuple[str, ...]:
    """The datasets of a token: those that are named; left out, those that there are now, and all for who does not ask."""
    if role not in ROLES:
        raise DataError("role", role, "there is no such role", ", ".join(ROLES))
    known = [dataset.name for dataset in config.datasets]
    for name in names:
        if name != ALL and name not in known:
            raise DataError("dataset", name, "the gateway has no such dataset", f"{', '.join(known)}, or {ALL} for all")
    if ALL in names or (not names and role != "analyst"):
        return (ALL,)
    return tuple(sorted({*(names or known)}))


@contextmanager
def open_ledgers(config: GatewayConfig, datasets: Sequence[str]) -> Iterator[dict[str, tuple[Policy, Ledger]]]:
    """The policies of datasets, and their ledgers, opened: no row is read, nor need the rows be here."""
    with ExitStack() as opened:
        found: dict[str, tuple[Policy, Ledger]] = {}
        for dataset in config.datasets:
            if dataset.name in datasets or ALL in datasets:
                policy = load_policy(dataset.policy)
                found[dataset.name] = (policy, opened.enter_context(policy_ledger(dataset.policy, policy)))
        yield found


def read_grant(dataset: str, policy: Policy, ledger: Ledger, name: str, role: Role, terms: ShareTerms) -> Grant:
    """What a new token of this name has of a dataset. Writes nothing.

    Args:
        dataset: its name.
        policy: that of the dataset, which may state shares itself.
        ledger: that of the dataset.
        name: of the analyst.
        role: of the token.
        terms: the share that was stated for it, if any.

    Raises:
        ConflictError: the name has another share already; or has none, where all who ask need one.
        NumberError, GuaranteeError, UnitError: the share, or its daily portion, is none.
    """
    read_name(name, "name")
    wanted = terms.limit(ledger.budget)
    if role == "auditor" and (wanted is not None or terms.daily is not None):
        raise ConflictError("role", role, "an auditor asks nothing, and has no share", "no price, or another role")
    shared = ledger.shared_out
    held = _held(ledger, name) if shared else None
    if wanted is not None and held is not None and not held.has_ceiling_of(wanted):
        stated = policy.ledger is not None and name in dict(policy.ledger.shares)
        change = "the policy is where another one is stated" if stated else "`dither ledger share` sets another one"
        why = f"{name} has a share of {held.ceiling} of {dataset}, and all tokens of that name spend it"
        raise ConflictError("share", str(wanted.ceiling), why, f"leaving it out; {change}")
    limit = wanted if held is None else held
    if limit is None and terms.daily is not None:
        why = f"a portion of a day is part of a share, and {name} has none of {dataset}"
        raise ConflictError("daily", terms.daily, why, "epsilon='0.5' beside it, which gives a share")
    if limit is None and shared and role == "analyst":
        why = f"{dataset} is shared out, and {name} has no share of it: nothing could be asked"
        raise ConflictError("name", name, why, "epsilon='0.5', which gives a share, or the name of who has one")
    portion = None if limit is None else terms.portion(limit)
    usual = gdp(mu="0.1", unit=ledger.budget.unit)
    lost = limit is not None and ledger.budget.price(usual) is not None and limit.price(usual) is None
    new = held is None and limit is not None
    above = limit is not None and not _covers(ledger.remaining().spent, limit)
    return Grant(dataset, limit, new=new, shared=shared, portion=portion, without_gaussian=lost, above_left=above)


def _covers(left: Spent, share: Filter) -> bool:
    """Whether the budget would still pay for all of a share. A share is a limit and no reserve, so this is for a caution."""
    whole = share.ceilings() if type(share) is type(left.budget) else left.budget.price(share.ceiling)
    kinds = SumFilter | ZcdpFilter | ApproxFilter
    if (
        whole is not None
        and isinstance(share, kinds)
        and isinstance(left.budget, kinds)
        and share.delta == left.budget.delta
    ):
        whole = (*whole[:-1], Number(0))  # it has no δ of its own, but that of the budget as far as it goes
    return whole is not None and left.budget.paid(left, whole) is not None


def write_shares(ledgers: Mapping[str, tuple[Policy, Ledger]], name: str, grants: Sequence[Grant]) -> None:
    """Write shares that are new into their ledgers, each once: two datasets may have one ledger."""
    done: set[str] = set()
    for grant in grants:
        ledger = ledgers[grant.dataset][1]
        if grant.new and grant.limit is not None and ledger.identity not in done:
            ledger.share(name, grant.limit)
            done.add(ledger.identity)


def one_portion(grants: Sequence[Grant]) -> str | None:
    """The portion of a day that a token carries, as JSON; refused where datasets count it differently."""
    found = {grant.dataset: None if grant.portion is None else grant.portion.to_json() for grant in grants}
    if len({*found.values()}) > 1:
        why = f"{' and '.join(found)} count it differently, since their shares do"
        raise ConflictError("daily", ", ".join(str(grant.portion) for grant in grants), why, "a token for each of them")
    return next(iter(found.values()), None)


def _held(ledger: Ledger, name: str) -> Filter | None:
    try:
        return ledger.remaining(name).spent.budget
    except DataError:
        return None
