"""Which rule of partition selection: the one that shows keys with the fewest holders, computed before any data is seen.

Rules are compared by how many holders a key needs to be shown half of the time; those that need as many, by how likely a key
with that many holders is shown. What is then still equal goes to the one that is listed first.

    magic       keys alone                   the best for one or two keys a person, where people come or go
    geometric   keys and numbers of people   for one key a person: where people are replaced, or counts are wanted too
    gaussian    keys and numbers of people   from about three keys a person on
    truncated   keys and numbers of people   geometric or Gaussian noise of bounded support: where the noise is wide, that
                                             is many keys a person or a small epsilon
    weighted    keys and weights             where most people hold far fewer keys than max_keys; asked for by `held`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, SupportsIndex

from dither.arguments import argument_errors
from dither.density.unknown_keys.key_counts import PairsLike, PlainKey, TotalsLike
from dither.density.unknown_keys.key_rule import KeyRule
from dither.density.unknown_keys.magic_keys import MagicKeys
from dither.density.unknown_keys.rho_keys import RhoKeys
from dither.density.unknown_keys.threshold_keys import GaussianKeys, GeometricKeys
from dither.density.unknown_keys.truncated_keys import TruncatedGaussianKeys, TruncatedGeometricKeys, TruncatedRhoKeys
from dither.density.unknown_keys.weighted_keys import WeightedKeys
from dither.errors import DitherError, InputError, NumberError, PrecisionError
from dither.mechanisms.additive.additive import read_flag
from dither.numeric.balls import round_up
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import Unit, UnitLike
from dither.terminal import Explanation

HALF = "0.5"
RULES: dict[str, type[KeyRule]] = {
    "magic": MagicKeys,
    "geometric": GeometricKeys,
    "gaussian": GaussianKeys,
    "truncated geometric": TruncatedGeometricKeys,
    "truncated gaussian": TruncatedGaussianKeys,
}
COUNTS = "the keys, with how many people hold each"
SHOWS = {
    "magic": "the keys, without counts",
    **{name: COUNTS for name in RULES if name != "magic"},
    "weighted": "the keys, with a weight each: whoever holds t keys adds 1/sqrt(t) to every one of them",
}


@argument_errors
@dataclass(frozen=True)
class KeyChoice:
    """The best rule of partition selection, and how many people a key needs under the others. `keys` makes it.

    Args:
        name: the rule in a word: "magic", "geometric", "gaussian", "truncated geometric", "truncated gaussian", "weighted".
        rule: the rule itself.
        needs: holders for a key to be shown half of the time, by rule; None where a rule does not go that far.
        held: how many keys a holder has, in this comparison.

    Raises:
        DataError: from `count` and `release`, for what are no pairs, or no counts.

    Example:
        >>> from dither.density import keys
        >>> choice = keys(epsilon=1, delta="1e-6", max_keys=1)
        >>> choice.count([("ann", "flu"), ("bob", "flu")])
        {'flu': 2}
        >>> choice.release({"flu": 100})
        ('flu',)
    """

    name: str
    rule: KeyRule
    needs: dict[str, int | None]
    held: int
    __repr__ = short_repr

    @property
    def guarantee(self) -> Guarantee:
        """(epsilon, delta), the same for each of the rules compared."""
        return self.rule.guarantee

    def count(self, pairs: PairsLike) -> dict[PlainKey, int]:
        """What `release` takes, from `pairs` (person, key). Not to be published."""
        return self.rule.count(pairs)

    def release(self, value: TotalsLike) -> Any:
        """The keys that are shown, in order, as the rule shows them, from `value`: a mapping of keys to counts."""
        return self.rule.release(value)

    def explain(self) -> Explanation:
        """What was chosen and why, in plain words."""
        rule, need = self.rule, self.needs[self.name]
        each = f"{rule.max_keys} keys of a person are" if rule.max_keys > 1 else "one key of a person is"
        others = [f"'{name}' {'cannot do this' if n is None else n}" for name, n in self.needs.items() if name != self.name]
        lines = [
            f"Take '{self.name}', which shows {SHOWS[self.name]}.",
            f"A key is shown half of the time if {need} people hold it, nine times of ten if "
            f"{_holders(rule, '0.9', self.held)} do.",
            *([f"Others need: {', '.join(others)}."] if others else []),
            f"At most {each} counted.",
            f"That any key is shown that one person alone holds has a probability of {round_up(rule.delta):.3g} at most."
            if rule.min_people == 1
            else f"A key that fewer than {rule.min_people} people hold is never shown.",
            f"Promise: {rule.guarantee}.",
        ]
        return Explanation("\n".join(lines))

    def __str__(self) -> str:
        return str(self.explain())


@argument_errors
def keys(
    *,
    epsilon: NumberLike,
    delta: NumberLike,
    max_keys: SupportsIndex,
    counts: bool = False,
    held: SupportsIndex | None = None,
    unit: UnitLike = Unit.ADD_REMOVE,
    min_people: SupportsIndex = 1,
) -> KeyChoice:
    """Partition selection: the rule that shows keys with the fewest holders; with `counts`, one that says how many they are.

    `held` is a public guess of how many keys a person has: with it, the weighted rule is compared too.

    Args:
        epsilon: the promise, together with `delta`.
        delta: the promise: not below the probability that any key is shown which one person alone holds.
        max_keys: how many different keys of one person are counted, 1 or more.
        counts: whether only rules are compared that also show counts.
        held: a public guess of how many keys a person has, up to `max_keys`.
        unit: whose coming, going or replacement is hidden, of people and not of rows; one who comes or goes unless said.
        min_people: a key that fewer people hold is never shown; 1 unless said.

    Raises:
        NumberError: a parameter out of its range, `held` above `max_keys`, or `counts` that is no truth value.
        SizeError: a `max_keys` that no rule goes through.
        UnitError: a unit that is not known, or one of rows.

    Example:
        >>> from dither.density import keys
        >>> choice = keys(epsilon=1, delta="1e-6", max_keys=4)
        >>> choice.name, choice.needs
        ('gaussian', {'magic': 53, 'geometric': 60, 'gaussian': 44, 'truncated geometric': 54, 'truncated gaussian': 46})
    """
    most = integer(max_keys, name="max_keys", least=1)
    own = most if held is None else integer(held, name="held", least=1)
    if own > most:
        raise NumberError("held", held, f"at most {most} keys of a person are counted", "max_keys or fewer")
    names = [name for name in RULES if not (read_flag(counts, name="counts") and name == "magic")]
    kinds: dict[str, type[KeyRule]] = {name: RULES[name] for name in names}
    if held is not None and not counts:
        kinds["weighted"] = WeightedKeys
    found: dict[str, KeyRule] = {}
    reached: dict[str, int] = {}
    chances: dict[str, float] = {}
    refused: list[Exception] = []
    for name, kind in kinds.items():
        try:
            rule = kind(epsilon=epsilon, delta=delta, max_keys=most, unit=unit, min_people=min_people)
            reached[name] = _holders(rule, HALF, own)
            chances[name] = _chance(rule, reached[name], own)
            found[name] = rule  # only now: a rule that does not say what it needs is not compared
        except (InputError, PrecisionError) as error:
            refused.append(error)
    if not found:
        raise refused[0]
    best = min(found, key=lambda name: (reached[name], -chances[name], list(kinds).index(name)))
    needs = {name: reached.get(name) for name in kinds}
    return KeyChoice(best, found[best], needs, own)


def rule_at(
    amount: Number | Fraction,
    *,
    pure: bool,
    delta: Fraction,
    max_keys: int,
    unit: Unit,
    min_people: int,
    counts: bool = False,
) -> KeyRule:
    """Return the best rule at a price: epsilon where `pure`, otherwise rho; with `counts`, one that also shows counts."""
    same: dict[str, Any] = {"delta": delta, "max_keys": max_keys, "unit": unit, "min_people": min_people}
    if pure:
        return keys(epsilon=amount, counts=counts, **same).rule
    return _best(lambda kind: kind(rho=amount, **same), (RhoKeys, TruncatedRhoKeys))


def geometric_rule(rule: KeyRule, epsilon: Number | Fraction) -> KeyRule:
    """The better of the rules with geometric noise, otherwise as this one."""
    same: dict[str, Any] = {"delta": rule.delta, "max_keys": rule.max_keys, "unit": rule.unit, "min_people": rule.min_people}
    return _best(lambda kind: kind(epsilon=epsilon, **same), (GeometricKeys, TruncatedGeometricKeys))


def _best(make: Callable[[Any], KeyRule], kinds: tuple[type[KeyRule], ...]) -> KeyRule:
    found: list[KeyRule] = []
    refused: list[DitherError] = []
    for kind in kinds:
        try:
            found.append(make(kind))
        except (InputError, PrecisionError) as error:  # noise that one of them does not draw
            refused.append(error)
    if not found:
        raise refused[0]
    return min(found, key=lambda rule: (need := rule.holders(HALF), -rule.chance(need)))


def _chance(rule: KeyRule, holders: int, held: int) -> float:
    return rule.chance(holders, held) if isinstance(rule, WeightedKeys) else rule.chance(holders)


def _holders(rule: KeyRule, chance: str, held: int) -> int:
    return rule.holders(chance, held) if isinstance(rule, WeightedKeys) else rule.holders(chance)
