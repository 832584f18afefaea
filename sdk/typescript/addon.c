// The system calls that a publisher needs and Node.js lacks, as a Node-API addon. src/native/os/addon.ts calls it.
//
// The module has no global state. Each environment (a main thread, a worker thread, a module loader) has a list of its
// own mappings, and its end unmaps them. No function starts a thread or keeps a callback, so that a runtime may unload
// the module as soon as its environments have ended.
//
// A function returns 0 or an errno, unless its comment says otherwise. A wrong argument is a TypeError.
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <node_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_PATH 4096

// A test sets this to false, to be like an engine that refuses external memory.
#ifndef ALLOW_EXTERNAL
#define ALLOW_EXTERNAL true
#endif

// A file that is mapped as the memory of an ArrayBuffer.
struct mapping {
  // The environment's list; NULL once the environment has ended.
  struct mappings *owner;
  struct mapping *next;
  void *base;
  size_t length;
  // Keeps an ArrayBuffer alive whose memory belongs to the engine. NULL if the ArrayBuffer is external.
  napi_ref holder;
};

// The mappings of an environment.
struct mappings {
  struct mapping *first;
};

static napi_value number(napi_env env, int value) {
  napi_value result = NULL;
  napi_create_int32(env, value, &result);
  return result;
}

static napi_value wrong_argument(napi_env env) {
  napi_throw_type_error(env, NULL, "wrong argument for the addon of shm-publisher");
  return NULL;
}

// Reads exactly `count` arguments.
static bool read_arguments(napi_env env, napi_callback_info info, size_t count, napi_value *values) {
  size_t found = count;
  return napi_get_cb_info(env, info, &found, values, NULL, NULL) == napi_ok && found >= count;
}

static bool read_int(napi_env env, napi_value value, int *result) {
  return napi_get_value_int32(env, value, result) == napi_ok;
}

// Reads a number from 0 on.
static bool read_size(napi_env env, napi_value value, int64_t *result) {
  return napi_get_value_int64(env, value, result) == napi_ok && *result >= 0;
}

// Reads a path. The buffer has MAX_PATH bytes.
static bool read_path(napi_env env, napi_value value, char *path) {
  size_t length = 0;
  return napi_get_value_string_utf8(env, value, path, MAX_PATH, &length) == napi_ok &&
         length < MAX_PATH - 1;
}

static int map_over(void *base, size_t length, int fd) {
  void *mapped = mmap(base, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
  return mapped == MAP_FAILED ? errno : 0;
}

// Puts zeros in place of the file, so that a late access is harmless.
static void clear(const struct mapping *mapping) {
  mmap(mapping->base, mapping->length, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void forget(struct mapping *mapping) {
  struct mapping **at = mapping->owner == NULL ? NULL : &mapping->owner->first;
  while (at != NULL && *at != mapping) at = &(*at)->next;
  if (at != NULL) *at = mapping->next;
  free(mapping);
}

// The finalizer of an external ArrayBuffer. It runs before or after that of its environment.
static void finalize_buffer(napi_env env, void *data, void *hint) {
  (void)env;
  struct mapping *mapping = hint;
  munmap(data, mapping->length);
  forget(mapping);
}

static void finalize_environment(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  struct mappings *all = data;
  for (struct mapping *at = all->first, *next; at != NULL; at = next) {
    next = at->next;
    clear(at);
    at->owner = NULL;
    if (at->holder != NULL) free(at);
  }
  free(all);
}

static struct mappings *mappings_of(napi_env env) {
  void *all = NULL;
  return napi_get_instance_data(env, &all) == napi_ok ? all : NULL;
}

// The mapping in an ArrayBuffer; NULL if it has none.
static struct mapping *mapping_in(napi_env env, napi_value buffer, char **memory) {
  void *start = NULL;
  size_t length = 0;
  struct mappings *all = mappings_of(env);
  if (all == NULL || napi_get_arraybuffer_info(env, buffer, &start, &length) != napi_ok) return NULL;
  *memory = start;
  struct mapping *at = all->first;
  while (at != NULL && ((char *)at->base < *memory || (char *)at->base >= *memory + length))
    at = at->next;
  return at;
}

// Makes an ArrayBuffer whose memory is the mapped file.
static napi_status map_external(napi_env env, struct mapping *mapping, int fd, napi_value *buffer) {
  void *base = mmap(NULL, mapping->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return napi_generic_failure;
  mapping->base = base;
  napi_status status = napi_no_external_buffers_allowed;
  if (ALLOW_EXTERNAL)
    status = napi_create_external_arraybuffer(env, base, mapping->length, finalize_buffer, mapping, buffer);
  if (status != napi_ok) munmap(base, mapping->length);
  return status;
}

// Makes an ordinary ArrayBuffer, and maps the file over whole pages of it: V8 with its sandbox, as in Electron, refuses
// external memory.
static napi_status map_inside(napi_env env, struct mapping *mapping, int fd, napi_value *buffer) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  size_t length = (mapping->length + page - 1) / page * page;
  void *memory = NULL;
  napi_status status = napi_create_arraybuffer(env, length + page, &memory, buffer);
  if (status == napi_ok) status = napi_create_reference(env, *buffer, 1, &mapping->holder);
  if (status != napi_ok) return status;
  mapping->base = (void *)(((uintptr_t)memory + page - 1) / page * page);
  if (map_over(mapping->base, mapping->length, fd) == 0) return napi_ok;
  napi_delete_reference(env, mapping->holder);
  return napi_generic_failure;
}

// map(fd, length): an ArrayBuffer with the file at `start(buffer)`, or an errno.
static napi_value map_file(napi_env env, napi_callback_info info) {
  napi_value values[2], buffer = NULL;
  int fd;
  int64_t length;
  struct mappings *all = mappings_of(env);
  if (all == NULL || !read_arguments(env, info, 2, values) || !read_int(env, values[0], &fd) ||
      !read_size(env, values[1], &length))
    return wrong_argument(env);
  struct mapping *mapping = calloc(1, sizeof *mapping);
  if (mapping == NULL) return number(env, ENOMEM);
  mapping->length = (size_t)length;
  errno = ENOMEM;
  napi_status status = map_external(env, mapping, fd, &buffer);
  if (status == napi_no_external_buffers_allowed) status = map_inside(env, mapping, fd, &buffer);
  if (status != napi_ok) {
    int code = errno;
    free(mapping);
    return number(env, code);
  }
  mapping->owner = all;
  mapping->next = all->first;
  all->first = mapping;
  return buffer;
}

// start(buffer): the offset of the mapped file in its ArrayBuffer.
static napi_value start(napi_env env, napi_callback_info info) {
  napi_value buffer;
  char *memory;
  struct mapping *mapping;
  if (!read_arguments(env, info, 1, &buffer) ||
      (mapping = mapping_in(env, buffer, &memory)) == NULL)
    return wrong_argument(env);
  return number(env, (int)((char *)mapping->base - memory));
}

// remap(buffer, fd): maps another file in place of the mapped one.
static napi_value remap(napi_env env, napi_callback_info info) {
  napi_value values[2];
  int fd;
  char *memory;
  struct mapping *mapping;
  if (!read_arguments(env, info, 2, values) || !read_int(env, values[1], &fd) ||
      (mapping = mapping_in(env, values[0], &memory)) == NULL)
    return wrong_argument(env);
  return number(env, map_over(mapping->base, mapping->length, fd));
}

// unmap(buffer): ends a mapping, and detaches its ArrayBuffer, so that a later access finds no memory. The finalizer of
// an external ArrayBuffer frees its addresses, now or later.
static napi_value unmap(napi_env env, napi_callback_info info) {
  napi_value buffer;
  char *memory;
  struct mapping *mapping;
  if (!read_arguments(env, info, 1, &buffer) ||
      (mapping = mapping_in(env, buffer, &memory)) == NULL)
    return wrong_argument(env);
  clear(mapping);
  napi_ref holder = mapping->holder;
  if (holder != NULL) forget(mapping);
  napi_detach_arraybuffer(env, buffer);
  if (holder != NULL) napi_delete_reference(env, holder);
  return number(env, 0);
}

static napi_value lock_whole_file(napi_env env, napi_callback_info info, int command, struct flock *lock) {
  napi_value value;
  int fd;
  if (!read_arguments(env, info, 1, &value) || !read_int(env, value, &fd)) return wrong_argument(env);
  lock->l_whence = SEEK_SET;
  return number(env, fcntl(fd, command, lock) == 0 ? 0 : errno);
}

// lock(fd): takes the write lock of an open file description.
static napi_value lock(napi_env env, napi_callback_info info) {
  struct flock wanted = {.l_type = F_WRLCK};
  return lock_whole_file(env, info, F_OFD_SETLK, &wanted);
}

// queryLock(fd): 0 if no other open file description holds a write lock, EAGAIN if one does.
static napi_value query_lock(napi_env env, napi_callback_info info) {
  struct flock found = {.l_type = F_RDLCK};
  napi_value result = lock_whole_file(env, info, F_OFD_GETLK, &found);
  return found.l_type == F_WRLCK ? number(env, EAGAIN) : result;
}

// link(from, to): gives the file to which the link `from` leads another name.
static napi_value link_file(napi_env env, napi_callback_info info) {
  napi_value values[2];
  char from[MAX_PATH], to[MAX_PATH];
  if (!read_arguments(env, info, 2, values) || !read_path(env, values[0], from) ||
      !read_path(env, values[1], to))
    return wrong_argument(env);
  return number(env, linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno);
}

// setMode(fd, mode)
static napi_value set_mode(napi_env env, napi_callback_info info) {
  napi_value values[2];
  int fd, mode;
  if (!read_arguments(env, info, 2, values) || !read_int(env, values[0], &fd) ||
      !read_int(env, values[1], &mode))
    return wrong_argument(env);
  return number(env, fchmod(fd, (mode_t)mode) == 0 ? 0 : errno);
}

// allocate(fd, offset, length): allocates a range of a sparse file.
static napi_value allocate(napi_env env, napi_callback_info info) {
  napi_value values[3];
  int fd;
  int64_t offset, length;
  if (!read_arguments(env, info, 3, values) || !read_int(env, values[0], &fd) ||
      !read_size(env, values[1], &offset) || !read_size(env, values[2], &length))
    return wrong_argument(env);
  return number(env, posix_fallocate(fd, offset, length));
}

// wake(word): wakes all waiters on the 4 bytes at the start of a Uint8Array.
static napi_value wake(napi_env env, napi_callback_info info) {
  napi_value value;
  napi_typedarray_type type;
  size_t length = 0;
  void *word = NULL;
  if (!read_arguments(env, info, 1, &value) ||
      napi_get_typedarray_info(env, value, &type, &length, &word, NULL, NULL) != napi_ok ||
      type != napi_uint8_array || length < 4)
    return wrong_argument(env);
  return number(env, syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) < 0 ? errno : 0);
}

#define FUNCTION(name, callback) \
  {name, NULL, callback, NULL, NULL, NULL, napi_enumerable, NULL}

NAPI_MODULE_INIT() {
  const napi_property_descriptor functions[] = {
      FUNCTION("map", map_file),      FUNCTION("start", start),     FUNCTION("remap", remap),
      FUNCTION("unmap", unmap),       FUNCTION("lock", lock),       FUNCTION("queryLock", query_lock),
      FUNCTION("link", link_file),    FUNCTION("setMode", set_mode), FUNCTION("allocate", allocate),
      FUNCTION("wake", wake),
  };
  struct mappings *all = calloc(1, sizeof *all);
  if (all == NULL || napi_set_instance_data(env, all, finalize_environment, NULL) != napi_ok) {
    free(all);
    napi_throw_error(env, NULL, "no memory for the addon of shm-publisher");
    return NULL;
  }
  napi_define_properties(env, exports, sizeof functions / sizeof *functions, functions);
  return exports;
}
