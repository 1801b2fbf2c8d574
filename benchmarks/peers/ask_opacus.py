"""Runs inside Opacus' environment: logistic regression by DP-SGD, Poisson samples of 64 expected rows, 10 epochs, clip 1.

The noise is calibrated by its PRV accountant, since the default one refuses epsilon .1. The rate is part of the name of a
model: the caller says which rates are run. A model that is called a network has one hidden layer of 32. A job of the kind
"step time" asks how long a step of the network of `benchmarks/learn/step_time.py` takes.
"""

import functools
import json
import sys
import time
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


class Classifier:
    """One linear layer, or two with a hidden one between, as an estimator of scikit-learn."""

    def __init__(self, classes, epsilon, delta, rate, seed, hidden=0):
        self.classes, self.epsilon, self.delta, self.rate, self.seed = classes, epsilon, delta, rate, seed
        self.hidden = hidden

    def make(self, width):
        if self.hidden:
            nn = torch.nn
            return nn.Sequential(nn.Linear(width, self.hidden), nn.Tanh(), nn.Linear(self.hidden, self.classes))
        layer = torch.nn.Linear(width, self.classes)
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.zeros_(layer.bias)
        return layer

    def fit(self, x, y):
        torch.set_num_threads(1)
        torch.manual_seed(self.seed)
        rows = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
        layer = self.make(x.shape[1])
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
    hidden = 32 if "network" in model else 0
    return Classifier(job["classes"], float(epsilon), float(job["delta"]), float(model.rpartition(" ")[2]), seed, hidden)


def step_seconds(job):
    """Seconds of CPU of steps on batches that are there already, and of plain steps on the same."""
    torch.set_num_threads(1)
    torch.manual_seed(job["seed"])
    network = eval(job["network"], {"nn": torch.nn})
    sizes = np.random.default_rng(job["seed"]).binomial(job["rows"], job["rate"], job["steps"])
    batches = [(torch.rand(int(size), job["width"]) * 2 - 1, torch.randint(0, 10, (int(size),))) for size in sizes]
    found = {}
    for name in ("plain", "private"):
        layer, optimizer = network, torch.optim.SGD(network.parameters(), lr=0.1)
        if name == "private":
            given = TensorDataset(torch.zeros(job["rows"], 1), torch.zeros(job["rows"]))
            layer, optimizer, _ = PrivacyEngine(accountant="prv").make_private(
                module=network,
                optimizer=optimizer,
                data_loader=DataLoader(given, batch_size=round(job["rows"] * job["rate"])),
                noise_multiplier=1.0,
                max_grad_norm=1.0,
            )
        times = []
        for inputs, labels in batches:
            start = time.process_time()
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(layer(inputs), labels).backward()
            optimizer.step()
            times.append(time.process_time() - start)
        found[name] = times
    return found


def main():
    told, job = f"opacus {version('opacus')}, torch {version('torch')}", json.load(sys.stdin)
    if job["kind"] == "step time":
        print(json.dumps({**step_seconds(job), "version": told}))
    else:
        fits.answer(make, told, job)


main()
