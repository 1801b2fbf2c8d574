"""Other libraries, each in a cached environment of its own, spoken to in JSON.

Their requirements contradict each other and ours, so none is ever imported here. `ask("opendp", job)` starts
peers/ask_opendp.py in its environment, with the job on standard input, and reads the answer from standard output.
A peer that does not install or does not run gives its error as its answer. Ours is asked in the same way where memory is
measured, since that takes a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

WORKERS = Path(__file__).parent / "peers"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dither-benchmarks"
REQUIREMENTS = {
    "diffprivlib": ["diffprivlib>=0.6", "scikit-learn>=1.5,<1.7"],
    "diffprivlib_models": ["diffprivlib==0.6.6", "scikit-learn>=1.5,<1.6"],
    "dp_accounting": ["dp-accounting>=0.4"],
    "interpret": ["interpret-core==0.7.8", "scikit-learn"],
    "multi_freq_ldpy": ["multi-freq-ldpy==0.2.5", "xxhash<4"],
    "opacus": ["torch==2.13.0", "opacus==1.6.0"],
    "opendp": ["opendp>=0.12", "numpy>=2"],
    "opendp_polars": ["opendp[polars]==0.16.0"],
    "pipelinedp": ["pipeline-dp==0.3.1", "pyarrow"],
    "pipelinedp_spark": ["pipeline-dp==0.3.1", "pyspark==4.3.0"],
    "pure_ldp": ["pure-ldp==1.2.0", "xxhash<4", "scikit-learn", "statsmodels"],
    "qif": ["qif==1.6.0", "numpy>=2"],
    "smartnoise": ["smartnoise-sql==1.0.10", "pyarrow"],
    "tpchgen": ["tpchgen-cli==4.0.0"],  # makes tables; nobody asks it
}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def environment(name: str) -> Path:
    """The interpreter of a peer's environment, which is made on first use; our own runs in the one that is running."""
    if name == "dither":
        return Path(sys.executable)
    wanted = hashlib.sha256(json.dumps([REQUIREMENTS[name], sys.version]).encode()).hexdigest()[:12]
    folder = CACHE / f"{name}-{wanted}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"installing {name} into {folder} ...", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS[name]]
        subprocess.run(install, check=True, capture_output=True, text=True)
        (folder / "ready").touch()
    return python


def ask(name: str, job: dict[str, object], *, timeout: float = 600, one_thread: bool = False) -> dict[str, object]:
    """The peer's answer, or {"error": ...}; with one thread for its linear algebra, where its seconds of CPU are told."""
    try:
        command = [environment(name), WORKERS / f"ask_{name}.py"]
        variables = {**os.environ, **ONE_THREAD} if one_thread else None
        result = subprocess.run(
            command, input=json.dumps(job), capture_output=True, text=True, timeout=timeout, check=True, env=variables
        )
        answer: dict[str, object] = json.loads(result.stdout)
    except subprocess.CalledProcessError as error:
        return {"error": (error.stderr or str(error)).strip().splitlines()[-1]}
    except (OSError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
        return {"error": str(error)}
    return answer
