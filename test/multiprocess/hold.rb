# A process with live gauges and a counter, until it is killed. The first argument is its identifier.
# Usage: prometheus_multiproc_dir=DIRECTORY ruby hold.rb ID
require 'prometheus/client'

Prometheus::Client.configuration.pid_provider = -> { ARGV[0] }
registry = Prometheus::Client.registry
registry.counter(:shop_jobs_total, 'Jobs').increment({}, 2)
registry.gauge(:shop_busy, 'Busy', {}, :liveall).set({}, 1)
registry.gauge(:shop_threads, 'Threads', {}, :livesum).set({}, 5)
$stderr.puts 'ready'
sleep
