/* Objects in which every value identifies its object and its update. */
#include "../../../sdk/c/shm_publisher.h"

enum { MODULUS = 1000003 };

typedef struct item {
  shm_object object;
  shm_variable number, real, text, delay, size;
} item;

static int check(int code) {
  if (code != 0) fprintf(stderr, "publisher: %s\n", shm_error_text(code));
  return code;
}

static void set(const item *each, unsigned id, uint64_t round) {
  uint64_t own = round * MODULUS + id;
  shm_u64_set(&each->number, own);
  shm_f64_set(&each->real, (double)own / 2);
  char text[128];
  int length = snprintf(text, sizeof text, "%u:%llu:", id, (unsigned long long)round);
  /* The rest of the text depends on the round, too. */
  memset(text + length, 'a' + (int)(round % 26), round % 40);
  text[length + (int)(round % 40)] = '\0';
  shm_text_set(&each->text, text);
  /* One observation in each bucket. A histogram cannot hold the id; the sum of the summary below does. */
  shm_histogram_observe(&each->delay, 0.5);
  shm_histogram_observe(&each->delay, 1.5);
  shm_histogram_observe(&each->delay, 2.5);
  double quantiles[] = {(double)own, (double)(own + round)};
  shm_summary_set(&each->size, round, (double)own, quantiles, 2);
}

static int add(const shm_object *root, const char *root_id, item *each, unsigned id) {
  static const double bounds[] = {1, 2}, quantiles[] = {0.5, 0.9};
  char name[256];
  snprintf(name, sizeof name, "%s.o%u", root_id, id);
  if (check(shm_add_object(root, &each->object, name, "Item", NULL)) != 0) return 1;
  shm_variable_options options = shm_variable_options_default();
  options.text_bytes = 128;
  int code = shm_add_variable(&each->object, &each->text, "text", SHM_STRING, &options);
  code |= shm_add_variable(&each->object, &each->number, "number", SHM_U64, NULL);
  code |= shm_add_variable(&each->object, &each->real, "real", SHM_F64, NULL);
  options.schema = bounds;
  options.schema_entries = 2;
  code |= shm_add_variable(&each->object, &each->delay, "delay", SHM_HISTOGRAM, &options);
  options.schema = quantiles;
  code |= shm_add_variable(&each->object, &each->size, "size", SHM_SUMMARY, &options);
  set(each, id, 1);
  return check(code);
}
