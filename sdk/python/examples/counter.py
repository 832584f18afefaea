import time

from shm_publisher import Counter, publish

REQUESTS = Counter("shop_requests", "Requests that were answered.", ["code"])
publish("shop-1", app="shop")

while True:
    REQUESTS.labels("200").inc()  # a store in shared memory
    time.sleep(1)
