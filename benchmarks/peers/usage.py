"""What calls cost this process: seconds and memory. Imported by workers in any environment, so it needs nothing."""

import contextlib
import resource
import time
from pathlib import Path

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def in_turns(calls, runs):
    """The least seconds by the clock and of CPU, and the seconds of the first run, of each call.

    They take turns, so that a noisy moment hits all of them.
    """
    found = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.perf_counter(), time.process_time()
            call()
            found[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return {name: [*map(min, zip(*times, strict=True)), times[0][0]] for name, times in found.items()}


def peak():
    """The most memory that was resident, in MB.

    Linux lets a process inherit the maximum that getrusage tells from the one that started it; this one it does not.
    """
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def forget_peak():
    """Count from what is resident now; where the system does not allow it, the peak stays what it was."""
    with contextlib.suppress(OSError):
        FORGET.write_text("5")


def report(version, calls, runs):
    """Run the calls; what the worker answers."""
    times = in_turns(calls, runs)
    return {"times": times, "peak": peak(), "version": version}
