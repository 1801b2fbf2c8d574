"""Sequential and parallel composition: guarantees one after the other, or side by side on disjoint parts of the data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import overload

from dither.arguments import argument_errors
from dither.errors import GuaranteeError, UnitError
from dither.privacy.guarantee.approx import Approx
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.guarantee.zcdp import Zcdp
from dither.privacy.loss.loss import Loss, sum_of
from dither.privacy.unit import Unit, UnitLike, read_unit


@overload
def compose(guarantees: Iterable[Guarantee]) -> Guarantee: ...
@overload
def compose(guarantees: Iterable[Loss]) -> Loss: ...


@argument_errors
def compose(guarantees: Iterable[Guarantee] | Iterable[Loss]) -> Guarantee | Loss:
    """Adaptive composition of all of them, one after the other: g + h + ...

    Args:
        guarantees: at least one guarantee, all about one unit; or losses of mechanisms that are fixed in advance.

    Raises:
        GuaranteeError: there is none, or one of them is neither a guarantee nor a loss.
        UnitError: their units differ.

    Example:
        >>> from dither import compose, gdp, pure
        >>> print(compose([pure(1), gdp(1), pure(2)]))
        ε = 3 + μ = 1 Gaussian DP (add/remove one person)
    """
    listed = list(guarantees) if isinstance(guarantees, Iterable) else guarantees
    if isinstance(listed, list) and listed and all(isinstance(item, Loss) for item in listed):
        return sum_of(item for item in listed if isinstance(item, Loss))
    items = read_guarantees(listed, name="guarantees", empty="an empty sum has no unit")
    while len(items) > 1:  # in pairs: a long sum then takes n log n steps and not n^2
        pairs = [a + b for a, b in zip(items[::2], items[1::2], strict=False)]
        items = pairs + items[len(items) & ~1 :]
    return items[0]


def read_guarantees(values: Iterable[object], *, name: str, empty: str) -> list[Guarantee]:
    """A list of guarantees with at least one in it."""
    items = list(values) if isinstance(values, Iterable) else []
    if not items:
        raise GuaranteeError(name, values, empty, "at least one guarantee")
    found: list[Guarantee] = []
    for item in items:
        if not isinstance(item, Guarantee):
            raise GuaranteeError(name, item, "it is not a guarantee", "pure(1), or any other Guarantee")
        found.append(item)
    return found


@argument_errors
def parallel(cells: Iterable[Guarantee], *, unit: UnitLike = Unit.ADD_REMOVE, inside: Guarantee | None = None) -> Guarantee:
    """Parallel composition: mechanisms on disjoint cells of the data, each person's records lying in one cell.

    The guarantees of the cells are about adding or removing. *Add/remove one person* changes one cell: the worst of
    them. *Replace one person* moves a person from one cell to another, which costs what the two worst cells cost
    together; or it changes a person inside one cell, which costs `inside` (for a count that is nothing, as the count
    stays the same), or if that is not known, twice the worst cell, by going over the data without that person.

    Args:
        cells: the guarantee of each cell, about adding or removing.
        unit: of the result: that of the cells, or the replacement that goes with it.
        inside: the cost of a change inside one cell, where that is known, about the replacement.

    Raises:
        GuaranteeError: there is no cell, something is no guarantee, or the cells have no currency in common.
        UnitError: a cell is about a replacement, the units differ, or the wanted one does not follow.

    Example:
        >>> from dither import parallel, pure
        >>> print(parallel([pure(1), pure(2)]))
        ε = 2 (add/remove one person)
        >>> print(parallel([pure(1), pure(2)], unit="replace one person"))
        ε = 4 (replace one person)
    """
    items = read_guarantees(cells, name="cells", empty="a partition has at least one cell")
    wanted = read_unit(unit)
    if not (inside is None or isinstance(inside, Guarantee)):
        raise GuaranteeError("inside", inside, "it is not a guarantee", "pure(1), or any other Guarantee")
    base = items[0].unit
    if any(item.unit is not base for item in items) or base.replacement is base:
        raise UnitError(
            "unit",
            [str(item.unit) for item in items[:3]],
            "cells are charged for adding or removing",
            str(Unit.ADD_REMOVE),
        )
    if wanted is base:
        return _worst(items)
    if wanted is not base.replacement:
        raise UnitError("unit", wanted.value, f"it does not follow from '{base}'", str(base.replacement))
    stays = _worst(items).to(wanted) if inside is None else inside
    if stays.unit is not wanted:
        raise UnitError("inside", stays.unit.value, "a change inside a cell is a replacement", str(wanted))
    if len(items) == 1:
        return stays
    moves = Guarantee(wanted, _two_worst(items).parts)
    return _worst([stays, moves])


def _two_worst(items: list[Guarantee]) -> Guarantee:
    """A guarantee that covers the sum of any two of them."""
    worst = _worst(items)
    if worst not in items:
        return 2 * worst
    others = list(items)
    others.remove(worst)
    return worst + _worst(others)


def _worst(items: list[Guarantee]) -> Guarantee:
    """A guarantee that covers each of them."""
    for candidate in items:
        if all(item.within(candidate) for item in items):
            return candidate
    if all(not item.conversion.split()[1] for item in items):
        epsilon = max(item.conversion.split()[0] for item in items)
        lost = max(item.charge().delta for item in items)
        return Guarantee(items[0].unit, (Approx.of(epsilon, lost),))
    charges = [item.charge() for item in items]
    rhos = [charge.rho for charge in charges if charge.rho is not None]
    if len(rhos) < len(charges):
        raise GuaranteeError(
            "cells", [str(item) for item in items[:3]], "they have no currency in common", "guarantees of one kind"
        )
    return Guarantee(items[0].unit, (Zcdp(max(rhos), max(charge.delta for charge in charges)),))
