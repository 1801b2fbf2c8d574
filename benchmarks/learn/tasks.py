"""What is learned from which data, by whom, and the bars: what our figure should reach.

Settings are fixed here and not chosen by a look at the figures. Peers run at their defaults. DP-SGD has none for its rate,
so it runs at three: the table has all of them, and the bars count it at the one that is best for it on these very tests.
That is in its favour, and against us.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EPSILONS = ("0.1", "1", "3")
DELTA = "1e-6"
SMALL = ("iris", "wine", "breast_cancer", "digits")
SEEDS, ADULT_SEEDS = 50, 10


@dataclass(frozen=True)
class Peer:
    """Models of another library, by the name of its worker."""

    worker: str
    models: tuple[str, ...]
    privacy: str
    note: str = ""  # what a reader of its figures should know


@dataclass(frozen=True)
class Task:
    """One task on several data sets; `bars` are {(data, epsilon): figure}, of the first of ours, for the first measure."""

    name: str
    kind: str  # classify, regress, cluster, project
    measure: str  # accuracy, AUC, R2, inertia, captured variance
    data: tuple[str, ...]
    ours: tuple[str, ...]  # keys of `estimators.OURS`
    peers: tuple[Peer, ...]
    bars: dict[tuple[str, str], float]
    parts: dict[str, int] = field(default_factory=dict)  # clusters or components, public
    areas: dict[tuple[str, str], float] = field(default_factory=dict)  # bars of AUC; it is measured where there are any

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return self.measure != "inertia"

    @property
    def median(self) -> bool:
        """Whether seeds are summed up by their median, since some R2 are in the millions."""
        return self.measure == "R2"


def bars(**figures: str) -> dict[tuple[str, str], float]:
    """Figures of a data set at the last epsilons: `iris=".58 .83 .92"`, or `digits=".84 .90"` for 1 and 3."""
    found = {}
    for data, listed in figures.items():
        values = [float(text) for text in listed.split()]
        found |= {(data, epsilon): value for epsilon, value in zip(EPSILONS[-len(values) :], values, strict=True)}
    return found


PURE, APPROXIMATE = "pure", f"δ {DELTA}"
DPL = "diffprivlib_models"
BEST_RATE = "DP-SGD is counted at the rate that is best on these very tests, which nobody knows beforehand: in its favour"
RATES = ("DP-SGD rate 0.5", "DP-SGD rate 2", "DP-SGD rate 8")
NETWORK_RATES = ("DP-SGD network rate 0.2", "DP-SGD network rate 0.5", "DP-SGD network rate 2")

TASKS = (
    Task(
        "trees",
        "classify",
        "accuracy",
        SMALL,
        ("ForestClassifier",),
        (Peer(DPL, ("RandomForest 10", "RandomForest 25", "DecisionTree"), PURE),),
        bars(iris=".58 .83 .92", wine=".50 .71 .82", breast_cancer=".74 .82 .86", digits=".26 .64 .75"),
    ),
    Task(
        "linear",
        "classify",
        "accuracy",
        SMALL,
        ("LogisticRegression", "NearestCentroid"),
        (Peer(DPL, ("LogisticRegression",), PURE), Peer("opacus", RATES, APPROXIMATE, note=BEST_RATE)),
        bars(breast_cancer=".91 .935", digits=".84 .90"),
    ),
    Task(
        "networks",
        "classify",
        "accuracy",
        ("digits",),
        ("PrivateSGD", "LogisticRegression"),
        (Peer("opacus", NETWORK_RATES, APPROXIMATE, note=BEST_RATE),),
        {},
    ),
    Task(
        "naive Bayes",
        "classify",
        "accuracy",
        SMALL,
        ("GaussianNB",),
        (Peer(DPL, ("GaussianNB",), PURE),),
        {("iris", "1"): 0.77, ("wine", "1"): 0.51, ("breast_cancer", "1"): 0.84, ("digits", "1"): 0.26},
    ),
    Task(
        "boosting",
        "classify",
        "accuracy",
        ("adult",),
        ("BoostingClassifier",),
        (Peer("interpret", ("DP-EBM",), APPROXIMATE),),
        bars(adult=".81 .845 .85"),
        areas=bars(adult=".85 .90 .905"),
    ),
    Task(
        "regression",
        "regress",
        "R2",
        ("diabetes", "synthetic"),
        ("LinearRegression", "LinearRegression gradient", "ForestRegressor", "BoostingRegressor"),
        (Peer(DPL, ("LinearRegression",), PURE), Peer("interpret", ("DP-EBM regressor",), APPROXIMATE)),
        {("diabetes", "1"): 0.08, ("diabetes", "3"): 0.24, ("synthetic", "0.1"): 0.55, ("synthetic", "1"): 0.84},
    ),
    Task(
        "clusters",
        "cluster",
        "inertia",
        ("iris", "digits", "blobs 2-d", "blobs 8-d"),
        ("KMeans",),
        (Peer(DPL, ("KMeans",), PURE),),
        {("blobs 2-d", "1"): 1.05, ("blobs 8-d", "1"): 1.15, ("digits", "1"): 1.65, ("digits", "3"): 1.25},
        parts={"iris": 3, "digits": 10, "blobs 2-d": 5, "blobs 8-d": 8},
    ),
    Task(
        "components",
        "project",
        "captured variance",
        SMALL,
        ("PCA",),
        (Peer(DPL, ("PCA",), PURE),),
        bars(iris=".85 .91"),
        parts={"iris": 2, "wine": 3, "breast_cancer": 5, "digits": 10},
    ),
)
