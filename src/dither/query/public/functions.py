"""Operators, functions, casts and joins that are answered about public tables: the parser's nodes, and their words."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

BINARY: Mapping[type[exp.Expr], str] = {
    **{exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.Add: "+", exp.Sub: "-"},
    **{exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.Is: "IS"},
}
CALLS: Mapping[type[exp.Expr], str] = {
    **{exp.Sum: "SUM", exp.Avg: "AVG", exp.Min: "MIN", exp.Max: "MAX", exp.Median: "MEDIAN", exp.Stddev: "STDDEV_SAMP"},
    **{exp.StddevSamp: "STDDEV_SAMP", exp.StddevPop: "STDDEV_POP", exp.Variance: "VAR_SAMP", exp.VariancePop: "VAR_POP"},
    **{exp.Upper: "UPPER", exp.Lower: "LOWER", exp.Length: "LENGTH", exp.Abs: "ABS", exp.Trim: "TRIM", exp.Not: "NOT"},
    **{exp.Neg: "negative", exp.Paren: "()", exp.Year: "EXTRACT year", exp.Quarter: "EXTRACT quarter"},
    **{exp.Month: "EXTRACT month", exp.Day: "EXTRACT day", exp.Hour: "EXTRACT hour", exp.Floor: "FLOOR", exp.Ceil: "CEIL"},
}
SEVERAL: Mapping[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Substring: ("SUBSTRING", ("this", "start", "length")),
    exp.Coalesce: ("COALESCE", ("this", "expressions")),
    exp.Nullif: ("NULLIF", ("this", "expression")),
    exp.Round: ("ROUND", ("this", "decimals")),
    exp.Between: ("BETWEEN", ("this", "low", "high")),
    exp.Tuple: ("list", ("expressions",)),
}
CASTS = {"DATE": "DATE", "TIMESTAMPNTZ": "TIMESTAMP", "TIMESTAMP": "TIMESTAMP", "BIGINT": "BIGINT", "INT": "INTEGER"} | {
    "DOUBLE": "DOUBLE",
    "VARCHAR": "VARCHAR",
    "TEXT": "VARCHAR",
}
JOINS = {("", ""): "JOIN", ("", "INNER"): "JOIN", ("", "CROSS"): "CROSS JOIN", ("LEFT", ""): "LEFT JOIN"} | {
    ("LEFT", "OUTER"): "LEFT JOIN",
    ("RIGHT", ""): "RIGHT JOIN",
    ("FULL", ""): "FULL JOIN",
    ("FULL", "OUTER"): "FULL JOIN",
}
