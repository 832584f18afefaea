// The common example of metrics with labels, in C++. Programs in other languages publish the same metrics.
// usage: shop SERVER_KEY [CONTEXT_ID]. Ends at SIGINT, SIGTERM.
#include "shm_publisher.hpp"

#include <iostream>

static void use(const shm::metrics &metrics) {
  const shm::counter requests =
      metrics.counter("shop_requests_total", "Requests that were answered.", {"code", "method"});
  const shm::counter ok = requests.labels("200", "get"); // kept, since it is used often
  for (int i = 0; i < 3; i++) ok.inc();
  requests.labels("500", "post").inc();
  metrics.counter("shop_bytes_total", "Bytes sent.").add(4096);
  metrics.counter("shop_errors_total", "Errors.", {"kind"}).labels("a \"quoted\" \\ text\nend").add(2);

  const shm::gauge sessions = metrics.gauge("shop_open_sessions", "Sessions that are open.");
  for (int i = 0; i < 3; i++) sessions.inc();
  sessions.dec();
  const shm::gauge temperature = metrics.gauge("shop_temperature_celsius", "Temperature.", {"room"});
  temperature.labels("north").set(-2.5);
  temperature.labels("s\xc3\xbc" "d").set(21.75);
  metrics.gauge("shop_last_success_timestamp_seconds", "Time of the last success.").set(1800000000);

  const shm::histogram duration = metrics.histogram("shop_duration_seconds", "Duration of requests.", {"route"});
  for (double seconds : {0.003, 0.3, 42.0}) duration.labels("/").observe(seconds);
  duration.labels("/pay").observe(1);
  const shm::histogram size = metrics.histogram("shop_size_bytes", "Size of answers.", {}, {100, 1000});
  for (double bytes : {50, 500, 5000}) size.observe(bytes);

  const shm::summary wait = metrics.summary("shop_wait_seconds", "Wait in a queue.", {"queue"});
  for (double seconds : {0.5, 1.5}) wait.labels("main").observe(seconds);
  metrics.info("shop_build", "Version of the program.", {"version", "revision"}).set("1.2.3", "abc");
}

int main(int count, char **arguments) {
  if (count < 2 || count > 3) {
    std::cerr << "usage: shop SERVER_KEY [CONTEXT_ID]\n";
    return 2;
  }
  sigset_t ends;
  int number;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  shm_options options = shm_options_default();
  options.server_key = arguments[1];
  if (count == 3) options.context_id = arguments[2];
  try {
    const shm::metrics metrics(options, "shop");
    use(metrics);
    std::cerr << "ready\n";
    sigwait(&ends, &number);
  } catch (const shm::error &error) {
    std::cerr << "shop: " << error.what() << '\n';
    return 1;
  }
}
