// Tests shm_publisher.hpp with the reader of test_reader.h.
#include "shm_publisher.hpp"
#include "test_reader.h"

#include <sys/wait.h>

#include <functional>
#include <limits>
#include <thread>

namespace {

shm_options options_of(const char *key) {
  shm_options options = shm_options_default();
  options.context_id = context;
  options.server_key = key;
  return options;
}

// Checks that a call throws an error with this code, and that its text begins with this one.
void throws(int code, const std::string &text, const std::function<void()> &call) {
  try {
    call();
  } catch (const shm::error &error) {
    if (error.code() == code && std::string(error.what()).compare(0, text.size(), text) == 0) return;
    std::fprintf(stderr, "found %d %s\n", error.code(), error.what());
  }
  check(false, text.c_str(), "throws", 0);
}

// Whether add() of a counter takes an argument of a type.
template <typename Counter, typename Number, typename = void>
struct takes : std::false_type {};
template <typename Counter, typename Number>
struct takes<Counter, Number, std::void_t<decltype(std::declval<Counter>().add(std::declval<Number>()))>> : std::true_type {};

void test_kinds() {
  std::uint64_t f[128];
  reader r;
  const shm::metrics metrics(options_of("kinds"), "shop");
  CHECK(open_reader(&r, "kinds"));
  const shm::counter counter = metrics.counter("c_total", "C.", {}, {"bytes", 0});
  const shm::gauge gauge = metrics.gauge("g", "G.");
  const shm::histogram histogram = metrics.histogram("h", "H.", {}, {1, 2});
  const shm::summary summary = metrics.summary("s", "S.");
  const shm::info info = metrics.info("i", "I.", {"version"});
  CHECK(counter.inc() && counter.add(2) && gauge.set(5) && gauge.inc() && gauge.dec() && gauge.add(0.5));
  CHECK(histogram.observe(1.5) && summary.observe(2) && info.set("1") && info.set(std::string("2")));
  CHECK(read_directory(&r) && value(&r, "c_total") == 3 && double_of(value(&r, "g")) == 5.5);
  static_assert(!takes<shm::counter, double>::value && !takes<shm::counter, float>::value, "a counter takes no fractions");
  static_assert(takes<shm::counter, int>::value && takes<shm::float_counter, double>::value, "and whole numbers");
  CHECK(std::string(find(&r, "c_total")->text1) == "bytes" && find(&r, "h")->schema_entries == 2);
  CHECK(frame_of(&r, find(&r, "h"), f) && f[2] == 0 && f[3] == 1 && double_of(f[1]) == 1.5);
  CHECK(frame_of(&r, find(&r, "s"), f) && f[1] == 1 && double_of(f[2]) == 2);
  const shm::float_counter seconds = metrics.float_counter("seconds_total", "S.", {"mode"});
  const shm::float_counter user = seconds.labels("user");
  CHECK(user.add(0.25) && user.inc(0.5) && user.inc() && user.value() == 1.75 && counter.inc(4) && counter.value() == 7);
  CHECK(gauge.inc(2) && gauge.dec(0.5) && gauge.value() == 7 && gauge.set_to_current_time() && gauge.value() > 1.7e9);
  CHECK(read_directory(&r) && double_of(value(&r, "seconds_total{mode=\"user\"}")) == 1.75);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(!user.add(nan) && user.value() == 1.75);
  CHECK(!histogram.observe(nan) && !summary.observe(nan) && value(&r, "h") == 2 && value(&r, "s") == 2);
  CHECK(shm::linear_buckets(1, 2, 3) == std::vector<double>({1, 3, 5}));
  CHECK(shm::exponential_buckets(1, 10, 3) == std::vector<double>({1, 10, 100}));
  CHECK(find(&r, "i_info{version=\"1\"}") == nullptr && has_value(&r, "i_info{version=\"2\"}"));
  {
    const auto of_histogram = histogram.time();
    const auto of_summary = summary.time();
  }
  CHECK(value(&r, "h") == 3 && value(&r, "s") == 3);
  close_reader(&r);
}

void test_labels() {
  reader r;
  const shm::metrics metrics(options_of("labels"), "shop");
  CHECK(open_reader(&r, "labels"));
  const shm::counter counter = metrics.counter("c", "C.", {"a", "b"});
  const std::string_view text("two, of which one counts");
  const shm::counter child = counter.labels(text.substr(0, 3), std::string("x")), same = counter.labels("two", "x");
  const shm::counter empty = counter.labels(std::string_view(), "");
  CHECK(child.inc() && same.inc() && empty.inc());
  CHECK(read_directory(&r) && value(&r, "c{a=\"two\",b=\"x\"}") == 2 && value(&r, "c{a=\"\",b=\"\"}") == 1);
  CHECK(counter.remove("two", "x") && !counter.remove("two", "x") && !child.inc() && !same.add(1));
  CHECK(counter.clear() && !empty.inc() && read_directory(&r) && count_live(&r) == 1);
  CHECK(counter.labels(std::vector<std::string>{"1", "2"}).add(3) && counter.labels("1", "2").inc());
  CHECK(read_directory(&r) && value(&r, "c{a=\"1\",b=\"2\"}") == 4 && counter.remove(std::vector<std::string>{"1", "2"}));
  shm::counter later;
  later = metrics.counter("plain", "P.").labels();
  CHECK(later.inc() && read_directory(&r) && value(&r, "plain") == 1 && count_live(&r) == 2);
  const shm::gauge few = metrics.gauge("g", "G.", {"a"}, {"", 1});
  CHECK(few.labels("1").set(1) && !few.labels("2").set(1) && few.labels("1").inc());
  close_reader(&r);
}

void test_errors() {
  throws(-EINVAL, "shm_metrics_open: server_key: found \"a/b\"", [] { shm::metrics("a/b", "shop"); });
  throws(-EINVAL, "shm_metrics_open: app: found \"1\"", [] { shm::metrics(options_of("errors"), "1"); });
  const shm::metrics metrics(options_of("errors"), "shop");
  const shm::counter counter = metrics.counter("c", "C.", {"a"});
  throws(-EINVAL, "shm_counter_new: name of metric: found \"a-b\"", [&] { metrics.counter("a-b", ""); });
  throws(-EINVAL, "shm_gauge_new: name: found \"c\", which the counter \"c\" has, allowed: a name of its own; declare", [&] { metrics.gauge("c", ""); });
  throws(-EINVAL, "shm_histogram_new: buckets of metric \"h\": found a number that does not ascend at index 1",
         [&] { metrics.histogram("h", "", {}, {2, 1}); });
  throws(-EINVAL, "shm_info_new: label_names of metric \"i\": found none", [&] { metrics.info("i", "", {}); });
  throws(-EINVAL, "shm_counter_labels: label values of metric \"c\": found 2, allowed: 1", [&] { counter.labels("1", "2"); });
  throws(-EINVAL, "shm_counter_labels: label \"a\" of metric \"c\": found a zero byte", [&] { counter.labels(std::string("a\0b", 3)); });
  throws(-EINVAL, "shm_counter_labels: label \"a\" of metric \"c\": found 5000 bytes, allowed: at most 4096",
         [&] { counter.labels(std::string(5000, 'x')); });
  throws(-EINVAL, "shm_counter_labels: label \"a\" of metric \"c\": found invalid UTF-8 at byte 1", [&] { counter.labels("a\xff"); });
  const char *const unset = nullptr;
  throws(-EINVAL, "shm_counter_labels: label \"a\" of metric \"c\": found NULL, allowed: a text", [&] { counter.labels(unset); });
  throws(-EINVAL, "shm_metric_remove: label \"a\" of metric \"c\": found NULL", [&] { counter.remove(unset); });
  throws(-EINVAL, "shm_info_set: label \"b\" of metric \"i_info\": found NULL",
         [&] { metrics.info("i", "", {"a", "b"}).set("1", unset); });
  throws(-EINVAL, "shm_metrics_open: server_key: found NULL", [&] { shm::metrics(unset, "shop"); });
  throws(-EINVAL, "shm_metrics_open: app: found NULL", [&] { shm::metrics("errors", unset); });
  throws(-EINVAL, "shm_gauge_new: name: found NULL", [&] { metrics.gauge(unset, ""); });
  throws(-EINVAL, "shm_gauge_new: help of metric \"g\": found NULL", [&] { metrics.gauge("g", unset); });
  throws(-EINVAL, "shm_gauge_new: help of metric \"g\": found invalid UTF-8", [&] { metrics.gauge("g", "caf\xe9"); });
  throws(-EINVAL, "shm::metrics: label_names of metric \"g\": found NULL", [&] { metrics.gauge("g", "", {unset}); });
  throws(-EINVAL, "shm_counter_labels: label values of metric \"c\": found 2, allowed: 1",
         [&] { counter.labels(std::vector<std::string>{"1", "2"}); });
  throws(-EINVAL, "shm_metric_remove: metric \"plain\": found no label names", [&] { metrics.counter("plain", "").remove(); });
  throws(-EINVAL, "shm_counter_inc: handle: found one of zeros", [] { shm::counter().inc(); });
  throws(-EINVAL, "shm_metric_remove: label values of metric \"c\": found 2", [&] { counter.remove("1", "2"); });
  throws(-EINVAL, "shm_counter_inc: metric \"c\": found no label values", [&] { counter.inc(); });
  throws(-EINVAL, "shm_float_counter_add: amount for metric \"f\": found a negative amount",
         [&] { metrics.float_counter("f", "").add(-1); });
  throws(-EINVAL, "shm_counter_add: amount for metric \"c\": found 18446744073709551615, which is -1 as a signed number", [&] { counter.add(static_cast<std::uint64_t>(-1)); });
  throws(-EINVAL, "shm_gauge_labels: handle: found one of zeros", [] { shm::gauge(shm_gauge{}).labels("a"); });
}

void test_ownership() {
  shm::metrics first(options_of("owner"), "shop");
  const shm::counter counter = first.counter("c", "C.");
  shm::metrics second(std::move(first));
  first.close();
  CHECK(counter.inc() && first.handle() == nullptr);
  throws(-EINVAL, "shm::metrics: metric \"a\": found closed or moved metrics, allowed: open ones", [&] { first.gauge("a", ""); });
  second.heartbeat();
  second = shm::metrics(options_of("other"), "shop");
  char path[256];
  path_of(path, sizeof path, "owner");
  CHECK(access(path, F_OK) != 0);
  path_of(path, sizeof path, "other");
  CHECK(access(path, F_OK) == 0);
  const shm::counter late = second.counter("c", "C.", {"a"}), child = late.labels("1");
  second.close();
  second.close();
  second.heartbeat();
  CHECK(!child.inc() && !counter.inc() && child.value() == 0);
  throws(-EINVAL, "shm_counter_labels: metric \"c\": found closed metrics", [&] { late.labels("1"); });
  CHECK(access(path, F_OK) != 0);
  throws(-EINVAL, "shm::metrics: metric \"i\": found closed or moved metrics", [&] { second.info("i", "", {"a"}); });
}

void test_threads() {
  reader r;
  const shm::metrics metrics(options_of("threads"), "shop");
  CHECK(open_reader(&r, "threads"));
  const shm::counter counter = metrics.counter("c", "C.", {"a"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&counter] {
      for (int round = 0; round < 20000; round++) counter.labels(round % 2 == 0 ? "even" : "odd").inc();
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(read_directory(&r) && value(&r, "c{a=\"even\"}") == 40000 && value(&r, "c{a=\"odd\"}") == 40000);
  close_reader(&r);
}

// In a process that was forked after the opening, labels() returns a child that stores nothing.
void test_fork() {
  const shm::metrics metrics(options_of("fork"), "shop");
  const shm::counter counter = metrics.counter("c", "C.", {"a"});
  const pid_t pid = fork();
  if (pid == 0) {
    bool stored = true;
    try {
      stored = counter.labels("new").inc();
    } catch (const shm::error &) {
    }
    _exit(stored ? 1 : 0);
  }
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0 && counter.labels("new").inc());
}

}  // namespace

int main() {
  std::snprintf(context, sizeof context, "cpptest-%ld-%llx", static_cast<long>(getpid()),
                static_cast<unsigned long long>(shm_clock_ns(CLOCK_REALTIME)));
  void (*const tests[])() = {test_kinds, test_labels, test_errors, test_ownership, test_threads, test_fork};
  for (void (*test)() : tests) test();
  std::printf("%zu tests, %d failures\n", sizeof tests / sizeof tests[0], failures);
  return failures == 0 ? 0 : 1;
}
