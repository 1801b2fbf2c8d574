"""Every refusal leads on: its rewrite is quoted and released on made-up rows, and the refusal itself costs nothing."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from contextlib import suppress

import pyarrow
import pytest

import dither
from dither.errors import QuestionError
from dither.query.dataset import Dataset
from dither.query.free_quote import FreeQuote
from dither.query.pricing.make_offer import read_question
from dither.query.sources.find_source import find_source
from dither.query.sql.parse import parse
from tests.query import owners
from tests.query.refusals.questions import SQL, questions, recorded, refused, site_of, sites
from tests.query.sql.test_parse import COLUMNS, POLICY

KINDS = {
    **{"integer": pyarrow.int64(), "text": pyarrow.string(), "decimal": pyarrow.float64(), "float": pyarrow.float64()},
    **{"boolean": pyarrow.bool_(), "date": pyarrow.date32(), "timestamp": pyarrow.timestamp("us")},
}
# Refusals that propose no whole question, by a part of the reason, and why there is none.
NO_QUESTION = {
    "there is no question in it": """
        it is not SQL
        only SELECT is answered
        does not read as SQL
        signs in it that no text can hold
    """,
    "it is too large to be written again": """
        longer than 20000
        more than 4000 words
        nested more than 60
        more than 10000 parts
        more than 100 columns
        1 to 200 columns
        of 1 to 1000 constants
        more than 2000 characters
        more than 30 tables
        are read
        more than 20 columns
        more than 20 windows
        public tables could multiply
        list of 1 to 1000
    """,
    "a number of ordinary size is the analyst's to say": """
        beyond 2^500
        bounds are too
        beyond 2^53
        too far from zero
    """,
    "which of the columns, or tables, is the analyst's to say": """
        has no such column
        compared with
        a difference is of dates
        different columns
        gives the name
        two tables are called
        the question names two
        something else than that table
        printable characters
        is no name
        computed from itself
        could be computed with
    """,
    "the policy decides it": """
        one row is one person
        persons are of different types
        in one of these a row
        it is public
    """,
    "nothing that is answered is near it": """
        not on the list of what may be computed
        no value by itself
        arithmetic needs numbers
        leaves no day
    """,
    "a running sum needs a key": """
        ordered by a key of GROUP BY
    """,
    "a window needs an order, or another place, that is the analyst's to say": """
        nobody knows which row comes first
        puts no row before another
        into another window
        windows show single rows
        has no frame
        its frame ends at the row itself
        counted by an inner question
        not answered within one person
        looks at the rows that GROUP BY has made
        the same for every row
        only numbers with bounds are added up
        a window looks at rows of one person
    """,
    "the clause about privacy is not rewritten": """
        no such option
        stated twice
        an option is
        is a number
        are not read
        below 1
        NULL is no limit
        whole number from 1 on
        name of one column
        has no end
        belongs to the outermost
        bounds are the policy's
        the policy says whose a row is
        options may only tighten
    """,
    "joins say which equality is meant": """
        every row would meet every other
        joined by equalities
        one table on its left
        of different types are joined
        JOIN
        a table joined with itself
        joined on the person
        an owner from the first table on
        an equality of the two persons must be among
        no person with a name
    """,
    "questions within a condition": """
        question within a condition
        an inner total over several people
        several values at once are compared by IN
        is about a table
        NULL is no value
    """,
    "several groupings are several questions": """
        so parts need not add up
        does not add up over groups
        put together after they have come
        is about windows over the answer
    """,
}
REASONS = [part.strip() for parts in NO_QUESTION.values() for part in parts.strip().splitlines()]
# Sites that no question of the tests reaches through the reader of questions.
UNREACHED = {
    "clauses/min_group_size.py": "by a policy with the rule: tests/query/groups/test_min_group_size.py",
    "clauses/public_table.py": "of questions that are free: tests/query/test_free_quote.py",
    "ibis.py": "of expressions of Ibis: tests/query/sql/test_ibis.py",
    "derived.py": "written out too long; or a window over what SELECT does not ask for: tests/query/answers/test_derived.py",
    "domains.py": "of domains that WHERE leaves empty or broken: tests/query/sql/test_domains.py",
    "from_clause.py": "an inner question without a name, which is given one before",
    "joins.py": "a join without ON, which is refused before as one of several",
    "options.py": "the refusal of a token, which others call",
    "person_windows/window_columns.py": "written out too long",
    "rewrites/equivalents.py": "written out too long",
    "scope.py": "of columns that cannot be read: tests/query/sources/test_source.py",
    "syntax.py": "the refusal of a node, which others call",
    "windows.py": "running sums of what cannot be one: tests/query/statistics/test_running_counts.py",
    "aggregates.py": "of two columns: tests/query/counters/test_pair_estimators.py",
    "clauses/grouping_sets.py": "of several groupings: tests/query/test_grouping_answers.py",
    "clauses/having.py": "groups beyond the bounds: tests/query/sql/test_having.py",
    "clauses/qualify.py": "of windows over the answer: tests/query/answers/test_derived.py",
    "clauses/released_columns.py": "OFFSET that is no number",
    "clauses/scalar_subqueries.py": "of scalar subqueries: tests/query/pricing/test_scalar_subqueries.py",
    "dates/written_dates.py": "a time beside a day: tests/query/sql/test_row_expressions.py",
    "group_keys.py": "keys that a subquery would decide: tests/query/pricing/test_scalar_subqueries.py",
    "join_kinds/conditions.py": "conditions of outer joins: tests/query/plan/test_other_rows.py",
    "mathematics.py": "of functions of numbers: tests/query/plan/test_mathematics.py",
    "rewrites/column_lists.py": "names of columns: tests/query/sql/rewrites/test_column_lists.py",
    "rewrites/person_subqueries.py": "of subqueries about the person: tests/query/test_subquery_joins.py",
}


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Both clinics with some rows, by the name of the policy's domain and its tables."""
    folder, rng = tmp_path_factory.mktemp("books"), random.Random(5)
    found = {}
    visits = pyarrow.table({name: pyarrow.nulls(3, KINDS[facts["type"]]) for name, facts in COLUMNS.items()})
    visits = visits.set_column(0, "patient_id", pyarrow.array([1, 1, 2]))
    people = pyarrow.table({"age": pyarrow.array([3, None], pyarrow.int64())})
    rows = owners.clinic(rng)
    theirs = {name: owners.table_of(name, rows[name], rng) for name in owners.TABLES}
    for policy, tables in ((POLICY, {"visits": visits, "people": people}), (owners.policy(), theirs)):
        ledger = dither.Ledger.create(folder / f"{len(found)}.ledger", budget=dither.approx(10**6, "1e-2", unit=policy.unit))
        ledger.bind(policy.domain, policy.hash)
        sources = {name: find_source(table, None, name) for name, table in tables.items()}
        found[policy.hash] = Dataset(policy, ledger, sources)
    return found


@pytest.fixture(scope="module")
def refusals():
    with recorded():
        return [(sql, policy, refused(sql, policy)) for sql, policy in questions()]


def test_every_refusal_has_a_rewrite_or_a_reason_why_not(refusals):
    without = []
    used = Counter()
    for sql, _, error in refusals:
        assert error is not None, sql
        assert len(str(error)) < 1_000
        assert not error.instead.startswith("None")
        if error.rewrite is None:
            reasons = [part for part in REASONS if part in error.why]
            used.update(reasons)
            without += [(sql[:100], error.why, error.instead)] if not reasons else []
    assert without == []
    assert [part for part in REASONS if part not in used] == []  # a reason that no refusal needs any more goes
    assert sum(error.rewrite is not None for _, _, error in refusals) > 300


def test_every_rewrite_is_quoted_and_released_and_refusals_cost_nothing(asked, refusals):
    done = set()
    for sql, policy, error in refusals:
        data = asked[policy.hash]
        before = data.ledger.remaining().used
        with suppress(QuestionError):  # or it is free, and needs no row
            assert isinstance(data.quote(sql, epsilon="0.01"), FreeQuote), sql
        assert data.ledger.remaining().used == before, sql
        if error.rewrite is not None and (policy.hash, error.rewrite) not in done:
            done.add((policy.hash, error.rewrite))
            data.quote(error.rewrite, epsilon="0.01").release()
    assert len(done) > 200


def test_every_place_that_refuses_is_reached(refusals):
    """Counted in the source: what is new there needs a question in the table, or a reason here."""
    reached = {site_of(error) for _, _, error in refusals}
    missing = [site for site in sites() if site not in reached]
    assert [site for site in missing if site[0] not in UNREACHED] == []
    assert {site[0] for site in missing} == set(UNREACHED)
    assert len(missing) <= 51
    assert len(sites()) > 230
    assert SQL.is_dir()


# -- what is proposed ------------------------------------------------------------------------------------------------------

REWRITES = [
    ("age = '1'", "age = 1"),
    ("smokes = 1", "smokes = TRUE"),
    ("age = NULL", "age IS NULL"),
    ("age <> NULL", "NOT age IS NULL"),
    ("age IN (1, NULL)", "age IN (1) OR age IS NULL"),
    ("name ~ '^a'", "name LIKE 'a%'"),
    ("name ~ 'a.c$'", "name LIKE '%a_c'"),
    ("name GLOB 'a*'", "name LIKE 'a%'"),
    ("name LIKE ANY ('a', 'b')", "name LIKE 'a' OR name LIKE 'b'"),
    ("smokes IS TRUE", "COALESCE(smokes, FALSE)"),
    ("smokes IS NOT FALSE", "NOT (NOT COALESCE(smokes, TRUE))"),
    ("CAST(age AS VARCHAR) = '1'", "age = 1"),
    ("CAST(name AS INT) = 1", "name = '1'"),
    ("DAYNAME(seen) = 'Monday'", "EXTRACT(ISODOW FROM seen) = 1"),
    ("seen - born > INTERVAL '3 days'", "seen - born > 3"),
    ("greatest(smokes, TRUE)", "smokes OR TRUE"),
    ("agee = 1", "age = 1"),
    ("SUM(age) > 3 AND age > 2", "age > 2 HAVING SUM(age) > 3"),
    ("CASE WHEN smokes THEN NULL ELSE TRUE END", "CASE WHEN NOT COALESCE((smokes), FALSE) THEN TRUE END"),
    ("(age, ward) NOT IN ((1, 'A'))", "NOT (age = 1 AND ward = 'A')"),
]


@pytest.mark.parametrize(("condition", "rewrite"), REWRITES)
def test_conditions_are_rewritten(condition, rewrite):
    error = refused(f"SELECT COUNT(*) FROM visits WHERE {condition}", POLICY)
    assert error.rewrite == f"SELECT COUNT(*) FROM visits WHERE {rewrite}"


WHOLE = [
    (
        "SELECT CASE WHEN age > 20 THEN 'long' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
        "SELECT CASE WHEN age > 20 THEN 'long' ELSE 'other' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
    ),
    ("SELECT COUNT(DISTINCT name, ward) FROM visits", "SELECT COUNT(DISTINCT CONCAT(name, ' ', ward)) FROM visits"),
    ("SELECT patient_id, COUNT(*) FROM visits GROUP BY 1", "SELECT COUNT(*), COUNT(DISTINCT patient_id) FROM visits"),
    ("SELECT AVG(cost) FROM visits GROUP BY cost", "SELECT AVG(cost) FROM visits GROUP BY WIDTH_BUCKET(cost, 0, 2000, 10)"),
    ("SELECT name, 3 * age FROM visits LIMIT 3", "SELECT COUNT(name), COUNT(3 * age) FROM visits LIMIT 3"),
    ("SELECT ward FROM visits GROUP BY ward", "SELECT ward, COUNT(*) FROM visits GROUP BY ward"),
    ("EXPLAIN SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits"),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(*) FROM visits"),
    (
        "SELECT YEAR(born) AS y, COUNT(*) FROM visits WHERE smokes GROUP BY y",
        "SELECT YEAR(born) AS y, COUNT(*) FROM visits WHERE smokes AND born BETWEEN CAST('2020-01-01' AS DATE)"
        " AND CAST('2029-12-31' AS DATE) GROUP BY y",
    ),
]


@pytest.mark.parametrize(("sql", "rewrite"), WHOLE)
def test_questions_are_rewritten(sql, rewrite):
    error = refused(sql, POLICY)
    assert error.rewrite == rewrite
    assert error.__notes__ == [f"The whole question: {rewrite}"]


def test_inner_questions_get_the_person():
    policy = owners.policy()
    sql = "SELECT COUNT(*) FROM (SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward) v"
    found = refused(sql, policy).rewrite
    assert found == "SELECT COUNT(*) FROM (SELECT person, ward, SUM(cost) AS cost FROM visits GROUP BY person, ward) AS v"


def test_a_rewrite_crosses_processes_and_an_answered_question_has_none():
    error = refused("SELECT COUNT(*) FROM visits WHERE age = NULL", POLICY)
    again = pickle.loads(pickle.dumps(error))
    assert (again.rewrite, str(again)) == (error.rewrite, str(error))
    assert QuestionError("a", 1, "b", "c").rewrite is None


@pytest.mark.parametrize("planted", ["SELECT nothing FROM nowhere", "COUNT(", "one of them", "WHERE", "DROP TABLE visits"])
def test_a_proposal_that_is_not_answered_is_never_told(monkeypatch, planted):
    """The planted bug: a refusal that proposes what is refused in turn."""
    monkeypatch.setattr("dither.query.sql.proposals.unknown_nodes.instead_of_expression", lambda node: planted)
    error = refused("SELECT COUNT(*) FROM visits WHERE name ~ 'a'", POLICY)
    assert error.instead == planted
    assert error.rewrite is None
    assert not hasattr(error, "__notes__")


def test_a_proposal_that_breaks_is_no_error(monkeypatch):
    def broken(*_):
        raise RuntimeError("a tree that nobody thought of")

    monkeypatch.setattr("dither.query.sql.proposals.row_expressions._around_null", broken)
    error = refused("SELECT COUNT(*) FROM visits WHERE age = NULL", POLICY)
    assert "IS NULL in a condition" in error.instead
    with pytest.raises(QuestionError):
        parse("SELECT COUNT(*) FROM visits WHERE age = NULL", POLICY)
    assert read_question("SELECT COUNT(*) FROM visits", POLICY)
