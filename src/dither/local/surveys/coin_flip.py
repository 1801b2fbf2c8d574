"""Warner's randomized response to a yes-no question: heads, tell the truth; tails, let a second coin answer.

With t the probability of heads and y that of a yes from the second coin,

    P(yes | yes) = p = t + (1 - t) y        P(yes | no) = q = (1 - t) y

Theorem. It is epsilon-differentially private for epsilon = the largest of ln(p / q) and ln((1 - q) / (1 - p)), and for no
smaller one: these are all the ratios there are, and p > q. For fair coins p = 3/4 and q = 1/4: epsilon = ln 3.

From n answers with a share h of yes the number of people who mean yes is estimated by n (h - q) / (p - q). Its variance, for
given people, is the sum of n_yes p (1 - p) and n_no q (1 - q), over (p - q)^2; for answers that are themselves a random
sample with frequency f it is n h (1 - h) / (p - q)^2. With y = 1/2 and p = 1 - q the latter is, for the frequency,
f (1 - f) / n + (1 / (16 (p - 1/2)^2) - 1/4) / n.

Warner 1965.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.errors import NumberError
from dither.local.client_law import rounded_down, rounded_up
from dither.local.survey import Survey
from dither.local.surveys.direct_encoding import histogram
from dither.noise.bernoulli import Bernoulli
from dither.numeric.number import NumberLike, integer, ln, rational
from dither.numeric.search import halve_integers
from dither.privacy.unit import Unit, UnitLike

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEAST = Fraction(1, 10**9)  # so rarely may a coin fall on either side


@argument_errors
class CoinFlip(Survey):
    """Randomized response to a yes-no question, by two coins of any bias.

    Args:
        heads: the probability that the first coin says to tell the truth.
        yes: the probability that the second coin answers yes.
        unit: the neighbouring relation; something is replaced, and nothing added.

    Raises:
        NumberError: a probability is not rational, or within 1e-9 of 0 or 1.
        UnitError: the unit adds or removes somebody.

    Example:
        >>> from dither.local import CoinFlip
        >>> survey = CoinFlip()
        >>> print(survey.epsilon)
        ln(3)
        >>> survey.tally(survey.randomize([True, False, True]))
        Tally(coin flip, 3 reports, 0 rejected)
    """

    kind: ClassVar[str] = "coin flip"

    def __init__(self, *, heads: NumberLike = "1/2", yes: NumberLike = "1/2", unit: UnitLike = Unit.REPLACE_ONE) -> None:
        self.heads = rational(heads, name="heads")
        self.yes = rational(yes, name="yes")
        for name, value in (("heads", self.heads), ("yes", self.yes)):
            if not LEAST <= value <= 1 - LEAST:
                raise NumberError(name, value, "a coin that always falls the same way hides nothing", "'1/2'")
        p, q = self.chances
        super().__init__((True, False), epsilon=max(ln(p / q), ln((1 - q) / (1 - p))), unit=unit)

    @property
    def chances(self) -> tuple[Fraction, Fraction]:
        """P(yes | yes) and P(yes | no)."""
        return self.heads + (1 - self.heads) * self.yes, (1 - self.heads) * self.yes

    @property
    def support(self) -> tuple[float, float]:
        """p and q of a yes; a no supports no with 1 - q and 1 - p."""
        p, q = self.chances
        return float(p), float(q)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of one report: 0 for no and 1 for yes."""
        import numpy as np

        return np.dtype("<u1")

    def _encode(self, places: NDArray[np.int64]) -> NDArray[Any]:
        import numpy as np

        truth = places == 0  # the domain is (True, False)
        first = Bernoulli(self.heads).sample(truth.shape)
        second = Bernoulli(self.yes).sample(truth.shape)
        return np.asarray(np.where(first, truth, second), dtype=np.uint8)

    def _count(self, payload: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
        return histogram(payload, 2)

    def _supports(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """A yes supports yes, and a no supports no."""
        import numpy as np

        return np.array([counts[1], counts[0]], dtype=np.float64)

    def _each(self) -> tuple[Any, Any]:
        """p and q for yes, 1 - q and 1 - p for no."""
        import numpy as np

        p, q = self.support
        return np.array([p, 1 - q]), np.array([q, 1 - p])

    def channel(self) -> Channel:
        """The exact matrix: for fair coins 3/4 and 1/4."""
        p, q = self.chances
        return Channel([[p, 1 - p], [q, 1 - q]], (True, False), (True, False))

    def client_draws(self) -> dict[str, object]:
        """P(yes | yes) and P(yes | no): coins nearer to each other where they must be rounded."""
        p, q = self.chances
        return {"yes": rounded_down(p), "no": rounded_up(q)}

    def parameters(self) -> dict[str, object]:
        """The probabilities of the two coins, for the record."""
        return {"heads": str(self.heads), "yes": str(self.yes)}

    @classmethod
    def for_error(  # type: ignore[override]
        cls,
        *,
        people: SupportsIndex,
        half_width: NumberLike,
        confidence: NumberLike = "0.95",
        unit: UnitLike = Unit.REPLACE_ONE,
    ) -> CoinFlip:
        """The coins that tell the truth most rarely and still have an error within the half-width; the second is fair.

        `people` answer; an interval of a frequency is at most `half_width` to either side at this `confidence`; `unit` as
        in the class. A NumberError where no coin has an error that small.
        """
        count, wanted = integer(people, name="people", least=1), rational(half_width, name="half_width", positive=True)
        steps = 2**16

        def fits(heads: int) -> bool:
            return cls(heads=Fraction(heads, steps), unit=unit).error(count, confidence) <= wanted

        found = halve_integers(fits, 0, steps)
        if found == steps:
            why = "no coin has an error that small with so few people"
            raise NumberError("half_width", half_width, why, "more people, or a larger half-width")
        return cls(heads=Fraction(found, steps), unit=unit)

    def __repr__(self) -> str:
        return f"CoinFlip(heads='{self.heads}', yes='{self.yes}')"
