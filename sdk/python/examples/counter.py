import time

import shm_publisher as shm

with shm.Publisher("shop-1") as publisher:
    shop = publisher.add_root("host.1.shop", "Shop")
    sales = publisher.add_variable(shop, "sales", shm.U64, kind=shm.COUNTER, help="Sales.", value=0)
    publisher.publish()
    while True:
        sales.add(1)  # a store in shared memory
        publisher.notify()  # a heartbeat, which also wakes the exporter
        time.sleep(1)
