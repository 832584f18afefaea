"""Publishes one root with a variable of every type.  See ../README.md."""
import argparse
import math
import os
import signal
import sys
import time

import shm_publisher as shm


def build(pub, root_id):
    root = pub.add_root(root_id, "Example")
    return root, {
        "requests": pub.add_variable(root, "requests_done", shm.U64, kind=shm.COUNTER, help="Requests done", value=0),
        "balance": pub.add_variable(root, "balance", shm.I64, kind=shm.GAUGE, help="May be negative", value=-1),
        "load": pub.add_variable(root, "load", shm.F64, kind=shm.GAUGE, help="A sine", value=0.0),
        "even": pub.add_variable(root, "even", shm.BOOL, kind=shm.GAUGE, help="Whether the step is even", value=True),
        "status": pub.add_variable(root, "status", shm.STRING, help="A text", value="starting", capacity=64),
        "latency": pub.add_variable(root, "latency", shm.HISTOGRAM, unit="seconds", help="Latency",
                                    schema=(0.01, 0.1, 1.0)),      # starts without observations
        "sizes": pub.add_variable(root, "sizes", shm.SUMMARY, unit="bytes", help="Sizes",
                                  schema=(0.5, 0.9, 0.99)),          # starts without observations
    }


def update(v, step):
    v["requests"].add(1)
    v["balance"].set(-step)
    v["load"].set(math.sin(step / 10))
    v["even"].set(step % 2 == 0)
    v["status"].set(f"step {step} – läuft")
    v["latency"].observe((0.005, 0.01, 0.5, 5.0)[step % 4])
    v["sizes"].set_summary(step, 100.0 * step, (100.0, 180.0, 198.0))


def hexdump(pub):
    def line(offset, data, label):
        print(f"{label}{offset:0{8 if not label else 2}x}  {data[:8].hex(' ')}  {data[8:].hex(' ')}")
    with open(pub.path, "rb") as f:
        page = f.read(4096)
        for at in (0, 16, 32):
            line(at, page[at:at + 16], "")
        f.seek(int.from_bytes(page[88:96], "little") + 64)       # record 1 of directory A
        record = f.read(64)
    print()
    for at in range(0, 64, 16):
        line(at, record[at:at + 16], "+")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--server-key", required=True)
    args.add_argument("--context-id", default="shmApp")
    args.add_argument("--pool-name", default="pool")
    args.add_argument("--root", default="localhost.1.example")
    args.add_argument("--seconds", type=float, default=math.inf)
    args.add_argument("--hexdump", action="store_true")
    args = args.parse_args()

    signals = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: signals.append(number))

    with shm.Publisher(args.server_key, args.context_id, args.pool_name) as pub:
        root, variables = build(pub, args.root)
        pub.publish()
        if args.hexdump:
            hexdump(pub)
            return
        print("ready", file=sys.stderr, flush=True)
        start, step, child = time.monotonic(), 0, None
        while (elapsed := time.monotonic() - start) < args.seconds and not signals:
            step += 1
            update(variables, step)
            if child is None and elapsed >= 1:
                child = pub.add_object(root, f"{root.name}.worker", "Worker")
                pub.add_variable(child, "pid", shm.U64, kind=shm.GAUGE, value=os.getpid())
            if child is not None and child.alive and elapsed >= 3:
                child.remove()
            pub.notify()
            time.sleep(max(0, min(0.2, args.seconds - (time.monotonic() - start))))


if __name__ == "__main__":
    main()
