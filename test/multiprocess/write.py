# Writes a directory with prometheus_client: metrics of every kind in three processes.
# Usage: PROMETHEUS_MULTIPROC_DIR=DIRECTORY python3 write.py
import os
import sys
import time

WORKER = os.environ.get('WORKER', '')


def write():
    from prometheus_client import Counter, Gauge, Histogram, Summary, values

    number = int(WORKER)
    if number == 2:
        # An identifier with underscores, as an application may set it.
        values.ValueClass = values.MultiProcessValue(lambda: 'uwsgi_worker_2')
    requests = Counter('shop_requests', 'Requests', ['method', 'path'])
    requests.labels('GET', '/').inc(number * 10)
    requests.labels('POST', '/a"b\\c\nd/größe').inc(0.25)
    Counter('shop_never', 'Never used', ['l'])
    Counter('shop_starts', 'Starts').inc()
    Counter('shop:colons', 'A name with a colon').inc(2)
    for mode in ('all', 'liveall', 'min', 'livemin', 'max', 'livemax', 'sum', 'livesum'):
        gauge = Gauge(f'shop_{mode}', f'Mode {mode}', ['queue'], multiprocess_mode=mode)
        gauge.labels('in').set(number - 1.5)
        if number == 1:
            gauge.labels('out').set(0.1 + 0.2)
    Gauge('shop_unset', 'Never set', multiprocess_mode='max')
    if 'mostrecent' in Gauge._MULTIPROC_MODES:
        for mode in ('mostrecent', 'livemostrecent'):
            Gauge(f'shop_{mode}', f'Mode {mode}', multiprocess_mode=mode).set(number)
        Gauge('shop_mostrecent_unset', 'Never set', multiprocess_mode='mostrecent')
    buckets = (0.005, 1, 10) if number < 3 else (1, 5, 1e6)
    histogram = Histogram('shop_latency_seconds', 'Latency', ['route'], buckets=buckets)
    # Sums of these numbers are exact in any order.
    for value in (2**-10, 0.5, 0.5, 7, 70):
        histogram.labels('/').observe(value * number)
    size = Summary('shop_size_bytes', 'Size')
    size.observe(1000)
    size.observe(number)
    if number == 3:
        # More than the first 64 KiB of a file: each key has the help.
        many = Counter('shop_many', 'Many series' + '.' * 600, ['name'])
        for index in range(110):
            many.labels(str(index)).inc(index)


if WORKER:
    write()
else:
    for number in (1, 2, 3):
        pid = os.fork()
        if pid == 0:
            os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, 'WORKER': str(number)})
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit(1)
        time.sleep(0.01)
