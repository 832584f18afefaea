"""Measures updates of metrics in one run: this package and its values for prometheus_client, beside prometheus_client
with threads and in multiprocess mode.

Usage: PYTHONPATH=FOLDER/OF/prometheus_client python3 bench/python-metrics.py [ROUNDS]
Each round runs every case in a process of its own, in turn.  The figures are medians in nanoseconds."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import timeit

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sdk", "python")
COUNT = 100_000
CASES = {
    "threads": "from prometheus_client import *",
    "multiprocess": "from prometheus_client import *",
    "ours": "from shm_publisher import *; from shm_publisher import publish as begin",
    "values": "from shm_publisher.prometheus import publish as begin; from prometheus_client import *",
}


def measure(case):
    names = {}
    exec(CASES[case], names)
    counter, gauge = names["Counter"]("c", "C."), names["Gauge"]("g", "G.")
    labelled = names["Counter"]("l", "L.", ["code", "method"])
    histogram, summary = names["Histogram"]("h", "H."), names["Summary"]("s", "S.")
    kept = labelled.labels("200", "get")
    if "begin" in names:
        names["begin"](f"bench-{os.getpid()}", app="bench")
    calls = {
        "inc of a kept child": kept.inc,
        "inc through labels()": lambda: labelled.labels("200", "get").inc(),
        "set of a gauge": lambda: gauge.set(1.5),
        "observe of a histogram": lambda: histogram.observe(0.3),
        "observe of a summary": lambda: summary.observe(0.3),
    }
    return {name: min(timeit.repeat(call, number=COUNT, repeat=3)) / COUNT * 1e9 for name, call in calls.items()}


def main(rounds):
    runs = {case: [] for case in CASES}
    for _ in range(rounds):
        for case in CASES:
            with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
                env = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{os.environ.get('PYTHONPATH', '')}"}
                if case == "multiprocess":
                    env["PROMETHEUS_MULTIPROC_DIR"] = folder
                words = [sys.executable, "-W", "ignore", __file__, "--case", case]
                runs[case].append(json.loads(subprocess.run(words, env=env, stdout=subprocess.PIPE, check=True).stdout))
    ns = {case: {name: statistics.median(run[name] for run in of) for name in of[0]} for case, of in runs.items()}
    print(f"{'':26}{'threads':>10}{'multiproc.':>12}{'ours':>8}{'÷ thr.':>8}{'÷ mult.':>9}{'values':>9}{'÷ thr.':>8}{'÷ mult.':>9}")
    for name in ns["ours"]:
        threads, multiprocess, ours, of_library = (ns[case][name] for case in CASES)
        print(f"{name:26}{threads:8.0f}ns{multiprocess:10.0f}ns{ours:6.0f}ns{ours / threads:8.2f}{ours / multiprocess:9.2f}"
              f"{of_library:7.0f}ns{of_library / threads:8.2f}{of_library / multiprocess:9.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--case"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
