"""What quotes and suggestions say before any data is there: numbers of the noise, and nothing that a data set refutes."""

from __future__ import annotations

import re

import pytest

from dither.learn import suggest
from dither.learn.base.release import Release
from tests.learn.cases import COLUMNS, all_cases, as_data, plain_rows
from tests.learn.recorder import rows_of

CASES = all_cases()
REFUTED = re.compile(
    r"close to|hardly|better|beats|exceeds|without privacy|is small|is felt|steadier|no private method|signal|chance"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("n", [5, 300, 10**6])
def test_no_quote_says_how_good_a_model_will_be(case, n):
    """That depends on the data, which a quote does not see."""
    for said in case.make().quote(n, COLUMNS).words:
        assert not REFUTED.search(said)


@pytest.mark.parametrize("n", [50, 500, 5000, 10**6])
@pytest.mark.parametrize("epsilon", ["0.1", 1])
def test_no_suggestion_says_how_good_a_model_will_be(n, epsilon):
    for columns in (3, 30):
        for classes in (None, 2, 5):
            for delta in (None, "1e-6"):
                assert not REFUTED.search(str(suggest(n, columns, classes, epsilon, delta)))


class Scales(Release):
    """The deviation of the noise of each release, in its own steps."""

    def gaussian(self, statistic, shape, *, norm2, share, weights=None):
        self.scales = [*getattr(self, "scales", []), float(self.variance(norm2, share)) ** 0.5]
        return super().gaussian(statistic, shape, norm2=norm2, share=share, weights=weights)

    def geometric(self, statistic, shape, *, norm1, share):
        self.scales = [*getattr(self, "scales", []), float(self.scale(norm1, share)) * 2**0.5]
        return super().geometric(statistic, shape, norm1=norm1, share=share)


UNITS = {  # which release the sentence is about, and how many rows a step of it is
    "naive bayes": (0, 2**0.5 / 2**20),
    "naive bayes gaussian": (0, COLUMNS**0.5 / 2**10),
    "centroid": (0, 2**0.5 / 2**10),
    "centroid gaussian": (0, 0.5 / 2**12),
    "boosting": (-1, 1 / 2**15),
    "boosting replace": (-1, 1 / 2**15),
    "forest": (-1, 1),
    "logistic": (-1, 1 / 2**27),
}


@pytest.mark.parametrize("name", UNITS)
def test_the_noise_that_is_quoted_is_the_noise_that_is_drawn(name):
    case = next(one for one in CASES if one.name == name)
    model, n = case.make(**{"forest": {"trees": 10}, "logistic": {"rows": 60}}.get(name, {})), 60
    facts, rows = rows_of(model, *as_data(plain_rows(n), case.kind))
    release = Scales(facts.price, rows, facts.rows_per_person)
    model._learn(facts, release)
    place, unit = UNITS[name]
    drawn = release.scales[place] * unit / (n if name == "logistic" else 1)
    said = float(re.search(r"deviation ([\d.e+-]+)", " ".join(model.quote(n, COLUMNS).words))[1])
    assert said == pytest.approx(drawn, rel=0.06)
