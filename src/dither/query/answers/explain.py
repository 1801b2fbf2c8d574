"""Quotes and answers in plain words: price, privacy unit, contribution bounds, error, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt

from dither.query.answers.compare import noise_of, share_of
from dither.query.answers.derived.statements import compares_released, said_by
from dither.query.answers.derived.words import (
    bar_words,
    computed_words,
    in_rows,
    selected_words,
    slope_words,
    states_hard_facts,
    two_value_words,
)
from dither.query.answers.grouping_words import edge_words, grouping_rows, grouping_words
from dither.query.plan.describe import rows_of
from dither.query.plan.question import Question
from dither.query.plan.relations import Scan
from dither.query.plan.text import number, plain, rounded
from dither.query.policy.policy import MADE_UP
from dither.query.pricing.found_policy import LOWER, UPPER, is_hard
from dither.query.pricing.gain import Gain
from dither.query.pricing.offer import Offer
from dither.query.pricing.spend import counts_rho
from dither.query.pricing.undeclared_keys import undeclared_words
from dither.query.pricing.unprotected_facts import unprotected_words
from dither.query.statistics.bounding import Clip, EachRow, KeepGroups, KeepPersons
from dither.query.statistics.counter_release import CounterRelease, OneMechanism, mechanisms
from dither.query.statistics.limit_histogram import LimitHistogram
from dither.query.statistics.people_beyond import Beyond, PeopleBeyond, cut_totals
from dither.query.statistics.statement import Statement
from dither.query.statistics.statistic import Statistic

BELOW = "values that few people hold are not counted: a lower bound of the truth, for certain, without an upper end"
LABELS = {
    "truth": "Truth",
    "at least": "At least",
    "of counted rows": "Counted",
    "of clamped values": "Clamped",
    "chosen": "Chosen",
    "of released numbers": "Released",
}


def explain_offer(offer: Offer, left: str = "") -> str:
    """What would be asked, for how much, with which error. No data has been read for it."""
    question, table = offer.question, offer.question.table
    percent, said = f"{float(offer.confidence * 100):.4g}%", said_by(offer)
    lines = [
        f"Question   {plain(' '.join(offer.sql.split()))}",
        f"Made up    {MADE_UP}" if offer.made_up else "",
        *[f"{LABELS[head]:<11}{', '.join(names)}: {told}" for head, names, told in statements(offer, said)],
        *[f"Not a key  {told}" for told in undeclared_words(question)],
        "" if isinstance(question.relation, Scan) else f"Of         {rows_of(question.relation)}",
        f"Price      {offer.price}{left}",
        *_tracks(offer),
        f"Protects   {_protected(offer)}",
        *uncounted_lines([offer]),
        f"Outside    {offer.unprotected}" if offer.outside else "",
        *_counts(offer),
        f"Rows       {_rows(offer)}",
        *edge_words(question),
        *grouping_words(offer),
        *([] if offer.choice is None else offer.choice.told(question)),
        f"Sorted     {offer.weighed}" if offer.weighed else "",
        f"Limits     {offer.taken}" if offer.taken else "",
        *_searches(offer),
        *_subqueries(offer),
        f"Error      noise moves each number by no more than this, with {percent} probability:",
    ]
    lines += [f"             {name}{_hidden(name, question)}: {told}" for name, told in _errors(offer)]
    lines += computed_words(offer)
    lines += [f"Slopes     {told}" for told in slope_words(offer)]
    lines += [f"Extremes   {told}" for told in two_value_words(offer)]
    lines += [f"Selected   {told}" for told in selected_words(offer)]
    for one in offer.statistics:
        if isinstance(one, PeopleBeyond):
            lines.append(f"Beyond     how many people have more than is counted of them: off by no more than {one.told(0)}")
    clamps = [(name, statistic.clamped(place)) for name, statistic, place in offer.columns if offer.found is None]
    lines += [f"Clamped    {name}: {told}" for name, told in clamps if told is not None]
    lines += ["Noise      " + "; ".join(_noises(offer))]
    if question.where is not None and table.person is None:
        lines.append("Where      a row that does not meet the condition counts as nobody")
    return "\n".join([*(line for line in lines if line), bar_words(offer)])


def explain_batch(offers: Sequence[Offer], gains: Sequence[Gain], price: str) -> str:
    """All questions of a batch, with what is common to them said once."""
    percent = f"{float(offers[0].confidence * 100):.4g}%"
    lines = [
        f"Batch      {len(offers)} question{'s' if len(offers) > 1 else ''}, charged and released as one",
        f"Price      {price}",
        f"Error      noise moves each number by no more than this, with {percent} probability:",
    ]
    for place, offer in enumerate(offers, 1):
        lines.append(f"  {place}. {plain(' '.join(offer.sql.split()))}")
        lines += [f"       {name}: {told}" for name, told in _errors(offer)]
        lines += [
            f"       {told}" for told in [*slope_words(offer), *two_value_words(offer), *undeclared_words(offer.question)]
        ]
        lines += [f"       {line.strip()}" for line in _searches(offer)]
    for gain in gains:
        places = ", ".join(str(at + 1) for at in gain.questions)
        why = f"error bars of about {rounded(gain.together)}; one by one they would be about {rounded(gain.apart)}"
        lines.append(f"Together   {places}: {why}. These answers agree with each other.")
    lines += uncounted_lines(offers)
    unprotected = unprotected_words(fact for offer in offers for fact in offer.outside)
    lines += [f"Outside    {unprotected}"] if unprotected else []
    lines += [f"Made up    {MADE_UP}"] if any(offer.made_up for offer in offers) else []
    held: dict[str, list[str]] = {}  # what is said of error bars, and of which questions
    for place, offer in enumerate(offers, 1):
        held.setdefault(bar_words(offer), []).append(str(place))
    if len(held) == 1:
        return "\n".join([*lines, *held])
    return "\n".join([*lines, *(f"Bars       {', '.join(places)}: {told}" for told, places in held.items())])


def uncounted_lines(offers: Sequence[Offer]) -> list[str]:
    """The rows that no number of several questions counts, each said once."""
    return [f"Not counted  {told}" for told in dict.fromkeys(offer.uncounted for offer in offers) if told]


def statements(offer: Offer, said: Mapping[str, Statement]) -> list[tuple[str, list[str], str]]:
    """What the numbers of an answer say: each statement once, with the columns that make it, and what it means."""
    found: dict[tuple[Statement, bool], list[str]] = {}
    below = [name for name, statistic, _ in offer.columns if statistic.is_lower_bound]
    for name, one in said.items():
        found.setdefault((one, one is Statement.AT_LEAST and name in below), []).append(name)
    return [
        (one.value, names, (BELOW if is_below else _meaning(one, offer)) + _cut_totals(names, offer))
        for (one, is_below), names in found.items()
    ]


def _cut_totals(names: Sequence[str], offer: Offer) -> str:
    """Say where people's own counts and sums are cut, of which columns are made; nothing where nobody has more."""
    question, found = offer.question, dict[str, None]()
    used = {part for column in question.derived if column.name in names for part in column.names} | set(names)
    for aggregate in (one for one in question.aggregates if one.name in used):
        for column in (column for values in aggregate.numbers for column in cut_totals(values, question)):
            low, high = (float(end or 0) for end in (column.lower, column.upper))
            ends = [f"above {high:,.12g} counts as {high:,.12g}"] if high > 0 else []
            ends += [f"below {low:,.12g} counts as {low:,.12g}"] if low < 0 else []
            found[f"; a person's {plain(column.name)} {', '.join(ends)}"] = None
    return "".join(found)


def _meaning(one: Statement, offer: Offer) -> str:
    table = offer.question.table
    if one is Statement.TRUTH:
        if states_hard_facts(offer.question) and not table.alone:
            return "of all rows that have a person; nobody can have more than is counted, by the owner's word"
        return "of all rows" if table.person is None else "of everybody: each person counts in full"
    complete = all(statistic.complete for _, statistic, _ in offer.columns)
    if one is Statement.AT_LEAST and all(own.statement(at) is not one for _, own, at in offer.columns):  # a total over keys
        return "rows of other keys, or of none, are left out: low ends are of the truth, high ends of what was counted"
    if one is Statement.AT_LEAST:
        return "rows of people beyond the limits are left out: low ends are of the truth, high ends of what was counted"
    if one is Statement.COUNTED:
        if compares_released(offer.question):
            return "rows are compared with released numbers, not with the true ones; error bars hold what was counted"
        if table.shares_rows:
            return "a row that several people reach counts once for each; error bars hold what was counted"
        if complete:
            return "of the rows that are in the answer, and not of other keys; error bars hold what was counted"
        return "people beyond the limits count in part; error bars hold what was counted"
    if one is Statement.RELEASED:
        return "by places among what was released; those of the truth may be others"
    if one is Statement.CHOSEN:
        return "by noisy counts: another key may be more frequent; the quote says by how many rows"
    return "everybody counts in full, values as the nearest step within their bounds"


def beyond_words(beyond: Beyond, confidence: Fraction) -> str:
    """How many people have more than is counted of them, and how many of their rows are left out at least."""
    percent = f"{float(confidence * 100):.4g}%"
    people = f"people beyond the limits: {number(beyond.people)} ({number(beyond.low)} to {number(beyond.high)})"
    if beyond.rows is None:
        return f"{people} with {percent} confidence; how many of their rows are left out is not known"
    return f"{people}, and at least {number(beyond.rows)} of their rows are left out, each with {percent} confidence"


def found_words(offer: Offer, released: Sequence[Sequence[int]] | None) -> list[str]:
    """The limits that were found, in a line."""
    if offer.found is None or released is None:
        return []
    found, table = offer.found.found(released), offer.found.offer(released).question.table
    told, alone = [], len(offer.found.of_people) == 1  # then those beyond it have a line of their own
    for one, counts in zip(offer.found.histograms, released, strict=True):
        end = next((end for end in (UPPER, LOWER) if one.fact.startswith(end)), None)
        column = None if end is None else table.column(one.fact.removeprefix(end))
        bound = None if column is None else column.upper if end == UPPER else column.lower
        limit = _limit(one, found[one.fact]) if bound is None else f"{float(bound):,.12g}"
        last = found[one.fact] == one.limits[-1]  # beyond the last bound, values were clamped before people were counted
        known = not last if end else not alone and not (last and is_hard(one.fact, one.question.table, one.limits[-1]))
        people = one.beyond(counts)
        beyond = f" ({number(people.people)} people beyond it: {number(people.low)} to {number(people.high)})"
        told.append(f"{one.fact} {limit}{beyond if known else ''}")
    return [f"limits found privately: {', '.join(told)}"]


def _limit(histogram: LimitHistogram, limit: int) -> str:
    """A limit of a ladder, in the unit of its column."""
    sign = -1 if histogram.fact.startswith(LOWER) else 1
    return f"{float(sign * limit * histogram.step):,.12g}"


def _searches(offer: Offer) -> list[str]:
    """What is found first, between which ends, and who is not seen."""
    if offer.found is None:
        return []
    several = offer.found.histograms
    told = [f"{one.fact} ({_limit(one, one.limits[0])} to {_limit(one, one.limits[-1])})" for one in several]
    lines = [f"Found      privately, at a fifth of the price: {', '.join(told)}"]
    most = max(one.clear for one in several)
    return [*lines, f"           (up to about {most} people beyond a limit may not show; the answer says how many they are)"]


def _subqueries(offer: Offer) -> list[str]:
    """What is released first, how far it may be off, and what is about the released number."""
    if offer.constants is None:
        return []
    lines = []
    for text, one in zip(offer.constants.texts, offer.constants.offers, strict=True):
        told = "; ".join(f"{name}: {found}" for name, found in _errors(one))
        lines.append(f"Subquery   ({text}): released first, at 1/{5 * len(offer.constants.texts)} of the price ({told})")
    about = "rows are compared with the numbers as released: error bars are about these, not about the true ones"
    return [*lines, f"           ({about})"] if in_rows(offer) else lines


def _errors(offer: Offer) -> list[tuple[str, str]]:
    """How far each column may be off; where limits are found first, under the lowest and the highest."""
    if offer.found is None:
        return [(name, statistic.told(place)) for name, statistic, place in offer.columns]
    pairs = zip(offer.found.lowest.columns, offer.found.highest.columns, strict=True)
    found = []
    for (name, low, place), (_, high, at) in pairs:
        least, most = low.error(place, offer.confidence), high.error(at, offer.confidence)
        told = f"{low.told(place)}; that is under the lowest limits"
        if least and most:
            told = f"{rounded(least)} under the lowest limits, {rounded(most)} under the highest"
        found.append((name, told))
    return found


def _hidden(name: str, question: Question) -> str:
    """That an aggregate is released, and paid for, without being shown."""
    tested = any(name in keep.names for keep in question.having)
    rule = next((keep.rule for keep in question.rules if keep.name == name), None)
    return f" (for {rule or 'HAVING'}, not shown)" if name not in question.shown and tested else ""


def _tracks(offer: Offer) -> list[str]:
    """Of geometric noise under a budget that counts rho: what it takes of each sum that the budget keeps."""
    if "geometric" not in noise_of(offer) or not counts_rho(offer.budget):
        return []
    shares = share_of(offer)
    both = "; it needs room in one of the two sums" if " or " in shares else ""
    return [f"Charge     {shares} of the whole budget{both}; compare() shows Gaussian noise beside it"] if shares else []


def bound_note(offer: Offer) -> str:
    """How much of one person counts, in a line; nothing where every row is a person."""
    bounding = offer.statistics[0].bounding
    if isinstance(bounding, EachRow):
        return ""
    if isinstance(bounding, KeepPersons):
        return "everybody counts once" if bounding.cells == 1 else f"limit for one person: {bounding.groups} groups"
    first = offer.statistics[0]
    if isinstance(first, CounterRelease) and bounding.decides(first.set):
        total = float((bounding.sum_limit(first.set) or 0) * first.set.measures[0].step)
        return f"limit for one person: about {total:,.12g} in all"
    if isinstance(bounding, Clip):
        longest = isqrt(bounding.limits.squares - 1) + 1
        several = "" if bounding.cells in (2, 3) else f", or {longest / 2:,.12g} in each of 4"
        norm = "" if bounding.cells == 1 else f"{several} (L2 norm over groups)"
        return f"limit for one person: about {longest} rows in one group{norm}"
    most = f"{bounding.most} row{'s' if bounding.most > 1 else ''}"
    groups = f", {bounding.rows} in each of {bounding.groups} groups" if isinstance(bounding, KeepGroups) else ""
    return f"limit for one person: about {most}{groups}"


def _protected(offer: Offer) -> str:
    tables = [table for table in offer.question.relation.tables if not table.public]
    first = next(table for table in tables if table.owner is None)  # others say through which table their rows have an owner
    whose = "each row, which is one person" if first.person is None else f"each {first.person}, with all its rows"
    if len({table.name for table in tables}) > 1:
        whose += f" in {' and '.join(dict.fromkeys(table.name for table in tables))}"
    return f"{whose} ({offer.bounding.unit.value})"


def _counts(offer: Offer) -> list[str]:
    """How much of a person counts: for the first statistic, then for each that bounds her in another way."""
    if offer.found is not None:
        return ["Counts     people up to the limits that are found count in full; people with more are scaled down to them"]
    told: dict[str, str] = {}  # what is said, and of which columns
    for statistic in offer.statistics:
        if isinstance(statistic, PeopleBeyond):
            continue
        told.setdefault(statistic.bounding.words, f"for {_names(offer, statistic)}: " if told else "")
    lines = [f"{'           ' if place else 'Counts     '}{names}{how}" for place, (how, names) in enumerate(told.items())]
    first = offer.statistics[0].bounding
    return [lines[0], *([] if isinstance(first, EachRow) else [f"           ({first.reason})"]), *lines[1:]]


def _rows(offer: Offer) -> str:
    if not offer.question.groups:
        return "one"
    if offer.choice is not None:
        return offer.choice.rows(offer.question)
    if offer.question.sets:
        return grouping_rows(offer.question)
    keys = [(len(group.listed), group.name) for group in offer.question.groups]
    several = f"combination of {' x '.join(f'{size} {name}' for size, name in keys)}"
    one = f"of the {keys[0][0]} values of {keys[0][1]}" if len(keys) == 1 else several
    return f"one for each {one}, even if nobody has it"


def _names(offer: Offer, statistic: Statistic) -> str:
    """The names of the columns that are read off a statistic."""
    return ", ".join(name for name, one, _ in offer.columns if one is statistic)


def _noises(offer: Offer) -> list[str]:
    """Each mechanism, for which columns, at which price."""
    found = [noise for one in offer.inner for noise in _noises(one)] if offer.constants is not None else []
    for search in [] if offer.found is None else offer.found.histograms:
        found.append(f"{search.noise} for {search.fact} ({search.guarantee})")
    for one in mechanisms(offer.statistics):
        parts = one.parts if isinstance(one, OneMechanism) else (one,)
        names = ", ".join(_names(offer, part) for part in parts) or "people beyond the limits"
        found.append(f"{parts[0].noise} for {names} ({one.guarantee})")
    return found
