"""Data sets, each with its public ranges and classes; numbers are moved to -1..1 by the ranges, the same for every side.

Codes of words stay whole numbers from 0 on. What lies beyond a range is moved to its end before anybody sees it, so that no
side gains by clipping in another way.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.learn import public_ranges

ROOT = Path(__file__).parents[2]
BLOB_ROWS, LINE_ROWS = 10_000, 20_000


@dataclass(frozen=True)
class Data:
    """Rows, and what is public about them."""

    name: str
    x: np.ndarray
    y: np.ndarray  # class numbers from 0 on, or a target in -1..1; zeros where nothing is to be told
    low: np.ndarray
    high: np.ndarray
    classes: int = 0  # how many; 0 for none
    categories: dict[int, int] = field(default_factory=dict)  # column: how many words it has

    def splits(self, seeds: range) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places of three quarters of the rows, and of the others, by seed."""
        rows = len(self.x)
        for seed in seeds:
            places = np.random.default_rng([seed, rows]).permutation(rows)
            yield places[: rows * 3 // 4], places[rows * 3 // 4 :]


def scale(values: np.ndarray, low: np.ndarray | float, high: np.ndarray | float) -> np.ndarray:
    """Numbers of low..high moved to -1..1."""
    return (np.clip(values, low, high) - low) / (np.asarray(high) - low) * 2 - 1


def bundled(name: str, ranges: list[tuple[float, float]], target: tuple[float, float] | None = None) -> Data:
    """A data set that comes with scikit-learn."""
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    low, high = np.array(ranges, dtype=float).T
    count = len(getattr(datasets, f"load_{name}")().target_names) if target is None else 0
    y = y.astype(np.int64) if target is None else scale(y, *target)
    ends = np.ones(len(low))
    return Data(name, scale(x, low, high), y, -ends, ends, classes=count)


def adult_file() -> Path | None:
    """`shared/data/adult.csv` beside the checkout or above it, if it is there."""
    places = (folder / "shared" / "data" / "adult.csv" for folder in ROOT.parents)
    return next((place for place in places if place.exists()), None)


def adult(file: Path | None = None) -> Data | None:
    """Census income of 1994; None where the file is not there."""
    file = file or adult_file()
    if file is None:
        return None
    with file.open(newline="") as stream:
        rows = [{name: cell.strip() for name, cell in row.items()} for row in csv.DictReader(stream)]
    columns, low, high, categories = [], [], [], {}
    for place, (name, known) in enumerate(public_ranges.ADULT.items()):
        cells = [row[name] for row in rows]
        if isinstance(known, str):
            code = {word: number for number, word in enumerate(public_ranges.words(known))}
            columns.append(np.array([code.get(cell, len(code) - 1) for cell in cells], dtype=float))
            categories[place] = len(code)
            low, high = [*low, 0.0], [*high, len(code) - 1.0]
        else:
            columns.append(scale(np.array(cells, dtype=float), *known))
            low, high = [*low, -1.0], [*high, 1.0]
    y = np.array([public_ranges.ADULT_TARGET.index(row["class"]) for row in rows])
    return Data("adult", np.column_stack(columns), y, np.array(low), np.array(high), classes=2, categories=categories)


def blobs(dimensions: int, parts: int) -> Data:
    """Round heaps of deviation 1 around centres that are even in -10..10; the range is -15..15."""
    rng = np.random.default_rng([dimensions, parts])
    centres = rng.uniform(-10, 10, (parts, dimensions))
    x = centres[rng.integers(parts, size=BLOB_ROWS)] + rng.standard_normal((BLOB_ROWS, dimensions))
    ends = np.ones(dimensions)
    return Data(f"blobs {dimensions}-d", scale(x, -15, 15), np.zeros(BLOB_ROWS), -ends, ends)


def line() -> Data:
    """y = x b + noise, x even in -1..1 in ten columns, |b| = 1; the noise leaves an R2 of .855; y has the range -2..2."""
    rng = np.random.default_rng(10)
    slopes = rng.standard_normal(10)
    x = rng.uniform(-1, 1, (LINE_ROWS, 10))
    y = x @ (slopes / np.linalg.norm(slopes)) + rng.normal(0, 0.238, LINE_ROWS)
    ends = np.ones(10)
    return Data("synthetic", x, scale(y, -2, 2), -ends, ends)


LOADERS: dict[str, Callable[[], Data | None]] = {
    "iris": lambda: bundled("iris", public_ranges.IRIS),
    "wine": lambda: bundled("wine", public_ranges.WINE),
    "breast_cancer": lambda: bundled("breast_cancer", public_ranges.BREAST_CANCER),
    "digits": lambda: bundled("digits", public_ranges.DIGITS),
    "diabetes": lambda: bundled("diabetes", public_ranges.DIABETES, target=public_ranges.DIABETES_TARGET),
    "synthetic": line,
    "blobs 2-d": lambda: blobs(2, 5),
    "blobs 8-d": lambda: blobs(8, 8),
    "adult": adult,
}
