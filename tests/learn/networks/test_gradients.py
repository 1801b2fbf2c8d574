"""Gradients of rows on the lattice: exact norms and sums for hostile rows, weights, gradients; networks that are refused."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="not run: no torch", exc_type=ImportError)

from dither.errors import DataError, SizeError  # noqa: E402
from dither.learn.networks import lattice_gradients  # noqa: E402
from dither.learn.networks.lattice_gradients import LENGTH, LatticeGradients  # noqa: E402
from dither.learn.networks.modules import default_network, flat_weights, read_network, with_weights  # noqa: E402
from dither.learn.networks.row_independence import check_network, largest_move, made_up_rows  # noqa: E402

WIDTH, CLASSES, SLACK = 3, 3, 64
MOST = LENGTH**2


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def gradients(network=None, **how):
    network = read_network(network, WIDTH, CLASSES)
    return network, LatticeGradients(network, **{"clip": 0.25, "chunk": 4} | how)


def hostile():
    bad = [np.nan, np.inf, -np.inf, 3e38, 1e-45, 0.0, -0.0, 1.0, -1.0]
    inputs = np.array([[value] * WIDTH for value in bad] + [[1.0, np.nan, -1.0], [0.3, -0.7, 0.1]], dtype=np.float32)
    return np.repeat(inputs, CLASSES, axis=0), np.tile(np.arange(CLASSES), len(inputs)).astype(np.int64)


def weight_sets():
    start = flat_weights(default_network(WIDTH, CLASSES))
    broken = start.copy()
    broken[::7] = np.nan
    return [start, start * 1e3, start * np.float32(1e30), start * np.float32(1e-30), start * 0, broken, start - 1e38]


def squares(whole):
    """The exact square of the norm of each row, in Python's whole numbers."""
    return [sum(int(value) ** 2 for value in row) for row in whole.tolist()]


@pytest.mark.parametrize(("which", "chunk"), [*((which, 5) for which in range(7)), (0, 1), (5, 1), (1, 64)])
def test_one_row_adds_no_more_than_is_claimed(which, chunk):
    """Every row of hostile data, removed and replaced: whole numbers, against the claim."""
    _, found = gradients(chunk=chunk)
    weights, (inputs, labels) = weight_sets()[which], hostile()
    inputs, labels = inputs[: 15 if chunk == 1 else None], labels[: 15 if chunk == 1 else None]
    with np.errstate(all="ignore"):
        rows, total = found.rows(weights, inputs, labels), found.sums(weights, inputs, labels)
    assert max(squares(rows)) <= MOST
    assert (rows.sum(axis=0) == total).all()
    for place in range(len(inputs)):
        kept = np.arange(len(inputs)) != place
        less = found.sums(weights, inputs[kept], labels[kept])
        allowed = (LENGTH + (0 if chunk == 1 else SLACK)) ** 2
        assert squares((total - less)[None])[0] <= allowed
        if chunk == 1:
            assert (total - less == rows[place]).all(), "somebody else's part changed"
        other = inputs.copy()
        other[place] = 1.0
        moved = squares((total - found.sums(weights, other, labels))[None])[0]
        assert moved <= 4 * allowed


def test_nobody_adds_nothing():
    _, found = gradients()
    none = found.sums(weight_sets()[0], np.zeros((0, WIDTH), dtype=np.float32), np.zeros(0, dtype=np.int64))
    assert none.dtype == np.int64
    assert not none.any()


def hostile_gradients(width):
    rng = np.random.default_rng(3)
    rows = [rng.normal(size=width) * scale for scale in (1e-30, 1e-3, 0.25, 1.0, 1e10, 1e19, 1e38)]
    rows += [np.full(width, value) for value in (0.0, -0.0, 1e-45, 3e38, np.inf, -np.inf, np.nan, 0.25 / np.sqrt(width))]
    one = np.zeros(width)
    rows += [one.copy() for _ in range(6)]
    edge = np.float32(0.25)
    for row, value in zip(rows[-6:], (edge, np.nextafter(edge, np.float32(1)), -edge, np.nan, np.inf, 3e38), strict=True):
        row[width // 2] = value
    with np.errstate(over="ignore"):
        return np.array(rows).astype(np.float32)


@pytest.mark.parametrize("width", [1, 7, 1000, 70_000])
def test_every_gradient_whatsoever_has_a_whole_vector_of_bounded_length(width):
    _, found = gradients()
    given = torch.from_numpy(hostile_gradients(width))
    parts = found._whole([given[:, : width // 2], given[:, width // 2 :]])
    whole = np.concatenate(parts, axis=1)
    assert np.isfinite(whole).all()
    assert (whole == np.trunc(whole)).all()
    assert max(squares(whole)) <= MOST
    assert squares(whole[3:4])[0] > 0.98 * MOST, "a long gradient keeps its length"


def test_a_clip_in_floats_above_the_norm_is_found(monkeypatch):
    """Without the spare and the check of whole numbers some row is too long."""
    monkeypatch.setattr(lattice_gradients, "SPARE", 1 + 2.0**-9)
    _, found = gradients()
    given = torch.from_numpy(hostile_gradients(1000))
    assert max(squares(found._whole([given])[0])) <= MOST  # the check alone is enough
    norm = torch.linalg.vector_norm(given, dim=1)
    unchecked = torch.nan_to_num(given * (LENGTH * lattice_gradients.SPARE / torch.clamp(norm, min=0.25))[:, None]).trunc()
    assert max(squares(unchecked.numpy()[:7])) > MOST


@pytest.mark.parametrize("width", [1, 2, 4096, 5000, 40_000])
def test_the_bound_of_the_norm_is_above_it_and_close(width):
    """Whole numbers around the length that is allowed: no row that is longer passes, by one step or by much."""
    _, found = gradients()
    rng = np.random.default_rng(width)
    rows = 200 if width < 10_000 else 20
    raw = rng.normal(size=(rows, width))
    near = np.trunc(raw / np.linalg.norm(raw, axis=1)[:, None] * LENGTH * rng.uniform(0.995, 1.005, (rows, 1)))
    edges = np.zeros((4, width))
    edges[:, 0] = [LENGTH, LENGTH + 1, LENGTH - 64, 2.0**30]
    edges[0, -1] = LENGTH if width == 1 else 1  # 4^14 + 1, which floats of 24 bits round to 4^14
    whole = np.concatenate([near, edges]).astype(np.float32)
    parts = [whole[:, : width // 3].copy(), whole[:, width // 3 :].copy()]
    for square, bound in zip(squares(whole), found._squares(parts), strict=True):
        assert square <= bound <= square * (1 + 2.0**-10)


def test_sums_are_exact_beyond_what_floats_hold():
    """2,000 rows of the same gradient: floats would round above 2^24."""
    network, found = gradients(chunk=512)
    inputs = np.ones((2000, WIDTH), dtype=np.float32)
    labels = np.zeros(2000, dtype=np.int64)
    weights = flat_weights(network) * 3
    assert (found.sums(weights, inputs, labels) == found.rows(weights, inputs, labels).sum(axis=0)).all()
    assert abs(found.sums(weights, inputs, labels)).max() > 2**22


def test_the_clip_scales_and_the_direction_stays():
    network, found = gradients(clip=1e6)
    inputs, labels = made_up_rows(WIDTH, CLASSES, 5)
    small = found.rows(flat_weights(network), inputs, labels)
    assert abs(small).max() < 1  # far below a step
    _, found = gradients(clip=1e-6)
    rows = found.rows(flat_weights(network), inputs, labels).astype(float)
    leaves = list(network.parameters())
    for place in range(5):
        network.zero_grad()
        scores = network(torch.from_numpy(inputs[place : place + 1]))
        torch.nn.functional.cross_entropy(scores, torch.from_numpy(labels[place : place + 1])).backward()
        true = np.concatenate([leaf.grad.numpy().ravel() for leaf in leaves])
        cosine = rows[place] @ true / np.linalg.norm(rows[place]) / np.linalg.norm(true)
        assert cosine > 0.9999


# -- the premise -------------------------------------------------------------------------------------------------------


def small(*layers):
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 6), *layers, torch.nn.Linear(6, CLASSES))


class Counter(torch.nn.Module):
    """A state in Python that each pass changes."""

    def __init__(self):
        super().__init__()
        self.passes = 0

    def forward(self, x):
        self.passes += 1
        return x * (1 + self.passes)


class RunningSum(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(6))

    def forward(self, x):
        self.seen += x.detach().sum(0)
        return x + self.seen


class Random(torch.nn.Module):
    def forward(self, x):
        return x * torch.rand(6)


class Branches(torch.nn.Module):
    def forward(self, x):
        return x if float(x.sum()) > 0 else -x


REFUSED = {
    "batch norm": lambda: small(torch.nn.BatchNorm1d(6)),
    "batch norm, frozen": lambda: small(torch.nn.BatchNorm1d(6).eval()),
    "instance norm with a mean": lambda: small(torch.nn.InstanceNorm1d(6, track_running_stats=True)),
    "dropout": lambda: small(torch.nn.Dropout(0.1)),
    "alpha dropout": lambda: small(torch.nn.AlphaDropout(0.1)),
    "random slopes": lambda: small(torch.nn.RReLU()),
    "lazy": lambda: torch.nn.Sequential(torch.nn.LazyLinear(CLASSES)),
    "attention with dropout": lambda: small(torch.nn.TransformerEncoderLayer(6, 2, 8, dropout=0.1, batch_first=True)),
    "spectral norm": lambda: torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(WIDTH, CLASSES)),
    "a state of Python": lambda: small(Counter()),
    "a running sum": lambda: small(RunningSum()),
    "random numbers": lambda: small(Random()),
    "a branch by value": lambda: small(Branches()),
    "another width": lambda: torch.nn.Linear(WIDTH + 1, CLASSES),
    "another number of classes": lambda: torch.nn.Linear(WIDTH, CLASSES + 1),
    "doubles": lambda: torch.nn.Linear(WIDTH, CLASSES).double(),
    "no module": lambda: "resnet",
}


def checked(network, slack=SLACK, **how):
    network, found = gradients(network, **how)
    return check_network(network, found, width=WIDTH, classes=CLASSES, slack=slack)


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_keep_rows_apart_is_refused(name):
    with pytest.raises(DataError, match="network"):
        checked(REFUSED[name]())


def test_layers_are_refused_by_their_name():
    with pytest.raises(DataError, match=r"network\.1.*BatchNorm1d.*GroupNorm"):
        checked(REFUSED["batch norm"]())


ACCEPTED = {
    "layer norm": lambda: small(torch.nn.LayerNorm(6), torch.nn.ReLU()),
    "group norm": lambda: small(torch.nn.GroupNorm(2, 6), torch.nn.Dropout(0.0)),
    "convolutions": lambda: torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, WIDTH)), torch.nn.Conv1d(1, 4, 2), torch.nn.Flatten(), torch.nn.Linear(8, CLASSES)
    ),
    "a frozen layer": lambda: torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 4).requires_grad_(False), torch.nn.Linear(4, CLASSES)
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_keeps_rows_apart_is_taken(name):
    assert checked(ACCEPTED[name]()) <= SLACK
    assert checked(ACCEPTED[name](), slack=0, chunk=1) == 0


def test_nothing_to_train_is_refused():
    with pytest.raises(SizeError, match="weights"):
        checked(torch.nn.Linear(WIDTH, CLASSES).requires_grad_(False))


def test_rows_that_mix_are_found_by_the_numbers():
    """Gradients in which each row leaves something in the next: refused above the slack, and paid for below it."""
    network, found = gradients()
    plain = found.rows

    def mixed(weights, inputs, labels):
        rows = plain(weights, inputs, labels)
        return rows + np.concatenate([np.zeros_like(rows[:1]), rows[:-1]]) // 256

    found.rows = mixed
    inputs, labels = made_up_rows(WIDTH, CLASSES, 7)
    moved = largest_move(found, flat_weights(network), inputs, labels)
    assert moved > 20
    with pytest.raises(DataError, match="slack is 20"):
        check_network(network, found, width=WIDTH, classes=CLASSES, slack=20)
    assert check_network(network, found, width=WIDTH, classes=CLASSES, slack=100_000) >= moved


def test_a_copy_is_trained_and_weights_come_back_bit_by_bit():
    network = small(torch.nn.ReLU())
    before = flat_weights(network)
    other = with_weights(read_network(network, WIDTH, CLASSES), before + 1)
    assert (flat_weights(network) == before).all()
    assert (flat_weights(other) == before + 1).all()
    assert not other.training
    state = torch.random.get_rng_state()
    assert (flat_weights(default_network(5, 2)) == flat_weights(default_network(5, 2))).all()
    assert (torch.random.get_rng_state() == state).all()
