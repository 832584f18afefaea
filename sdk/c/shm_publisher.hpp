// Metrics with labels for C++17: shm_metrics.h with RAII, std::string_view and exceptions.
//
//   shm::metrics metrics{"shop-1", "shop"}; // server key and application; visible now, with a heartbeat of its own
//   shm::counter requests = metrics.counter("shop_requests_total", "Requests.", {"code", "method"});
//   shm::counter ok = requests.labels("200", "get"); // look it up once, and keep it
//   ok.inc();
//
// INCLUDE THIS HEADER FIRST, as shm_publisher.h says. Metrics and children are small values that may be copied, and be
// used by all threads, until the `shm::metrics` object ends.
//
// Mistakes of the program throw shm::error, whose text is that of shm_last_error(): a wrong argument, and a metric with
// label names that is updated without labels(). So does lack of memory. Conditions at run time return false: NaN, a
// label set that remove() does not find, and updates of a child that was removed or not published, after the end of the
// `shm::metrics` object, in a forked child, and in a signal handler that interrupted an update of the same histogram or
// summary.
#ifndef SHM_PUBLISHER_HPP
#define SHM_PUBLISHER_HPP

#if __cplusplus < 201703L
#error "shm_publisher.hpp needs C++17 or later"
#endif

#include "shm_metrics.h"

#if defined(__GNUC__) && !defined(SHM_PUBLISHER_WARNINGS)
#pragma GCC system_header
#endif

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace shm {

// A failed call. code() is a negative errno value.
class error : public std::runtime_error {
 public:
  explicit error(int code) : std::runtime_error(shm_last_error()), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

// A text argument: a std::string_view, whose data() is nullptr for a null pointer only. Calls refuse a null pointer.
class text : public std::string_view {
 public:
  text(const char *from) : std::string_view(from == nullptr ? std::string_view() : from) {}
  text(std::string_view from) : std::string_view(from.data() == nullptr ? "" : from) {}
  text(const std::string &from) : std::string_view(from) {}
};

namespace detail {

// A text for C: a copy with a zero byte at its end, or a null pointer.
class c_text {
 public:
  explicit c_text(text from) : is_null_(from.data() == nullptr), copy_(from) {}
  const char *get() const noexcept { return is_null_ ? nullptr : copy_.c_str(); }

 private:
  bool is_null_;
  std::string copy_;
};

// Throws for wrong arguments and lack of memory. Returns whether the call had its effect.
inline bool stored(int code) {
  if (code == -EINVAL || code == -ENOMEM) throw error(code);
  return code == 0;
}

// The same for an observation or an amount. NaN is not stored, and throws nothing: data must not end the program.
inline bool stored(int code, double value) { return !shm_is_nan(value) && stored(code); }

// The label values of a call.
struct label_texts {
  shm_text texts[SHM_LABELS];

  label_texts(const shm_metric *metric, const char *function, const text *values, std::size_t count) {
    texts[0] = {"", 0};
    stored(shm_check_values(metric, 0, function, static_cast<std::uint32_t>(count < UINT32_MAX ? count : UINT32_MAX)));
    for (std::size_t i = 0; i < count; i++) {
      if (values[i].data() == nullptr)
        throw error(shm_fail(-EINVAL, "%s: label %q of metric %q: found NULL, allowed: a text", function,
                             metric->options.labels[2 * i], metric->name));
      if (values[i].size() > SHM_SERIES_BYTES)
        throw error(shm_fail(-EINVAL, "%s: label %q of metric %q: found %u bytes, allowed: at most %u", function,
                             metric->options.labels[2 * i], metric->name, static_cast<std::uint64_t>(values[i].size()),
                             static_cast<std::uint64_t>(SHM_SERIES_BYTES)));
      texts[i].bytes = values[i].data();
      texts[i].length = static_cast<std::uint32_t>(values[i].size());
    }
  }
};

// The label values of a call as an array, which may be empty.
template <typename... Values>
struct label_values {
  text values[sizeof...(Values) + 1];

  explicit label_values(const Values &...from) : values{text(from)..., text("")} {}
};

// The names of the functions that look up a child, for errors.
inline const char *labels_function(const shm_counter &) { return "shm_counter_labels"; }
inline const char *labels_function(const shm_float_counter &) { return "shm_float_counter_labels"; }
inline const char *labels_function(const shm_gauge &) { return "shm_gauge_labels"; }
inline const char *labels_function(const shm_histogram &) { return "shm_histogram_labels"; }
inline const char *labels_function(const shm_summary &) { return "shm_summary_labels"; }

// The base class of metrics with children. `Handle` is the handle in C.
template <typename Metric, typename Handle>
class labelled {
 public:
  // Updates of a metric that is not assigned yet throw.
  labelled() = default;
  explicit labelled(const Handle &handle) : handle_(handle) {}

  // Returns the child of a label set, and adds it if it is new. Keep it: an update then takes no search. Without label
  // names, labels() returns the metric itself.
  template <typename... Values>
  Metric labels(const Values &...values) const {
    return look_up(label_values<Values...>(values...).values, sizeof...(Values));
  }

  // The same with label values of a container.
  Metric labels(const std::vector<std::string> &values) const {
    const std::vector<text> texts(values.begin(), values.end());
    return look_up(texts.data(), texts.size());
  }

  // Removes the child of a label set. Returns whether there was one.
  template <typename... Values>
  bool remove(const Values &...values) const {
    return remove_child(label_values<Values...>(values...).values, sizeof...(Values));
  }

  bool remove(const std::vector<std::string> &values) const {
    const std::vector<text> texts(values.begin(), values.end());
    return remove_child(texts.data(), texts.size());
  }

  // Removes all children.
  bool clear() const { return stored(shm_metric_clear_of(handle_.metric)); }

  const Handle &handle() const noexcept { return handle_; }

 protected:
  Handle handle_ = {};

 private:
  Metric look_up(const text *values, std::size_t count) const {
    const char *const function = labels_function(handle_);
    const label_texts read(handle_.metric, function, values, count);
    Handle found = handle_;
    const int code = shm_look_up(handle_.metric, function, read.texts, &found.variable);
    found.metric = shm_metric_after(handle_.metric, code, &found.variable);
    if (found.metric == nullptr) throw error(code);
    return Metric(found);
  }

  bool remove_child(const text *values, std::size_t count) const {
    const label_texts read(handle_.metric, "shm_metric_remove", values, count);
    return stored(shm_remove_texts(handle_.metric, "shm_metric_remove", read.texts));
  }
};

// Observes the duration of a scope.
template <typename Metric>
class scope_timer {
 public:
  explicit scope_timer(const Metric &metric) : metric_(metric), timer_(shm_timer_start()) {}
  scope_timer(const scope_timer &) = delete;
  scope_timer &operator=(const scope_timer &) = delete;
  ~scope_timer() { metric_.observe_quietly(shm_timer_seconds(timer_)); }

 private:
  Metric metric_;
  shm_timer timer_;
};

}  // namespace detail

// A counter of whole numbers. float_counter counts fractions.
class counter : public detail::labelled<counter, shm_counter> {
 public:
  using labelled::labelled;
  bool inc() const { return detail::stored(shm_counter_inc(handle_)); }
  bool inc(std::uint64_t amount) const { return add(amount); }
  bool add(std::uint64_t amount) const { return detail::stored(shm_counter_add(handle_, amount)); }
  // C++ would truncate a fraction.
  template <typename Number, typename = std::enable_if_t<std::is_floating_point_v<Number>>>
  bool inc(Number) const = delete;
  template <typename Number, typename = std::enable_if_t<std::is_floating_point_v<Number>>>
  bool add(Number) const = delete;
  std::uint64_t value() const noexcept { return shm_counter_value(handle_); }
};

// A counter of fractions, such as seconds of processor time.
class float_counter : public detail::labelled<float_counter, shm_float_counter> {
 public:
  using labelled::labelled;
  bool inc(double amount = 1) const { return add(amount); }
  bool add(double amount) const { return detail::stored(shm_float_counter_add(handle_, amount), amount); }
  double value() const noexcept { return shm_float_counter_value(handle_); }
};

class gauge : public detail::labelled<gauge, shm_gauge> {
 public:
  using labelled::labelled;
  bool set(double value) const { return detail::stored(shm_gauge_set(handle_, value)); }
  bool set_to_current_time() const { return detail::stored(shm_gauge_set_to_current_time(handle_)); }
  bool inc(double amount = 1) const { return add(amount); }
  bool dec(double amount = 1) const { return add(-amount); }
  bool add(double amount) const { return detail::stored(shm_gauge_add(handle_, amount)); }
  double value() const noexcept { return shm_gauge_value(handle_); }
};

class histogram : public detail::labelled<histogram, shm_histogram> {
 public:
  using labelled::labelled;
  bool observe(double value) const { return detail::stored(shm_histogram_observe(handle_, value), value); }
  // auto timer = duration.time(); observes the seconds until the end of the scope.
  [[nodiscard]] detail::scope_timer<histogram> time() const { return detail::scope_timer<histogram>(*this); }
  void observe_quietly(double value) const noexcept { shm_histogram_observe(handle_, value); }
};

class summary : public detail::labelled<summary, shm_summary> {
 public:
  using labelled::labelled;
  bool observe(double value) const { return detail::stored(shm_summary_observe(handle_, value), value); }
  [[nodiscard]] detail::scope_timer<summary> time() const { return detail::scope_timer<summary>(*this); }
  void observe_quietly(double value) const noexcept { shm_summary_observe(handle_, value); }
};

class info {
 public:
  info() = default;
  explicit info(const shm_info_metric &handle) : handle_(handle) {}

  // Sets the labels: the only series has these values.
  template <typename... Values>
  bool set(const Values &...values) const {
    const detail::label_values<Values...> array(values...);
    const detail::label_texts read(handle_.metric, "shm_info_set", array.values, sizeof...(Values));
    return detail::stored(shm_info_set_texts(handle_.metric, "shm_info_set", read.texts));
  }

  const shm_info_metric &handle() const noexcept { return handle_; }

 private:
  shm_info_metric handle_ = {};
};

// Returns `count` bucket bounds: `start`, then each `width` above the previous one.
inline std::vector<double> linear_buckets(double start, double width, std::uint32_t count) {
  std::vector<double> buckets(count);
  shm_linear_buckets(start, width, count, buckets.data());
  return buckets;
}

// Returns `count` bucket bounds: `start`, then each `factor` times the previous one.
inline std::vector<double> exponential_buckets(double start, double factor, std::uint32_t count) {
  std::vector<double> buckets(count);
  shm_exponential_buckets(start, factor, count, buckets.data());
  return buckets;
}

// Further options of a metric.
struct metric_options {
  std::string unit = {};
  std::uint32_t max_children = 0; // 0: the default, 1,000
};

using label_names = std::initializer_list<text>;

// The metrics of a program in a segment. The destructor closes the segment.
class metrics {
 public:
  metrics(text server_key, text app) {
    const detail::c_text own_key(server_key);
    shm_options options = shm_options_default();
    options.server_key = own_key.get();
    open(options, app);
  }

  metrics(const shm_options &options, text app) { open(options, app); }
  metrics(const metrics &) = delete;
  metrics &operator=(const metrics &) = delete;
  metrics(metrics &&other) noexcept : metrics_(std::exchange(other.metrics_, nullptr)) {}
  metrics &operator=(metrics &&other) noexcept {
    if (this != &other) {
      close();
      metrics_ = std::exchange(other.metrics_, nullptr);
    }
    return *this;
  }
  ~metrics() { close(); }

  // Closes the segment before the destructor does. Afterwards, updates of its counters, gauges and so on store nothing:
  // see shm_metrics_close().
  void close() noexcept { shm_metrics_close(std::exchange(metrics_, nullptr)); }

  // Stores a heartbeat, if the options have `no_heartbeat_thread`.
  void heartbeat() const noexcept { shm_metrics_heartbeat(metrics_); }

  // Counts from 0. The name should end in "_total".
  shm::counter counter(text name, text help, label_names labels = {},
                       const metric_options &options = {}) const {
    return shm::counter(declare(shm_counter_new, name, help, labels, {}, options));
  }

  shm::float_counter float_counter(text name, text help, label_names labels = {},
                                   const metric_options &options = {}) const {
    return shm::float_counter(declare(shm_float_counter_new, name, help, labels, {}, options));
  }

  shm::gauge gauge(text name, text help, label_names labels = {},
                   const metric_options &options = {}) const {
    return shm::gauge(declare(shm_gauge_new, name, help, labels, {}, options));
  }

  // `buckets` are upper bounds without +Inf, ascending; none means .005 .01 .025 .05 .1 .25 .5 1 2.5 5 10.
  shm::histogram histogram(text name, text help, label_names labels = {},
                           const std::vector<double> &buckets = {}, const metric_options &options = {}) const {
    return shm::histogram(declare(shm_histogram_new, name, help, labels, buckets, options));
  }

  // Has a count and a sum, without quantiles.
  shm::summary summary(text name, text help, label_names labels = {},
                       const metric_options &options = {}) const {
    return shm::summary(declare(shm_summary_new, name, help, labels, {}, options));
  }

  // Has the name with "_info" at its end.
  shm::info info(text name, text help, label_names labels) const {
    return shm::info(declare(shm_info_new, name, help, labels, {}, {}));
  }

  shm_metrics *handle() const noexcept { return metrics_; }

 private:
  void open(const shm_options &options, text app) {
    const int code = shm_metrics_open(&options, detail::c_text(app).get(), &metrics_);
    if (code != 0) throw error(code);
  }

  template <typename Handle>
  Handle declare(Handle (*make)(shm_metrics *, const shm_metric_options *), text name, text help, label_names labels, const std::vector<double> &buckets,
                 const metric_options &more) const {
    const detail::c_text own_name(name), own_help(help);
    if (metrics_ == nullptr)
      throw error(shm_fail(-EINVAL, "shm::metrics: metric %q: found closed or moved metrics, allowed: open ones",
                           own_name.get()));
    shm_metric_options options = {};
    options.name = own_name.get();
    options.help = own_help.get();
    options.unit = more.unit.c_str();
    options.max_children = more.max_children;
    options.buckets = buckets.empty() ? nullptr : buckets.data();
    options.bucket_count = static_cast<std::uint32_t>(buckets.size());
    if (labels.size() > SHM_LABELS)
      throw error(shm_fail(-EINVAL, "shm::metrics: label_names of metric %q: found %u, allowed: at most %u", options.name,
                           static_cast<std::uint64_t>(labels.size()), static_cast<std::uint64_t>(SHM_LABELS)));
    const std::vector<detail::c_text> names(labels.begin(), labels.end());
    for (std::size_t i = 0; i < names.size(); i++) {
      options.label_names[i] = names[i].get();
      if (options.label_names[i] == nullptr)
        throw error(shm_fail(-EINVAL, "shm::metrics: label_names of metric %q: found NULL, allowed: texts", options.name));
    }
    const Handle made = make(metrics_, &options);
    if (made.metric == nullptr) throw error(shm_error_of_thread.code);
    return made;
  }

  shm_metrics *metrics_ = nullptr;
};

}  // namespace shm

#endif
