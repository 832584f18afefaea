/* Publishes values that say of themselves whose and of which update they are, from several threads.
 * usage: oracle CONTEXT KEY ROOT OBJECTS THREADS PAUSE_US   (a pause of 0 is none) */
#include "../../../sdk/c/shm_publisher.h"

#include <signal.h>

enum { MODULUS = 1000003, MAX_THREADS = 16 };

typedef struct item {
  shm_object object;
  shm_variable number, real, text, delay, size;
} item;

typedef struct share {
  item *items;
  unsigned first, end;
  long pause_us;
  shm_publisher *publisher;
} share;

static volatile sig_atomic_t is_ending;

static void end(int number) {
  (void)number;
  is_ending = 1;
}

static int check(int code) {
  if (code != 0) fprintf(stderr, "oracle: %s\n", shm_error_text(code));
  return code;
}

static void set(const item *each, unsigned id, uint64_t round) {
  uint64_t own = round * MODULUS + id;
  shm_u64_set(&each->number, own);
  shm_f64_set(&each->real, (double)own / 2);
  char text[128];
  int length = snprintf(text, sizeof text, "%u:%llu:", id, (unsigned long long)round);
  /* Its length says of which round it is as well. */
  memset(text + length, 'a' + (int)(round % 26), round % 40);
  text[length + (int)(round % 40)] = '\0';
  shm_text_set(&each->text, text);
  /* One observation in each bucket; id is in the sum. */
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

static void *work(void *given) {
  const share *own = (const share *)given;
  struct timespec pause = {own->pause_us / 1000000, own->pause_us % 1000000 * 1000};
  for (uint64_t round = 2; !is_ending; round++) {
    for (unsigned id = own->first; id < own->end; id++) set(&own->items[id], id, round);
    shm_publisher_notify(own->publisher);
    if (own->pause_us > 0) nanosleep(&pause, NULL);
  }
  return NULL;
}

int main(int count, char **words) {
  if (count != 7) return 2;
  unsigned objects = (unsigned)strtoul(words[4], NULL, 10);
  unsigned threads = (unsigned)strtoul(words[5], NULL, 10);
  if (threads == 0 || threads > MAX_THREADS) return 2;
  shm_options options = shm_options_default();
  options.context_id = words[1];
  options.server_key = words[2];
  options.heartbeat_ms = 1000;
  shm_publisher *publisher;
  if (check(shm_publisher_open(&publisher, &options)) != 0) return 1;
  item *items = (item *)calloc(objects, sizeof *items);
  shm_object root;
  if (items == NULL || check(shm_add_root(publisher, &root, words[3], "Root", NULL)) != 0) return 1;
  for (unsigned id = 0; id < objects; id++)
    if (add(&root, words[3], &items[id], id) != 0) return 1;
  if (check(shm_publisher_place(publisher)) != 0) return 1;
  signal(SIGTERM, end);
  fprintf(stderr, "ready\n");
  pthread_t running[MAX_THREADS];
  share shares[MAX_THREADS];
  for (unsigned t = 0; t < threads; t++) {
    shares[t] = (share){items, objects * t / threads, objects * (t + 1) / threads,
                        strtol(words[6], NULL, 10), publisher};
    if (pthread_create(&running[t], NULL, work, &shares[t]) != 0) return 1;
  }
  for (unsigned t = 0; t < threads; t++) pthread_join(running[t], NULL);
  shm_publisher_close(publisher);
  free(items);
  return 0;
}
