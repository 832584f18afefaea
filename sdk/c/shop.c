/* The common example of metrics with labels, in C. Programs in other languages publish the same metrics.
 * usage: shop SERVER_KEY [CONTEXT_ID]. Ends at SIGINT, SIGTERM. */
#include "shm_metrics.h"

#define OPTIONS(...) &(shm_metric_options){__VA_ARGS__}

static void use(shm_metrics *metrics) {
  static const double sizes[] = {100, 1000};
  shm_counter requests = shm_counter_new(metrics, OPTIONS(.name = "shop_requests_total",
                                                          .help = "Requests that were answered.",
                                                          .label_names = {"code", "method"}));
  shm_counter ok = shm_counter_labels(requests, "200", "get"); /* kept, since it is used often */
  for (int i = 0; i < 3; i++) shm_counter_inc(ok);
  shm_counter_inc(shm_counter_labels(requests, "500", "post"));

  shm_counter bytes = shm_counter_new(metrics, OPTIONS(.name = "shop_bytes_total", .help = "Bytes sent."));
  shm_counter_add(bytes, 4096);

  shm_counter errors = shm_counter_new(metrics, OPTIONS(.name = "shop_errors_total", .help = "Errors.",
                                                        .label_names = {"kind"}));
  shm_counter_add(shm_counter_labels(errors, "a \"quoted\" \\ text\nend"), 2);

  shm_gauge sessions = shm_gauge_new(metrics, OPTIONS(.name = "shop_open_sessions", .help = "Sessions that are open."));
  for (int i = 0; i < 3; i++) shm_gauge_inc(sessions);
  shm_gauge_dec(sessions);

  shm_gauge temperature = shm_gauge_new(metrics, OPTIONS(.name = "shop_temperature_celsius", .help = "Temperature.",
                                                         .label_names = {"room"}));
  shm_gauge_set(shm_gauge_labels(temperature, "north"), -2.5);
  shm_gauge_set(shm_gauge_labels(temperature, "s\xc3\xbc" "d"), 21.75);

  shm_gauge success = shm_gauge_new(metrics, OPTIONS(.name = "shop_last_success_timestamp_seconds",
                                                     .help = "Time of the last success."));
  shm_gauge_set(success, 1800000000);

  shm_histogram duration = shm_histogram_new(metrics, OPTIONS(.name = "shop_duration_seconds",
                                                              .help = "Duration of requests.",
                                                              .label_names = {"route"}));
  shm_histogram root = shm_histogram_labels(duration, "/");
  shm_histogram_observe(root, 0.003);
  shm_histogram_observe(root, 0.3);
  shm_histogram_observe(root, 42);
  shm_histogram_observe(shm_histogram_labels(duration, "/pay"), 1);

  shm_histogram size = shm_histogram_new(metrics, OPTIONS(.name = "shop_size_bytes", .help = "Size of answers.",
                                                          .buckets = sizes, .bucket_count = 2));
  shm_histogram_observe(size, 50);
  shm_histogram_observe(size, 500);
  shm_histogram_observe(size, 5000);

  shm_summary wait = shm_summary_new(metrics, OPTIONS(.name = "shop_wait_seconds", .help = "Wait in a queue.",
                                                      .label_names = {"queue"}));
  shm_summary_observe(shm_summary_labels(wait, "main"), 0.5);
  shm_summary_observe(shm_summary_labels(wait, "main"), 1.5);

  shm_info build = shm_info_new(metrics, OPTIONS(.name = "shop_build", .help = "Version of the program.",
                                                 .label_names = {"version", "revision"}));
  shm_info_set(build, "1.2.3", "abc");
}

int main(int count, char **arguments) {
  sigset_t ends;
  int number;
  if (count < 2 || count > 3) {
    fprintf(stderr, "usage: shop SERVER_KEY [CONTEXT_ID]\n");
    return 2;
  }
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  shm_options options = shm_options_default();
  options.server_key = arguments[1];
  if (count == 3) options.context_id = arguments[2];
  shm_metrics *metrics;
  if (shm_metrics_open(&options, "shop", &metrics) != 0) {
    fprintf(stderr, "shop: %s\n", shm_last_error());
    return 1;
  }
  use(metrics);
  if (*shm_last_error() != '\0') fprintf(stderr, "shop: %s\n", shm_last_error());
  fprintf(stderr, "ready\n");
  sigwait(&ends, &number);
  shm_metrics_close(metrics);
  return 0;
}
