"""Publishes metrics in shared memory for shm_exporter (README.md).

    from shm_publisher import Publisher
"""
from .publisher import (
    AUTO_RECOVERY, BOOL, COUNTER, DEAD, F64, GAUGE, HISTOGRAM, I64, INIT, INVALID, MANUAL_RECOVERY, NORMAL, STRING,
    SUMMARY, U64, UNKNOWN, AnotherPublisherLives, Object, Publisher, Variable)

__all__ = [
    "AUTO_RECOVERY", "BOOL", "COUNTER", "DEAD", "F64", "GAUGE", "HISTOGRAM", "I64", "INIT", "INVALID",
    "MANUAL_RECOVERY", "NORMAL", "STRING", "SUMMARY", "U64", "UNKNOWN", "AnotherPublisherLives", "Object", "Publisher",
    "Variable"]
