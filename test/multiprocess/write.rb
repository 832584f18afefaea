# Writes a directory with prometheus-client-mmap: metrics of every kind in three processes.
# Usage: prometheus_multiproc_dir=DIRECTORY ruby write.rb
require 'prometheus/client'

def write(number)
  config = Prometheus::Client.configuration
  config.pid_provider = -> { "puma_#{number}" } if number > 1
  registry = Prometheus::Client.registry
  requests = registry.counter(:shop_requests_total, 'Requests')
  requests.increment({ method: 'GET', path: '/' }, number * 10)
  requests.increment({ method: 'POST', path: "/a\"b\\c\nd/größe" }, 0.25)
  registry.counter(:shop_never_total, 'Never used')
  registry.counter(:shop_starts, 'A counter without a suffix').increment
  %i[all liveall min max livesum].each do |mode|
    gauge = registry.gauge("shop_#{mode}".to_sym, "Mode #{mode}", {}, mode)
    gauge.set({ queue: 'in' }, number - 1.5)
    gauge.set({ queue: nil }, 0.1 + 0.2) if number == 1
  end
  histogram = registry.histogram(:shop_latency_seconds, 'Latency', {}, [0.005, 1, 10])
  [2.0**-10, 0.5, 0.5, 7, 70].each { |value| histogram.observe({ route: '/' }, value * number) }
  size = registry.summary(:shop_size_bytes, 'Size')
  [1000, number].each { |value| size.observe({}, value) }
  return unless number == 3

  # More than the first 4 KiB of a file.
  many = registry.counter(:shop_many_total, 'Many series')
  100.times { |index| many.increment({ name: 'x' * 60 + index.to_s }, index) }
end

(1..3).each do |number|
  pid = fork { write(number) }
  _, status = Process.wait2(pid)
  exit 1 unless status.success?
end
