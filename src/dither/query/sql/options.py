"""`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...)`, where BigQuery has it: what a question says about its own privacy.

The clause is cut out before the parser sees the text, and spaces stay in its place, so that later refusals name the right
line and column. What it says may only tighten what the policy and the price say; it can loosen nothing.

    epsilon, delta            the price, as in quote(epsilon=...); delta at most that of the budget
    max_groups_contributed    in how many groups a person counts; at most what the policy allows
    privacy_unit_column       whose a row is; the policy has said so, and this must agree
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sqlglot
from sqlglot.tokenizer_core import TokenType

from dither.errors import NumberError, QuestionError
from dither.numeric.number import Number
from dither.query.plan.question import Question
from dither.query.policy.policy import Policy
from dither.query.sql.syntax import DIALECT, LONGEST

CLAUSE, BOUNDS = "differential_privacy", "contribution_bounds"
NAMES = ("epsilon", "delta", "max_groups_contributed", "privacy_unit_column")
EXAMPLE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, max_groups_contributed = 2) ..."


@dataclass(frozen=True)
class Options:
    """What a question says about its own privacy; None where it says nothing."""

    epsilon: str | None = None
    delta: str | None = None
    max_groups_contributed: int | None = None
    privacy_unit_column: str | None = None


def read_options(text: object) -> tuple[Any, Options]:
    """The question without the clause, and what the clause says. What is no question is left to the reader of questions."""
    if not isinstance(text, str) or len(text) > LONGEST or not (CLAUSE in text.lower() or BOUNDS in text.lower()):
        return text, Options()
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
    except Exception:  # whatever a tokenizer cannot read, the parser will refuse
        return text, Options()
    depth, found = 0, list[int]()
    for place, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        kinds = [other.token_type for other in tokens[place : place + 3]]
        if kinds == [TokenType.SELECT, TokenType.WITH, TokenType.VAR] and tokens[place + 2].text.lower() == CLAUSE:
            found.append(place + 1)
            if depth > 0 or len(found) > 1:
                why = "it belongs to the outermost SELECT, once: what is within a question is not released by itself"
                raise _refuse(tokens[place + 1], "WITH DIFFERENTIAL_PRIVACY", why, EXAMPLE)
        if kinds[:2] == [TokenType.VAR, TokenType.FARROW] and token.text.lower().startswith(BOUNDS):
            why = "bounds are the policy's, the same for everybody who asks; an analyst may narrow a value in the open"
            raise _refuse(
                token,
                token.text,
                why,
                "CASE WHEN <column> IS NOT NULL THEN LEAST(GREATEST(<column>, <low>), <high>) END within the aggregate",
            )
    if not found:
        return text, Options()
    last, options = _listed(tokens, found[0])
    begin, end = tokens[found[0]].start, tokens[last].end + 1
    blank = "".join(sign if sign in "\r\n" else " " for sign in text[begin:end])
    return text[:begin] + blank + text[end:], options


def apply_options(options: Options, policy: Policy) -> Policy:
    """The policy, tightened."""
    most = options.max_groups_contributed
    if most is None:
        return policy
    tables = [
        table if table.person is None else replace(table, max_groups=min(most, table.max_groups)) for table in policy.tables
    ]
    return replace(policy, tables=tuple(tables))


def check_options(options: Options, policy: Policy, question: Question) -> None:
    """Refuse what contradicts the policy of the tables that a question is about."""
    names = {table.name for table in question.relation.tables}
    tables = [table for table in policy.tables if table.name in names and not table.public]
    persons = [table.person for table in tables if table.person is not None and table.owner is None]
    stated, most = options.privacy_unit_column, options.max_groups_contributed
    if stated is not None and stated.lower() not in [person.lower() for person in persons]:
        told = ", ".join(dict.fromkeys(persons))
        why = f"the policy says whose a row is: {told}" if told else "the policy says that each row is a person"
        raise QuestionError("privacy_unit_column", stated, why, told or "leaving it out")
    allowed = max((table.max_groups for table in tables), default=1)
    if most is not None and most > allowed:
        why = f"options may only tighten, and the policy lets one person count in at most {allowed} groups"
        raise QuestionError("max_groups_contributed", most, why, f"max_groups_contributed = {allowed}, or leaving it out")


def tightened(question: Question, policy: Policy) -> dict[str, int]:
    """The limits that a question has for itself: under others it is another question, as bounds may follow from them."""
    given = {table.name: table.max_groups for table in policy.tables}
    return {table.name: table.max_groups for table in question.relation.tables if table.max_groups != given[table.name]}


def _listed(tokens: list[Any], first: int) -> tuple[int, Options]:
    """Where the clause ends, and what stands in it."""
    at = first + 1
    following = [token.text.lower() for token in tokens[at + 1 : at + 3]]
    if following[:1] != ["options"] or following[1:] != ["("]:
        return at, Options()
    at += 3
    stated: dict[str, Any] = {}
    while at < len(tokens) and tokens[at].token_type is not TokenType.R_PAREN:
        name = tokens[at].text.lower()
        end = at
        while end < len(tokens) and tokens[end].token_type not in (TokenType.COMMA, TokenType.R_PAREN, TokenType.L_PAREN):
            end += 1
        if name not in NAMES:
            why = "no such option is known here; bounds, keys and limits are the policy's"
            raise _refuse(tokens[at], tokens[at].text, why, ", ".join(NAMES))
        if name in stated:
            raise _refuse(tokens[at], name, "it is stated twice", f"{name} once")
        if end <= at + 2 or tokens[at + 1].token_type is not TokenType.EQ or end == len(tokens):
            raise _refuse(tokens[at], name, "an option is a name, = and a value", EXAMPLE)
        stated[name] = _value(name, tokens[at + 2 : end])
        at = end + (tokens[end].token_type is TokenType.COMMA)
    if at >= len(tokens):
        raise _refuse(tokens[first], "OPTIONS", "its list has no end", EXAMPLE)
    return at, Options(**stated)


def _value(name: str, tokens: list[Any]) -> str | int:
    written = "".join(token.text for token in tokens)
    if name == "privacy_unit_column":
        if len(tokens) != 1 or tokens[0].token_type in (TokenType.NUMBER, TokenType.STRING, TokenType.NULL):
            raise _refuse(tokens[0], written, "it is the name of one column", "privacy_unit_column = patient_id")
        return written
    kinds = [token.token_type for token in tokens]
    if kinds not in ([TokenType.NUMBER], [TokenType.DOT, TokenType.NUMBER]):
        why = "options may only tighten, and NULL is no limit" if written.upper() == "NULL" else f"{name} is a number"
        raise _refuse(tokens[0], written, why, f"{name} = {'0.5' if name != 'max_groups_contributed' else '2'}")
    if name != "max_groups_contributed":
        try:
            number = Number(written).fraction()
        except NumberError as error:
            raise _refuse(tokens[0], written, error.why, f"{name} = 0.5") from error
        if name == "delta" and number >= 1:
            raise _refuse(tokens[0], written, "a delta is below 1", "delta = 1e-6")
        return written
    if not written.isascii() or not written.isdigit() or len(written) > 9 or int(written) < 1:
        raise _refuse(tokens[0], written, "it is a whole number from 1 on", "max_groups_contributed = 2")
    return int(written)


def _refuse(token: Any, came: str, why: str, instead: str) -> QuestionError:
    column = max(1, token.col - (token.end - token.start))
    return QuestionError(f"line {token.line}, column {column}", came, why, instead)
