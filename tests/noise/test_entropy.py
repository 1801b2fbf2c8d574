"""Where the bits come from: never twice the same, never without the operating system."""

from __future__ import annotations

import ast
import copy
import inspect
import multiprocessing
import os
import pickle
import re
import signal
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import dither
from dither.errors import EntropyError, NotPrivateWarning, NumberError
from dither.noise import DiscreteLaplace, entropy
from dither.noise.entropy import BLOCK, POOL_WORDS, Keystream, stream
from dither.testing import seeded

LAW = DiscreteLaplace(10**12)  # so wide that two draws are the same once in 10^12 pairs
SOURCE = Path(dither.__file__).parent


def _draw(_: int) -> list[int]:
    return [LAW.sample(), *LAW.sample(20).tolist(), os.getpid()]


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_share_no_noise(method):
    LAW.sample(1000)  # the parent has a key and a half-used pool, which a careless child would inherit
    LAW.sample()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking beside threads
        with multiprocessing.get_context(method).Pool(8) as pool:
            draws = pool.map(_draw, range(8 if method == "fork" else 4), chunksize=1)
    noise = [value for row in draws for value in row[:-1]]
    assert len(set(noise)) > 0.99 * len(noise), "equal noise in two workers"
    assert len({tuple(row[:-1]) for row in draws}) == len(draws)


def test_eight_forks_at_the_same_point_differ_from_each_other_and_from_the_parent():
    stream().word()  # fill the pool
    pipes = []
    for _ in range(8):
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.write(write, stream().bits(256).to_bytes(32, "big") + stream().words(4).tobytes())
            os._exit(0)
        os.waitpid(child, 0)
        pipes.append(os.read(read, 64))
        os.close(read)
        os.close(write)
    mine = stream().bits(256).to_bytes(32, "big")
    assert len({block[:32] for block in pipes} | {mine}) == 9
    assert len({block[32:] for block in pipes}) == 8


class Keyed(Keystream):
    """A stream whose keys are counted, and known: the first is the same for all."""

    keys = 0

    def key_material(self) -> bytes:
        self.keys += 1
        return bytes([self.keys]) * 48


def test_a_changed_process_id_is_enough(monkeypatch):
    """A fork that Python did not see (from C) is noticed by the process id."""
    source, twin, process = Keyed(), Keyed(), os.getpid()
    buffered = {twin.word() for _ in range(POOL_WORDS)}
    assert source.word() in buffered
    monkeypatch.setattr(os, "getpid", lambda: process + 1)
    assert source.word() not in buffered
    assert source.keys == 2
    monkeypatch.setattr(os, "getpid", lambda: process + 2)
    source.fill(np.zeros(4, dtype=np.uint64))
    assert source.keys == 3
    other = Keyed()
    other.keys = 1  # nothing is left of what the second key had buffered
    assert source.word() not in {other.word() for _ in range(POOL_WORDS)}


def test_planted_bug_without_the_fork_guard_gives_equal_noise(monkeypatch):
    """If nothing noticed the fork, children would repeat each other: the test above can fail."""
    source = Keystream()
    source.word()
    process = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: process)
    copies = []
    for _ in range(2):
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.write(write, source.bits(128).to_bytes(16, "big"))
            os._exit(0)
        os.waitpid(child, 0)
        copies.append(os.read(read, 16))
        os.close(read)
        os.close(write)
    assert copies[0] == copies[1]


def test_threads_have_streams_of_their_own():
    words: list[int] = []
    streams = []

    def work() -> None:
        streams.append(stream())
        words.extend(stream().bits(64) for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(words)) == len(words)
    assert len({id(source) for source in streams}) == 8


def test_no_randomness_no_noise(monkeypatch):
    def fail(_: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", fail)
    outcomes: list[object] = []

    def work() -> None:  # a new thread has no key yet
        for draw in (LAW.sample, lambda: LAW.sample(10), lambda: dither.noise.Bernoulli("1/3").sample(5)):
            try:
                outcomes.append(draw())
            except EntropyError as error:
                outcomes.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [type(outcome) for outcome in outcomes] == [EntropyError] * 3
    assert "os.urandom" in str(outcomes[0])


def test_a_stream_that_cannot_be_keyed_again_stops(monkeypatch):
    monkeypatch.setattr(entropy, "BYTES_PER_KEY", 8 * POOL_WORDS + 4)  # four bytes are left after the first words
    source = Keystream()
    source.word()

    def fail(_: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", fail)
    for _ in range(2):  # the second try must not fall back to the old key
        with pytest.raises(EntropyError):
            source.words(16)
        with pytest.raises(EntropyError):
            source.fill(np.empty(4, dtype=np.uint8))
        with pytest.raises(EntropyError):
            source.word()


def test_keys_are_changed_after_a_while(monkeypatch):
    monkeypatch.setattr(entropy, "BYTES_PER_KEY", 2 * BLOCK)
    source = Keyed()
    source.fill(np.empty(BLOCK, dtype=np.uint8))
    source.fill(np.empty(BLOCK, dtype=np.uint8))
    assert source.keys == 1
    source.fill(np.empty(8, dtype=np.uint8))
    assert source.keys == 2


def test_bits_have_the_right_length_and_are_not_repeated():
    source = Keystream()
    for count in (0, 1, 7, 63, 64, 65, 127, 128, 300):
        draws = {source.bits(count) for _ in range(64)}
        assert all(0 <= value < 1 << count for value in draws)
        if count >= 63:
            assert len(draws) == 64
    large = np.zeros(3 * BLOCK + 5, dtype=np.uint8)
    source.fill(large)
    blocks = large[: 3 * BLOCK].reshape(3, BLOCK)
    assert not np.array_equal(blocks[0], blocks[1])
    assert 0.49 < np.unpackbits(large).mean() < 0.51


def test_a_stream_is_not_copied():
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="same noise"):
            attempt(stream())


def test_seeded_noise_repeats_and_says_so():
    with pytest.warns(NotPrivateWarning, match="NOT PRIVATE"), seeded(7):
        first = [LAW.sample(), *LAW.sample(50).tolist()]
    with pytest.warns(NotPrivateWarning), seeded(7):
        second = [LAW.sample(), *LAW.sample(50).tolist()]
    with pytest.warns(NotPrivateWarning), seeded(8):
        third = [LAW.sample(), *LAW.sample(50).tolist()]
    assert first == second != third
    assert isinstance(stream(), Keystream)
    assert type(stream()) is Keystream
    for wrong in (-1, 1.5, "7", True, None):
        with pytest.raises(NumberError), seeded(wrong):  # type: ignore[arg-type]
            pass


@pytest.mark.filterwarnings("ignore")
def test_a_fork_inside_a_seeded_block_is_not_seeded():
    with seeded(7):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, type(stream()).__name__.encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 64) == b"Keystream"
        os.close(read)
        os.close(write)


@pytest.mark.filterwarnings("ignore")
def test_a_seed_stays_in_its_task():
    import asyncio

    seeds = []

    async def other() -> None:
        seeds.append(type(stream()) is not Keystream)

    async def main() -> None:
        task = asyncio.create_task(other())
        with seeded(7):
            await asyncio.sleep(0)
            await task
            seeds.append(type(stream()) is not Keystream)

    asyncio.run(main())
    assert seeds == [False, True]


def test_a_fork_beside_a_thread_that_computes_does_not_hang():
    """The lock around ball arithmetic must not be inherited in the hands of a thread that the child does not have."""
    from dither.numeric.balls import precision

    stop, inside = threading.Event(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            with precision(64):
                inside.set()
                stop.wait(0.002)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    try:
        for _ in range(20):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                signal.alarm(10)  # a hanging child is ended, and seen
                with precision(80):
                    os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_no_seed_in_the_public_interface():
    for module in (dither, dither.noise):
        for name in sorted({*dir(module)} - {"sample_rows", "sample_dataset"}):  # their seed makes up rows, no noise
            value = getattr(module, name)
            functions = [value] if callable(value) else []
            functions += [member for _, member in inspect.getmembers(value, callable)] if inspect.isclass(value) else []
            for function in functions:
                try:
                    names = inspect.signature(function).parameters
                except (TypeError, ValueError):
                    continue
                assert not {"seed", "random_state", "rng", "generator"} & set(names), f"{module.__name__}.{name}"


def test_no_other_randomness_in_the_source():
    for path in SOURCE.rglob("*.py"):
        if path.is_relative_to(SOURCE / "query" / "conformance"):
            continue  # rows and questions of tests, from a seed; nothing there is noise
        if path.is_relative_to(SOURCE / "learn"):
            continue  # trees, cuts and starts of models, from a public seed: checked below
        if path == SOURCE / "testing" / "enumerate.py":
            used = set(re.findall(r"\brandom\.(\w+)\(", path.read_text()))
            assert used == {"getstate", "get_state"}, used  # it looks whether a release draws from them, and draws nothing
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            home = getattr(node, "module", None) or ""
            assert "random" not in {name.split(".")[0] for name in [*names, home]}, path
            assert not (isinstance(node, ast.Attribute) and node.attr == "random"), path


def test_models_are_random_in_public_alone():
    """What numpy draws in `learn` comes from a stated seed, and is never added to anything: it shapes trees and starts."""
    drawn = [path for path in (SOURCE / "learn").rglob("*.py") if "random." in path.read_text()]
    for path in drawn:
        text = "\n".join(line for line in path.read_text().splitlines() if ">>>" not in line)
        calls = re.findall(r"random\.(\w+)\(([^)]*)", text)
        assert all(name == "default_rng" and seed.strip() for name, seed in calls), path
        assert "import random" not in text, path
