"""Runs inside Opacus' environment: logistic regression by DP-SGD, Poisson samples of 64 expected rows, 10 epochs, clip 1.

The noise is calibrated by its PRV accountant, since the default one refuses epsilon .1. The rate is part of the name of a
model: the caller says which rates are run.
"""

import functools
from importlib.metadata import version

import fits
import numpy as np
import torch
from opacus import PrivacyEngine
from opacus.accountants.utils import get_noise_multiplier
from torch.utils.data import DataLoader, TensorDataset

BATCH, EPOCHS, CLIP = 64, 10, 1.0


@functools.cache
def multiplier(epsilon, delta, rows):
    batches = -(-rows // BATCH)
    return get_noise_multiplier(
        target_epsilon=epsilon,
        target_delta=delta,
        sample_rate=1 / batches,
        steps=EPOCHS * batches,
        accountant="prv",
        epsilon_tolerance=epsilon / 1000,
    )


class Logistic:
    """One linear layer, as an estimator of scikit-learn."""

    def __init__(self, classes, epsilon, delta, rate, seed):
        self.classes, self.epsilon, self.delta, self.rate, self.seed = classes, epsilon, delta, rate, seed

    def fit(self, x, y):
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        rows = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
        layer = torch.nn.Linear(x.shape[1], self.classes)
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        layer, optimizer, loader = PrivacyEngine(accountant="prv").make_private(
            module=layer,
            optimizer=torch.optim.SGD(layer.parameters(), lr=self.rate),
            data_loader=DataLoader(rows, batch_size=BATCH),
            noise_multiplier=multiplier(self.epsilon, self.delta, len(x)),
            max_grad_norm=CLIP,
            poisson_sampling=True,
        )
        for _ in range(EPOCHS):
            for inputs, labels in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(layer(inputs), labels.long()).backward()
                optimizer.step()
        self.layer = layer
        return self

    def predict(self, x):
        with torch.no_grad():
            return np.argmax(self.layer(torch.tensor(x, dtype=torch.float32)).numpy(), axis=1)


def make(job, arrays, model, epsilon, seed):
    return Logistic(job["classes"], float(epsilon), float(job["delta"]), float(model.rpartition(" ")[2]), seed)


fits.answer(make, f"opacus {version('opacus')}, torch {version('torch')}")
