/* Publishes values that identify their object and their update, from several threads.
 * usage: oracle CONTEXT KEY ROOT OBJECTS THREADS PAUSE_US   (PAUSE_US 0: no pause) */
#include "item.h"

#include <signal.h>

enum { MAX_THREADS = 16 };

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
  if (check(shm_publisher_publish(publisher)) != 0) return 1;
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
