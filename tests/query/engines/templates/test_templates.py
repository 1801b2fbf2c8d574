"""Every class of a family has its template, and a name of its own in stored questions."""

from __future__ import annotations

import inspect

import pytest

from dither.query.engines.templates.counter_sums import SUMS
from dither.query.engines.templates.person_totals import TOTALS
from dither.query.engines.templates.totals import SELECTS
from dither.query.plan.counters import Counter
from dither.query.plan.functions import Rounding
from dither.query.plan.mathematics.pair_counters import PairValues
from dither.query.plan.person_totals import PersonTotal
from dither.query.plan.spelling import code_of, spelled_attributes
from dither.query.statistics.bounding import Bounding


def concrete(family: type) -> set[type]:
    """The classes of a family of which there are instances."""
    inner = {kind for own in type.__subclasses__(family) for kind in concrete(own)}
    return inner or ({family} if not inspect.isabstract(family) else set())


@pytest.mark.parametrize(("family", "templates"), [(Counter, SUMS), (PersonTotal, TOTALS), (Bounding, SELECTS)])
def test_every_class_has_a_template(family, templates):
    assert set(templates) == concrete(family)


@pytest.mark.parametrize(
    ("family", "name"), [(Counter, "kind"), (PersonTotal, "kind"), (Rounding, "way"), (Bounding, "way")]
)
def test_stored_questions_tell_the_classes_of_a_family_apart(family, name):
    names = [vars(kind)[name] for kind in concrete(family)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("family", [Counter, PersonTotal, Rounding])
def test_a_family_shares_one_code(family):
    for kind in concrete(family):
        assert code_of(kind) == (PairValues.code if issubclass(kind, PairValues) else family.code)
        assert {"kind", "way"} & set(spelled_attributes(kind))


def test_a_class_without_a_name_of_its_own_has_no_code():
    class Unnamed:
        code, kind, spelled_attributes = "unnamed", "one", ("kind",)

    assert code_of(Unnamed) == "unnamed"
    with pytest.raises(AssertionError, match="no code of its own"):
        code_of(type("Other", (Unnamed,), {}))
    assert code_of(type("Named", (Unnamed,), {"kind": "two"})) == "unnamed"
