"""The loss of a mechanism: never less than what its own law shows, never more than its guarantee."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dither
from dither import Loss, ln
from dither.errors import GuaranteeError
from tests.privacy import pairs
from tests.privacy.oracles import divergence

ODDS = (Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(5, 2), Fraction(7))


def geometric_pair(a: Fraction, shift: int, reach: int = 60) -> pairs.Pair:
    """What comes out of the geometric mechanism with ratio a at 0 and at `shift`, up to far tails."""
    laws = []
    for centre in (0, shift):
        inner = [(1 - a) / (1 + a) * a ** abs(x - centre) for x in range(-reach, reach + shift + 1)]
        laws.append((*inner, 1 - sum(inner)))
    return laws[0], laws[1]


@pytest.mark.parametrize("sensitivity", [1, 2, 4])
def test_the_geometric_mechanism_for_every_move(sensitivity):
    mechanism = dither.Geometric(epsilon="ln(3)", sensitivity=sensitivity)
    if sensitivity == 1:
        assert mechanism.loss().terms == Loss.pure("ln(3)").terms
    loss = dither.Geometric(epsilon=ln(3) * sensitivity, sensitivity=sensitivity).loss()  # ratio 1/3 a step
    for shift in range(1, sensitivity + 1):
        law = geometric_pair(Fraction(1, 3), shift)
        for ratio in ODDS:
            found = Fraction(loss.delta(ln(ratio) if ratio != 1 else 0))
            assert divergence(law, ratio) <= found
            if shift == sensitivity:
                assert found - divergence(law, ratio) < Fraction(1, 10**12)


@pytest.mark.parametrize(
    "mechanism",
    [
        dither.Geometric(epsilon=1, sensitivity=3),
        dither.Geometric(epsilon=1, sensitivity=500),
        dither.Geometric(epsilon=1, sensitivity=2, dimension=2),
        dither.Laplace(epsilon=1, sensitivity=1),
        dither.Gaussian(sigma=2, l2_sensitivity=1, dimension=3),
        dither.DiscreteGaussian(sigma2=4, l2_sensitivity=2),
        dither.RandomizedResponse(p="3/4"),
        dither.Flat(["a", "b", "c"], epsilon=1),
        dither.PermuteAndFlip(candidates=["a", "b"], epsilon=1, sensitivity=1),
    ],
)
@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_a_loss_is_no_worse_than_the_guarantee(mechanism, delta):
    loss, promise = mechanism.loss(), mechanism.guarantee
    for count in (1, 30):
        assert (count * loss).epsilon(delta) <= (count * promise).epsilon(delta) * (1 + 2e-6)


def test_a_selection_has_the_loss_of_its_epsilon():
    chosen = dither.Exponential(candidates=["a", "b"], epsilon=1, sensitivity=1)
    assert chosen.loss().terms == Loss.pure(1).terms  # true, and not as tight as its bounded range


def test_noise_for_real_numbers_costs_a_hair_more_than_continuous_noise():
    mechanism = dither.Laplace(epsilon=1, sensitivity=1)
    (pair, _), *_ = mechanism.loss().terms
    assert 1 <= float(pair.e) < 1 + 1e-7
    assert (1000 * dither.Laplace(epsilon="0.05", sensitivity=1).loss()).epsilon("1e-6") < 8.2046
    assert (1000 * dither.pure("0.05")).epsilon("1e-6") > 8.28


def test_combinations_add_up():
    noise = dither.Gaussian(sigma=2, l2_sensitivity=1, integers=True)
    answer = dither.RandomizedResponse(epsilon=1, unit="replace one person")
    assert dither.Repeated(mechanism=noise, times=4).loss().terms == Loss.gaussian(1).terms
    assert dither.Processed(mechanism=answer, function=bool).loss().terms == Loss.pure(1).terms
    flat = dither.Flat(["a", "b", "c"], epsilon=1)
    both = dither.Together(mechanisms=(answer, flat)).loss()
    assert both.terms == (Loss.pure(1) + Loss.randomized_response(1, k=3)).terms
    assert both.unit is dither.Unit.REPLACE_ONE


def test_vectors_of_discrete_gaussians_have_no_known_pair():
    with pytest.raises(GuaranteeError, match="curve"):
        dither.DiscreteGaussian(sigma2=4, l2_sensitivity=1, dimension=2).loss()
    assert dither.DiscreteGaussian(sigma2=4, l2_squared="1/2").loss().terms == ()


def test_the_largest_whole_move_that_the_sensitivity_allows():
    for squared, shift in ((1, 1), (4, 2), ("8.9", 2), (9, 3)):
        mechanism = dither.DiscreteGaussian(sigma2=4, l2_squared=squared)
        assert mechanism.loss().terms == Loss.discrete_gaussian(4, shift=shift).terms
