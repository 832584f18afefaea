/* Does one operation on a tree, and sends itself a signal at one of its steps. A step is the entry to or the
 * exit from any function of shm_publisher.h. If the operation has fewer steps, the signal follows its last one.
 * To count steps, compile this with -finstrument-functions.
 * usage: steps CONTEXT KEY ROOT OPERATION STEP SIGNAL    (STEP 0: no signal; prints all steps) */
#include "item.h"

#include <signal.h>

enum { ITEMS = 5, MAX_STEPS = 100000, CROWD = 40 };
#define UNWATCHED __attribute__((no_instrument_function))

static long step, wanted;
static int wanted_signal;
static bool is_armed;
static void *places[MAX_STEPS];

UNWATCHED static void pass(void *function) {
  if (!is_armed) return;
  if (step < MAX_STEPS) places[step] = function;
  if (++step == wanted) raise(wanted_signal);
}
UNWATCHED void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  pass(function);
}
UNWATCHED void __cyg_profile_func_exit(void *function, void *caller) {
  (void)caller;
  pass(function);
}

static const char *root_id;
static shm_options options;
static shm_publisher *publisher;
static shm_object root;
static item items[ITEMS + CROWD];

static int open_segment(void) { return check(shm_publisher_open(&publisher, &options)); }

static int fill(void) {
  if (check(shm_add_root(publisher, &root, root_id, "Root", NULL)) != 0) return 1;
  for (unsigned id = 0; id < ITEMS; id++)
    if (add(&root, root_id, &items[id], id) != 0) return 1;
  return 0;
}

static int place(void) { return check(shm_publisher_publish(publisher)); }

static int add_one(void) { return add(&root, root_id, &items[ITEMS], ITEMS); }

static int remove_one(void) { return check(shm_remove_object(&items[ITEMS - 1].object)); }

static int remove_variable(void) { return check(shm_remove_variable(&items[ITEMS - 1].size)); }

static int set_state(void) { return check(shm_set_state(&items[0].object, SHM_STATE_DEAD)); }

static int update(void) {
  for (unsigned id = 0; id < ITEMS; id++) set(&items[id], id, 2);
  return 0;
}

static int synchronize(void) {
  int code = shm_set_synced(&items[0].object, false);
  if (code == 0) code = shm_set_synced(&items[0].object, true);
  return check(code);
}

static int date(void) {
  int code = shm_set_as_of(&root, 1700000000000000000u);
  if (code == 0) code = shm_clear_as_of(&root);
  return check(code);
}

static int notify(void) {
  shm_publisher_notify(publisher);
  return 0;
}

/* Fills the segment's active directory of records until the publisher switches to the other one. Leaves the tree as it was. */
static int crowd(void) {
  for (int round = 0; round < 20; round++) {
    char name[256];
    snprintf(name, sizeof name, "%s.crowd", root_id);
    shm_object made;
    if (check(shm_add_object(&root, &made, name, "Crowd", NULL)) != 0) return 1;
    if (check(shm_remove_object(&made)) != 0) return 1;
  }
  return 0;
}

static int close_segment(void) {
  shm_publisher_close(publisher);
  publisher = NULL;
  return 0;
}

typedef struct operation {
  const char *name;
  int (*run)(void);
  /* What to do before and after the operation. */
  int (*before[3])(void), (*after[3])(void);
} operation;

static const operation OPERATIONS[] = {
    {"open", open_segment, {NULL}, {fill, place, NULL}},
    {"fill", fill, {open_segment, NULL}, {place, NULL}},
    {"place", place, {open_segment, fill, NULL}, {NULL}},
    {"add", add_one, {open_segment, fill, place}, {NULL}},
    {"remove", remove_one, {open_segment, fill, place}, {NULL}},
    {"remove variable", remove_variable, {open_segment, fill, place}, {NULL}},
    {"state", set_state, {open_segment, fill, place}, {NULL}},
    {"update", update, {open_segment, fill, place}, {NULL}},
    {"sync", synchronize, {open_segment, fill, place}, {NULL}},
    {"date", date, {open_segment, fill, place}, {NULL}},
    {"notify", notify, {open_segment, fill, place}, {NULL}},
    {"crowd", crowd, {open_segment, fill, place}, {NULL}},
    {"close", close_segment, {open_segment, fill, place}, {NULL}},
};

static const operation *operation_of(const char *name) {
  for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
    if (strcmp(OPERATIONS[i].name, name) == 0) return &OPERATIONS[i];
  return NULL;
}

static int run_all(int (*const *functions)(void)) {
  for (int i = 0; i < 3 && functions[i] != NULL; i++)
    if (functions[i]() != 0) return 1;
  return 0;
}

int main(int count, char **words) {
  const operation *chosen = count == 7 ? operation_of(words[4]) : NULL;
  if (chosen == NULL) return 2;
  options = shm_options_default();
  options.context_id = words[1];
  options.server_key = words[2];
  /* Room for the tree, and for little more. */
  options.records = 64;
  options.string_bytes = 2048;
  options.slots = 256;
  options.frame_bytes = 1 << 16;
  root_id = words[3];
  wanted = strtol(words[5], NULL, 10);
  wanted_signal = atoi(words[6]);
  if (run_all(chosen->before) != 0) return 1;
  fprintf(stderr, "ready\n");
  if (wanted > 0 && getchar() == EOF) return 0;
  is_armed = true;
  int code = chosen->run();
  is_armed = false;
  /* The number of steps varies a little, for example with the length of the key and the digits of the pid. */
  if (step < wanted && wanted < MAX_STEPS) raise(wanted_signal);
  if (code != 0 || run_all(chosen->after) != 0) return 1;
  /* Prints offsets from `main`. With the symbol table, they tell which function each step belongs to. */
  if (wanted == 0)
    for (long i = 0; i < step; i++) printf("%td\n", (char *)places[i] - (char *)main);
  fprintf(stderr, "done\n");
  if (wanted == 0) {
    shm_publisher_close(publisher);
    return 0;
  }
  struct timespec pause = {0, 100000000};
  for (;;) {
    if (publisher != NULL) shm_publisher_notify(publisher);
    nanosleep(&pause, NULL);
  }
}
