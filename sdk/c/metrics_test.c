/* Tests shm_metrics.h with the reader of test_reader.h. */
#include "shm_metrics.h"
#include "test_reader.h"

#include <dirent.h>
#include <math.h>
#include <sys/time.h>
#include <sys/wait.h>

/* ---------------------------------------------------------------- helpers */

#define OPTIONS(...) &(shm_metric_options){__VA_ARGS__}

static shm_options options_of(const char *key) {
  shm_options options = shm_options_default();
  options.context_id = context;
  options.server_key = key;
  options.no_heartbeat_thread = true;
  return options;
}

static shm_metrics *start(shm_options options, reader *r) {
  shm_metrics *metrics;
  int code = shm_metrics_open(&options, "shop", &metrics);
  /* Once, the lock of a killed process was still held after waitpid() had returned. */
  for (int i = 0; code == -EBUSY && i < 1000; i++) {
    usleep(10000);
    code = shm_metrics_open(&options, "shop", &metrics);
  }
  if (code != 0) {
    fprintf(stderr, "cannot publish: %s\n", shm_last_error());
    exit(1);
  }
  if (!open_reader(r, options.server_key)) exit(1);
  return metrics;
}

static void stop(shm_metrics *metrics, reader *r) {
  shm_metrics_close(metrics);
  CHECK(word_at(r, 1024) == 2);
  close_reader(r);
}

/* Checks that a call failed with this code, and that shm_last_error() is or begins with this text. */
#define FAILS(call, code, text) failed((call), (code), (text), #call, __LINE__)

static void failed(int code, int expected, const char *text, const char *call, int line) {
  const char *found = shm_last_error();
  if (code == expected && strncmp(found, text, strlen(text)) == 0) return;
  check(false, call, "failed", line);
  fprintf(stderr, "  found    %d %s\n  expected %d %s\n", code, found, expected, text);
}

/* The code of a function that returns a handle. */
#define CODE(handle) ((handle).metric == NULL ? shm_error_of_thread.code : 0)

/* Checks that no segment is mapped. */
static void check_no_mapped_segment(void) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) CHECK(strstr(line, "/dev/shm/") == NULL);
  if (maps != NULL) fclose(maps);
}

/* Runs a function in a forked process, and returns whether all its checks succeeded. */
static bool in_child(void (*function)(void)) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    function();
    _exit(failures == 0 ? 0 : 1);
  }
  return waitpid(pid, &status, 0) == pid && status == 0;
}

/* ---------------------------------------------------------------- kinds and labels */

static void test_kinds(void) {
  static const double buckets[] = {100, 1000};
  uint64_t f[128];
  reader r;
  shm_metrics *m = start(options_of("kinds"), &r);
  shm_counter bytes = shm_counter_new(m, OPTIONS(.name = "bytes_total", .help = "Bytes sent.", .unit = "bytes"));
  shm_gauge open = shm_gauge_new(m, OPTIONS(.name = "open", .help = "Open."));
  shm_histogram size = shm_histogram_new(m, OPTIONS(.name = "size", .help = "S.", .buckets = buckets, .bucket_count = 2));
  shm_histogram delay = shm_histogram_new(m, OPTIONS(.name = "delay", .help = "D."));
  shm_summary wait = shm_summary_new(m, OPTIONS(.name = "wait", .help = "W."));
  shm_info build = shm_info_new(m, OPTIONS(.name = "build", .help = "B.", .label_names = {"version"}));
  CHECK(read_directory(&r) && header_u64(&r, 24) == 1 && count_live(&r) == 6);
  CHECK(value(&r, "bytes_total") == 0 && double_of(value(&r, "open")) == 0);
  CHECK(frame_of(&r, find(&r, "size"), f) && f[1] == 0 && f[2] == 0 && f[3] == 0 && f[4] == 0);
  const entry *e = find(&r, "bytes_total");
  CHECK(e->type == SHM_U64 && e->variable_kind == SHM_COUNTER && e->flags == 1 && strcmp(e->text1, "bytes") == 0);
  CHECK(strcmp(e->text2, "Bytes sent.") == 0);
  e = find(&r, "delay");
  CHECK(e->schema_entries == 11 && e->schema[0] == .005 && e->schema[10] == 10);

  CHECK(shm_counter_inc(bytes) == 0 && shm_counter_add(bytes, 4095) == 0);
  CHECK(shm_gauge_inc(open) == 0 && shm_gauge_add(open, 2.5) == 0 && shm_gauge_dec(open) == 0);
  CHECK(shm_counter_value(bytes) == 4096 && shm_gauge_value(open) == 2.5);
  shm_float_counter cpu = shm_float_counter_new(m, OPTIONS(.name = "cpu_seconds_total", .help = "C.", .label_names = {"mode"}));
  shm_float_counter user = shm_float_counter_labels(cpu, "user");
  CHECK(shm_float_counter_add(user, 0.25) == 0 && shm_float_counter_inc(user) == 0 && shm_float_counter_value(user) == 1.25);
  CHECK(read_directory(&r) && double_of(value(&r, "cpu_seconds_total{mode=\"user\"}")) == 1.25);
  CHECK(find(&r, "cpu_seconds_total{mode=\"user\"}")->variable_kind == SHM_COUNTER);
  CHECK(shm_metric_clear(cpu) == 0 && shm_float_counter_value(user) == 0 && read_directory(&r));
  shm_gauge when = shm_gauge_new(m, OPTIONS(.name = "when", .help = "W."));
  CHECK(shm_gauge_set_to_current_time(when) == 0 && shm_gauge_value(when) > 1.7e9);
  CHECK(value(&r, "bytes_total") == 4096 && double_of(value(&r, "open")) == 2.5);
  CHECK(shm_gauge_set(open, (double)NAN) == 0 && is_nan(value(&r, "open")) && shm_gauge_set(open, -1) == 0);
  for (int i = 0; i < 3; i++) CHECK(shm_histogram_observe(size, i == 0 ? 50 : i == 1 ? 500 : 5000) == 0);
  CHECK(frame_of(&r, find(&r, "size"), f) && double_of(f[1]) == 5550 && f[2] == 1 && f[3] == 1 && f[4] == 1);
  CHECK(shm_summary_observe(wait, 0.5) == 0 && shm_summary_observe(wait, 1.5) == 0);
  CHECK(frame_of(&r, find(&r, "wait"), f) && f[1] == 2 && double_of(f[2]) == 2);
  CHECK(shm_histogram_observe(delay, shm_timer_seconds(shm_timer_start())) == 0);
  CHECK(frame_of(&r, find(&r, "delay"), f) && double_of(f[1]) >= 0 && f[0] == 2);
  CHECK(shm_info_set(build, "1.0") == 0 && shm_info_set(build, "1.1") == 0 && shm_info_set(build, "1.1") == 0);
  CHECK(read_directory(&r) && find(&r, "build_info{version=\"1.0\"}") == NULL);
  CHECK(double_of(value(&r, "build_info{version=\"1.1\"}")) == 1 && count_live(&r) == 8);
  stop(m, &r);
}

/* Writes the id of the root. */
static void root_id(char *id, size_t size) {
  char host[256] = "";
  CHECK(gethostname(host, sizeof host - 1) == 0);
  for (char *at = host; *at != '\0'; at++) *at = *at == '.' ? '_' : *at;
  snprintf(id, size, "%s.%ld.shop", host, (long)getpid());
}

/* A managed tree can be in the segment of metrics, and its calls of the same names still take pointers. */
static void test_beside_managed_tree(void) {
  static const double bounds[] = {1, 2};
  uint64_t f[128];
  reader r;
  shm_metrics *m = start(options_of("tree"), &r);
  shm_histogram h = shm_histogram_new(m, OPTIONS(.name = "h", .help = "H."));
  shm_variable_options options = shm_variable_options_default();
  shm_variable size;
  shm_object desk;
  char id[400];
  root_id(id, sizeof id - 5);
  strcat(id, ".desk");
  options.schema = bounds;
  options.schema_entries = 2;
  CHECK(shm_add_object(&m->root, &desk, id, "Desk", NULL) == 0);
  CHECK(shm_add_variable(&desk, &size, "size", SHM_HISTOGRAM, &options) == 0);
  const shm_variable *pointer = &size;
  CHECK(shm_histogram_observe(&size, 1) == 0 && shm_histogram_observe(pointer, 2) == 0);
  CHECK(shm_histogram_observe(h, 1) == 0 && read_directory(&r));
  CHECK(frame_of(&r, find(&r, "size"), f) && f[2] == 1 && f[3] == 1 && value(&r, "h") == 2);
  CHECK(find(&r, "size")->flags == 0 && find(&r, "h")->flags == 1);
  stop(m, &r);
}

static void test_buckets(void) {
  double linear[3], exponential[3];
  shm_linear_buckets(1, 0.5, 3, linear);
  shm_exponential_buckets(0.5, 10, 3, exponential);
  CHECK(linear[0] == 1 && linear[1] == 1.5 && linear[2] == 2);
  CHECK(exponential[0] == 0.5 && exponential[1] == 5 && exponential[2] == 50);
  const shm_metric_options options = shm_metric_options_default();
  CHECK(options.max_children == 1000 && options.name == NULL && options.label_names[0] == NULL);
}

static void test_root(void) {
  char id[400];
  reader r;
  shm_metrics *m = start(options_of("root"), &r);
  root_id(id, sizeof id);
  CHECK(read_directory(&r) && r.entries[0].kind == 1 && strncmp(r.entries[0].name, id, 63) == 0);
  CHECK(strcmp(r.entries[0].text1, "Metrics") == 0 && has_value(&r, r.entries[0].name));
  stop(m, &r);
}

static void test_labels(void) {
  reader r;
  shm_metrics *m = start(options_of("labels"), &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c_total", .help = "C.", .label_names = {"a", "b"}));
  CHECK(read_directory(&r) && count_live(&r) == 1);
  shm_counter one = shm_counter_labels(c, "a", "bc"), other = shm_counter_labels(c, "ab", "c");
  shm_counter same = shm_counter_labels(c, "a", "bc"), odd = shm_counter_labels(c, "", "\"\\\n\xc3\xbc");
  CHECK(shm_counter_inc(one) == 0 && shm_counter_inc(same) == 0 && shm_counter_add(other, 5) == 0 && shm_counter_inc(odd) == 0);
  CHECK(read_directory(&r) && count_live(&r) == 4);
  CHECK(value(&r, "c_total{a=\"a\",b=\"bc\"}") == 2 && value(&r, "c_total{a=\"ab\",b=\"c\"}") == 5);
  CHECK(value(&r, "c_total{a=\"\",b=\"\\\"\\\\\\n\xc3\xbc\"}") == 1);
  shm_gauge g = shm_gauge_new(m, OPTIONS(.name = "g", .help = "G.", .label_names = {"room"}));
  const shm_counter plain = shm_counter_new(m, OPTIONS(.name = "plain", .help = "P."));
  CHECK(shm_counter_inc(shm_counter_labels_of(plain, NULL, 0)) == 0 && read_directory(&r) && value(&r, "plain") == 1);
  CHECK(count_live(&r) == 5);
  shm_histogram h = shm_histogram_new(m, OPTIONS(.name = "h", .help = "H.", .label_names = {"room"}));
  shm_summary s = shm_summary_new(m, OPTIONS(.name = "s", .help = "S.", .label_names = {"room"}));
  CHECK(shm_gauge_set(shm_gauge_labels(g, "north"), -2.5) == 0);
  CHECK(shm_histogram_observe(shm_histogram_labels(h, "north"), 1) == 0);
  CHECK(shm_summary_observe(shm_summary_labels(s, "north"), 1) == 0);
  CHECK(read_directory(&r) && double_of(value(&r, "g{room=\"north\"}")) == -2.5);
  CHECK(value(&r, "h{room=\"north\"}") == 2 && value(&r, "s{room=\"north\"}") == 2);
  stop(m, &r);
}

static void test_removed_children(void) {
  reader r;
  shm_metrics *m = start(options_of("removed"), &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c_total", .help = "C.", .label_names = {"a"}));
  shm_histogram h = shm_histogram_new(m, OPTIONS(.name = "h", .help = "H.", .label_names = {"a"}));
  shm_counter kept = shm_counter_labels(c, "1");
  shm_histogram observed = shm_histogram_labels(h, "1");
  CHECK(shm_counter_add(kept, 7) == 0 && shm_metric_remove(c, "1") == 0 && shm_metric_remove(h, "1") == 0);
  CHECK(read_directory(&r) && count_live(&r) == 1);
  FAILS(shm_counter_inc(kept), -ESTALE, "shm_counter_inc: metric \"c_total\": found a removed child, allowed: one that exists");
  FAILS(shm_counter_add(kept, 2), -ESTALE, "shm_counter_add: metric \"c_total\": found a removed child");
  FAILS(shm_histogram_observe(observed, 2), -ESTALE, "shm_histogram_observe: metric \"h\": found a removed child");
  FAILS(shm_metric_remove(c, "1"), -ENOENT, "shm_metric_remove: label values of metric \"c_total\": no child has these");
  shm_counter again = shm_counter_labels(c, "1");
  CHECK(shm_counter_inc(again) == 0 && shm_counter_inc(kept) == -ESTALE);
  CHECK(read_directory(&r) && value(&r, "c_total{a=\"1\"}") == 1);
  for (int i = 0; i < 500; i++) {
    char text[16];
    snprintf(text, sizeof text, "x%d", i);
    CHECK(shm_counter_inc(shm_counter_labels(c, text)) == 0);
  }
  CHECK(shm_metric_clear(c) == 0 && read_directory(&r) && count_live(&r) == 1 && shm_counter_inc(again) == -ESTALE);
  stop(m, &r);
}

/* ---------------------------------------------------------------- refused arguments */

static void test_refused_opening(void) {
  shm_metrics *m = NULL;
  shm_options options = options_of("refused"), wrong = options_of("a/b");
  FAILS(shm_metrics_open(&options, "shop", NULL), -EINVAL, "shm_metrics_open: metrics: found NULL");
  FAILS(shm_metrics_open(NULL, "shop", &m), -EINVAL, "shm_metrics_open: options: found NULL");
  FAILS(shm_metrics_open(&options, NULL, &m), -EINVAL, "shm_metrics_open: app: found NULL, allowed: a string of 1 to 64");
  FAILS(shm_metrics_open(&options, "1a", &m), -EINVAL, "shm_metrics_open: app: found \"1a\", allowed: a string of 1 to 64");
  FAILS(shm_metrics_open(&options, "a-b", &m), -EINVAL, "shm_metrics_open: app: found \"a-b\", allowed: ");
  FAILS(shm_metrics_open(&wrong, "shop", &m), -EINVAL, "shm_metrics_open: server_key: found \"a/b\", allowed: ");
  wrong = options_of("a-{pid}-{pid}");
  FAILS(shm_metrics_open(&wrong, "shop", &m), -EINVAL, "shm_metrics_open: server_key: found \"a-{pid}-{pid}\", allowed: a string of 1 to 64 letters, digits, \"_\", \"-\" and \".\", not starting with \".\", with at most one \"{pid}\"");
  wrong = options_of("refused");
  wrong.slots = 0;
  FAILS(shm_metrics_open(&wrong, "shop", &m), -EINVAL, "shm_metrics_open: slots: found 0, allowed: 1 to");
  CHECK(m == NULL);
  shm_metrics_close(NULL);
  shm_metrics_heartbeat(NULL);
}

static void test_refused_metrics(void) {
  static const double falling[] = {2, 1}, endless[] = {1, HUGE_VAL}, one[] = {1};
  static char large[4098];
  memset(large, 'x', 4097);
  reader r;
  shm_metrics *m = start(options_of("refused"), &r);
  shm_counter_new(m, OPTIONS(.name = "taken", .help = ""));
  shm_histogram_new(m, OPTIONS(.name = "d", .help = ""));
  shm_counter_new(m, OPTIONS(.name = "e_sum", .help = ""));
#define REFUSES(kind, text, ...) FAILS(CODE(shm_##kind##_new(m, OPTIONS(__VA_ARGS__))), -EINVAL, "shm_" #kind "_new: " text)
  FAILS(CODE(shm_counter_new(NULL, OPTIONS(.name = "a", .help = ""))), -EINVAL, "shm_counter_new: metrics: found NULL");
  FAILS(CODE(shm_gauge_new(m, NULL)), -EINVAL, "shm_gauge_new: options: found NULL");
  FAILS(CODE(shm_info_new(m, NULL)), -EINVAL, "shm_info_new: options: found NULL");
  REFUSES(counter, "name: found NULL", .help = "");
  REFUSES(gauge, "help of metric \"a\": found NULL, allowed: a text", .name = "a");
  REFUSES(gauge, "name of metric: found \"a-b\"", .name = "a-b");
  REFUSES(info, "name of metric: found \"a-b\"", .name = "a-b");
  REFUSES(info, "help of metric \"a\": found NULL", .name = "a");
  REFUSES(summary, "name: found \"taken\", which the counter \"taken\" has, allowed: a name of its own; declare each metric once, and keep its handle", .name = "taken", .help = "");
  REFUSES(counter, "name of metric: found \"a-b\", allowed: letters", .name = "a-b", .help = "");
  REFUSES(histogram, "name of metric: found \"shm_exporter_a\", allowed: ", .name = "shm_exporter_a", .help = "");
  REFUSES(gauge, "help of metric \"a\": found 4097 bytes", .name = "a", .help = large);
  REFUSES(gauge, "unit of metric \"a\": found 4097 bytes", .name = "a", .help = "", .unit = large);
  REFUSES(gauge, "help of metric \"a\": found invalid UTF-8 at byte 3, allowed: UTF-8", .name = "a", .help = "caf\xe9");
  REFUSES(gauge, "unit of metric \"a\": found \"\xff\", allowed: letters, digits, _ and :", .name = "a", .help = "", .unit = "\xff");
  REFUSES(info, "unit of metric \"a_info\": found \"bad unit?\", allowed: letters", .name = "a", .help = "", .label_names = {"b"}, .unit = "bad unit\n");
  REFUSES(summary, "labels of metric \"a\": found the name \"quantile\"", .name = "a", .help = "", .label_names = {"quantile"});
  REFUSES(histogram, "labels of metric \"a\": found the name \"le\"", .name = "a", .help = "", .label_names = {"b", "le"});
  REFUSES(counter, "labels of metric \"a\": found \"b\" twice", .name = "a", .help = "", .label_names = {"b", "b"});
  REFUSES(counter, "labels of metric \"a\": found the name \"a-b\"", .name = "a", .help = "", .label_names = {"a-b"});
  REFUSES(counter, "max_children of metric \"a\": found 1000001", .name = "a", .help = "", .max_children = 1000001);
  REFUSES(counter, "buckets of metric \"a\": found 1, allowed: none", .name = "a", .help = "", .buckets = one, .bucket_count = 1);
  REFUSES(histogram, "buckets of metric \"a\": found bucket_count 0", .name = "a", .help = "", .buckets = one);
  REFUSES(histogram, "buckets of metric \"a\": found bucket_count 513", .name = "a", .help = "", .buckets = one, .bucket_count = 513);
  REFUSES(histogram, "buckets of metric \"a\": found NULL and bucket_count 2", .name = "a", .help = "", .bucket_count = 2);
  REFUSES(histogram, "buckets of metric \"a\": found a number that does not ascend at index 1", .name = "a", .help = "", .buckets = falling, .bucket_count = 2);
  REFUSES(histogram, "buckets of metric \"a\": found NaN or infinity at index 1", .name = "a", .help = "", .buckets = endless, .bucket_count = 2);
  REFUSES(info, "label_names of metric \"a\": found none", .name = "a", .help = "");
  REFUSES(counter, "name: found \"d_count\", which the histogram \"d\" has", .name = "d_count", .help = "");
  REFUSES(gauge, "name: found \"d_bucket\", which the histogram \"d\" has", .name = "d_bucket", .help = "");
  REFUSES(summary, "name: found \"e\", which has a series of the metric \"e_sum\"", .name = "e", .help = "");
  REFUSES(counter, "label_names of metric \"a\": found NULL before \"b\"", .name = "a", .help = "", .label_names = {"a", NULL, "b"});
  CHECK(read_directory(&r) && count_live(&r) == 4 && word_at(&r, 1472) == 0);
  stop(m, &r);
}

static void test_refused_updates(void) {
  static char large[4097];
  memset(large, 'x', 4096);
  reader r;
  shm_metrics *m = start(options_of("refused"), &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = "", .label_names = {"a", "b"})), no_counter = {0};
  shm_gauge g = shm_gauge_new(m, OPTIONS(.name = "g", .help = "", .label_names = {"a"})), no_gauge = {0};
  shm_histogram h = shm_histogram_new(m, OPTIONS(.name = "h", .help = "", .label_names = {"a"})), no_histogram = {0};
  shm_summary s = shm_summary_new(m, OPTIONS(.name = "s", .help = "", .label_names = {"a"})), no_summary = {0};
  shm_info i = shm_info_new(m, OPTIONS(.name = "i", .help = "", .label_names = {"a"})), no_info = {0};
  shm_counter plain = shm_counter_new(m, OPTIONS(.name = "plain", .help = ""));
  FAILS(shm_counter_inc(no_counter), -EINVAL, "shm_counter_inc: handle: found one of zeros, allowed: one that a function");
  FAILS(shm_counter_add(no_counter, 1), -EINVAL, "shm_counter_add: handle: found one of zeros");
  FAILS(shm_counter_add(plain, (uint64_t)-3), -EINVAL, "shm_counter_add: amount for metric \"plain\": found 18446744073709551613, which is -3 as a signed number, allowed: 0 to 2^63 - 1");
  shm_float_counter fractions = shm_float_counter_new(m, OPTIONS(.name = "fractions", .help = "")), no_fractions = {0};
  FAILS(shm_float_counter_inc(no_fractions), -EINVAL, "shm_float_counter_inc: handle: found one of zeros");
  FAILS(shm_float_counter_add(no_fractions, 1), -EINVAL, "shm_float_counter_add: handle: found one of zeros");
  FAILS(shm_float_counter_add(fractions, -0.5), -EINVAL, "shm_float_counter_add: amount for metric \"fractions\": found a negative amount");
  FAILS(shm_float_counter_add(fractions, (double)NAN), -EINVAL, "shm_float_counter_add: amount for metric \"fractions\": found NaN, allowed: finite");
  FAILS(shm_float_counter_add(fractions, HUGE_VAL), -EINVAL, "shm_float_counter_add: amount for metric \"fractions\": found infinity");
  CHECK(shm_counter_value(no_counter) == 0 && shm_float_counter_value(fractions) == 0 && shm_gauge_value(no_gauge) == 0);
  FAILS(shm_gauge_set(no_gauge, 1), -EINVAL, "shm_gauge_set: handle: found one of zeros");
  FAILS(shm_gauge_inc(no_gauge), -EINVAL, "shm_gauge_inc: handle: found one of zeros");
  FAILS(shm_gauge_dec(no_gauge), -EINVAL, "shm_gauge_dec: handle: found one of zeros");
  FAILS(shm_gauge_add(no_gauge, 1), -EINVAL, "shm_gauge_add: handle: found one of zeros");
  FAILS(shm_histogram_observe(no_histogram, 1), -EINVAL, "shm_histogram_observe: handle: found one of zeros");
  FAILS(shm_summary_observe(no_summary, 1), -EINVAL, "shm_summary_observe: handle: found one of zeros");
  FAILS(shm_info_set(no_info, "1"), -EINVAL, "shm_info_set: handle: found one of zeros");
  FAILS(shm_metric_remove(no_gauge, "1"), -EINVAL, "shm_metric_remove: handle: found one of zeros");
  FAILS(shm_metric_clear(no_gauge), -EINVAL, "shm_metric_clear: handle: found one of zeros");
  FAILS(shm_counter_inc(c), -EINVAL, "shm_counter_inc: metric \"c\": found no label values, allowed: a child");
  FAILS(shm_gauge_set(g, 1), -EINVAL, "shm_gauge_set: metric \"g\": found no label values");
  FAILS(shm_histogram_observe(h, 1), -EINVAL, "shm_histogram_observe: metric \"h\": found no label values");
  FAILS(shm_summary_observe(s, 1), -EINVAL, "shm_summary_observe: metric \"s\": found no label values");
  FAILS(CODE(shm_counter_labels(no_counter, "1")), -EINVAL, "shm_counter_labels: handle: found one of zeros");
  FAILS(CODE(shm_counter_labels(c, "1")), -EINVAL, "shm_counter_labels: label values of metric \"c\": found 1, allowed: 2, one for");
  FAILS(CODE(shm_counter_labels(c, "1", "2", "3")), -EINVAL, "shm_counter_labels: label values of metric \"c\": found 3");
  FAILS(CODE(shm_counter_labels(c, "1", NULL)), -EINVAL, "shm_counter_labels: label \"b\" of metric \"c\": found NULL");
  FAILS(CODE(shm_counter_labels_of(c, NULL, 2)), -EINVAL, "shm_counter_labels: label values of metric \"c\": found NULL, allowed: an array");
  FAILS(CODE(shm_counter_labels(c, "1", large)), -EINVAL, "shm_counter_labels: label values of metric \"c\": found 4099 bytes");
  FAILS(shm_counter_inc(shm_counter_labels(c, "1", NULL)), -EINVAL, "shm_counter_labels: label \"b\" of metric \"c\": found NULL");
  FAILS(shm_counter_inc(shm_counter_labels(shm_counter_new(m, OPTIONS(.name = "a-b", .help = "")), "1")), -EINVAL, "shm_counter_new: name of metric: found \"a-b\"");
  FAILS(shm_metric_clear(plain), -EINVAL, "shm_metric_clear: metric \"plain\": found no label names, allowed: a metric with");
  FAILS(shm_metric_remove_of(plain.metric, NULL, 0), -EINVAL, "shm_metric_remove: metric \"plain\": found no label names");
  FAILS(shm_remove_variable(&plain.variable), -EINVAL, "shm_remove_variable: variable: found a series of a metric");
  static const char *const invalid[] = {"\xff", "a\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82"};
  for (size_t n = 0; n < sizeof invalid / sizeof invalid[0]; n++) {
    FAILS(CODE(shm_counter_labels(c, "1", invalid[n])), -EINVAL, "shm_counter_labels: label \"b\" of metric \"c\": found invalid UTF-8 at byte ");
    FAILS(shm_info_set(i, invalid[n]), -EINVAL, "shm_info_set: label \"a\" of metric \"i_info\": found invalid UTF-8 at byte ");
  }
  CHECK(shm_counter_labels(c, "\xc3\xbc\xe2\x82\xac\xed\x9f\xbf", "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\xef\xbf\xbd").metric != NULL);
  FAILS(shm_counter_add(plain, INT64_MAX), 0, "");
  FAILS(shm_counter_add(plain, INT64_MAX), 0, "");
  FAILS(shm_counter_add(plain, 2), -EINVAL, "shm_counter_add: amount for metric \"plain\": found 2 for a counter at 18446744073709551614");
  CHECK(read_directory(&r) && value(&r, "plain") == UINT64_MAX - 1);
  large[4090] = '\0';
  FAILS(CODE(shm_counter_labels(c, "1", large)), -EINVAL, "shm_counter_labels: name and labels of metric \"c\": found more");
  FAILS(CODE(shm_counter_labels(plain, "1")), -EINVAL, "shm_counter_labels: label values of metric \"plain\": found 1, allowed: 0");
  FAILS(CODE(shm_gauge_labels(g, "1", "2")), -EINVAL, "shm_gauge_labels: label values of metric \"g\": found 2");
  FAILS(CODE(shm_histogram_labels(h, "1", "2")), -EINVAL, "shm_histogram_labels: label values of metric \"h\": found 2");
  FAILS(CODE(shm_summary_labels(s, "1", "2")), -EINVAL, "shm_summary_labels: label values of metric \"s\": found 2");
  FAILS(shm_info_set(i, "1", "2"), -EINVAL, "shm_info_set: label values of metric \"i_info\": found 2");
  FAILS(shm_metric_remove(g, "1", "2"), -EINVAL, "shm_metric_remove: label values of metric \"g\": found 2");
  FAILS(shm_metric_remove(g, "1"), -ENOENT, "shm_metric_remove: label values of metric \"g\": no child has these label values");
  shm_histogram observed = shm_histogram_labels(h, "1");
  shm_summary waited = shm_summary_labels(s, "1");
  FAILS(shm_histogram_observe(observed, (double)NAN), -EINVAL, "shm_histogram_observe: value for metric \"h\": found NaN");
  FAILS(shm_summary_observe(waited, (double)NAN), -EINVAL, "shm_summary_observe: value for metric \"s\": found NaN");
  CHECK(read_directory(&r) && value(&r, "h{a=\"1\"}") == 1 && value(&r, "s{a=\"1\"}") == 1); /* NaN changed nothing */
  stop(m, &r);
}

/* ---------------------------------------------------------------- limits */

/* Calls a function, and copies what it writes to stderr. */
static void catch_stderr(void (*function)(shm_counter), shm_counter counter, char *said, size_t size) {
  int ends[2], before = dup(2);
  CHECK(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
  function(counter);
  dup2(before, 2);
  close(before);
  close(ends[1]);
  ssize_t got = read(ends[0], said, size - 1);
  said[got < 0 ? 0 : got] = '\0';
  close(ends[0]);
}

static void add_twice_beyond_limit(shm_counter c) {
  for (int i = 0; i < 2; i++) {
    shm_counter dropped = shm_counter_labels(c, i == 0 ? "4" : "5");
    CHECK(dropped.metric != NULL);
    FAILS(shm_counter_inc(dropped), -ESTALE, "shm_counter_inc: metric \"c\": found more than 3 label sets, allowed: max_children");
  }
  shm_counter_labels(c, "6"); /* updates count as dropped, not searches */
}

static void test_limit_of_children(void) {
  char said[512];
  reader r;
  shm_metrics *m = start(options_of("limit"), &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = "", .label_names = {"a"}, .max_children = 3));
  for (int i = 1; i <= 3; i++) CHECK(shm_counter_inc(shm_counter_labels(c, i == 1 ? "1" : i == 2 ? "2" : "3")) == 0);
  catch_stderr(add_twice_beyond_limit, c, said, sizeof said);
  CHECK(strcmp(said, "shm_metrics: metric \"c\": found more than 3 label sets, allowed: max_children of its options, 3; "
                     "further label sets are not published\n") == 0);
  CHECK(word_at(&r, 1472) == 2 && read_directory(&r) && count_live(&r) == 4);
  FAILS(CODE(shm_counter_labels(c, "1", "2")), -EINVAL, "shm_counter_labels: label values");
  CHECK(shm_metric_remove(c, "2") == 0 && shm_counter_inc(shm_counter_labels(c, "4")) == 0);
  CHECK(read_directory(&r) && count_live(&r) == 4 && value(&r, "c{a=\"4\"}") == 1);
  shm_gauge g = shm_gauge_new(m, OPTIONS(.name = "g", .help = "", .label_names = {"a"}, .max_children = 1));
  CHECK(shm_gauge_set(shm_gauge_labels(g, "1"), 1) == 0);
  stop(m, &r);
}

/* An info replaces its label set, so that it needs no room for another, and shows no value but 1. */
static void test_limit_of_infos(void) {
  reader r;
  shm_metrics *m = start(options_of("infos"), &r);
  shm_info i = shm_info_new(m, OPTIONS(.name = "i", .help = "", .label_names = {"a"}, .max_children = 1));
  CHECK(shm_info_set(i, "1") == 0 && shm_info_set(i, "2") == 0 && read_directory(&r));
  CHECK(count_live(&r) == 2 && double_of(value(&r, "i_info{a=\"2\"}")) == 1 && word_at(&r, 1472) == 0);
  stop(m, &r);
}

static shm_metrics *full_metrics;

static void declare_without_room(shm_counter unused) {
  (void)unused;
  shm_gauge g = shm_gauge_new(full_metrics, OPTIONS(.name = "g", .help = ""));
  CHECK(g.metric != NULL);
  for (int i = 0; i < 2; i++)
    FAILS(shm_gauge_set(g, 1), -ESTALE, "shm_gauge_set: metric \"g\": no room for it in the segment or in /dev/shm");
}

/* A metric without label names for which there is no room stores nothing, as a child. */
static void test_metric_without_room(void) {
  char said[512];
  reader r;
  shm_options options = options_of("no-room");
  options.slots = 2;
  full_metrics = start(options, &r);
  catch_stderr(declare_without_room, (shm_counter){0}, said, sizeof said);
  CHECK(strcmp(said, "shm_metrics: metric \"g\": no room for it in the segment or in /dev/shm; it is not published\n") == 0);
  CHECK(word_at(&r, 1472) == 2 && read_directory(&r) && count_live(&r) == 1);
  stop(full_metrics, &r);
}

static void add_many(shm_counter c) {
  for (int i = 0; i < 50; i++) {
    char text[16];
    snprintf(text, sizeof text, "%d", i);
    int code = shm_counter_inc(shm_counter_labels(c, text));
    CHECK(code == 0 || code == -ESTALE);
  }
}

static void test_full_segment(void) {
  char said[512];
  reader r;
  shm_options options = options_of("full");
  options.slots = 20;
  shm_metrics *m = start(options, &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = "", .label_names = {"a"}));
  catch_stderr(add_many, c, said, sizeof said);
  CHECK(strcmp(said, "shm_metrics: metric \"c\": no room for a label set in the segment or in /dev/shm; further label "
                     "sets are not published\n") == 0);
  CHECK(read_directory(&r) && word_at(&r, 1472) == 50 - (count_live(&r) - 1));
  shm_counter kept = shm_counter_labels(c, "1");
  CHECK(shm_metric_clear(c) == 0 && shm_counter_inc(shm_counter_labels(c, "new")) == 0 && shm_counter_inc(kept) == -ESTALE);
  CHECK(read_directory(&r) && value(&r, "c{a=\"new\"}") == 1);
  stop(m, &r);
}

/* ---------------------------------------------------------------- a model */

enum { MODEL_LABELS = 2000, MODEL_STEPS = 60000 };

typedef struct model {
  bool exists[MODEL_LABELS];
  uint64_t values[MODEL_LABELS];
  uint32_t count, added, removed;
} model;

static void compare_with_model(reader *r, const model *expected) {
  uint32_t found = 0;
  CHECK(read_directory(r));
  for (uint32_t i = 0; i < r->count; i++) {
    const entry *e = &r->entries[i];
    unsigned number = 0;
    uint64_t bits;
    if (e->is_gone || sscanf(e->name, "c{a=\"%u\"", &number) != 1) continue;
    found++;
    CHECK(number < MODEL_LABELS && expected->exists[number]);
    CHECK(slot_value(r, e->slot, e->incarnation, &bits) && bits == expected->values[number]);
  }
  CHECK(found == expected->count);
}

/* Adds, updates, removes and clears children at random, more than 10,000 of them. Handles that the test keeps never
 * change another child. */
static void test_model(void) {
  static model expected;
  static shm_counter kept[MODEL_LABELS];
  reader r;
  shm_options options = options_of("model");
  options.records = 4000;
  options.slots = 1200;
  shm_metrics *m = start(options, &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = "", .label_names = {"a", "b"}));
  const uint32_t first = (uint32_t)shm_clock_ns(CLOCK_REALTIME);
  uint32_t seed = first;
  int failures_before = failures;
  for (int step = 0; step < MODEL_STEPS; step++) {
    char text[16];
    uint32_t dice = (seed = seed * 1664525 + 1013904223) >> 8, n = (dice >> 4) % MODEL_LABELS;
    snprintf(text, sizeof text, "%u", n);
    if (dice % 16 < 7 && (expected.exists[n] || expected.count < 1000)) {
      kept[n] = shm_counter_labels(c, text, "x");
      if (!expected.exists[n]) expected.added++, expected.count++, expected.values[n] = 0;
      expected.exists[n] = true;
      expected.values[n] += n;
      if (shm_counter_add(kept[n], n) != 0) CHECK(false);
    } else if (dice % 16 < 13) {
      int code = shm_metric_remove(c, text, "x");
      if (code != (expected.exists[n] ? 0 : -ENOENT)) CHECK(false);
      if (code == 0) expected.removed++, expected.count--, expected.exists[n] = false;
    } else if (kept[n].metric != NULL) {
      int code = shm_counter_inc(kept[n]);
      if (code != (expected.exists[n] ? 0 : -ESTALE)) CHECK(false);
      if (code == 0) expected.values[n]++;
    }
    if (step % 20000 == 19999) {
      CHECK(shm_metric_clear(c) == 0);
      memset(expected.exists, 0, sizeof expected.exists);
      expected.removed += expected.count, expected.count = 0;
    }
    if (step % 5000 == 4000) compare_with_model(&r, &expected);
  }
  CHECK(expected.added > 10000 && expected.removed > 10000 && word_at(&r, 1472) == 0);
  if (failures != failures_before) fprintf(stderr, "  seed %u, added %u\n", first, expected.added);
  stop(m, &r);
}

/* ---------------------------------------------------------------- threads */

enum { HOT = 64, QUIET = 32, ROUNDS = 350 };

typedef struct race {
  shm_counter hot, quiet;
  shm_histogram delay;
  uint64_t stored; /* quiet children that were published */
  int is_ending;
} race;

/* Updates children that another thread removes, through kept and new handles. */
static void *update_hot(void *argument) {
  race *all = (race *)argument;
  shm_counter kept[HOT] = {0};
  for (uint32_t i = 0; !__atomic_load_n(&all->is_ending, __ATOMIC_ACQUIRE); i++) {
    char text[16];
    uint32_t n = i * 7 % HOT;
    snprintf(text, sizeof text, "%u", n);
    int code = kept[n].metric == NULL ? -ESTALE : shm_counter_inc(kept[n]);
    if (code == -ESTALE) kept[n] = shm_counter_labels(all->hot, text);
    else if (code != 0) CHECK(false);
    shm_histogram delay = shm_histogram_labels(all->delay, text);
    code = shm_histogram_observe(delay, n);
    if (code != 0 && code != -ESTALE) CHECK(false);
  }
  return NULL;
}

/* Removes the children that others update, and adds children that nobody else updates, which get the same slots. */
static void *change_quiet(void *argument) {
  race *all = (race *)argument;
  char text[16];
  for (uint32_t round = 0; round < ROUNDS; round++) {
    shm_counter quiet[QUIET];
    for (uint32_t i = 0; i < HOT; i++) {
      snprintf(text, sizeof text, "%u", i);
      int code = shm_metric_remove(all->hot, text);
      if (code != 0 && code != -ENOENT) CHECK(false);
      if (i % 8 == round % 8) shm_metric_remove(all->delay, text);
    }
    for (uint32_t i = 0; i < QUIET; i++) {
      snprintf(text, sizeof text, "%u", round * QUIET + i);
      quiet[i] = shm_counter_labels(all->quiet, text);
      int code = shm_counter_add(quiet[i], 1000);
      all->stored += code == 0 ? 1 : 0;
      if (code != 0 && code != -ESTALE) CHECK(false); /* the slots of removed children may not be free yet */
    }
    for (uint32_t i = 0; i < QUIET; i++) {
      snprintf(text, sizeof text, "%u", round * QUIET + i);
      const shm_ref *ref = &quiet[i].variable.ref;
      if (ref->value != NULL) CHECK(shm_get(ref->value) == 1000 && shm_metric_remove(all->quiet, text) == 0);
    }
  }
  __atomic_store_n(&all->is_ending, 1, __ATOMIC_RELEASE);
  return NULL;
}

/* Removing children while other threads update them changes no other child, with 10,000 children and few slots. */
static void remove_beside_updates(void) {
  race all;
  pthread_t threads[4];
  reader r;
  shm_options options = options_of("race");
  options.records = 4000;
  options.slots = 3000;
  options.frame_bytes = 1 << 19;
  options.no_heartbeat_thread = false;
  options.heartbeat_ms = 5;
  shm_metrics *m = start(options, &r);
  memset(&all, 0, sizeof all);
  all.hot = shm_counter_new(m, OPTIONS(.name = "hot", .help = "", .label_names = {"a"}));
  all.quiet = shm_counter_new(m, OPTIONS(.name = "quiet", .help = "", .label_names = {"a"}));
  all.delay = shm_histogram_new(m, OPTIONS(.name = "delay", .help = "", .label_names = {"a"}));
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, update_hot, &all) == 0);
  CHECK(pthread_create(&threads[3], NULL, change_quiet, &all) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(read_directory(&r) && all.stored > 500);
  stop(m, &r);
}

static void test_removal_beside_updates(void) {
  remove_beside_updates();
}

/* Where the system refuses membarrier(), too. */
static void test_removal_with_fences(void) {
  bool before = shm_all_updates.has_fences;
  shm_all_updates.has_fences = true;
  remove_beside_updates();
  shm_all_updates.has_fences = before;
}

enum { ADDERS = 4, ADDITIONS = 20000 };

static void *add_same(void *argument) {
  race *all = (race *)argument;
  for (int i = 0; i < ADDITIONS; i++) {
    const char *text = i % 2 == 0 ? "even" : "odd";
    if (shm_counter_inc(shm_counter_labels(all->hot, text)) != 0) CHECK(false);
    if (shm_histogram_observe(shm_histogram_labels(all->delay, text), 1) != 0) CHECK(false);
  }
  return NULL;
}

static void test_no_update_is_lost(void) {
  race all;
  pthread_t threads[ADDERS];
  uint64_t f[128];
  reader r;
  shm_metrics *m = start(options_of("sums"), &r);
  memset(&all, 0, sizeof all);
  all.hot = shm_counter_new(m, OPTIONS(.name = "hot", .help = "", .label_names = {"a"}));
  all.delay = shm_histogram_new(m, OPTIONS(.name = "delay", .help = "", .label_names = {"a"}));
  for (int i = 0; i < ADDERS; i++) CHECK(pthread_create(&threads[i], NULL, add_same, &all) == 0);
  for (int i = 0; i < ADDERS; i++) pthread_join(threads[i], NULL);
  CHECK(read_directory(&r) && count_live(&r) == 5);
  CHECK(value(&r, "hot{a=\"even\"}") == ADDERS * ADDITIONS / 2 && value(&r, "hot{a=\"odd\"}") == ADDERS * ADDITIONS / 2);
  CHECK(frame_of(&r, find(&r, "delay{a=\"odd\"}"), f) && double_of(f[1]) == ADDERS * ADDITIONS / 2.0);
  stop(m, &r);
}

/* Lets the calling thread be the first one that updates, as in a program that has just begun. */
static void forget_other_threads(void) {
  shm_all_updates.first = shm_own_updater;
  shm_all_updates.sharing = SHM_ALONE;
}

enum { STARTS = 100, OTHERS = 2, SOME_ADDITIONS = 2000 };

static void *add_some(void *argument) {
  const shm_counter *counter = (const shm_counter *)argument;
  for (int i = 0; i < SOME_ADDITIONS; i++)
    if (shm_counter_inc(*counter) != 0) CHECK(false);
  return NULL;
}

/* The first thread changes to atomic additions while other threads begin to add. */
static void test_second_thread(void) {
  pthread_t threads[OTHERS];
  reader r;
  shm_metrics *m = start(options_of("second"), &r);
  shm_counter counter = shm_counter_new(m, OPTIONS(.name = "hot", .help = ""));
  for (int i = 0; i < STARTS; i++) {
    forget_other_threads();
    add_some(&counter);
    CHECK(shm_all_updates.sharing == SHM_ALONE);
    for (int k = 0; k < OTHERS; k++) CHECK(pthread_create(&threads[k], NULL, add_some, &counter) == 0);
    for (int k = 0; k < 10; k++) add_some(&counter);
    for (int k = 0; k < OTHERS; k++) pthread_join(threads[k], NULL);
    CHECK(!SHM_HAS_PLAIN_ADDITION || shm_all_updates.sharing == SHM_SHARED);
  }
  CHECK(read_directory(&r) && value(&r, "hot") == STARTS * (11 + OTHERS) * SOME_ADDITIONS);
  stop(m, &r);
}

/* A second thread waits for an update of the first one that is in progress. */
static void test_second_thread_waits(void) {
  static const struct timespec pause = {0, 1000000};
  if (!SHM_HAS_PLAIN_ADDITION) return;
  bool has_waited = false;
  reader r;
  shm_metrics *m = start(options_of("waits"), &r);
  shm_counter counter = shm_counter_new(m, OPTIONS(.name = "hot", .help = ""));
  for (int i = 0; i < 20 && !has_waited; i++) { /* the wait has a limit, which a busy machine may reach */
    pthread_t thread;
    forget_other_threads();
    shm_update update = shm_enter_update();
    CHECK(pthread_create(&thread, NULL, add_some, &counter) == 0);
    while (__atomic_load_n(&shm_all_updates.sharing, __ATOMIC_ACQUIRE) == SHM_ALONE) nanosleep(&pause, NULL);
    nanosleep(&pause, NULL);
    has_waited = __atomic_load_n(&shm_all_updates.sharing, __ATOMIC_ACQUIRE) == SHM_SHARING;
    shm_leave_update(&update);
    pthread_join(thread, NULL);
  }
  CHECK(has_waited && shm_all_updates.sharing == SHM_SHARED);
  stop(m, &r);
}

enum { MOVES = 10 };

typedef struct carried {
  shm_counter counter;
  shm_gauge gauge;
  shm_histogram delay;
  uint64_t added;
  int is_ending;
} carried;

static void *add_carried(void *argument) {
  carried *all = (carried *)argument;
  while (!__atomic_load_n(&all->is_ending, __ATOMIC_ACQUIRE)) {
    all->added++;
    if (shm_counter_inc(all->counter) != 0 || shm_gauge_inc(all->gauge) != 0) CHECK(false);
    if (shm_histogram_observe(all->delay, 1) != 0) CHECK(false);
  }
  return NULL;
}

/* While the name of the segment is removed and restored, by a copy, no update of another thread is lost. */
static void test_removed_name_beside_updates(void) {
  char path[256];
  uint64_t f[128];
  pthread_t thread;
  reader r;
  shm_metrics *m = start(options_of("name"), &r);
  carried all = {shm_counter_new(m, OPTIONS(.name = "c", .help = "")), shm_gauge_new(m, OPTIONS(.name = "g", .help = "")),
                 shm_histogram_new(m, OPTIONS(.name = "h", .help = "")), 0, 0};
  close_reader(&r);
  path_of(path, sizeof path, "name");
  CHECK(pthread_create(&thread, NULL, add_carried, &all) == 0);
  for (int i = 0; i < MOVES; i++) {
    uint64_t until = shm_counter_value(all.counter) + 4000;
    while (shm_counter_value(all.counter) < until) sched_yield();
    CHECK(unlink(path) == 0 && shm_publisher_publish(m->publisher) == 0);
  }
  __atomic_store_n(&all.is_ending, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  CHECK(open_reader(&r, "name") && read_directory(&r) && value(&r, "c") == all.added);
  CHECK(double_of(value(&r, "g")) == (double)all.added);
  CHECK(frame_of(&r, find(&r, "h"), f) && double_of(f[1]) == (double)all.added);
  stop(m, &r);
}

enum { LATE_ROUNDS = 20 };

typedef struct late {
  shm_counter counter, child;
  shm_gauge gauge;
  shm_histogram delay;
  int has_begun, is_closed;
} late;

static void *update_late(void *argument) {
  late *all = (late *)argument;
  for (;;) {
    bool is_closed = __atomic_load_n(&all->is_closed, __ATOMIC_ACQUIRE);
    int codes[] = {shm_counter_inc(all->counter), shm_counter_inc(all->child), shm_gauge_add(all->gauge, 1),
                   shm_histogram_observe(all->delay, 1)};
    for (int i = 0; i < 4; i++)
      if (codes[i] != -ESTALE && (codes[i] != 0 || is_closed)) CHECK(false);
    if (is_closed) return NULL;
    __atomic_store_n(&all->has_begun, 1, __ATOMIC_RELEASE);
  }
}

/* Updates in the middle of a close, and after it, store nothing, and a second close has no effect. */
static void test_late_updates(void) {
  for (int i = 0; i < LATE_ROUNDS; i++) {
    pthread_t thread;
    reader r;
    shm_metrics *m = start(options_of("late"), &r);
    shm_counter labelled = shm_counter_new(m, OPTIONS(.name = "d", .help = "", .label_names = {"a"}));
    late all = {shm_counter_new(m, OPTIONS(.name = "c", .help = "")), shm_counter_labels(labelled, "1"),
                shm_gauge_new(m, OPTIONS(.name = "g", .help = "")), shm_histogram_new(m, OPTIONS(.name = "h", .help = "")), 0, 0};
    CHECK(pthread_create(&thread, NULL, update_late, &all) == 0);
    while (__atomic_load_n(&all.has_begun, __ATOMIC_ACQUIRE) == 0) sched_yield();
    stop(m, &r);
    __atomic_store_n(&all.is_closed, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    shm_metrics *next = start(options_of("late"), &r); /* the key is free */
    FAILS(shm_counter_inc(all.counter), -ESTALE, "shm_counter_inc: metric \"c\": found closed metrics, allowed: open ones");
    FAILS(shm_counter_add(all.child, 2), -ESTALE, "shm_counter_add: metric \"d\": found closed metrics");
    FAILS(shm_histogram_observe(all.delay, 2), -ESTALE, "shm_histogram_observe: metric \"h\": found closed metrics");
    FAILS(CODE(shm_counter_labels(labelled, "1")), -EINVAL, "shm_counter_labels: metric \"d\": found closed metrics, allowed: open ones");
    FAILS(CODE(shm_gauge_new(m, OPTIONS(.name = "x", .help = ""))), -EINVAL, "shm_gauge_new: metrics: found closed ones, allowed: open ones");
    FAILS(shm_metric_clear(labelled), -EINVAL, "shm_metric_clear: metric \"d\": found closed metrics, allowed: open ones");
    CHECK(shm_counter_value(all.counter) == 0 && shm_gauge_value(all.gauge) == 0);
    shm_metrics_heartbeat(m);
    shm_metrics_close(m);
    FAILS(shm_error_of_thread.code, -EINVAL, "shm_metrics_close: metrics: found closed ones, allowed: open ones");
    CHECK(shm_publisher_holds_key(next->publisher) && read_directory(&r) && count_live(&r) == 1);
    stop(next, &r);
  }
  check_no_mapped_segment();
}

/* Another module of the process, such as a library that dlopen() loaded, cannot use the metrics. */
static void test_other_module(void) {
  static const shm_updates other;
  reader r;
  shm_metrics *m = start(options_of("module"), &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = "")), d = shm_counter_new(m, OPTIONS(.name = "d", .help = "", .label_names = {"a"}));
  shm_counter kept = shm_counter_labels(d, "1");
  m->updates = c.metric->updates = d.metric->updates = &other;
  FAILS(shm_counter_inc(c), -EINVAL, "shm_counter_inc: metric \"c\": found one of another module (dlopen), allowed: those of the same module, or link");
  FAILS(shm_counter_add(kept, 2), -EINVAL, "shm_counter_add: metric \"d\": found one of another module");
  FAILS(CODE(shm_counter_labels(d, "1")), -EINVAL, "shm_counter_labels: metric \"d\": found one of another module");
  FAILS(shm_metric_remove(d, "1"), -EINVAL, "shm_metric_remove: metric \"d\": found one of another module");
  FAILS(shm_metric_clear(d), -EINVAL, "shm_metric_clear: metric \"d\": found one of another module");
  FAILS(CODE(shm_gauge_new(m, OPTIONS(.name = "g", .help = ""))), -EINVAL, "shm_gauge_new: metrics: found those that another module opened (dlopen), allowed: ");
  shm_metrics_heartbeat(m);
  CHECK(read_directory(&r) && value(&r, "c") == 0 && value(&r, "d{a=\"1\"}") == 0);
  stop(m, &r);
}

/* ---------------------------------------------------------------- slots of removed children */

typedef struct pause_of_thread {
  pthread_t thread;
  int stage; /* 1: the update is in progress; 2: it may end */
} pause_of_thread;

static void *update_slowly(void *argument) {
  pause_of_thread *own = (pause_of_thread *)argument;
  shm_update update = shm_enter_update();
  __atomic_store_n(&own->stage, 1, __ATOMIC_RELEASE);
  while (__atomic_load_n(&own->stage, __ATOMIC_ACQUIRE) != 2) sched_yield();
  shm_leave_update(&update);
  return NULL;
}

static uint32_t fill_and_clear(shm_counter c) {
  uint32_t stored = 0;
  for (int i = 0; i < 100; i++) {
    char text[16];
    snprintf(text, sizeof text, "%d", i);
    stored += shm_counter_inc(shm_counter_labels(c, text)) == 0 ? 1 : 0;
  }
  shm_metric_clear(c);
  return stored;
}

/* While a thread is in the middle of an update, no slot of a removed child gets another owner. Afterwards they do. */
static void test_slots_wait_for_updates(void) {
  pause_of_thread slow = {0};
  reader r;
  shm_options options = options_of("slots");
  options.slots = 150;
  shm_metrics *m = start(options, &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = "", .label_names = {"a"}));
  CHECK(fill_and_clear(c) == 100 && fill_and_clear(c) == 100);
  CHECK(pthread_create(&slow.thread, NULL, update_slowly, &slow) == 0);
  while (__atomic_load_n(&slow.stage, __ATOMIC_ACQUIRE) != 1) sched_yield();
  shm_metrics_heartbeat(m);
  uint32_t stored = 0;
  for (int i = 0; i < 5; i++) stored += fill_and_clear(c);
  CHECK(stored < 150 && m->retired.count >= stored - 64);
  __atomic_store_n(&slow.stage, 2, __ATOMIC_RELEASE);
  pthread_join(slow.thread, NULL);
  for (int i = 0; i < 5; i++) CHECK(fill_and_clear(c) == 100);
  stop(m, &r);
}

static void *end_in_frame(void *argument) {
  shm_update update = shm_enter_update();
  CHECK(shm_enter_frame(&((shm_histogram *)argument)->variable, false));
  shm_leave_update(&update);
  return NULL;
}

/* After a thread was canceled in the middle of an observation, later ones of this child end, too. */
static void test_canceled_observation(void) {
  pthread_t thread;
  reader r;
  shm_metrics *m = start(options_of("canceled"), &r);
  shm_histogram h = shm_histogram_new(m, OPTIONS(.name = "h", .help = "", .label_names = {"a"}));
  shm_histogram one = shm_histogram_labels(h, "1"), two = shm_histogram_labels(h, "2");
  CHECK(pthread_create(&thread, NULL, end_in_frame, &one) == 0 && pthread_join(thread, NULL) == 0);
  /* A new thread may get the identity of the ended one, so this thread observes. */
  FAILS(shm_histogram_observe(one, 1), -EDEADLK, "shm_histogram_observe: metric \"h\": a signal handler");
  CHECK(shm_histogram_observe(two, 1) == 0 && shm_metric_remove(h, "1") == 0);
  CHECK(shm_histogram_observe(shm_histogram_labels(h, "1"), 1) == 0);
  stop(m, &r);
}

static void *update_and_end(void *argument) {
  CHECK(shm_counter_inc(*(shm_counter *)argument) == 0);
  return NULL;
}

static void *end_in_update(void *argument) {
  (void)argument;
  shm_enter_update();
  return NULL;
}

static uint32_t count_updater_pages(void) {
  uint32_t count = 0;
  for (const shm_updater_page *page = shm_updater_pages(); page != NULL; page = page->next) count++;
  return count;
}

/* Threads that end leave nothing, even in the middle of an update, as pthread_cancel() may do. */
static void test_ended_threads(void) {
  pthread_t thread;
  reader r;
  shm_options options = options_of("ended");
  options.slots = 150;
  shm_metrics *m = start(options, &r);
  shm_counter c = shm_counter_new(m, OPTIONS(.name = "c", .help = ""));
  shm_counter labelled = shm_counter_new(m, OPTIONS(.name = "d", .help = "", .label_names = {"a"}));
  uint32_t before = count_updater_pages();
  for (int i = 0; i < 500; i++) {
    CHECK(pthread_create(&thread, NULL, i % 100 == 0 ? end_in_update : update_and_end, &c) == 0);
    pthread_join(thread, NULL);
  }
  CHECK(count_updater_pages() <= before + 1);
  for (int i = 0; i < 5; i++) CHECK(fill_and_clear(labelled) == 100);
  stop(m, &r);
}

/* ---------------------------------------------------------------- heartbeat, fork and signals */

static bool thread_has_all_signals_blocked(const char *name) {
  DIR *threads = opendir("/proc/self/task");
  bool is_blocked = false;
  for (struct dirent *each; threads != NULL && (each = readdir(threads)) != NULL;) {
    char path[300], text[4096];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", each->d_name);
    FILE *file = fopen(path, "r");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    if (file != NULL) fclose(file);
    const char *blocked = strstr(text, "SigBlk:");
    if (strstr(text, name) != NULL && blocked != NULL) is_blocked = strtoull(blocked + 7, NULL, 16) >> 1 & 1;
  }
  closedir(threads);
  return is_blocked;
}

static void wait_for_heartbeats(const reader *r, int count) {
  for (uint64_t before = word_at(r, 1152), tries = 0; word_at(r, 1152) < before + (uint64_t)count; tries++) {
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
    if (!CHECK(tries < 4000)) return;
  }
}

static void test_heartbeat(void) {
  reader r;
  shm_options options = options_of("beat");
  options.no_heartbeat_thread = false;
  options.heartbeat_ms = 5;
  shm_metrics *m = start(options, &r);
  uint64_t before = word_at(&r, 1088);
  wait_for_heartbeats(&r, 3);
  CHECK(word_at(&r, 1088) > before && thread_has_all_signals_blocked("shm_heartbeat"));
  stop(m, &r);
  CHECK(!thread_has_all_signals_blocked("shm_heartbeat"));
  m = start(options_of("no-beat"), &r);
  CHECK(!m->has_thread && !thread_has_all_signals_blocked("shm_heartbeat"));
  before = word_at(&r, 1152);
  shm_metrics_heartbeat(m);
  CHECK(word_at(&r, 1152) == before + 1);
  stop(m, &r);
}

/* The metrics of a process before a fork. */
static struct forked {
  shm_metrics *metrics;
  shm_counter counter, labelled, kept;
  shm_histogram delay;
} forked;

static void use_in_child(void) {
  const struct forked *f = &forked;
  FAILS(shm_counter_inc(f->counter), -ECHILD, "shm_counter_inc: metric \"c\": only the process");
  FAILS(shm_counter_add(f->kept, 1), -ECHILD, "shm_counter_add: metric \"d\": only the process");
  FAILS(shm_histogram_observe(f->delay, 1), -ECHILD, "shm_histogram_observe: metric \"h\": only the process");
  shm_counter new_child = shm_counter_labels(f->labelled, "new");
  FAILS(shm_error_of_thread.code, -ECHILD, "shm_counter_labels: label values of metric \"d\": only the process");
  FAILS(shm_counter_inc(new_child), -ECHILD, "shm_counter_inc: metric \"d\": only the process");
  FAILS(shm_metric_remove(f->labelled, "old"), -ECHILD, "shm_metric_remove: metric \"d\": only the process");
  FAILS(shm_metric_clear(f->labelled), -ECHILD, "shm_metric_clear: metric \"d\": only the process");
  FAILS(CODE(shm_counter_new(f->metrics, OPTIONS(.name = "new", .help = ""))), -ECHILD, "shm_counter_new: metric \"new\": only");
  shm_metrics_heartbeat(f->metrics);
  reader r;
  shm_metrics *own = start(options_of("forked-own"), &r);
  shm_counter c = shm_counter_new(own, OPTIONS(.name = "c", .help = ""));
  CHECK(shm_counter_inc(c) == 0 && read_directory(&r) && value(&r, "c") == 1);
  CHECK(!SHM_HAS_PLAIN_ADDITION || shm_all_updates.sharing == SHM_ALONE);
  stop(own, &r);
  shm_metrics_close(f->metrics);
}

static void open_before_fork(reader *r) {
  shm_options options = options_of("forked");
  options.no_heartbeat_thread = false;
  forked.metrics = start(options, r);
  forked.counter = shm_counter_new(forked.metrics, OPTIONS(.name = "c", .help = ""));
  forked.labelled = shm_counter_new(forked.metrics, OPTIONS(.name = "d", .help = "", .label_names = {"a"}));
  forked.kept = shm_counter_labels(forked.labelled, "old");
  forked.delay = shm_histogram_new(forked.metrics, OPTIONS(.name = "h", .help = ""));
}

static void test_fork(void) {
  reader r;
  open_before_fork(&r);
  CHECK(shm_counter_inc(forked.counter) == 0 && in_child(use_in_child));
  CHECK(shm_counter_inc(forked.counter) == 0 && shm_counter_inc(forked.kept) == 0);
  CHECK(read_directory(&r) && value(&r, "c") == 2 && value(&r, "d{a=\"old\"}") == 1 && value(&r, "h") == 1);
  stop(forked.metrics, &r);
}

/* A child that keeps running does not keep the segment of a killed parent alive. */
static void test_child_frees_key(void) {
  int ready[2], ends[2], status;
  char byte = 0;
  CHECK(pipe(ready) == 0 && pipe(ends) == 0);
  pid_t parent = fork();
  if (parent == 0) {
    reader r;
    open_before_fork(&r);
    pid_t child = fork();
    if (child == 0) {
      close(ends[1]);
      if (write(ready[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 0) _exit(0);
    }
    for (;;) pause();
  }
  CHECK(read(ready[0], &byte, 1) == 1 && kill(parent, SIGKILL) == 0 && waitpid(parent, &status, 0) == parent);
  reader r;
  shm_options options = options_of("forked");
  options.fail_if_busy = true;
  shm_metrics *m = start(options, &r);
  stop(m, &r);
  for (int i = 0; i < 2; i++) close(ready[i]), close(ends[i]); /* ends the child */
}

/* A fork() while another thread opens metrics leaves no part of a segment in the child. */
static void *open_often(void *argument) {
  shm_options options = options_of("forks");
  options.records = options.slots = 100;
  options.string_bytes = options.frame_bytes = 4096;
  while (!__atomic_load_n((int *)argument, __ATOMIC_ACQUIRE)) {
    shm_metrics *m;
    if (!CHECK(shm_metrics_open(&options, "shop", &m) == 0)) break;
    shm_metrics_close(m);
  }
  return NULL;
}

static void test_fork_while_opening(void) {
  int is_ending = 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, open_often, &is_ending) == 0);
  for (int i = 0; i < 30; i++) CHECK(in_child(check_no_mapped_segment));
  __atomic_store_n(&is_ending, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
}

static shm_counter handled_counter, handled_label;
static shm_histogram handled_histogram;
static uint64_t handled, handled_refused;

static void handle(int number) {
  (void)number;
  handled++;
  if (shm_counter_inc(handled_counter) != 0) CHECK(false);
  if (shm_counter_inc(shm_counter_labels(handled_label, "a")) != 0) CHECK(false);
  int code = shm_histogram_observe(handled_histogram, 1);
  if (code == -EDEADLK) handled_refused++;
  else if (code != 0) CHECK(false);
}

/* Handlers in the middle of any call lose no update, and hang in none. */
static void test_signal_handlers(void) {
  uint64_t f[128], own = 0;
  reader r;
  shm_metrics *m = start(options_of("signals"), &r);
  handled_counter = shm_counter_new(m, OPTIONS(.name = "c", .help = ""));
  handled_label = shm_counter_new(m, OPTIONS(.name = "d", .help = "", .label_names = {"a"}));
  handled_histogram = shm_histogram_new(m, OPTIONS(.name = "h", .help = ""));
  shm_counter_labels(handled_label, "a");
  forget_other_threads();
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
  while (handled < 3000) {
    char text[16];
    snprintf(text, sizeof text, "x%u", (unsigned)(own % 100));
    if (shm_counter_inc(handled_counter) != 0 || shm_histogram_observe(handled_histogram, 1) != 0) CHECK(false);
    if (shm_counter_inc(shm_counter_labels(handled_label, "a")) != 0) CHECK(false);
    if (own % 64 == 0) shm_counter_labels(handled_label, text);
    if (own % 6400 == 0) shm_metric_remove(handled_label, text);
    own++;
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  signal(SIGALRM, SIG_DFL);
  CHECK(shm_all_updates.sharing == SHM_ALONE);
  CHECK(read_directory(&r) && value(&r, "c") == handled + own && value(&r, "d{a=\"a\"}") == handled + own);
  CHECK(frame_of(&r, find(&r, "h"), f) && double_of(f[1]) == (double)(handled - handled_refused + own));
  stop(m, &r);
}

typedef struct crossed {
  shm_histogram own, other;
  int *inside; /* the number of threads whose handlers run */
} crossed;

/* Does what a handler does that interrupts an observation of one histogram, and observes the other. */
static void *observe_in_handler(void *argument) {
  const crossed *own = (const crossed *)argument;
  shm_update update = shm_enter_update();
  CHECK(shm_enter_frame(&own->own.variable, false));
  __atomic_fetch_add(own->inside, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(own->inside, __ATOMIC_SEQ_CST) < 2) sched_yield();
  int tries = 0;
  while (shm_histogram_observe(own->other, 1) != -EDEADLK && tries < 100) tries++;
  CHECK(tries == 0);
  __atomic_fetch_add(own->inside, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(own->inside, __ATOMIC_SEQ_CST) < 4) sched_yield();
  shm_leave_frame(&own->own.variable);
  shm_leave_update(&update);
  CHECK(shm_histogram_observe(own->own, 1) == 0);
  return NULL;
}

/* Two handlers that observe what the other one's thread is observing do not wait for each other. */
static void test_crossed_handlers(void) {
  int inside = 0;
  uint64_t f[128];
  pthread_t threads[2];
  reader r;
  shm_metrics *m = start(options_of("crossed"), &r);
  shm_histogram one = shm_histogram_new(m, OPTIONS(.name = "f", .help = ""));
  shm_histogram two = shm_histogram_new(m, OPTIONS(.name = "g", .help = ""));
  crossed both[2] = {{one, two, &inside}, {two, one, &inside}};
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, observe_in_handler, &both[i]) == 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK(read_directory(&r) && frame_of(&r, find(&r, "f"), f) && double_of(f[1]) == 1);
  CHECK(frame_of(&r, find(&r, "g"), f) && double_of(f[1]) == 1);
  stop(m, &r);
}

/* ---------------------------------------------------------------- */

int main(void) {
  uint64_t start_ns = shm_clock_ns(CLOCK_MONOTONIC);
  snprintf(context, sizeof context, "cmetrics-%ld-%llx", (long)getpid(),
           (unsigned long long)shm_clock_ns(CLOCK_REALTIME));
  static void (*const tests[])(void) = {
      test_kinds, test_buckets, test_beside_managed_tree, test_root, test_labels, test_removed_children, test_refused_opening, test_refused_metrics,
      test_refused_updates, test_limit_of_children, test_limit_of_infos, test_metric_without_room, test_full_segment, test_model, test_removal_beside_updates, test_removal_with_fences,
      test_no_update_is_lost, test_second_thread, test_second_thread_waits,
      test_removed_name_beside_updates, test_other_module, test_late_updates, test_slots_wait_for_updates, test_canceled_observation, test_ended_threads, test_heartbeat, test_fork,
      test_child_frees_key, test_fork_while_opening, test_signal_handlers, test_crossed_handlers};
  size_t count = sizeof tests / sizeof tests[0];
  for (size_t i = 0; i < count; i++) tests[i]();
  double seconds = (double)(shm_clock_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
  printf("%zu tests, %d failures, %.1f s\n", count, failures, seconds);
  return failures == 0 ? 0 : 1;
}
