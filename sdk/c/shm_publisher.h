/*
 * Publishes managed objects and their variables in a file in shared memory. Readers copy the file, and
 * never make the program wait. docs/segment-format.md describes the format.
 *
 *   shm_options options = shm_options_default();
 *   options.server_key = "server1";
 *   shm_publisher *publisher;
 *   int code = shm_publisher_open(&publisher, &options);   // 0, or a negative errno value
 *   ... add objects and variables ...
 *   code = shm_publisher_publish(publisher);                 // visible now, or once a predecessor ends
 *
 * INCLUDE THIS HEADER FIRST: the C library hides names that this header needs, unless _GNU_SOURCE is defined
 * before its first header is included. C11 or C++17, 64-bit little-endian Linux, link with -pthread.
 *
 * Functions return 0 or a negative errno value. After an error, shm_last_error() returns a text of the calling
 * thread, which names the function and the argument, and says what was found and what is allowed.
 *   -ESTALE  the object or variable was removed, or was dropped for lack of room: nothing was stored
 *   -ENOSPC  no room: the segment counts the dropped item, and its handle returns -ESTALE from now on
 *   -EINVAL  an argument that the format does not allow
 *   -EBUSY   another publisher holds the server key, and `fail_if_busy` is set
 *   -EACCES, -EPERM  the server key belongs to a dead publisher of another user
 *   -ECHILD  the process was forked from the one that opened the publisher
 *   -EDEADLK a signal handler interrupted a call that excludes this one: nothing was stored
 *   -EAGAIN  after mlockall(), the segment is larger than the limit for locked memory (ulimit -l)
 *   -EFBIG   the segment is larger than the process's limit for files (ulimit -f)
 *
 * Threads: functions that add or remove take a lock, and so do the `_shared` functions of texts and distributions
 * (histograms and summaries). All other functions that set a value take none. Several threads may change the same
 * variable at the same time only with the `_shared` functions. Do not remove a variable while another thread sets
 * it without the lock. Use no handle after shm_publisher_close().
 *
 * Signal handlers may set values, and call shm_publisher_heartbeat() and shm_publisher_notify(). A handler
 * gets -EDEADLK if it updates the text or distribution whose update it interrupted. It also gets -EDEADLK
 * if it calls a `_shared` function for a text or distribution while the interrupted call holds the lock.
 * If a handler and the program add to the same scalar, both must use the `_shared` function. Handlers must
 * not add or remove objects and variables, since those functions allocate memory.
 *
 * fork(): open the publisher after it. A child inherits the lock of the file: if the parent dies, the segment
 * looks alive until the child ends or calls shm_publisher_close(), which does not change the parent's segment.
 * Do not set values in a child: the functions that take no lock would change the parent's values. Functions that
 * take the lock fail with -ECHILD. exec() closes the descriptor.
 */
#ifndef SHM_PUBLISHER_H
#define SHM_PUBLISHER_H

/* Suppresses warnings about this header in programs with strict flags. The tests of this header enable
 * them. */
#if defined(__GNUC__) && !defined(SHM_PUBLISHER_WARNINGS)
#pragma GCC system_header
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#if defined(__GLIBC__) && !defined(__USE_GNU)
#error "Include shm_publisher.h before any other header, or define _GNU_SOURCE"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_POINTER__ != 8
#error "shm_publisher.h is for 64-bit little-endian systems"
#endif

/* From linux/futex.h, which is not part of libc. These numbers never change. */
#define SHM_FUTEX_WAKE 1
#define SHM_FUTEX_WAIT_PRIVATE 128
#define SHM_FUTEX_WAKE_PRIVATE 129
#define SHM_FOLDER "/dev/shm"
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* ---------------------------------------------------------------- the format */

enum {
  SHM_PAGE = 4096,
  SHM_RECORD_SIZE = 64,
  /* Pages of the file are allocated in steps of this many bytes. */
  SHM_STEP = 65536,
  /* Time after which a failed allocation is tried again. */
  SHM_RETRY_NS = 1000000000,
  /* Time between two checks of the segment's name. */
  SHM_CHECK_NS = 1000000000,
  SHM_NAME_BYTES = 1024,
  /* Maximum length of the name and labels of a variable with the option `series`. */
  SHM_SERIES_BYTES = 4096,
  SHM_LABELS = 64,
  SHM_HELP_BYTES = 4096,
  SHM_UNIT_BYTES = 64,
  SHM_TEXT_BYTES = 65528,
  SHM_SCHEMA_ENTRIES = 512,
  SHM_DEPTH = 64,
  /* Maximum length of a context id, a pool name or a server key. */
  SHM_KEY_BYTES = 64,
  /* Maximum number of segments of killed processes that one call of shm_publisher_publish() tries to remove. */
  SHM_DEAD_SEGMENTS = 1024
};

/* Offsets in the header page: the process id, and the words that change after publication. */
enum {
  SHM_AT_PID = 64,
  SHM_AT_STATE = 1024,
  SHM_AT_HEARTBEAT = 1088,
  SHM_AT_NOTIFICATIONS = 1152,
  SHM_AT_DIRECTORY = 1216,
  SHM_AT_STRING_BYTES_A = 1280,
  SHM_AT_STRING_BYTES_B = 1344,
  SHM_AT_OBJECTS_DROPPED = 1408,
  SHM_AT_VARIABLES_DROPPED = 1472
};

enum { SHM_BUILDING = 0, SHM_LIVE = 1, SHM_CLOSED = 2, SHM_SUPERSEDED = 3 };
enum { SHM_RECORD_OBJECT = 1, SHM_RECORD_VARIABLE = 2, SHM_RECORD_TOMBSTONE = 3 };
/* The required feature of a header, and the flag of a variable. */
enum { SHM_FEATURE_SERIES = 1, SHM_FLAG_SERIES = 1 };
#define SHM_NO_SLOT 0xffffffffu
#define SHM_NAN_BITS 0x7ff8000000000000u

/* Types of variables. */
enum {
  SHM_U64 = 1,
  SHM_I64 = 2,
  SHM_F64 = 3,
  SHM_BOOL = 4,
  SHM_STRING = 5,
  SHM_HISTOGRAM = 6,
  SHM_SUMMARY = 7
};

/* Kinds of scalar variables. */
enum { SHM_UNKNOWN = 0, SHM_COUNTER = 1, SHM_GAUGE = 2 };

/* States of objects. */
enum {
  SHM_STATE_INIT = 0,
  SHM_STATE_NORMAL = 1,
  SHM_STATE_MANUAL_RECOVERY = 2,
  SHM_STATE_AUTO_RECOVERY = 3,
  SHM_STATE_DEAD = 4,
  SHM_STATE_INVALID = 5
};

/* Bytes 0 to 255 of the file. */
typedef struct shm_header {
  char magic[8];
  uint32_t byte_order;
  uint16_t major_version, minor_version;
  uint32_t header_size, record_size;
  uint64_t required_features, optional_features;
  uint64_t generation;
  uint64_t started_realtime_ns, started_monotonic_ns;
  uint64_t pid;
  uint64_t heartbeat_period_ns;
  uint64_t file_size;
  uint64_t directory_a, directory_b, record_capacity;
  uint64_t strings_a, strings_b, string_capacity;
  uint64_t words, slots, slot_capacity;
  uint64_t frames, frame_capacity;
  uint8_t reserved[76];
  uint32_t crc;
} shm_header;

/* text[0] is the name. The meaning of the other texts depends on record_kind: see section 4 of the format. */
typedef struct shm_record {
  uint32_t crc, index;
  uint8_t record_kind, type, kind, flags;
  uint32_t slot;
  uint64_t id, owner;
  uint32_t incarnation;
  uint32_t text[5];
  uint32_t extra1, extra2;
} shm_record;

static_assert(sizeof(shm_header) == 256, "the header has 256 bytes");
static_assert(offsetof(shm_header, frame_capacity) == 168, "the header has no holes");
static_assert(sizeof(shm_record) == SHM_RECORD_SIZE, "a record has 64 bytes");
static_assert(offsetof(shm_record, extra2) == 60, "a record has no holes");

/* Linux refuses or misreads these structures if the compiler packs them. Packing also misaligns the words
 * that threads share. */
typedef struct shm_aligned {
  char byte;
  uint64_t word;
} shm_aligned;
#ifdef __cplusplus
#define SHM_ALIGNMENT(type) alignof(type)
#else
#define SHM_ALIGNMENT(type) _Alignof(type)
#endif
#define SHM_CHECK_PACKING(type, alignment) \
  static_assert(SHM_ALIGNMENT(type) >= (alignment), \
                #type " is packed: end #pragma pack before this header and before the headers of " \
                      "libc, and compile without -fpack-struct")
SHM_CHECK_PACKING(shm_aligned, 8);
SHM_CHECK_PACKING(struct flock, 8);
SHM_CHECK_PACKING(struct stat, 8);
SHM_CHECK_PACKING(struct timespec, 8);
SHM_CHECK_PACKING(struct rlimit, 8);
SHM_CHECK_PACKING(struct pollfd, 4);

/* ---------------------------------------------------------------- options and handles */

typedef struct shm_options {
  const char *context_id; /* default "shmApp" */
  const char *pool_name;  /* default "pool" */
  /* No default. The process id replaces "{pid}", which may occur once. A publisher with "{pid}" in its key removes the
   * segments that killed processes left under keys that differ only in the process id. */
  const char *server_key;
  uint64_t records;       /* capacity of a directory: objects, variables and removals */
  uint64_t string_bytes;
  uint64_t slots;
  uint64_t frame_bytes;  /* a multiple of 8 */
  uint32_t heartbeat_ms; /* heartbeat period in ms, default 1000; 0: no heartbeat */
  mode_t mode;           /* the file's mode, 0 to 0777, regardless of the umask; default 0644 */
  /* Makes shm_publisher_publish() return -EBUSY while another publisher holds the server key. */
  bool fail_if_busy;
  /* Whether variables may have the option `series`. Exporters before format 1.1 then refuse the segment. */
  bool series;
  /* For shm_metrics_open() alone: the program calls shm_metrics_heartbeat() itself. */
  bool no_heartbeat_thread;
} shm_options;

typedef struct shm_object_options {
  int state;   /* default SHM_STATE_NORMAL */
  bool synced; /* default true */
  /* For roots only. NULL and "" mean that readers take the text from the root's id. */
  const char *host, *instance, *application;
} shm_object_options;

typedef struct shm_variable_options {
  int kind; /* default SHM_UNKNOWN */
  const char *unit, *help;
  /* Bounds of a histogram without +Inf, or quantiles of a summary; ascending. The library copies them. */
  const double *schema;
  uint32_t schema_entries;
  uint32_t text_bytes; /* maximum size of a text, default 64 */
  /* Whether a histogram or summary has no value before its first update. Default false: it begins with no
   * observations. Variables of other types have no value until one is set. */
  bool unsynced;
  /* Whether the exporter shows the name of the variable as the name of its metric, with the labels below, and
   * without a label "object". The publisher needs the option `series`, too. */
  bool series;
  /* The labels of a series: `label_count` names, each followed by its value. The library copies them. */
  const char *const *labels;
  uint32_t label_count;
} shm_variable_options;

typedef struct shm_publisher shm_publisher;
typedef struct shm_node shm_node;

/* The slot of an object or variable. `synced` is its word while the value is synced. A word of another
 * incarnation means that the object or variable was removed. */
typedef struct shm_ref {
  uint64_t *value;
  uint32_t *word;
  uint32_t synced;
} shm_ref;

/* Handles are plain values that may be copied. A handle of zeros stores nothing. */
typedef struct shm_object {
  shm_publisher *publisher;
  shm_node *node;
  shm_ref ref, as_of;
} shm_object;

typedef struct shm_variable {
  shm_publisher *publisher;
  shm_node *node;
  shm_ref ref;
  uint64_t *frame;
  uint32_t units;
  int type, kind;
} shm_variable;

/* ---------------------------------------------------------------- internals: state */

enum {
  SHM_DIRECTORY_A,
  SHM_STRINGS_A,
  SHM_DIRECTORY_B,
  SHM_STRINGS_B,
  SHM_WORDS,
  SHM_SLOTS,
  SHM_FRAMES,
  SHM_REGIONS
};

typedef struct shm_region {
  uint64_t at, bytes, real;
} shm_region;

/* A block of the frame region, in use or free. It is allocated at the block's first use, so that freeing the
 * block cannot fail. */
typedef struct shm_frame {
  struct shm_frame *next;
  uint32_t at, units;
} shm_frame;

/* A live object or variable. `index` is that of its record in the active directory. */
struct shm_node {
  shm_node *parent, *first_child, *previous_sibling, *next_sibling;
  shm_node *older, *newer;
  uint64_t id;
  uint32_t index, depth;
  uint32_t slot, as_of_slot;
  shm_frame *frame;
  double *schema;
  uint32_t schema_entries;
  bool is_member;    /* a series of a metric (shm_metrics.h): only the metric may remove it */
  uint64_t updating; /* for a member: the thread that updates its frame, as pthread_self(), or 0 */
};

typedef struct shm_string_entry {
  uint32_t hash, at;
} shm_string_entry;

/* The written part of one directory. A hash table of its strings lets equal strings share their bytes. */
typedef struct shm_directory {
  uint32_t epoch, records, string_bytes;
  shm_string_entry *table;
  uint32_t table_size, table_used;
} shm_directory;

/* Two size classes for each power of two up to the longest frame. */
enum { SHM_SIZE_CLASSES = 32 };

struct shm_publisher {
  /* The lock: its holder as pthread_self() or 0, the number of waiting threads, and their futex word. */
  uint64_t holder;
  uint32_t waiting, turn;
  uint32_t *opener; /* points to 1 in the process that opened the publisher, to 0 in its children; or NULL */
  pid_t pid;
  char path[256], temporary[256];
  uint32_t pid_at, pid_end; /* start and end of the process id in `path`; both are 0 without "{pid}" in the key */
  int fd; /* -1 once the program closed it */
  dev_t device;
  ino_t inode;
  bool has_temporary; /* the file has its temporary name */
  bool is_named;
  bool fails_if_busy;
  bool has_series;
  /* Set by shm_metrics.h: hold back the updates of other threads while the segment moves to a new file. */
  void (*hold_updates)(void), (*resume_updates)(void);
  bool reported_busy, reported_failure; /* stderr has the report; false again once the segment has its name */
  uint64_t check_ns; /* time of the next check of the name, CLOCK_MONOTONIC; 0: no checks */
  uint8_t *map;
  uint64_t file_size;
  shm_region regions[SHM_REGIONS];
  uint32_t record_capacity, string_capacity, slot_capacity, frame_units;

  shm_directory active;
  shm_node *oldest, *newest;
  uint32_t live;
  uint64_t last_id;
  bool is_full;      /* a change of directories freed too little; false after the next removal */
  bool allocation_failed;      /* an allocation failed during the current addition */
  uint64_t retry_at; /* time of the next attempt after a failed allocation, CLOCK_MONOTONIC; 0: none failed */
  bool removal_pending;    /* a removal is not published yet, for lack of memory */

  uint32_t *next_free; /* the queue of free slots: for each slot in it, the next one */
  uint32_t first_free, last_free, free_slots, slots_top;

  shm_frame *free_frames[SHM_SIZE_CLASSES];
  uint32_t frames_top;
};

/* A text to be stored in the string region. */
typedef struct shm_text {
  const void *bytes;
  uint32_t length;
} shm_text;

/* ---------------------------------------------------------------- internals: messages */

/* The maximum number of bytes of a name in a message. */
enum { SHM_SHOWN_BYTES = 64 };

/* A message under construction. It always ends with a zero byte; text beyond its size is dropped. */
typedef struct shm_line {
  char text[508];
  uint32_t length;
} shm_line;

typedef struct shm_error {
  int code;
  /* For an error whose text shm_last_error() composes. `function` is NULL if `line` has the whole text, and
   * `argument` is NULL if `line` has the text after the function's name. */
  const char *function, *argument;
  shm_line line;
} shm_error;

/* The last error of each thread. The symbol is weak, so that all files of a program share it. */
__attribute__((weak)) __thread shm_error shm_error_of_thread;

static inline void shm_write_byte(shm_line *line, char byte) {
  if (line->length + 1 < sizeof line->text) line->text[line->length++] = byte;
  line->text[line->length] = '\0';
}

static inline void shm_write(shm_line *line, const char *text) {
  while (*text != '\0') shm_write_byte(line, *text++);
}

static inline void shm_write_number(shm_line *line, uint64_t number) {
  char digits[20];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0) shm_write_byte(line, digits[--count]);
}

/* Returns how many bytes of a text fit into `room`, without splitting a character. */
static inline size_t shm_cut(const char *text, size_t length, size_t room) {
  if (length <= room) return length;
  while (room > 0 && ((uint8_t)text[room] & 0xc0) == 0x80) room--;
  return room;
}

/* Writes a name in quotes, shortened, and without control characters. */
static inline void shm_write_name(shm_line *line, const char *name) {
  if (name == NULL) {
    shm_write(line, "NULL");
    return;
  }
  size_t length = strnlen(name, SHM_SHOWN_BYTES + 1), shown = shm_cut(name, length, SHM_SHOWN_BYTES);
  shm_write_byte(line, '"');
  for (size_t i = 0; i < shown; i++)
    shm_write_byte(line, (uint8_t)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i]);
  shm_write(line, shown < length ? "\xe2\x80\xa6\"" : "\"");
}

/* Appends formatted text: %s is a text, %q a name, %u a uint64_t, %d an int64_t. Unlike snprintf(), this
 * is safe in signal handlers and needs little stack. */
static inline void shm_write_format(shm_line *line, const char *format, va_list values) {
  for (; *format != '\0'; format++) {
    if (*format != '%') {
      shm_write_byte(line, *format);
      continue;
    }
    format++;
    if (*format == 's') {
      shm_write(line, va_arg(values, const char *));
    } else if (*format == 'q') {
      shm_write_name(line, va_arg(values, const char *));
    } else if (*format == 'u') {
      shm_write_number(line, va_arg(values, uint64_t));
    } else {
      int64_t number = va_arg(values, int64_t);
      if (number < 0) shm_write_byte(line, '-');
      shm_write_number(line, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    }
  }
}

static inline void shm_print(shm_line *line, const char *format, ...) {
  va_list values;
  va_start(values, format);
  shm_write_format(line, format, values);
  va_end(values);
}

/* Stores the text of an error for shm_last_error(), and returns the code. */
static inline int shm_fail(int code, const char *format, ...) {
  va_list values;
  shm_error *error = &shm_error_of_thread;
  error->code = code;
  error->function = NULL;
  error->line.length = 0;
  va_start(values, format);
  shm_write_format(&error->line, format, values);
  va_end(values);
  return code;
}

/* Stores an error without details. Formats no text, since a program may update a removed variable often. */
static inline int shm_fail_with(int code, const char *function, const char *argument) {
  shm_error *error = &shm_error_of_thread;
  error->code = code;
  error->function = function;
  error->argument = argument;
  return code;
}

/* Stores an error whose text is the function's name and a line. Formats no text either. */
static inline int shm_fail_as(int code, const char *function, const shm_line *line) {
  shm_error *error = &shm_error_of_thread;
  shm_fail_with(code, function, NULL);
  memcpy(error->line.text, line->text, line->length + (size_t)1);
  error->line.length = line->length;
  return code;
}

/* Stores the error of a function unless it succeeded or stored a text with details. */
static inline int shm_result(int code, const char *function, const char *argument) {
  if (code == 0 || (code == -EINVAL && shm_error_of_thread.code == -EINVAL)) return code;
  return shm_fail_with(code, function, argument);
}

/* Refuses a pointer that is NULL. */
static inline int shm_check_pointer(const void *pointer, const char *function, const char *argument,
                                    const char *allowed) {
  if (pointer != NULL) return 0;
  shm_fail(-EINVAL, "%s: %s: found NULL, allowed: %s", function, argument, allowed);
  return -EINVAL;
}

static inline const char *shm_type_name(int type) {
  static const char *const names[] = {"u64",    "i64",       "f64",    "bool",
                                      "string", "histogram", "summary"};
  return type >= SHM_U64 && type <= SHM_SUMMARY ? names[type - 1] : "unknown";
}

/* ---------------------------------------------------------------- internals: memory */

static inline uint64_t *shm_header_word(const shm_publisher *p, int at) {
  return (uint64_t *)(void *)(p->map + at);
}

static inline uint64_t *shm_slot_value(const shm_publisher *p, uint32_t slot) {
  return (uint64_t *)(void *)(p->map + p->regions[SHM_SLOTS].at) + slot;
}

static inline uint32_t *shm_slot_word(const shm_publisher *p, uint32_t slot) {
  return (uint32_t *)(void *)(p->map + p->regions[SHM_WORDS].at) + slot;
}

static inline uint64_t *shm_frame_unit(const shm_publisher *p, uint32_t unit) {
  return (uint64_t *)(void *)(p->map + p->regions[SHM_FRAMES].at) + unit;
}

/* A release store: readers see it after all earlier stores. */
static inline void shm_put(uint64_t *at, uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static inline void shm_fence(void) {
#if defined(__SANITIZE_THREAD__) && defined(__x86_64__)
  __asm__ __volatile__("" ::: "memory"); /* the thread sanitizer of GCC does not support fences */
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

static inline uint64_t shm_get(const uint64_t *at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline uint64_t shm_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Returns the bits without the sign. With -ffast-math, the compiler assumes that all numbers are finite,
 * and removes tests for NaN. The memory operand hides the value from the compiler. */
static inline uint64_t shm_magnitude(double value) {
  __asm__ __volatile__("" : "+m"(value));
  return shm_bits(value) & 0x7fffffffffffffffu;
}

static inline bool shm_is_nan(double value) {
  return shm_magnitude(value) > 0x7ff0000000000000u;
}

static inline bool shm_is_finite(double value) {
  return shm_magnitude(value) < 0x7ff0000000000000u;
}

static inline double shm_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint64_t shm_clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CRC-32 as in zlib, four bits at a time, so that the table is small and stays in the cache. */
static inline uint32_t shm_crc32(const void *bytes, size_t length) {
  static const uint32_t table[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const uint8_t *at = (const uint8_t *)bytes;
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < length; i++) {
    crc ^= at[i];
    crc = (crc >> 4) ^ table[crc & 15];
    crc = (crc >> 4) ^ table[crc & 15];
  }
  return ~crc;
}

static inline bool shm_is_own_file(const shm_publisher *p, const struct stat *facts) {
  return facts->st_dev == p->device && facts->st_ino == p->inode;
}

/* Whether the descriptor still refers to the segment's file. A program may close all descriptors, as
 * daemons do. Then the descriptor's number may belong to another file. */
static inline bool shm_owns_descriptor(const shm_publisher *p, struct stat *facts) {
  return p->fd >= 0 && fstat(p->fd, facts) == 0 && shm_is_own_file(p, facts);
}

/* Opens the segment's file again by its name if the program closed the descriptor. The mapping keeps
 * the lock. */
static inline bool shm_has_descriptor(shm_publisher *p, struct stat *facts) {
  if (shm_owns_descriptor(p, facts)) return true;
  p->fd = open(p->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (shm_owns_descriptor(p, facts)) return true;
  if (p->fd >= 0) close(p->fd);
  p->fd = -1;
  return false;
}

/* Allocates the first `end` bytes of a region. Without this, a store would raise SIGBUS if /dev/shm is full. */
static inline bool shm_reserve(shm_publisher *p, int index, uint64_t end) {
  shm_region *region = &p->regions[index];
  if (end <= region->real) return true;
  if (end > region->bytes) return false;
  uint64_t wanted = (end + SHM_STEP - 1) / SHM_STEP * SHM_STEP;
  if (wanted > region->bytes) wanted = region->bytes;
  struct stat facts;
  int code = shm_has_descriptor(p, &facts) ? EINTR : EBADF;
  while (code == EINTR)
    code = posix_fallocate(p->fd, (off_t)(region->at + region->real), (off_t)(wanted - region->real));
  if (code != 0) {
    p->allocation_failed = true;
    return false;
  }
  region->real = wanted;
  return true;
}

/* ---------------------------------------------------------------- internals: the lock */

/* Maps a page that the kernel clears in forked children, so that shm_is_in_child() only reads one word. If
 * the kernel cannot clear it, shm_is_in_child() compares process ids. */
static inline void shm_note_opener(shm_publisher *p) {
  p->pid = getpid();
  void *page = mmap(NULL, SHM_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, SHM_PAGE, MADV_WIPEONFORK) != 0) {
    munmap(page, SHM_PAGE);
    return;
  }
  p->opener = (uint32_t *)page;
  *p->opener = 1;
}

static inline bool shm_is_in_child(const shm_publisher *p) {
  return p->opener != NULL ? *p->opener == 0 : p->pid != getpid();
}

/* Waits for the lock while another thread holds it, and takes it. */
static inline void shm_wait(shm_publisher *p, uint64_t self) {
  int error = errno;
  __atomic_fetch_add(&p->waiting, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    uint32_t turn = __atomic_load_n(&p->turn, __ATOMIC_SEQ_CST);
    uint64_t none = 0;
    if (__atomic_compare_exchange_n(&p->holder, &none, self, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      break;
    syscall(SYS_futex, &p->turn, SHM_FUTEX_WAIT_PRIVATE, turn, NULL, NULL, 0);
  }
  __atomic_fetch_sub(&p->waiting, 1, __ATOMIC_SEQ_CST);
  errno = error;
}

/* Takes the lock. Returns -EDEADLK in a signal handler that interrupted the holder. One atomic operation takes
 * the lock and names its holder, so a handler can always tell whether its own thread holds the lock. */
static inline int shm_acquire(shm_publisher *p) {
  uint64_t self = (uint64_t)(uintptr_t)pthread_self(), found = 0;
  if (shm_is_in_child(p)) return -ECHILD;
  if (__atomic_compare_exchange_n(&p->holder, &found, self, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST))
    return 0;
  if (found == self) return -EDEADLK;
  shm_wait(p, self);
  return 0;
}

/* Takes the lock if it is free. */
static inline bool shm_try_acquire(shm_publisher *p) {
  uint64_t none = 0;
  return !shm_is_in_child(p) &&
         __atomic_compare_exchange_n(&p->holder, &none, (uint64_t)(uintptr_t)pthread_self(), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline void shm_release(shm_publisher *p) {
  __atomic_store_n(&p->holder, 0, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&p->waiting, __ATOMIC_SEQ_CST) == 0) return;
  int error = errno;
  __atomic_fetch_add(&p->turn, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &p->turn, SHM_FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  errno = error;
}

/* ---------------------------------------------------------------- internals: slots */

/* While at most this many slots are free, an addition takes an unused slot, so that readers have time to notice
 * a removal. If more are free, it takes the one that was freed first, so that values stay close together. */
enum { SHM_FREE_SLOTS_KEPT = 64 };

static inline bool shm_has_unused_slot(shm_publisher *p) {
  uint64_t count = (uint64_t)p->slots_top + 1;
  return count <= p->slot_capacity && shm_reserve(p, SHM_WORDS, count * 4) &&
         shm_reserve(p, SHM_SLOTS, count * 8);
}

/* Takes an unused slot, or the slot that has been free longest. */
static inline bool shm_take_slot(shm_publisher *p, uint32_t *slot, shm_ref *ref) {
  uint32_t incarnation = 1;
  if (p->free_slots <= SHM_FREE_SLOTS_KEPT && shm_has_unused_slot(p)) {
    *slot = p->slots_top++;
  } else if (p->free_slots > 0) {
    *slot = p->first_free;
    p->first_free = p->next_free[*slot];
    p->free_slots--;
    incarnation = __atomic_load_n(shm_slot_word(p, *slot), __ATOMIC_RELAXED) >> 1;
  } else {
    return false;
  }
  ref->value = shm_slot_value(p, *slot);
  ref->word = shm_slot_word(p, *slot);
  ref->synced = incarnation << 1 | 1;
  return true;
}

/* Changes the word of a slot, so that all handles of its owner become stale. */
static inline void shm_end_slot(shm_publisher *p, uint32_t slot) {
  uint32_t *word = shm_slot_word(p, slot);
  uint32_t incarnation = __atomic_load_n(word, __ATOMIC_RELAXED) >> 1;
  uint32_t next = incarnation == 0x7fffffffu ? 1 : incarnation + 1;
  __atomic_store_n(word, next << 1, __ATOMIC_RELEASE);
}

/* Lets additions take a slot whose word has changed. */
static inline void shm_give_slot(shm_publisher *p, uint32_t slot) {
  if (p->free_slots++ == 0) p->first_free = slot;
  else p->next_free[p->last_free] = slot;
  p->last_free = slot;
}

static inline bool shm_is_live(const shm_ref *ref) {
  return ref->word != NULL && (__atomic_load_n(ref->word, __ATOMIC_RELAXED) | 1) == ref->synced;
}

/* Sets or clears the synced bit. The compare-and-swap fails if the variable was removed. */
static inline bool shm_mark(const shm_ref *ref, bool is_synced) {
  uint32_t wanted = is_synced ? ref->synced : ref->synced - 1;
  uint32_t found = is_synced ? ref->synced - 1 : ref->synced;
  if (__atomic_load_n(ref->word, __ATOMIC_RELAXED) == wanted) return true;
  return __atomic_compare_exchange_n(ref->word, &found, wanted, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED) ||
         found == wanted; /* another thread marked it */
}

static inline int shm_mark_code(const shm_ref *ref, bool is_synced, const char *function, const char *argument) {
  return shm_mark(ref, is_synced) ? 0 : shm_fail_with(-ESTALE, function, argument);
}

/* ---------------------------------------------------------------- internals: frames */

/* Rounds up to a power of two, or to three quarters of a power of two, so that later frames fit into freed
 * blocks. */
static inline uint32_t shm_size_class(uint32_t units, uint32_t *size) {
  uint32_t power = 4, index = 0;
  for (; power < units; power *= 2) index += 2;
  *size = units <= power / 4 * 3 ? power / 4 * 3 : power;
  return *size == power ? index + 1 : index;
}

static inline void shm_give_frame(shm_publisher *p, shm_frame *frame) {
  uint32_t size;
  shm_frame **list = &p->free_frames[shm_size_class(frame->units, &size)];
  frame->next = *list;
  *list = frame;
}

static inline shm_frame *shm_new_frame(shm_publisher *p, uint32_t size) {
  if ((uint64_t)p->frames_top + size > p->frame_units) return NULL;
  if (!shm_reserve(p, SHM_FRAMES, ((uint64_t)p->frames_top + size) * 8)) return NULL;
  shm_frame *frame = (shm_frame *)calloc(1, sizeof *frame);
  if (frame == NULL) return NULL;
  frame->at = p->frames_top;
  p->frames_top += size;
  return frame;
}

/* Takes a block for a frame, and fills it with zeros. */
static inline shm_frame *shm_take_frame(shm_publisher *p, uint32_t units) {
  uint32_t size;
  shm_frame **list = &p->free_frames[shm_size_class(units, &size)];
  shm_frame *frame = *list;
  if (frame != NULL) *list = frame->next;
  else frame = shm_new_frame(p, size);
  if (frame == NULL) return NULL;
  frame->units = units;
  for (uint32_t i = 0; i < units; i++) shm_put(shm_frame_unit(p, frame->at + i), 0);
  return frame;
}

/* ---------------------------------------------------------------- internals: strings */

static inline uint8_t *shm_strings_of(const shm_publisher *p, const shm_directory *directory) {
  return p->map + p->regions[directory->epoch % 2 == 0 ? SHM_STRINGS_A : SHM_STRINGS_B].at;
}

static inline shm_text shm_string_at(const uint8_t *strings, uint32_t at) {
  uint16_t length;
  memcpy(&length, strings + at, sizeof length);
  shm_text text = {strings + at + 2, length};
  return text;
}

#if defined(__clang__)
__attribute__((no_sanitize("integer"))) /* the product is meant to wrap */
#endif
static inline uint32_t shm_hash(shm_text text) {
  const uint8_t *bytes = (const uint8_t *)text.bytes;
  uint32_t hash = 2166136261u;
  for (uint32_t i = 0; i < text.length; i++) hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

/* Returns the table entry of a text, or the empty entry where it belongs. */
static inline shm_string_entry *shm_find_string(const uint8_t *strings, const shm_directory *directory,
                                                shm_text text, uint32_t hash) {
  uint32_t mask = directory->table_size - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    shm_string_entry *entry = &directory->table[i];
    if (entry->at == 0) return entry;
    if (entry->hash != hash) continue;
    shm_text known = shm_string_at(strings, entry->at);
    if (known.length == text.length && memcmp(known.bytes, text.bytes, text.length) == 0)
      return entry;
  }
}

/* Keeps the table at most half full, so that each search meets an empty entry. */
static inline bool shm_grow_table(shm_directory *directory) {
  if ((directory->table_used + 1) * 2 <= directory->table_size) return true;
  uint32_t size = directory->table_size == 0 ? 64 : directory->table_size * 2;
  shm_string_entry *table = (shm_string_entry *)calloc(size, sizeof *table);
  if (table == NULL) return false;
  for (uint32_t i = 0; i < directory->table_size; i++) {
    if (directory->table[i].at == 0) continue;
    uint32_t place = directory->table[i].hash & (size - 1);
    while (table[place].at != 0) place = (place + 1) & (size - 1);
    table[place] = directory->table[i];
  }
  free(directory->table);
  directory->table = table;
  directory->table_size = size;
  return true;
}

static inline bool shm_append_string(shm_publisher *p, shm_directory *directory, shm_text text) {
  uint64_t end = (uint64_t)directory->string_bytes + 2 + text.length;
  int region = directory->epoch % 2 == 0 ? SHM_STRINGS_A : SHM_STRINGS_B;
  if (end > p->string_capacity || !shm_reserve(p, region, end)) return false;
  uint8_t *at = shm_strings_of(p, directory) + directory->string_bytes;
  uint16_t length = (uint16_t)text.length;
  memcpy(at, &length, sizeof length);
  memcpy(at + 2, text.bytes, text.length);
  directory->string_bytes = (uint32_t)end;
  return true;
}

/* Finds a text in the strings of a directory, or appends it, and sets `ref` to its offset. */
static inline bool shm_store_string(shm_publisher *p, shm_directory *directory, shm_text text, uint32_t *ref) {
  *ref = 0;
  if (text.length == 0) return true;
  if (!shm_grow_table(directory)) {
    p->allocation_failed = true;
    return false;
  }
  uint32_t hash = shm_hash(text);
  shm_string_entry *entry = shm_find_string(shm_strings_of(p, directory), directory, text, hash);
  if (entry->at == 0) {
    uint32_t at = directory->string_bytes;
    if (!shm_append_string(p, directory, text)) return false;
    entry->hash = hash;
    entry->at = at;
    directory->table_used++;
  }
  *ref = entry->at;
  return true;
}

/* ---------------------------------------------------------------- internals: directory */

static inline uint8_t *shm_record_at(const shm_publisher *p, const shm_directory *directory, uint32_t index) {
  int region = directory->epoch % 2 == 0 ? SHM_DIRECTORY_A : SHM_DIRECTORY_B;
  return p->map + p->regions[region].at + (uint64_t)index * SHM_RECORD_SIZE;
}

static inline bool shm_has_record_room(shm_publisher *p, const shm_directory *directory) {
  int region = directory->epoch % 2 == 0 ? SHM_DIRECTORY_A : SHM_DIRECTORY_B;
  return directory->records < p->record_capacity &&
         shm_reserve(p, region, ((uint64_t)directory->records + 1) * SHM_RECORD_SIZE);
}

/* Returns how many of a record's five references are strings. A variable's fifth reference is its frame. */
static inline uint32_t shm_text_count(const shm_record *record) {
  return record->record_kind == SHM_RECORD_OBJECT ? 5 : 4;
}

/* Appends a record with its texts (none for a tombstone). Readers see it after shm_publish(). */
static inline bool shm_append(shm_publisher *p, shm_directory *directory, shm_record record,
                              const shm_text *texts) {
  if (!shm_has_record_room(p, directory)) return false;
  for (uint32_t i = 0; texts != NULL && i < shm_text_count(&record); i++)
    if (!shm_store_string(p, directory, texts[i], &record.text[i])) return false;
  record.index = directory->records;
  record.crc = shm_crc32(&record.index, SHM_RECORD_SIZE - sizeof record.crc);
  memcpy(shm_record_at(p, directory, directory->records++), &record, sizeof record);
  return true;
}

static inline void shm_publish_string_bytes(const shm_publisher *p, const shm_directory *directory) {
  int at = directory->epoch % 2 == 0 ? SHM_AT_STRING_BYTES_A : SHM_AT_STRING_BYTES_B;
  shm_put(shm_header_word(p, at), directory->string_bytes);
}

static inline void shm_publish(const shm_publisher *p) {
  shm_publish_string_bytes(p, &p->active);
  uint64_t word = (uint64_t)p->active.epoch << 32 | p->active.records;
  shm_put(shm_header_word(p, SHM_AT_DIRECTORY), word);
}

/* Copies the record of a live node to another directory, with its strings. */
static inline bool shm_copy_record(shm_publisher *p, shm_directory *to, const shm_node *node) {
  const uint8_t *strings = shm_strings_of(p, &p->active);
  shm_record record;
  memcpy(&record, shm_record_at(p, &p->active, node->index), sizeof record);
  shm_text texts[5];
  for (uint32_t i = 0; i < shm_text_count(&record); i++)
    texts[i] = shm_string_at(strings, record.text[i]);
  return shm_append(p, to, record, texts);
}

static inline bool shm_copy_live(shm_publisher *p, shm_directory *to) {
  for (const shm_node *node = p->oldest; node != NULL; node = node->newer)
    if (!shm_copy_record(p, to, node)) return false;
  return true;
}

/* Copies the live records to the other directory, and makes it the active one. Returns false if that
 * directory lacks room. Also returns false if more than `quarters` quarters of its strings are used: it
 * would soon be full again. */
static inline bool shm_change_directory(shm_publisher *p, uint32_t quarters) {
  shm_directory next = {p->active.epoch + 1, 0, 2, NULL, 0, 0};
  /* The last change made the other directory inactive. Readers must see that before the directory is
   * overwritten. A release store does not hold back later stores, so this needs a fence (no instruction on
   * x86-64). */
  shm_fence();
  shm_publish_string_bytes(p, &next);
  bool is_written = shm_copy_live(p, &next);
  if (!is_written || (uint64_t)next.string_bytes * 4 > (uint64_t)p->string_capacity * quarters) {
    free(next.table);
    return false;
  }
  uint32_t index = 0;
  for (shm_node *node = p->oldest; node != NULL; node = node->newer) node->index = index++;
  free(p->active.table);
  p->active = next;
  p->removal_pending = false;
  shm_publish(p);
  return true;
}

/* Publishes a record, and sets `index`. Returns false if there is no room, even after a change of
 * directories. Live records fill at most three quarters, so a change always frees some room. */
static inline bool shm_add_record(shm_publisher *p, shm_record record, const shm_text *texts,
                                  uint32_t *index) {
  if (p->is_full || ((uint64_t)p->live + 1) * 4 > (uint64_t)p->record_capacity * 3) return false;
  if (p->retry_at != 0 && shm_clock_ns(CLOCK_MONOTONIC) < p->retry_at) return false;
  p->retry_at = 0;
  p->allocation_failed = false;
  if (p->removal_pending && !shm_change_directory(p, 4)) return false;
  if (!shm_append(p, &p->active, record, texts) &&
      !(shm_change_directory(p, 3) && shm_append(p, &p->active, record, texts))) {
    /* Memory may be free later. Each attempt copies all records, so attempts are at least a second apart. */
    if (p->allocation_failed) p->retry_at = shm_clock_ns(CLOCK_MONOTONIC) + SHM_RETRY_NS;
    else p->is_full = true;
    return false;
  }
  *index = p->active.records - 1;
  shm_publish(p);
  return true;
}

/* Publishes the removal of an object or variable that is no longer among the live nodes. */
static inline void shm_add_tombstone(shm_publisher *p, uint64_t id) {
  shm_record record;
  memset(&record, 0, sizeof record);
  record.record_kind = SHM_RECORD_TOMBSTONE;
  record.owner = id;
  p->is_full = false;
  p->retry_at = 0;
  if (!p->removal_pending && shm_append(p, &p->active, record, NULL)) {
    shm_publish(p);
    return;
  }
  /* A change of directories omits the removed nodes, so it needs no tombstone. It fails only if /dev/shm
   * is full; the next addition or removal then tries again. */
  if (!shm_change_directory(p, 4)) p->removal_pending = true;
}

/* ---------------------------------------------------------------- internals: the tree */

static inline void shm_attach(shm_publisher *p, shm_node *node, shm_node *parent) {
  node->older = p->newest;
  if (p->newest != NULL) p->newest->newer = node;
  else p->oldest = node;
  p->newest = node;
  p->live++;
  node->parent = parent;
  if (parent == NULL) return;
  node->next_sibling = parent->first_child;
  if (node->next_sibling != NULL) node->next_sibling->previous_sibling = node;
  parent->first_child = node;
}

/* Removes a node and everything below it from the list of live nodes. Recurses at most SHM_DEPTH + 1 times. */
static inline void shm_detach_all(shm_publisher *p, shm_node *node) {
  for (shm_node *child = node->first_child; child != NULL; child = child->next_sibling)
    shm_detach_all(p, child);
  if (node->older != NULL) node->older->newer = node->newer;
  else p->oldest = node->newer;
  if (node->newer != NULL) node->newer->older = node->older;
  else p->newest = node->older;
  p->live--;
}

static inline void shm_detach_from_parent(shm_node *node) {
  if (node->next_sibling != NULL) node->next_sibling->previous_sibling = node->previous_sibling;
  if (node->previous_sibling != NULL) node->previous_sibling->next_sibling = node->next_sibling;
  else if (node->parent != NULL) node->parent->first_child = node->next_sibling;
}

/* Makes the handles of an unpublished node stale. */
static inline void shm_end_node(shm_publisher *p, const shm_node *node) {
  if (node->slot != SHM_NO_SLOT) shm_end_slot(p, node->slot);
  if (node->as_of_slot != SHM_NO_SLOT) shm_end_slot(p, node->as_of_slot);
}

/* Lets additions use the slots and the frame of a node whose handles are stale, and frees its memory. */
static inline void shm_reuse_node(shm_publisher *p, shm_node *node) {
  if (node->slot != SHM_NO_SLOT) shm_give_slot(p, node->slot);
  if (node->as_of_slot != SHM_NO_SLOT) shm_give_slot(p, node->as_of_slot);
  if (node->frame != NULL) shm_give_frame(p, node->frame);
  free(node->schema);
  free(node);
}

/* The words of the slots change first, so that no handle stores into a frame that is reused. */
static inline void shm_free_node(shm_publisher *p, shm_node *node) {
  shm_end_node(p, node);
  shm_reuse_node(p, node);
}

static inline void shm_free_all(shm_publisher *p, shm_node *node) {
  for (shm_node *child = node->first_child, *next; child != NULL; child = next) {
    next = child->next_sibling;
    shm_free_all(p, child);
  }
  shm_free_node(p, node);
}

/* Publishes the removal of a node and everything below it. */
static inline void shm_unpublish(shm_publisher *p, shm_node *node) {
  shm_detach_all(p, node);
  shm_detach_from_parent(node);
  shm_add_tombstone(p, node->id);
}

static inline int shm_remove(shm_publisher *p, const shm_ref *ref, shm_node *node, const char *function) {
  if (p == NULL) return -ESTALE; /* a handle of zeros */
  int code = shm_acquire(p);
  if (code != 0) return code;
  /* While the slot is live, the node exists. */
  bool is_live = shm_is_live(ref), is_member = is_live && node->is_member;
  if (is_live && !is_member) {
    shm_unpublish(p, node);
    shm_free_all(p, node);
  }
  shm_release(p);
  if (is_member)
    return shm_fail(-EINVAL, "%s: variable: found a series of a metric, allowed: shm_metric_remove() for a child", function);
  return is_live ? 0 : -ESTALE;
}

/* Returns the id of an object or the name of a variable. The caller holds the lock. */
static inline shm_text shm_name_of(const shm_publisher *p, const shm_node *node) {
  shm_record record;
  memcpy(&record, shm_record_at(p, &p->active, node->index), sizeof record);
  return shm_string_at(shm_strings_of(p, &p->active), record.text[0]);
}

/* Writes the name of a node, unless another call is changing the tree right now. */
static inline void shm_write_node(shm_line *line, shm_publisher *p, const shm_ref *ref,
                                  const shm_node *node) {
  char name[SHM_SHOWN_BYTES + 2];
  if (!shm_try_acquire(p)) return;
  bool is_live = shm_is_live(ref);
  if (is_live) {
    shm_text text = shm_name_of(p, node);
    size_t length = text.length < sizeof name ? text.length : sizeof name - 1;
    memcpy(name, text.bytes, length);
    name[length] = '\0';
  }
  shm_release(p);
  if (!is_live) return;
  shm_write_byte(line, ' ');
  shm_write_name(line, name);
}

static inline shm_node *shm_new_node(void) {
  shm_node *node = (shm_node *)calloc(1, sizeof *node);
  if (node != NULL) node->slot = node->as_of_slot = SHM_NO_SLOT;
  return node;
}

static inline void shm_count_dropped(shm_publisher *p, int at) {
  __atomic_fetch_add(shm_header_word(p, at), 1, __ATOMIC_RELAXED);
}

/* Sets `text`, and returns whether it has at most `most` bytes. NULL is the empty text. */
static inline bool shm_check_text(const char *bytes, uint32_t most, shm_text *text) {
  size_t length = bytes == NULL ? 0 : strlen(bytes);
  text->bytes = bytes;
  text->length = (uint32_t)length;
  return length <= most;
}

/* ---------------------------------------------------------------- internals: the file */

/* Checks a context id, a pool name or a server key. Readers check keys in their configuration by this rule,
 * too. `written` is the key before the process id replaced "{pid}". */
static inline int shm_check_key(const char *function, const char *argument, const char *written, const char *key) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  size_t length = key == NULL ? 0 : strlen(key);
  if (length >= 1 && length <= SHM_KEY_BYTES && key[0] != '.' && strspn(key, allowed) == length) return 0;
  shm_line found = {"", 0};
  bool is_server_key = strcmp(argument, "server_key") == 0; /* only this one has no default */
  if (length <= SHM_KEY_BYTES) shm_write_name(&found, written);
  else shm_print(&found, "%u bytes", (uint64_t)length);
  return shm_fail(-EINVAL,
                  "%s: %s: found %s, allowed: a string of 1 to 64 letters, digits, \"_\", \"-\" and \".\", not starting "
                  "with \".\"%s",
                  function, argument, found.text,
                  is_server_key ? ", with at most one \"{pid}\"" : key == NULL ? " (start from shm_options_default())" : "");
}

/* Copies a server key, with the process id in the place of the first "{pid}". Sets the start and the end of the process
 * id in the copy, or both to 0 without "{pid}". */
static inline void shm_replace_pid(const char *key, shm_line *out, uint32_t *pid_at, uint32_t *pid_end) {
  static const char place[] = "{pid}";
  const char *found = strstr(key, place);
  *pid_at = *pid_end = 0;
  for (; *key != '\0' && key != found; key++) shm_write_byte(out, *key);
  if (found == NULL) return;
  *pid_at = out->length;
  shm_write_number(out, (uint64_t)getpid());
  *pid_end = out->length;
  shm_write(out, found + strlen(place));
}

static inline int shm_set_names(const char *function, shm_publisher *p, const shm_options *options) {
  shm_line key = {"", 0};
  uint32_t pid_at = 0, pid_end = 0;
  if (options->server_key != NULL) shm_replace_pid(options->server_key, &key, &pid_at, &pid_end);
  int code = shm_check_key(function, "context_id", options->context_id, options->context_id);
  if (code == 0) code = shm_check_key(function, "pool_name", options->pool_name, options->pool_name);
  if (code == 0)
    code = shm_check_key(function, "server_key", options->server_key, pid_end == 0 ? options->server_key : key.text);
  if (code != 0) return code;
  char name[3 * SHM_KEY_BYTES + 3];
  snprintf(name, sizeof name, "%s.%s.%.*s", options->context_id, options->pool_name, SHM_KEY_BYTES, key.text);
  uint32_t unique, key_at = (uint32_t)(strlen(SHM_FOLDER "/") + strlen(name) - key.length);
  if (getrandom(&unique, sizeof unique, 0) != (ssize_t)sizeof unique) return -EIO;
  snprintf(p->path, sizeof p->path, SHM_FOLDER "/%s", name);
  snprintf(p->temporary, sizeof p->temporary, SHM_FOLDER "/.%s.%ld.%08x.tmp", name, (long)getpid(),
           (unsigned)unique);
  p->pid_at = pid_end == 0 ? 0 : key_at + pid_at;
  p->pid_end = pid_end == 0 ? 0 : key_at + pid_end;
  return 0;
}

static inline void shm_lay_region(shm_publisher *p, int index, uint64_t bytes) {
  p->regions[index].at = p->file_size;
  p->regions[index].bytes = bytes;
  p->file_size += (bytes + SHM_PAGE - 1) / SHM_PAGE * SHM_PAGE;
}

static inline int shm_check_capacity(const char *function, const char *argument, uint64_t value, uint64_t least,
                                     uint64_t most) {
  if (value >= least && value <= most) return 0;
  return shm_fail(-EINVAL, "%s: %s: found %u, allowed: %u to %u", function, argument, value, least, most);
}

static inline int shm_lay_out(const char *function, shm_publisher *p, const shm_options *options) {
  int code = shm_check_capacity(function, "records", options->records, 1, 8388608u);
  if (code == 0) code = shm_check_capacity(function, "string_bytes", options->string_bytes, 2, 134217728u);
  if (code == 0) code = shm_check_capacity(function, "slots", options->slots, 1, 16777216u);
  if (code == 0) code = shm_check_capacity(function, "frame_bytes", options->frame_bytes, 8, 2147483648u);
  if (code != 0) return code;
  if (options->frame_bytes % 8 != 0)
    return shm_fail(-EINVAL, "%s: frame_bytes: found %u, allowed: multiples of 8", function, options->frame_bytes);
  p->record_capacity = (uint32_t)options->records;
  p->string_capacity = (uint32_t)options->string_bytes;
  p->slot_capacity = (uint32_t)options->slots;
  p->frame_units = (uint32_t)(options->frame_bytes / 8);
  p->file_size = SHM_PAGE;
  shm_lay_region(p, SHM_DIRECTORY_A, options->records * SHM_RECORD_SIZE);
  shm_lay_region(p, SHM_STRINGS_A, options->string_bytes);
  shm_lay_region(p, SHM_DIRECTORY_B, options->records * SHM_RECORD_SIZE);
  shm_lay_region(p, SHM_STRINGS_B, options->string_bytes);
  shm_lay_region(p, SHM_WORDS, options->slots * 4);
  shm_lay_region(p, SHM_SLOTS, options->slots * 8);
  shm_lay_region(p, SHM_FRAMES, options->frame_bytes);
  p->next_free = (uint32_t *)calloc(options->slots, sizeof *p->next_free);
  return p->next_free == NULL ? -ENOMEM : 0;
}

/* Takes the lock that shows that a publisher is alive. The kernel releases it when the last descriptor and
 * the last mapping of the open file are closed. */
static inline int shm_lock(int fd) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

/* Whether another process, or another publisher of this process, holds the lock. */
static inline bool shm_is_locked(int fd) {
  struct flock lock;
  memset(&lock, 0, sizeof lock);
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Whether the process may write files of this size. Beyond its limit, ftruncate() and pwrite() raise
 * SIGXFSZ, which ends the program. */
static inline bool shm_allows_size(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes;
}

/* Makes a file without a name, so that nothing is left if the process is killed. Such a file can get a name
 * only through /proc. So without /proc, the file gets a temporary name at once. */
static inline int shm_open_file(shm_publisher *p, mode_t mode) {
  struct stat facts;
  if (access("/proc/self/fd", X_OK) == 0)
    p->fd = open(SHM_FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  if (p->fd < 0) {
    p->fd = open(p->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    p->has_temporary = p->fd >= 0;
  }
  if (p->fd < 0 || fstat(p->fd, &facts) != 0) return -errno;
  p->device = facts.st_dev;
  p->inode = facts.st_ino;
  return 0;
}

/* Maps the file. After mlockall(MCL_FUTURE), the kernel would allocate all pages of an accessible mapping,
 * so this mapping gets its access rights only once it is unlocked. */
static inline int shm_map_file(shm_publisher *p) {
  void *map = mmap(NULL, p->file_size, PROT_NONE, MAP_SHARED, p->fd, 0);
  if (map == MAP_FAILED) return -errno;
  p->map = (uint8_t *)map;
  if (munlock(map, p->file_size) != 0) return -errno;
  return mprotect(map, p->file_size, PROT_READ | PROT_WRITE) == 0 ? 0 : -errno;
}

static inline int shm_make_file(shm_publisher *p, mode_t mode) {
  if (!shm_allows_size(p->file_size)) return -EFBIG;
  int code = shm_open_file(p, mode);
  if (code != 0) return code;
  /* open() applied the umask; fchmod() does not. */
  if (fchmod(p->fd, mode) != 0 || ftruncate(p->fd, (off_t)p->file_size) != 0) return -errno;
  code = posix_fallocate(p->fd, 0, SHM_PAGE);
  if (code != 0) return -code;
  code = shm_lock(p->fd);
  if (code != 0) return code;
  code = shm_map_file(p);
  if (code != 0) return code;
  /* Offset 0 of the strings is the empty string. Nothing writes it, but a change of directories reads it,
   * so it needs memory. */
  if (!shm_reserve(p, SHM_STRINGS_A, 2) || !shm_reserve(p, SHM_STRINGS_B, 2)) return -ENOSPC;
  return 0;
}

static inline void shm_fill_layout(const shm_publisher *p, shm_header *header) {
  header->file_size = p->file_size;
  header->directory_a = p->regions[SHM_DIRECTORY_A].at;
  header->directory_b = p->regions[SHM_DIRECTORY_B].at;
  header->record_capacity = p->record_capacity;
  header->strings_a = p->regions[SHM_STRINGS_A].at;
  header->strings_b = p->regions[SHM_STRINGS_B].at;
  header->string_capacity = p->string_capacity;
  header->words = p->regions[SHM_WORDS].at;
  header->slots = p->regions[SHM_SLOTS].at;
  header->slot_capacity = p->slot_capacity;
  header->frames = p->regions[SHM_FRAMES].at;
  header->frame_capacity = p->regions[SHM_FRAMES].bytes;
}

static inline int shm_write_header(shm_publisher *p, const shm_options *options) {
  shm_header header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, "SHMEXP\r\n", sizeof header.magic);
  header.byte_order = 0x01020304;
  header.major_version = 1;
  header.minor_version = 1;
  header.required_features = options->series ? SHM_FEATURE_SERIES : 0;
  header.header_size = SHM_PAGE;
  header.record_size = SHM_RECORD_SIZE;
  ssize_t got = getrandom(&header.generation, sizeof header.generation, 0);
  if (got != (ssize_t)sizeof header.generation) return -EIO;
  header.generation |= 1;
  header.started_realtime_ns = shm_clock_ns(CLOCK_REALTIME);
  header.started_monotonic_ns = shm_clock_ns(CLOCK_MONOTONIC);
  header.pid = (uint64_t)getpid();
  header.heartbeat_period_ns = (uint64_t)options->heartbeat_ms * 1000000u;
  shm_fill_layout(p, &header);
  header.crc = shm_crc32(&header, offsetof(shm_header, crc));
  memcpy(p->map, &header, sizeof header);
  return 0;
}

static inline bool shm_is_same_file(int fd, const char *path) {
  struct stat own, named;
  return fstat(fd, &own) == 0 && stat(path, &named) == 0 && own.st_dev == named.st_dev &&
         own.st_ino == named.st_ino;
}

static inline bool shm_has_name(const shm_publisher *p) {
  struct stat named;
  return stat(p->path, &named) == 0 && shm_is_own_file(p, &named);
}

/* Tells the readers of a segment that a newer segment has taken its name. */
static inline void shm_supersede(int old) {
  struct stat facts;
  uint64_t state = SHM_SUPERSEDED;
  if (fstat(old, &facts) != 0 || facts.st_size < SHM_PAGE || !shm_allows_size(SHM_PAGE)) return;
  /* A failure does no harm: readers also check the name. */
  ssize_t written = pwrite(old, &state, sizeof state, SHM_AT_STATE);
  (void)written;
}

/* Writes the path of a descriptor, without snprintf(), which is not safe in signal handlers. */
static inline void shm_path_of_descriptor(int fd, char path[32]) {
  char digits[12], *end = path + strlen(strcpy(path, "/proc/self/fd/"));
  int count = 0;
  do digits[count++] = (char)('0' + fd % 10);
  while ((fd /= 10) != 0);
  while (count > 0) *end++ = digits[--count];
  *end = 0;
}

/* Gives the file a name. Returns -EEXIST if the name is taken. */
static inline int shm_link(shm_publisher *p, const char *name) {
  char source[32];
  shm_path_of_descriptor(p->fd, source);
  int code = p->has_temporary ? link(p->temporary, name)
                              : linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
  return code == 0 ? 0 : -errno;
}

static inline void shm_unlink_temporary(shm_publisher *p) {
  if (p->has_temporary) unlink(p->temporary);
  p->has_temporary = false;
}

/* Replaces a segment if its publisher is dead. Returns -EBUSY if that publisher is alive, -EAGAIN if
 * another publisher was faster. */
static inline int shm_replace_locked(shm_publisher *p, int old) {
  int code = shm_lock(old);
  if (code != 0) return code;
  if (!shm_is_same_file(old, p->path)) return -EAGAIN;
  bool had_temporary = p->has_temporary;
  if (!had_temporary) code = shm_link(p, p->temporary);
  if (code != 0) return code;
  if (rename(p->temporary, p->path) != 0) {
    code = -errno;
    if (!had_temporary) unlink(p->temporary);
    return code;
  }
  p->has_temporary = false;
  shm_supersede(old);
  return 0;
}

static inline int shm_replace(shm_publisher *p) {
  int code, old = open(p->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (old >= 0) {
    code = shm_replace_locked(p, old);
  } else {
    code = -errno;
    /* The other publisher has closed its segment in the meantime, so the name is free. */
    if (code == -ENOENT) return -EAGAIN;
    /* The file belongs to another user. Its lock can be queried through a read-only descriptor. */
    old = open(p->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (old < 0) return code;
    if (shm_is_locked(old)) code = -EBUSY;
  }
  close(old);
  return code;
}

/* Gives the file its name. Returns -EBUSY if another publisher has the name. */
static inline int shm_take_name(shm_publisher *p) {
  struct stat facts;
  if (!shm_has_descriptor(p, &facts)) return -EBADF;
  int code = -EAGAIN;
  for (int round = 0; round < 3 && code == -EAGAIN; round++) {
    code = shm_link(p, p->path);
    if (code == 0) shm_unlink_temporary(p);
    if (code == -EEXIST) code = shm_replace(p);
  }
  __atomic_store_n(&p->is_named, code == 0, __ATOMIC_RELAXED);
  return code == -EAGAIN ? -EBUSY : code;
}

/* Returns the process id of a segment's publisher, or 0 if the file is no segment. */
static inline uint64_t shm_pid_of(int fd) {
  uint64_t head[SHM_AT_PID / 8 + 1];
  bool is_segment = pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head && memcmp(head, "SHMEXP\r\n", 8) == 0;
  return is_segment ? head[SHM_AT_PID / 8] : 0;
}

/* Whether another process of this PID namespace has the id `pid`. */
static inline bool shm_is_other_process(uint64_t pid) {
  return pid != (uint64_t)getpid() && pid <= INT_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* Removes a segment if its publisher was the process `pid`, and is dead. If another process has this id now, as in a
 * restarted container, the segment stays: that process may be about to replace the segment, and would find it locked.
 * Readers keep a removed segment open. */
static inline void shm_unlink_if_dead(const char *path, uint64_t pid) {
  int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  bool is_left = pid != 0 && shm_pid_of(fd) == pid && !shm_is_other_process(pid);
  if (is_left && shm_lock(fd) == 0 && shm_is_same_file(fd, path)) unlink(path);
  close(fd);
}

/* Whether the rest of a file's name is `rest`, or for a temporary file, `rest` and the end of such a name. */
static inline bool shm_is_rest(const char *name, const char *rest, bool is_temporary) {
  size_t bytes = strlen(rest);
  int end = 0;
  if (strncmp(name, rest, bytes) != 0) return false;
  if (is_temporary) sscanf(name + bytes, ".%*[0-9].%*8[0-9a-f].tmp%n", &end);
  return name[bytes + (size_t)end] == '\0' && is_temporary == (end > 0);
}

/* Removes the segments and temporary files of killed processes whose server keys differ from this one only in the
 * process id. */
static inline void shm_unlink_dead(const shm_publisher *p) {
  const size_t folder_bytes = strlen(SHM_FOLDER "/");
  const char *own = p->path + folder_bytes, *rest = p->path + p->pid_end;
  DIR *folder = p->pid_end == 0 ? NULL : opendir(SHM_FOLDER);
  if (folder == NULL) return;
  size_t before = p->pid_at - folder_bytes;
  int tries = 0;
  for (struct dirent *each; tries < SHM_DEAD_SEGMENTS && (each = readdir(folder)) != NULL;) {
    char path[sizeof each->d_name + 16], *end;
    const bool is_temporary = each->d_name[0] == '.';
    const char *name = each->d_name + is_temporary;
    if (strncmp(name, own, before) != 0 || strcmp(each->d_name, own) == 0) continue;
    uint64_t pid = strtoull(name + before, &end, 10);
    if (end == name + before || !shm_is_rest(end, rest, is_temporary)) continue;
    snprintf(path, sizeof path, SHM_FOLDER "/%s", each->d_name);
    shm_unlink_if_dead(path, pid);
    tries++;
  }
  closedir(folder);
}

/* Returns the general text of a code, or NULL. */
static inline const char *shm_code_text(int code) {
  switch (code < 0 ? -code : code) {
  case 0: return "no error";
  case ESTALE: return "the object or variable was removed, or was dropped for lack of room";
  case ENOSPC: return "no room in the segment or in " SHM_FOLDER;
  case EINVAL: return "an argument is not allowed; shm_last_error() names it in the thread that made the call";
  case EBUSY: return "another publisher holds the server key";
  case ENOENT: return "no child has these label values";
  case ENOMEM: return "no memory";
  case ECHILD: return "only the process that opened the publisher may use it, not a forked child";
  case EDEADLK: return "a signal handler interrupted another call or update: nothing was stored";
  case EAGAIN: return "the segment exceeds the limit on locked memory (mlockall, ulimit -l)";
  case EFBIG: return "the segment exceeds the limit on file size (ulimit -f): lower its capacities";
  case EPERM: return "the operation is not permitted";
  case EACCES: return "permission denied";
  case ELOOP: return "the name is a symbolic link";
  case EISDIR: return "the name is a directory";
  case EBADF: return "the program closed the segment's file, and the file's name no longer exists";
  default: return NULL;
  }
}

/* Appends the reason why the segment cannot get its name. */
static inline void shm_explain_name(const shm_publisher *p, int code, shm_line *line) {
  struct stat facts;
  int fd = open(p->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  bool is_there = lstat(p->path, &facts) == 0;
  if (code == -EBUSY) {
    uint64_t pid = fd >= 0 ? shm_pid_of(fd) : 0;
    shm_print(line, "another publisher holds %s", p->path);
    if (pid != 0) shm_print(line, " (process %u)", pid);
  } else if ((code == -EACCES || code == -EPERM) && is_there && facts.st_uid != geteuid()) {
    shm_print(line, "%s belongs to %s", p->path, facts.st_uid == 0 ? "root" : "user ");
    if (facts.st_uid != 0) shm_write_number(line, facts.st_uid);
    shm_write(line, fd >= 0 ? ", and its publisher has ended: remove it as that user"
                            : ", and this program may not read it: remove it as that user");
  } else {
    const char *text = shm_code_text(code);
    shm_print(line, "%s cannot be taken: %s", p->path, text == NULL ? "error " : text);
    if (text == NULL) shm_write_number(line, (uint64_t)-code);
  }
  if (fd >= 0) close(fd);
}

/* Writes a line to stderr, unless that could block, raise a signal, or write into another file that got the
 * descriptor number of a closed stderr. */
static inline void shm_write_stderr(const shm_line *line) {
  struct stat facts;
  struct pollfd ready = {STDERR_FILENO, POLLOUT, 0};
  if (poll(&ready, 1, 0) != 1 || ready.revents != POLLOUT) return;
  if (fstat(STDERR_FILENO, &facts) != 0) return;
  if (S_ISREG(facts.st_mode) && ((fcntl(STDERR_FILENO, F_GETFL) & O_ACCMODE) != O_WRONLY ||
                                 !shm_allows_size((uint64_t)facts.st_size + line->length)))
    return;
  ssize_t written = write(STDERR_FILENO, line->text, line->length);
  (void)written;
}

/* Reports once on stderr why the segment has no name. The caller holds the lock. */
static inline void shm_report_name(shm_publisher *p, int code) {
  bool *reported = code == -EBUSY ? &p->reported_busy : &p->reported_failure;
  if (*reported) return;
  *reported = true;
  shm_line line = {"", 0};
  shm_write(&line, "shm_publisher: ");
  shm_explain_name(p, code, &line);
  shm_write(&line, code == -EBUSY ? "; this publisher takes the key once it is free (set fail_if_busy to get an error "
                                    "instead; give each worker process a key with {pid}, and all of them one target "
                                    "with format = \"workers\")\n"
                                  : "; the publisher tries again every second\n");
  shm_write_stderr(&line);
}

/* Reports on stderr that the segment has its name, if shm_report_name() has reported why it had none. The caller holds
 * the lock. */
static inline void shm_report_taken(shm_publisher *p) {
  if (!p->reported_busy && !p->reported_failure) return;
  p->reported_busy = p->reported_failure = false;
  shm_line line = {"", 0};
  shm_print(&line, "shm_publisher: this publisher now holds %s\n", p->path);
  shm_write_stderr(&line);
}

static inline void shm_unlink_names(shm_publisher *p) {
  shm_unlink_temporary(p);
  if (p->is_named && shm_has_name(p)) unlink(p->path);
}

/* Unmaps the file and closes its descriptor, which releases the lock. */
static inline void shm_leave_file(shm_publisher *p) {
  struct stat facts;
  if (p->map != NULL) munmap(p->map, p->file_size);
  if (shm_owns_descriptor(p, &facts)) close(p->fd);
  p->map = NULL;
  p->fd = -1;
}

/* Removes the name, then releases the lock. Once the lock is free, another publisher may take the name. */
static inline void shm_release_file(shm_publisher *p) {
  shm_unlink_names(p);
  shm_leave_file(p);
}

/* ---------------------------------------------------------------- internals: a name that was removed */

/* Copies the writes that other threads made to a region of the old file after it was copied. A word that a
 * thread has already changed in the new file keeps that later value. `now` has room for a page. */
static inline void shm_copy_late_writes(shm_publisher *p, int index, const uint8_t *copied,
                                  uint8_t *now) {
  const shm_region *region = &p->regions[index];
  for (uint64_t at = 0; at < region->real; at += SHM_PAGE) {
    size_t most = SHM_PAGE, width = index == SHM_WORDS ? 4 : 8;
    if (region->real - at < most) most = (size_t)(region->real - at);
    ssize_t got = pread(p->fd, now, most, (off_t)(region->at + at));
    size_t length = got < 0 ? 0 : (size_t)got;
    for (size_t i = 0; i + width <= length; i += width) {
      const uint8_t *before = copied + at + i;
      void *to = p->map + region->at + at + i;
      if (memcmp(now + i, before, width) == 0) continue;
      if (width == 4) {
        uint32_t was, is;
        memcpy(&was, before, width);
        memcpy(&is, now + i, width);
        __atomic_compare_exchange_n((uint32_t *)to, &was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      } else {
        uint64_t was, is;
        memcpy(&was, before, width);
        memcpy(&is, now + i, width);
        __atomic_compare_exchange_n((uint64_t *)to, &was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      }
    }
  }
}

/* Copies the used part of the segment into `next`, and maps `next` at the same addresses, so handles stay
 * valid. `copied` has room for the used part of all regions. */
static inline int shm_move_map(shm_publisher *p, shm_publisher *next, uint8_t *copied,
                               uint8_t *page) {
  uint8_t *to = copied;
  if (pread(p->fd, next->map, SHM_PAGE, 0) != SHM_PAGE) return -EIO;
  for (int i = 0; i < SHM_REGIONS; i++) {
    const shm_region *region = &p->regions[i];
    if (!shm_reserve(next, i, region->real)) return -ENOSPC;
    if (pread(p->fd, to, region->real, (off_t)region->at) != (ssize_t)region->real) return -EIO;
    memcpy(next->map + region->at, to, region->real);
    to += region->real;
  }
  int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
  if (mremap(next->map, p->file_size, p->file_size, flags, p->map) == MAP_FAILED) return -errno;
  next->map = NULL;
  to = copied;
  for (int i = 0; i < SHM_REGIONS; i++) {
    if (i >= SHM_WORDS) shm_copy_late_writes(p, i, to, page);
    to += p->regions[i].real;
  }
  return 0;
}

/* Copies the segment into a new file, which has no name yet. The caller holds the lock. */
static inline int shm_replace_by_copy(shm_publisher *p, mode_t mode) {
  size_t bytes = 0;
  static_assert(sizeof(shm_publisher) <= SHM_PAGE, "a publisher fits into a page");
  for (int i = 0; i < SHM_REGIONS; i++) bytes += p->regions[i].real;
  /* Room for two pages and the copy. A signal handler may run this on a small stack, or in the middle of
   * malloc(), so the room is neither on the stack nor on the heap. */
  size_t length = 2 * (size_t)SHM_PAGE + bytes;
  void *room = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return -errno;
  shm_publisher *next = (shm_publisher *)room;
  uint8_t *page = (uint8_t *)room + SHM_PAGE;
  memcpy(next->path, p->path, sizeof next->path);
  memcpy(next->temporary, p->temporary, sizeof next->temporary);
  next->fd = -1;
  next->file_size = p->file_size;
  for (int i = 0; i < SHM_REGIONS; i++) {
    next->regions[i].at = p->regions[i].at;
    next->regions[i].bytes = p->regions[i].bytes;
  }
  int code = shm_make_file(next, mode);
  if (code == 0) {
    if (p->hold_updates != NULL) p->hold_updates();
    code = shm_move_map(p, next, page + SHM_PAGE, page);
    if (p->resume_updates != NULL) p->resume_updates();
  }
  if (code == 0) {
    shm_supersede(p->fd);
    close(p->fd);
    p->fd = next->fd;
    p->device = next->device;
    p->inode = next->inode;
    p->has_temporary = next->has_temporary;
    __atomic_store_n(&p->is_named, false, __ATOMIC_RELAXED);
  } else {
    shm_release_file(next);
  }
  munmap(room, length);
  return code;
}

/* Gives the segment its name if it has none. The kernel cannot link a file whose name was removed, so a
 * copy replaces such a file. The caller holds the lock. */
static inline int shm_keep_name(shm_publisher *p) {
  int code = 0;
  if (p->is_named && !shm_has_name(p)) {
    struct stat facts;
    if (!shm_has_descriptor(p, &facts)) return -EBADF;
    /* After chroot() or in another mount namespace, the file still has its name, which stat() cannot see. */
    if (facts.st_nlink > 0) return 0;
    code = shm_replace_by_copy(p, facts.st_mode & 0777);
  }
  if (code == 0 && !p->is_named) {
    code = shm_take_name(p);
    if (code == 0) shm_report_taken(p);
  }
  return code;
}

static inline void shm_free_publisher(shm_publisher *p) {
  for (shm_node *node = p->oldest, *next; node != NULL; node = next) {
    next = node->newer;
    free(node->frame);
    free(node->schema);
    free(node);
  }
  for (int i = 0; i < SHM_SIZE_CLASSES; i++)
    for (shm_frame *frame = p->free_frames[i], *next; frame != NULL; frame = next) {
      next = frame->next;
      free(frame);
    }
  free(p->active.table);
  free(p->next_free);
  if (p->opener != NULL) munmap(p->opener, SHM_PAGE);
  free(p);
}

/* ---------------------------------------------------------------- the publisher */

static inline shm_options shm_options_default(void) {
  shm_options options;
  memset(&options, 0, sizeof options);
  options.context_id = "shmApp";
  options.pool_name = "pool";
  options.records = 1u << 18;
  options.string_bytes = 1u << 24;
  options.slots = 1u << 18;
  options.frame_bytes = 1u << 24;
  options.heartbeat_ms = 1000;
  options.mode = 0644;
  return options;
}

/* Returns the text of the calling thread's last error: the function, the argument, what was found and what is
 * allowed. Returns "" if there was no error. The text is valid until the thread's next error. */
static inline const char *shm_last_error(void) {
  shm_error *error = &shm_error_of_thread;
  if (error->code == 0) return "";
  if (error->function != NULL) {
    const char *text = shm_code_text(error->code);
    shm_line details = error->line;
    error->line.length = 0;
    shm_print(&error->line, "%s: ", error->function);
    if (error->argument == NULL) shm_write(&error->line, details.text);
    else shm_print(&error->line, "%s: %s", error->argument, text != NULL ? text : strerror(-error->code));
    error->function = NULL;
  }
  return error->line.text;
}

/* Returns a text for an error, never NULL: that of shm_last_error() if the calling thread's last error has this
 * code, otherwise a general one. */
static inline const char *shm_error_text(int code) {
  int negative = code < 0 ? code : -code;
  if (code != 0 && negative == shm_error_of_thread.code) return shm_last_error();
  const char *text = shm_code_text(code);
  return text != NULL ? text : strerror(-negative);
}

/* Stores a heartbeat. Call it at least once per heartbeat period, from any thread. If the segment has no
 * name, also tries once a second to take its name: a predecessor may have ended, or something may have
 * removed the name. */
static inline void shm_publisher_heartbeat(shm_publisher *p) {
  if (p == NULL || shm_is_in_child(p)) return;
  uint64_t now = shm_clock_ns(CLOCK_MONOTONIC), due = __atomic_load_n(&p->check_ns, __ATOMIC_RELAXED);
  shm_put(shm_header_word(p, SHM_AT_HEARTBEAT), now);
  if (due == 0 || now < due) return;
  if (!__atomic_compare_exchange_n(&p->check_ns, &due, now + SHM_CHECK_NS, false, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED))
    return;
  /* A heartbeat never waits for another thread. If this attempt fails, a later heartbeat tries again. */
  if (!shm_try_acquire(p)) return;
  int error = errno;
  int code = shm_keep_name(p);
  if (code != 0) shm_report_name(p, code);
  errno = error;
  shm_release(p);
}

/* Wakes the readers and stores a heartbeat. Call it after a batch of stores or from a timer, from any
 * thread. */
static inline void shm_publisher_notify(shm_publisher *p) {
  if (p == NULL || shm_is_in_child(p)) return;
  uint64_t *notifications = shm_header_word(p, SHM_AT_NOTIFICATIONS);
  shm_publisher_heartbeat(p);
  __atomic_fetch_add(notifications, 1, __ATOMIC_RELEASE);
  /* Readers wait for a change of the low half of the count. */
  syscall(SYS_futex, (uint32_t *)(void *)notifications, SHM_FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Makes a segment that readers do not see yet. */
static inline int shm_make_segment(const char *function, shm_publisher **out, const shm_options *options) {
  shm_error_of_thread.code = 0;
  shm_publisher *p = (shm_publisher *)calloc(1, sizeof *p);
  if (p == NULL) return shm_fail_with(-ENOMEM, function, "options");
  shm_note_opener(p);
  p->fd = -1;
  p->active.string_bytes = 2;
  p->fails_if_busy = options->fail_if_busy;
  p->has_series = options->series;
  int code = shm_set_names(function, p, options);
  if (code == 0) code = shm_lay_out(function, p, options);
  if (code == 0 && options->mode > 0777)
    code = shm_fail(-EINVAL, "%s: mode: found %u, allowed: 0 to 0777, such as 0600", function, (uint64_t)options->mode);
  bool allows_size = code == 0 && shm_allows_size(p->file_size);
  if (code == 0) code = shm_make_file(p, options->mode);
  if (code == 0) code = shm_write_header(p, options);
  if (code != 0) {
    bool has_no_file = allows_size && p->fd < 0;
    shm_release_file(p);
    shm_free_publisher(p);
    if (has_no_file) return shm_fail(code, "%s: cannot make a file in " SHM_FOLDER ": %s", function, strerror(-code));
    return shm_result(code, function, "options");
  }
  shm_publish_string_bytes(p, &p->active);
  shm_publisher_heartbeat(p);
  *out = p;
  return 0;
}

/* Makes a segment that readers do not see yet. Add objects and variables, then call
 * shm_publisher_publish(). */
static inline int shm_publisher_open(shm_publisher **out, const shm_options *options) {
  int code = shm_check_pointer(out, __func__, "out", "a pointer to a pointer to a publisher");
  if (code != 0) return code;
  *out = NULL;
  code = shm_check_pointer(options, __func__, "options", "options from shm_options_default() with a server_key");
  return code != 0 ? code : shm_make_segment(__func__, out, options);
}

/* Whether readers could find the segment by its name at the last check. shm_publisher_publish() and
 * heartbeats check the name. */
static inline bool shm_publisher_holds_key(const shm_publisher *p) {
  return p != NULL && !shm_is_in_child(p) && __atomic_load_n(&p->is_named, __ATOMIC_RELAXED);
}

/* Makes the segment visible, and removes the segments of killed processes. */
static inline int shm_show_segment(const char *function, shm_publisher *p) {
  if (shm_is_in_child(p)) return shm_fail_with(-ECHILD, function, "publisher");
  shm_publisher_heartbeat(p);
  shm_put(shm_header_word(p, SHM_AT_STATE), SHM_LIVE);
  int code = shm_acquire(p);
  if (code != 0) return shm_fail_with(code, function, "publisher");
  code = shm_keep_name(p);
  if (code == -EBUSY && !p->fails_if_busy) {
    shm_report_name(p, code);
    code = 0;
  }
  shm_release(p);
  if (code == 0) {
    __atomic_store_n(&p->check_ns, shm_clock_ns(CLOCK_MONOTONIC) + SHM_CHECK_NS, __ATOMIC_RELAXED);
    if (shm_publisher_holds_key(p)) shm_unlink_dead(p);
  } else {
    shm_line why = {"", 0};
    shm_explain_name(p, code, &why);
    shm_fail(code, "%s: %s", function, why.text);
  }
  return code;
}

/* Makes the segment visible. Call it again to restore a name that was removed. If another publisher holds
 * the server key, one line on stderr says so, and the function returns 0: shm_publisher_heartbeat() takes the
 * key when it is free, and writes another line. With `fail_if_busy`, the function returns -EBUSY instead, and may
 * be called again. */
static inline int shm_publisher_publish(shm_publisher *p) {
  int code = shm_check_pointer(p, __func__, "publisher", "a publisher from shm_publisher_open()");
  return code != 0 ? code : shm_show_segment(__func__, p);
}

/* The earlier names of shm_publisher_publish() and shm_publisher_heartbeat(). */
static inline int shm_publisher_place(shm_publisher *p) {
  return shm_publisher_publish(p);
}

static inline void shm_publisher_beat(shm_publisher *p) {
  shm_publisher_heartbeat(p);
}

/* Marks the segment as closed, and wakes its readers. */
static inline void shm_end_segment(shm_publisher *p) {
  __atomic_store_n(&p->check_ns, 0, __ATOMIC_RELAXED);
  shm_put(shm_header_word(p, SHM_AT_STATE), SHM_CLOSED);
  shm_publisher_notify(p);
}

/* Closes the segment: readers see a clean end, and its name is removed. Use no handle afterwards. In a
 * forked child, it ends only the child's use of the segment. */
static inline void shm_publisher_close(shm_publisher *p) {
  if (p == NULL) return;
  if (shm_is_in_child(p)) {
    shm_leave_file(p); /* the heap stays: another thread of the parent may have been changing it during the fork */
    return;
  }
  shm_end_segment(p);
  shm_release_file(p);
  shm_free_publisher(p);
}

/* ---------------------------------------------------------------- objects */

static inline shm_object_options shm_object_options_default(void) {
  shm_object_options options;
  memset(&options, 0, sizeof options);
  options.state = SHM_STATE_NORMAL;
  options.synced = true;
  return options;
}

/* Allocates and publishes an object. Returns false if there is no room. The caller holds the lock. */
static inline bool shm_build_object(shm_publisher *p, shm_object *out, shm_node *node,
                                    shm_node *parent, const shm_object_options *options,
                                    const shm_text *texts) {
  shm_object made = {p, node, {NULL, NULL, 0}, {NULL, NULL, 0}};
  if (!shm_take_slot(p, &node->slot, &made.ref)) return false;
  shm_put(made.ref.value, (uint64_t)options->state);
  __atomic_store_n(made.ref.word, made.ref.synced - (options->synced ? 0 : 1), __ATOMIC_RELEASE);
  /* If no slot is free for the as-of time, the root has no as-of time. */
  if (parent == NULL && shm_take_slot(p, &node->as_of_slot, &made.as_of))
    __atomic_store_n(made.as_of.word, made.as_of.synced - 1, __ATOMIC_RELEASE);
  node->id = ++p->last_id;
  node->depth = parent == NULL ? 1 : parent->depth + 1;
  shm_record record;
  memset(&record, 0, sizeof record);
  record.record_kind = SHM_RECORD_OBJECT;
  record.slot = node->slot;
  record.id = node->id;
  record.owner = parent == NULL ? 0 : parent->id;
  record.incarnation = made.ref.synced >> 1;
  record.extra1 = parent == NULL ? node->as_of_slot : 0;
  record.extra2 = made.as_of.synced >> 1;
  if (!shm_add_record(p, record, texts, &node->index)) return false;
  shm_attach(p, node, parent);
  *out = made;
  return true;
}

/* Checks that an id is its parent's id, a dot, and at least one more byte. */
static inline int shm_check_id(const shm_publisher *p, const shm_node *parent, const shm_text *texts) {
  shm_text above = shm_name_of(p, parent);
  const char *bytes = (const char *)texts[0].bytes;
  if (texts[0].length >= above.length + 2 && memcmp(bytes, above.bytes, above.length) == 0 &&
      bytes[above.length] == '.')
    return 0;
  char id[SHM_SHOWN_BYTES + 2] = {0};
  memcpy(id, above.bytes, above.length < sizeof id ? above.length : sizeof id - 1);
  return shm_fail(-EINVAL,
                  "shm_add_object: name: found %q for an object of class %q, allowed: the parent's id %q, a "
                  "dot and at least one more byte",
                  bytes, (const char *)texts[1].bytes, id);
}

static inline int shm_insert_object(shm_publisher *p, shm_object *out, const shm_object *parent,
                                    const shm_object_options *options, const shm_text *texts) {
  if (parent != NULL && !shm_is_live(&parent->ref))
    return parent->ref.word == NULL ? -ENOSPC : -ESTALE;
  shm_node *above = parent == NULL ? NULL : parent->node;
  if (above != NULL && above->depth >= SHM_DEPTH)
    return shm_fail(-EINVAL,
                    "shm_add_object: parent of %q: found one with %u objects above it, allowed: at most %u",
                    (const char *)texts[0].bytes, (uint64_t)above->depth - 1, (uint64_t)SHM_DEPTH - 2);
  int code = above == NULL ? 0 : shm_check_id(p, above, texts);
  if (code != 0) return code;
  shm_node *node = shm_new_node();
  if (node == NULL) return -ENOMEM;
  if (shm_build_object(p, out, node, above, options, texts)) return 0;
  shm_free_node(p, node);
  return -ENOSPC;
}

static inline int shm_check_state(const char *function, const char *id, int state) {
  if (state >= SHM_STATE_INIT && state <= SHM_STATE_INVALID) return 0;
  return shm_fail(-EINVAL, "%s: state of object%s: found %d, allowed: SHM_STATE_INIT to SHM_STATE_INVALID (0 to 5)",
                  function, id, (int64_t)state);
}

/* Checks the texts of an object, and stores them with their lengths in `texts`. */
static inline int shm_check_object(const char *function, const char *const values[5],
                                   shm_text texts[5]) {
  static const char *const arguments[5] = {"name", "class_name", "host", "instance", "application"};
  for (int i = 0; i < 5; i++)
    if (!shm_check_text(values[i], SHM_NAME_BYTES, &texts[i]))
      return shm_fail(-EINVAL, "%s: %s of object %q: found %u bytes, allowed: at most %u", function,
                      arguments[i], values[0], (uint64_t)texts[i].length, (uint64_t)SHM_NAME_BYTES);
  return 0;
}

static inline int shm_make_object(const char *function, shm_publisher *p, shm_object *out,
                                  const shm_object *parent, const char *name,
                                  const char *class_name, const shm_object_options *options) {
  shm_object_options defaults = shm_object_options_default();
  shm_object copy; /* since `parent` and `out` may be the same handle */
  memset(&copy, 0, sizeof copy);
  if (parent != NULL) copy = *parent;
  if (options == NULL) options = &defaults;
  if (out == NULL)
    return shm_fail(-EINVAL, "%s: out of object %q: found NULL, allowed: a pointer to a shm_object", function, name);
  memset(out, 0, sizeof *out);
  if (p == NULL)
    return shm_fail(-EINVAL, "%s: %s of object %q: found none, allowed: %s", function,
                    parent == NULL ? "publisher" : "parent", name,
                    parent == NULL ? "a publisher from shm_publisher_open()" : "an object that was added");
  out->publisher = p;
  bool is_root = parent == NULL;
  const char *const values[5] = {name, class_name, is_root ? options->host : NULL,
                                 is_root ? options->instance : NULL,
                                 is_root ? options->application : NULL};
  shm_text texts[5];
  shm_line id = {"", 0};
  shm_print(&id, " %q", name);
  int code = shm_check_state(function, id.text, options->state);
  if (code == 0) code = shm_check_object(function, values, texts);
  if (code == 0) code = shm_acquire(p);
  if (code != 0) return shm_result(code, function, "object");
  code = shm_insert_object(p, out, is_root ? NULL : &copy, options, texts);
  if (code != 0 && code != -EINVAL) shm_count_dropped(p, SHM_AT_OBJECTS_DROPPED);
  shm_release(p);
  return shm_result(code, function, code == -ESTALE ? "parent" : "object");
}

/* Adds a root. `options` may be NULL. If there is no room, `out` is a handle that stores nothing. */
static inline int shm_add_root(shm_publisher *p, shm_object *out, const char *name,
                               const char *class_name, const shm_object_options *options) {
  return shm_make_object(__func__, p, out, NULL, name, class_name, options);
}

/* Adds an object below another. `name` is the object's whole id: the parent's id, a dot and at least one
 * more byte. `options` may be NULL. */
static inline int shm_add_object(const shm_object *parent, shm_object *out, const char *name,
                                 const char *class_name, const shm_object_options *options) {
  shm_object none;
  memset(&none, 0, sizeof none);
  if (parent == NULL) parent = &none;
  return shm_make_object(__func__, parent->publisher, out, parent, name, class_name, options);
}

/* Removes an object and everything below it. Their handles return -ESTALE from now on. */
static inline int shm_remove_object(const shm_object *object) {
  int code = shm_check_pointer(object, __func__, "object", "an object that was added");
  if (code == 0) code = shm_remove(object->publisher, &object->ref, object->node, __func__);
  return shm_result(code, __func__, "object");
}

static inline int shm_check_live_object(const shm_object *object, const char *function) {
  if (object == NULL) return shm_check_pointer(NULL, function, "object", "an object that was added");
  return shm_is_live(&object->ref) ? 0 : shm_fail_with(-ESTALE, function, "object");
}

/* Checks the as-of time of a root. */
static inline int shm_check_as_of(const shm_object *root, const char *function) {
  if (root == NULL) return shm_check_pointer(NULL, function, "root", "a root that was added");
  return shm_is_live(&root->as_of) ? 0 : shm_fail_with(-ESTALE, function, "root");
}

/* Sets the management state of an object: SHM_STATE_INIT to SHM_STATE_INVALID. */
static inline int shm_set_state(const shm_object *object, int state) {
  int code = shm_check_live_object(object, __func__);
  if (code != 0) return code;
  if (state < SHM_STATE_INIT || state > SHM_STATE_INVALID) {
    shm_line id = {"", 0};
    shm_write_node(&id, object->publisher, &object->ref, object->node);
    return shm_check_state(__func__, id.text, state);
  }
  __atomic_store_n(object->ref.value, (uint64_t)state, __ATOMIC_RELAXED);
  return 0;
}

/* Sets whether the state of an object is valid. */
static inline int shm_set_synced(const shm_object *object, bool synced) {
  int code = shm_check_live_object(object, __func__);
  return code != 0 ? code : shm_mark_code(&object->ref, synced, __func__, "object");
}

/* Sets the time (CLOCK_REALTIME in ns) at which a root's values were true. */
static inline int shm_set_as_of(const shm_object *root, uint64_t realtime_ns) {
  int code = shm_check_as_of(root, __func__);
  if (code != 0) return code;
  __atomic_store_n(root->as_of.value, realtime_ns, __ATOMIC_RELAXED);
  return shm_mark_code(&root->as_of, true, __func__, "root");
}

/* Removes the as-of time of a root: then its values refer to the time at which they are read. */
static inline int shm_clear_as_of(const shm_object *root) {
  int code = shm_check_as_of(root, __func__);
  return code != 0 ? code : shm_mark_code(&root->as_of, false, __func__, "root");
}

/* ---------------------------------------------------------------- variables */

static inline shm_variable_options shm_variable_options_default(void) {
  shm_variable_options options;
  memset(&options, 0, sizeof options);
  options.text_bytes = 64;
  return options;
}

/* Checks a schema, since readers reject the whole segment if one schema is invalid. */
static inline int shm_check_schema(const char *function, const char *name, int type,
                                   const shm_variable_options *options) {
  static const char *const at = "%s: schema of variable %q: found %s %u, allowed: %s";
  const double *schema = options->schema;
  uint32_t entries = options->schema_entries;
  if (entries == 0) return 0;
  if (type != SHM_HISTOGRAM && type != SHM_SUMMARY)
    return shm_fail(-EINVAL, "%s: schema of variable %q: found %u entries for type %s, allowed: none",
                    function, name, (uint64_t)entries, shm_type_name(type));
  if (schema == NULL)
    return shm_fail(-EINVAL, "%s: schema of variable %q: found NULL, allowed: an array of %u numbers",
                    function, name, (uint64_t)entries);
  if (entries > SHM_SCHEMA_ENTRIES)
    return shm_fail(-EINVAL, at, function, name, "entries:", (uint64_t)entries, "at most 512");
  for (uint32_t i = 0; i < entries; i++) {
    if (!shm_is_finite(schema[i]))
      return shm_fail(-EINVAL, at, function, name, "NaN or infinity in entry", (uint64_t)i, "finite numbers");
    if (i > 0 && schema[i] <= schema[i - 1])
      return shm_fail(-EINVAL, at, function, name, "a number that does not ascend in entry", (uint64_t)i, "ascending numbers");
    if (type == SHM_SUMMARY && (schema[i] < 0 || schema[i] > 1))
      return shm_fail(-EINVAL, at, function, name, "a number outside 0 to 1 in entry", (uint64_t)i, "quantiles from 0 to 1");
  }
  return 0;
}

/* A metric name and labels under construction, as the text format writes them. */
typedef struct shm_series {
  char text[SHM_SERIES_BYTES];
  uint32_t length; /* more than SHM_SERIES_BYTES if the text does not fit */
} shm_series;

static inline void shm_series_add(shm_series *series, const char *bytes, size_t length) {
  if (length > SHM_SERIES_BYTES - series->length) {
    series->length = SHM_SERIES_BYTES + 1;
    return;
  }
  memcpy(series->text + series->length, bytes, length);
  series->length += (uint32_t)length;
}

/* Adds `="value"`, with escapes. */
static inline void shm_series_value(shm_series *series, const char *value) {
  shm_series_add(series, "=\"", 2);
  for (; *value != '\0' && series->length <= SHM_SERIES_BYTES; value++) {
    if (*value == '\n') {
      shm_series_add(series, "\\n", 2);
      continue;
    }
    if (*value == '"' || *value == '\\') shm_series_add(series, "\\", 1);
    if (series->length <= SHM_SERIES_BYTES) shm_series_add(series, value, 1);
  }
  if (series->length <= SHM_SERIES_BYTES) shm_series_add(series, "\"", 1);
}

/* Returns the length of the valid UTF-8 at the start of a text. */
static inline size_t shm_utf8_length(const void *text, size_t length) {
  const uint8_t *bytes = (const uint8_t *)text;
  size_t at = 0;
  while (at < length) {
    uint8_t first = bytes[at];
    size_t more = first < 0x80 ? 0 : first < 0xc2 ? 4 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : 4;
    if (more > length - at - 1) return at;
    for (size_t i = 1; i <= more; i++)
      if ((bytes[at + i] & 0xc0) != 0x80) return at;
    /* Overlong encodings, surrogates, and code points above U+10FFFF. */
    uint8_t second = more > 0 ? bytes[at + 1] : 0;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
      return at;
    at += more + 1;
  }
  return at;
}

/* Checks a label value. Readers replace invalid UTF-8, so that two values could become one. */
static inline int shm_check_label_value(const char *function, const char *metric, const char *label, const void *text,
                                        size_t length) {
  size_t valid = shm_utf8_length(text, length);
  if (valid < length)
    return shm_fail(-EINVAL, "%s: label %q of metric %q: found invalid UTF-8 at byte %u, allowed: UTF-8", function, label,
                    metric, (uint64_t)valid);
  if (memchr(text, '\0', length) != NULL)
    return shm_fail(-EINVAL, "%s: label %q of metric %q: found a zero byte, allowed: text", function, label, metric);
  return 0;
}

#define SHM_NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789:"

/* Whether a name has only the characters of a metric or label name. */
static inline bool shm_is_metric_name(const char *name, bool allows_colons) {
  size_t length = name == NULL ? 0 : strlen(name);
  if (length == 0 || (name[0] >= '0' && name[0] <= '9')) return false;
  return strspn(name, SHM_NAME_CHARACTERS) == length && (allows_colons || strchr(name, ':') == NULL);
}

/* Checks the name of a variable that states its metric. */
static inline int shm_check_series_name(const char *function, const char *name) {
  if (shm_is_metric_name(name, true) && strncmp(name, "shm_exporter_", 13) != 0) return 0;
  return shm_fail(-EINVAL,
                  "%s: name of metric: found %q, allowed: letters, digits, _ and :, not starting with a digit or "
                  "shm_exporter_",
                  function, name);
}

/* Checks unit and help of a variable that states its metric. */
static inline int shm_check_metric_texts(const char *function, const char *name, const shm_variable_options *options) {
  size_t length = options->help == NULL ? 0 : strlen(options->help), valid = shm_utf8_length(options->help, length);
  if (valid < length)
    return shm_fail(-EINVAL, "%s: help of metric %q: found invalid UTF-8 at byte %u, allowed: UTF-8", function, name,
                    (uint64_t)valid);
  if (options->unit == NULL || strspn(options->unit, SHM_NAME_CHARACTERS) == strlen(options->unit)) return 0;
  return shm_fail(-EINVAL, "%s: unit of metric %q: found %q, allowed: letters, digits, _ and :", function, name,
                  options->unit);
}

/* Writes the series of a variable. */
static inline int shm_make_series(const char *function, const char *name, int type, const shm_variable_options *options,
                                  shm_series *series) {
  const char *own = type == SHM_HISTOGRAM ? "le" : type == SHM_SUMMARY ? "quantile" : "";
  series->length = 0;
  if (shm_check_series_name(function, name) != 0) return -EINVAL;
  if (type == SHM_STRING)
    return shm_fail(-EINVAL, "%s: type of metric %q: found SHM_STRING, allowed: the other types", function, name);
  if (options->label_count > SHM_LABELS || (options->label_count > 0 && options->labels == NULL))
    return shm_fail(-EINVAL, "%s: labels of metric %q: found %u%s, allowed: at most %u", function, name,
                    (uint64_t)options->label_count, options->labels == NULL ? " and NULL" : "", (uint64_t)SHM_LABELS);
  shm_series_add(series, name, strlen(name));
  for (uint32_t i = 0; i < options->label_count; i++) {
    const char *label = options->labels[2 * i];
    const char *value = options->labels[2 * i + 1];
    if (!shm_is_metric_name(label, false) || strncmp(label, "__", 2) == 0 || strcmp(label, own) == 0)
      return shm_fail(-EINVAL,
                      "%s: labels of metric %q: found the name %q, allowed: letters, digits and _, "
                      "not starting with a digit or __, and not le of a histogram or quantile of a summary",
                      function, name, label);
    for (uint32_t other = 0; other < i; other++)
      if (strcmp(options->labels[2 * other], label) == 0)
        return shm_fail(-EINVAL, "%s: labels of metric %q: found %q twice, allowed: once", function, name, label);
    if (value == NULL)
      return shm_fail(-EINVAL, "%s: label %q of metric %q: found NULL, allowed: a text", function, label, name);
    if (shm_check_label_value(function, name, label, value, strlen(value)) != 0) return -EINVAL;
    if (series->length <= SHM_SERIES_BYTES) shm_series_add(series, i == 0 ? "{" : ",", 1);
    if (series->length <= SHM_SERIES_BYTES) shm_series_add(series, label, strlen(label));
    if (series->length <= SHM_SERIES_BYTES) shm_series_value(series, value);
  }
  if (options->label_count > 0 && series->length <= SHM_SERIES_BYTES) shm_series_add(series, "}", 1);
  if (series->length > SHM_SERIES_BYTES)
    return shm_fail(-EINVAL, "%s: name and labels of metric %q: found more, allowed: at most %u bytes",
                    function, name, (uint64_t)SHM_SERIES_BYTES);
  return 0;
}

/* Checks the arguments of a variable, and stores its texts with their lengths in `texts`. */
static inline int shm_check_variable(const char *function, const shm_publisher *p, const char *name, int type,
                                     const shm_variable_options *options, shm_series *series, shm_text texts[4]) {
  static const char *const arguments[3] = {"name", "unit", "help"};
  static const uint32_t most[3] = {SHM_NAME_BYTES, SHM_UNIT_BYTES, SHM_HELP_BYTES};
  const char *const values[3] = {name, options->unit, options->help};
  for (int i = 0; i < 3; i++)
    if (!shm_check_text(values[i], most[i], &texts[i]))
      return shm_fail(-EINVAL, "%s: %s of %s %q: found %u bytes, allowed: at most %u", function, arguments[i],
                      options->series ? "metric" : "variable", name, (uint64_t)texts[i].length, (uint64_t)most[i]);
  if (type < SHM_U64 || type > SHM_SUMMARY)
    return shm_fail(-EINVAL, "%s: type of variable %q: found %d, allowed: SHM_U64 to SHM_SUMMARY (1 to 7)",
                    function, name, (int64_t)type);
  if (options->kind < SHM_UNKNOWN || options->kind > SHM_GAUGE)
    return shm_fail(-EINVAL,
                    "%s: kind of variable %q: found %d, allowed: SHM_UNKNOWN, SHM_COUNTER and SHM_GAUGE "
                    "(0 to 2)",
                    function, name, (int64_t)options->kind);
  if (options->text_bytes > SHM_TEXT_BYTES)
    return shm_fail(-EINVAL, "%s: text_bytes of variable %q: found %u, allowed: at most %u", function, name,
                    (uint64_t)options->text_bytes, (uint64_t)SHM_TEXT_BYTES);
  texts[3].bytes = options->schema;
  texts[3].length = options->schema_entries * (uint32_t)sizeof(double);
  int code = shm_check_schema(function, name, type, options);
  if (code != 0 || !options->series) return code;
  if (!p->has_series)
    return shm_fail(-EINVAL,
                    "%s: series of variable %q: found true, allowed: false, unless the publisher has the "
                    "option series",
                    function, name);
  code = shm_check_metric_texts(function, name, options);
  if (code == 0) code = shm_make_series(function, name, type, options, series);
  texts[0].bytes = series->text;
  texts[0].length = series->length;
  return code;
}

/* Returns the length of a variable's frame in units of 8 bytes; 0 for a scalar. */
static inline uint32_t shm_frame_length(int type, const shm_variable_options *options) {
  if (type < SHM_STRING) return 0;
  return type == SHM_STRING ? 3 + (options->text_bytes + 7) / 8 : 4 + options->schema_entries;
}

static inline bool shm_copy_schema(shm_node *node, const shm_variable_options *options) {
  node->schema_entries = options->schema_entries;
  if (options->schema_entries == 0) return true;
  size_t bytes = options->schema_entries * sizeof(double);
  node->schema = (double *)malloc(bytes);
  if (node->schema != NULL) memcpy(node->schema, options->schema, bytes);
  return node->schema != NULL;
}

/* Writes update 1 of a frame that is not published yet: no observations, and NaN for the quantiles. */
static inline void shm_begin_empty(const shm_variable *made) {
  for (uint32_t i = 3; made->type == SHM_SUMMARY && i + 1 < made->units; i++)
    shm_put(made->frame + i, SHM_NAN_BITS);
  shm_put(made->frame + made->units - 1, 1);
  shm_put(made->frame, 1);
}

/* Allocates slot, frame and schema of a variable, and stores its first value if it has one. */
static inline bool shm_take_variable(shm_publisher *p, shm_variable *made, shm_node *node,
                                     const shm_variable_options *options) {
  if (!shm_copy_schema(node, options)) return false;
  if (!shm_take_slot(p, &node->slot, &made->ref)) return false;
  made->units = shm_frame_length(made->type, options);
  if (made->units > 0) {
    node->frame = shm_take_frame(p, made->units);
    if (node->frame == NULL) return false;
    made->frame = shm_frame_unit(p, node->frame->at);
  }
  bool is_synced = made->type >= SHM_HISTOGRAM && !options->unsynced;
  if (is_synced) shm_begin_empty(made);
  shm_put(made->ref.value, is_synced ? 1 : 0);
  __atomic_store_n(made->ref.word, made->ref.synced - (is_synced ? 0 : 1), __ATOMIC_RELEASE);
  return true;
}

static inline bool shm_build_variable(shm_publisher *p, shm_variable *out, int type, shm_node *node,
                                      shm_node *parent, const shm_variable_options *options,
                                      const shm_text *texts) {
  shm_variable made = {p, node, {NULL, NULL, 0}, NULL, 0, type, options->kind};
  if (!shm_take_variable(p, &made, node, options)) return false;
  node->id = ++p->last_id;
  shm_record record;
  memset(&record, 0, sizeof record);
  record.record_kind = SHM_RECORD_VARIABLE;
  record.type = (uint8_t)type;
  record.kind = (uint8_t)(type >= SHM_STRING ? SHM_UNKNOWN : options->kind);
  record.flags = options->series ? SHM_FLAG_SERIES : 0;
  record.slot = node->slot;
  record.id = node->id;
  record.owner = parent->id;
  record.incarnation = made.ref.synced >> 1;
  record.text[4] = node->frame == NULL ? 0 : node->frame->at;
  record.extra1 = made.units;
  if (!shm_add_record(p, record, texts, &node->index)) return false;
  shm_attach(p, node, parent);
  *out = made;
  return true;
}

static inline int shm_insert_variable(shm_publisher *p, shm_variable *out, int type,
                                      const shm_object *object,
                                      const shm_variable_options *options, const shm_text *texts) {
  if (!shm_is_live(&object->ref)) return object->ref.word == NULL ? -ENOSPC : -ESTALE;
  shm_node *node = shm_new_node();
  if (node == NULL) return -ENOMEM;
  if (shm_build_variable(p, out, type, node, object->node, options, texts)) return 0;
  shm_free_node(p, node);
  return -ENOSPC;
}

/* Adds a variable of type SHM_U64 to SHM_SUMMARY. Histograms and summaries begin without observations;
 * other variables have no value until the first one is set. `options` may be NULL. If there is no room,
 * `out` is a handle that stores nothing. */
static inline int shm_add_variable(const shm_object *object, shm_variable *out, const char *name,
                                   int type, const shm_variable_options *options) {
  shm_variable_options defaults = shm_variable_options_default();
  shm_publisher *p = object == NULL ? NULL : object->publisher;
  if (options == NULL) options = &defaults;
  if (out == NULL)
    return shm_fail(-EINVAL, "shm_add_variable: out of variable %q: found NULL, allowed: a pointer to a shm_variable",
                    name);
  memset(out, 0, sizeof *out);
  if (p == NULL)
    return shm_fail(-EINVAL, "shm_add_variable: object of variable %q: found none, allowed: an object that was added",
                    name);
  shm_series series;
  shm_text texts[4];
  int code = shm_check_variable(__func__, p, name, type, options, &series, texts);
  if (code != 0) return code;
  out->publisher = p;
  out->type = type;
  code = shm_acquire(p);
  if (code != 0) return shm_fail_with(code, __func__, "variable");
  code = shm_insert_variable(p, out, type, object, options, texts);
  if (code != 0) shm_count_dropped(p, SHM_AT_VARIABLES_DROPPED);
  shm_release(p);
  return shm_result(code, __func__, code == -ESTALE ? "object" : "variable");
}

static inline int shm_check_variable_pointer(const shm_variable *variable, const char *function) {
  return shm_check_pointer(variable, function, "variable", "a variable that was added");
}

/* Removes a variable. Its handles return -ESTALE from now on. */
static inline int shm_remove_variable(const shm_variable *variable) {
  int code = shm_check_variable_pointer(variable, __func__);
  if (code == 0) code = shm_remove(variable->publisher, &variable->ref, variable->node, __func__);
  return shm_result(code, __func__, "variable");
}

/* Removes the value of a variable: it has no series until the next value is set. */
static inline int shm_unset(const shm_variable *variable) {
  int code = shm_check_variable_pointer(variable, __func__);
  if (code == 0 && !shm_is_live(&variable->ref)) code = shm_fail_with(-ESTALE, __func__, "variable");
  return code != 0 ? code : shm_mark_code(&variable->ref, false, __func__, "variable");
}

/* ---------------------------------------------------------------- scalars */

/* Stores an error text and returns -EINVAL. The text names the wrong type if the variable is not of `type`,
 * otherwise it comes from `format`. */
static inline int shm_refuse(const shm_variable *variable, const char *function, int type,
                             const char *format, ...) {
  shm_line name = {"", 0}, why = {"", 0};
  shm_write_node(&name, variable->publisher, &variable->ref, variable->node);
  va_list values;
  va_start(values, format);
  shm_write_format(&why, format, values);
  va_end(values);
  if (variable->type == type)
    return shm_fail(-EINVAL, "%s: variable%s: found %s", function, name.text, why.text);
  return shm_fail(-EINVAL, "%s: variable%s: found type %s, allowed: %s", function, name.text,
                  shm_type_name(variable->type), shm_type_name(type));
}

static inline int shm_check_use(const shm_variable *variable, int type, const char *function) {
  if (variable == NULL) return shm_check_variable_pointer(variable, function);
  if (!shm_is_live(&variable->ref)) return shm_fail_with(-ESTALE, function, "variable");
  return variable->type == type ? 0 : shm_refuse(variable, function, type, "");
}

static inline int shm_set_bits(const shm_variable *variable, int type, const char *function,
                               uint64_t bits) {
  int code = shm_check_use(variable, type, function);
  if (code != 0) return code;
  __atomic_store_n(variable->ref.value, bits, __ATOMIC_RELAXED);
  return shm_mark_code(&variable->ref, true, function, "variable");
}

/* Checks an amount to be added to an integer. A counter must not fall: it refuses amounts of 2^63 and more,
 * since C converts negative numbers to such amounts. */
static inline int shm_check_amount(const shm_variable *variable, int type, const char *function,
                                   uint64_t amount) {
  int code = shm_check_use(variable, type, function);
  if (code != 0 || variable->kind != SHM_COUNTER) return code;
  if (amount > (uint64_t)INT64_MAX)
    return shm_refuse(variable, function, type, "the amount %d for a counter, allowed: 0 to 2^63 - 1",
                      (int64_t)amount);
  uint64_t before = shm_get(variable->ref.value);
  if (amount <= (type == SHM_U64 ? UINT64_MAX : (uint64_t)INT64_MAX) - before) return 0;
  return shm_refuse(variable, function, type, "the amount %u for a counter at %u, allowed: a sum of at most 2^%u - 1",
                    amount, before, (uint64_t)(type == SHM_U64 ? 64 : 63));
}

static inline int shm_add_bits(const shm_variable *variable, int type, const char *function,
                               uint64_t amount) {
  int code = shm_check_amount(variable, type, function, amount);
  if (code != 0) return code;
  uint64_t sum = shm_get(variable->ref.value) + amount;
  __atomic_store_n(variable->ref.value, sum, __ATOMIC_RELAXED);
  return shm_mark_code(&variable->ref, true, function, "variable");
}

static inline int shm_add_bits_shared(const shm_variable *variable, int type, const char *function,
                                      uint64_t amount) {
  int code = shm_check_amount(variable, type, function, amount);
  if (code != 0) return code;
  __atomic_fetch_add(variable->ref.value, amount, __ATOMIC_RELAXED);
  return shm_mark_code(&variable->ref, true, function, "variable");
}

static inline int shm_u64_set(const shm_variable *variable, uint64_t value) {
  return shm_set_bits(variable, SHM_U64, __func__, value);
}

/* Adds to the value. Only one thread at a time may call it for a variable. */
static inline int shm_u64_add(const shm_variable *variable, uint64_t value) {
  return shm_add_bits(variable, SHM_U64, __func__, value);
}

/* Adds to the value. Several threads may call it at the same time. */
static inline int shm_u64_add_shared(const shm_variable *variable, uint64_t value) {
  return shm_add_bits_shared(variable, SHM_U64, __func__, value);
}

static inline int shm_i64_set(const shm_variable *variable, int64_t value) {
  return shm_set_bits(variable, SHM_I64, __func__, (uint64_t)value);
}

/* Adds to the value. A sum beyond 64 bits wraps, except for a counter, which refuses it. */
static inline int shm_i64_add(const shm_variable *variable, int64_t value) {
  return shm_add_bits(variable, SHM_I64, __func__, (uint64_t)value);
}

static inline int shm_i64_add_shared(const shm_variable *variable, int64_t value) {
  return shm_add_bits_shared(variable, SHM_I64, __func__, (uint64_t)value);
}

static inline int shm_f64_set(const shm_variable *variable, double value) {
  return shm_set_bits(variable, SHM_F64, __func__, shm_bits(value));
}

static inline int shm_check_float(const shm_variable *variable, const char *function, double amount) {
  int code = shm_check_use(variable, SHM_F64, function);
  if (code != 0 || variable->kind != SHM_COUNTER) return code;
  uint64_t magnitude = shm_magnitude(amount);
  bool is_negative = shm_bits(amount) != magnitude && magnitude != 0;
  if (shm_is_finite(amount) && !is_negative) return 0;
  return shm_refuse(variable, function, SHM_F64, "%s for a counter, allowed: finite amounts from 0",
                    shm_is_nan(amount) ? "NaN" : is_negative ? "a negative amount" : "infinity");
}

static inline int shm_f64_add(const shm_variable *variable, double value) {
  int code = shm_check_float(variable, __func__, value);
  if (code != 0) return code;
  double sum = shm_double(shm_get(variable->ref.value)) + value;
  return shm_set_bits(variable, SHM_F64, __func__, shm_bits(sum));
}

static inline int shm_f64_add_shared(const shm_variable *variable, double value) {
  int code = shm_check_float(variable, __func__, value);
  if (code != 0) return code;
  uint64_t before = shm_get(variable->ref.value);
  while (!__atomic_compare_exchange_n(variable->ref.value, &before,
                                      shm_bits(shm_double(before) + value), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
    ;
  return shm_mark_code(&variable->ref, true, __func__, "variable");
}

static inline int shm_bool_set(const shm_variable *variable, bool value) {
  return shm_set_bits(variable, SHM_BOOL, __func__, value ? 1 : 0);
}

/* ---------------------------------------------------------------- framed values */

/* Starts an update: the units `begin` and `end` differ until shm_end_update(). Returns the update's
 * number, or 0 in a signal handler that interrupted an update of the same frame. */
static inline uint64_t shm_begin_update(const shm_variable *variable) {
  uint64_t *begin = variable->frame + variable->units - 1;
  uint64_t end = shm_get(variable->frame);
  for (;;) {
    uint64_t found = end;
    if (__atomic_compare_exchange_n(begin, &found, end + 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return end + 1;
    /* A handler may have completed an update since `end` was read. */
    uint64_t again = shm_get(variable->frame);
    if (again == end) return 0;
    end = again;
  }
}

static inline int shm_end_update(const shm_variable *variable, uint64_t number) {
  shm_put(variable->frame, number);
  shm_put(variable->ref.value, number);
  return shm_mark(&variable->ref, true) ? 0 : -ESTALE;
}

/* Takes the lock for a `_shared` function. The lock excludes other `_shared` updates, additions and
 * removals. */
static inline int shm_enter(const shm_variable *variable, const char *function) {
  if (variable == NULL) return shm_check_variable_pointer(variable, function);
  return shm_result(variable->publisher == NULL ? -ESTALE : shm_acquire(variable->publisher), function, "variable");
}

static inline void shm_leave(const shm_variable *variable) {
  shm_release(variable->publisher);
}

/* The functions shm_store_... return codes without a text. Their callers add the text after they have
 * released the lock, because shm_refuse() takes the lock to read the variable's name. */
static inline int shm_store_text(const shm_variable *variable, const char *text, size_t length) {
  if (variable == NULL) return -EINVAL;
  if (!shm_is_live(&variable->ref)) return -ESTALE;
  if (variable->type != SHM_STRING || (text == NULL && length > 0)) return -EINVAL;
  size_t room = (size_t)(variable->units - 3) * 8;
  size_t bytes = shm_cut(text, length, room);
  uint64_t number = shm_begin_update(variable);
  if (number == 0) return -EDEADLK;
  shm_put(variable->frame + 1, bytes);
  for (size_t at = 0; at < room; at += 8) {
    uint64_t unit = 0;
    if (at < bytes) memcpy(&unit, text + at, bytes - at < 8 ? bytes - at : 8);
    shm_put(variable->frame + 2 + at / 8, unit);
  }
  return shm_end_update(variable, number);
}

/* Stores the text of an error that a function shm_store_... returned; `format` is for -EINVAL. */
static inline int shm_store_code(const shm_variable *variable, const char *function, int code, int type,
                                 const char *why, uint64_t found, uint64_t allowed) {
  if (code == 0) return 0;
  if (code != -EINVAL) return shm_fail_with(code, function, "variable");
  if (variable == NULL) return shm_check_variable_pointer(variable, function);
  return shm_refuse(variable, function, type, why, found, allowed);
}

static inline int shm_text_code(const shm_variable *variable, const char *function, int code) {
  return shm_store_code(variable, function, code, SHM_STRING, "the text NULL with a length, allowed: a text", 0, 0);
}

/* Sets a text of `length` bytes of UTF-8. If it is too long for the frame, it is cut between two characters. */
static inline int shm_text_set_bytes(const shm_variable *variable, const char *text,
                                     size_t length) {
  return shm_text_code(variable, __func__, shm_store_text(variable, text, length));
}

/* Sets a text that ends with a zero byte; NULL is the empty text. */
static inline int shm_text_set(const shm_variable *variable, const char *text) {
  size_t length = text == NULL ? 0 : strlen(text);
  return shm_text_code(variable, __func__, shm_store_text(variable, text, length));
}

static inline int shm_text_set_shared(const shm_variable *variable, const char *text) {
  int code = shm_enter(variable, __func__);
  if (code != 0) return code;
  code = shm_store_text(variable, text, text == NULL ? 0 : strlen(text));
  shm_leave(variable);
  return shm_text_code(variable, __func__, code);
}

/* Returns the first bucket whose bound the value does not exceed. */
static inline uint32_t shm_bucket(const shm_node *node, double value) {
  uint32_t low = 0, high = node->schema_entries;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (value <= node->schema[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

static inline int shm_store_observation(const shm_variable *variable, double value) {
  if (variable == NULL) return -EINVAL;
  if (!shm_is_live(&variable->ref)) return -ESTALE;
  if (variable->type != SHM_HISTOGRAM || shm_is_nan(value)) return -EINVAL;
  uint64_t *sum = variable->frame + 1;
  uint64_t *count = variable->frame + 2 + shm_bucket(variable->node, value);
  uint64_t number = shm_begin_update(variable);
  if (number == 0) return -EDEADLK;
  shm_put(sum, shm_bits(shm_double(shm_get(sum)) + value));
  shm_put(count, shm_get(count) + 1);
  return shm_end_update(variable, number);
}

static inline int shm_observation_code(const shm_variable *variable, const char *function, int code) {
  return shm_store_code(variable, function, code, SHM_HISTOGRAM,
                        "the value NaN, allowed: numbers, since no bucket counts NaN", 0, 0);
}

/* Counts one observation. Returns -EINVAL for NaN, which no bucket counts. */
static inline int shm_histogram_observe(const shm_variable *variable, double value) {
  return shm_observation_code(variable, __func__, shm_store_observation(variable, value));
}

static inline int shm_histogram_observe_shared(const shm_variable *variable, double value) {
  int code = shm_enter(variable, __func__);
  if (code != 0) return code;
  code = shm_store_observation(variable, value);
  shm_leave(variable);
  return shm_observation_code(variable, __func__, code);
}

static inline int shm_store_counts(const shm_variable *variable, const uint64_t *counts,
                                   uint32_t entries, double sum) {
  if (variable == NULL) return -EINVAL;
  if (!shm_is_live(&variable->ref)) return -ESTALE;
  if (variable->type != SHM_HISTOGRAM || entries != variable->units - 3 || counts == NULL) return -EINVAL;
  uint64_t number = shm_begin_update(variable);
  if (number == 0) return -EDEADLK;
  shm_put(variable->frame + 1, shm_bits(sum));
  for (uint32_t i = 0; i < entries; i++) shm_put(variable->frame + 2 + i, counts[i]);
  return shm_end_update(variable, number);
}

static inline int shm_counts_code(const shm_variable *variable, const char *function, int code, const uint64_t *counts,
                                  uint32_t entries) {
  if (code == -EINVAL && counts == NULL)
    return shm_check_pointer(NULL, function, "counts", "one count for each bound and one for +Inf");
  return shm_store_code(variable, function, code, SHM_HISTOGRAM,
                        "%u counts, allowed: %u, one for each bound and one for +Inf", entries,
                        variable == NULL ? 0 : variable->units - 3);
}

/* Replaces the sum and the counts of all buckets. Counts are not cumulative; the count for +Inf comes last. */
static inline int shm_histogram_set(const shm_variable *variable, const uint64_t *counts,
                                    uint32_t entries, double sum) {
  int code = shm_store_counts(variable, counts, entries, sum);
  return shm_counts_code(variable, __func__, code, counts, entries);
}

static inline int shm_histogram_set_shared(const shm_variable *variable, const uint64_t *counts,
                                           uint32_t entries, double sum) {
  int code = shm_enter(variable, __func__);
  if (code != 0) return code;
  code = shm_store_counts(variable, counts, entries, sum);
  shm_leave(variable);
  return shm_counts_code(variable, __func__, code, counts, entries);
}

static inline int shm_store_summary(const shm_variable *variable, uint64_t count, double sum,
                                    const double *values, uint32_t entries) {
  if (variable == NULL) return -EINVAL;
  if (!shm_is_live(&variable->ref)) return -ESTALE;
  if (variable->type != SHM_SUMMARY || entries != variable->units - 4) return -EINVAL;
  if (values == NULL && entries > 0) return -EINVAL;
  uint64_t number = shm_begin_update(variable);
  if (number == 0) return -EDEADLK;
  shm_put(variable->frame + 1, count);
  shm_put(variable->frame + 2, shm_bits(sum));
  for (uint32_t i = 0; i < entries; i++) shm_put(variable->frame + 3 + i, shm_bits(values[i]));
  return shm_end_update(variable, number);
}

static inline int shm_summary_code(const shm_variable *variable, const char *function, int code, const double *values,
                                   uint32_t entries) {
  if (code == -EINVAL && values == NULL && entries > 0)
    return shm_check_pointer(NULL, function, "values", "one value for each quantile");
  return shm_store_code(variable, function, code, SHM_SUMMARY, "%u values, allowed: %u, one for each quantile",
                        entries, variable == NULL ? 0 : variable->units - 4);
}

/* Replaces count, sum and the values of all quantiles. */
static inline int shm_summary_set(const shm_variable *variable, uint64_t count, double sum,
                                  const double *values, uint32_t entries) {
  int code = shm_store_summary(variable, count, sum, values, entries);
  return shm_summary_code(variable, __func__, code, values, entries);
}

static inline int shm_summary_set_shared(const shm_variable *variable, uint64_t count, double sum,
                                         const double *values, uint32_t entries) {
  int code = shm_enter(variable, __func__);
  if (code != 0) return code;
  code = shm_store_summary(variable, count, sum, values, entries);
  shm_leave(variable);
  return shm_summary_code(variable, __func__, code, values, entries);
}

#endif
