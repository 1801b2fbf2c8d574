"""A dataset: private tables, a policy, a ledger for the budget. `open` reads a policy file."""

from __future__ import annotations

from functools import cached_property
from operator import index
from pathlib import Path
from typing import SupportsIndex, Unpack, overload

from dither.arguments import argument_errors
from dither.errors import ConflictError, DataError, PolicyError
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.numeric.representation import LONGEST_LINE, cut
from dither.privacy.guarantee.guarantee import Guarantee
from dither.query.batch import Batch, make_batch
from dither.query.budget_plan.budget_plan import BudgetPlan, make_plan
from dither.query.budget_plan.planned_question import PlanLike
from dither.query.features import Features, make_features
from dither.query.free_quote import free_quote
from dither.query.holdings import Holdings
from dither.query.owner.create_ledger import ledger_facts, place
from dither.query.policy.policy import Policy, load_policy
from dither.query.pricing.ask import (
    Ask,
    BoundsWord,
    ErrorsLike,
    LimitsWord,
    NoiseKind,
    QuestionLike,
    QuestionsLike,
    SpreadLike,
    Terms,
    Way,
)
from dither.query.pricing.offer_cache import OfferCache
from dither.query.public_constants import with_public_constants
from dither.query.public_quote import public_quote
from dither.query.quote import Quote, make_quote
from dither.query.sources.find_source import find_source
from dither.query.sources.spark_session import SparkSessionLike
from dither.query.sql.ibis import as_sql
from dither.terminal import Explanation


@argument_errors
class Dataset(Holdings):
    """Private tables under a policy, with the ledger of their budget. Made by `dither.open` and `dither.protect`.

    Args:
        policy: what is protected, and within which bounds and limits.
        ledger: keeps the privacy budget and the answers.
        sources: where the rows of each table are, by its name.

    Raises:
        QuestionError, NumberError, GuaranteeError, UnitError, BudgetError: by `quote`, which see.

    Example:
        >>> import tempfile, pyarrow, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
        >>> people = dither.protect(pyarrow.table({"age": [31, 44]}), name="people", person="each row", ledger=ledger)
        >>> print(people.explain())
        Domain     people: add/remove one person
        Table      people: one row a person
                     age: integer, may be missing
        Budget     100%: ε = 3 left of ε = 3 (add/remove one person)
        >>> people.quote("SELECT COUNT(*) AS n FROM people", error={"n": 6}).errors
        {'n': 6.0}
        >>> folder.cleanup()
    """

    @overload
    def quote(self, sql: QuestionLike, **terms: Unpack[Terms]) -> Quote: ...

    @overload
    def quote(self, sql: QuestionsLike, **terms: Unpack[Terms]) -> Batch: ...

    @argument_errors
    def quote(
        self,
        sql: QuestionLike | QuestionsLike,
        *,
        epsilon: NumberLike | None = None,
        rho: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        error: ErrorsLike | None = None,
        confidence: NumberLike = "0.95",
        size: SupportsIndex | None = None,
        spread: SpreadLike | None = None,
        bounding: Way | None = None,
        delta: NumberLike | None = None,
        other: str | None = None,
        noise: NoiseKind | None = None,
        intervals: bool | NumberLike = True,
        limits: LimitsWord | None = None,
        bounds: BoundsWord | None = None,
    ) -> Quote | Batch:
        """Price and error of a question, in SQL or as an Ibis expression; reads no data, costs nothing. A list is a batch.

        The price is stated in exactly one way: `epsilon`, `rho`, `guarantee` or `error`. A question that needs no row is
        free, and needs no price: `LIMIT 0`, `SELECT DISTINCT ward` of declared keys, questions about public tables alone.

        Args:
            sql: a SELECT of aggregates, or an Ibis expression; a list or tuple of them is charged and released as one.
            epsilon: the price in epsilon; under a budget with a delta, at that delta.
            rho: the price in zero-concentrated differential privacy.
            guarantee: the price as a guarantee, such as `pure('0.5')`.
            error: how far each aggregate may be off, by its name; the least price with that error is taken.
            confidence: the probability of each error bar, such as 0.95 or '95%'.
            size: a public guess of how many rows a group has; averages need it for their error.
            spread: public guesses of standard deviations by column, such as {'cost': 300}; STDDEV, CORR and the like need
                them for their error.
            bounding: how the rows of one person are limited: 'weights', 'clip' or 'groups'; left out, the best that fits.
            delta: the largest probability that an undeclared key of one person alone is shown; left out, 1% of the budget's.
            other: the name under which rows of keys that are not shown are counted together.
            noise: 'gaussian' or 'geometric'; left out, Gaussian where the budget counts rho and geometric where it does not.
            intervals: of medians and other quantiles, whether part of the price goes to the ends of their intervals: True
                for two thirds, False for nothing and no ends, or a share such as '1/2'.
            limits: 'auto' to find privately how many rows, or how much of a sum, of one person count, at a fifth of the
                price; 'hard' for those that nobody can exceed, so that error bars hold the truth, or to be refused; left
                out, as the policy says.
            bounds: 'auto' to find privately the bounds of columns that are added up, at a fifth of the price.

        Raises:
            QuestionError: the SQL is not answered here, or an option does not fit the question.
            NumberError: the price is stated in no way or in several, or a number is outside its range.
            GuaranteeError: the budget does not count such a price, or such noise.
            UnitError: the guarantee is about other neighbours than the budget.
            BudgetError: it costs more than the policy allows for one question.
        """
        terms: Terms = {"epsilon": epsilon, "rho": rho, "guarantee": guarantee, "error": error, "confidence": confidence}
        terms |= {"size": size, "spread": spread, "bounding": bounding, "delta": delta, "other": other, "noise": noise}
        terms |= {"intervals": intervals, "limits": limits, "bounds": bounds}
        if isinstance(sql, (list, tuple)):
            return make_batch(Ask(text=[with_public_constants(as_sql(one), self) for one in sql], **terms), self)
        found = public_quote(as_sql(sql), self)
        if found is not None:
            return found
        text = with_public_constants(as_sql(sql), self)
        ask = Ask(text=text, **terms)
        known = self._offers.find(ask, self.ledger.budget)
        if known is not None:
            return Quote(known, self, ask)
        free = free_quote(text, self)
        if free is not None:
            return free
        made = make_quote(ask, self)
        self._offers.keep(ask, made.offer)
        return made

    @cached_property
    def _offers(self) -> OfferCache:
        """Those that were made lately. Policy, ledger and sources of a dataset never change."""
        return OfferCache()

    def plan(self, questions: PlanLike, *, analyst: str | None = None) -> BudgetPlan:
        """What questions cost together over a year, what is left, what does not fit and what would. Costs nothing.

        Each of the times is a charge: the question is asked of new data, under a new `data_version`. On the same data it
        costs once, and is answered from the store after that. Prices are those of `quote`; no row is read.

        Args:
            questions: the path of a plan file, or a list of mappings: 'sql' (a text, or a list of texts that are asked as
                one), 'times' (a whole number, or 'once', 'yearly', 'quarterly', 'monthly', 'weekly', 'daily'), perhaps a
                'name', and the keywords of `quote`: 'error', 'epsilon' or 'rho', and others.
            analyst: who will ask, where the ledger has shares: the plan must fit the share too.

        Raises:
            DataError: the plan cannot be read, says too little or what is not known, or there is no such share.
            SizeError: it has no question, or more than 1000.
            ConflictError: a question is in it twice, at the same price.
            QuestionError, NumberError, GuaranteeError: by `quote`, with the number of the question.

        Example:
            >>> import tempfile, pyarrow, dither
            >>> folder = tempfile.TemporaryDirectory()
            >>> ledger = dither.Ledger.create(folder.name + "/people.ledger", budget=dither.pure(3))
            >>> people = dither.protect(pyarrow.table({"age": [31, 44]}), name="people", person="each row", ledger=ledger)
            >>> plan = people.plan([{"sql": "SELECT COUNT(*) AS n FROM people", "times": "monthly", "error": {"n": 20}}])
            >>> plan.fits, plan.left
            (True, '41.5%')
            >>> folder.cleanup()
        """
        return make_plan(questions, self.policy.domain, self.ledger, analyst, lambda one: self.quote(one.sql, **one.terms))

    def features(self, sql: str, *, target: str | None = None, max_rows: SupportsIndex | None = None) -> Features:
        """Rows to fit a model of `dither.learn` to: a handle that `fit` takes, with bounds and keys from the policy.

        No row is read before the fit is charged, and no row leaves this process. The same fit again costs nothing.

        Args:
            sql: a SELECT of columns, each with bounds or keys.
            target: the column that is to be predicted, one of those that are selected.
            max_rows: how many rows of a person count; left out, as many as the policy lets.

        Raises:
            QuestionError: the SQL is not read here, or a column has neither bounds nor keys.
            DataError: there is no such target, or more rows of a person than the policy lets count.
        """
        return make_features(sql, self, target, None if max_rows is None else index(max_rows))

    def __repr__(self) -> str:
        tables = ", ".join(table.name for table in self.policy.tables)
        told = (
            f"{self.policy.domain!r}, tables: {tables}, budget: {self.ledger.budget.ceiling}, ledger: {self.ledger.location}"
        )
        return cut(f"Dataset({told})", LONGEST_LINE)

    def explain(self) -> Explanation:
        """What is protected, how, and what is left of the budget."""
        lines = [self.policy.explain()[:], *self.engine_words, f"Budget     {self.ledger.remaining()}"]
        return Explanation("\n".join(lines))


@argument_errors
def open(path: str | Path, *, spark: SparkSessionLike | None = None) -> Dataset:  # noqa: A001 - as `dither.open`
    """The dataset of a policy file. Its ledger was made before: see `create_ledger`.

    Args:
        path: a TOML file, see `dither policy init`; paths in it are relative to its folder.
        spark: the session that reads sources such as 'spark:clinic.visits'; it is never changed.

    Raises:
        PolicyError: the file cannot be read, says too little, too much or two things at once, or names no ledger yet.
        DataError: a source is not there, or is no table.
        ConflictError: the ledger was spent under another policy, or is another one than the policy names.
        LedgerError: the ledger cannot be opened.

    Example:
        >>> import tempfile, pathlib, dither
        >>> folder = tempfile.TemporaryDirectory()
        >>> _ = pathlib.Path(folder.name, "people.csv").write_text("age\\n31\\n44\\n62\\n")
        >>> _ = pathlib.Path(folder.name, "policy.toml").write_text('''
        ... version = 1
        ... domain = "people"
        ... ledger = { location = "people.ledger", budget = { epsilon = "3" } }
        ... [tables.people]
        ... source = "people.csv"
        ... person = "each row"
        ... columns = { age = { type = "integer", bounds = [0, 100] } }
        ... ''')
        >>> _ = dither.create_ledger(folder.name + "/policy.toml", write=True)
        >>> dither.open(folder.name + "/policy.toml").quote("SELECT COUNT(*) AS n FROM people", epsilon="0.5").affordable
        6
        >>> folder.cleanup()
    """
    if not isinstance(path, (str, Path)):
        raise DataError("policy", path, "it is not a path", "'policy.toml'")
    return _opened(Path(path), private=True, spark=spark)


def open_without_rows(path: Path) -> Dataset:
    """The same without its private sources: it can quote, and its ledger can be read, and no private row can."""
    return _opened(path, private=False)


def _opened(path: Path, *, private: bool, spark: SparkSessionLike | None = None) -> Dataset:
    policy = load_policy(path)
    folder = path.resolve().parent
    sources = {
        table.name: find_source(table.source, folder, f"tables.{table.name}.source", table.dialect, spark).under(
            policy.engine
        )
        for table in policy.tables
        if table.source is not None and (private or table.public)
    }
    ledger = policy_ledger(path, policy)
    try:
        put_in_force(policy, ledger)
    except BaseException:
        ledger.close()
        raise
    return Dataset(policy, ledger, sources)


def policy_ledger(path: Path, policy: Policy) -> Ledger:
    """The ledger that the policy of a file names, opened; PolicyError where it names none yet."""
    facts = ledger_facts(path)
    if facts.identity is None:
        why = "it names no ledger yet: one is made once, so that nobody starts with a full budget again"
        raise PolicyError("ledger.identity", None, why, f"dither ledger create --policy {path} --write")
    return Ledger(
        place(facts.location, path),
        budget=facts.budget,
        domain=policy.domain,
        identity=facts.identity,
        shares=dict(facts.shares),
        witness=None if facts.witness is None else place(facts.witness, path),
    )


def put_in_force(policy: Policy, ledger: Ledger) -> None:
    """Bind the ledger to the policy. While nothing is spent the owner may correct the policy, which is recorded."""
    if ledger.policy_hash == policy.hash:
        return
    try:
        ledger.amend(policy.hash, loosens=True, note="before anything was spent", unspent=True)
    except ConflictError as error:
        instead = "that policy, or: dither ledger amend LOCATION --policy FILE, which is recorded"
        raise ConflictError("policy", policy.hash[:16], error.why, instead) from None
