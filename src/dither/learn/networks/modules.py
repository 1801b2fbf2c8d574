"""Networks that can be trained row by row: which layers are refused, their weights as one vector, and a small default.

A layer that mixes rows, that keeps a state which rows change, or that draws random numbers for all rows at once would let
one row change what others add. Those that are known to do it are refused by name; `row_independence.py` tries the rest.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dither.errors import DataError, SizeError
from dither.extras import needs

HIDDEN = 32
MOST_WEIGHTS = 2**22
WAYS = "torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)); GroupNorm or LayerNorm"


def torch_library() -> Any:
    """torch, where it is installed; it is slow to load, and nothing else of dither needs it."""
    with needs("dither[torch]"):
        import torch
    return torch


def read_network(network: Any, width: int, classes: int) -> Any:
    """A copy of the network, or a small one for `width` inputs; refused where rows would not stay apart."""
    torch = torch_library()
    if network is None:
        return default_network(width, classes)
    if not isinstance(network, torch.nn.Module):
        raise DataError("network", type(network).__name__, "it is no torch.nn.Module", f"network={WAYS}, or none")
    for name, layer in network.named_modules():
        if why := _reason(layer):
            where = f"network.{name}" if name else "network"
            raise DataError(where, type(layer).__name__, why, WAYS)
    for name, tensor in (*network.named_parameters(), *network.named_buffers()):
        if tensor.device.type != "cpu" or (tensor.is_floating_point() and tensor.dtype != torch.float32):
            came = f"{tensor.dtype} on {tensor.device}"
            raise DataError(f"network.{name}", came, "weights are float32 on the processor", "network.float().cpu()")
    found = deepcopy(network).train()
    size = sum(value.numel() for value in found.parameters() if value.requires_grad)
    if not 1 <= size <= MOST_WEIGHTS:
        why = f"1 to {MOST_WEIGHTS:,} weights can be trained"
        raise SizeError("network", f"{size:,} weights", why, "requires_grad=False for layers that stay as they are")
    return found


def _reason(layer: Any) -> str | None:
    """Why a layer is refused; None where nothing is known against it."""
    torch = torch_library()
    kinds = torch.nn.modules
    if isinstance(layer, kinds.batchnorm._NormBase) and (
        isinstance(layer, kinds.batchnorm._BatchNorm) or layer.track_running_stats
    ):
        return "it mixes rows, or keeps a mean of them: one row would change what others add"
    if isinstance(layer, kinds.lazy.LazyModuleMixin):
        return "its shape is not known before rows are seen"
    chance = getattr(layer, "p", 0.0) if isinstance(layer, kinds.dropout._DropoutNd) else getattr(layer, "dropout", 0.0)
    if isinstance(layer, torch.nn.RReLU) or (isinstance(chance, float) and chance > 0):
        return "its random numbers are shared by the rows, and their order would depend on who is there"
    if "SpectralNorm" in type(layer).__name__:
        return "it keeps a state that each pass changes"
    return None


def default_network(width: int, classes: int) -> Any:
    """One hidden layer; the weights at the start are public, and the same on every machine."""
    torch = torch_library()
    rng = np.random.default_rng(0)
    empty = torch.nn.utils.skip_init  # no draw of torch's own random numbers
    first, last = empty(torch.nn.Linear, width, HIDDEN), empty(torch.nn.Linear, HIDDEN, classes)
    with torch.no_grad():
        for layer in (first, last):
            reach = layer.in_features**-0.5
            weights = rng.uniform(-reach, reach, (layer.out_features, layer.in_features))
            layer.weight.copy_(torch.from_numpy(weights.astype(np.float32)))
            layer.bias.zero_()
    return torch.nn.Sequential(first, torch.nn.Tanh(), last)


def trained_names(network: Any) -> list[str]:
    """The names of weights that are trained, in their order."""
    return [name for name, value in network.named_parameters() if value.requires_grad]


def flat_weights(network: Any) -> NDArray[np.float32]:
    """Weights that are trained, as one vector."""
    found = dict(network.named_parameters())
    parts = [found[name].detach().numpy().ravel() for name in trained_names(network)]
    return np.concatenate(parts).astype(np.float32)


def with_weights(network: Any, weights: NDArray[np.float32]) -> Any:
    """The network with these weights in place of its own, for predictions."""
    torch = torch_library()
    found, at = dict(network.named_parameters()), 0
    with torch.no_grad():
        for name in trained_names(network):
            value = found[name]
            value.copy_(torch.from_numpy(weights[at : at + value.numel()].reshape(tuple(value.shape)).copy()))
            at += value.numel()
    return network.eval()
