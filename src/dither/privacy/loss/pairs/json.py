"""Pairs as stored records."""

from __future__ import annotations

from dither.privacy.loss.pairs.discrete_gaussian import DiscreteGaussian
from dither.privacy.loss.pairs.finite import Finite
from dither.privacy.loss.pairs.fixed_size_sampled import Swapped
from dither.privacy.loss.pairs.laplace import Laplace
from dither.privacy.loss.pairs.normal import Normal
from dither.privacy.loss.pairs.pair import Pair
from dither.privacy.loss.pairs.poisson_sampled import Sampled
from dither.privacy.loss.pairs.poisson_sampled_normal import SampledNormal
from dither.privacy.loss.pairs.shuffled import Shuffled
from dither.privacy.records import stored_count, stored_list

KINDS: dict[str, type[Pair]] = {
    pair.kind: pair for pair in (DiscreteGaussian, Finite, Laplace, Normal, Sampled, SampledNormal, Shuffled, Swapped)
}

Terms = tuple[tuple[Pair, int], ...]


def write_terms(terms: Terms) -> list[list[object]]:
    return [[{"kind": pair.kind, **pair.to_json()}, count] for pair, count in terms]


def read_terms(stored: object) -> Terms:
    return tuple((read_pair(row), stored_count(count)) for row, count in stored_list(stored))


def read_pair(stored: object) -> Pair:
    if not isinstance(stored, dict):
        raise ValueError("a pair")
    fields = {**stored, "base": read_pair(stored["base"])} if "base" in stored else stored
    pair = KINDS[stored["kind"]].from_json(fields)
    if isinstance(pair, SampledNormal) != (isinstance(pair, Sampled) and isinstance(pair.base, Normal)):
        raise ValueError("a sample of Gaussian noise has its own kind")
    return pair
