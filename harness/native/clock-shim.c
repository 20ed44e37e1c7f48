/*
 * A wall clock that can be moved for one process: preloaded (LD_PRELOAD), it adds to CLOCK_REALTIME what the file named
 * by LOCK_TORTURE_CLOCK says, from the next reading on. CLOCK_MONOTONIC and all other clocks are the kernel's.
 *
 * The file, four int64 of the machine's byte order, mapped: offset_ns, rate_ppb, base_mono_ns, check.
 *     wall = kernel's wall + offset_ns + (monotonic - base_mono_ns) * rate_ppb / 1e9
 * Write it in place and never truncate it: the kernel ends a process that reads a mapped page which is gone. One write
 * of 32 bytes is not one for who reads the mapping, and the writer may be held up anywhere within it: only where `check`
 * is what belongs to the other three (see sum_of) are they of one and the same write.
 *
 * Not reached: programs that do not call the C library for the time (Go, static binaries), and waits until an absolute
 * wall-clock time, which the kernel measures by its own clock.
 *
 * Nothing here allocates: an allocator such as jemalloc reads the clock while it starts, before the constructor has run,
 * and must get an answer (the kernel's clock) without calling itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "the clock shim is for 64-bit systems");

struct skew {
  int64_t offset_ns, rate_ppb, base_mono_ns, check;
};

static volatile const struct skew *file;
/* The C library's own, which needs no system call; until it is known, the system call. */
static int (*libc_clock_gettime)(clockid_t, struct timespec *);

static void complain(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored; /* nowhere left to say it */
}

__attribute__((constructor)) static void map_file(void) {
  libc_clock_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("LOCK_TORTURE_CLOCK");
  if (!path) return;
  struct stat info;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  void *page = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof(struct skew))
    page = mmap(NULL, sizeof(struct skew), PROT_READ, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (page == MAP_FAILED)
    complain("lock-torture clock shim: LOCK_TORTURE_CLOCK cannot be mapped; this process has the machine's clock\n");
  else
    file = page;
}

static int kernel_time(clockid_t clock, struct timespec *time) {
  if (libc_clock_gettime) return libc_clock_gettime(clock, time);
  return (int)syscall(SYS_clock_gettime, clock, time);
}

/* Three odd multipliers, so that no field's change is hidden by another's; a file of zeros is a clock that is not moved. */
static int64_t sum_of(const struct skew *skew) {
  return (int64_t)((uint64_t)skew->offset_ns * 0x9e3779b97f4a7c15u + (uint64_t)skew->rate_ppb * 0xc2b2ae3d27d4eb4fu +
                   (uint64_t)skew->base_mono_ns * 0x165667b19e3779f9u);
}

static struct skew read_file(void) {
  struct skew skew;
  do {
    skew.offset_ns = file->offset_ns, skew.rate_ppb = file->rate_ppb, skew.base_mono_ns = file->base_mono_ns;
    skew.check = file->check;
  } while (skew.check != sum_of(&skew));
  return skew;
}

static void move(struct timespec *time) {
  if (!file) return;
  struct skew skew = read_file();
  int64_t add_ns = skew.offset_ns;
  if (skew.rate_ppb) {
    struct timespec now;
    kernel_time(CLOCK_MONOTONIC, &now);
    int64_t passed_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - skew.base_mono_ns;
    add_ns += (int64_t)((double)passed_ns * (double)skew.rate_ppb / 1e9);
  }
  int64_t ns = time->tv_nsec + add_ns % 1000000000;
  time->tv_sec += add_ns / 1000000000 + (ns >= 1000000000) - (ns < 0);
  time->tv_nsec = ns < 0 ? ns + 1000000000 : ns >= 1000000000 ? ns - 1000000000 : ns;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = kernel_time(clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) move(time);
  return result;
}

/* Under a name of ours: the C library declares `time` never null, and the compiler would drop the test for it. */
int shim_gettimeofday(struct timeval *time, void *zone) __asm__("gettimeofday");
int shim_gettimeofday(struct timeval *time, void *zone) {
  struct timespec now;
  if (zone) memset(zone, 0, sizeof(struct timezone)); /* obsolete; Linux has none */
  if (!time) return 0;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return (time_t)-1;
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}
