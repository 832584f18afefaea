/* Tests shm_publisher.h with the reader of test_reader.h. */
#include "shm_publisher.h"
#include "test_reader.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

/* ---------------------------------------------------------------- helpers */

static shm_options options_of(const char *key) {
  shm_options options = shm_options_default();
  options.context_id = context;
  options.server_key = key;
  return options;
}

static shm_options small_options(const char *key) {
  shm_options options = options_of(key);
  options.records = 64;
  options.string_bytes = 2048;
  options.slots = 40;
  options.frame_bytes = 4096;
  return options;
}

/* Stores a heartbeat as if a second had passed. */
static void beat_later(shm_publisher *p) {
  p->check_ns = 1;
  shm_publisher_heartbeat(p);
}

static shm_publisher *publish(const shm_options *options) {
  shm_publisher *p;
  int code = shm_publisher_open(&p, options);
  if (code == 0) code = shm_publisher_publish(p);
  /* Once, the lock of a killed process was still held after waitpid() had returned. */
  for (int i = 0; code == 0 && i < 1000 && !shm_publisher_holds_key(p); i++) {
    usleep(10000);
    beat_later(p);
  }
  if (code == 0) return p;
  fprintf(stderr, "cannot publish: %s\n", shm_error_text(code));
  exit(1);
}

static shm_publisher *start(shm_options options, reader *r, shm_object *root) {
  shm_publisher *p = publish(&options);
  CHECK(shm_add_root(p, root, "host.1.app", "Root", NULL) == 0);
  if (!open_reader(r, options.server_key)) exit(1);
  return p;
}

static void stop(shm_publisher *p, reader *r) {
  shm_publisher_close(p);
  CHECK(word_at(r, 1024) == 2);
  close_reader(r);
}

static shm_variable add(const shm_object *object, const char *name, int type) {
  shm_variable variable;
  CHECK(shm_add_variable(object, &variable, name, type, NULL) == 0);
  return variable;
}

static shm_variable add_schema(const shm_object *object, const char *name, int type,
                               const double *schema, uint32_t entries) {
  shm_variable variable;
  shm_variable_options options = shm_variable_options_default();
  options.schema = schema;
  options.schema_entries = entries;
  CHECK(shm_add_variable(object, &variable, name, type, &options) == 0);
  return variable;
}

/* ---------------------------------------------------------------- tests */

static void test_header(void) {
  reader r;
  shm_object root;
  shm_publisher *p = start(small_options("header"), &r, &root);
  CHECK(crc_of((const uint8_t *)"123456789", 9) == 0xcbf43926u);
  CHECK(shm_crc32("123456789", 9) == 0xcbf43926u);
  CHECK(memcmp(r.header, "SHMEXP\r\n\x04\x03\x02\x01\x01\0\x01\0\0\x10\0\0\x40\0\0\0", 24) == 0);
  CHECK(u32_of(r.header + 252) == crc_of(r.header, 252));
  CHECK(header_u64(&r, 24) == 0 && header_u64(&r, 32) == 0 && header_u64(&r, 40) != 0);
  CHECK(header_u64(&r, 64) == (uint64_t)getpid() && header_u64(&r, 72) == 1000000000u);
  CHECK(header_u64(&r, 104) == 64 && header_u64(&r, 128) == 2048);
  CHECK(header_u64(&r, 152) == 40 && header_u64(&r, 168) == 4096);
  struct stat facts;
  CHECK(fstat(r.fd, &facts) == 0 && header_u64(&r, 80) == (uint64_t)facts.st_size);
  static const int regions[] = {88, 96, 112, 120, 136, 144, 160};
  for (size_t i = 0; i < 7; i++)
    CHECK(header_u64(&r, (size_t)regions[i]) % 4096 == 0 &&
          header_u64(&r, (size_t)regions[i]) >= 4096);
  CHECK((facts.st_mode & 0777) == 0644);
  CHECK(word_at(&r, 1024) == 1);
  uint64_t notifications = word_at(&r, 1152), beat = word_at(&r, 1088);
  shm_publisher_notify(p);
  CHECK(word_at(&r, 1152) == notifications + 1 && word_at(&r, 1088) > beat);
  stop(p, &r);
}

static int code_of(shm_options options) {
  shm_publisher *p;
  int code = shm_publisher_open(&p, &options);
  shm_publisher_close(p);
  return code;
}

/* ---------------------------------------------------------------- refused arguments */

/* Checks that a call returns -EINVAL with this text. */
#define REFUSED(call, text) refused((call), #call, (text), __LINE__)

static void refused(int code, const char *call, const char *text, int line) {
  const char *found = shm_last_error();
  if (code == -EINVAL && strcmp(found, text) == 0 && strcmp(shm_error_text(code), text) == 0) return;
  check(false, call, "refused", line);
  fprintf(stderr, "  found    %d %s\n  expected %d %s\n", code, found, -EINVAL, text);
}

#define KEY_RULE \
  "allowed: a string of 1 to 64 letters, digits, \"_\", \"-\" and \".\", not starting with \".\""
#define SERVER_KEY_RULE KEY_RULE ", with at most one \"{pid}\""

static void test_refused_options(void) {
  char long_key[] = "k2345678901234567890123456789012345678901234567890123456789012345";
  shm_options options;
  REFUSED(code_of(options_of("bad/key")), "shm_publisher_open: server_key: found \"bad/key\", " SERVER_KEY_RULE);
  REFUSED(code_of(options_of("")), "shm_publisher_open: server_key: found \"\", " SERVER_KEY_RULE);
  REFUSED(code_of(options_of(".key")), "shm_publisher_open: server_key: found \".key\", " SERVER_KEY_RULE);
  REFUSED(code_of(options_of("a\nb")), "shm_publisher_open: server_key: found \"a?b\", " SERVER_KEY_RULE);
  REFUSED(code_of(options_of(NULL)), "shm_publisher_open: server_key: found NULL, " SERVER_KEY_RULE);
  REFUSED(code_of(options_of(long_key)), "shm_publisher_open: server_key: found 65 bytes, " SERVER_KEY_RULE);
  long_key[64] = '\0';
  CHECK(code_of(options_of(long_key)) == 0);
  static const shm_options zeros;
  options = zeros;
  REFUSED(code_of(options), "shm_publisher_open: context_id: found NULL, " KEY_RULE " (start from shm_options_default())");
  options = options_of("ok");
  options.pool_name = NULL;
  REFUSED(code_of(options), "shm_publisher_open: pool_name: found NULL, " KEY_RULE " (start from shm_options_default())");
  options = options_of("ok");
  options.context_id = "";
  REFUSED(code_of(options), "shm_publisher_open: context_id: found \"\", " KEY_RULE);
  options = options_of("ok");
  options.pool_name = "p\xc3\xb6";
  REFUSED(code_of(options), "shm_publisher_open: pool_name: found \"p\xc3\xb6\", " KEY_RULE);
  options = options_of("ok");
  options.records = 0;
  REFUSED(code_of(options), "shm_publisher_open: records: found 0, allowed: 1 to 8388608");
  options = options_of("ok");
  options.string_bytes = 134217729;
  REFUSED(code_of(options), "shm_publisher_open: string_bytes: found 134217729, allowed: 2 to 134217728");
  options = options_of("ok");
  options.slots = 16777217;
  REFUSED(code_of(options), "shm_publisher_open: slots: found 16777217, allowed: 1 to 16777216");
  options = options_of("ok");
  options.frame_bytes = 0;
  REFUSED(code_of(options), "shm_publisher_open: frame_bytes: found 0, allowed: 8 to 2147483648");
  options.frame_bytes = 12;
  REFUSED(code_of(options), "shm_publisher_open: frame_bytes: found 12, allowed: multiples of 8");
  options = options_of("ok");
  options.mode = 600; /* a decimal number */
  REFUSED(code_of(options), "shm_publisher_open: mode: found 600, allowed: 0 to 0777, such as 0600");
  shm_publisher *p;
  REFUSED(shm_publisher_open(&p, NULL),
          "shm_publisher_open: options: found NULL, allowed: options from shm_options_default() with a server_key");
  REFUSED(shm_publisher_publish(p), "shm_publisher_publish: publisher: found NULL, allowed: a publisher from shm_publisher_open()");
  REFUSED(shm_publisher_place(p), "shm_publisher_publish: publisher: found NULL, allowed: a publisher from shm_publisher_open()");
  shm_publisher_heartbeat(p);
  shm_publisher_beat(p);
  shm_publisher_notify(p);
  CHECK(!shm_publisher_holds_key(p));
}

static void test_refused_objects(void) {
  reader r;
  shm_object root, made, none;
  shm_publisher *p = start(small_options("refused"), &r, &root);
  shm_object_options options = shm_object_options_default();
  memset(&none, 0, sizeof none);
  options.state = 6;
  REFUSED(shm_add_root(p, &made, "x", "C", &options),
          "shm_add_root: state of object \"x\": found 6, allowed: SHM_STATE_INIT to SHM_STATE_INVALID (0 to 5)");
  REFUSED(shm_add_object(&root, &made, "host.1.app.x", "C", &options),
          "shm_add_object: state of object \"host.1.app.x\": found 6, allowed: SHM_STATE_INIT to "
          "SHM_STATE_INVALID (0 to 5)");
  REFUSED(shm_set_state(&root, -1),
          "shm_set_state: state of object \"host.1.app\": found -1, allowed: SHM_STATE_INIT to SHM_STATE_INVALID "
          "(0 to 5)");
  REFUSED(shm_add_root(NULL, &made, "x", "C", NULL),
          "shm_add_root: publisher of object \"x\": found none, allowed: a publisher from shm_publisher_open()");
  REFUSED(shm_add_object(&none, &made, "x", "C", NULL),
          "shm_add_object: parent of object \"x\": found none, allowed: an object that was added");
  REFUSED(shm_add_object(NULL, &made, "x", "C", NULL),
          "shm_add_object: parent of object \"x\": found none, allowed: an object that was added");
  REFUSED(shm_add_object(&root, &made, "y.1", "Y", NULL),
          "shm_add_object: name: found \"y.1\" for an object of class \"Y\", allowed: the parent's id \"host.1.app\", a "
          "dot and at least one more byte");
  char name[1026];
  memset(name, 'n', sizeof name);
  name[1025] = '\0';
#define SIXTEEN "nnnnnnnnnnnnnnnn"
#define SHOWN "\"" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "\xe2\x80\xa6\""
  REFUSED(shm_add_root(p, &made, name, "C", NULL),
          "shm_add_root: name of object " SHOWN ": found 1025 bytes, allowed: at most 1024");
  REFUSED(shm_add_root(p, &made, "x", name, NULL),
          "shm_add_root: class_name of object \"x\": found 1025 bytes, allowed: at most 1024");
  options = shm_object_options_default();
  options.host = name;
  REFUSED(shm_add_root(p, &made, "x", "C", &options),
          "shm_add_root: host of object \"x\": found 1025 bytes, allowed: at most 1024");
  options.host = NULL;
  options.instance = name;
  REFUSED(shm_add_root(p, &made, "x", "C", &options),
          "shm_add_root: instance of object \"x\": found 1025 bytes, allowed: at most 1024");
  options.instance = NULL;
  options.application = name;
  REFUSED(shm_add_root(p, &made, "x", "C", &options),
          "shm_add_root: application of object \"x\": found 1025 bytes, allowed: at most 1024");
  CHECK(read_directory(&r) && count_live(&r) == 1 && word_at(&r, 1408) == 0);
  stop(p, &r);
}

static void test_refused_depth(void) {
  reader r;
  shm_object root, at, made;
  char name[1024] = "host.1.app";
  shm_publisher *p = start(options_of("depth"), &r, &root);
  at = root;
  for (int depth = 2; depth <= 64; depth++) CHECK(shm_add_object(&at, &at, strcat(name, ".d"), "C", NULL) == 0);
  strcat(name, ".d");
  REFUSED(shm_add_object(&at, &made, name, "C", NULL),
          "shm_add_object: parent of \"host.1.app.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d.d\xe2\x80\xa6\": found "
          "one with 63 objects above it, allowed: at most 62");
  stop(p, &r);
}

/* Adds the variable "v" to `object`, and returns the error code. */
static int add_code(const shm_object *object, int type, shm_variable_options options) {
  shm_variable ignored;
  return shm_add_variable(object, &ignored, "v", type, &options);
}

static void test_refused_variables(void) {
  static const double falling[] = {2, 1}, endless[] = {1, HUGE_VAL}, beyond[] = {0.5, 1.5};
  reader r;
  shm_object root, none;
  shm_variable made;
  shm_publisher *p = start(small_options("refused"), &r, &root);
  memset(&none, 0, sizeof none);
  char text[4098];
  memset(text, 't', sizeof text);
  text[4097] = '\0';
  const shm_variable_options defaults = shm_variable_options_default();
  shm_variable_options o = defaults;
  REFUSED(add_code(&none, SHM_U64, o), "shm_add_variable: object of variable \"v\": found none, allowed: an object that was added");
  REFUSED(add_code(NULL, SHM_U64, o), "shm_add_variable: object of variable \"v\": found none, allowed: an object that was added");
  REFUSED(add_code(&root, 8, o), "shm_add_variable: type of variable \"v\": found 8, allowed: SHM_U64 to SHM_SUMMARY (1 to 7)");
  o.kind = 3;
  REFUSED(add_code(&root, SHM_U64, o),
          "shm_add_variable: kind of variable \"v\": found 3, allowed: SHM_UNKNOWN, SHM_COUNTER and SHM_GAUGE (0 to 2)");
  o = defaults;
  o.text_bytes = 65529;
  REFUSED(add_code(&root, SHM_STRING, o), "shm_add_variable: text_bytes of variable \"v\": found 65529, allowed: at most 65528");
  o = defaults;
  o.help = text;
  REFUSED(add_code(&root, SHM_U64, o), "shm_add_variable: help of variable \"v\": found 4097 bytes, allowed: at most 4096");
  o = defaults;
  o.unit = text;
  REFUSED(add_code(&root, SHM_U64, o), "shm_add_variable: unit of variable \"v\": found 4097 bytes, allowed: at most 64");
  text[1025] = '\0';
  memset(text, 'n', 1025);
  REFUSED(shm_add_variable(&root, &made, text, SHM_U64, NULL),
          "shm_add_variable: name of variable " SHOWN ": found 1025 bytes, allowed: at most 1024");
  o = defaults;
  o.schema_entries = 2;
  REFUSED(add_code(&root, SHM_HISTOGRAM, o), "shm_add_variable: schema of variable \"v\": found NULL, allowed: an array of 2 numbers");
  o.schema = falling;
  REFUSED(add_code(&root, SHM_U64, o), "shm_add_variable: schema of variable \"v\": found 2 entries for type u64, allowed: none");
  REFUSED(add_code(&root, SHM_HISTOGRAM, o),
          "shm_add_variable: schema of variable \"v\": found a number that does not ascend in entry 1, allowed: ascending numbers");
  o.schema = endless;
  REFUSED(add_code(&root, SHM_HISTOGRAM, o),
          "shm_add_variable: schema of variable \"v\": found NaN or infinity in entry 1, allowed: finite numbers");
  o.schema = beyond;
  REFUSED(add_code(&root, SHM_SUMMARY, o),
          "shm_add_variable: schema of variable \"v\": found a number outside 0 to 1 in entry 1, allowed: quantiles from 0 to 1");
  o.schema_entries = 513;
  REFUSED(add_code(&root, SHM_SUMMARY, o), "shm_add_variable: schema of variable \"v\": found entries: 513, allowed: at most 512");
  CHECK(read_directory(&r) && count_live(&r) == 1 && word_at(&r, 1472) == 0);
  stop(p, &r);
}

static void test_series(void) {
  static const char *const labels[] = {"code", "200", "path", "/\"a\\b\n"};
  static const char *const twice[] = {"a", "1", "a", "2"}, *const dashed[] = {"a-b", "1"}, *const own[] = {"__a", "1"};
  static const char *const le[] = {"le", "1"}, *const null[] = {"a", NULL};
  static const char *const invalid[] = {"a", "x\xff"};
  static char large[4097];
  reader r;
  shm_object root;
  shm_variable v;
  shm_options options = options_of("series");
  options.series = true;
  shm_publisher *p = start(options, &r, &root);
  shm_variable_options o = shm_variable_options_default();
  o.series = true;
  CHECK(header_u64(&r, 24) == 1);
  CHECK(shm_add_variable(&root, &v, "up", SHM_U64, &o) == 0 && shm_u64_set(&v, 1) == 0);
  o.labels = labels;
  o.label_count = 2;
  CHECK(shm_add_variable(&root, &v, "a:b_total", SHM_U64, &o) == 0 && shm_u64_set(&v, 2) == 0);
  o.label_count = 1;
  CHECK(shm_add_variable(&root, &v, "seconds", SHM_HISTOGRAM, &o) == 0);
  add(&root, "plain", SHM_U64);
  CHECK(read_directory(&r) && value(&r, "up") == 1 && find(&r, "up")->flags == 1 && find(&r, "plain")->flags == 0);
  CHECK(value(&r, "a:b_total{code=\"200\",path=\"/\\\"a\\\\b\\n\"}") == 2);
  CHECK(find(&r, "seconds{code=\"200\"}") != NULL);
  uint32_t live = count_live(&r);
  o.label_count = 0;
  REFUSED(shm_add_variable(&root, &v, "1a", SHM_U64, &o),
          "shm_add_variable: name of metric: found \"1a\", allowed: letters, digits, _ and :, not starting with a digit or "
          "shm_exporter_");
  CHECK(shm_add_variable(&root, &v, "", SHM_U64, &o) == -EINVAL);
  CHECK(shm_add_variable(&root, &v, "a b", SHM_U64, &o) == -EINVAL);
  CHECK(shm_add_variable(&root, &v, "shm_exporter_a", SHM_U64, &o) == -EINVAL);
  REFUSED(shm_add_variable(&root, &v, "a", SHM_STRING, &o),
          "shm_add_variable: type of metric \"a\": found SHM_STRING, allowed: the other types");
  o.label_count = 65;
  REFUSED(shm_add_variable(&root, &v, "a", SHM_U64, &o),
          "shm_add_variable: labels of metric \"a\": found 65, allowed: at most 64");
  o.labels = twice;
  o.label_count = 2;
  REFUSED(shm_add_variable(&root, &v, "a", SHM_U64, &o),
          "shm_add_variable: labels of metric \"a\": found \"a\" twice, allowed: once");
  o.label_count = 1;
  o.labels = null;
  REFUSED(shm_add_variable(&root, &v, "a", SHM_U64, &o),
          "shm_add_variable: label \"a\" of metric \"a\": found NULL, allowed: a text");
  o.labels = invalid;
  REFUSED(shm_add_variable(&root, &v, "a", SHM_U64, &o),
          "shm_add_variable: label \"a\" of metric \"a\": found invalid UTF-8 at byte 1, allowed: UTF-8");
  o.labels = dashed;
  CHECK(shm_add_variable(&root, &v, "a", SHM_U64, &o) == -EINVAL);
  o.labels = own;
  CHECK(shm_add_variable(&root, &v, "a", SHM_U64, &o) == -EINVAL);
  o.labels = le;
  CHECK(shm_add_variable(&root, &v, "a", SHM_HISTOGRAM, &o) == -EINVAL);
  memset(large, 'x', 4090);
  const char *const much[] = {"a", large};
  o.labels = much;
  REFUSED(shm_add_variable(&root, &v, "a", SHM_U64, &o),
          "shm_add_variable: name and labels of metric \"a\": found more, allowed: at most 4096 bytes");
  memset(large, '"', 4090);
  CHECK(shm_add_variable(&root, &v, "a", SHM_U64, &o) == -EINVAL);
  memset(large, 0, sizeof large);
  memset(large, 'x', 4089);
  CHECK(read_directory(&r) && count_live(&r) == live);
  CHECK(shm_add_variable(&root, &v, "a", SHM_U64, &o) == 0 && read_directory(&r) && count_live(&r) == live + 1);
  stop(p, &r);

  p = start(options_of("no-series"), &r, &root);
  o = shm_variable_options_default();
  o.series = true;
  REFUSED(shm_add_variable(&root, &v, "a", SHM_U64, &o),
          "shm_add_variable: series of variable \"a\": found true, allowed: false, unless the publisher has the option "
          "series");
  CHECK(header_u64(&r, 24) == 0);
  stop(p, &r);
}

static void test_refused_values(void) {
  static const double bounds[] = {0.5, 1};
  static const uint64_t counts[] = {1, 2, 3};
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("values"), &r, &root);
  shm_variable u = add(&root, "u", SHM_U64), f = add(&root, "f", SHM_F64), text = add(&root, "text", SHM_STRING);
  shm_variable h = add_schema(&root, "h", SHM_HISTOGRAM, bounds, 2), s = add_schema(&root, "s", SHM_SUMMARY, bounds, 2);
  REFUSED(shm_u64_set(&f, 1), "shm_u64_set: variable \"f\": found type f64, allowed: u64");
  REFUSED(shm_u64_add(&text, 1), "shm_u64_add: variable \"text\": found type string, allowed: u64");
  REFUSED(shm_u64_add_shared(&f, 1), "shm_u64_add_shared: variable \"f\": found type f64, allowed: u64");
  REFUSED(shm_i64_set(&u, 1), "shm_i64_set: variable \"u\": found type u64, allowed: i64");
  REFUSED(shm_i64_add(&u, 1), "shm_i64_add: variable \"u\": found type u64, allowed: i64");
  REFUSED(shm_i64_add_shared(&u, 1), "shm_i64_add_shared: variable \"u\": found type u64, allowed: i64");
  REFUSED(shm_f64_set(&u, 1), "shm_f64_set: variable \"u\": found type u64, allowed: f64");
  REFUSED(shm_f64_add(&u, 1), "shm_f64_add: variable \"u\": found type u64, allowed: f64");
  REFUSED(shm_f64_add_shared(&u, 1), "shm_f64_add_shared: variable \"u\": found type u64, allowed: f64");
  REFUSED(shm_bool_set(&u, true), "shm_bool_set: variable \"u\": found type u64, allowed: bool");
  REFUSED(shm_text_set(&u, ""), "shm_text_set: variable \"u\": found type u64, allowed: string");
  REFUSED(shm_text_set_bytes(&h, "", 0), "shm_text_set_bytes: variable \"h\": found type histogram, allowed: string");
  REFUSED(shm_text_set_shared(&s, ""), "shm_text_set_shared: variable \"s\": found type summary, allowed: string");
  REFUSED(shm_histogram_observe(&u, 1), "shm_histogram_observe: variable \"u\": found type u64, allowed: histogram");
  REFUSED(shm_histogram_observe(&h, (double)NAN),
          "shm_histogram_observe: variable \"h\": found the value NaN, allowed: numbers, since no bucket counts NaN");
  REFUSED(shm_histogram_observe_shared(&h, (double)NAN),
          "shm_histogram_observe_shared: variable \"h\": found the value NaN, allowed: numbers, since no bucket counts NaN");
  REFUSED(shm_histogram_set(&h, counts, 2, 1),
          "shm_histogram_set: variable \"h\": found 2 counts, allowed: 3, one for each bound and one for +Inf");
  REFUSED(shm_histogram_set_shared(&h, counts, 4, 1),
          "shm_histogram_set_shared: variable \"h\": found 4 counts, allowed: 3, one for each bound and one for +Inf");
  REFUSED(shm_summary_set(&s, 1, 1, bounds, 1),
          "shm_summary_set: variable \"s\": found 1 values, allowed: 2, one for each quantile");
  REFUSED(shm_summary_set_shared(&h, 1, 1, bounds, 2),
          "shm_summary_set_shared: variable \"h\": found type histogram, allowed: summary");
  CHECK(!has_value(&r, "u") && read_directory(&r) && value(&r, "h") == 1 && value(&r, "s") == 1);
  stop(p, &r);
}

/* A call that returned an error, and the function and argument that shm_last_error() names. */
typedef struct failed_call {
  int code, expected;
  const char *names;
  const char *text; /* of shm_last_error() right after the call */
} failed_call;

static failed_call failed(int code, int expected, const char *names) {
  static char texts[128][sizeof(shm_line)];
  static int next;
  char *text = texts[next++ % 128];
  snprintf(text, sizeof texts[0], "%s", shm_last_error());
  return (failed_call){code, expected, names, text};
}

/* After each error, shm_last_error() begins with the function and the argument, also without details. */
static void test_every_error_has_a_text(void) {
  static const double bounds[] = {0.5, 1};
  static const uint64_t counts[] = {1, 2, 3};
  reader r;
  shm_object root, gone, zeros = {0}, made;
  shm_publisher *p = start(options_of("errors"), &r, &root);
  shm_variable u, removed, lost, none = {0}, h, s, t, v;
  CHECK(shm_add_root(p, &gone, "g", "G", NULL) == 0);
  removed = add(&root, "removed", SHM_U64);
  lost = add_schema(&root, "lost", SHM_HISTOGRAM, bounds, 2);
  u = add(&root, "u", SHM_U64), t = add(&root, "t", SHM_STRING);
  h = add_schema(&root, "h", SHM_HISTOGRAM, bounds, 2), s = add_schema(&root, "s", SHM_SUMMARY, bounds, 2);
  CHECK(shm_remove_variable(&removed) == 0 && shm_remove_variable(&lost) == 0 && shm_remove_object(&gone) == 0);
  shm_options options = options_of("errors2");
  const failed_call calls[] = {
      failed(shm_publisher_open(NULL, &options), -EINVAL, "shm_publisher_open: out: found NULL"),
      failed(shm_publisher_open(&p, NULL) * (p == NULL ? 1 : 0), -EINVAL, "shm_publisher_open: options: found NULL"),
      failed(shm_publisher_publish(NULL), -EINVAL, "shm_publisher_publish: publisher: found NULL"),
      failed(shm_add_root(root.publisher, NULL, "x", "C", NULL), -EINVAL, "shm_add_root: out of object \"x\": found NULL"),
      failed(shm_add_root(NULL, &made, "x", "C", NULL), -EINVAL, "shm_add_root: publisher of object"),
      failed(shm_add_object(&root, NULL, "x", "C", NULL), -EINVAL, "shm_add_object: out of object \"x\": found NULL"),
      failed(shm_add_object(NULL, &made, "x", "C", NULL), -EINVAL, "shm_add_object: parent of object"),
      failed(shm_add_object(&gone, &made, "g.x", "C", NULL), -ESTALE, "shm_add_object: parent: the object"),
      failed(shm_remove_object(NULL), -EINVAL, "shm_remove_object: object: found NULL"),
      failed(shm_remove_object(&zeros), -ESTALE, "shm_remove_object: object: "),
      failed(shm_remove_object(&gone), -ESTALE, "shm_remove_object: object: "),
      failed(shm_set_state(NULL, 1), -EINVAL, "shm_set_state: object: found NULL"),
      failed(shm_set_state(&gone, 1), -ESTALE, "shm_set_state: object: "),
      failed(shm_set_state(&root, 9), -EINVAL, "shm_set_state: state of object"),
      failed(shm_set_synced(NULL, true), -EINVAL, "shm_set_synced: object: found NULL"),
      failed(shm_set_synced(&gone, true), -ESTALE, "shm_set_synced: object: "),
      failed(shm_set_as_of(NULL, 1), -EINVAL, "shm_set_as_of: root: found NULL"),
      failed(shm_set_as_of(&gone, 1), -ESTALE, "shm_set_as_of: root: "),
      failed(shm_clear_as_of(NULL), -EINVAL, "shm_clear_as_of: root: found NULL"),
      failed(shm_clear_as_of(&gone), -ESTALE, "shm_clear_as_of: root: "),
      failed(shm_add_variable(&root, NULL, "x", SHM_U64, NULL), -EINVAL, "shm_add_variable: out of variable \"x\": found NULL"),
      failed(shm_add_variable(NULL, &v, "x", SHM_U64, NULL), -EINVAL, "shm_add_variable: object of variable"),
      failed(shm_add_variable(&gone, &v, "x", SHM_U64, NULL), -ESTALE, "shm_add_variable: object: "),
      failed(shm_remove_variable(NULL), -EINVAL, "shm_remove_variable: variable: found NULL"),
      failed(shm_remove_variable(&none), -ESTALE, "shm_remove_variable: variable: "),
      failed(shm_remove_variable(&removed), -ESTALE, "shm_remove_variable: variable: "),
      failed(shm_unset(NULL), -EINVAL, "shm_unset: variable: found NULL"),
      failed(shm_unset(&removed), -ESTALE, "shm_unset: variable: "),
#define REFUSES_HANDLES(call, ...) \
      failed(call(NULL, __VA_ARGS__), -EINVAL, #call ": variable: found NULL"), \
      failed(call(&none, __VA_ARGS__), -ESTALE, #call ": variable: the object or variable was removed"), \
      failed(call(&lost, __VA_ARGS__), -ESTALE, #call ": variable: the object or variable was removed")
      REFUSES_HANDLES(shm_u64_set, 1),
      REFUSES_HANDLES(shm_u64_add, 1),
      REFUSES_HANDLES(shm_u64_add_shared, 1),
      REFUSES_HANDLES(shm_i64_set, 1),
      REFUSES_HANDLES(shm_i64_add, 1),
      REFUSES_HANDLES(shm_i64_add_shared, 1),
      REFUSES_HANDLES(shm_f64_set, 1),
      REFUSES_HANDLES(shm_f64_add, 1),
      REFUSES_HANDLES(shm_f64_add_shared, 1),
      REFUSES_HANDLES(shm_bool_set, true),
      REFUSES_HANDLES(shm_text_set, ""),
      REFUSES_HANDLES(shm_text_set_shared, ""),
      REFUSES_HANDLES(shm_text_set_bytes, "", 0),
      REFUSES_HANDLES(shm_histogram_observe, 1),
      REFUSES_HANDLES(shm_histogram_observe_shared, 1),
      REFUSES_HANDLES(shm_histogram_set, counts, 3, 1),
      REFUSES_HANDLES(shm_histogram_set_shared, counts, 3, 1),
      REFUSES_HANDLES(shm_summary_set, 1, 1, bounds, 2),
      REFUSES_HANDLES(shm_summary_set_shared, 1, 1, bounds, 2),
      failed(shm_text_set_bytes(&t, NULL, 3), -EINVAL, "shm_text_set_bytes: variable \"t\": found the text NULL"),
      failed(shm_histogram_set(&h, NULL, 3, 1), -EINVAL, "shm_histogram_set: counts: found NULL"),
      failed(shm_histogram_set_shared(&h, NULL, 3, 1), -EINVAL, "shm_histogram_set_shared: counts: found NULL"),
      failed(shm_summary_set(&s, 1, 1, NULL, 2), -EINVAL, "shm_summary_set: values: found NULL"),
      failed(shm_summary_set_shared(&s, 1, 1, NULL, 2), -EINVAL, "shm_summary_set_shared: values: found NULL"),
  };
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
    if (!CHECK(calls[i].code == calls[i].expected && strncmp(calls[i].text, calls[i].names, strlen(calls[i].names)) == 0))
      fprintf(stderr, "  found    %d %s\n  expected %d %s\n", calls[i].code, calls[i].text, calls[i].expected, calls[i].names);
  CHECK(shm_u64_set(&u, 1) == 0 && strstr(shm_last_error(), "shm_summary_set_shared") != NULL);
  stop(root.publisher, &r);
}

/* `add` never lowers a counter. A counter may restart, so `set` takes any value. */
static void test_counters_do_not_fall(void) {
  reader r;
  shm_object root;
  shm_variable u, i, f, gauge;
  shm_publisher *p = start(options_of("falling"), &r, &root);
  shm_variable_options counter = shm_variable_options_default();
  counter.kind = SHM_COUNTER;
  CHECK(shm_add_variable(&root, &u, "u", SHM_U64, &counter) == 0 && shm_u64_set(&u, 5) == 0);
  CHECK(shm_add_variable(&root, &i, "i", SHM_I64, &counter) == 0 && shm_i64_set(&i, 5) == 0);
  CHECK(shm_add_variable(&root, &f, "f", SHM_F64, &counter) == 0 && shm_f64_set(&f, 5) == 0);
  REFUSED(shm_u64_add(&u, (uint64_t)-3),
          "shm_u64_add: variable \"u\": found the amount -3 for a counter, allowed: 0 to 2^63 - 1");
  REFUSED(shm_u64_add_shared(&u, 1ull << 63),
          "shm_u64_add_shared: variable \"u\": found the amount -9223372036854775808 for a counter, allowed: 0 to 2^63 - 1");
  REFUSED(shm_i64_add(&i, -1), "shm_i64_add: variable \"i\": found the amount -1 for a counter, allowed: 0 to 2^63 - 1");
  REFUSED(shm_i64_add_shared(&i, INT64_MIN),
          "shm_i64_add_shared: variable \"i\": found the amount -9223372036854775808 for a counter, allowed: 0 to 2^63 - 1");
  REFUSED(shm_f64_add(&f, -0.5), "shm_f64_add: variable \"f\": found a negative amount for a counter, allowed: finite amounts from 0");
  REFUSED(shm_f64_add(&f, (double)NAN), "shm_f64_add: variable \"f\": found NaN for a counter, allowed: finite amounts from 0");
  REFUSED(shm_f64_add_shared(&f, HUGE_VAL),
          "shm_f64_add_shared: variable \"f\": found infinity for a counter, allowed: finite amounts from 0");
  CHECK(read_directory(&r) && value(&r, "u") == 5 && value(&r, "i") == 5 && double_of(value(&r, "f")) == 5);
  CHECK(shm_f64_add(&f, -0.0) == 0 && shm_u64_add(&u, 0) == 0 && shm_i64_add(&i, INT64_MAX - 5) == 0);
  REFUSED(shm_i64_add(&i, 1), "shm_i64_add: variable \"i\": found the amount 1 for a counter at 9223372036854775807, allowed: "
                              "a sum of at most 2^63 - 1");
  CHECK(shm_u64_set(&u, UINT64_MAX - 1) == 0 && shm_u64_add_shared(&u, 1) == 0);
  REFUSED(shm_u64_add_shared(&u, 2), "shm_u64_add_shared: variable \"u\": found the amount 2 for a counter at "
                                     "18446744073709551615, allowed: a sum of at most 2^64 - 1");
  CHECK(shm_i64_set(&i, -5) == 0 && shm_i64_add(&i, INT64_MAX) == 0 && shm_i64_add(&i, 5) == 0);
  CHECK(shm_u64_set(&u, 0) == 0 && shm_i64_set(&i, 0) == 0 && shm_f64_set(&f, 0) == 0);
  gauge = add(&root, "gauge", SHM_U64);
  CHECK(shm_u64_set(&gauge, 5) == 0 && shm_u64_add(&gauge, (uint64_t)-2) == 0);
  CHECK(read_directory(&r) && value(&r, "gauge") == 3);
  stop(p, &r);
}

static void *text_in_thread(void *argument) {
  (void)argument;
  return (void *)(uintptr_t)(strstr(shm_error_text(-EINVAL), "an argument is not allowed") != NULL);
}

/* Each thread keeps the text of its own last error. */
static void test_texts_of_threads(void) {
  pthread_t thread;
  void *is_general = NULL;
  CHECK(code_of(options_of("")) == -EINVAL && strstr(shm_error_text(-EINVAL), "server_key") != NULL);
  CHECK(strcmp(shm_error_text(EINVAL), shm_error_text(-EINVAL)) == 0);
  CHECK(pthread_create(&thread, NULL, text_in_thread, NULL) == 0 && pthread_join(thread, &is_general) == 0);
  CHECK(is_general != NULL);
  CHECK(strcmp(shm_error_text(-ESTALE), "the object or variable was removed, or was dropped for lack of room") == 0);
  CHECK(code_of(options_of("ok")) == 0 && strstr(shm_error_text(-EINVAL), "server_key") == NULL);
}

/* ---------------------------------------------------------------- values */

static void test_scalars(void) {
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("scalars"), &r, &root);
  shm_variable u = add(&root, "u", SHM_U64), i = add(&root, "i", SHM_I64);
  shm_variable f = add(&root, "f", SHM_F64), b = add(&root, "b", SHM_BOOL);
  CHECK(read_directory(&r) && !has_value(&r, "u") && find(&r, "u")->type == 1);
  CHECK(shm_u64_set(&u, 5) == 0 && shm_u64_add(&u, 2) == 0 && shm_u64_add_shared(&u, 1) == 0);
  CHECK(shm_i64_set(&i, -5) == 0 && shm_i64_add(&i, 2) == 0 && shm_i64_add_shared(&i, -1) == 0);
  CHECK(shm_f64_set(&f, 0.5) == 0 && shm_f64_add(&f, 1) == 0 && shm_f64_add_shared(&f, 2) == 0);
  CHECK(shm_bool_set(&b, true) == 0);
  CHECK(value(&r, "u") == 8 && (int64_t)value(&r, "i") == -4);
  CHECK(double_of(value(&r, "f")) == 3.5 && value(&r, "b") == 1);
  CHECK(shm_u64_set(&f, 1) == -EINVAL && shm_f64_add_shared(&u, 1) == -EINVAL);
  CHECK(shm_text_set(&u, "x") == -EINVAL && shm_histogram_observe(&u, 1) == -EINVAL);
  CHECK(shm_unset(&u) == 0 && !has_value(&r, "u"));
  CHECK(shm_u64_add(&u, 1) == 0 && value(&r, "u") == 9);
  stop(p, &r);
}

static void test_objects(void) {
  reader r;
  shm_object root, child, other;
  shm_publisher *p = start(options_of("objects"), &r, &root);
  shm_object_options options = shm_object_options_default();
  options.host = "h";
  options.application = "a";
  options.state = SHM_STATE_INIT;
  options.synced = false;
  CHECK(shm_add_root(p, &other, "second", "Root", &options) == 0);
  CHECK(shm_add_object(&root, &child, "host.1.app.child", "Thing", NULL) == 0);
  CHECK(read_directory(&r) && count_live(&r) == 3);
  const entry *root_entry = find(&r, "host.1.app"), *second = find(&r, "second");
  const entry *child_entry = find(&r, "host.1.app.child");
  CHECK(strcmp(second->text2, "h") == 0 && strcmp(second->text4, "a") == 0);
  CHECK(child_entry->owner == root_entry->id && strcmp(child_entry->text1, "Thing") == 0);
  CHECK(!has_value(&r, "second") && value(&r, "host.1.app.child") == 1);
  CHECK(shm_set_synced(&other, true) == 0 && value(&r, "second") == 0);
  CHECK(shm_set_state(&child, SHM_STATE_DEAD) == 0 && value(&r, "host.1.app.child") == 4);
  CHECK(shm_set_state(&child, 6) == -EINVAL);
  CHECK(shm_set_synced(&child, false) == 0 && !has_value(&r, "host.1.app.child"));
  uint64_t as_of;
  CHECK(!slot_value(&r, root_entry->as_of_slot, root_entry->as_of_incarnation, &as_of));
  CHECK(shm_set_as_of(&root, 12345) == 0);
  CHECK(slot_value(&r, root_entry->as_of_slot, root_entry->as_of_incarnation, &as_of));
  CHECK(as_of == 12345 && shm_clear_as_of(&root) == 0);
  CHECK(!slot_value(&r, root_entry->as_of_slot, root_entry->as_of_incarnation, &as_of));
  CHECK(shm_set_as_of(&child, 1) == -ESTALE);
  stop(p, &r);
}

static void test_record_bytes(void) {
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("bytes"), &r, &root);
  shm_variable_options options = shm_variable_options_default();
  shm_variable variable;
  uint8_t record[64];
  options.kind = SHM_COUNTER;
  options.unit = "bytes";
  options.help = "Help";
  CHECK(shm_add_variable(&root, &variable, "name", SHM_U64, &options) == 0);
  CHECK(copy(&r, record, 64, header_u64(&r, 88) + 64));
  static const uint8_t expected[32] = {1, 0, 0, 0, 2, 1, 1, 0, 2, 0, 0, 0, 2, 0, 0, 0,
                                       0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
  CHECK(memcmp(record + 4, expected, sizeof expected) == 0); /* the root and its as-of time take slots 0 and 1 */
  CHECK(read_directory(&r));
  const entry *e = find(&r, "name");
  CHECK(strcmp(e->text1, "bytes") == 0 && strcmp(e->text2, "Help") == 0 && e->variable_kind == 1);
  uint64_t strings = word_at(&r, 1280);
  CHECK(shm_add_variable(&root, &variable, "name", SHM_U64, &options) == 0);
  CHECK(word_at(&r, 1280) == strings); /* equal strings are shared */
  stop(p, &r);
}

static bool text_is(const reader *r, const char *name, const char *expected) {
  uint64_t frame[128];
  const entry *e = find(r, name);
  if (e == NULL || !frame_of(r, e, frame)) return false;
  return frame[1] == strlen(expected) && memcmp(frame + 2, expected, frame[1]) == 0;
}

static void test_texts(void) {
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("texts"), &r, &root);
  shm_variable_options options = shm_variable_options_default();
  shm_variable text;
  options.text_bytes = 10; /* rounded up to 16 */
  CHECK(shm_add_variable(&root, &text, "text", SHM_STRING, &options) == 0);
  CHECK(read_directory(&r) && find(&r, "text")->units == 5 && !has_value(&r, "text"));
  CHECK(shm_text_set(&text, "hello") == 0 && text_is(&r, "text", "hello"));
  CHECK(value(&r, "text") == 1);
  CHECK(shm_text_set(&text, "0123456789abcdef") == 0 && text_is(&r, "text", "0123456789abcdef"));
  CHECK(shm_text_set_shared(&text, "0123456789abcde\xc3\xa9") == 0);
  CHECK(text_is(&r, "text", "0123456789abcde")); /* cut before the character that does not fit */
  CHECK(shm_text_set(&text, "") == 0 && text_is(&r, "text", "") && value(&r, "text") == 4);
  uint64_t frame[128];
  CHECK(frame_of(&r, find(&r, "text"), frame) && frame[2] == 0 && frame[3] == 0);
  options.text_bytes = SHM_TEXT_BYTES + 1;
  CHECK(shm_add_variable(&root, &text, "long", SHM_STRING, &options) == -EINVAL);
  CHECK(word_at(&r, 1472) == 0); /* a refused variable does not count as dropped */
  stop(p, &r);
}

static void test_histogram(void) {
  static const double bounds[] = {1, 2, 4};
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("histogram"), &r, &root);
  shm_variable h = add_schema(&root, "h", SHM_HISTOGRAM, bounds, 3);
  uint64_t f[128];
  static const double observed[] = {0.5, 1, 1.5, 4, 5};
  for (int i = 0; i < 5; i++) CHECK(shm_histogram_observe(&h, observed[i]) == 0);
  CHECK(read_directory(&r) && find(&r, "h")->units == 7 && find(&r, "h")->schema_entries == 3);
  CHECK(memcmp(find(&r, "h")->schema, bounds, sizeof bounds) == 0);
  CHECK(frame_of(&r, find(&r, "h"), f) && double_of(f[1]) == 12 && f[0] == 6);
  CHECK(f[2] == 2 && f[3] == 1 && f[4] == 1 && f[5] == 1 && value(&r, "h") == 6);
  static const uint64_t counts[] = {9, 8, 7, 6};
  CHECK(shm_histogram_set(&h, counts, 4, 99) == 0 && frame_of(&r, find(&r, "h"), f));
  CHECK(double_of(f[1]) == 99 && f[2] == 9 && f[5] == 6 && f[6] == 7);
  CHECK(shm_histogram_set(&h, counts, 3, 99) == -EINVAL);
  CHECK(shm_histogram_observe(&h, (double)NAN) == -EINVAL && value(&r, "h") == 7);
  stop(p, &r);
}

static void test_summary(void) {
  static const double quantiles[] = {0.5, 0.99}, values[] = {3, 7};
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("summary"), &r, &root);
  shm_variable s = add_schema(&root, "s", SHM_SUMMARY, quantiles, 2);
  uint64_t f[128];
  CHECK(shm_summary_set(&s, 10, 42.5, values, 2) == 0 && read_directory(&r));
  CHECK(find(&r, "s")->units == 6 && frame_of(&r, find(&r, "s"), f));
  CHECK(f[1] == 10 && double_of(f[2]) == 42.5 && double_of(f[3]) == 3 && double_of(f[4]) == 7);
  CHECK(shm_summary_set_shared(&s, 1, 1, values, 1) == -EINVAL);
  stop(p, &r);
}

static int schema_code(const shm_object *object, int type, const double *schema, uint32_t entries) {
  shm_variable ignored;
  shm_variable_options options = shm_variable_options_default();
  options.schema = schema;
  options.schema_entries = entries;
  return shm_add_variable(object, &ignored, "schema", type, &options);
}

/* Reuses the block of an earlier frame, so the new frame has zeros and NaN only if the library stores
 * them. */
static void test_begin_empty(void) {
  static const double bounds[] = {0.5, 1};
  static const uint64_t counts[] = {1, 2, 3};
  reader r;
  shm_object root;
  shm_publisher *p = start(options_of("empty"), &r, &root);
  shm_variable old = add_schema(&root, "old", SHM_HISTOGRAM, bounds, 2), late;
  CHECK(shm_histogram_set(&old, counts, 3, 9) == 0 && shm_remove_variable(&old) == 0);
  add_schema(&root, "h", SHM_HISTOGRAM, bounds, 2);
  add_schema(&root, "s", SHM_SUMMARY, bounds, 2);
  add(&root, "text", SHM_STRING);
  shm_variable_options options = shm_variable_options_default();
  options.unsynced = true;
  CHECK(shm_add_variable(&root, &late, "late", SHM_HISTOGRAM, &options) == 0);
  uint64_t f[128];
  CHECK(read_directory(&r) && has_value(&r, "h") && value(&r, "h") == 1);
  CHECK(frame_of(&r, find(&r, "h"), f) && f[0] == 1 && double_of(f[1]) == 0);
  CHECK(f[2] == 0 && f[3] == 0 && f[4] == 0 && f[5] == 1);
  CHECK(has_value(&r, "s") && value(&r, "s") == 1 && frame_of(&r, find(&r, "s"), f));
  CHECK(f[1] == 0 && double_of(f[2]) == 0 && is_nan(f[3]) && is_nan(f[4]));
  CHECK(!has_value(&r, "text") && !has_value(&r, "late"));
  CHECK(shm_histogram_observe(&late, 1) == 0 && has_value(&r, "late"));
  stop(p, &r);
}

/* An object with a refused id is neither published nor counted as dropped. */
static void test_ids(void) {
  static const char *const refused[] = {"",          "till",        "host.1.app", "host.1.app.",
                                        "host.1.ap", "host.1.apps", "host.1.app-x"};
  static const char *const taken[] = {"host.1.app.0.deep.down", "host.1.app.trailing."};
  reader r;
  shm_object root, object, below;
  shm_publisher *p = start(small_options("ids"), &r, &root);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    CHECK(shm_add_object(&root, &object, refused[i], "C", NULL) == -EINVAL);
  CHECK(shm_add_object(&root, &object, NULL, "C", NULL) == -EINVAL);
  CHECK(read_directory(&r) && count_live(&r) == 1 && word_at(&r, 1408) == 0);
  for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
    CHECK(shm_add_object(&root, &object, taken[i], "C", NULL) == 0);
  /* The parent's id is also found after a change of directories. */
  for (int i = 0; i < 100; i++) {
    CHECK(shm_add_object(&object, &below, "host.1.app.below", "C", NULL) == -EINVAL);
    CHECK(shm_add_object(&object, &below, "host.1.app.trailing..below", "C", NULL) == 0);
    CHECK(shm_remove_object(&below) == 0);
  }
  CHECK(read_directory(&r) && r.epoch > 0 && count_live(&r) == 3 && word_at(&r, 1408) == 0);
  stop(p, &r);
}

static void test_limits(void) {
  static const double falling[] = {2, 1}, endless[] = {1, HUGE_VAL}, beyond[] = {0.5, 1.5};
  static const double nothing[] = {(double)NAN};
  reader r;
  shm_object root, at, next;
  shm_publisher *p = start(options_of("limits"), &r, &root);
  CHECK(schema_code(&root, SHM_HISTOGRAM, falling, 2) == -EINVAL);
  CHECK(schema_code(&root, SHM_HISTOGRAM, endless, 2) == -EINVAL);
  CHECK(schema_code(&root, SHM_HISTOGRAM, nothing, 1) == -EINVAL);
  CHECK(schema_code(&root, SHM_SUMMARY, beyond, 2) == -EINVAL);
  CHECK(schema_code(&root, SHM_U64, beyond, 2) == -EINVAL);
  CHECK(schema_code(&root, 8, NULL, 0) == -EINVAL);
  char name[1026];
  memset(name, 'n', sizeof name);
  memcpy(name, "host.1.app.", 11);
  name[1025] = '\0';
  CHECK(shm_add_object(&root, &next, name, "C", NULL) == -EINVAL);
  name[1024] = '\0';
  CHECK(shm_add_object(&root, &next, name, "C", NULL) == 0);
  at = root;
  name[10] = '\0';
  for (int depth = 2; depth <= 64; depth++) {
    strcat(name, ".d");
    CHECK(shm_add_object(&at, &at, name, "C", NULL) == 0);
  }
  strcat(name, ".d");
  CHECK(shm_add_object(&at, &next, name, "C", NULL) == -EINVAL);
  CHECK(read_directory(&r) && count_live(&r) == 65);
  CHECK(shm_remove_object(&root) == 0 && read_directory(&r) && count_live(&r) == 0);
  stop(p, &r);
}

static void test_stale_handles(void) {
  reader r;
  shm_object root, object, zero;
  shm_options options = small_options("stale");
  options.slots = 4; /* root, its as-of time, the object, one variable */
  shm_publisher *p = start(options, &r, &root);
  memset(&zero, 0, sizeof zero);
  CHECK(shm_add_object(&root, &object, "host.1.app.object", "C", NULL) == 0);
  shm_variable old = add(&object, "old", SHM_U64);
  CHECK(shm_u64_set(&old, 1) == 0 && shm_remove_variable(&old) == 0);
  CHECK(shm_u64_set(&old, 2) == -ESTALE && shm_u64_add_shared(&old, 2) == -ESTALE);
  CHECK(shm_unset(&old) == -ESTALE && shm_remove_variable(&old) == -ESTALE);
  shm_variable text = add(&object, "text", SHM_STRING);
  CHECK(text.ref.word == old.ref.word && shm_u64_add(&old, 2) == -ESTALE);
  CHECK(shm_text_set(&text, "mine") == 0 && shm_remove_object(&object) == 0);
  CHECK(shm_text_set(&text, "x") == -ESTALE && shm_text_set_shared(&text, "x") == -ESTALE);
  CHECK(shm_set_state(&object, 1) == -ESTALE && shm_set_synced(&object, true) == -ESTALE);
  CHECK(shm_remove_object(&object) == -ESTALE && shm_remove_object(&zero) == -ESTALE);
  CHECK(shm_add_object(&object, &object, "host.1.app.late", "C", NULL) == -ESTALE);
  CHECK(read_directory(&r) && count_live(&r) == 1 && word_at(&r, 1408) == 1);
  stop(p, &r);
}

static void test_incarnations_wrap(void) {
  reader r;
  shm_object root;
  shm_options options = small_options("wrap");
  options.slots = 3;
  shm_publisher *p = start(options, &r, &root);
  shm_variable v = add(&root, "v", SHM_U64);
  CHECK(shm_remove_variable(&v) == 0);
  *v.ref.word = 0x7fffffffu << 1;
  v = add(&root, "v", SHM_U64);
  CHECK(v.ref.synced == 0xffffffffu && shm_u64_set(&v, 1) == 0);
  CHECK(read_directory(&r) && value(&r, "v") == 1 && shm_remove_variable(&v) == 0);
  v = add(&root, "v", SHM_U64);
  CHECK(v.ref.synced == 3 && shm_u64_set(&v, 2) == 0 && read_directory(&r) && value(&r, "v") == 2);
  stop(p, &r);
}

/* Adds variables until there is no room, and returns how many had room. */
static uint32_t fill(const shm_object *object, int type, const char *stem, shm_variable *all) {
  char name[64];
  uint32_t count = 0;
  for (;; count++) {
    snprintf(name, sizeof name, "%s%u", stem, count);
    int code = shm_add_variable(object, &all[count], name, type, NULL);
    if (code != 0) {
      CHECK(code == -ENOSPC && shm_remove_variable(&all[count]) == -ESTALE);
      CHECK((type == SHM_STRING ? shm_text_set(&all[count], "x") : shm_u64_set(&all[count], 1)) ==
            -ESTALE);
      return count;
    }
  }
}

/* When any capacity is exhausted, additions fail and are counted. They succeed again after a removal. */
static void check_full(shm_options options, int type, const char *stem, uint32_t expected) {
  static shm_variable all[4096];
  reader r;
  shm_object root, inert, below;
  shm_publisher *p = start(options, &r, &root);
  uint32_t count = fill(&root, type, stem, all);
  if (!CHECK(count == expected)) fprintf(stderr, "  %s: %u variables\n", stem, count);
  CHECK(word_at(&r, 1472) == 1 && word_at(&r, 1408) == 0);
  CHECK(read_directory(&r) && count_live(&r) == count + 1);
  for (int round = 0; round < 200; round++) {
    uint32_t one = (uint32_t)round % count;
    char name[64];
    snprintf(name, sizeof name, "%s%u", stem, one);
    CHECK(shm_remove_variable(&all[one]) == 0);
    CHECK(shm_add_variable(&root, &all[one], name, type, NULL) == 0);
    CHECK(read_directory(&r) && count_live(&r) == count + 1);
  }
  for (uint32_t i = 0; i < count; i++) CHECK(shm_remove_variable(&all[i]) == 0);
  CHECK(fill(&root, type, stem, all) == expected);
  if (options.slots < 40) { /* an object without room is dropped, and so is an object below it */
    CHECK(shm_add_object(&root, &inert, "host.1.app.inert", "C", NULL) == -ENOSPC);
    CHECK(shm_add_object(&inert, &below, "below", "C", NULL) == -ENOSPC);
    CHECK(word_at(&r, 1408) == 2);
  }
  stop(p, &r);
}

static void test_capacity(void) {
  shm_options slots = small_options("full-slots"), frames = small_options("full-frames");
  shm_options records = small_options("full-records");
  slots.slots = 20;
  check_full(slots, SHM_U64, "s", 18);
  frames.frame_bytes = 12 * 8 * 5; /* a text of 64 bytes takes 11 units of 8 bytes, and gets 12 */
  check_full(frames, SHM_STRING, "f", 5);
  records.slots = 1000;
  check_full(records, SHM_U64, "r", 47); /* three quarters of 64 records, minus the root */
}

/* While live strings fill less than three quarters of the region, a new name always has room. */
static void test_string_capacity(void) {
  shm_variable all[64];
  reader r;
  shm_object root;
  shm_options options = small_options("full-strings");
  options.string_bytes = 400;
  shm_publisher *p = start(options, &r, &root);
  /* 2 bytes for the empty string, 18 for the root's two strings, 20 or 21 for each name. */
  CHECK(fill(&root, SHM_U64, "a-name-of-length-", all) == 18 && word_at(&r, 1472) == 1);
  for (uint32_t i = 10; i < 18; i++) CHECK(shm_remove_variable(&all[i]) == 0);
  for (uint32_t i = 0; i < 500; i++) {
    char name[64];
    snprintf(name, sizeof name, "a-name-of-%08u", i);
    CHECK(shm_remove_variable(&all[i % 10]) == 0);
    all[i % 10] = add(&root, name, SHM_U64);
    CHECK(shm_u64_set(&all[i % 10], i) == 0 && read_directory(&r) && count_live(&r) == 11);
    CHECK(value(&r, name) == i);
  }
  CHECK(r.epoch > 30 && word_at(&r, 1472) == 1);
  stop(p, &r);
}

/* ---------------------------------------------------------------- churn */

enum { CHURN_OBJECTS = 6, CHURN_VARIABLES = 3 };

typedef struct churn_variable {
  bool is_there, is_text;
  shm_variable handle;
  char name[32];
  uint64_t value;
} churn_variable;

typedef struct churn_object {
  bool is_there;
  shm_object handle;
  char name[32];
  churn_variable variables[CHURN_VARIABLES];
} churn_object;

static uint32_t churn_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void churn_toggle_variable(churn_object *o, churn_variable *v, uint32_t number) {
  if (v->is_there) {
    CHECK(shm_remove_variable(&v->handle) == 0);
    v->is_there = false;
    return;
  }
  v->is_text = number % 2 == 0;
  snprintf(v->name, sizeof v->name, "v%u", number);
  CHECK(shm_add_variable(&o->handle, &v->handle, v->name, v->is_text ? SHM_STRING : SHM_U64,
                         NULL) == 0);
  v->is_there = true;
  v->value = number;
  if (v->is_text) CHECK(shm_text_set(&v->handle, v->name) == 0);
  else CHECK(shm_u64_set(&v->handle, number) == 0);
}

static void churn_toggle_object(const shm_object *root, churn_object *o, uint32_t number) {
  if (o->is_there) {
    CHECK(shm_remove_object(&o->handle) == 0);
    memset(o, 0, sizeof *o);
    return;
  }
  snprintf(o->name, sizeof o->name, "host.1.app.o%u", number);
  CHECK(shm_add_object(root, &o->handle, o->name, "Thing", NULL) == 0);
  o->is_there = true;
}

static uint32_t churn_compare_object(const reader *r, const churn_object *o) {
  uint32_t count = 1;
  const entry *object = find(r, o->name);
  CHECK(object != NULL && object->kind == 1);
  for (int i = 0; i < CHURN_VARIABLES; i++) {
    const churn_variable *v = &o->variables[i];
    if (!v->is_there) continue;
    count++;
    const entry *e = find(r, v->name);
    if (!CHECK(e != NULL && object != NULL && e->owner == object->id)) continue;
    CHECK(v->is_text ? text_is(r, v->name, v->name) && value(r, v->name) == 1
                     : value(r, v->name) == v->value);
  }
  return count;
}

static void churn_compare(reader *r, const churn_object *objects) {
  uint32_t expected = 1;
  if (!CHECK(read_directory(r))) return;
  for (int i = 0; i < CHURN_OBJECTS; i++)
    if (objects[i].is_there) expected += churn_compare_object(r, &objects[i]);
  CHECK(count_live(r) == expected);
}

static void churn_step(const shm_object *root, churn_object *objects, uint32_t *seed,
                       uint32_t number) {
  churn_object *o = &objects[churn_random(seed) % CHURN_OBJECTS];
  if (!o->is_there || churn_random(seed) % 8 == 0) churn_toggle_object(root, o, number);
  else churn_toggle_variable(o, &o->variables[churn_random(seed) % CHURN_VARIABLES], number);
}

static void test_churn(void) {
  reader r;
  shm_object root;
  churn_object objects[CHURN_OBJECTS];
  shm_publisher *p = start(small_options("churn"), &r, &root);
  uint32_t seed = 7;
  memset(objects, 0, sizeof objects);
  for (uint32_t i = 0; i < 10000; i++) {
    churn_step(&root, objects, &seed, i);
    if (i < 500 || i % 20 == 0) churn_compare(&r, objects);
  }
  churn_compare(&r, objects);
  CHECK(r.epoch > 100 && word_at(&r, 1408) == 0 && word_at(&r, 1472) == 0);
  stop(p, &r);
}

typedef struct churn_reader {
  reader r;
  int is_ending;
  uint32_t reads, epochs;
} churn_reader;

/* Reads while directories change. No record may be corrupt, and no text may belong to another variable. */
static void *read_churn(void *argument) {
  churn_reader *c = (churn_reader *)argument;
  uint32_t last = 0;
  while (!__atomic_load_n(&c->is_ending, __ATOMIC_ACQUIRE)) {
    if (!CHECK(read_directory(&c->r))) return NULL;
    c->reads++;
    c->epochs += c->r.epoch == last ? 0 : 1;
    last = c->r.epoch;
    for (uint32_t i = 0; i < c->r.count; i++) {
      uint64_t frame[128], updates;
      const entry *e = &c->r.entries[i];
      if (e->is_gone || e->type != SHM_STRING || !frame_of(&c->r, e, frame)) continue;
      if (frame[0] == 0) continue; /* no text had been set when this copy was made */
      /* The word is read after the frame: if it is unchanged, the frame still belonged to this variable. */
      if (!slot_value(&c->r, e->slot, e->incarnation, &updates)) continue;
      CHECK(frame[1] == strlen(e->name) && memcmp(frame + 2, e->name, frame[1]) == 0);
    }
  }
  return NULL;
}

static void test_churn_with_reader(void) {
  churn_reader c;
  shm_object root;
  churn_object objects[CHURN_OBJECTS];
  pthread_t thread;
  memset(&c, 0, sizeof c);
  shm_publisher *p = start(small_options("churn-read"), &c.r, &root);
  uint32_t seed = 11;
  memset(objects, 0, sizeof objects);
  CHECK(pthread_create(&thread, NULL, read_churn, &c) == 0);
  uint64_t end = shm_clock_ns(CLOCK_MONOTONIC) + 1000000000u;
  for (uint32_t i = 0; shm_clock_ns(CLOCK_MONOTONIC) < end; i++) {
    churn_step(&root, objects, &seed, i);
    for (uint64_t until = shm_clock_ns(CLOCK_MONOTONIC) + 2000;
         shm_clock_ns(CLOCK_MONOTONIC) < until;)
      ; /* gives the reader time between two changes of directories */
  }
  __atomic_store_n(&c.is_ending, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  CHECK(c.reads > 10 && c.epochs > 5);
  stop(p, &c.r);
}

/* Without its file, a publisher cannot allocate pages, as if /dev/shm were full. */
static void test_no_memory(void) {
  reader r;
  shm_object root, late;
  shm_variable all[48], v;
  char name[16];
  shm_publisher *p = start(small_options("memory"), &r, &root);
  ino_t inode = p->inode;
  for (uint32_t i = 0; i < 31; i++) {
    snprintf(name, sizeof name, "v%u", i);
    all[i] = add(&root, name, SHM_U64);
    CHECK(shm_u64_set(&all[i], i) == 0);
  }
  for (uint32_t i = 0; i < 16; i++) {
    CHECK(shm_remove_variable(&all[i]) == 0);
    all[i] = add(&root, "again", SHM_U64);
  }
  close(p->fd);
  p->inode = 0; /* all 64 records are used, so the tombstone has no room, and neither directory can grow */
  CHECK(shm_remove_variable(&all[30]) == 0 && p->removal_pending);
  CHECK(shm_u64_set(&all[30], 1) == -ESTALE && read_directory(&r) && !has_value(&r, "v30"));
  CHECK(shm_add_object(&root, &late, "host.1.app.late", "C", NULL) == -ENOSPC);
  CHECK(shm_add_variable(&root, &v, "text", SHM_STRING, NULL) == -ENOSPC);
  p->inode = inode;
  CHECK(shm_add_object(&root, &late, "host.1.app.late", "C", NULL) == 0 && !p->removal_pending);
  CHECK(read_directory(&r) && r.epoch == 1 && find(&r, "v30") == NULL && find(&r, "host.1.app.late") != NULL);
  CHECK(word_at(&r, 1408) == 1 && word_at(&r, 1472) == 1);
  stop(p, &r);
}

/* Additions succeed again once memory is free, without a removal. */
static void test_memory_again(void) {
  reader r;
  shm_object root, late;
  shm_options options = small_options("again");
  options.records = options.slots = 1 << 14;
  options.string_bytes = 1 << 20;
  shm_publisher *p = start(options, &r, &root);
  char name[40];
  ino_t inode = p->inode;
  int code = 0;
  close(p->fd);
  p->inode = 0;
  for (uint32_t i = 0; i < 1 << 13 && code == 0; i++) {
    snprintf(name, sizeof name, "host.1.app.%u", i);
    code = shm_add_object(&root, &late, name, "C", NULL);
  }
  CHECK(code == -ENOSPC && p->retry_at != 0 && !p->is_full);
  p->inode = inode;
  CHECK(shm_add_object(&root, &late, "host.1.app.late", "C", NULL) == -ENOSPC);
  p->retry_at = 1; /* as if a second had passed */
  CHECK(shm_add_object(&root, &late, "host.1.app.late", "C", NULL) == 0 && p->retry_at == 0);
  CHECK(read_directory(&r) && find(&r, "host.1.app.late") != NULL);
  stop(p, &r);
}

/* ---------------------------------------------------------------- who may publish */

static void test_second_is_refused(void) {
  shm_options options = small_options("second");
  options.fail_if_busy = true;
  shm_publisher *first = publish(&options), *second;
  CHECK(shm_publisher_open(&second, &options) == 0);
  CHECK(shm_publisher_publish(second) == -EBUSY);
  shm_publisher_close(second); /* does not remove the name of the first publisher's file */
  reader r;
  CHECK(open_reader(&r, "second") && word_at(&r, 1024) == 1);
  CHECK(header_u64(&r, 64) == (uint64_t)getpid());
  CHECK(shm_publisher_open(&second, &options) == 0);
  shm_publisher_close(first);
  CHECK(word_at(&r, 1024) == 2 && shm_publisher_publish(second) == 0);
  close_reader(&r);
  shm_publisher_close(second);
}

/* Counts the files of this run in /dev/shm, and prints their names if `prints`. */
static uint32_t count_files(bool prints) {
  uint32_t count = 0;
  DIR *folder = opendir("/dev/shm");
  if (!CHECK(folder != NULL)) return 0;
  for (struct dirent *file; (file = readdir(folder)) != NULL;)
    if (strstr(file->d_name, context) != NULL) {
      count++;
      if (prints) fprintf(stderr, "  left: %s\n", file->d_name);
    }
  closedir(folder);
  return count;
}

/* A program that gets -EBUSY and ends leaves nothing in /dev/shm. */
static void test_refused_leaves_nothing(void) {
  shm_options options = small_options("refused");
  options.fail_if_busy = true;
  shm_publisher *first = publish(&options), *refused[3];
  for (int i = 0; i < 3; i++) {
    CHECK(shm_publisher_open(&refused[i], &options) == 0);
    CHECK(shm_publisher_publish(refused[i]) == -EBUSY);
  }
  CHECK(count_files(false) == 1);
  shm_publisher_close(first);
  CHECK(shm_publisher_publish(refused[1]) == 0 && count_files(false) == 1);
  for (int i = 0; i < 3; i++) shm_publisher_close(refused[i]);
}

/* Runs a function in a child process. Returns true if the child exits and all its checks pass. */
static bool in_child(void (*run)(void)) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    failures = 0;
    run();
    _exit(failures == 0 ? 0 : 1);
  }
  return waitpid(pid, &status, 0) == pid && status == 0;
}

static void open_under_file_limit(void) {
  struct rlimit limit = {1 << 20, 1 << 20};
  shm_publisher *p;
  shm_options options = options_of("limit");
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(shm_publisher_open(&p, &options) == -EFBIG && p == NULL);
  options = small_options("limit");
  CHECK(shm_publisher_open(&p, &options) == 0 && shm_publisher_publish(p) == 0);
  shm_publisher_close(p);
}

/* A segment larger than `ulimit -f` gives an error with a text, and does not end the program. */
static void test_file_limit(void) {
  CHECK(in_child(open_under_file_limit) && count_files(true) == 0);
  CHECK(strstr(shm_error_text(-EFBIG), "ulimit -f") != NULL);
}

static void open_in_locked_memory(void) {
  struct stat facts;
  shm_publisher *p;
  shm_options options = options_of("locked");
  CHECK(mlockall(MCL_FUTURE) == 0);
  int code = shm_publisher_open(&p, &options);
  if (code == -EAGAIN) return; /* not root */
  if (!CHECK(code == 0)) return;
  CHECK(fstat(p->fd, &facts) == 0 && facts.st_blocks * 512 < facts.st_size / 10);
  shm_publisher_close(p);
}

/* After mlockall(MCL_FUTURE), only the used part of a segment takes memory. */
static void test_locked_memory(void) {
  CHECK(in_child(open_in_locked_memory));
  CHECK(strstr(shm_error_text(-EAGAIN), "ulimit -l") != NULL);
}

/* No call of a forked child changes name, state, heartbeat or objects of the parent's segment. */
static void test_child_leaves_segment_alone(void) {
  reader r;
  shm_object root, other;
  shm_publisher *p = start(small_options("fork"), &r, &root);
  shm_variable text = add(&root, "text", SHM_STRING);
  uint64_t notifications = word_at(&r, 1152), beat = word_at(&r, 1088);
  pid_t pid = fork();
  if (pid == 0) {
    shm_publisher_heartbeat(p);
    shm_publisher_notify(p);
    bool is_refused = shm_add_object(&root, &other, "host.1.app.child", "C", NULL) == -ECHILD &&
                      shm_text_set_shared(&text, "child") == -ECHILD &&
                      shm_remove_object(&root) == -ECHILD && shm_publisher_publish(p) == -ECHILD;
    shm_publisher_close(p);
    _exit(is_refused ? 0 : 1);
  }
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  CHECK(word_at(&r, 1024) == 1 && word_at(&r, 1088) == beat && word_at(&r, 1152) == notifications);
  CHECK(read_directory(&r) && count_live(&r) == 2 && count_files(false) == 1);
  CHECK(shm_text_set_shared(&text, "parent") == 0);
  stop(p, &r);
}

/* After a child has closed its parent's publisher, the death of the parent frees the key. */
static void test_closed_child_frees_key(void) {
  int ready[2];
  pid_t child = 0;
  CHECK(pipe(ready) == 0);
  pid_t parent = fork();
  if (parent == 0) {
    shm_options options = small_options("orphan");
    shm_publisher *p = publish(&options);
    pid_t inner = fork();
    if (inner == 0) {
      shm_publisher_close(p);
      pid_t self = getpid();
      if (write(ready[1], &self, sizeof self) != sizeof self) _exit(1);
      pause();
    }
    pause();
  }
  CHECK(read(ready[0], &child, sizeof child) == sizeof child);
  kill(parent, SIGKILL);
  CHECK(waitpid(parent, NULL, 0) == parent);
  reader r;
  shm_object root;
  stop(start(small_options("orphan"), &r, &root), &r);
  if (child > 1) kill(child, SIGKILL);
  close(ready[0]);
  close(ready[1]);
}

/* Starts a process that publishes, then exits without closing its publisher, or waits until it is killed. */
static pid_t publish_elsewhere(const char *key, bool exits) {
  int ready[2];
  char byte = 0;
  CHECK(pipe(ready) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    shm_options options = small_options(key);
    publish(&options);
    if (write(ready[1], &byte, 1) != 1 || exits) _exit(0);
    for (;;) pause();
  }
  CHECK(read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

/* Publishes in a child process that exits without closing its publisher, or is killed. */
static void publish_and_die(const char *key, bool is_killed) {
  pid_t pid = publish_elsewhere(key, !is_killed);
  shm_options options = small_options(key);
  options.fail_if_busy = true;
  shm_publisher *p;
  CHECK(shm_publisher_open(&p, &options) == 0);
  if (is_killed) {
    CHECK(shm_publisher_publish(p) == -EBUSY); /* the child's publisher is alive */
    kill(pid, SIGKILL);
  }
  CHECK(waitpid(pid, NULL, 0) == pid);
  shm_publisher_close(p);
}

static void test_dead_is_replaced(void) {
  for (int is_killed = 0; is_killed < 2; is_killed++) {
    reader old, new_one;
    shm_object root;
    publish_and_die("dead", is_killed == 1);
    CHECK(open_reader(&old, "dead") && word_at(&old, 1024) == 1);
    shm_publisher *p = start(small_options("dead"), &new_one, &root);
    CHECK(word_at(&old, 1024) == 3 && word_at(&new_one, 1024) == 1);
    CHECK(header_u64(&old, 40) != header_u64(&new_one, 40));
    close_reader(&old);
    stop(p, &new_one);
  }
}

/* close() does not remove another file that has taken the name in the meantime. */
static void test_close_leaves_others_alone(void) {
  char path[256];
  shm_options options = small_options("other");
  shm_publisher *p = publish(&options);
  path_of(path, sizeof path, "other");
  CHECK(unlink(path) == 0);
  int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
  CHECK(fd >= 0);
  shm_publisher_close(p);
  CHECK(access(path, F_OK) == 0);
  p = publish(&options); /* no publisher holds an empty file, so it is replaced */
  close(fd);
  shm_publisher_close(p);
  CHECK(access(path, F_OK) != 0);
}

/* Stores heartbeats until the segment has its name again. Returns false if that takes longer than a minute. */
static bool gets_name_back(shm_publisher *p, const char *key) {
  char path[256];
  uint64_t end = shm_clock_ns(CLOCK_MONOTONIC) + 60000000000u;
  path_of(path, sizeof path, key);
  while (access(path, F_OK) != 0 && shm_clock_ns(CLOCK_MONOTONIC) < end) {
    struct timespec pause = {0, 10000000};
    shm_publisher_heartbeat(p);
    nanosleep(&pause, NULL);
  }
  return access(path, F_OK) == 0;
}

/* Removes the name, as a program that cleans up /dev/shm does. */
static void remove_name(const char *key) {
  char path[256];
  path_of(path, sizeof path, key);
  CHECK(unlink(path) == 0);
}

/* A segment whose name was removed gets it back. Its values stay, and old handles work. */
static void test_name_comes_back(void) {
  reader r, again;
  shm_object root, late;
  shm_publisher *p = start(small_options("name"), &r, &root);
  shm_variable sales = add(&root, "sales", SHM_U64), region = add(&root, "region", SHM_STRING);
  CHECK(shm_u64_set(&sales, 7) == 0 && shm_text_set(&region, "north") == 0);
  for (uint64_t round = 1; round <= 2; round++) {
    remove_name("name");
    CHECK(gets_name_back(p, "name"));
    CHECK(open_reader(&again, "name") && read_directory(&again));
    CHECK(value(&again, "sales") == 6 + round && text_is(&again, "region", "north"));
    CHECK(header_u64(&again, 40) == header_u64(&r, 40) && word_at(&again, 1024) == 1);
    CHECK(word_at(&r, 1024) == 3);
    CHECK(shm_u64_add(&sales, 1) == 0 && value(&again, "sales") == 7 + round);
    close_reader(&again);
  }
  CHECK(shm_add_object(&root, &late, "host.1.app.late", "C", NULL) == 0);
  CHECK(open_reader(&again, "name") && read_directory(&again));
  CHECK(find(&again, "host.1.app.late") != NULL && count_files(false) == 1);
  close_reader(&again);
  close_reader(&r);
  shm_publisher_close(p);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SMALL_STACK = 1 << 20 }; /* the sanitizers need more stack */
#else
enum { SMALL_STACK = 8192 };
#endif
static shm_publisher *beaten;

static void beat_in_handler(int number) {
  (void)number;
  beaten->check_ns = 1; /* as if a second had passed */
  shm_publisher_heartbeat(beaten);
}

static void place_on_small_stack(void) {
  reader r;
  shm_object root;
  stack_t stack;
  struct sigaction action;
  size_t guard = 1 << 16;
  memset(&stack, 0, sizeof stack);
  memset(&action, 0, sizeof action);
  char *memory = (char *)mmap(NULL, guard + SMALL_STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && mprotect(memory + guard, SMALL_STACK, PROT_READ | PROT_WRITE) == 0);
  stack.ss_sp = memory + guard;
  stack.ss_size = SMALL_STACK;
  action.sa_handler = beat_in_handler;
  action.sa_flags = SA_ONSTACK;
  if (sigaltstack(&stack, NULL) != 0) return; /* signal frames of this processor need more stack */
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  beaten = start(small_options("stack"), &r, &root);
  remove_name("stack");
  raise(SIGUSR1);
  CHECK(count_files(false) == 1);
  shm_publisher_close(beaten);
  close_reader(&r);
}

/* A signal handler on a stack of 8 KB, a usual size, may place the segment again. */
static void test_small_stack(void) {
  CHECK(in_child(place_on_small_stack));
}

static void replace_under_lowered_limit(void) {
  struct rlimit none = {0, 0};
  shm_options options = small_options("lowered");
  shm_publisher *p;
  CHECK(shm_publisher_open(&p, &options) == 0 && setrlimit(RLIMIT_FSIZE, &none) == 0);
  CHECK(shm_publisher_publish(p) == 0);
  shm_publisher_close(p);
}

/* A program that may not write any file can still replace a dead segment, and is not killed. */
static void test_lowered_file_limit(void) {
  publish_and_die("lowered", false);
  CHECK(in_child(replace_under_lowered_limit) && count_files(true) == 0);
}

/* After chroot(), in another mount namespace or, as here, after a rename, a publisher cannot see the name
 * that its file still has. It then neither copies nor supersedes the segment. */
static void test_name_out_of_sight(void) {
  char path[256], elsewhere[256];
  reader r;
  shm_object root;
  shm_publisher *p = start(small_options("sight"), &r, &root);
  path_of(path, sizeof path, "sight");
  path_of(elsewhere, sizeof elsewhere, "elsewhere");
  CHECK(rename(path, elsewhere) == 0);
  p->check_ns = 1; /* as if a second had passed */
  shm_publisher_heartbeat(p);
  CHECK(shm_publisher_publish(p) == 0 && access(path, F_OK) != 0 && word_at(&r, 1024) == 1);
  CHECK(rename(elsewhere, path) == 0);
  stop(p, &r);
}

/* After a program has closed all descriptors and opened other files, the publisher still works, and does not
 * write into those files. Without name and descriptor, it cannot place its segment again. */
static void test_closed_descriptors(void) {
  static uint8_t mine[8192], now[sizeof mine + 1];
  char name[64];
  reader r;
  shm_object root;
  shm_variable number;
  shm_publisher *p = start(options_of("closed"), &r, &root);
  int host = memfd_create("host", MFD_CLOEXEC), descriptor = p->fd;
  memset(mine, 7, sizeof mine);
  CHECK(write(host, mine, sizeof mine) == (ssize_t)sizeof mine);
  CHECK(dup2(host, descriptor) == descriptor);
  for (int i = 0; i < 2000; i++) {
    snprintf(name, sizeof name, "number%d", i);
    if (!CHECK(shm_add_variable(&root, &number, name, SHM_U64, NULL) == 0)) break;
  }
  CHECK(p->fd != descriptor && dup2(host, p->fd) == p->fd);
  remove_name("closed");
  CHECK(shm_publisher_publish(p) == -EBADF);
  CHECK(shm_u64_set(&number, 7) == 0);
  shm_publisher_close(p);
  CHECK(fcntl(descriptor, F_GETFD) >= 0);
  CHECK(pread(host, now, sizeof now, 0) == (ssize_t)sizeof mine && memcmp(now, mine, sizeof mine) == 0);
  close(descriptor);
  close(host);
  close_reader(&r);
}

/* place() restores a removed name at once, unless another publisher has taken it. */
static void test_place_again(void) {
  shm_options options = small_options("again");
  options.fail_if_busy = true;
  shm_publisher *p = publish(&options), *other;
  CHECK(shm_publisher_publish(p) == 0);
  remove_name("again");
  CHECK(shm_publisher_open(&other, &options) == 0 && shm_publisher_publish(other) == 0);
  CHECK(shm_publisher_publish(p) == -EBUSY && count_files(false) == 1);
  shm_publisher_close(other);
  CHECK(shm_publisher_publish(p) == 0 && count_files(false) == 1);
  remove_name("again");
  shm_publisher_close(p);
  CHECK(count_files(false) == 0);
}

/* ---------------------------------------------------------------- waiting for a server key */

typedef struct capture {
  int saved, from;
} capture;

/* Redirects stderr of this process into a pipe. */
static capture begin_capture(void) {
  int ends[2];
  capture c;
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) exit(1);
  c.saved = dup(STDERR_FILENO);
  c.from = ends[0];
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  return c;
}

/* Restores stderr, and returns the first 2047 bytes that were written. */
static const char *end_capture(capture c) {
  static char text[2048];
  dup2(c.saved, STDERR_FILENO);
  close(c.saved);
  ssize_t got = read(c.from, text, sizeof text - 1);
  text[got < 0 ? 0 : got] = '\0';
  close(c.from);
  return text;
}

/* Returns the expected line of a publisher that waits for `key`, which this process holds. */
static const char *waiting_line(const char *key) {
  static char line[512];
  char path[256];
  path_of(path, sizeof path, key);
  snprintf(line, sizeof line,
           "shm_publisher: another publisher holds %s (process %ld); this publisher takes the key once it is free "
           "(set fail_if_busy to get an error instead; give each worker process a key with {pid}, and all of "
           "them one target with format = \"workers\")\n",
           path, (long)getpid());
  return line;
}

/* Returns the expected line of a publisher that gets `key` after a wait. */
static const char *taken_line(const char *key) {
  static char line[512];
  char path[256];
  path_of(path, sizeof path, key);
  snprintf(line, sizeof line, "shm_publisher: this publisher now holds %s\n", path);
  return line;
}

/* A program that starts before its predecessor ends loses no value. It writes one line to stderr when it begins to
 * wait, and one when it gets the key. */
static void test_waits_for_predecessor(void) {
  shm_options options = small_options("wait");
  shm_publisher *old = publish(&options), *p;
  shm_object root;
  reader r;
  CHECK(shm_publisher_open(&p, &options) == 0 && shm_add_root(p, &root, "host.1.app", "C", NULL) == 0);
  shm_variable before = add(&root, "before", SHM_U64);
  CHECK(shm_u64_set(&before, 1) == 0);
  capture c = begin_capture();
  int code = shm_publisher_publish(p);
  shm_variable during = add(&root, "during", SHM_U64);
  beat_later(p);
  uint64_t due = p->check_ns;
  for (int i = 0; i < 100; i++) shm_publisher_notify(p);
  bool tries_once = p->check_ns == due;
  const char *said = end_capture(c);
  CHECK(code == 0 && tries_once && !shm_publisher_holds_key(p) && shm_publisher_holds_key(old));
  if (!CHECK(strcmp(said, waiting_line("wait")) == 0)) fprintf(stderr, "  said: %s", said);
  CHECK(shm_u64_set(&before, 2) == 0 && shm_u64_set(&during, 3) == 0 && count_files(false) == 1);
  shm_publisher_close(old);
  CHECK(count_files(false) == 0);
  c = begin_capture();
  for (int i = 0; i < 2; i++) beat_later(p);
  said = end_capture(c);
  if (!CHECK(strcmp(said, taken_line("wait")) == 0)) fprintf(stderr, "  said: %s", said);
  CHECK(shm_publisher_holds_key(p) && open_reader(&r, "wait") && read_directory(&r));
  CHECK(value(&r, "before") == 2 && value(&r, "during") == 3 && word_at(&r, 1024) == 1);
  stop(p, &r);
}

/* A killed predecessor is replaced. Closing a waiting publisher does not change the holder's segment. */
static void test_waits_for_killed_predecessor(void) {
  int ready[2];
  char byte = 0;
  reader old, r;
  CHECK(pipe(ready) == 0);
  pid_t pid = fork();
  shm_options options = small_options("wait");
  if (pid == 0) {
    publish(&options);
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    pause();
  }
  CHECK(read(ready[0], &byte, 1) == 1 && open_reader(&old, "wait"));
  capture c = begin_capture();
  shm_publisher *p, *given_up;
  CHECK(shm_publisher_open(&p, &options) == 0 && shm_publisher_publish(p) == 0);
  CHECK(shm_publisher_open(&given_up, &options) == 0 && shm_publisher_publish(given_up) == 0);
  shm_publisher_close(given_up);
  end_capture(c);
  CHECK(count_files(false) == 1 && word_at(&old, 1024) == 1 && !shm_publisher_holds_key(p));
  kill(pid, SIGKILL);
  CHECK(waitpid(pid, NULL, 0) == pid);
  c = begin_capture();
  beat_later(p);
  CHECK(strcmp(end_capture(c), taken_line("wait")) == 0);
  CHECK(shm_publisher_holds_key(p) && word_at(&old, 1024) == 3 && open_reader(&r, "wait"));
  close_reader(&old);
  stop(p, &r);
  close(ready[0]);
  close(ready[1]);
}

/* Opens a publisher in vain. Returns whether the error has the code, and its text. */
static bool fails_to_open(int code, const char *reason) {
  char text[128];
  shm_options options = small_options("none");
  shm_publisher *p;
  snprintf(text, sizeof text, "shm_publisher_open: cannot make a file in " SHM_FOLDER ": %s", reason);
  return shm_publisher_open(&p, &options) == code && strcmp(shm_last_error(), text) == 0;
}

/* The error for a file that cannot be made names the folder and the reason. Only root can hide the folder. */
static void test_no_file(void) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    struct rlimit before, none;
    bool is_right = getrlimit(RLIMIT_NOFILE, &before) == 0;
    none = before;
    none.rlim_cur = 0;
    is_right = is_right && setrlimit(RLIMIT_NOFILE, &none) == 0 && fails_to_open(-EMFILE, "Too many open files");
    is_right = is_right && setrlimit(RLIMIT_NOFILE, &before) == 0;
    if (geteuid() == 0) is_right = is_right && chroot("/proc") == 0 && fails_to_open(-ENOENT, "No such file or directory");
    _exit(is_right ? 0 : 1);
  }
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/* Returns the path of a segment whose server key is "dead-", a process id, and `rest`. */
static const char *dead_path(long pid, const char *rest) {
  static char path[256];
  char key[80];
  snprintf(key, sizeof key, "dead-%ld%s", pid, rest);
  path_of(path, sizeof path, key);
  return path;
}

static pid_t kill_publisher(pid_t pid) {
  CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
  return pid;
}

/* Makes a dead segment that of another process id. */
static void give_pid(long from, long to) {
  char path[256];
  uint64_t pid = (uint64_t)to;
  int fd = open(strcpy(path, dead_path(from, ".v1")), O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && pwrite(fd, &pid, sizeof pid, SHM_AT_PID) == (ssize_t)sizeof pid && close(fd) == 0);
  CHECK(rename(path, dead_path(to, ".v1")) == 0);
}

/* A publisher with its process id in the key removes what killed processes left under such keys, and nothing else. */
static void test_dead_segments(void) {
  pid_t gone = kill_publisher(publish_elsewhere("dead-{pid}.v1", false)), live = publish_elsewhere("dead-{pid}.v1", false);
  pid_t other = kill_publisher(publish_elsewhere("dead-{pid}.v2", false));
  char dead[256];
  kill_publisher(publish_elsewhere("dead-7.v1", false));
  CHECK(access(dead_path(gone, ".v1"), F_OK) != 0); /* the live one has removed it */
  gone = kill_publisher(publish_elsewhere("dead-{pid}.v1", false));
  CHECK(access(dead_path(gone, ".v1"), F_OK) == 0);
  shm_options options = small_options("dead-{pid}.v1");
  shm_publisher *p = publish(&options);
  CHECK(strcmp(p->path, dead_path(getpid(), ".v1")) == 0 && access(p->path, F_OK) == 0);
  CHECK(access(dead_path(gone, ".v1"), F_OK) != 0 && access(dead_path(live, ".v1"), F_OK) == 0);
  CHECK(access(dead_path(other, ".v2"), F_OK) == 0 && access(dead_path(7, ".v1"), F_OK) == 0);
  shm_publisher_close(p);
  kill_publisher(live);
  CHECK(unlink(dead_path(live, ".v1")) == 0 && unlink(dead_path(other, ".v2")) == 0 && unlink(dead_path(7, ".v1")) == 0);
  /* Segments of a process id that a process has again stay, and so do files that are no segments. */
  gone = kill_publisher(publish_elsewhere("dead-{pid}.v1", false));
  give_pid(gone, getppid());
  CHECK(close(open(strcpy(dead, dead_path(0, ".v1")), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) == 0);
  shm_publisher_close(publish(&options));
  CHECK(unlink(dead_path(getppid(), ".v1")) == 0 && unlink(dead) == 0);
  /* A process that is killed while it replaces a segment leaves a temporary file. */
  gone = kill_publisher(publish_elsewhere("dead-{pid}.v1", false));
  strcpy(dead, dead_path(gone, ".v1"));
  char draft[300];
  snprintf(draft, sizeof draft, SHM_FOLDER "/.%s.4711.0123abcd.tmp", dead + strlen(SHM_FOLDER "/"));
  CHECK(rename(dead, draft) == 0);
  shm_publisher_close(publish(&options));
  CHECK(access(draft, F_OK) != 0);
  options.server_key = "{pid}-{pid}";
  CHECK(shm_publisher_open(&p, &options) == -EINVAL && strstr(shm_last_error(), "-{pid}\", allowed: a string of 1 to 64") != NULL);
  options.server_key = "{pid}x2345678901234567890123456789012345678901234567890123456789012x";
  CHECK(shm_publisher_open(&p, &options) == -EINVAL && strstr(shm_last_error(), "server_key: found ") != NULL);
}

/* Two waiting publishers get the key one after the other. Each writes only one line while it waits, although the
 * holder changes. */
static void test_two_wait(void) {
  shm_options options = small_options("two");
  shm_publisher *all[3] = {publish(&options), NULL, NULL};
  capture c = begin_capture();
  for (int i = 1; i < 3; i++)
    CHECK(shm_publisher_open(&all[i], &options) == 0 && shm_publisher_publish(all[i]) == 0);
  shm_publisher_close(all[0]);
  for (int i = 2; i > 0; i--) beat_later(all[i]);
  bool second_waits = !shm_publisher_holds_key(all[1]) && shm_publisher_holds_key(all[2]);
  beat_later(all[1]);
  shm_publisher_close(all[2]);
  beat_later(all[1]);
  const char *said = end_capture(c);
  CHECK(second_waits && shm_publisher_holds_key(all[1]) && count_files(false) == 1);
  const char *waits = waiting_line("two"), *takes = taken_line("two");
  char expected[2048];
  snprintf(expected, sizeof expected, "%s%s%s%s", waits, waits, takes, takes);
  if (!CHECK(strcmp(said, expected) == 0)) fprintf(stderr, "  said: %s", said);
  shm_publisher_close(all[1]);
}

/* If a segment's name is removed and another publisher takes it, the first publisher waits, and keeps all
 * its values. */
static void test_waits_for_lost_name(void) {
  reader r;
  shm_object root;
  shm_options options = small_options("lost");
  shm_publisher *p = publish(&options);
  CHECK(shm_add_root(p, &root, "host.1.app", "C", NULL) == 0);
  shm_variable v = add(&root, "v", SHM_U64);
  remove_name("lost");
  shm_publisher *other = publish(&options);
  capture c = begin_capture();
  for (int i = 0; i < 3; i++) beat_later(p);
  const char *said = end_capture(c);
  CHECK(strcmp(said, waiting_line("lost")) == 0 && !shm_publisher_holds_key(p) && shm_publisher_holds_key(other));
  CHECK(shm_u64_set(&v, 9) == 0);
  shm_publisher_close(other);
  c = begin_capture();
  beat_later(p);
  CHECK(strcmp(end_capture(c), taken_line("lost")) == 0);
  CHECK(shm_publisher_holds_key(p) && open_reader(&r, "lost") && read_directory(&r) && value(&r, "v") == 9);
  stop(p, &r);
}

/* With `fail_if_busy`, the error names file and process. A child does not take the key for its parent. */
static void test_fails_if_busy(void) {
  shm_options options = small_options("busy");
  shm_publisher *first = publish(&options), *second, *waiting;
  char path[256], expected[512];
  capture c = begin_capture();
  CHECK(shm_publisher_open(&waiting, &options) == 0 && shm_publisher_publish(waiting) == 0);
  end_capture(c);
  options.fail_if_busy = true;
  path_of(path, sizeof path, "busy");
  snprintf(expected, sizeof expected, "shm_publisher_publish: another publisher holds %s (process %ld)", path,
           (long)getpid());
  CHECK(shm_publisher_open(&second, &options) == 0);
  c = begin_capture();
  int code = shm_publisher_publish(second);
  const char *said = end_capture(c);
  CHECK(code == -EBUSY && said[0] == '\0' && strcmp(shm_error_text(code), expected) == 0);
  shm_publisher_close(second);
  shm_publisher_close(first);
  pid_t pid = fork();
  if (pid == 0) {
    beat_later(waiting);
    _exit(shm_publisher_holds_key(waiting) || access(path, F_OK) == 0 ? 1 : 0);
  }
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  c = begin_capture();
  beat_later(waiting);
  CHECK(strcmp(end_capture(c), taken_line("busy")) == 0 && shm_publisher_holds_key(waiting));
  shm_publisher_close(waiting);
}

/* Waits for a key that the parent process holds, and uses the given descriptor as stderr. */
static void wait_beside(int stderr_of_program) {
  shm_options options = small_options("mute");
  shm_publisher *p;
  dup2(stderr_of_program, STDERR_FILENO);
  if (shm_publisher_open(&p, &options) != 0 || shm_publisher_publish(p) != 0) failures++;
  shm_publisher_close(p);
}

static void wait_beside_full_pipe(void) {
  int ends[2];
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) _exit(1);
  while (write(ends[1], context, sizeof context) > 0)
    ;
  fcntl(ends[1], F_SETFL, 0);
  wait_beside(ends[1]);
}

static void wait_beside_broken_pipe(void) {
  int ends[2];
  if (pipe(ends) != 0) _exit(1);
  close(ends[0]);
  wait_beside(ends[1]);
}

static void wait_beside_own_file(void) {
  struct stat facts;
  int own = memfd_create("own", 0);
  wait_beside(own);
  if (fstat(own, &facts) != 0 || facts.st_size != 0) _exit(1);
}

static void test_waits_with_any_stderr(void) {
  shm_options options = small_options("mute");
  shm_publisher *p = publish(&options);
  CHECK(in_child(wait_beside_full_pipe) && in_child(wait_beside_broken_pipe) && in_child(wait_beside_own_file));
  shm_publisher_close(p);
}

static mode_t foreign_mode;

/* If a dead publisher of another user holds the key, the error names that user and the remedy. */
static void take_foreign_key(void) {
  char path[256], expected[512];
  shm_options options = small_options("foreign");
  shm_publisher *p;
  path_of(path, sizeof path, "foreign");
  bool is_readable = (foreign_mode & 4) != 0;
  snprintf(expected, sizeof expected, "shm_publisher_publish: %s belongs to root, %s: remove it as that user", path,
           is_readable ? "and its publisher has ended" : "and this program may not read it");
  options.fail_if_busy = true;
  if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
  CHECK(shm_publisher_open(&p, &options) == 0);
  int code = shm_publisher_publish(p);
  CHECK(code == (foreign_mode == 0666 ? -EPERM : -EACCES) && strcmp(shm_error_text(code), expected) == 0);
  shm_publisher_close(p);
}

static void find_live_foreign_key(void) {
  shm_options options = small_options("foreign");
  shm_publisher *p;
  if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
  capture c = begin_capture();
  int code = shm_publisher_open(&p, &options) == 0 ? shm_publisher_publish(p) : -1;
  const char *said = end_capture(c);
  CHECK(code == 0 && strstr(said, "another publisher holds") != NULL);
  shm_publisher_close(p);
}

static void test_foreign_key(void) {
  static const mode_t modes[] = {0644, 0600, 0666};
  if (getuid() != 0) return;
  for (size_t i = 0; i < 3; i++) {
    shm_options options = small_options("foreign");
    options.mode = foreign_mode = modes[i];
    if (!CHECK(shm_publisher_open(&beaten, &options) == 0 && shm_publisher_publish(beaten) == 0)) return;
    if (foreign_mode != 0600) CHECK(in_child(find_live_foreign_key));
    munmap(beaten->map, beaten->file_size); /* as if it had been killed */
    close(beaten->fd);
    shm_free_publisher(beaten);
    CHECK(in_child(take_foreign_key));
    remove_name("foreign");
  }
}

/* If a link or folder has the segment's name, the error says so. */
static void test_key_without_file(void) {
  char path[256], expected[512];
  shm_options options = small_options("odd");
  shm_publisher *p;
  path_of(path, sizeof path, "odd");
  CHECK(shm_publisher_open(&p, &options) == 0 && mkdir(path, 0755) == 0);
  snprintf(expected, sizeof expected, "shm_publisher_publish: %s cannot be taken: the name is a directory", path);
  CHECK(shm_publisher_publish(p) == -EISDIR && strcmp(shm_error_text(-EISDIR), expected) == 0);
  CHECK(rmdir(path) == 0 && symlink("/nowhere", path) == 0);
  snprintf(expected, sizeof expected, "shm_publisher_publish: %s cannot be taken: the name is a symbolic link", path);
  CHECK(shm_publisher_publish(p) == -ELOOP && strcmp(shm_error_text(-ELOOP), expected) == 0);
  remove_name("odd");
  CHECK(shm_publisher_publish(p) == 0);
  shm_publisher_close(p);
}

/* ---------------------------------------------------------------- threads */

enum { THREADS = 4, ADDS = 100000, OBSERVATIONS = 20000 };

typedef struct shared_values {
  shm_object root;
  shm_variable u, i, f, h;
} shared_values;

static void *add_shared(void *argument) {
  const shared_values *s = (const shared_values *)argument;
  for (int i = 0; i < ADDS; i++) {
    shm_u64_add_shared(&s->u, 3);
    shm_i64_add_shared(&s->i, -2);
    shm_f64_add_shared(&s->f, 0.5);
    if (i < OBSERVATIONS) shm_histogram_observe_shared(&s->h, i % 4);
  }
  return NULL;
}

/* Adds and removes objects while the other threads update values. */
static void *change_structure(void *argument) {
  const shared_values *s = (const shared_values *)argument;
  for (int i = 0; i < 5000; i++) {
    shm_object object;
    CHECK(shm_add_object(&s->root, &object, "host.1.app.passing", "C", NULL) == 0);
    shm_variable v = add(&object, "passing", SHM_STRING);
    CHECK(shm_text_set_shared(&v, "text") == 0 && shm_remove_object(&object) == 0);
  }
  return NULL;
}

static void test_threads(void) {
  static const double bounds[] = {0, 1, 2};
  reader r;
  shared_values s;
  shm_publisher *p = start(small_options("threads"), &r, &s.root);
  s.u = add(&s.root, "u", SHM_U64);
  s.i = add(&s.root, "i", SHM_I64);
  s.f = add(&s.root, "f", SHM_F64);
  s.h = add_schema(&s.root, "h", SHM_HISTOGRAM, bounds, 3);
  pthread_t threads[THREADS + 1];
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&threads[i], NULL, add_shared, &s) == 0);
  CHECK(pthread_create(&threads[THREADS], NULL, change_structure, &s) == 0);
  for (int i = 0; i <= THREADS; i++) pthread_join(threads[i], NULL);
  uint64_t f[128];
  CHECK(read_directory(&r) && count_live(&r) == 5);
  CHECK(value(&r, "u") == 3ull * THREADS * ADDS);
  CHECK((int64_t)value(&r, "i") == -2ll * THREADS * ADDS);
  CHECK(double_of(value(&r, "f")) == 0.5 * THREADS * ADDS);
  CHECK(frame_of(&r, find(&r, "h"), f) && f[0] == 1ull * THREADS * OBSERVATIONS + 1);
  for (int i = 2; i < 6; i++) CHECK(f[i] == THREADS * OBSERVATIONS / 4);
  CHECK(double_of(f[1]) == 1.5 * THREADS * OBSERVATIONS);
  stop(p, &r);
}

typedef struct frame_writer {
  shm_variable text, histogram, summary;
  int is_ending;
} frame_writer;

/* Adds the variables that `write_frames` updates. */
static void add_frames(frame_writer *w, shm_object *root) {
  static const double bounds[] = {0, 1, 2}, quantiles[] = {0.5, 0.9};
  shm_variable_options options = shm_variable_options_default();
  options.text_bytes = 200;
  memset(w, 0, sizeof *w);
  CHECK(shm_add_variable(root, &w->text, "text", SHM_STRING, &options) == 0);
  w->histogram = add_schema(root, "histogram", SHM_HISTOGRAM, bounds, 3);
  w->summary = add_schema(root, "summary", SHM_SUMMARY, quantiles, 2);
}

/* All parts of an update are computed from one number, so a mixture of two updates is recognized. A
 * histogram and a summary begin with an empty update, number 1. */
static void *write_frames(void *argument) {
  frame_writer *w = (frame_writer *)argument;
  char text[201];
  for (uint64_t n = 1; !__atomic_load_n(&w->is_ending, __ATOMIC_ACQUIRE); n++) {
    size_t length = n % 200 + 1;
    memset(text, 'a' + (int)(n % 26), length);
    shm_text_set_bytes(&w->text, text, length);
    shm_histogram_observe(&w->histogram, (double)(n % 4));
    double values[2] = {(double)n, (double)n};
    shm_summary_set_shared(&w->summary, n, (double)n, values, 2);
    struct timespec pause = {0, 50000};
    if (n % 64 == 0) nanosleep(&pause, NULL); /* lets readers run on machines with few processors */
  }
  return NULL;
}

static bool is_whole_text(const uint64_t *f) {
  const char *text = (const char *)(f + 2);
  if (f[1] != f[0] % 200 + 1) return false;
  for (uint64_t i = 0; i < 200; i++)
    if (text[i] != (i < f[1] ? 'a' + (char)(f[0] % 26) : '\0')) return false;
  return true;
}

static bool is_whole_histogram(const uint64_t *f) {
  double sum = (double)f[3] + 2.0 * (double)f[4] + 3.0 * (double)f[5];
  return f[2] + f[3] + f[4] + f[5] == f[0] - 1 && double_of(f[1]) == sum;
}

static bool is_whole_summary(const uint64_t *f) {
  double n = (double)f[0] - 1;
  if (f[0] == 1) return f[1] == 0 && is_nan(f[3]);
  return f[1] == f[0] - 1 && double_of(f[2]) == n && double_of(f[3]) == n && double_of(f[4]) == n;
}

static uint32_t check_frame(const reader *r, const char *name, bool (*is_whole)(const uint64_t *)) {
  uint64_t f[128];
  if (!frame_of(r, find(r, name), f) || f[0] == 0) return 0;
  CHECK(is_whole(f));
  return 1;
}

static void test_frames_are_consistent(void) {
  reader r;
  shm_object root;
  frame_writer w;
  pthread_t thread;
  shm_publisher *p = start(options_of("frames"), &r, &root);
  add_frames(&w, &root);
  CHECK(read_directory(&r) && pthread_create(&thread, NULL, write_frames, &w) == 0);
  uint32_t texts = 0, histograms = 0, summaries = 0;
  uint64_t end = shm_clock_ns(CLOCK_MONOTONIC) + 1500000000u;
  while (shm_clock_ns(CLOCK_MONOTONIC) < end) {
    texts += check_frame(&r, "text", is_whole_text);
    histograms += check_frame(&r, "histogram", is_whole_histogram);
    summaries += check_frame(&r, "summary", is_whole_summary);
  }
  __atomic_store_n(&w.is_ending, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  CHECK(texts > 100 && histograms > 100 && summaries > 100);
  stop(p, &r);
}

/* While a removed name is restored, readers see no torn text or summary that another thread writes. */
static void test_name_comes_back_beside_threads(void) {
  reader r, again;
  shm_object root;
  frame_writer w;
  pthread_t thread;
  shm_publisher *p = start(options_of("frames"), &r, &root);
  add_frames(&w, &root);
  CHECK(pthread_create(&thread, NULL, write_frames, &w) == 0);
  uint32_t texts = 0, summaries = 0;
  for (int i = 0; i < 50; i++) {
    remove_name("frames");
    CHECK(shm_publisher_publish(p) == 0);
    if (!CHECK(open_reader(&again, "frames") && read_directory(&again))) break;
    for (int tries = 0; tries < 100; tries++) {
      texts += check_frame(&again, "text", is_whole_text);
      summaries += check_frame(&again, "summary", is_whole_summary);
    }
    close_reader(&again);
  }
  __atomic_store_n(&w.is_ending, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  CHECK(texts > 100 && summaries > 100);
  close_reader(&r);
  shm_publisher_close(p);
}

/* ---------------------------------------------------------------- signal handlers */

/* The variables that a handler and the interrupted code both use. */
static struct handler_use {
  shm_publisher *publisher;
  shm_object root;
  shm_variable text, observed, count;
  uint32_t handled, stored, observations, refused;
} handler_use;

static bool is_stored_or_refused(int code) {
  return CHECK(code == 0 || code == -EDEADLK) && code == 0;
}

/* Makes the same calls as the interrupted code, with other values. */
static void handle(int number) {
  struct handler_use *u = &handler_use;
  char bytes[201] = {0};
  (void)number;
  memset(bytes, 'B', 200);
  u->handled++;
  u->stored += is_stored_or_refused(shm_text_set(&u->text, bytes)) ? 1 : 0;
  u->observations += is_stored_or_refused(shm_histogram_observe(&u->observed, 1)) ? 1 : 0;
  shm_u64_add_shared(&u->count, 1);
  shm_publisher_notify(u->publisher);
  if (shm_text_set_shared(&u->text, bytes) == -EDEADLK) u->refused++;
}

/* Starts a timer that interrupts this thread every 100 microseconds. */
static timer_t begin_signals(void) {
  timer_t timer;
  struct sigaction action;
  struct sigevent event;
  struct itimerspec every = {{0, 100000}, {0, 100000}};
  memset(&action, 0, sizeof action);
  memset(&event, 0, sizeof event);
  action.sa_handler = handle;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  CHECK(timer_settime(timer, 0, &every, NULL) == 0);
  return timer;
}

/* Sets the text many times. After each set, characters 1 and 200 must be equal. Compares them twice: a
 * handler may run in the middle of one comparison, but not in the middle of both. */
static void set_text_often(const shm_variable *text) {
  const volatile char *bytes = (const volatile char *)(text->frame + 2);
  char letters[241] = {0};
  memset(letters, 'A', 240);
  for (int i = 0; i < 200; i++) {
    int code = shm_text_set(text, letters);
    bool is_mixed = bytes[0] != bytes[199] && bytes[0] != bytes[199];
    if (is_mixed || code != 0) CHECK(false);
  }
}

/* A handler in the middle of any call corrupts nothing, mixes no texts, loses no stored observation and
 * does not hang. */
static void test_signal_handlers(void) {
  static const double bounds[] = {1, 2};
  struct handler_use *u = &handler_use;
  reader r;
  uint64_t f[128], observed = 0;
  memset(u, 0, sizeof *u);
  u->publisher = start(small_options("handler"), &r, &u->root);
  shm_variable_options options = shm_variable_options_default();
  options.text_bytes = 240;
  CHECK(shm_add_variable(&u->root, &u->text, "text", SHM_STRING, &options) == 0);
  u->observed = add_schema(&u->root, "observed", SHM_HISTOGRAM, bounds, 2);
  u->count = add(&u->root, "count", SHM_U64);
  timer_t timer = begin_signals();
  while (u->handled < 5000 || (u->refused < 20 && u->handled < 100000)) {
    shm_object passing;
    set_text_often(&u->text);
    CHECK(shm_histogram_observe(&u->observed, 2) == 0);
    observed++;
    CHECK(shm_add_object(&u->root, &passing, "host.1.app.passing", "C", NULL) == 0);
    CHECK(shm_remove_object(&passing) == 0);
  }
  timer_delete(timer);
  signal(SIGUSR1, SIG_DFL);
  CHECK(u->refused > 0 && u->stored > 0);
  CHECK(read_directory(&r) && value(&r, "count") == u->handled);
  CHECK(frame_of(&r, find(&r, "observed"), f) && f[2] == u->observations && f[3] == observed);
  stop(u->publisher, &r);
}

/* After a handler has jumped out of the update of a text, only that variable is unusable. */
static void test_jump_out_of_update(void) {
  static sigjmp_buf before;
  reader r;
  shm_object root;
  shm_publisher *p = start(small_options("jump"), &r, &root);
  shm_variable text = add(&root, "text", SHM_STRING), other = add(&root, "other", SHM_STRING);
  CHECK(shm_text_set(&text, "old") == 0);
  if (sigsetjmp(before, 1) == 0) {
    CHECK(shm_begin_update(&text) != 0);
    siglongjmp(before, 1);
  }
  CHECK(shm_text_set(&text, "new") == -EDEADLK && shm_text_set(&other, "other") == 0);
  CHECK(shm_remove_variable(&text) == 0);
  text = add(&root, "text", SHM_STRING);
  CHECK(shm_text_set(&text, "new") == 0);
  CHECK(read_directory(&r) && text_is(&r, "text", "new") && text_is(&r, "other", "other"));
  stop(p, &r);
}

/* No file of this run is left, neither under its own name nor under a temporary name. */
static void test_nothing_is_left(void) {
  CHECK(count_files(true) == 0);
}

int main(void) {
  uint64_t start_ns = shm_clock_ns(CLOCK_MONOTONIC);
  snprintf(context, sizeof context, "ctest-%ld-%llx", (long)getpid(),
           (unsigned long long)shm_clock_ns(CLOCK_REALTIME));
  static void (*const tests[])(void) = {
      test_header,          test_scalars,
      test_refused_options, test_refused_objects, test_refused_depth, test_refused_variables,
      test_series, test_refused_values, test_every_error_has_a_text, test_counters_do_not_fall, test_texts_of_threads,
      test_objects,         test_record_bytes,      test_texts,
      test_histogram,       test_summary,           test_limits,
      test_begin_empty,     test_ids,
      test_stale_handles,   test_incarnations_wrap, test_capacity, test_string_capacity,
      test_churn,           test_churn_with_reader, test_no_memory,
      test_memory_again,
      test_second_is_refused, test_refused_leaves_nothing, test_file_limit, test_locked_memory,
      test_child_leaves_segment_alone, test_closed_child_frees_key, test_dead_is_replaced, test_close_leaves_others_alone,
      test_name_comes_back, test_closed_descriptors, test_name_out_of_sight, test_small_stack, test_lowered_file_limit,
      test_place_again, test_name_comes_back_beside_threads,
      test_waits_for_predecessor, test_waits_for_killed_predecessor, test_no_file, test_dead_segments, test_two_wait,
      test_waits_for_lost_name, test_fails_if_busy, test_waits_with_any_stderr, test_foreign_key, test_key_without_file,
      test_signal_handlers, test_jump_out_of_update, test_threads,         test_frames_are_consistent, test_nothing_is_left};
  size_t count = sizeof tests / sizeof tests[0];
  for (size_t i = 0; i < count; i++) tests[i]();
  double seconds = (double)(shm_clock_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
  printf("%zu tests, %d failures, %.1f s\n", count, failures, seconds);
  return failures == 0 ? 0 : 1;
}
