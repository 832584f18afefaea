"""Settings of Gunicorn for the shop."""

bind = '127.0.0.1:8000'
workers = 4
# Each worker ends after about this number of requests, and another one starts.
max_requests = 10_000
max_requests_jitter = 1_000
