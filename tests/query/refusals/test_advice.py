"""Advice in refusals: words, or a template with gaps, or SQL that says what the refused question says in plain DuckDB."""

from __future__ import annotations

import pickle
import random
import re
from contextlib import suppress

import duckdb
import pyarrow
import pytest
import sqlglot
from sqlglot import exp

import dither
from dither.errors import QuestionError
from dither.query.dataset import Dataset
from dither.query.free_quote import FreeQuote
from dither.query.policy.policy import Policy
from dither.query.pricing.make_offer import read_question
from dither.query.sources.find_source import find_source
from tests.query import owners
from tests.query.refusals.questions import SQL, questions, recorded, refused, site_of, sites
from tests.query.sql.rewrites.plain import data, engine
from tests.query.sql.test_parse import COLUMNS, POLICY

KINDS = {
    **{"integer": pyarrow.int64(), "text": pyarrow.string(), "decimal": pyarrow.float64(), "float": pyarrow.float64()},
    **{"boolean": pyarrow.bool_(), "date": pyarrow.date32(), "timestamp": pyarrow.timestamp("us")},
}
PLAIN = (
    exp.Column,
    exp.Alias,
    exp.Identifier,
    exp.Literal,
    exp.Star,
    exp.Boolean,
    exp.Select,
    exp.Tuple,
    exp.Table,
    exp.From,
    exp.TableAlias,
    exp.Join,
)
SHAPES = ("SELECT {}", "{}", "SELECT 1 FROM t {}", "SELECT 1 FROM t JOIN u {}")
# By which an advice says that it is another question, or that a piece is computed from what the refused one gives.
OTHERS = (
    *("which is another", "which are other", "but another one", "is answered:", "the number of people is", "made of it"),
    *("AS k", '" in double quotes', "and the rest after the answer has come", "by itself", "its seconds", "makes of it"),
    "ORDER BY <column> behind",
)
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


def as_sql(text: str) -> bool:
    """True for a text that reads as SQL, and is more than names and constants."""
    for shape in SHAPES:
        with suppress(sqlglot.errors.SqlglotError):
            tree = sqlglot.parse_one(shape.format(text), read="duckdb")
            if any(not isinstance(part, PLAIN) for part in tree.walk()) and not isinstance(tree, exp.Command):
                return True
    return False


def pieces(advice: str) -> list[str]:
    """The longest calls and CASEs that a text quotes, without those that have gaps."""
    found, at = [], 0
    while (call := re.compile(r"\b[A-Z][A-Z_0-9]*\(|\bCASE\b").search(advice, at)) is not None:
        at, depth = call.end(), int(call[0].endswith("("))
        if call[0] == "CASE":
            at = advice.find(" END", at) + 4 if " END" in advice[at:] else len(advice)
        while depth and at < len(advice):
            depth += {"(": 1, ")": -1}.get(advice[at], 0)
            at += 1
        found.append(advice[call.start() : at])
    return [piece for piece in found if not re.search(r"<[a-z ]+>", piece) and as_sql(piece)]


def quoted(sql: object, error: QuestionError, plain: duckdb.DuckDBPyConnection) -> list[str]:
    """Pieces of SQL among the words of an advice that are not said to be another question, and give another result."""
    if any(word in error.instead for word in OTHERS):
        return []
    found = []
    for piece in pieces(error.instead):
        columns = {column.name.lower() for column in sqlglot.parse_one(piece, read="duckdb").find_all(exp.Column)}
        named = {column.name.lower() for column in sqlglot.parse_one(str(sql), read="duckdb").find_all(exp.Column)}
        if columns & named and (wrong := misleading(sql, dither_error(error, piece), plain)) is not None:
            found.append(wrong)
    return found


def came_of(error: QuestionError) -> str:
    """What is refused, as it is shown."""
    return error.came if isinstance(error.came, str) else repr(error.came)


def dither_error(error: QuestionError, advice: str) -> QuestionError:
    return QuestionError.from_text(error.where, str(error.came), error.why, advice)


def misleading(sql: object, error: QuestionError, plain: duckdb.DuckDBPyConnection) -> str | None:
    """What is wrong with the advice of a refusal; None for words, templates, and SQL with the same result."""
    advice = error.instead
    if not as_sql(advice):
        return None
    came = came_of(error)
    try:
        tree = sqlglot.parse_one(str(sql), read="duckdb").sql("duckdb")
        if came not in tree:
            return f"{advice}: not shown to mean the same, as {came} is not in {tree}"
        ours, theirs = (plain.execute(one).fetchall() for one in (tree.replace(came, advice, 1), tree))
    except (duckdb.Error, sqlglot.errors.SqlglotError) as broken:
        return f"{advice}: not shown to mean the same ({str(broken)[:60]})"
    return None if sorted(ours, key=str) == sorted(theirs, key=str) else f"{advice}: {ours[:2]} for {theirs[:2]}"


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
        return [(sql, policy, refused(sql, policy)) for sql, policy in [*questions(), *named()]]


@pytest.fixture(scope="module")
def plain():
    with engine() as made:
        yield made


def named() -> list[tuple[str, Policy]]:
    """Refusals that once proposed another question."""
    whole = [
        "SELECT w, COUNT(*) FROM (SELECT patient_id, ARG_MAX(ward, cost) AS w FROM visits GROUP BY patient_id) q GROUP BY w",
        "SELECT ward, LAG(r) OVER (ORDER BY ward) FROM (SELECT ward, SUM(cost) AS r FROM visits GROUP BY ward) q",
        "SELECT patient_id FROM visits GROUP BY patient_id ORDER BY COUNT(*) DESC LIMIT 1",
        "SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward ORDER BY COUNT(*) DESC LIMIT 3",
        "SELECT COUNT(*) FROM visits WHERE patient_id = ANY (SELECT patient_id FROM visits WHERE age > 90)",
        "SELECT COUNT(*) FROM (SELECT * FROM visits ORDER BY cost DESC LIMIT 100) q",
        *OF_ONE_PERSON,
        "SELECT SUM(v) FROM (SELECT patient_id, LAG(age, 1, 0) OVER (PARTITION BY patient_id ORDER BY at) AS v FROM visits)",
    ]
    return [(sql, POLICY) for sql in whole] + [(f"SELECT {what} FROM visits", POLICY) for what in NAMED]


OF_ONE_PERSON = [
    f"SELECT AVG(w) AS a FROM (SELECT patient_id, {what} AS w FROM visits GROUP BY patient_id) q"
    for what in ("COUNT(*) + 1", "MAX(cost) - MIN(cost)", "COALESCE(SUM(cost), 0)", "MEDIAN(cost)", "STDDEV(cost)")
]
NAMED = [
    *(
        "SUM(Kosten(cost))",
        "ARG_MAX(ward, cost)",
        "ARG_MIN(ward, cost)",
        "FIRST(ward)",
        "LAST(ward)",
        "ANY_VALUE(ward)",
        "GEOMEAN(cost)",
    ),
    *("AVG(LN(cost))", "AVG(cost / NULLIF(weight, 0))", "MEDIAN(cost / weight)", "SUM(cost / 0)", "AVG(income)"),
    *("STRING_AGG(name, ',')", "LIST(cost)", "HISTOGRAM(cost)", "KURTOSIS(cost)", "BIT_OR(age)", "APPROX_TOP_K(ward, 3)"),
    *(
        "AVG(CAST(name AS INT))",
        "VARIANCE(smokes)",
        "SUM(TO_CHAR(seen, 'YYYY'))",
        "COUNT(*) FILTER (WHERE seen > CURRENT_DATE)",
    ),
    *("COUNT(*) FILTER (WHERE at > NOW() - INTERVAL '7 days')", "AVG(DATE_SUB('day', seen, born))", "SUM(ward)"),
    *("MODE(ward) FILTER (WHERE smokes)", "COUNT(*) FILTER (WHERE NULLIF(age, month) = 1)", "SUM(name::DOUBLE)"),
    *("AVG(COUNT(*)) OVER (ORDER BY ward)", "TIME_BUCKET(INTERVAL '15 minutes', at)", "COUNT(DISTINCT name, ward)"),
]


def test_no_advice_misleads(refusals, plain):
    for sql, _, error in refusals:
        assert error is not None, sql
        assert len(str(error)) < 1_000
        assert not error.instead.startswith("None")
    about_rows = [(sql, error) for sql, _, error in refusals if (site_of(error) or ("",))[0] != "options.py"]
    found = {str(sql)[:200]: wrong for sql, error in about_rows if (wrong := misleading(sql, error, plain))}
    assert found == {}
    among_words = {str(sql)[:200]: wrong for sql, error in about_rows if (wrong := quoted(sql, error, plain))}
    assert among_words == {}


def test_no_refused_aggregate_is_among_what_would_work(refusals):
    """COUNT(*) + 1 of a person was refused with a list of aggregates that begins with COUNT."""
    named = {sql: error for sql, _, error in refusals if re.search("aggregate (is not answered|of an inner)", error.why)}
    for sql, error in named.items():
        name = re.match(r"\w*", came_of(error))[0]
        assert not re.search(rf"\b{name}\b", error.instead), (sql, error.instead)
    assert set(OF_ONE_PERSON) < named.keys()
    own = "SELECT AVG(w + 1) AS a FROM (SELECT patient_id, COUNT(*) AS w FROM visits GROUP BY patient_id) q"
    assert refused(own, POLICY) is None  # "what is computed with it in the question around"


@pytest.mark.parametrize("what", ["ANY_VALUE(ward)", "FIRST(ward)", "ARG_MAX(ward, cost)"])
def test_values_of_single_rows_are_refused_as_such(what):
    assert "a single row" in refused(f"SELECT {what} AS w FROM visits", POLICY).why


def test_years_without_bounds_are_not_led_to_a_list_of_all_years():
    """An inner question with YEAR(seen) AS k has all years from 1 to 9999 as keys, each with noise."""
    for what, priced in (("YEAR(born)", False), ("YEAR(born) - 2000", False), ("DATE_TRUNC('year', born)", True)):
        error = refused(f"SELECT {what} AS k, COUNT(*) AS n FROM visits GROUP BY k", POLICY)
        assert "BETWEEN DATE '<first day>' AND DATE '<last day>'" in error.instead
        assert ("at a price" in error.instead) is priced


def test_what_a_refusal_says_is_answered_is_answered(refusals):
    told = 0
    for _, policy, error in refusals:
        for ratio in re.findall(r" is answered: (.*)$", error.instead):
            read_question(f"SELECT {ratio} AS x FROM visits", policy)
            told += 1
    assert told > 0


def test_a_template_with_its_gaps_filled_in_is_answered():
    error = refused("SELECT AVG(cost / NULLIF(weight, 0)) AS x FROM visits", POLICY)
    (template,) = re.findall(r"gaps: (.*?)\. The ratio", error.instead)
    quotient = "cost / NULLIF(weight, 0)"
    assert template == f"AVG(CASE WHEN {quotient} IS NOT NULL THEN LEAST(GREATEST({quotient}, <low>), <high>) END)"
    with pytest.raises(sqlglot.errors.SqlglotError):
        sqlglot.parse_one(f"SELECT {template} AS x FROM visits", read="duckdb")
    read_question(f"SELECT {template.replace('<low>', '0').replace('<high>', '40')} AS x FROM visits", POLICY)
    day = "SELECT COUNT(*) FROM visits WHERE seen > DATE '<day>'"
    assert "does not read as a date" in refused(day, POLICY).why


UNBOUNDED = [
    *(f"SELECT {name}(LN(cost)) AS x FROM visits" for name in ("AVG", "SUM", "MIN", "MAX", "MEDIAN", "STDDEV", "VAR_POP")),
    "SELECT AVG(age / NULLIF(cost - 20, 0)) AS x FROM visits",
    "SELECT CORR(cost, LN(cost)) AS x FROM visits",
    "SELECT AVG(own) AS x FROM (SELECT person, SUM(LN(cost)) AS own FROM visits GROUP BY person) AS q",
    "SELECT AVG(own) AS x FROM (SELECT person, AVG(LN(cost)) AS own FROM visits GROUP BY person) AS q",
]


@pytest.mark.parametrize("sql", UNBOUNDED)
def test_a_template_with_wide_bounds_gives_what_was_asked_for(tmp_path, plain, sql):
    """Also where values are missing, as a quarter of the costs are: GREATEST and LEAST would make bounds of them."""
    error = refused(sql, data(tmp_path).policy)
    (template,) = re.findall(r"gaps: (.*?)(?:\. The ratio.*)?$", error.instead)
    (clamped,) = re.findall(r"LEAST\(GREATEST\((.*), <low>\)", template)
    filled = template.replace("<low>", "-1000").replace("<high>", "1000")
    old = came_of(error) if template.startswith(came_of(error).partition("(")[0]) else clamped
    assert old in sql
    ours, theirs = (plain.execute(one).fetchone()[0] for one in (sql.replace(old, filled), sql))
    assert ours == pytest.approx(theirs, rel=1e-9)


PLANTED = [
    ("COUNT({0})", "SELECT AVG(name) AS x FROM visits"),  # what was once proposed for AVG of a condition
    ("LEAST(GREATEST({0}, 0), 1)", "SELECT SUM(name) AS x FROM visits"),
    ("COUNT({0})", "SELECT AVG(smokes::INT) AS x FROM visits"),
]


@pytest.mark.parametrize(("advice", "sql"), PLANTED)
def test_a_planted_proposal_is_found(monkeypatch, tmp_path, plain, advice, sql):
    monkeypatch.setattr("dither.query.sql.functions.NUMBERS", set())  # a condition is no number, as it once was
    monkeypatch.setattr("dither.query.sql.aggregates.number_words", lambda _, what: advice.format(what))
    monkeypatch.setattr("dither.query.sql.expressions.number_words", lambda _, what: advice.format(what))
    error = refused(sql, data(tmp_path).policy)
    assert error is not None
    assert misleading(sql, error, plain) is not None
    assert quoted(sql, dither_error(error, f"it is best to ask for {error.instead}, say"), plain) != []


def test_advice_that_means_the_same_passes(plain):
    error = QuestionError("line 1", "NOT (NOT smokes)", "so", "smokes OR FALSE")
    assert misleading("SELECT COUNT(*) FROM visits WHERE NOT (NOT smokes)", error, plain) is None
    assert misleading(
        "SELECT COUNT(*) FROM visits WHERE NOT (NOT smokes)",
        QuestionError("", "NOT (NOT smokes)", "", "NOT smokes AND age > 1"),
        plain,
    )


def test_refusals_cost_nothing(asked, refusals):
    for sql, policy, _ in refusals:
        data = asked[policy.hash]
        before = data.ledger.remaining().used
        with suppress(QuestionError):  # or it is free, and needs no row
            assert isinstance(data.quote(sql, epsilon="0.01"), FreeQuote), sql
        assert data.ledger.remaining().used == before, sql


def test_every_place_that_refuses_is_reached(refusals):
    """Counted in the source: what is new there needs a question in the table, or a reason here."""
    reached = {site_of(error) for _, _, error in refusals}
    missing = [site for site in sites() if site not in reached]
    assert [site for site in missing if site[0] not in UNREACHED] == []
    assert {site[0] for site in missing} == set(UNREACHED)
    assert len(missing) <= 51
    assert len(sites()) > 230
    assert SQL.is_dir()


def test_a_refusal_crosses_processes():
    error = refused("SELECT COUNT(*) FROM visits WHERE age = NULL", POLICY)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
