"""Publishes metrics with labels until a signal ends it: shop.py [SERVER_KEY [CONTEXT_ID]].  See ../README.md."""
import signal
import sys

from shm_publisher import Counter, Gauge, Histogram, Info, Summary, publish

server_key, context_id, *_ = sys.argv[1:] + ["shop-1", "shmApp"][len(sys.argv) - 1:]

requests = Counter("shop_requests_total", "Requests that were answered.", ["code", "method"])
sent = Counter("shop_bytes_total", "Bytes sent.")
errors = Counter("shop_errors_total", "Errors.", ["kind"])
sessions = Gauge("shop_open_sessions", "Sessions that are open.")
temperature = Gauge("shop_temperature_celsius", "Temperature.", ["room"])
last_success = Gauge("shop_last_success_timestamp_seconds", "Time of the last success.")
duration = Histogram("shop_duration_seconds", "Duration of requests.", ["route"])
size = Histogram("shop_size_bytes", "Size of answers.", buckets=[100, 1000])
wait = Summary("shop_wait_seconds", "Wait in a queue.", ["queue"])
build = Info("shop_build", "Version of the program.")

published = publish(server_key, app="shop", context_id=context_id)

requests.labels("200", "get").inc(3)
requests.labels(code=500, method="post").inc()
sent.inc(4096)
errors.labels('a "quoted" \\ text\nend').inc(2)
sessions.inc(3)
sessions.dec()
temperature.labels("north").set(-2.5)
temperature.labels("süd").set(21.75)
last_success.set(1_800_000_000)
for seconds in 0.003, 0.3, 42:
    duration.labels("/").observe(seconds)
duration.labels("/pay").observe(1)
for each in 50, 500, 5000:
    size.observe(each)
wait.labels("main").observe(0.5)
wait.labels("main").observe(1.5)
build.info({"version": "1.2.3", "revision": "abc"})

signal.signal(signal.SIGTERM, signal.default_int_handler)
print("ready", file=sys.stderr, flush=True)
try:
    signal.pause()
except KeyboardInterrupt:
    pass
published.close()
