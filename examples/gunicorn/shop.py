"""A small shop whose workers count their requests in a directory that they share.

Run it with:

    PROMETHEUS_MULTIPROC_DIR=/run/shop/metrics gunicorn --config gunicorn.conf.py shop:app
"""

import time

from prometheus_client import Counter, Gauge, Histogram, Summary

REQUESTS = Counter('shop_requests', 'Requests by path and status.', ['path', 'code'])
DURATION = Histogram(
    'shop_request_duration_seconds',
    'Time to answer a request.',
    buckets=(0.001, 0.005, 0.025, 0.1, 0.5, 2.5),
)
ACTIVE = Gauge('shop_requests_active', 'Requests in progress.', multiprocess_mode='livesum')
STOCK = Gauge('shop_stock_cache_items', 'Items in the cache of a worker.', multiprocess_mode='liveall')
LAST_ORDER = Gauge('shop_last_order_timestamp_seconds', 'Time of the last order.', multiprocess_mode='max')
BASKET = Summary('shop_basket_items', 'Items of an order.')

PATHS = {'/': 'A shop.\n', '/order': 'Thank you.\n'}
cache = set()


def app(environ, start_response):
    began = time.perf_counter()
    ACTIVE.inc()
    path = environ['PATH_INFO']
    body = PATHS.get(path, 'No such page.\n').encode()
    code = '200' if path in PATHS else '404'
    if path == '/order':
        items = 1 + int(began * 1e6) % 7
        BASKET.observe(items)
        LAST_ORDER.set(time.time())
        cache.add(items)
        STOCK.set(len(cache))
    # Paths that clients choose would make any number of series.
    REQUESTS.labels(path if path in PATHS else 'other', code).inc()
    DURATION.observe(time.perf_counter() - began)
    ACTIVE.dec()
    start_response(f'{code} {"OK" if code == "200" else "Not Found"}', [('Content-Type', 'text/plain')])
    return [body]
