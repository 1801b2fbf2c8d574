"""Processes of Spark on loopback: a Connect server, and a standalone cluster; each ends with its test."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.query.engines.spark.sessions import SETTINGS

JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
PATIENCE = 300  # seconds until something that does not come is given up
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(holds: Callable[[], object], what: str) -> None:
    """Until a condition holds."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, f"it did not come: {what}"
        time.sleep(0.05)


class Process:
    """A process of Spark, with all that it starts; what it says stands in a file."""

    def __init__(self, command: Sequence[str], folder: Path, name: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        self._told = folder / f"{name}.log"
        settings = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_JAVA_OPTS": JAVA}
        settings |= {"SPARK_DAEMON_MEMORY": "1g", "SPARK_WORKER_DIR": str(folder / name)}
        with self._told.open("w") as told:
            self._process = subprocess.Popen(
                [str(home / "bin" / command[0]), *command[1:]],
                env={**os.environ, **settings},
                stdout=told,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def told(self) -> str:
        return self._told.read_text(errors="replace")

    def says(self, text: str) -> bool:
        assert self._process.poll() is None, self.told[-3000:]
        return text in self.told

    def kill(self) -> None:
        """It and what it has started, by SIGKILL."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextlib.contextmanager
def process(command: Sequence[str], folder: Path, name: str) -> Iterator[Process]:
    found = Process(command, folder, name)
    try:
        yield found
    finally:
        found.kill()


def is_open(port: int) -> bool:
    """Whether somebody listens."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def connect_server(folder: Path, port: int, master: str = "local[1]", **settings: str) -> Iterator[Process]:
    """A Connect server in a process of its own, once it listens."""
    stated = SETTINGS | {"spark.connect.grpc.binding.port": str(port), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    command = ["spark-submit", "--class", SERVER, "--master", master]
    for setting, value in (stated | settings).items():
        command += ["--conf", f"{setting}={value}"]
    with process([*command, "spark-internal"], folder, "server") as found:
        wait_for(lambda: found.says("") and is_open(port), "the Connect server")
        yield found


@contextlib.contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[Process]]]:
    """A standalone cluster: the address of its master, and its workers, of one core and one GB each."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    with contextlib.ExitStack() as running:
        words = ["spark-class", MASTER, "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        master = running.enter_context(process(words, folder, "master"))
        wait_for(lambda: master.says("I have been elected leader"), "the master")
        words = [
            "spark-class",
            WORKER,
            "--host",
            "127.0.0.1",
            "--cores",
            "1",
            "--memory",
            "1g",
            "--webui-port",
            "0",
            address,
        ]
        found = [running.enter_context(process(words, folder, f"worker{at}")) for at in range(workers)]
        wait_for(lambda: master.told.count("Registering worker") == workers, "the workers")
        yield address, found
