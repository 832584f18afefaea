// Runs the publisher's addon in a program without Node.js, to test it with another C library. A napi_value is a pointer
// to a struct value; there is one environment.
// Usage: addon-host ADDON, in a folder where it may create files.
#define _GNU_SOURCE
#define NAPI_VERSION 8
#include <dlfcn.h>
#include <fcntl.h>
#include <node_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct value {
  double number;
  const char *text;
  char *memory;
  size_t length;
  napi_finalize finalize;
  void *hint;
};

static struct value arguments[3], results[64];
static int result_count;
static void *instance;
static napi_property_descriptor functions[16];
static size_t function_count;

static struct value *new_value(void) { return &results[result_count++ % 64]; }

napi_status napi_create_int32(napi_env env, int32_t value, napi_value *result) {
  (void)env;
  struct value *made = new_value();
  *made = (struct value){.number = value};
  *result = (napi_value)made;
  return napi_ok;
}
napi_status napi_get_value_int32(napi_env env, napi_value value, int32_t *result) {
  (void)env;
  *result = (int32_t)((struct value *)value)->number;
  return napi_ok;
}
napi_status napi_get_value_int64(napi_env env, napi_value value, int64_t *result) {
  (void)env;
  *result = (int64_t)((struct value *)value)->number;
  return napi_ok;
}
napi_status napi_get_value_string_utf8(napi_env env, napi_value value, char *buffer, size_t size, size_t *length) {
  (void)env;
  *length = (size_t)snprintf(buffer, size, "%s", ((struct value *)value)->text);
  return napi_ok;
}
napi_status napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *values,
                             napi_value *receiver, void **data) {
  (void)env, (void)info, (void)receiver, (void)data;
  for (size_t i = 0; i < *count; i++) values[i] = (napi_value)&arguments[i];
  return napi_ok;
}
napi_status napi_throw_type_error(napi_env env, const char *code, const char *text) {
  (void)env, (void)code;
  puts(text);
  exit(1);
}
napi_status napi_throw_error(napi_env env, const char *code, const char *text) {
  return napi_throw_type_error(env, code, text);
}
napi_status napi_set_instance_data(napi_env env, void *data, napi_finalize finalize, void *hint) {
  (void)env, (void)finalize, (void)hint;
  instance = data;
  return napi_ok;
}
napi_status napi_get_instance_data(napi_env env, void **data) {
  (void)env;
  *data = instance;
  return napi_ok;
}
napi_status napi_create_external_arraybuffer(napi_env env, void *memory, size_t length, napi_finalize finalize,
                                             void *hint, napi_value *result) {
  (void)env;
  struct value *made = new_value();
  *made = (struct value){.memory = memory, .length = length, .finalize = finalize, .hint = hint};
  *result = (napi_value)made;
  return napi_ok;
}
napi_status napi_create_arraybuffer(napi_env env, size_t length, void **memory, napi_value *result) {
  (void)env, (void)length, (void)memory, (void)result;
  return napi_generic_failure;
}
napi_status napi_get_arraybuffer_info(napi_env env, napi_value value, void **memory, size_t *length) {
  (void)env;
  *memory = ((struct value *)value)->memory;
  *length = ((struct value *)value)->length;
  return napi_ok;
}
napi_status napi_get_typedarray_info(napi_env env, napi_value value, napi_typedarray_type *type, size_t *length,
                                     void **memory, napi_value *buffer, size_t *offset) {
  (void)buffer, (void)offset;
  *type = napi_uint8_array;
  return napi_get_arraybuffer_info(env, value, memory, length);
}
napi_status napi_detach_arraybuffer(napi_env env, napi_value value) {
  struct value *buffer = (struct value *)value;
  buffer->finalize(env, buffer->memory, buffer->hint);
  buffer->length = 0;
  return napi_ok;
}
napi_status napi_create_reference(napi_env env, napi_value value, uint32_t count, napi_ref *result) {
  (void)env, (void)value, (void)count, (void)result;
  return napi_generic_failure;
}
napi_status napi_delete_reference(napi_env env, napi_ref reference) {
  (void)env, (void)reference;
  return napi_ok;
}
napi_status napi_define_properties(napi_env env, napi_value object, size_t count,
                                   const napi_property_descriptor *properties) {
  (void)env, (void)object;
  memcpy(functions, properties, count * sizeof *properties);
  function_count = count;
  return napi_ok;
}

static struct value *call(const char *name) {
  for (size_t i = 0; i < function_count; i++)
    if (strcmp(functions[i].utf8name, name) == 0)
      return (struct value *)functions[i].method((napi_env)&instance, NULL);
  printf("no function %s\n", name);
  exit(1);
}

static struct value *of_numbers(const char *name, double first, double second, double third) {
  arguments[0] = (struct value){.number = first};
  arguments[1] = (struct value){.number = second};
  arguments[2] = (struct value){.number = third};
  return call(name);
}

static struct value *of_buffer(const char *name, const struct value *buffer) {
  arguments[0] = *buffer;
  return call(name);
}

static void expect(const char *what, int holds) {
  if (holds) return;
  printf("failed: %s\n", what);
  exit(1);
}

int main(int count, char **words) {
  void *addon = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (addon == NULL) return printf("%s\n", dlerror()), 1;
  napi_value (*start)(napi_env, napi_value) =
      (napi_value(*)(napi_env, napi_value))dlsym(addon, "napi_register_module_v1");
  expect("it registers", start != NULL && start((napi_env)&instance, (napi_value)&results[0]) != NULL);

  int fd = open("file", O_RDWR | O_CREAT, 0600), other = open("file", O_RDWR);
  struct stat stats;
  expect("allocate", of_numbers("allocate", fd, 0, 8192)->number == 0 && fstat(fd, &stats) == 0);
  expect("the size", stats.st_size == 8192);
  expect("allocate fails with EBADF", of_numbers("allocate", 12345, 0, 1)->number == 9);
  expect("lock", of_numbers("lock", fd, 0, 0)->number == 0);
  expect("lock fails with EAGAIN", of_numbers("lock", other, 0, 0)->number == 11);
  expect("queryLock", of_numbers("queryLock", other, 0, 0)->number == 11);
  expect("queryLock of the holder", of_numbers("queryLock", fd, 0, 0)->number == 0);
  expect("setMode", of_numbers("setMode", fd, 0640, 0)->number == 0 && fstat(fd, &stats) == 0);
  expect("the mode", (stats.st_mode & 0777) == 0640);
  struct value buffer = *of_numbers("map", fd, 8192, 0);
  expect("map", buffer.length == 8192 && of_buffer("start", &buffer)->number == 0);
  buffer.memory[8191] = 'x';
  char byte = 0;
  expect("a store", pread(fd, &byte, 1, 8191) == 1 && byte == 'x');
  expect("wake", of_buffer("wake", &buffer)->number == 0);
  expect("unmap", of_buffer("unmap", &buffer)->number == 0);
  arguments[0] = (struct value){.text = "file"};
  arguments[1] = (struct value){.text = "link"};
  expect("link", call("link")->number == 0 && access("link", R_OK) == 0);
  expect("link fails with EEXIST", call("link")->number == 17);
  puts("done");
  return 0;
}
