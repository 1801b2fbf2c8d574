"""The tests as other processors would compute them: `python3 dev.py kernels [--short] [options of pytest]`.

Floats depend on the machine: OpenBLAS has other kernels for other processors, numpy other vector units. A test that holds
here by the luck of a last bit fails elsewhere. Each kernel that this processor can run is one run of the tests:

    OPENBLAS_CORETYPE          the kernel; the name that the library reports is checked, and a kernel that cannot run is said
    NPY_DISABLE_CPU_FEATURES   all vector units that numpy found here beyond its least

Beside it the runs differ in what else a machine may differ in: locale (where the machine has it), time zone, one core or
all, order of sets and dicts.
`--short` is one run, of the oldest kernel, of the tests that touch floats.
"""

from __future__ import annotations

import os
import subprocess
import sys

KERNELS = ["Prescott", "Haswell", "SkylakeX", "Zen"]
ALIASES = {"Prescott": "Katmai"}  # 64-bit builds have one kernel under both names, and report the older one
SHORT = ["tests/docs/test_pages.py", "tests/channels", "tests/density", "tests/learn", "tests/local",
         "tests/mechanisms/workload", "tests/query/test_batch.py",
         "tests/query/statistics/test_quantiles.py",
         "tests/query/counters/test_intervals.py", "tests/query/counters/test_variances.py"]  # fmt: skip
# What else differs, run by run: a comma in numbers, half an hour off, west of everybody, the other side of the date line.
ELSEWHERE = [
    {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "1"},
    {"LC_ALL": "C", "TZ": "America/St_Johns", "PYTHONHASHSEED": "2"},
    {"LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "3"},
    {"LC_ALL": "C.UTF-8", "TZ": "Etc/GMT+12", "PYTHONHASHSEED": "4"},
]
NAME = """
import numpy, threadpoolctl
numpy.ones((64, 64)) @ numpy.ones((64, 64))
print([pool.get("architecture") for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"])
"""


def reported(kernel: str) -> str | None:
    """The kernels that run when this one is asked for; None where it breaks off."""
    environment = os.environ | {"OPENBLAS_CORETYPE": kernel}
    done = subprocess.run([sys.executable, "-c", NAME], env=environment, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def vector_units() -> str:
    """What numpy found here beyond its least."""
    import numpy

    return " ".join(numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []))  # type: ignore[index, call-overload]


def one_core() -> None:
    """This process, and all that it starts, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main(arguments: list[str]) -> int:
    short = "--short" in arguments
    options = [argument for argument in arguments if argument != "--short"]
    failed, said = 0, []
    for place, kernel in enumerate(KERNELS[:1] if short else KERNELS):
        name = reported(kernel)
        if name is None or not any(f"'{alias}'" in name for alias in (kernel, ALIASES.get(kernel))):
            said.append(f"{kernel}: not run, OpenBLAS takes {name or 'an instruction that is not there'} on this processor")
            continue
        environment = os.environ | ELSEWHERE[place] | {"OPENBLAS_CORETYPE": kernel}
        if place % 2 == 0:
            environment["NPY_DISABLE_CPU_FEATURES"] = vector_units()
        print(f"== {kernel}, numpy without {environment.get('NPY_DISABLE_CPU_FEATURES', 'nothing')}", flush=True)
        command = [sys.executable, "-m", "pytest", "-n", "logical", *(SHORT if short else []), *options]
        code = subprocess.run(command, env=environment, preexec_fn=one_core if place % 2 else None).returncode
        failed += code != 0
        said.append(f"{kernel}: {'passed' if code == 0 else 'FAILED'} (OpenBLAS says {name}; {ELSEWHERE[place]})")
    print("\n".join(said))
    ran = [line for line in said if "not run" not in line]
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
