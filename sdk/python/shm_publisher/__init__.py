"""Publishes metrics in shared memory for shm_exporter (README.md).

    from shm_publisher import Counter, publish

    REQUESTS = Counter("http_requests_total", "Requests that were answered.", ["code"])
    publish("shop-1", app="shop")
    REQUESTS.labels("200").inc()

`Publisher` is for programs with a tree of objects.
"""
from .layout import (
    AUTO_RECOVERY, BOOL, COUNTER, DEAD, F64, GAUGE, HISTOGRAM, I64, INIT, INVALID, MANUAL_RECOVERY, NORMAL, STRING,
    SUMMARY, U64, UNKNOWN)
from .metrics import Counter, Gauge, Histogram, Info, PublishedMetrics, Summary, publish
from .nodes import Object, Variable
from .publisher import AnotherPublisherLives, Publisher

__all__ = [
    "AUTO_RECOVERY", "BOOL", "COUNTER", "DEAD", "F64", "GAUGE", "HISTOGRAM", "I64", "INIT", "INVALID",
    "MANUAL_RECOVERY", "NORMAL", "STRING", "SUMMARY", "U64", "UNKNOWN", "AnotherPublisherLives", "Counter", "Gauge",
    "Histogram", "Info", "Object", "PublishedMetrics", "Publisher", "Summary", "Variable", "publish"]
