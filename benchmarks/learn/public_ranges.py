"""Ranges of columns, fixed by hand and never read off rows.

Of iris, wine and breast cancer: the ranges that scikit-learn prints in the description of each, moved outward to one
significant digit. Of diabetes: the ranges in the docstring of `load_diabetes`, the target moved outward in the same way. Of
digits: a pixel counts how many of 16 are set. Of Adult: what a column can hold by its unit, and the list of the survey's
documentation (`adult.names`) for words; a dollar above the highest is moved to it.
"""

from __future__ import annotations

IRIS = [(4, 8), (2, 5), (1, 7), (0.1, 3)]  # centimetres

WINE = [
    (10, 20),  # alcohol
    (0.7, 6),  # malic acid
    (1, 4),  # ash
    (10, 30),  # alcalinity of ash
    (70, 200),  # magnesium
    (0.9, 4),  # total phenols
    (0.3, 6),  # flavanoids
    (0.1, 0.7),  # nonflavanoid phenols
    (0.4, 4),  # proanthocyanins
    (1, 20),  # colour intensity
    (0.4, 2),  # hue
    (1, 4),  # OD280/OD315
    (200, 2000),  # proline
]

BREAST_CANCER = [
    # radius, texture, perimeter, area, smoothness, compactness, concavity, concave points, symmetry, fractal dimension
    *[(6, 30), (9, 40), (40, 200), (100, 3000), (0.05, 0.2), (0.01, 0.4), (0, 0.5), (0, 0.3), (0.1, 0.4), (0.05, 0.1)],
    # their standard errors
    *[
        (0.1, 3),
        (0.3, 5),
        (0.7, 30),
        (6, 600),
        (0.002, 0.04),
        (0.002, 0.2),
        (0, 0.4),
        (0, 0.06),
        (0.008, 0.08),
        (0.001, 0.03),
    ],
    # their worst values
    *[(7, 40), (10, 50), (50, 300), (100, 5000), (0.07, 0.3), (0.02, 2), (0, 2), (0, 0.3), (0.1, 0.7), (0.05, 0.3)],
]

DIGITS = [(0, 16)] * 64

DIABETES = [(-0.2, 0.2)] * 10
DIABETES_TARGET = (20, 400)

UNKNOWN = "?"
WORKCLASS = "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked"
MARITAL = "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, Married-AF-spouse"
OCCUPATION = (
    "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, Handlers-cleaners, "
    "Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, Armed-Forces"
)
RELATIONSHIP = "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried"
RACE = "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black"
SEX = "Female, Male"
COUNTRY = (
    "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, Outlying-US(Guam-USVI-etc), India, Japan, Greece, "
    "South, China, Cuba, Iran, Honduras, Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, "
    "Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, Nicaragua, Scotland, Thailand, "
    "Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, Holand-Netherlands"
)
# The columns that are learned from: a range, or the words. The weight of the survey is no trait of a person, and
# `education` says in words what `education-num` says in numbers, so these two are left out.
ADULT: dict[str, tuple[float, float] | str] = {
    "age": (17, 90),  # the survey asks from 17 on, and calls everybody above 90 so
    "workclass": WORKCLASS,
    "education-num": (1, 16),
    "marital-status": MARITAL,
    "occupation": OCCUPATION,
    "relationship": RELATIONSHIP,
    "race": RACE,
    "sex": SEX,
    "capital-gain": (0, 20_000),
    "capital-loss": (0, 3_000),
    "hours-per-week": (1, 99),
    "native-country": COUNTRY,
}
ADULT_TARGET = ("50K-", "50K+")


def words(listed: str) -> list[str]:
    """The words of a list; whoever did not answer has a word of her own, the last one."""
    return [*listed.split(", "), UNKNOWN]
