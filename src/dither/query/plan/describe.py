"""Questions in words: how dither understood a question. For people; engines have their own spelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dither.query.plan.aggregates import Aggregate, PairAggregate
from dither.query.plan.base import Expression
from dither.query.plan.chain import MOST_REPEATED, Chain
from dither.query.plan.dates import DateAdd, DateCast, DateDiff, DateTrunc
from dither.query.plan.derived import derived_words
from dither.query.plan.expressions import (
    Arithmetic,
    Bucket,
    Case,
    ColumnValue,
    Compare,
    Constant,
    DatePart,
    InList,
    IsNull,
    Like,
    Logic,
    Not,
    ReleasedConstant,
)
from dither.query.plan.functions import (
    Abs,
    ChangeText,
    Clamp,
    Coalesce,
    Concat,
    Function,
    GreatestLeast,
    Length,
    Rounding,
    Substring,
    WidthBucket,
)
from dither.query.plan.joins.outer_join import OuterJoin
from dither.query.plan.joins.pairs import Most
from dither.query.plan.joins.semi_join import SemiJoin
from dither.query.plan.mathematics.division import Quotient, Remainder, Sign, WholeQuotient
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.plan.person_totals import PersonTotal
from dither.query.plan.person_windows.window_functions import PLACES, PersonWindow, WindowPlace, WindowTotal, WindowValue
from dither.query.plan.question import Having, HavingFilter, HavingLogic, HavingNot, HavingNull, Question
from dither.query.plan.relations import (
    OURS,
    FilterRows,
    GroupByPerson,
    JoinOnPerson,
    JoinPublic,
    Project,
    Relation,
    Scan,
    UnionAll,
    WindowByPerson,
)
from dither.query.policy.column import Column, Type

SPELLED: dict[str, str] = {
    **{"upper": "in capital letters", "lower": "in small letters", "trim": "without the spaces around it"},
    **{"ltrim": "without the spaces before it", "rtrim": "without the spaces behind it"},
}


def describe(question: Question) -> str:
    """What is asked, clause by clause."""
    lines = [f"Of         {rows_of(question.relation)}"]
    if question.where is not None:
        lines.append(f"Where      {words(question.where)}")
    for group in question.groups:
        among = "whose keys nobody declared" if group.keys is None else f"one of {len(group.keys)} keys"
        lines.append(f"By         {group.name}: {words(group.by)}, {among}")
    if question.sets:
        lines.append(f"Sets       {'; '.join(set_words(question, level) for level in question.sets)}")
    lines += [f"Asks       {aggregate.name}: {asked(aggregate)}" for aggregate in question.aggregates]
    keys = tuple(group.name for group in question.groups)
    lines += [f"Computes   {column.name}: {derived_words(column.of, keys)}" for column in question.derived]
    lines += [f"Keeps      rows with {_kept(keep)}" for keep in (*question.having, *question.qualify)]
    for order in question.order:
        lines.append(f"Sorted     by {order.name}{', largest first' if order.descending else ''}")
    if question.offset:
        lines.append(f"Skips      the first {question.offset}")
    if question.limit is not None:
        lines.append(f"Shows      the {'next' if question.offset else 'first'} {question.limit}")
    return "\n".join(lines)


def set_words(question: Question, level: Sequence[int]) -> str:
    """A grouping set."""
    return f"by {', '.join(question.groups[place].name for place in level)}" if level else "in all"


def _kept(keep: Having) -> str:
    match keep:
        case HavingFilter(name, sign, value):
            told = words(value if isinstance(value, ReleasedConstant) else Constant(value))
            return f"{name} {sign} {told}" + (f" ({keep.rule} of the policy)" if keep.rule else "")
        case HavingNull(name):
            return f"{name} missing"
        case HavingNot(condition):
            return f"not ({_kept(condition)})"
        case HavingLogic(every, parts):
            return "(" + (" and " if every else " or ").join(_kept(part) for part in parts) + ")"


def rows_of(relation: Relation) -> str:
    """Where rows come from."""
    match relation:
        case Scan(table):
            return table.name
        case Chain(links, above):
            told = " beside its ".join(link.table.name for link in links)
            told += "".join(f", by the owner of its {table.name}" for table in above)
            few = f" (keys that a person repeats more than {MOST_REPEATED} times are left out)"
            return told + (few if len(links) > 1 else "")
        case FilterRows(of, condition):
            return f"{rows_of(of)} with {words(condition)}"
        case Project(of, columns, _):
            told = ", ".join(c.name if by == ColumnValue(c) else f"{c.name}: {words(by)}" for c, by in columns)
            return f"({told} of {rows_of(of)})"
        case JoinPublic(of, public, _, on, keep_all):
            beside = "beside" if not keep_all else "beside, where there is a match,"
            return f"{rows_of(of)} {beside} the public {public.table.name} by {_joined(on)}"
        case JoinOnPerson(left, right, _, on):
            also = f" and {_joined(on)}" if on else ""
            return f"{rows_of(left)} beside {rows_of(right)} of the same person{_few(relation.most_rows)}{also}"
        case OuterJoin(left, right, _, on, full):
            also = f" with {_joined(on)}" if on else ""
            kept = "rows of both" if full else "those of the first"
            beside = f"{rows_of(left)} beside {rows_of(right)} of the same person{_few(relation.most_rows)}{also}"
            return f"({beside}, and {kept} that have none beside them)"
        case SemiJoin(of, other, _, on, match, member):
            whose = "" if other.table.public else " of the same person"
            also = f" with {_joined(on)}" if on else ""
            known = " (NOT IN keeps all others; in SQL it keeps nobody where a person is missing)"
            which = "the public " if other.table.public else ""
            told = f"{which}{rows_of(other)}{whose}{_few(relation.most_rows)}{also}{known if member and whose else ''}"
            return f"({rows_of(of)}, each with {match.name.removesuffix(OURS)}: whether there is a row of {told})"
        case GroupByPerson(of, keys, totals, _):
            by = "".join(f" and {words(key)}" for _, key in keys)
            told = "".join(f", {own.column.name}: {asked(own)}" for own in totals)
            return f"(a row for each person{by} of {rows_of(of)}{told})"
        case WindowByPerson(of, window):
            return f"({rows_of(of)} with {_called(window.column)}: {_windowed(window)})"
        case UnionAll(parts):
            return " and then ".join(rows_of(part) for part in parts)


def uncounted_rows(relations: Iterable[Relation]) -> str:
    """Name the rows that belong to nobody, which no answer counts: 'rows without patient_id'; '' if there are none.

    There are none in a table whose person column is never missing, by the owner's word. How many there are is private.
    """
    several = dict(found for relation in relations for found in _without_person(relation))  # what they lack, by table
    lacking = [(table, lack) for table, lack in several.items() if lack]
    if len({lack for _, lack in lacking}) == 1 and len(lacking) == len(several):
        return f"rows {lacking[0][1]}"
    return " and ".join(f"rows of {table} {lack}" for table, lack in lacking)


def _without_person(relation: Relation) -> Iterator[tuple[str, str]]:
    """Each protected table that is read, and what its rows lack that belong to nobody; '' where all have a person."""
    match relation:
        case Scan(table):
            whose = None if table.person is None else table.column(table.person)
            if not table.public:
                yield table.name, f"without {whose.name}" if whose is not None and whose.nullable else ""
        case Chain():
            child, end = relation.tables[0], relation.tables[-1]
            keys = ", ".join(key for key, _ in child.owner.on) if child.owner is not None else ""
            yield child.name, f"whose {keys} leads to no {end.person}"
        case FilterRows(of) | Project(of) | JoinPublic(of) | GroupByPerson(of) | WindowByPerson(of):
            yield from _without_person(of)
        case JoinOnPerson(left, right) | OuterJoin(left, right) | SemiJoin(left, right):
            yield from _without_person(left)
            yield from _without_person(right)
        case UnionAll(parts):
            for part in parts:
                yield from _without_person(part)


def _windowed(window: PersonWindow) -> str:
    """A window, its rows and their order."""
    match window:
        case WindowPlace(_, kind, _, _):
            told = PLACES[kind]
        case WindowValue(_, "shift", of, offset, _, _, _):
            far = "the row" if abs(offset) == 1 else f"{abs(offset)} rows"
            told = f"{words(of)} of {far} {'before' if offset >= 0 else 'behind'}"
        case WindowValue(_, kind, of, offset, _, _, frame):
            assert frame is not None
            told = f"{words(of)} of the {kind if kind != 'nth' else f'{offset}th'} row, of {frame.words}"
        case WindowTotal(total, _, _, frame):
            told = f"{asked(total)}, of {frame.words}"
    by = "".join(f" and {words(key)}" for key in window.by)
    sorts = [f"{words(key.of)}{' downwards' if key.descending else ''}" for key in window.order]
    rest = " and then all columns" if window.completes_order else ""
    return f"{told} of the same person{by}" + (f", by {', '.join(sorts)}{rest}" if sorts else "")


def _called(column: Column) -> str:
    """The name of a column, without the sign at its end that no question can write."""
    return column.name.removesuffix(OURS)


def _few(most: Most) -> str:
    sides = zip(most, ("the first", "the second"), strict=True)
    limits = [(rows, side) for rows, side in sides if rows is not None]
    told = [f"{rows} {'row' if rows == 1 else 'rows'} of {side}" for rows, side in limits[:1]]
    told += [f"{rows} of {side}" for rows, side in limits[1:]]
    return f" (who has at most {', '.join(told)})" if told else ""


def _joined(on: Sequence[Expression]) -> str:
    return " and ".join(words(equal) for equal in on)


def asked(total: Aggregate | PersonTotal) -> str:
    """One aggregate, or one of a person's own totals."""
    if isinstance(total, PairAggregate):
        return f"{total.words} {words(total.pair[0])} and {words(total.pair[1])}"
    return total.words if total.of is None else f"{total.words} {words(total.of)}"


def words(node: Expression) -> str:
    """An expression."""
    match node:
        case ColumnValue(column):
            return _called(column)
        case Constant(value):
            return _number(value) if isinstance(value, Fraction) else repr(value) if isinstance(value, str) else str(value)
        case ReleasedConstant(_, text, value):
            return f"the released {text}" if value is None else _number(value)
        case Arithmetic(operator, left, right):
            return f"({words(left)} {operator} {words(right)})"
        case DatePart(part, of):
            return f"the {part} of {words(of)}"
        case Compare(operator, left, right):
            return f"{words(left)} {operator} {words(right)}"
        case InList(value, options):
            return f"{words(value)} is one of {', '.join(words(option) for option in options)}"
        case Like(value, pattern):
            return f"{words(value)} looks like {pattern!r}"
        case IsNull(value):
            return f"{words(value)} is missing"
        case Logic(every, parts):
            return "(" + (" and " if every else " or ").join(words(part) for part in parts) + ")"
        case Not(condition):
            return f"not ({words(condition)})"
        case Bucket(of, _, _, size):
            return f"which of {size} intervals holds {words(of)}"
        case Case(branches, otherwise):
            told = "; ".join(f"{words(value)} if {words(condition)}" for condition, value in branches)
            return f"({told}; otherwise {'nothing' if otherwise is None else words(otherwise)})"
        case _:
            assert isinstance(node, Function), node
            return _function(node)


def _function(node: Function) -> str:
    match node:
        case Clamp(of, lower, upper):
            return f"{words(of)}, clamped to {words(Constant(lower))} and {words(Constant(upper))}"
        case DateTrunc(period, of):
            return f"the start of the {period} of {words(of)}"
        case DateCast(to, of):
            return f"the day of {words(of)}" if to is Type.DATE else f"the start of {words(of)}"
        case DateAdd(of, months, days, microseconds):
            seconds = Fraction(microseconds, 10**6)
            parts = [
                f"{_number(Fraction(n))} {unit}"
                for n, unit in ((months, "months"), (days, "days"), (seconds, "seconds"))
                if n
            ]
            return f"{words(of)} plus {' '.join(parts) or 'nothing'}"
        case DateDiff(unit, start, end):
            return f"the {unit}s from {words(start)} to {words(end)}"
        case ChangeText(how, of):
            return f"{words(of)} {SPELLED[how]}"
        case Substring(of, None, length):
            return f"the last {length} characters of {words(of)}"
        case Substring(of, start, length):
            return f"{length} characters of {words(of)} from number {start} on"
        case Concat(parts):
            return "(" + " followed by ".join(words(part) for part in parts) + ")"
        case Length(of):
            return f"the length of {words(of)}"
        case Coalesce(parts):
            return f"the first that is there of ({', '.join(words(part) for part in parts)})"
        case GreatestLeast(largest, parts):
            return f"the {'largest' if largest else 'least'} of ({', '.join(words(part) for part in parts)})"
        case Abs(of):
            return f"{words(of)} without its sign"
        case Rounding(of):
            return f"{words(of)} rounded {node.words}"
        case WidthBucket(of, low, high, count):
            return f"which of {count} equal parts of {_number(low)} to {_number(high)} {words(of)} lies in"
        case Quotient(of, by):
            return f"({words(of)} / {words(by)}, where that is not zero)"
        case WholeQuotient(of, number):
            return f"how often {number} is contained in {words(of)}"
        case Remainder(of, divisor):
            return f"what {_number(divisor)} leaves of {words(of)}"
        case Sign(of):
            return f"the sign of {words(of)}"
        case Elementary(name, of):
            return f"{name.upper()} of {words(of)}"
        case Power(of, exponent):
            return f"{words(of)} to the power of {_number(exponent)}"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):g}"
