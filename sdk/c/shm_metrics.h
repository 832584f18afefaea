/*
 * Metrics with labels, as client_golang and the other client libraries of Prometheus have them, in a file in shared
 * memory. Readers copy the file, and never make the program wait.
 *
 *   shm_options options = shm_options_default();
 *   options.server_key = "shop-1";
 *   shm_metrics *metrics;
 *   int code = shm_metrics_open(&options, "shop", &metrics); // visible now, with a heartbeat of its own
 *   shm_counter requests = shm_counter_new(metrics, &(shm_metric_options){
 *     .name = "shop_requests_total", .help = "Requests that were answered.", .label_names = {"code", "method"}});
 *   shm_counter ok = shm_counter_labels(requests, "200", "get"); // look it up once, and keep it
 *   shm_counter_inc(ok);
 *
 * INCLUDE THIS HEADER FIRST, as shm_publisher.h says. From C++, include shm_publisher.hpp.
 *
 * Handles (shm_counter, shm_float_counter, shm_gauge, shm_histogram, shm_summary, shm_info) are plain values. A
 * function that returns a handle returns one with `metric` NULL after an error, and shm_last_error() says why. All other
 * functions return 0 or a negative errno value:
 *   -EINVAL  an argument that is not allowed
 *   -ESTALE  the child was removed, is above max_children, or found no room in the segment, or the metrics are closed:
 *            nothing was stored
 *   -ENOENT  no child has these label values
 *   -ECHILD  the process was forked from the one that opened the metrics: nothing was stored
 *   -EDEADLK a signal handler interrupted an update of the same histogram or summary, or an addition or removal, or
 *            waited for a histogram or summary of another thread; or a thread was canceled in such an update
 *   -ENOMEM  no memory
 *
 * The handle of a label set beyond max_children, of a metric or label set for which the segment has no room, and of a
 * new label set in a forked child stores nothing, but its `metric` is not NULL. One line on stderr says so. The segment
 * counts updates through such handles as *variables dropped*, except in a forked child.
 *
 * Threads: every function may be called from every thread, also for the same metric and child, until
 * shm_metrics_close(). Updates take no lock, except that updates of one histogram or summary exclude each other. The
 * first call of a second thread may wait for an update of the first one, for 0.1 s at most. After a removal, updates
 * through kept handles store nothing: see shm_updates.h.
 *
 * Signal handlers may update, and look up children that exist. They must not add children, since that allocates memory.
 * A handler must not leave an update by siglongjmp(): the memory and slots of removed children would stay in use until
 * the thread ends.
 *
 * fork(): in the child, updates store nothing, and the child does not keep the segment alive. Open other metrics there.
 * daemon() forks, so open metrics after it.
 */
#ifndef SHM_METRICS_H
#define SHM_METRICS_H

#include "shm_children.h"

#if defined(__GNUC__) && !defined(SHM_PUBLISHER_WARNINGS)
#pragma GCC system_header
#endif

#include <sched.h>
#include <signal.h>
#ifdef __cplusplus
#include <type_traits>
#endif

enum { SHM_DEFAULT_CHILDREN = 1000, SHM_MOST_CHILDREN = 1000000, SHM_FRAME_TRIES = 4000000, SHM_NESTED_TRIES = 1000, SHM_STACK_BYTES = 262144 };

typedef struct shm_metric_options {
  const char *name, *help;             /* required */
  const char *unit;                    /* default: none */
  const char *label_names[SHM_LABELS]; /* up to the first NULL; default: none */
  /* Of a histogram: upper bounds without +Inf, ascending. Default: .005 .01 .025 .05 .1 .25 .5 1 2.5 5 10 */
  const double *buckets;
  uint32_t bucket_count;
  uint32_t max_children; /* maximum number of label sets, default 1000 */
} shm_metric_options;

/* A metric without label names, or a child: the series of one label set. */
typedef struct shm_counter {
  shm_metric *metric;
  shm_variable variable;
} shm_counter;

/* A counter of fractions, such as seconds of processor time. */
typedef struct shm_float_counter {
  shm_metric *metric;
  shm_variable variable;
} shm_float_counter;

typedef struct shm_gauge {
  shm_metric *metric;
  shm_variable variable;
} shm_gauge;

typedef struct shm_histogram {
  shm_metric *metric;
  shm_variable variable;
} shm_histogram;

typedef struct shm_summary {
  shm_metric *metric;
  shm_variable variable;
} shm_summary;

/* A gauge with the value 1, whose labels are the information: shm_info. <sys/shm.h> has another `struct shm_info`, so
 * the structure has a longer name. In C++, where the names of structures and types are one set, use shm::info. */
typedef struct shm_info_metric {
  shm_metric *metric;
} shm_info_metric;
#ifndef __cplusplus
typedef shm_info_metric shm_info;
#endif

/* ---------------------------------------------------------------- internals: metrics */

/* Returns the `metric` of a handle after a call that filled its variable and returned `code`. After -ENOSPC, -EDQUOT,
 * -ECHILD and -EDEADLK, the handle has a metric, but stores nothing, and `kind` of its variable is the code. */
static inline shm_metric *shm_metric_after(shm_metric *metric, int code, shm_variable *variable) {
  if (code == 0) return metric;
  memset(variable, 0, sizeof *variable);
  variable->kind = code;
  if (code != -ENOSPC && code != -EDQUOT && code != -ECHILD && code != -EDEADLK) return NULL;
  variable->publisher = metric->metrics->publisher;
  return metric;
}

static inline int shm_check_metric_options(const char *function, const shm_metrics *metrics,
                                           const shm_metric_options *options) {
  static const struct { const char *what, *allowed; } pointers[] = {
      {"metrics", "metrics from shm_metrics_open()"}, {"options", "the options of a metric"},
      {"name", "the name of a metric"}};
  const void *const found[] = {metrics, options, options == NULL ? NULL : options->name};
  int code = 0;
  for (int i = 0; i < 3 && code == 0; i++) code = shm_check_pointer(found[i], function, pointers[i].what, pointers[i].allowed);
  if (code == 0) code = shm_check_module(metrics->updates, function, NULL);
  if (code == 0) code = shm_check_series_name(function, options->name);
  if (code != 0) return code;
  if (options->help == NULL)
    return shm_fail(-EINVAL, "%s: help of metric %q: found NULL, allowed: a text", function, options->name);
  for (uint32_t i = 1; i < SHM_LABELS; i++)
    if (options->label_names[i - 1] == NULL && options->label_names[i] != NULL)
      return shm_fail(-EINVAL, "%s: label_names of metric %q: found NULL before %q, allowed: NULL at the end alone", function,
                      options->name, options->label_names[i]);
  if (options->max_children <= SHM_MOST_CHILDREN) return 0;
  shm_fail(-EINVAL, "%s: max_children of metric %q: found %u, allowed: 1 to %u, or 0 for the default", function,
           options->name, (uint64_t)options->max_children, (uint64_t)SHM_MOST_CHILDREN);
  return -EINVAL;
}

/* Checks the bounds of a histogram. Metrics of other types have none. */
static inline int shm_check_buckets(const char *function, int type, const shm_metric_options *options) {
  static const char *const at = "%s: buckets of metric %q: found %s%u, allowed: %s";
  uint32_t count = options->bucket_count;
  if (count == 0 && options->buckets == NULL) return 0;
  if (type != SHM_HISTOGRAM)
    return shm_fail(-EINVAL, at, function, options->name, "", (uint64_t)count, "none, except for a histogram");
  if (count == 0 || count > SHM_SCHEMA_ENTRIES)
    return shm_fail(-EINVAL, at, function, options->name, "bucket_count ", (uint64_t)count, "1 to 512");
  if (options->buckets == NULL)
    return shm_fail(-EINVAL, at, function, options->name, "NULL and bucket_count ", (uint64_t)count, "an array");
  for (uint32_t i = 0; i < count; i++) {
    if (!shm_is_finite(options->buckets[i]))
      return shm_fail(-EINVAL, at, function, options->name, "NaN or infinity at index ", (uint64_t)i, "finite numbers");
    if (i > 0 && options->buckets[i] <= options->buckets[i - 1])
      return shm_fail(-EINVAL, at, function, options->name, "a number that does not ascend at index ", (uint64_t)i,
                      "ascending numbers");
  }
  return 0;
}

static inline const char *shm_copy_text(char **to, const char *text) {
  const char *copy = *to;
  size_t length = text == NULL ? 0 : strlen(text);
  if (length > 0) memcpy(*to, text, length);
  (*to)[length] = '\0';
  *to += length + 1;
  return copy;
}

/* Copies name, help, unit, label names and bounds of a metric. Returns false if there is no memory. */
static inline bool shm_copy_options(shm_metric *metric, const shm_metric_options *options, const char *suffix) {
  static const double buckets[] = {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
  const double *bounds = options->buckets != NULL ? options->buckets : buckets;
  uint32_t entries = metric->type != SHM_HISTOGRAM ? 0 : options->buckets != NULL ? options->bucket_count : 11;
  uint32_t labels = 0;
  size_t bytes = strlen(options->name) + strlen(suffix) + strlen(options->help) + 3;
  if (options->unit != NULL) bytes += strlen(options->unit);
  for (; labels < SHM_LABELS && options->label_names[labels] != NULL; labels++)
    bytes += strlen(options->label_names[labels]) + 1;
  size_t pointers = 2 * (size_t)labels * sizeof(char *), numbers = entries * sizeof(double);
  char *memory = (char *)malloc(pointers + numbers + bytes);
  if (memory == NULL) return false;
  const char **names = (const char **)(void *)memory;
  if (entries > 0) memcpy(memory + pointers, bounds, numbers);
  char *to = memory + pointers + numbers;
  metric->texts = memory;
  metric->name = shm_copy_text(&to, options->name);
  if (*suffix != '\0') {
    to--;
    shm_copy_text(&to, suffix);
  }
  metric->options = shm_variable_options_default();
  metric->options.help = shm_copy_text(&to, options->help);
  metric->options.unit = shm_copy_text(&to, options->unit);
  for (uint32_t i = 0; i < labels; i++) {
    names[2 * i] = shm_copy_text(&to, options->label_names[i]);
    names[2 * i + 1] = "";
  }
  metric->options.labels = labels == 0 ? NULL : names;
  metric->options.label_count = labels;
  metric->options.schema = entries == 0 ? NULL : (const double *)(const void *)(memory + pointers);
  metric->options.schema_entries = entries;
  metric->options.series = true;
  shm_print(&metric->removed, "metric %q: found a removed child, allowed: one that exists, from a new call of shm_..._labels()",
            metric->name);
  metric->max_children = options->max_children == 0 ? (uint32_t)SHM_DEFAULT_CHILDREN : options->max_children;
  return true;
}

static inline void shm_free_metric(shm_metric *metric) {
  shm_children *children = metric->children;
  for (uint32_t i = 0; children != NULL && i < children->places; i++)
    if (shm_child_at(children, i) != SHM_REMOVED_CHILD) free(shm_child_at(children, i));
  free(children);
  free(metric->texts);
  free(metric);
}

static inline const char *shm_kind_of_metric(const shm_metric *metric) {
  if (metric->type >= SHM_HISTOGRAM) return shm_type_name(metric->type);
  return metric->is_info ? "info" : metric->options.kind == SHM_COUNTER ? "counter" : "gauge";
}

/* Whether a metric has series of a name: its own, or those of the counts and the sum of a distribution. */
static inline bool shm_has_series(const shm_metric *metric, const char *name) {
  size_t length = strlen(metric->name);
  if (strncmp(name, metric->name, length) != 0) return false;
  const char *rest = name + length;
  if (*rest == '\0' || metric->type < SHM_HISTOGRAM) return *rest == '\0';
  return strcmp(rest, "_count") == 0 || strcmp(rest, "_sum") == 0 ||
         (metric->type == SHM_HISTOGRAM && strcmp(rest, "_bucket") == 0);
}

/* Checks a new metric, and publishes its variable if it has no label names. The caller holds the lock. */
static inline int shm_declare(shm_metrics *metrics, shm_metric *metric, const char *function, shm_variable *variable) {
  shm_series series;
  shm_text texts[4];
  int code = shm_check_variable(function, metrics->publisher, metric->name, metric->type, &metric->options, &series,
                                texts);
  if (code != 0) return code;
  for (const shm_metric *other = metrics->newest; other != NULL; other = other->older) {
    if (shm_has_series(other, metric->name))
      return shm_fail(-EINVAL, "%s: name: found %q, which the %s %q has, allowed: a name of its own; declare each metric "
                               "once, and keep its handle",
                      function, metric->name, shm_kind_of_metric(other), other->name);
    if (shm_has_series(metric, other->name))
      return shm_fail(-EINVAL, "%s: name: found %q, which has a series of the metric %q, allowed: a name of its own", function,
                      metric->name, other->name);
  }
  if (metric->options.label_count == 0) code = shm_publish_member(metric, function, "", variable);
  if (code == -ENOSPC) {
    code = 0;
    shm_metric_after(metric, -ENOSPC, variable);
  }
  if (code != 0) return code;
  metric->older = metrics->newest;
  metrics->newest = metric;
  return 0;
}

/* Makes a metric. Returns NULL after an error; `kind` of the variable is then the code. */
static inline shm_metric *shm_new_metric(shm_metrics *metrics, const char *function, const shm_metric_options *options,
                                         int type, int kind, const char *suffix, bool is_info,
                                         shm_variable *variable) {
  memset(variable, 0, sizeof *variable);
  int code = shm_check_metric_options(function, metrics, options);
  if (code == 0 && is_info && options->label_names[0] == NULL)
    code = shm_fail(-EINVAL, "%s: label_names of metric %q: found none, allowed: at least one", function, options->name);
  if (code == 0) code = shm_check_buckets(function, type, options);
  shm_metric *metric = code != 0 ? NULL : (shm_metric *)calloc(1, sizeof *metric);
  if (metric != NULL) metric->type = type;
  if (code == 0 && (metric == NULL || !shm_copy_options(metric, options, suffix)))
    code = shm_fail(-ENOMEM, "%s: options of metric %q: no memory", function, options->name);
  variable->kind = code;
  if (code != 0) {
    free(metric);
    return NULL;
  }
  metric->metrics = metrics;
  metric->updates = metrics->updates;
  metric->options.kind = kind;
  metric->is_info = is_info;
  code = shm_acquire(metrics->publisher);
  if (code == 0) {
    code = shm_declare(metrics, metric, function, variable);
    shm_leave_metric(metrics);
  } else {
    shm_fail_metric(code, function, "metric", metric);
  }
  if (code == 0) return metric;
  variable->kind = code;
  shm_free_metric(metric);
  return NULL;
}

/* ---------------------------------------------------------------- internals: updates */

/* Whether an update that has begun may change its value. */
static inline bool shm_may_update(const shm_update *update, const shm_metric *metric, const shm_ref *ref) {
  return update->updater != NULL && shm_is_live(ref) &&
         __atomic_load_n(&metric->updates, __ATOMIC_RELAXED) == &shm_all_updates;
}

/* Ends an update that found no value to change, and returns the reason. */
__attribute__((noinline, unused)) static int shm_no_update(const shm_update *update, const shm_metric *metric,
                                                           const shm_variable *variable, const char *function) {
  shm_leave_update(update);
  if (metric != NULL && __atomic_load_n(&metric->updates, __ATOMIC_RELAXED) == NULL)
    return shm_fail(-ESTALE, "%s: metric %q: found closed metrics, allowed: open ones", function, metric->name);
  int code = shm_check_metric(metric, variable->kind, function);
  if (code != 0) return code;
  if (update->updater == NULL) return shm_fail_metric(-ENOMEM, function, "thread for metric", metric);
  shm_publisher *p = metric->metrics->publisher;
  if (shm_is_in_child(p)) {
    shm_report_unpublished(metric->metrics, -ECHILD);
    return shm_fail_metric(-ECHILD, function, "metric", metric);
  }
  if (variable->kind == -EDEADLK) return shm_fail_metric(-EDEADLK, function, "label values of metric", metric);
  if (variable->kind == -EDQUOT || variable->kind == -ENOSPC) {
    shm_count_dropped(p, SHM_AT_VARIABLES_DROPPED);
    return shm_fail_as(-ESTALE, function,
                       &metric->dropped[variable->kind == -EDQUOT ? SHM_DROPPED_BY_LIMIT : SHM_DROPPED_FOR_ROOM]);
  }
  if (variable->publisher != NULL) return shm_fail_as(-ESTALE, function, &metric->removed);
  return shm_fail(-EINVAL, "%s: metric %q: found no label values, allowed: a child, from a function shm_..._labels()",
                  function, metric->name);
}

/* Waits until no other thread updates the frame of a variable. Returns false in a signal handler that interrupted
 * such an update, and after SHM_FRAME_TRIES, some seconds: a thread was canceled in the middle of an update. A handler
 * that interrupted any update waits for SHM_NESTED_TRIES only: the other thread's handler may wait for its thread. */
static inline bool shm_enter_frame(const shm_variable *variable, bool is_nested) {
  uint64_t self = (uint64_t)(uintptr_t)pthread_self();
  static const struct timespec pause = {0, 50000};
  int error = errno, most = is_nested ? SHM_NESTED_TRIES : SHM_FRAME_TRIES;
  bool is_entered = false;
  for (int tries = 1; !is_entered && tries <= most; tries++) {
    uint64_t found = 0;
    is_entered = __atomic_compare_exchange_n(&variable->node->updating, &found, self, false, __ATOMIC_ACQUIRE,
                                             __ATOMIC_RELAXED);
    if (found == self) break;
    /* The other thread may have a lower priority, so this one lets it run. */
    if (!is_entered && tries % 200 == 0) nanosleep(&pause, NULL);
    else if (!is_entered && tries % 50 == 0) sched_yield();
  }
  errno = error;
  return is_entered;
}

static inline void shm_leave_frame(const shm_variable *variable) {
  __atomic_store_n(&variable->node->updating, 0, __ATOMIC_RELEASE);
}

/* Adds an observation to the count and the sum of a summary. */
static inline int shm_store_addition(const shm_variable *variable, double value) {
  if (shm_is_nan(value)) return -EINVAL;
  uint64_t number = shm_begin_update(variable), *count = variable->frame + 1, *sum = variable->frame + 2;
  if (number == 0) return -EDEADLK;
  shm_put(count, shm_get(count) + 1);
  shm_put(sum, shm_bits(shm_double(shm_get(sum)) + value));
  return shm_end_update(variable, number);
}

static inline int shm_observe(const shm_metric *metric, const shm_variable *variable, double value,
                              const char *function) {
  shm_update update = shm_enter_update();
  if (!shm_may_update(&update, metric, &variable->ref)) return shm_no_update(&update, metric, variable, function);
  int code = -EDEADLK;
  if (shm_enter_frame(variable, update.before != 0)) {
    code = variable->type == SHM_HISTOGRAM ? shm_store_observation(variable, value) : shm_store_addition(variable, value);
    shm_leave_frame(variable);
  }
  shm_leave_update(&update);
  if (code == -EINVAL)
    return shm_fail(code, "%s: value for metric %q: found NaN, allowed: numbers", function, metric->name);
  return code == 0 ? 0 : shm_fail_metric(code, function, "metric", metric);
}

/* Adds to a number of the type f64, or sets it. */
static inline int shm_change_number(const shm_metric *metric, const shm_variable *variable, double value, bool adds,
                                    const char *function) {
  shm_update update = shm_enter_update();
  const shm_ref *ref = &variable->ref;
  if (!shm_may_update(&update, metric, ref)) return shm_no_update(&update, metric, variable, function);
  uint64_t before = adds ? shm_get(ref->value) : 0;
  if (!adds) __atomic_store_n(ref->value, shm_bits(value), __ATOMIC_RELAXED);
  while (adds && !__atomic_compare_exchange_n(ref->value, &before, shm_bits(shm_double(before) + value), true,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  shm_leave_update(&update);
  return 0;
}

/* Returns the value of a scalar; 0 for a handle that stores nothing. */
static inline uint64_t shm_value_of(const shm_metric *metric, const shm_variable *variable) {
  shm_update update = shm_enter_update();
  uint64_t bits = shm_may_update(&update, metric, &variable->ref) ? shm_get(variable->ref.value) : 0;
  shm_leave_update(&update);
  return bits;
}

/* ---------------------------------------------------------------- internals: heartbeat and fork */

/* The number of closed metrics whose memory stays allocated. */
enum { SHM_CLOSED_KEPT = 8 };

/* The open metrics of a module, for fork(), and those that it closed last. The symbol is weak, so that all files of a
 * program share it. */
typedef struct shm_open_metrics {
  pthread_mutex_t lock;
  bool handles_fork;
  shm_metrics *first, *closed;
} shm_open_metrics;

__attribute__((weak, visibility("default"))) shm_open_metrics shm_all_metrics = {PTHREAD_MUTEX_INITIALIZER, false, NULL,
                                                                                 NULL};

static inline void shm_leave_fork(void) {
  pthread_mutex_unlock(&shm_all_metrics.lock);
}

static inline void shm_enter_fork(void) {
  pthread_mutex_lock(&shm_all_metrics.lock);
}

/* Replaces the pages of a segment by zeros, so that all handles become stale, and releases the lock of the file. A
 * single call replaces the pages, so that updates in other threads always find memory. Like the segment, the zeros are
 * not locked after mlockall(). Returns false, and changes nothing, if the process cannot map the zeros. */
static inline bool shm_replace_by_zeros(shm_publisher *p) {
  struct stat facts;
  int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, moves = MREMAP_MAYMOVE | MREMAP_FIXED;
  void *zeros = mmap(NULL, p->file_size, PROT_NONE, anonymous, -1, 0);
  if (zeros == MAP_FAILED) return false;
  if (munlock(zeros, p->file_size) != 0 || mprotect(zeros, p->file_size, PROT_READ | PROT_WRITE) != 0 ||
      mremap(zeros, p->file_size, p->file_size, moves, p->map) == MAP_FAILED) {
    munmap(zeros, p->file_size);
    return false;
  }
  if (shm_owns_descriptor(p, &facts)) close(p->fd);
  p->fd = -1;
  return true;
}

/* Ends a forked child's use of its parent's segments, so that the child no longer keeps them alive. */
static inline void shm_forget_parent(void) {
  /* The child has one thread. A signal handler must not take an updater before these are set. */
  shm_all_updates.first = NULL;
  shm_all_updates.sharing = SHM_ALONE;
  shm_own_updater = NULL;
  shm_all_updates.holders = 0;
  for (shm_metrics *each = shm_all_metrics.first; each != NULL; each = each->next) shm_replace_by_zeros(each->publisher);
  shm_all_metrics.first = NULL;
  shm_leave_fork();
}

/* The caller holds the lock of the list. */
static inline void shm_unlist_metrics(const shm_metrics *metrics) {
  for (shm_metrics **at = &metrics->list->first; *at != NULL; at = &(*at)->next)
    if (*at == metrics) {
      *at = metrics->next;
      break;
    }
}

/* Wakes the readers, stores a heartbeat, and frees the memory of removed children. Call it once per heartbeat period
 * if the option `no_heartbeat_thread` is set. */
static inline void shm_metrics_heartbeat(shm_metrics *metrics) {
  if (metrics == NULL) return;
  shm_publisher_notify(metrics->publisher);
  if (!shm_try_acquire(metrics->publisher)) return;
  if (metrics->retired.count > 0 && metrics->updates == &shm_all_updates)
    shm_free_retired(metrics->publisher, &metrics->retired);
  shm_release(metrics->publisher);
}

static inline void *shm_run_heartbeat(void *argument) {
  shm_metrics *metrics = (shm_metrics *)argument;
  struct timespec period = {metrics->heartbeat_ms / 1000, (long)(metrics->heartbeat_ms % 1000) * 1000000};
  pthread_setname_np(pthread_self(), "shm_heartbeat");
  while (__atomic_load_n(&metrics->is_closed, __ATOMIC_ACQUIRE) == 0) {
    shm_metrics_heartbeat(metrics);
    syscall(SYS_futex, &metrics->is_closed, SHM_FUTEX_WAIT_PRIVATE, 0, &period, NULL, 0);
  }
  return NULL;
}

/* Starts the heartbeat in a thread that takes no signals. */
static inline int shm_start_heartbeat(shm_metrics *metrics) {
  sigset_t all, before;
  pthread_attr_t small;
  bool has_attributes = pthread_attr_init(&small) == 0;
  if (has_attributes) pthread_attr_setstacksize(&small, SHM_STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int code = pthread_create(&metrics->thread, has_attributes ? &small : NULL, shm_run_heartbeat, metrics);
  /* The stack is too small for a program with large thread-local variables. */
  if (code == EINVAL) code = pthread_create(&metrics->thread, NULL, shm_run_heartbeat, metrics);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (has_attributes) pthread_attr_destroy(&small);
  metrics->has_thread = code == 0;
  if (code == 0) return 0;
  return shm_fail(-code, "shm_metrics_open: heartbeat thread: found error %u of pthread_create(), allowed: a process that may "
                         "start a thread (ulimit -u, pids.max), or no_heartbeat_thread in the options",
                  (uint64_t)code);
}

static inline void shm_stop_heartbeat(shm_metrics *metrics) {
  if (!metrics->has_thread) return;
  syscall(SYS_futex, &metrics->is_closed, SHM_FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  pthread_join(metrics->thread, NULL);
}

/* Adds the root of the metrics: <host>.<pid>.<application>. */
static inline int shm_add_metrics_root(shm_metrics *metrics, const char *app) {
  char host[256] = "", id[400];
  if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') strcpy(host, "localhost");
  for (char *at = host; *at != '\0'; at++)
    if (*at == '.') *at = '_';
  snprintf(id, sizeof id, "%s.%ld.%s", host, (long)getpid(), app);
  return shm_make_object("shm_metrics_open", metrics->publisher, &metrics->root, NULL, id, "Metrics", NULL);
}

static inline int shm_check_app(const char *app) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  size_t length = app == NULL ? 0 : strlen(app);
  bool begins = length > 0 && ((app[0] >= 'a' && app[0] <= 'z') || (app[0] >= 'A' && app[0] <= 'Z'));
  if (begins && length <= 64 && strspn(app, allowed) == length) return 0;
  shm_fail(-EINVAL, "shm_metrics_open: app: found %q, allowed: a string of 1 to 64 letters, digits and \"_\" that starts "
                    "with a letter",
           app);
  return -EINVAL;
}

/* Makes the segment, and adds the metrics to the list. A fork() in another thread waits until both are done, so that the
 * child forgets the segment. */
static inline int shm_open_listed(shm_metrics *metrics, const shm_options *options, const char *app) {
  int code = 0;
  shm_enter_fork();
  if (!shm_all_metrics.handles_fork) code = -pthread_atfork(shm_enter_fork, shm_leave_fork, shm_forget_parent);
  shm_all_metrics.handles_fork = code == 0;
  if (code != 0) shm_fail_with(code, "shm_metrics_open", "options");
  else code = shm_make_segment("shm_metrics_open", &metrics->publisher, options);
  if (code == 0) {
    metrics->publisher->hold_updates = shm_hold_updates;
    metrics->publisher->resume_updates = shm_resume_updates;
    metrics->next = shm_all_metrics.first;
    shm_all_metrics.first = metrics;
    code = shm_add_metrics_root(metrics, app);
  }
  shm_leave_fork();
  return code;
}

/* ---------------------------------------------------------------- the metrics of a program */

/* Frees closed metrics. */
static inline void shm_free_metrics(shm_metrics *metrics) {
  shm_publisher *p = metrics->publisher;
  while (metrics->retired.oldest != NULL) shm_free_oldest(p, &metrics->retired);
  for (shm_metric *metric = metrics->newest, *older; metric != NULL; metric = older) {
    older = metric->older;
    shm_free_metric(metric);
  }
  if (p != NULL) {
    shm_leave_file(p);
    shm_free_publisher(p);
  }
  free(metrics);
}

/* Keeps the memory of the SHM_CLOSED_KEPT metrics that were closed last, since a late update or a second close is a
 * common mistake. Frees the memory of earlier ones. The caller holds the lock of the list. */
static inline void shm_keep_closed(shm_metrics *metrics) {
  shm_metrics **at = &metrics->list->closed;
  metrics->next = *at;
  *at = metrics;
  for (int i = 0; i < SHM_CLOSED_KEPT && *at != NULL; i++) at = &(*at)->next;
  if (*at != NULL) shm_free_metrics(*at);
  *at = NULL;
}

/* Ends the heartbeat and the segment. `keeps_memory` states that the program may have handles of these metrics. */
static inline void shm_end_metrics(shm_metrics *metrics, bool keeps_memory) {
  shm_publisher *p = metrics->publisher;
  __atomic_store_n(&metrics->is_closed, 1, __ATOMIC_RELEASE);
  shm_stop_heartbeat(metrics);
  shm_open_metrics *list = metrics->list;
  pthread_mutex_lock(&list->lock); /* no fork() in another thread until the segment is closed */
  shm_unlist_metrics(metrics);
  __atomic_store_n(&metrics->updates, NULL, __ATOMIC_RELAXED);
  for (shm_metric *metric = metrics->newest; metric != NULL; metric = metric->older)
    __atomic_store_n(&metric->updates, NULL, __ATOMIC_RELAXED);
  if (p != NULL) {
    shm_end_segment(p);
    shm_unlink_names(p);
  }
  if (keeps_memory && shm_replace_by_zeros(p)) shm_keep_closed(metrics);
  else shm_free_metrics(metrics);
  pthread_mutex_unlock(&list->lock);
}

/* Closes the segment: readers see a clean end. The memory of the metrics exists until the program has closed
 * SHM_CLOSED_KEPT further ones. Until then, late updates store nothing and return -ESTALE, and a second close stores
 * only an error. Afterwards, use neither the handles nor `metrics`. Has no effect in a forked child. */
static inline void shm_metrics_close(shm_metrics *metrics) {
  if (metrics == NULL || shm_is_in_child(metrics->publisher)) return;
  if (__atomic_exchange_n(&metrics->is_closed, 1, __ATOMIC_ACQ_REL) == 0) shm_end_metrics(metrics, true);
  else shm_fail(-EINVAL, "shm_metrics_close: metrics: found closed ones, allowed: open ones");
}

/* Opens a segment for metrics, and makes it visible. `app` is the name of the application, by which the exporter
 * selects it. A thread stores the heartbeat and wakes the readers once per heartbeat period, unless the options say
 * otherwise. If another publisher holds the server key, it behaves like shm_publisher_publish(). */
static inline int shm_metrics_open(const shm_options *options, const char *app, shm_metrics **out) {
  int code = shm_check_pointer(out, __func__, "metrics", "a pointer to a pointer to metrics");
  if (code != 0) return code;
  *out = NULL;
  code = shm_check_pointer(options, __func__, "options", "options from shm_options_default() with a server_key");
  if (code == 0) code = shm_check_app(app);
  if (code != 0) return code;
  shm_metrics *metrics = (shm_metrics *)calloc(1, sizeof *metrics);
  if (metrics == NULL) return shm_fail_with(-ENOMEM, __func__, "options");
  shm_options own = *options;
  own.series = true;
  metrics->heartbeat_ms = own.heartbeat_ms;
  metrics->updates = &shm_all_updates;
  metrics->list = &shm_all_metrics;
  shm_prepare_updates();
  code = shm_open_listed(metrics, &own, app);
  if (code == 0) code = shm_show_segment(__func__, metrics->publisher);
  if (code == 0 && own.heartbeat_ms > 0 && !own.no_heartbeat_thread) code = shm_start_heartbeat(metrics);
  if (code == 0) *out = metrics;
  else shm_end_metrics(metrics, false);
  return code;
}

/* ---------------------------------------------------------------- metrics and children */

static inline shm_metric_options shm_metric_options_default(void) {
  shm_metric_options options;
  memset(&options, 0, sizeof options);
  options.max_children = SHM_DEFAULT_CHILDREN;
  return options;
}

/* Writes `count` bucket bounds: `start`, then each `width` above the previous one. shm_histogram_new() refuses bounds
 * that do not ascend. */
static inline void shm_linear_buckets(double start, double width, uint32_t count, double *buckets) {
  for (uint32_t i = 0; i < count; i++) buckets[i] = start + i * width;
}

/* Writes `count` bucket bounds: `start`, then each `factor` times the previous one. */
static inline void shm_exponential_buckets(double start, double factor, uint32_t count, double *buckets) {
  for (uint32_t i = 0; i < count; i++, start *= factor) buckets[i] = start;
}

/* Makes a counter of whole numbers. Its name should end in "_total". It counts from 0 to 2^64 - 1. */
static inline shm_counter shm_counter_new(shm_metrics *metrics, const shm_metric_options *options) {
  shm_counter made;
  made.metric = shm_new_metric(metrics, __func__, options, SHM_U64, SHM_COUNTER, "", false, &made.variable);
  return made;
}

/* Makes a counter of fractions, such as seconds of processor time. Its name should end in "_total". */
static inline shm_float_counter shm_float_counter_new(shm_metrics *metrics, const shm_metric_options *options) {
  shm_float_counter made;
  made.metric = shm_new_metric(metrics, __func__, options, SHM_F64, SHM_COUNTER, "", false, &made.variable);
  return made;
}

static inline shm_gauge shm_gauge_new(shm_metrics *metrics, const shm_metric_options *options) {
  shm_gauge made;
  made.metric = shm_new_metric(metrics, __func__, options, SHM_F64, SHM_GAUGE, "", false, &made.variable);
  return made;
}

static inline shm_histogram shm_histogram_new(shm_metrics *metrics, const shm_metric_options *options) {
  shm_histogram made;
  made.metric = shm_new_metric(metrics, __func__, options, SHM_HISTOGRAM, SHM_UNKNOWN, "", false, &made.variable);
  return made;
}

/* Makes a summary with a count and a sum, without quantiles. */
static inline shm_summary shm_summary_new(shm_metrics *metrics, const shm_metric_options *options) {
  shm_summary made;
  made.metric = shm_new_metric(metrics, __func__, options, SHM_SUMMARY, SHM_UNKNOWN, "", false, &made.variable);
  return made;
}

/* Makes an info. Its metric's name ends in "_info". It has no series before shm_info_set(). */
static inline shm_info_metric shm_info_new(shm_metrics *metrics, const shm_metric_options *options) {
  shm_variable unused;
  size_t length = options == NULL || options->name == NULL ? 0 : strlen(options->name);
  bool is_named = length >= 5 && strcmp(options->name + length - 5, "_info") == 0;
  shm_info_metric made;
  made.metric = shm_new_metric(metrics, __func__, options, SHM_F64, SHM_GAUGE, is_named ? "" : "_info", true, &unused);
  return made;
}

/* Looks up the child of a label set. Replaces `variable` of the metric's handle by the child's, and returns the metric of
 * the child's handle. */
static inline shm_metric *shm_look_up_values(shm_metric *metric, const char *function, const char *const *values,
                                             uint32_t count, shm_variable *variable) {
  shm_text texts[SHM_LABELS];
  int code = shm_read_values(metric, variable->kind, function, values, count, texts);
  if (code == 0) code = shm_look_up(metric, function, texts, variable);
  return shm_metric_after(metric, code, variable);
}

/* The functions shm_..._labels_of() take an array of label values; shm_counter_labels() and so on take the values. They
 * return the child of a label set, and add it if it is new. Keep the child: an update then takes no search. */
static inline shm_counter shm_counter_labels_of(shm_counter counter, const char *const *values, uint32_t count) {
  shm_counter found = counter;
  found.metric = shm_look_up_values(counter.metric, "shm_counter_labels", values, count, &found.variable);
  return found;
}

static inline shm_float_counter shm_float_counter_labels_of(shm_float_counter counter, const char *const *values,
                                                            uint32_t count) {
  shm_float_counter found = counter;
  found.metric = shm_look_up_values(counter.metric, "shm_float_counter_labels", values, count, &found.variable);
  return found;
}

static inline shm_gauge shm_gauge_labels_of(shm_gauge gauge, const char *const *values, uint32_t count) {
  shm_gauge found = gauge;
  found.metric = shm_look_up_values(gauge.metric, "shm_gauge_labels", values, count, &found.variable);
  return found;
}

static inline shm_histogram shm_histogram_labels_of(shm_histogram histogram, const char *const *values,
                                                    uint32_t count) {
  shm_histogram found = histogram;
  found.metric = shm_look_up_values(histogram.metric, "shm_histogram_labels", values, count, &found.variable);
  return found;
}

static inline shm_summary shm_summary_labels_of(shm_summary summary, const char *const *values, uint32_t count) {
  shm_summary found = summary;
  found.metric = shm_look_up_values(summary.metric, "shm_summary_labels", values, count, &found.variable);
  return found;
}

/* Removes all children but one. The caller holds the lock. */
static inline void shm_remove_children(shm_metric *metric, const shm_child *kept) {
  for (uint32_t i = 0; metric->children != NULL && i < metric->children->places; i++) {
    const shm_child *child = shm_child_at(metric->children, i);
    if (child != NULL && child != SHM_REMOVED_CHILD && child != kept) shm_remove_child(metric, i);
  }
}

/* Removes the child with these label values. */
static inline int shm_remove_texts(shm_metric *metric, const char *function, const shm_text *texts) {
  uint32_t place;
  int code = shm_check_labelled(metric, function);
  if (code != 0) return code;
  code = shm_acquire(metric->metrics->publisher);
  if (code != 0) return shm_fail_metric(code, function, "metric", metric);
  bool is_found = shm_find_child(metric, texts, shm_hash_values(metric, texts), &place) != NULL;
  if (is_found) shm_remove_child(metric, place);
  shm_leave_metric(metric->metrics);
  return is_found ? 0 : shm_fail_metric(-ENOENT, function, "label values of metric", metric);
}

static inline int shm_metric_remove_of(shm_metric *metric, const char *const *values, uint32_t count) {
  shm_text texts[SHM_LABELS];
  int code = shm_read_values(metric, 0, "shm_metric_remove", values, count, texts);
  return code != 0 ? code : shm_remove_texts(metric, "shm_metric_remove", texts);
}

/* Removes all children. */
static inline int shm_metric_clear_of(shm_metric *metric) {
  int code = shm_check_metric(metric, 0, "shm_metric_clear");
  if (code == 0) code = shm_check_labelled(metric, "shm_metric_clear");
  if (code != 0) return code;
  code = shm_acquire(metric->metrics->publisher);
  if (code != 0) return shm_fail_metric(code, "shm_metric_clear", "metric", metric);
  shm_remove_children(metric, NULL);
  shm_leave_metric(metric->metrics);
  return 0;
}

/* Sets the labels of an info: its only series has these values. */
static inline int shm_info_set_texts(shm_metric *metric, const char *function, const shm_text *texts) {
  uint32_t hash = shm_hash_values(metric, texts), place;
  int code = shm_check_texts(metric, function, texts);
  if (code != 0) return code;
  code = shm_acquire(metric->metrics->publisher);
  if (code != 0) return shm_fail_metric(code, function, "metric", metric);
  shm_child *child = shm_find_child(metric, texts, hash, &place);
  if (child == NULL) code = shm_add_child(metric, function, texts, hash, &child);
  if (code == 0) shm_remove_children(metric, child);
  shm_leave_metric(metric->metrics);
  return code;
}

static inline int shm_info_set_of(shm_info_metric info, const char *const *values, uint32_t count) {
  shm_text texts[SHM_LABELS];
  int code = shm_read_values(info.metric, 0, "shm_info_set", values, count, texts);
  return code != 0 ? code : shm_info_set_texts(info.metric, "shm_info_set", texts);
}

#ifdef __cplusplus
template <typename... Values>
static inline shm_counter shm_counter_labels(shm_counter counter, Values... values) {
  const char *const array[] = {values...};
  return shm_counter_labels_of(counter, array, sizeof...(values));
}

template <typename... Values>
static inline shm_float_counter shm_float_counter_labels(shm_float_counter counter, Values... values) {
  const char *const array[] = {values...};
  return shm_float_counter_labels_of(counter, array, sizeof...(values));
}

template <typename... Values>
static inline shm_gauge shm_gauge_labels(shm_gauge gauge, Values... values) {
  const char *const array[] = {values...};
  return shm_gauge_labels_of(gauge, array, sizeof...(values));
}

template <typename... Values>
static inline shm_histogram shm_histogram_labels(shm_histogram histogram, Values... values) {
  const char *const array[] = {values...};
  return shm_histogram_labels_of(histogram, array, sizeof...(values));
}

template <typename... Values>
static inline shm_summary shm_summary_labels(shm_summary summary, Values... values) {
  const char *const array[] = {values...};
  return shm_summary_labels_of(summary, array, sizeof...(values));
}

template <typename... Values>
static inline int shm_info_set(shm_info_metric info, Values... values) {
  const char *const array[] = {values...};
  return shm_info_set_of(info, array, sizeof...(values));
}

template <typename Handle, typename... Values>
static inline int shm_metric_remove(Handle handle, Values... values) {
  const char *const array[] = {values...};
  return shm_metric_remove_of(handle.metric, array, sizeof...(values));
}

template <typename Handle>
static inline int shm_metric_clear(Handle handle) {
  return shm_metric_clear_of(handle.metric);
}
#else
/* The label values of a call as an array and its length. */
#define SHM_VALUES(...) \
  (const char *const[]){__VA_ARGS__}, (uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
#define shm_counter_labels(counter, ...) shm_counter_labels_of((counter), SHM_VALUES(__VA_ARGS__))
#define shm_float_counter_labels(counter, ...) shm_float_counter_labels_of((counter), SHM_VALUES(__VA_ARGS__))
#define shm_gauge_labels(gauge, ...) shm_gauge_labels_of((gauge), SHM_VALUES(__VA_ARGS__))
#define shm_histogram_labels(histogram, ...) shm_histogram_labels_of((histogram), SHM_VALUES(__VA_ARGS__))
#define shm_summary_labels(summary, ...) shm_summary_labels_of((summary), SHM_VALUES(__VA_ARGS__))
#define shm_info_set(info, ...) shm_info_set_of((info), SHM_VALUES(__VA_ARGS__))
#define shm_metric_remove(handle, ...) shm_metric_remove_of((handle).metric, SHM_VALUES(__VA_ARGS__))
#define shm_metric_clear(handle) shm_metric_clear_of((handle).metric)
#endif

/* ---------------------------------------------------------------- updates */

/* Adds 1. */
static inline int shm_counter_inc(shm_counter counter) {
  shm_update update = shm_enter_update();
  if (!shm_may_update(&update, counter.metric, &counter.variable.ref))
    return shm_no_update(&update, counter.metric, &counter.variable, __func__);
  shm_add_to_value(counter.variable.ref.value, 1);
  shm_leave_update(&update);
  return 0;
}

/* Adds an amount of at most 2^63 - 1: C converts negative numbers to larger ones, and a counter must not fall. */
static inline int shm_counter_add(shm_counter counter, uint64_t amount) {
  if (amount > (uint64_t)INT64_MAX)
    return shm_fail(-EINVAL, "shm_counter_add: amount for metric %q: found %u, which is %d as a signed number, allowed: "
                             "0 to 2^63 - 1",
                    counter.metric == NULL ? NULL : counter.metric->name, amount, (int64_t)amount);
  shm_update update = shm_enter_update();
  if (!shm_may_update(&update, counter.metric, &counter.variable.ref))
    return shm_no_update(&update, counter.metric, &counter.variable, __func__);
  uint64_t before = shm_get(counter.variable.ref.value);
  bool fits = amount <= UINT64_MAX - before;
  if (fits) shm_add_to_value(counter.variable.ref.value, amount);
  shm_leave_update(&update);
  if (fits) return 0;
  return shm_fail(-EINVAL, "shm_counter_add: amount for metric %q: found %u for a counter at %u, allowed: a sum of at most "
                           "2^64 - 1",
                  counter.metric->name, amount, before);
}

/* A floating-point amount does not compile: C would truncate it. */
#ifdef __cplusplus
template <typename Number, typename = typename std::enable_if<std::is_floating_point<Number>::value>::type>
int shm_counter_add(shm_counter counter, Number amount) = delete;
#else
__attribute__((error("a shm_counter counts whole numbers: use a shm_float_counter"))) int shm_counter_add_fraction(
    shm_counter counter, double amount);
#define shm_counter_add(counter, amount)                                                       \
  _Generic((amount), float: shm_counter_add_fraction, double: shm_counter_add_fraction,        \
           long double: shm_counter_add_fraction, default: shm_counter_add)((counter), (amount))
#endif

/* Returns the value, for tests of the program. It is 0 for a handle that stores nothing. */
static inline uint64_t shm_counter_value(shm_counter counter) {
  return shm_value_of(counter.metric, &counter.variable);
}

static inline int shm_float_counter_inc(shm_float_counter counter) {
  return shm_change_number(counter.metric, &counter.variable, 1, true, __func__);
}

/* Adds an amount, which is finite and not negative. */
static inline int shm_float_counter_add(shm_float_counter counter, double amount) {
  bool is_negative = shm_bits(amount) != shm_magnitude(amount) && shm_magnitude(amount) != 0;
  if (shm_is_finite(amount) && !is_negative)
    return shm_change_number(counter.metric, &counter.variable, amount, true, __func__);
  return shm_fail(-EINVAL, "shm_float_counter_add: amount for metric %q: found %s, allowed: finite amounts from 0",
                  counter.metric == NULL ? NULL : counter.metric->name,
                  shm_is_nan(amount) ? "NaN" : is_negative ? "a negative amount" : "infinity");
}

static inline double shm_float_counter_value(shm_float_counter counter) {
  return shm_double(shm_value_of(counter.metric, &counter.variable));
}

static inline int shm_gauge_set(shm_gauge gauge, double value) {
  return shm_change_number(gauge.metric, &gauge.variable, value, false, __func__);
}

/* Sets the seconds since 1970. */
static inline int shm_gauge_set_to_current_time(shm_gauge gauge) {
  double seconds = (double)shm_clock_ns(CLOCK_REALTIME) / 1e9;
  return shm_change_number(gauge.metric, &gauge.variable, seconds, false, __func__);
}

static inline int shm_gauge_inc(shm_gauge gauge) {
  return shm_change_number(gauge.metric, &gauge.variable, 1, true, __func__);
}

static inline int shm_gauge_dec(shm_gauge gauge) {
  return shm_change_number(gauge.metric, &gauge.variable, -1, true, __func__);
}

static inline int shm_gauge_add(shm_gauge gauge, double amount) {
  return shm_change_number(gauge.metric, &gauge.variable, amount, true, __func__);
}

static inline double shm_gauge_value(shm_gauge gauge) {
  return shm_double(shm_value_of(gauge.metric, &gauge.variable));
}

static inline int shm_summary_observe(shm_summary summary, double value) {
  return shm_observe(summary.metric, &summary.variable, value, __func__);
}

/* shm_publisher.h has a function of this name for a pointer to a variable. This one takes a handle. */
#ifdef __cplusplus
static inline int shm_histogram_observe(shm_histogram histogram, double value) {
  return shm_observe(histogram.metric, &histogram.variable, value, __func__);
}
#else
static inline int shm_histogram_observe_value(shm_histogram histogram, double value) {
  return shm_observe(histogram.metric, &histogram.variable, value, "shm_histogram_observe");
}
#define shm_histogram_observe(histogram, value) \
  _Generic((histogram), shm_histogram: shm_histogram_observe_value, default: shm_histogram_observe)((histogram), (value))
#endif

/* Measures a duration: shm_histogram_observe(duration, shm_timer_seconds(timer)). */
typedef struct shm_timer {
  uint64_t started_ns;
} shm_timer;

static inline shm_timer shm_timer_start(void) {
  shm_timer timer = {shm_clock_ns(CLOCK_MONOTONIC)};
  return timer;
}

/* Returns the seconds since shm_timer_start(). */
static inline double shm_timer_seconds(shm_timer timer) {
  return (double)(shm_clock_ns(CLOCK_MONOTONIC) - timer.started_ns) / 1e9;
}

#endif
