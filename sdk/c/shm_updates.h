/*
 * Decides when the slot and the memory of a removed variable may be reused: once no thread can still be updating it.
 * Updates take no lock. shm_metrics.h uses this header.
 *
 * This is epoch-based reclamation. Time is divided into epochs. While a thread updates, its `shm_updater` states the
 * epoch in which the update began. An epoch ends only when every update in progress began in it. So when two epochs
 * have ended after a removal, every update that could have seen the removed variable has ended, too.
 *
 * Updates need no fence: the thread that ends an epoch calls membarrier(), which makes all running threads of the
 * process execute one. Where the system refuses membarrier(), each update executes a fence.
 */
#ifndef SHM_UPDATES_H
#define SHM_UPDATES_H

#include "shm_publisher.h"

#if defined(__GNUC__) && !defined(SHM_PUBLISHER_WARNINGS)
#pragma GCC system_header
#endif

/* From linux/membarrier.h. */
#define SHM_MEMBARRIER_PRIVATE_EXPEDITED 8
#define SHM_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED 16

/* The state of one thread's updates. */
typedef struct shm_updater {
  uint64_t epoch; /* in which the update in progress began; 0: no update is in progress */
  uint64_t holds; /* the calls of shm_hold_updates() by the thread that are not resumed */
  /* The id of the thread << 32, plus a number that grows when a thread takes the updater. 0: no thread has it. */
  uint64_t owner;
  uint64_t padding[5]; /* each updater has its own cache line */
} shm_updater;

enum { SHM_UPDATERS_OF_PAGE = 63 };

/* Pages of updaters are never freed. There is one for every 63 threads that ran at the same time. */
typedef struct shm_updater_page {
  struct shm_updater_page *next;
  uint64_t padding[7];
  shm_updater updaters[SHM_UPDATERS_OF_PAGE];
} shm_updater_page;

static_assert(sizeof(shm_updater_page) == SHM_PAGE, "a page of updaters has the size of a page");

/*
 * Whether several threads use the metrics.
 *   SHM_ALONE    at most one thread has used them: additions need no lock prefix
 *   SHM_SHARING  a second thread has come: new additions are atomic, but the first thread may be in one that is not
 *   SHM_SHARED   all additions are atomic
 */
enum { SHM_ALONE, SHM_SHARING, SHM_SHARED };

typedef struct shm_updates {
  uint64_t epoch; /* the current one */
  shm_updater_page *pages;
  bool has_fences; /* each update executes a fence */
  uint32_t holders; /* the number of threads that hold back the updates of the others */
  uint32_t sharing; /* SHM_ALONE, SHM_SHARING or SHM_SHARED */
  shm_updater *first; /* the updater that the first thread took; another thread may take it after that one has ended */
} shm_updates;

/* How long a thread waits for updates in progress. How long an update is held back: it then resumes all updates. */
enum { SHM_WAIT_MS = 100, SHM_RESUME_MS = 10000 };

/* Whether an addition to memory can be one instruction, which no signal handler interrupts, without being atomic for
 * other threads. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define SHM_HAS_PLAIN_ADDITION 1
#else
#define SHM_HAS_PLAIN_ADDITION 0 /* the thread sanitizer does not see assembly */
#endif

/* All updates of the process. The symbols are weak, so that all files of a program share them. A library that dlopen()
 * loads has symbols of its own, unless the program was linked with -rdynamic. */
__attribute__((weak, visibility("default"))) shm_updates shm_all_updates = {1, NULL, false, 0, SHM_ALONE, NULL};
__attribute__((weak, visibility("default"))) __thread shm_updater *shm_own_updater;

/* An update in progress. `before` is the epoch of the update that a signal handler interrupted, or 0. */
typedef struct shm_update {
  shm_updater *updater;
  uint64_t before;
} shm_update;

/* ---------------------------------------------------------------- updaters of threads */

static inline uint64_t shm_owner_of_thread(void) {
  return (uint64_t)syscall(SYS_gettid) << 32;
}

static inline bool shm_take_owner(shm_updater *updater, uint64_t found, uint64_t owner) {
  return __atomic_compare_exchange_n(&updater->owner, &found, owner, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Frees the updater of a thread that has ended. Returns whether it is free. */
static inline bool shm_free_updater(shm_updater *updater) {
  uint64_t owner = __atomic_load_n(&updater->owner, __ATOMIC_ACQUIRE);
  if (owner == 0) return true;
  if (owner >> 32 == 0) return false; /* another thread is freeing it */
  if (syscall(SYS_tgkill, getpid(), (pid_t)(owner >> 32), 0) == 0 || errno != ESRCH) return false;
  /* A new thread may have got the id of the ended one, and have taken the updater in the meantime. */
  if (!shm_take_owner(updater, owner, 1)) return false;
  __atomic_store_n(&updater->epoch, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&updater->owner, 0, __ATOMIC_RELEASE);
  return true;
}

static inline shm_updater_page *shm_updater_pages(void) {
  return __atomic_load_n(&shm_all_updates.pages, __ATOMIC_ACQUIRE);
}

/* Takes a free updater, or one that a thread of the same id has left. Returns NULL if there is none. */
static inline shm_updater *shm_find_updater(uint64_t thread) {
  for (shm_updater_page *page = shm_updater_pages(); page != NULL; page = page->next)
    for (uint32_t i = 0; i < SHM_UPDATERS_OF_PAGE; i++) {
      shm_updater *updater = &page->updaters[i];
      uint64_t owner = __atomic_load_n(&updater->owner, __ATOMIC_ACQUIRE);
      bool is_own = owner >> 32 == thread >> 32;
      if ((owner == 0 || is_own) && shm_take_owner(updater, owner, (is_own ? owner : thread) + 1)) return updater;
    }
  return NULL;
}

static inline bool shm_add_updaters(void) {
  void *memory = mmap(NULL, SHM_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shm_updater_page *page = (shm_updater_page *)memory;
  page->next = shm_updater_pages();
  while (!__atomic_compare_exchange_n(&shm_all_updates.pages, &page->next, page, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
    ;
  return true;
}

/* ---------------------------------------------------------------- fences and waits */

static inline void shm_full_fence(void) {
#if defined(__SANITIZE_THREAD__)
  __atomic_fetch_add(&shm_all_updates.epoch, 0, __ATOMIC_SEQ_CST); /* GCC's thread sanitizer does not support fences */
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Makes each running thread execute a fence. If updates execute fences anyway, only this thread does. Returns false if
 * the system refuses membarrier(). */
static inline bool shm_fence_threads(void) {
  if (!__atomic_load_n(&shm_all_updates.has_fences, __ATOMIC_RELAXED))
    return syscall(SYS_membarrier, SHM_MEMBARRIER_PRIVATE_EXPEDITED, 0) == 0;
  shm_full_fence();
  return true;
}

static const struct timespec shm_pause = {0, 100000};

static inline uint64_t shm_wait_limit_ns(void) {
  return shm_clock_ns(CLOCK_MONOTONIC) + (uint64_t)SHM_WAIT_MS * 1000000;
}

/* Waits until another thread's update has ended, at most until `limit_ns` of the monotonic clock: the thread may be
 * stopped in the middle of it. */
static inline void shm_wait_for_update(shm_updater *updater, uint64_t limit_ns) {
  while (__atomic_load_n(&updater->epoch, __ATOMIC_ACQUIRE) != 0 && !shm_free_updater(updater) &&
         shm_clock_ns(CLOCK_MONOTONIC) < limit_ns)
    nanosleep(&shm_pause, NULL);
}

/* Records the first thread that takes an updater. When a second one comes, makes additions atomic for good, and waits
 * for SHM_WAIT_MS at most until the first thread has left an update that began before. */
static inline void shm_join_updates(shm_updater *updater) {
#if SHM_HAS_PLAIN_ADDITION
  shm_updater *first = NULL;
  if (__atomic_load_n(&shm_all_updates.sharing, __ATOMIC_ACQUIRE) == SHM_SHARED) return;
  if (__atomic_compare_exchange_n(&shm_all_updates.first, &first, updater, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
      first == updater)
    return;
  __atomic_store_n(&shm_all_updates.sharing, SHM_SHARING, __ATOMIC_SEQ_CST);
  /* A sandbox that begins after shm_prepare_updates() may refuse membarrier(). The pause gives the processor of the
   * first thread the time to complete its stores. */
  if (!shm_fence_threads()) nanosleep(&shm_pause, NULL);
  shm_wait_for_update(first, shm_wait_limit_ns());
  __atomic_store_n(&shm_all_updates.sharing, SHM_SHARED, __ATOMIC_RELEASE);
#else
  (void)updater;
#endif
}

/* ---------------------------------------------------------------- updates and epochs */

/* Gives the thread an updater. Returns NULL if there is no memory. Signal handlers may call it, so it takes no lock,
 * and allocates with mmap(). */
__attribute__((noinline, unused)) static shm_updater *shm_take_updater(void) {
  int error = errno;
  uint64_t thread = shm_owner_of_thread();
  shm_updater *taken = shm_find_updater(thread);
  if (taken == NULL) {
    bool is_any_free = false;
    for (shm_updater_page *page = shm_updater_pages(); page != NULL; page = page->next)
      for (uint32_t i = 0; i < SHM_UPDATERS_OF_PAGE; i++)
        if (shm_free_updater(&page->updaters[i])) is_any_free = true;
    if (is_any_free) taken = shm_find_updater(thread);
  }
  while (taken == NULL && shm_add_updaters()) taken = shm_find_updater(thread);
  if (taken != NULL) {
    __atomic_store_n(&taken->epoch, 0, __ATOMIC_RELEASE);
    shm_join_updates(taken);
  }
  shm_own_updater = taken;
  errno = error;
  return taken;
}

/* Delays an update that has just begun while another thread holds updates back. An update in a signal handler that
 * interrupted another update goes on, since the holder waits for the interrupted one. */
__attribute__((noinline, unused)) static void shm_wait_with_update(shm_update *update) {
  shm_updater *own = update->updater;
  int error = errno;
  uint64_t end = shm_clock_ns(CLOCK_MONOTONIC) + (uint64_t)SHM_RESUME_MS * 1000000;
  while (update->before == 0 && own->holds == 0 && __atomic_load_n(&shm_all_updates.holders, __ATOMIC_ACQUIRE) != 0) {
    __atomic_store_n(&own->epoch, 0, __ATOMIC_RELEASE);
    nanosleep(&shm_pause, NULL);
    if (shm_clock_ns(CLOCK_MONOTONIC) > end) __atomic_store_n(&shm_all_updates.holders, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&own->epoch, __atomic_load_n(&shm_all_updates.epoch, __ATOMIC_ACQUIRE), __ATOMIC_SEQ_CST);
    shm_full_fence();
  }
  errno = error;
}

/* Begins an update. Variables and memory that the thread finds before shm_leave_update() stay valid until then.
 * `updater` of the result is NULL if there is no memory. */
static inline shm_update shm_enter_update(void) {
  shm_update update = {shm_own_updater, 0};
  if (update.updater == NULL) update.updater = shm_take_updater();
  if (update.updater == NULL) return update;
  update.before = __atomic_load_n(&update.updater->epoch, __ATOMIC_RELAXED);
  uint64_t now = __atomic_load_n(&shm_all_updates.epoch, __ATOMIC_ACQUIRE);
  __atomic_store_n(&update.updater->epoch, update.before == 0 ? now : update.before, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST); /* for the compiler; membarrier() orders the processors */
  if (__builtin_expect(__atomic_load_n(&shm_all_updates.has_fences, __ATOMIC_RELAXED), 0)) shm_full_fence();
  if (__builtin_expect(__atomic_load_n(&shm_all_updates.holders, __ATOMIC_ACQUIRE) != 0, 0))
    shm_wait_with_update(&update);
  return update;
}

static inline void shm_leave_update(const shm_update *update) {
  if (update->updater != NULL) __atomic_store_n(&update->updater->epoch, update->before, __ATOMIC_RELEASE);
}

/* Adds to a value within an update. While only one thread uses the metrics, an instruction without the lock prefix is
 * enough: no other thread changes the value, and a signal handler of the thread runs before or after the instruction.
 * Compilers have no built-in function for it. The amount is in a register, since clang 14 does not know the size of a
 * constant in Intel syntax. */
static inline void shm_add_to_value(uint64_t *value, uint64_t amount) {
#if SHM_HAS_PLAIN_ADDITION
  if (__atomic_load_n(&shm_all_updates.sharing, __ATOMIC_RELAXED) == SHM_ALONE) {
    __asm__ volatile("add{q}\t{%1, %0|%0, %1}" : "+m"(*value) : "r"(amount) : "cc");
    return;
  }
#endif
  __atomic_fetch_add(value, amount, __ATOMIC_RELAXED);
}

/* Prepares the process for shm_end_epoch(), before it has handles. */
static inline void shm_prepare_updates(void) {
  if (syscall(SYS_membarrier, SHM_MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0) != 0)
    __atomic_store_n(&shm_all_updates.has_fences, true, __ATOMIC_SEQ_CST);
}

/* Returns the current epoch, after all earlier stores of the thread. */
static inline uint64_t shm_current_epoch(void) {
  return __atomic_fetch_add(&shm_all_updates.epoch, 0, __ATOMIC_ACQ_REL);
}

/* Ends the current epoch, unless an update that began in an earlier one is in progress. */
static inline bool shm_end_epoch(void) {
  uint64_t epoch = __atomic_load_n(&shm_all_updates.epoch, __ATOMIC_ACQUIRE);
  if (!shm_fence_threads()) return false;
  for (shm_updater_page *page = shm_updater_pages(); page != NULL; page = page->next)
    for (uint32_t i = 0; i < SHM_UPDATERS_OF_PAGE; i++) {
      uint64_t began = __atomic_load_n(&page->updaters[i].epoch, __ATOMIC_ACQUIRE);
      if (began != 0 && began != epoch && !shm_free_updater(&page->updaters[i])) return false;
    }
  return __atomic_compare_exchange_n(&shm_all_updates.epoch, &epoch, epoch + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

/* Holds back new updates of the other threads until shm_resume_updates(), and waits for those in progress, but at most
 * SHM_WAIT_MS: a thread may be stopped in the middle of one. */
__attribute__((unused)) static void shm_hold_updates(void) {
  shm_updater *own = shm_own_updater != NULL ? shm_own_updater : shm_take_updater();
  if (own != NULL) own->holds++;
  __atomic_fetch_add(&shm_all_updates.holders, 1, __ATOMIC_SEQ_CST);
  shm_fence_threads();
  uint64_t limit_ns = shm_wait_limit_ns();
  for (shm_updater_page *page = shm_updater_pages(); page != NULL; page = page->next)
    for (uint32_t i = 0; i < SHM_UPDATERS_OF_PAGE; i++)
      if (&page->updaters[i] != own) shm_wait_for_update(&page->updaters[i], limit_ns);
}

__attribute__((unused)) static void shm_resume_updates(void) {
  uint32_t holders = __atomic_load_n(&shm_all_updates.holders, __ATOMIC_RELAXED);
  while (holders > 0 && !__atomic_compare_exchange_n(&shm_all_updates.holders, &holders, holders - 1, true,
                                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    ;
  if (shm_own_updater != NULL && shm_own_updater->holds > 0) shm_own_updater->holds--;
}

/* ---------------------------------------------------------------- retired memory */

/* The head of a retired block of memory: no new update finds it, but an update in progress may use it. */
typedef struct shm_retired {
  struct shm_retired *next;
  uint64_t epoch; /* in which it was retired */
  shm_node *node; /* of a removed variable, or NULL */
} shm_retired;

/* A queue of retired blocks, oldest first. The caller holds the publisher's lock. */
typedef struct shm_retired_queue {
  shm_retired *oldest, *newest;
  uint32_t count;
} shm_retired_queue;

static inline void shm_retire(shm_retired_queue *queue, shm_retired *block, shm_node *node) {
  block->next = NULL;
  block->epoch = shm_current_epoch();
  block->node = node;
  if (queue->newest != NULL) queue->newest->next = block;
  else queue->oldest = block;
  queue->newest = block;
  queue->count++;
}

/* Frees the oldest block, and lets the publisher use its slot and frame again. */
static inline void shm_free_oldest(shm_publisher *p, shm_retired_queue *queue) {
  shm_retired *block = queue->oldest;
  queue->oldest = block->next;
  if (queue->oldest == NULL) queue->newest = NULL;
  queue->count--;
  if (block->node != NULL) shm_reuse_node(p, block->node);
  free(block);
}

/* Ends up to two epochs, and frees the blocks that no update can use any more. */
static inline void shm_free_retired(shm_publisher *p, shm_retired_queue *queue) {
  for (int i = 0; i < 2 && queue->oldest != NULL && shm_end_epoch(); i++)
    ;
  uint64_t now = __atomic_load_n(&shm_all_updates.epoch, __ATOMIC_ACQUIRE);
  while (queue->oldest != NULL && queue->oldest->epoch + 2 <= now) shm_free_oldest(p, queue);
}

#endif
