/*
 * The children of a metric: the published label sets, each with the variable of its series. Threads search for a child
 * without a lock and without allocation. The publisher's lock protects additions and removals. shm_metrics.h uses this
 * header.
 */
#ifndef SHM_CHILDREN_H
#define SHM_CHILDREN_H

#include "shm_updates.h"

#if defined(__GNUC__) && !defined(SHM_PUBLISHER_WARNINGS)
#pragma GCC system_header
#endif

typedef struct shm_metrics shm_metrics;
typedef struct shm_metric shm_metric;

/* A published label set. The label values follow, each with a zero byte. */
typedef struct shm_child {
  shm_retired retired;
  shm_variable variable;
  uint32_t hash, bytes;
} shm_child;

/* A hash table of children with open addressing. The places follow: their number is a power of two, and at most half
 * of them are used. Threads search it without a lock. */
typedef struct shm_children {
  shm_retired retired;
  uint32_t places, used;
} shm_children;

/* Why label sets of a metric are not published: it has max_children children, or there is no room. */
enum { SHM_DROPPED_BY_LIMIT, SHM_DROPPED_FOR_ROOM, SHM_DROP_REASONS };

struct shm_metric {
  shm_metrics *metrics;
  shm_metric *older;
  /* Those of the module that opened the metrics: other modules cannot update. NULL once the metrics are closed. */
  const shm_updates *updates;
  int type;
  shm_variable_options options; /* of the variables; `labels` alternates label names and empty values */
  char *texts;                  /* name, help, unit and label names, each with a zero byte */
  const char *name;
  uint32_t max_children, count;
  bool is_info;                       /* the value of a child is 1, and max_children does not apply */
  bool reported;                      /* stderr has the line about children that are not published */
  shm_line dropped[SHM_DROP_REASONS]; /* texts for shm_last_error(); `length` is 0 before the first such child */
  shm_line removed;                   /* the text for updates of removed children */
  shm_children *children;
};

struct shm_metrics {
  /* A program may add a managed tree below the root, with the functions of shm_publisher.h. */
  shm_publisher *publisher;
  shm_object root;
  shm_metric *newest;
  shm_retired_queue retired;
  const shm_updates *updates;    /* as in shm_metric */
  struct shm_open_metrics *list; /* the open metrics of that module */
  shm_metrics *next;             /* in the list, or among the closed metrics */
  uint32_t heartbeat_ms;
  bool has_thread;
  pthread_t thread;
  uint32_t is_closed; /* 1 from the close on; also the futex word on which the heartbeat thread waits */
  uint32_t reported_child, reported_nested; /* stderr has the line of shm_report_unpublished() */
};

/* A tombstone in the hash table: marks the place of a removed child, so that searches continue past it. */
#define SHM_REMOVED_CHILD ((shm_child *)1)

static inline shm_child **shm_places(const shm_children *children) {
  return (shm_child **)(uintptr_t)(children + 1);
}

static inline shm_child *shm_child_at(const shm_children *children, uint32_t place) {
  return __atomic_load_n(&shm_places(children)[place], __ATOMIC_ACQUIRE);
}

static inline const char *shm_child_values(const shm_child *child) {
  return (const char *)(child + 1);
}

/* Stores an error that names a metric, and returns the code. `argument` says what is wrong: "metric", or a part of it
 * such as "label values of metric". Signal handlers may call it. */
static inline int shm_fail_metric(int code, const char *function, const char *argument, const shm_metric *metric) {
  const char *text = shm_code_text(code);
  return shm_fail(code, "%s: %s %q: %s", function, argument, metric->name, text != NULL ? text : "failed");
}

/* Refuses the metrics of another module. Each module has its own epochs, so an update from this one could store into the
 * slot of a removed variable after the other module has reused it. Closed metrics have no `updates`, so this refuses
 * them, too. `name` is that of the metric, or NULL for the metrics of a program. */
static inline int shm_check_module(const shm_updates *updates, const char *function, const char *name) {
  if (updates == &shm_all_updates) return 0;
  if (updates == NULL)
    return shm_fail(-EINVAL, name == NULL ? "%s: metrics: found closed ones, allowed: open ones"
                                          : "%s: metric %q: found closed metrics, allowed: open ones",
                    function, name);
  return shm_fail(-EINVAL, name == NULL ? "%s: metrics: found those that another module opened (dlopen), allowed: those "
                                          "of the same module, or link the program with -rdynamic"
                                        : "%s: metric %q: found one of another module (dlopen), allowed: those of the "
                                          "same module, or link the program with -rdynamic",
                  function, name);
}

/* Checks the metric of a handle. `failed` is the `kind` of the handle's variable: a negative code if the call that
 * returned the handle failed. That call's error then stays, since it is the cause. */
static inline int shm_check_metric(const shm_metric *metric, int failed, const char *function) {
  if (metric != NULL) return shm_check_module(metric->updates, function, metric->name);
  if (failed < 0 && failed == shm_error_of_thread.code) return failed;
  return shm_fail(-EINVAL, "%s: handle: found one %s, allowed: one that a function shm_..._new() or shm_..._labels() "
                           "returned",
                  function, failed < 0 ? "of a call that failed" : "of zeros");
}

/* Checks that a metric has children. */
static inline int shm_check_labelled(const shm_metric *metric, const char *function) {
  if (metric->options.label_count > 0) return 0;
  return shm_fail(-EINVAL, "%s: metric %q: found no label names, allowed: a metric with label names", function,
                  metric->name);
}

/* Checks the number of label values. */
static inline int shm_check_values(const shm_metric *metric, int failed, const char *function, uint32_t count) {
  int code = shm_check_metric(metric, failed, function);
  if (code != 0 || count == metric->options.label_count) return code;
  shm_fail(-EINVAL, "%s: label values of metric %q: found %u, allowed: %u, one for each label name", function,
           metric->name, (uint64_t)count, (uint64_t)metric->options.label_count);
  return -EINVAL;
}

/* Checks label values, and stores them with their lengths. */
static inline int shm_read_values(const shm_metric *metric, int failed, const char *function,
                                  const char *const *values, uint32_t count, shm_text texts[SHM_LABELS]) {
  int code = shm_check_values(metric, failed, function, count);
  if (code == 0 && values == NULL && count > 0)
    return shm_fail(-EINVAL, "%s: label values of metric %q: found NULL, allowed: an array", function, metric->name);
  for (uint32_t i = 0; code == 0 && i < count; i++) {
    texts[i].bytes = values[i];
    if (values[i] != NULL) {
      texts[i].length = (uint32_t)strlen(values[i]);
      continue;
    }
    code = -EINVAL;
    shm_fail(code, "%s: label %q of metric %q: found NULL, allowed: a text", function,
             metric->options.labels[2 * (size_t)i], metric->name);
  }
  return code;
}

static inline uint32_t shm_hash_values(const shm_metric *metric, const shm_text *texts) {
  uint32_t hash = 0;
  for (uint32_t i = 0; i < metric->options.label_count; i++) hash = (hash << 5 | hash >> 27) ^ shm_hash(texts[i]);
  return hash;
}

static inline bool shm_has_values(const shm_child *child, const shm_text *texts, uint32_t count) {
  const char *at = shm_child_values(child), *end = at + child->bytes;
  for (uint32_t i = 0; i < count; i++) {
    size_t length = texts[i].length;
    if ((size_t)(end - at) <= length || at[length] != '\0' || memcmp(at, texts[i].bytes, length) != 0) return false;
    at += length + 1;
  }
  return at == end;
}

/* Finds a child, and sets `place` to its place. Returns NULL if there is none. */
static inline shm_child *shm_find_child(const shm_metric *metric, const shm_text *texts, uint32_t hash,
                                        uint32_t *place) {
  const shm_children *children = __atomic_load_n(&metric->children, __ATOMIC_ACQUIRE);
  if (children == NULL) return NULL;
  uint32_t mask = children->places - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    shm_child *child = shm_child_at(children, i);
    if (child == NULL) return NULL;
    if (child == SHM_REMOVED_CHILD || child->hash != hash) continue;
    if (!shm_has_values(child, texts, metric->options.label_count)) continue;
    *place = i;
    return child;
  }
}

/* Makes room for one more child. The caller holds the lock. */
static inline bool shm_grow_children(shm_metric *metric) {
  shm_children *old = metric->children;
  if (old != NULL && (old->used + 1) * 2 <= old->places) return true;
  uint32_t places = 16;
  while (places < (metric->count + 1) * 4) places *= 2;
  shm_children *grown = (shm_children *)calloc(1, sizeof *grown + places * sizeof(shm_child *));
  if (grown == NULL) return false;
  grown->places = places;
  grown->used = metric->count;
  for (uint32_t i = 0; old != NULL && i < old->places; i++) {
    shm_child *child = shm_child_at(old, i);
    if (child == NULL || child == SHM_REMOVED_CHILD) continue;
    uint32_t to = child->hash & (places - 1);
    while (shm_places(grown)[to] != NULL) to = (to + 1) & (places - 1);
    shm_places(grown)[to] = child;
  }
  __atomic_store_n(&metric->children, grown, __ATOMIC_RELEASE);
  if (old != NULL) shm_retire(&metric->metrics->retired, &old->retired, NULL);
  return true;
}

static inline void shm_insert_child(shm_metric *metric, shm_child *child) {
  shm_children *children = metric->children;
  uint32_t mask = children->places - 1, place = child->hash & mask;
  while (shm_child_at(children, place) != NULL && shm_child_at(children, place) != SHM_REMOVED_CHILD)
    place = (place + 1) & mask;
  if (shm_child_at(children, place) == NULL) children->used++;
  __atomic_store_n(&metric->count, metric->count + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&shm_places(children)[place], child, __ATOMIC_RELEASE);
}

/* Refuses to publish a label set, or a metric without label names, and reports the first one of a metric on stderr.
 * The caller holds the lock. */
static inline int shm_drop_child(shm_metric *metric, const char *function, int reason) {
  shm_line why = {"", 0}, line = {"", 0}, *kept = &metric->dropped[reason];
  bool has_labels = metric->options.label_count > 0;
  if (reason == SHM_DROPPED_BY_LIMIT)
    shm_print(&why, "metric %q: found more than %u label sets, allowed: max_children of its options, %u", metric->name,
            (uint64_t)metric->max_children, (uint64_t)metric->max_children);
  else
    shm_print(&why, "metric %q: no room for %s in the segment or in " SHM_FOLDER, metric->name,
            has_labels ? "a label set" : "it");
  if (kept->length == 0) {
    memcpy(kept->text, why.text, sizeof why.text);
    __atomic_store_n(&kept->length, why.length, __ATOMIC_RELEASE); /* threads without the lock may use it now */
  }
  if (!metric->reported) {
    metric->reported = true;
    shm_print(&line, "shm_metrics: %s; %s not published\n", why.text, has_labels ? "further label sets are" : "it is");
    shm_write_stderr(&line);
  }
  return shm_fail_as(reason == SHM_DROPPED_BY_LIMIT ? -EDQUOT : -ENOSPC, function, kept);
}

/* Whether the metric has reached max_children, and the text of that error exists. Takes no lock. */
static inline bool shm_is_at_limit(const shm_metric *metric) {
  return __atomic_load_n(&metric->count, __ATOMIC_RELAXED) >= metric->max_children &&
         __atomic_load_n(&metric->dropped[SHM_DROPPED_BY_LIMIT].length, __ATOMIC_ACQUIRE) > 0;
}

/* Reports once on stderr that a forked child, or a signal handler, cannot publish. Signal handlers may call it. */
static inline void shm_report_unpublished(shm_metrics *metrics, int code) {
  uint32_t *reported = code == -ECHILD ? &metrics->reported_child : &metrics->reported_nested;
  if (__atomic_exchange_n(reported, 1, __ATOMIC_RELAXED) != 0) return;
  int error = errno;
  shm_line line = {"", 0};
  if (code == -ECHILD)
    shm_print(&line, "shm_metrics: process %u was forked from the one that opened the metrics: its updates are not "
                   "published; open metrics in each process\n",
            (uint64_t)getpid());
  else
    shm_write(&line, "shm_metrics: a signal handler that interrupted an addition or removal used new label values: its "
                     "updates are not published; look children up before\n");
  shm_write_stderr(&line);
  errno = error;
}

/* Publishes the variable of a label set, or of a metric without label names. The caller holds the lock. */
static inline int shm_publish_member(shm_metric *metric, const char *function, const char *values,
                                     shm_variable *variable) {
  shm_metrics *metrics = metric->metrics;
  shm_publisher *p = metrics->publisher;
  const char *labels[2 * SHM_LABELS];
  shm_variable_options options = metric->options;
  shm_series series;
  shm_text texts[4];
  for (uint32_t i = 0; i < options.label_count; i++) {
    labels[2 * i] = options.labels[2 * i];
    labels[2 * i + 1] = values;
    values += strlen(values) + 1;
  }
  options.labels = labels;
  int code = shm_check_variable(function, p, metric->name, metric->type, &options, &series, texts);
  if (code != 0) return code;
  code = shm_insert_variable(p, variable, metric->type, &metrics->root, &options, texts);
  if (code == -ENOSPC && metrics->retired.count > 0) {
    shm_free_retired(p, &metrics->retired);
    code = shm_insert_variable(p, variable, metric->type, &metrics->root, &options, texts);
  }
  if (code == 0) {
    variable->node->is_member = true;
    if (metric->is_info) __atomic_store_n(variable->ref.value, shm_bits(1), __ATOMIC_RELAXED);
    shm_mark(&variable->ref, true);
  }
  if (code == -ENOSPC) return shm_drop_child(metric, function, SHM_DROPPED_FOR_ROOM);
  return code == 0 ? 0 : shm_fail_metric(code, function, "metric", metric);
}

/* Checks the label values of a new child. */
static inline int shm_check_texts(const shm_metric *metric, const char *function, const shm_text *texts) {
  int code = 0;
  for (uint32_t i = 0; code == 0 && i < metric->options.label_count; i++)
    code = shm_check_label_value(function, metric->name, metric->options.labels[2 * (size_t)i], texts[i].bytes,
                                 texts[i].length);
  return code;
}

/* Adds a child. The caller holds the lock. */
static inline int shm_add_child(shm_metric *metric, const char *function, const shm_text *texts, uint32_t hash,
                                shm_child **out) {
  size_t bytes = 0;
  if (!metric->is_info && metric->count >= metric->max_children)
    return shm_drop_child(metric, function, SHM_DROPPED_BY_LIMIT);
  for (uint32_t i = 0; i < metric->options.label_count; i++) bytes += texts[i].length + (size_t)1;
  if (bytes > SHM_SERIES_BYTES) {
    shm_fail(-EINVAL, "%s: label values of metric %q: found %u bytes, allowed: at most %u", function, metric->name,
             (uint64_t)bytes, (uint64_t)SHM_SERIES_BYTES);
    return -EINVAL;
  }
  shm_child *child = (shm_child *)calloc(1, sizeof *child + bytes);
  if (child == NULL || !shm_grow_children(metric)) {
    free(child);
    return shm_fail_metric(-ENOMEM, function, "label values of metric", metric);
  }
  child->hash = hash;
  child->bytes = (uint32_t)bytes;
  char *to = (char *)(child + 1);
  for (uint32_t i = 0; i < metric->options.label_count; i++) {
    memcpy(to, texts[i].bytes, texts[i].length); /* calloc() wrote the zero byte */
    to += texts[i].length + (size_t)1;
  }
  int code = shm_publish_member(metric, function, shm_child_values(child), &child->variable);
  if (code == 0) {
    shm_insert_child(metric, child);
    *out = child;
  } else {
    free(child);
  }
  return code;
}

/* Removes the child at a place. The caller holds the lock. */
static inline void shm_remove_child(shm_metric *metric, uint32_t place) {
  shm_publisher *p = metric->metrics->publisher;
  shm_child *child = shm_child_at(metric->children, place);
  shm_node *node = child->variable.node;
  __atomic_store_n(&shm_places(metric->children)[place], SHM_REMOVED_CHILD, __ATOMIC_RELEASE);
  __atomic_store_n(&metric->count, metric->count - 1, __ATOMIC_RELAXED);
  shm_unpublish(p, node);
  shm_end_node(p, node);
  shm_retire(&metric->metrics->retired, &child->retired, node);
}

static inline void shm_leave_metric(shm_metrics *metrics) {
  if (metrics->retired.count >= SHM_FREE_SLOTS_KEPT) shm_free_retired(metrics->publisher, &metrics->retired);
  shm_release(metrics->publisher);
}

/* Finds the child of a metric and copies its variable, or adds the child. `texts` has a text for each label name.
 * Without label names, `variable` stays as it is. */
static inline int shm_look_up(shm_metric *metric, const char *function, const shm_text *texts, shm_variable *variable) {
  if (metric->options.label_count == 0) return 0;
  uint32_t hash = shm_hash_values(metric, texts), place;
  shm_update update = shm_enter_update();
  if (update.updater == NULL) return shm_fail_metric(-ENOMEM, function, "thread for metric", metric);
  shm_child *child = shm_find_child(metric, texts, hash, &place);
  if (child != NULL) *variable = child->variable;
  shm_leave_update(&update);
  if (child != NULL) return 0;
  int code = shm_check_texts(metric, function, texts);
  if (code != 0) return code;
  if (shm_is_at_limit(metric)) return shm_fail_as(-EDQUOT, function, &metric->dropped[SHM_DROPPED_BY_LIMIT]);
  code = shm_acquire(metric->metrics->publisher);
  if (code != 0) {
    shm_report_unpublished(metric->metrics, code);
    return shm_fail_metric(code, function, "label values of metric", metric);
  }
  child = shm_find_child(metric, texts, hash, &place); /* another thread may have added it */
  if (child == NULL) code = shm_add_child(metric, function, texts, hash, &child);
  if (code == 0) *variable = child->variable;
  shm_leave_metric(metric->metrics);
  return code;
}

#endif
