"""Networks by private stochastic gradient descent: a Poisson sample, clipped gradients, noise, a step; as often as planned.

    v    the gradient of a row, clipped, in steps of 2^-14 of the clip                (`lattice_gradients.py`)
    G    the sum of v over a sample, with noise                                       (`sampled_release.py`)
    n    the number of rows: public, or released with noise
    w    <- w - rate G C 2^-14 / (q n) with momentum: the *expected* size of a sample, never its size

Theorem. The weights are (epsilon, delta)-differentially private, under the premise of `row_independence.py`.

Proof. The plan is fixed by public facts. All that training sees of rows are the releases of `SampledRelease`, each dominated
by its pair, and n; `sampled_price.py` adds them up. The rest is post-processing: no line of it asks how large a sample was.

What a ledger stores are the weights at the end, not the steps: these would be megabytes, and floats of another processor
would make other weights of them. Nothing depends on the data otherwise: no early stop, no choice of a rate.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from dither.errors import DataError, NumberError
from dither.learn.base.cells import Cells, Floats, Integers
from dither.learn.base.classifier import PrivateClassifier
from dither.learn.base.columns import BoundsLike
from dither.learn.base.facts import Facts, read_setting
from dither.learn.base.release import Release, to_json
from dither.learn.base.row_count import COUNT_SHARE, released_count
from dither.learn.base.rows import Rows, one_hot
from dither.learn.base.targets import ClassesLike
from dither.learn.networks.lattice_gradients import LENGTH, MOST_CHUNK, LatticeGradients
from dither.learn.networks.modules import HIDDEN, flat_weights, read_network, torch_library, with_weights
from dither.learn.networks.row_independence import check_network
from dither.learn.networks.sampled_price import SamplePlan, read_sampled_price
from dither.learn.networks.sampled_release import SampledRelease
from dither.ledger.ledger import Ledger
from dither.noise.gaussian import RoundedGaussian
from dither.numeric.number import NumberLike, integer, rational
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike
from dither.query.features import Features

MOMENTUM = 0.8
LARGEST_WEIGHT = 2.0**10
RATE_BY_NOISE, RATES = 0.05, (0.02, 1.0)
MOST_STEPS, MOST_SLACK = 100_000, 2**20
LEAST_RATE = Fraction(1, 10**6)


class PrivateSGD(PrivateClassifier):
    """DP-SGD: a network for two or more classes, (epsilon, delta)-differentially private; it needs `dither[torch]`.

    Args:
        network: a `torch.nn.Module` from (rows, columns) to (rows, classes). It is copied; its weights at the start are
            public. Left out, one hidden layer of 32.
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.approx`; where `rate` is 1 also `dither.zcdp` and `dither.gdp`.
        bounds: the public range of each column, which is scaled to [-1, 1]; or lists of categories.
        classes: the public list of labels. Rows with another label are left out.
        rate: the probability with which each person is in a sample, at each step; 1 takes all rows.
        steps: how many there are.
        clip: gradients of rows are shortened to this L2 norm.
        learning_rate: of the steps; left out, a rule says it: the less noise there is to the gradients, the longer they are.
        slack: how far one row may move what other rows add, in steps of 2^-14 of the clip; it is paid for in noise.
        chunk: how many rows torch is given at once. 1 keeps rows apart altogether, and is slow.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        rows: the number of rows, if it is public; rules then take it in place of a released count.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        MissingExtraError: by `fit`, where torch is not installed.
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit, or the
            network does not keep rows apart.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> from dither.learn import PrivateSGD
        >>> model = PrivateSGD(epsilon=1, delta="1e-6", bounds=(0, 16), classes=list(range(10)))
        >>> print(model.quote(1500, 64))
        Model      PrivateSGD
        Price      (ε = 1, δ = 1e-06) (add/remove one person)
        Expect     60 steps, whose mean has noise of length 0.14, where the gradient of
                   a row has 1 at most
    """

    _by_person: ClassVar[bool] = True

    network_: Any
    n_iter_: int

    def __init__(
        self,
        network: Any = None,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        classes: ClassesLike = None,
        rate: NumberLike = "0.25",
        steps: int = 60,
        clip: float = 1.0,
        learning_rate: float | None = None,
        slack: int = 64,
        chunk: int = 64,
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        rows: int | None = None,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        self.network = network
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.classes = classes
        self.rate = rate
        self.steps = steps
        self.clip = clip
        self.learning_rate = learning_rate
        self.slack = slack
        self.chunk = chunk
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    # -- public facts ------------------------------------------------------------------------------------------

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        self._settings()
        facts = super()._facts(cells, labels)
        return evolve(facts, price=self._priced(facts)[0])

    def _settings(self) -> tuple[float, float | None, int, int]:
        """clip, learning rate, slack and chunk, read."""
        chunk = integer(self.chunk, name="chunk", least=1)
        slack = integer(self.slack, name="slack", least=0)
        if chunk > MOST_CHUNK:
            raise NumberError("chunk", chunk, f"sums of more than {MOST_CHUNK} rows would not be exact", "chunk=64")
        if slack > MOST_SLACK:
            raise NumberError("slack", slack, f"the clip itself is {LENGTH} steps", "slack=64")
        clip = read_setting(self.clip, "clip", 1e-6, 1e6, "clip=1.0")
        if self.learning_rate is None:
            return clip, None, slack, chunk
        return clip, read_setting(self.learning_rate, "learning_rate", 1e-9, 1e6, "learning_rate=0.3"), slack, chunk

    def _priced(self, facts: Facts) -> tuple[Any, SamplePlan]:
        rate, steps = rational(self.rate, name="rate"), integer(self.steps, name="steps", least=1)
        if not LEAST_RATE <= rate <= 1:
            raise NumberError("rate", self.rate, "it is the probability of being in a sample, from 1e-6 to 1", "rate='0.1'")
        if steps > MOST_STEPS:
            raise NumberError("steps", steps, f"{MOST_STEPS:,} steps are the most", "steps=100")
        stated = (self.epsilon, self.delta, self.guarantee, facts.price.unit)
        return read_sampled_price(*stated, rate=rate, steps=steps)

    # -- the way of a fit --------------------------------------------------------------------------------------

    def _rehearse(self, facts: Facts) -> None:
        """Before the charge: the network, its premise on made-up rows, and noise of that size."""
        network, gradients = self._network(facts)
        slack, plan = self._settings()[2], self._priced(facts)[1]
        RoundedGaussian(sigma2=plan.variance((LENGTH + slack) * facts.rows_per_person))
        check_network(network, gradients, width=facts.width, classes=len(facts.classes), slack=slack)

    def _released(self, facts: Facts, rows: Rows) -> str:
        """The weights at the end, as the whole numbers that their bits are, and the number of rows."""
        slack, plan = self._settings()[2], self._priced(facts)[1]
        release = SampledRelease(facts.price, rows, facts.rows_per_person, plan, LENGTH + slack)
        weights = self._trained(facts, release, plan).view(np.int32).astype(np.int64)
        return to_json([weights, *release.released])

    def _trained(self, facts: Facts, release: SampledRelease, plan: SamplePlan) -> NDArray[np.float32]:
        """The mean of the weights of the second half of the steps."""
        network, gradients = self._network(facts)
        clip, stated, _, _ = self._settings()
        n, _, _ = released_count(facts, release)
        noise = relative_noise(facts, plan, n, gradients.size)
        learning_rate = float(np.clip(RATE_BY_NOISE / noise, *RATES)) if stated is None else stated
        scale = clip / LENGTH / (float(plan.rate) * n)
        weights = flat_weights(network)
        speed, total, counted = np.zeros(gradients.size), np.zeros(gradients.size), 0
        for step in range(plan.steps):

            def statistic(rows: Rows, weights: NDArray[np.float32] = weights) -> Integers:
                return gradients.sums(weights, row_inputs(rows, facts), rows.labels)

            speed = MOMENTUM * speed + scale * release.step(statistic, gradients.size)
            moved = np.clip(np.nan_to_num(weights - learning_rate * speed), -LARGEST_WEIGHT, LARGEST_WEIGHT)
            weights = moved.astype(np.float32)
            if step >= plan.steps // 2:
                total, counted = total + weights, counted + 1
        return (total / counted).astype(np.float32)

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        """From what is stored: the weights, and the number of rows."""
        network = read_network(self.network, facts.width, len(facts.classes))
        size = flat_weights(network).size
        stored = release.gaussian(_unread, (size,), norm2=1, share=1 - COUNT_SHARE)  # of a replay: it draws nothing
        weights, counts = stored.astype(np.int32).view(np.float32), released_count(facts, release)[2]
        return {"network_": with_weights(network, weights), "n_iter_": self._priced(facts)[1].steps, "row_counts_": counts}

    def _network(self, facts: Facts) -> tuple[Any, LatticeGradients]:
        clip, _, _, chunk = self._settings()
        network = read_network(self.network, facts.width, len(facts.classes))
        return network, LatticeGradients(network, clip=clip, chunk=chunk)

    def _fit_features(self, features: Features, y: Any, person: Any) -> Self:
        if features.max_rows > 1:
            why = "a sample is of persons, and rows that a dataset gives do not say whose they are"
            raise DataError("max_rows", features.max_rows, why, "features(sql, target=..., max_rows=1)")
        return super()._fit_features(features, y, person)

    def _spelled(self, name: str, value: Any) -> str:
        """A network as its layers and a digest of its weights: what tells one fit from another."""
        if name != "network" or value is None:
            return super()._spelled(name, value)
        digest = hashlib.sha256()
        for key, tensor in sorted(value.state_dict().items()):
            digest.update(f"{key} {tuple(tensor.shape)}".encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        frozen = [key for key, one in value.named_parameters() if not one.requires_grad]
        return f"{value!r} {digest.hexdigest()} {frozen}"

    # -- predictions and words ---------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`, for each row of `X`, which is asked about alone."""
        rows = self._predicted(X)
        torch = torch_library()
        found = np.zeros((rows.count, len(self.classes_)))
        with torch.no_grad():
            for place, row in enumerate(
                row_inputs(rows, self.facts_)
            ):  # of several at once, one might change another's bits
                found[place] = self.network_(torch.from_numpy(row[None].copy()))[0].double().numpy()
        powers = np.exp(found - found.max(axis=1, keepdims=True, initial=-np.inf))
        return powers / powers.sum(axis=1, keepdims=True)

    def _made_of(self) -> str:
        size, plan = self.released_[0].size, self._priced(self.facts_)[1]
        return f"{plan.steps} noisy sums of gradients, each on a sample; the {size:,} weights are made of them alone"

    def _expect(self, facts: Facts, n: int) -> list[str]:
        plan = self._priced(facts)[1]
        noise = relative_noise(facts, plan, n, self._weight_count(facts))
        return [f"{plan.steps} steps, whose mean has noise of length {noise:.2g}, where the gradient of a row has 1 at most"]

    def _weight_count(self, facts: Facts) -> int:
        """How many weights are trained; without torch, where no network is given."""
        if self.network is None:
            return HIDDEN * (facts.width + 1 + len(facts.classes)) + len(facts.classes)
        return int(flat_weights(read_network(self.network, facts.width, len(facts.classes))).size)


def relative_noise(facts: Facts, plan: SamplePlan, n: float, weights: int) -> float:
    """The length of the noise of the mean of all steps, in clips: for rules of thumb."""
    one = float(plan.multiplier2) ** 0.5 * facts.rows_per_person / (float(plan.rate) * n)
    return one * float(weights / plan.steps) ** 0.5


def row_inputs(rows: Rows, facts: Facts) -> NDArray[np.float32]:
    """Rows as a network is given them, each from its own cells."""
    vectors: Floats = one_hot(rows, facts.columns)
    return vectors.astype(np.float32)


def _unread(rows: Rows) -> Integers:
    raise AssertionError("a replay calls no statistic")
