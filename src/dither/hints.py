"""What somebody may have meant who asked a front for a name that it does not have."""

from __future__ import annotations

from collections.abc import Iterable

SQL = "it is asked in SQL: dither.protect(...).quote('SELECT {} FROM visits', epsilon='0.5'); of an array, {}"
COUNT = "dither.Geometric(epsilon='0.5', sensitivity=1)"
MOMENTS = "dither.density.Moments(epsilon='0.5', low=0, high=3000)"
QUANTILE = "dither.density.Quantile(bins=dither.density.Bins.even(0, 3000, 300), q='{}', epsilon='0.5')"
MEANT = {  # words of other libraries, and names that were others once, by the words in small letters
    **dict.fromkeys(("mean", "avg", "average"), SQL.format("AVG(cost) AS a", MOMENTS)),
    **dict.fromkeys(("count", "size"), SQL.format("COUNT(*) AS n", COUNT)),
    "sum": SQL.format("SUM(cost) AS s", MOMENTS),
    "median": SQL.format("MEDIAN(cost) AS m", QUANTILE.format("0.5")),
    **dict.fromkeys(("var", "variance"), SQL.format("VARIANCE(cost) AS v", MOMENTS)),
    **dict.fromkeys(("std", "stddev"), SQL.format("STDDEV(cost) AS s", MOMENTS)),
    **dict.fromkeys(
        ("min", "max", "quantile", "percentile"), SQL.format("QUANTILE_CONT(cost, 0.9) AS q", QUANTILE.format("0.9"))
    ),
    "query": "dither.open('policy.toml').quote(...), or dither.protect(data, ...).quote(...)",
    **dict.fromkeys(
        ("load", "read", "read_csv", "read_parquet"), "dither.open('policy.toml'), or dither.protect(data, ...)"
    ),
    **dict.fromkeys(("budget", "accountant", "session", "odometer"), "dither.Ledger.create('clinic.ledger', budget=...)"),
    **dict.fromkeys(("epsilon", "eps"), "dither.pure('0.5'), or dither.approx(1, '1e-6')"),
}

ASK = "clinic.quote('SELECT COUNT(*) AS n FROM visits', epsilon='0.5').release()"
LEFT = "clinic.ledger.remaining(), where clinic is the dataset; of a quote, quote.affordable"
OF_A_DATASET = {  # what a dataset does not have, by the words in small letters
    **dict.fromkeys(("remaining", "left", "spent", "used", "budget", "epsilon", "accountant"), LEFT),
    **dict.fromkeys(("query", "sql", "ask", "execute", "run", "select", "release", "count", "sum", "mean"), ASK),
    **dict.fromkeys(("batch", "quotes"), "clinic.quote([...], epsilon='1'), with a list of questions"),
    **dict.fromkeys(("columns", "schema", "tables", "describe", "info"), "clinic.explain(), or clinic.policy.tables"),
}


def hint(name: str, names: Iterable[str], elsewhere: Iterable[str]) -> str:
    """What was meant: a name here or of another front, by its spelling, or a word of other libraries; or nothing."""
    from difflib import get_close_matches

    exact = {each.rpartition(".")[2]: each for each in elsewhere}
    spelled = {each.lower(): each for each in names}
    others = {word.lower(): each for word, each in exact.items()}
    word = name.lower().replace("_", "")
    if name in exact:
        return f"did you mean {exact[name]}?"
    for known in (spelled, others):
        if word in known:
            return f"did you mean {known[word]}?"
    if name.lower() in MEANT:
        return MEANT[name.lower()]
    for known in (spelled, others):
        near = get_close_matches(word, known, n=1, cutoff=0.75)
        if near:
            return f"did you mean {known[near[0]]}?"
    return ""
