/* Measures updates of metrics beside a plain atomic addition. For each, prints the nanoseconds of the fastest of 20
 * rounds, and their ratio to the plain addition. usage: bench [SERVER_KEY] */
#include "shm_metrics.h"

#include <pthread.h>

enum { ROUNDS = 20, COUNT = 500000 };

#define OPTIONS(...) &(shm_metric_options){__VA_ARGS__}

/* Runs a call often, and keeps the shortest time for one call. */
#define MEASURE(best, call)                                                      \
  do {                                                                           \
    uint64_t start = shm_clock_ns(CLOCK_MONOTONIC);                              \
    for (int i = 0; i < COUNT; i++) call;                                        \
    double each = (double)(shm_clock_ns(CLOCK_MONOTONIC) - start) / COUNT;       \
    if ((best) == 0 || each < (best)) (best) = each;                             \
  } while (0)

static void *update_once(void *argument) {
  shm_gauge_set(*(const shm_gauge *)argument, 1);
  return NULL;
}

static uint64_t plain;
static volatile double seconds = 0.3;

int main(int count, char **arguments) {
  static const char *const names[] = {"a plain atomic addition", "inc of a counter",        "inc with a search for 1 label value",
                                      "inc with a search for 3 label values", "set of a gauge", "add of a gauge",
                                      "observe of a histogram with 11 buckets", "observe of a summary",
                                      "inc of a counter, once two threads have updated"};
  double best[9] = {0};
  char key[64];
  snprintf(key, sizeof key, "bench-%ld", (long)getpid());
  shm_options options = shm_options_default();
  options.server_key = count > 1 ? arguments[1] : key;
  shm_metrics *metrics;
  if (shm_metrics_open(&options, "bench", &metrics) != 0) {
    fprintf(stderr, "bench: %s\n", shm_last_error());
    return 1;
  }
  shm_counter one = shm_counter_new(metrics, OPTIONS(.name = "one_total", .help = "", .label_names = {"code"}));
  shm_counter three = shm_counter_new(
      metrics, OPTIONS(.name = "three_total", .help = "", .label_names = {"code", "method", "route"}));
  shm_gauge gauge = shm_gauge_new(metrics, OPTIONS(.name = "gauge", .help = ""));
  shm_histogram histogram = shm_histogram_new(metrics, OPTIONS(.name = "histogram", .help = ""));
  shm_summary summary = shm_summary_new(metrics, OPTIONS(.name = "summary", .help = ""));
  for (int i = 0; i < 100; i++) { /* a search among a hundred children */
    char text[16];
    snprintf(text, sizeof text, "%d", 200 + i);
    shm_counter_labels(one, text);
    shm_counter_labels(three, text, "get", "/api/orders/pay");
  }
  shm_counter kept = shm_counter_labels(one, "200");
  for (int round = 0; round < ROUNDS; round++) {
    MEASURE(best[0], __atomic_fetch_add(&plain, 1, __ATOMIC_RELAXED));
    MEASURE(best[1], shm_counter_inc(kept));
    MEASURE(best[2], shm_counter_inc(shm_counter_labels(one, "200")));
    MEASURE(best[3], shm_counter_inc(shm_counter_labels(three, "200", "get", "/api/orders/pay")));
    MEASURE(best[4], shm_gauge_set(gauge, seconds));
    MEASURE(best[5], shm_gauge_add(gauge, seconds));
    MEASURE(best[6], shm_histogram_observe(histogram, seconds));
    MEASURE(best[7], shm_summary_observe(summary, seconds));
  }
  pthread_t other;
  if (pthread_create(&other, NULL, update_once, &gauge) == 0) pthread_join(other, NULL);
  for (int round = 0; round < ROUNDS; round++) MEASURE(best[8], shm_counter_inc(kept));
  for (int i = 0; i < 9; i++) printf("%-46s %6.1f ns  %5.2f\n", names[i], best[i], best[i] / best[0]);
  shm_metrics_close(metrics);
  return 0;
}
