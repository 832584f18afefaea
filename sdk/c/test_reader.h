/*
 * Checks, and a reader of segments for the tests, which is written from docs/segment-format.md alone. It does not use
 * shm_publisher.h.
 */
#ifndef SHM_TEST_READER_H
#define SHM_TEST_READER_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failures;
static char context[64];

#define CHECK(condition) check((condition), #condition, __func__, __LINE__)

static inline bool check(bool is_true, const char *what, const char *where, int line) {
  if (is_true) return true;
  __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
  fprintf(stderr, "FAILED %s:%d: %s\n", where, line, what);
  return false;
}

/* ---------------------------------------------------------------- the reader */

enum { MAX_ENTRIES = 4096, MAX_STRINGS = 1 << 20 };

typedef struct entry {
  int kind, type, variable_kind, flags;
  uint64_t id, owner;
  uint32_t slot, incarnation, frame, units, as_of_slot, as_of_incarnation;
  char name[64], text1[64], text2[64], text4[64];
  double schema[16];
  uint32_t schema_entries;
  bool is_gone;
} entry;

typedef struct reader {
  int fd;
  uint8_t header[4096];
  uint32_t epoch, records;
  entry *entries;
  uint32_t count;
  uint8_t *strings;
  uint64_t string_bytes;
  const char *fault;
} reader;

/* Computes the CRC bit by bit, so that it shares no fault with the header's table. */
static inline uint32_t crc_of(const uint8_t *bytes, size_t length) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < length; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
  }
  return ~crc;
}

static inline uint64_t u64_of(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static inline uint32_t u32_of(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static inline uint64_t header_u64(const reader *r, size_t at) {
  return u64_of(r->header + at);
}

static inline bool copy(const reader *r, void *to, size_t length, uint64_t at) {
  return pread(r->fd, to, length, (off_t)at) == (ssize_t)length;
}

static inline uint64_t word_at(const reader *r, uint64_t at) {
  uint64_t word = 0;
  CHECK(copy(r, &word, sizeof word, at));
  return word;
}

static inline void path_of(char *path, size_t size, const char *key) {
  snprintf(path, size, "/dev/shm/%s.pool.%s", context, key);
}

static inline bool open_reader(reader *r, const char *key) {
  char path[256];
  path_of(path, sizeof path, key);
  memset(r, 0, sizeof *r);
  r->fd = open(path, O_RDONLY | O_CLOEXEC);
  if (!CHECK(r->fd >= 0)) return false;
  r->entries = (entry *)calloc(MAX_ENTRIES, sizeof(entry));
  r->strings = (uint8_t *)malloc(MAX_STRINGS);
  return CHECK(r->entries != NULL && r->strings != NULL && copy(r, r->header, 4096, 0));
}

static inline void close_reader(reader *r) {
  free(r->entries);
  free(r->strings);
  close(r->fd);
}

static inline bool fails(reader *r, const char *what) {
  r->fault = what;
  return false;
}

/* Copies the first 63 bytes of the text at an offset in the string region. */
static inline bool text_at(reader *r, uint32_t at, uint32_t most, char *out) {
  uint16_t length;
  if (at + 2u > r->string_bytes) return fails(r, "a string begins outside the string region");
  memcpy(&length, r->strings + at, 2);
  if (at + 2u + length > r->string_bytes) return fails(r, "a string ends outside the string region");
  if (length > most || (at == 0) != (length == 0)) return fails(r, "a string's length");
  memset(out, 0, 64);
  memcpy(out, r->strings + at + 2, length < 63 ? length : 63);
  return true;
}

static inline bool schema_at(reader *r, uint32_t at, entry *e) {
  uint16_t length;
  if (at + 2u > r->string_bytes) return fails(r, "a schema begins outside the string region");
  memcpy(&length, r->strings + at, 2);
  if (at + 2u + length > r->string_bytes || length % 8 != 0 || length > sizeof e->schema)
    return fails(r, "a schema's length");
  e->schema_entries = length / 8u;
  memcpy(e->schema, r->strings + at + 2, length);
  return true;
}

static inline entry *by_id(const reader *r, uint64_t id) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->entries[i].id == id && !r->entries[i].is_gone) return &r->entries[i];
  return NULL;
}

/* Marks an entry and everything below it as removed. The entry of an owner precedes the entries below it, so
 * one pass is enough. */
static inline bool bury(reader *r, uint64_t id) {
  entry *gone = by_id(r, id);
  if (gone == NULL) return fails(r, "a tombstone for an id that does not exist");
  gone->is_gone = true;
  if (gone->kind == 2) return true;
  for (uint32_t i = 0; i < r->count; i++)
    for (uint32_t j = 0; j < i; j++)
      if (r->entries[j].id == r->entries[i].owner && r->entries[j].is_gone)
        r->entries[i].is_gone = true;
  return true;
}

static inline bool parse_texts(reader *r, const uint8_t *bytes, entry *e) {
  char ignored[64];
  if (!text_at(r, u32_of(bytes + 36), e->flags == 1 ? 4096 : 1024, e->name)) return false;
  if (!text_at(r, u32_of(bytes + 40), e->kind == 1 ? 1024 : 64, e->text1)) return false;
  if (!text_at(r, u32_of(bytes + 44), e->kind == 1 ? 1024 : 4096, e->text2)) return false;
  if (e->kind == 2) return schema_at(r, u32_of(bytes + 48), e);
  return text_at(r, u32_of(bytes + 48), 1024, ignored) &&
         text_at(r, u32_of(bytes + 52), 1024, e->text4);
}

static inline bool parse_numbers(reader *r, const uint8_t *bytes, entry *e) {
  e->type = bytes[9];
  e->variable_kind = bytes[10];
  e->slot = u32_of(bytes + 12);
  e->owner = u64_of(bytes + 24);
  e->incarnation = u32_of(bytes + 32);
  e->flags = bytes[11];
  if (e->flags != 0 && (e->flags != 1 || e->kind != 2 || header_u64(r, 24) != 1)) return fails(r, "a flag");
  if (e->slot >= header_u64(r, 152) || e->incarnation == 0) return fails(r, "a slot");
  if (e->owner == 0 ? e->kind == 2 : by_id(r, e->owner) == NULL) return fails(r, "an owner");
  if (e->kind == 1) {
    e->as_of_slot = u32_of(bytes + 56);
    e->as_of_incarnation = u32_of(bytes + 60);
    return true;
  }
  e->frame = u32_of(bytes + 52);
  e->units = u32_of(bytes + 56);
  if ((e->type >= 5) != (e->units > 0)) return fails(r, "a frame's length");
  if (((uint64_t)e->frame + e->units) * 8 > header_u64(r, 168)) return fails(r, "a frame's place");
  return u32_of(bytes + 60) == 0 || fails(r, "a field that should be 0");
}

static inline bool parse(reader *r, const uint8_t *bytes, uint32_t index, uint64_t *last_id) {
  if (u32_of(bytes) != crc_of(bytes + 4, 60)) return fails(r, "a record's CRC");
  if (u32_of(bytes + 4) != index) return fails(r, "a record's index");
  if (bytes[8] == 3) return bury(r, u64_of(bytes + 24));
  if (bytes[8] != 1 && bytes[8] != 2) return fails(r, "a record's kind");
  entry *e = &r->entries[r->count];
  memset(e, 0, sizeof *e);
  e->kind = bytes[8];
  e->id = u64_of(bytes + 16);
  if (e->id <= *last_id) return fails(r, "an id that does not ascend");
  *last_id = e->id;
  if (!parse_numbers(r, bytes, e) || !parse_texts(r, bytes, e)) return false;
  r->count++;
  return true;
}

/* Returns 1 if it read the directory, 0 if the publisher changed directories, -1 if it is corrupt. */
static inline int try_directory(reader *r, uint8_t *records) {
  uint64_t before = word_at(r, 1216);
  uint32_t side = (before >> 32) % 2;
  r->epoch = (uint32_t)(before >> 32);
  r->records = (uint32_t)before;
  r->string_bytes = word_at(r, side == 0 ? 1280 : 1344);
  bool is_valid = r->records <= header_u64(r, 104) && r->string_bytes <= header_u64(r, 128) &&
                  r->string_bytes <= MAX_STRINGS && r->records <= MAX_ENTRIES &&
                  copy(r, records, r->records * 64u, header_u64(r, 88 + side * 8)) &&
                  copy(r, r->strings, r->string_bytes, header_u64(r, 112 + side * 8));
  if (word_at(r, 1216) >> 32 != before >> 32) return 0;
  if (!is_valid) return fails(r, "a stated length") ? 1 : -1;
  uint64_t last_id = 0;
  r->count = 0;
  for (uint32_t i = 0; i < r->records; i++)
    if (!parse(r, records + i * 64u, i, &last_id)) return -1;
  return 1;
}

/* Reads the whole directory again. Returns false if it is corrupt. */
static inline bool read_directory(reader *r) {
  uint8_t *records = (uint8_t *)malloc(MAX_ENTRIES * 64);
  int result = 0;
  r->fault = "the directory changed too often";
  for (int i = 0; i < 1000 && result == 0; i++) result = try_directory(r, records);
  free(records);
  if (result != 1) fprintf(stderr, "corrupt: %s\n", r->fault);
  return result == 1;
}

static inline entry *find(const reader *r, const char *name) {
  entry *found = NULL;
  for (uint32_t i = 0; i < r->count; i++)
    if (!r->entries[i].is_gone && strcmp(r->entries[i].name, name) == 0) found = &r->entries[i];
  return found;
}

static inline uint32_t count_live(const reader *r) {
  uint32_t live = 0;
  for (uint32_t i = 0; i < r->count; i++) live += r->entries[i].is_gone ? 0 : 1;
  return live;
}

static inline bool slot_value(const reader *r, uint32_t slot, uint32_t incarnation, uint64_t *value) {
  uint32_t word = 0;
  *value = word_at(r, header_u64(r, 144) + slot * 8ull);
  CHECK(copy(r, &word, 4, header_u64(r, 136) + slot * 4ull));
  return word == (incarnation << 1 | 1);
}

/* Reads the value of a variable. Returns false if it has none. */
static inline bool value_of(const reader *r, const char *name, uint64_t *value) {
  const entry *e = find(r, name);
  return e != NULL && slot_value(r, e->slot, e->incarnation, value);
}

static inline uint64_t value(const reader *r, const char *name) {
  uint64_t bits = 0;
  CHECK(value_of(r, name, &bits));
  return bits;
}

static inline bool has_value(const reader *r, const char *name) {
  uint64_t ignored;
  return value_of(r, name, &ignored);
}

/* Reads a frame: two copies must be equal, with begin == end. `out` has room for 128 units. */
static inline bool frame_of(const reader *r, const entry *e, uint64_t *out) {
  uint64_t second[128], at = header_u64(r, 160) + e->frame * 8ull;
  size_t bytes = e->units * 8u;
  if (!CHECK(e->units <= 128)) return false;
  for (int i = 0; i < 8; i++) {
    if (!copy(r, out, bytes, at) || !copy(r, second, bytes, at)) return false;
    if (memcmp(out, second, bytes) == 0 && out[0] == out[e->units - 1]) return true;
  }
  return false;
}

static inline double double_of(uint64_t bits) {
  double result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Tests the bits, since -Ofast assumes that `value != value` is always false. */
static inline bool is_nan(uint64_t bits) {
  return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

#endif
