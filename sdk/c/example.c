/* Publishes numbers, a text and distributions, and adds and removes an object, until SIGINT or SIGTERM. */
#include "shm_publisher.h"

#include <signal.h>

typedef struct settings {
  shm_options segment;
  const char *root;
  double seconds; /* time to run; 0: until a signal */
} settings;

typedef struct metrics {
  shm_publisher *publisher;
  shm_object root, queue, session;
  shm_variable requests, load, phase, latency, size;
  char queue_id[256], session_id[256]; /* ids of the objects below the root */
  shm_variable session_bytes;
} metrics;

static volatile sig_atomic_t is_ending;

static void end(int number) {
  (void)number;
  is_ending = 1;
}

static int usage(void) {
  fprintf(stderr, "usage: example --server-key KEY [--context-id ID] [--pool-name NAME]\n"
                  "               [--root HOST.INSTANCE.APPLICATION] [--seconds N]\n");
  return 2;
}

static bool read_option(settings *s, const char *name, const char *value) {
  char *rest = NULL;
  if (strcmp(name, "--server-key") == 0) s->segment.server_key = value;
  else if (strcmp(name, "--context-id") == 0) s->segment.context_id = value;
  else if (strcmp(name, "--pool-name") == 0) s->segment.pool_name = value;
  else if (strcmp(name, "--root") == 0) s->root = value;
  else if (strcmp(name, "--seconds") == 0) s->seconds = strtod(value, &rest);
  else return false;
  return rest == NULL || (*rest == '\0' && rest != value && s->seconds >= 0);
}

static bool read_options(settings *s, int count, char **arguments) {
  s->segment = shm_options_default();
  s->root = "localhost.1.example";
  s->seconds = 0;
  for (int i = 1; i < count; i += 2)
    if (i + 1 == count || !read_option(s, arguments[i], arguments[i + 1])) return false;
  return s->segment.server_key != NULL;
}

/* Prints an error. The program continues: handles of dropped items store nothing. */
static void note(const char *what, int code) {
  if (code != 0) fprintf(stderr, "example: %s: %s\n", what, shm_error_text(code));
}

static void add_scalar(const shm_object *object, shm_variable *out, const char *name, int type,
                       int kind, const char *unit, const char *help) {
  shm_variable_options options = shm_variable_options_default();
  options.kind = kind;
  options.unit = unit;
  options.help = help;
  note(name, shm_add_variable(object, out, name, type, &options));
}

static void add_phase(metrics *m) {
  shm_variable_options options = shm_variable_options_default();
  options.help = "What the program is doing";
  options.text_bytes = 32;
  note("phase", shm_add_variable(&m->root, &m->phase, "phase", SHM_STRING, &options));
}

static void add_latency(metrics *m) {
  static const double bounds[] = {0.001, 0.01, 0.1, 1};
  shm_variable_options options = shm_variable_options_default();
  options.unit = "seconds";
  options.help = "Time from request to answer";
  options.schema = bounds;
  options.schema_entries = sizeof bounds / sizeof bounds[0];
  note("latency", shm_add_variable(&m->queue, &m->latency, "latency", SHM_HISTOGRAM, &options));
}

static void add_size(metrics *m) {
  static const double quantiles[] = {0.5, 0.9, 0.99};
  shm_variable_options options = shm_variable_options_default();
  options.unit = "bytes";
  options.help = "Size of answers";
  options.schema = quantiles;
  options.schema_entries = sizeof quantiles / sizeof quantiles[0];
  note("size", shm_add_variable(&m->queue, &m->size, "size", SHM_SUMMARY, &options));
}

static void add_all(metrics *m, const char *root) {
  snprintf(m->queue_id, sizeof m->queue_id, "%s.queue", root);
  snprintf(m->session_id, sizeof m->session_id, "%s.session", root);
  note("root", shm_add_root(m->publisher, &m->root, root, "Application", NULL));
  note("queue", shm_add_object(&m->root, &m->queue, m->queue_id, "Queue", NULL));
  add_phase(m);
  add_latency(m);
  add_size(m);
  add_scalar(&m->queue, &m->requests, "requests", SHM_U64, SHM_COUNTER, "", "Requests so far");
  add_scalar(&m->queue, &m->load, "load", SHM_F64, SHM_GAUGE, "", "Share of time that is busy");
}

/* Adds the session, or removes it with its variable. */
static void toggle_session(metrics *m) {
  if (shm_remove_object(&m->session) == 0) return;
  note("session", shm_add_object(&m->root, &m->session, m->session_id, "Session", NULL));
  add_scalar(&m->session, &m->session_bytes, "received", SHM_U64, SHM_COUNTER, "bytes",
             "Bytes received in this session");
}

static void update(metrics *m, unsigned round) {
  shm_u64_add(&m->requests, 3);
  shm_f64_set(&m->load, (round % 20) / 20.0);
  shm_histogram_observe(&m->latency, (round % 7) * 0.02);
  double sizes[] = {512, 1024, 4096.0 + round % 10};
  shm_summary_set(&m->size, round + 1, (round + 1) * 700.0, sizes, 3);
  shm_text_set(&m->phase, round % 40 < 20 ? "working" : "r\xc3\xa9sum\xc3\xa9");
  if (round % 20 == 0) toggle_session(m);
  shm_u64_add(&m->session_bytes, 1500); /* returns -ESTALE while there is no session */
  shm_publisher_notify(m->publisher);
}

static void run(metrics *m, double seconds) {
  uint64_t start = shm_clock_ns(CLOCK_MONOTONIC);
  struct timespec pause = {0, 100000000};
  for (unsigned round = 0; !is_ending; round++) {
    double passed = (double)(shm_clock_ns(CLOCK_MONOTONIC) - start) / 1e9;
    if (seconds > 0 && passed >= seconds) return;
    update(m, round);
    nanosleep(&pause, NULL); /* a signal ends it early */
  }
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = end;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int main(int count, char **arguments) {
  settings s;
  metrics m;
  memset(&m, 0, sizeof m);
  if (!read_options(&s, count, arguments)) return usage();
  catch_signals();
  int code = shm_publisher_open(&m.publisher, &s.segment);
  if (code == 0) {
    add_all(&m, s.root);
    code = shm_publisher_publish(m.publisher);
  }
  note("cannot publish", code);
  if (code == 0) {
    fprintf(stderr, "ready\n");
    run(&m, s.seconds);
  }
  shm_publisher_close(m.publisher);
  return code == 0 ? 0 : 1;
}
