/*
 * A redis-server in virtual time: preloaded (LD_PRELOAD), it takes from the program whatever is not computation. Clocks,
 * sockets, waits, randomness, its process number and what of `/proc` tells of the machine are the coordinator's
 * (`harness/runtimes/sim/`).
 *
 * The program runs from an answer of the coordinator ("it is now T; this has come") to its next wait ("nothing to do before
 * D; I have sent this"), and no time passes meanwhile. Its sockets exist in the coordinator only: nothing listens anywhere.
 *
 * Two pipes, given as descriptors in SIM_PIPES ("3,4": what comes, what goes), carry frames of the machine's byte order:
 *     uint32 length of the rest, int64 nanoseconds (now; or until when there is nothing to do, INT64_MAX: for ever),
 *     then any number of: uint8 kind, uint32 id, uint32 length, bytes.
 * Ids below 2^31 are the program's own (what it listens at, connections that it makes), others the coordinator's.
 *
 * Asked to COPY itself, the program forks: the copy goes on over pipes, in a folder and with a log of its own, and the
 * original waits for the next question. So what takes long (a deployment that gets ready) is done once.
 *
 * Threads run as coroutines whenever the program waits: Redis' background threads close files, free memory and sync, and
 * must be done with that before time goes on, but for a sync that takes time. A child (an RDB is saved by one) is waited for in no time.
 *
 * Files are files of the machine, below the program's folder. What becomes of them in a power cut is the coordinator's to say
 * (`harness/runtimes/sim/disk.ts`): it is told of every sync, with the size that the file had then, of every change of a name, and
 * what a file held that loses its name. What is written over in place is told as a whole, for there a size says nothing.
 *
 * Only system calls and functions that every C library since 2.17 has: no dlsym, which moved between libraries.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "the simulation's shim is for 64-bit systems");

enum from_coordinator { DATA = 1, ACCEPTED, CONNECTED, FAILED, ENDED, RESET, CLOCK, EXIT, COPY, SEED, DISK };
enum to_coordinator { LISTEN = 1, CONNECT, SEND, CLOSE, OPENED, SYNCED, RENAMED, REMOVED, SHORTENED, FOLDER };

#define DESCRIPTORS 1024
#define PIPES_AT 1000 /* out of the way of the program's own, whose numbers must not depend on them */
#define HOME "/data"  /* what the program takes its folder for, wherever that is */
#define EPOCH_S 1700000000LL
#define THREADS 8
#define STACK_BYTES (1 << 20)
#define RANDOM_BYTES 4096
#define TOLD_BYTES (1 << 26) /* what a child can tell; only what it does tell takes memory */
#define FILES_OF_A_CHILD 4096

struct descriptor {
  enum { FRESH = 1, LISTENER, STREAM, EPOLL, PIPE } kind; /* PIPE: where one of the program's own is read */
  int family, watched, connecting, connected, ended, error;
  uint32_t id, interest, own_address, peer_address;
  uint16_t own_port, peer_port;
  char path[108];
  epoll_data_t data;
  uint64_t since; /* when it became ready, counted: epoll tells of descriptors in the order of arrival */
  char *bytes;
  size_t begin, end, room;
  struct descriptor *first, *last, *next; /* of a listener: connections that were not accepted yet */
};

/* A file below the program's folder that is open for writing. */
struct file {
  uint32_t id;
  int flags, in_place;
  dev_t device; /* the descriptor may be another file's by now, for the C library closes without asking */
  ino_t number;
  char name[4096]; /* as it is now; empty: it has none */
};

/* What a child tells, which has no pipe to the coordinator. */
struct told {
  size_t length;
  char bytes[];
};

static struct descriptor *descriptors[DESCRIPTORS];
static struct file *files[DESCRIPTORS];
static struct told *told;
static uint32_t next_file = 1;
static int64_t now_ns, clock_offset_ns, clock_rate_ppb, clock_base_ns, sync_ns;
static int from_fd = -1, to_fd = -1, in_child, has_waited;
static long own_number = 100, children, child_number;
static int child_status;
static uint32_t own_address, next_id = 1;
static uint16_t next_port = 30000;
static uint64_t arrivals, random_state = 0x9E3779B97F4A7C15ULL;
static char real_home[4096], host_name[65] = "sim";
static char *sent, *heard;
static size_t sent_length, sent_room, heard_room;

static void die(const char *why) {
  syscall(SYS_write, STDERR_FILENO, why, strlen(why));
  syscall(SYS_write, STDERR_FILENO, "\n", 1);
  _exit(99);
}

static void *room_for(void *old, size_t bytes) {
  void *made = realloc(old, bytes);
  if (!made) die("sim shim: no memory");
  return made;
}

static uint64_t random_number(void) { /* splitmix64 */
  uint64_t z = (random_state += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

static void random_bytes(char *into, size_t count) {
  for (size_t at = 0; at < count; at++) into[at] = (char)random_number();
}

static struct descriptor *of_fd(int fd) {
  return fd >= 0 && fd < DESCRIPTORS && !in_child ? descriptors[fd] : NULL;
}

static struct descriptor *of_id(uint32_t id) {
  for (int fd = 0; fd < DESCRIPTORS; fd++) {
    if (!descriptors[fd]) continue;
    if (descriptors[fd]->id == id) return descriptors[fd];
    for (struct descriptor *one = descriptors[fd]->first; one; one = one->next)
      if (one->id == id) return one;
  }
  return NULL;
}

static struct descriptor *new_descriptor(int kind, int family) {
  struct descriptor *d = room_for(NULL, sizeof *d);
  memset(d, 0, sizeof *d);
  d->kind = kind, d->family = family;
  return d;
}

/*
 * Begins the program anew, with the same addresses in every start: what hangs on them (the order of a table of Lua's whose keys are
 * objects) is the same then. Where the machine refuses that, as containers do by default, the program goes on with the addresses
 * that it has. What was its command line only the kernel knows where the loader was named in it.
 */
static void without_random_addresses(char **environment) {
  static char program[4096], line[65536], *arguments[1024];
  long now = syscall(SYS_personality, 0xffffffffL);
  if (now & ADDR_NO_RANDOMIZE) return; /* of a refusal, which is -1, too */
  if (syscall(SYS_personality, now | ADDR_NO_RANDOMIZE) < 0) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY, 0), count = 0;
  long length = syscall(SYS_read, fd, line, sizeof line - 1);
  syscall(SYS_close, fd);
  for (long at = 0; at < length && count < 1023; at += (long)strlen(line + at) + 1) arguments[count++] = line + at;
  /* By its name: what /proc itself leads to is an emulator, where there is one. Where this fails nothing has become of it. */
  if (syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof program - 1) > 0)
    syscall(SYS_execve, program, arguments, environment);
}

__attribute__((constructor)) static void begin(int count, char **arguments, char **environment) {
  (void)count, (void)arguments;
  without_random_addresses(environment);
  const char *pipes = getenv("SIM_PIPES"), *given;
  int from, to;
  if (!pipes || sscanf(pipes, "%d,%d", &from, &to) != 2) die("sim shim: SIM_PIPES does not name two pipes");
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if ((given = getenv("SIM_PARENT")) && atoi(given) != (int)syscall(SYS_getppid)) _exit(0); /* it died before */
  if ((given = getenv("SIM_NOW"))) now_ns = atoll(given);
  if ((given = getenv("SIM_SEED"))) random_state ^= strtoull(given, NULL, 10) * 0xD1342543DE82EF95ULL;
  if ((given = getenv("SIM_PROCESS"))) own_number = atol(given);
  if ((given = getenv("SIM_ADDRESS"))) own_address = inet_addr(given);
  if ((given = getenv("SIM_HOST"))) strncpy(host_name, given, sizeof host_name - 1);
  if (syscall(SYS_getcwd, real_home, sizeof real_home) < 0) die("sim shim: no folder");
  from_fd = PIPES_AT, to_fd = PIPES_AT + 1;
  if (syscall(SYS_dup3, from, from_fd, O_CLOEXEC) < 0 || syscall(SYS_dup3, to, to_fd, O_CLOEXEC) < 0)
    die("sim shim: its pipes are not open");
  syscall(SYS_close, from), syscall(SYS_close, to);
}

/* ---------------------------------------------------------------------------------------------------------- clocks */

static void wall_time(struct timespec *time) {
  int64_t ahead_ns = clock_offset_ns;
  if (clock_rate_ppb) ahead_ns += (int64_t)((double)(now_ns - clock_base_ns) * (double)clock_rate_ppb / 1e9);
  int64_t ns = EPOCH_S * 1000000000LL + now_ns + ahead_ns;
  time->tv_sec = ns / 1000000000, time->tv_nsec = ns % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) wall_time(time);
  else if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) time->tv_sec = time->tv_nsec = 0;
  else time->tv_sec = now_ns / 1000000000, time->tv_nsec = now_ns % 1000000000;
  return 0;
}

/* Under a name of ours: the C library declares `time` never null, and the compiler would drop the test for it. */
int sim_gettimeofday(struct timeval *time, void *zone) __asm__("gettimeofday");
int sim_gettimeofday(struct timeval *time, void *zone) {
  struct timespec now;
  wall_time(&now);
  if (zone) memset(zone, 0, sizeof(struct timezone));
  if (time) time->tv_sec = now.tv_sec, time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec now;
  wall_time(&now);
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}

/* ------------------------------------------------------------------------------------------------------ the exchange */

static void put(const void *bytes, size_t count) {
  if (count == 0) return;
  if (in_child) {
    if (count > TOLD_BYTES - sizeof *told - told->length) die("sim shim: a child does too much with its files");
    memcpy(told->bytes + told->length, bytes, count), told->length += count;
    return;
  }
  if (sent_length + count > sent_room) sent = room_for(sent, sent_room = 2 * (sent_length + count) + 4096);
  memcpy(sent + sent_length, bytes, count);
  sent_length += count;
}

static void begin_saying(uint8_t kind, uint32_t id, uint32_t count) {
  static const char head[12];
  if (sent_length == 0 && !in_child) put(head, sizeof head);
  put(&kind, 1), put(&id, 4), put(&count, 4);
}

static void say(uint8_t kind, uint32_t id, const void *bytes, uint32_t count) {
  begin_saying(kind, id, count), put(bytes, count);
}

static void write_frame(int64_t until_ns) {
  static const char head[12];
  if (sent_length == 0) put(head, sizeof head);
  uint32_t rest = (uint32_t)(sent_length - 4);
  memcpy(sent, &rest, 4), memcpy(sent + 4, &until_ns, 8);
  for (size_t done = 0; done < sent_length;) {
    long count = syscall(SYS_write, to_fd, sent + done, sent_length - done);
    if (count < 0 && errno != EINTR) _exit(0); /* the coordinator is gone */
    if (count > 0) done += (size_t)count;
  }
  sent_length = 0;
}

static void read_whole(void *into, size_t count) {
  for (size_t done = 0; done < count;) {
    long got = syscall(SYS_read, from_fd, (char *)into + done, count - done);
    if (got == 0 || (got < 0 && errno != EINTR)) _exit(0);
    if (got > 0) done += (size_t)got;
  }
}

static int readable(const struct descriptor *d) {
  return d->kind == LISTENER ? d->first != NULL : d->end > d->begin || d->ended || d->error;
}

static void arrived(struct descriptor *d) {
  if (!readable(d)) d->since = ++arrivals;
}

static void take_data(struct descriptor *d, const char *bytes, size_t count) {
  arrived(d);
  if (d->begin == d->end) d->begin = d->end = 0;
  if (d->end + count > d->room) d->bytes = room_for(d->bytes, d->room = 2 * (d->end + count) + 4096);
  memcpy(d->bytes + d->end, bytes, count);
  d->end += count;
}

/* Of the connection come its id, the peer's address and port. Data may come before the program accepts it. */
static void take_connection(struct descriptor *listener, const char *bytes) {
  struct descriptor *d = new_descriptor(STREAM, listener->family);
  memcpy(&d->id, bytes, 4), memcpy(&d->peer_address, bytes + 4, 4), memcpy(&d->peer_port, bytes + 8, 2);
  d->connected = 1, d->own_port = listener->own_port;
  d->own_address = listener->own_address == INADDR_ANY ? own_address : listener->own_address;
  arrived(listener);
  if (listener->first) listener->last->next = d;
  else listener->first = d;
  listener->last = d;
}

static void take(uint8_t kind, uint32_t id, const char *bytes, uint32_t count) {
  struct descriptor *d = of_id(id);
  if (kind == EXIT) _exit(0);
  if (kind == SEED) {
    memcpy(&random_state, bytes, 8);
    srandom((unsigned)random_number());
    return;
  }
  if (kind == CLOCK) {
    memcpy(&clock_offset_ns, bytes, 8), memcpy(&clock_rate_ppb, bytes + 8, 8), memcpy(&clock_base_ns, bytes + 16, 8);
    return;
  }
  if (kind == DISK) {
    memcpy(&sync_ns, bytes, 8);
    return;
  }
  if (!d) return; /* it was closed here meanwhile */
  switch (kind) {
    case DATA: take_data(d, bytes, count); break;
    case ACCEPTED: take_connection(d, bytes); break;
    case CONNECTED: d->connecting = 0, d->connected = 1, d->since = ++arrivals; break;
    case FAILED: arrived(d), d->connecting = 0, d->error = ECONNREFUSED; break;
    case ENDED: arrived(d), d->ended = 1; break;
    case RESET: arrived(d), d->ended = 1, d->error = ECONNRESET; break;
    default: die("sim shim: the coordinator says what this shim does not know");
  }
}

static void run_threads(void);
static int64_t until_thread(int64_t until_ns);
static void own_files(void);

static void forget_file(int fd) {
  if (fd < 0 || fd >= DESCRIPTORS) return;
  free(files[fd]);
  files[fd] = NULL;
}

static int opened(const char *path, int flags, int as) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
  if (fd < 0 || syscall(SYS_dup3, fd, as, as >= PIPES_AT ? O_CLOEXEC : 0) < 0) die("sim shim: a copy cannot open its files");
  return (int)syscall(SYS_close, fd);
}

/*
 * `names`: what comes, what goes, folder, log, each with its 0. Returns in the copy and in the original, which says no more. The
 * copy says nothing once, as soon as it has its ends of the pipes: what ends it after that is seen.
 */
static void copy_itself(const char *names) {
  const char *given[4];
  for (int at = 0; at < 4; at++, names += strlen(names) + 1) given[at] = names;
  while (syscall(SYS_wait4, -1, NULL, WNOHANG, NULL) > 0); /* earlier copies that have ended */
  pid_t original = (pid_t)syscall(SYS_getpid), made = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (made < 0) die("sim shim: no copy can be made");
  if (made > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if ((pid_t)syscall(SYS_getppid) != original) _exit(0); /* it died before */
  opened(given[0], O_RDONLY, from_fd), opened(given[1], O_WRONLY, to_fd);
  write_frame(now_ns);
  if (strlen(given[2]) >= sizeof real_home || syscall(SYS_chdir, given[2]) < 0) die("sim shim: a copy has no folder");
  strcpy(real_home, given[2]);
  own_files();
  opened(given[3], O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO), opened(given[3], O_WRONLY | O_APPEND, STDERR_FILENO);
}

static uint32_t read_frame(void) {
  uint32_t length;
  read_whole(&length, 4);
  if (length > heard_room) heard = room_for(heard, heard_room = 2 * (size_t)length);
  read_whole(heard, length);
  return length;
}

/* Tells what was done, and that there is nothing to do until then; returns when something has come or it is that late. */
static void exchange(int64_t until_ns) {
  uint32_t length;
  has_waited = 1;
  run_threads();
  for (;;) {
    write_frame(until_thread(until_ns));
    length = read_frame();
    if (length <= 8 || heard[8] != COPY) break;
    copy_itself(heard + 17);
  }
  memcpy(&now_ns, heard, 8);
  for (const char *at = heard + 8, *end = heard + length; at < end;) {
    uint8_t kind = (uint8_t)*at;
    uint32_t id, count;
    memcpy(&id, at + 1, 4), memcpy(&count, at + 5, 4);
    take(kind, id, at + 9, count);
    at += 9 + count;
  }
}

static int64_t until(int timeout_ms) {
  return timeout_ms < 0 ? INT64_MAX : now_ns + (int64_t)timeout_ms * 1000000;
}

static int wait_for(int64_t ns) {
  for (int64_t end = now_ns + ns; !in_child && now_ns < end;) exchange(end);
  return 0;
}

int usleep(useconds_t us) { return wait_for((int64_t)us * 1000); }
unsigned sleep(unsigned seconds) { return (unsigned)wait_for((int64_t)seconds * 1000000000); }
int nanosleep(const struct timespec *time, struct timespec *left) {
  if (left) left->tv_sec = left->tv_nsec = 0;
  return wait_for((int64_t)time->tv_sec * 1000000000 + time->tv_nsec);
}

/* ---------------------------------------------------------------------------------------------------------- threads */

static struct thread {
  ucontext_t context;
  void *(*begin)(void *);
  void *given;
  enum { NONE = 0, RUNS, WAITS, SLEEPS, READS, OVER } state;
  int64_t due_ns; /* of one that SLEEPS */
  pthread_cond_t *on;
  int fd; /* of one that READS */
} threads[THREADS];
static ucontext_t program;
static struct thread *running;

static void thread_main(void) {
  running->begin(running->given);
  running->state = OVER;
  swapcontext(&running->context, &program);
}

static int is_readable(int fd);

static void run_threads(void) {
  if (running || in_child) return;
  for (int again = 1; again;) {
    again = 0;
    for (int at = 0; at < THREADS; at++) {
      if (threads[at].state == SLEEPS && threads[at].due_ns <= now_ns) threads[at].state = RUNS;
      if (threads[at].state == READS && is_readable(threads[at].fd)) threads[at].state = RUNS;
      if (threads[at].state != RUNS) continue;
      running = &threads[at];
      swapcontext(&program, &running->context);
      running = NULL;
      again = 1;
    }
  }
}

/* That instant, or an earlier one at which a thread goes on. */
static int64_t until_thread(int64_t until_ns) {
  for (int at = 0; at < THREADS; at++)
    if (threads[at].state == SLEEPS && threads[at].due_ns < until_ns) until_ns = threads[at].due_ns;
  return until_ns;
}

/* Of the program itself, whose threads go on meanwhile, or of one thread, beside which the program goes on. */
static void take_time(int64_t ns) {
  struct thread *me = running;
  if (ns <= 0 || in_child) return;
  if (!me) {
    wait_for(ns);
    return;
  }
  me->state = SLEEPS, me->due_ns = now_ns + ns;
  swapcontext(&me->context, &program);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *given) {
  (void)attributes;
  for (int at = 0; at < THREADS; at++) {
    struct thread *one = &threads[at];
    if (one->state != NONE) continue;
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = room_for(NULL, STACK_BYTES);
    one->context.uc_stack.ss_size = STACK_BYTES;
    one->begin = begin, one->given = given, one->state = RUNS;
    makecontext(&one->context, thread_main, 0);
    *thread = (pthread_t)(at + 1);
    return 0;
  }
  die("sim shim: the server wants more threads than are simulated");
  return EAGAIN;
}

/* Whoever waits here in the program itself waits for a thread to have done something, which it then has, or is about in its own time. */
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  struct thread *me = running;
  pthread_mutex_unlock(mutex);
  if (me) {
    me->state = WAITS, me->on = condition;
    swapcontext(&me->context, &program);
  } else {
    run_threads();
    if (until_thread(INT64_MAX) != INT64_MAX) exchange(INT64_MAX);
  }
  return pthread_mutex_lock(mutex);
}

/* What waits with a limit does so to clean up from time to time (jemalloc's own thread): it is never woken by time. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *limit) {
  (void)limit;
  return pthread_cond_wait(condition, mutex);
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
  for (int at = 0; at < THREADS; at++)
    if (threads[at].state == WAITS && threads[at].on == condition) threads[at].state = RUNS;
  return 0;
}

int pthread_cond_signal(pthread_cond_t *condition) { return pthread_cond_broadcast(condition); }
int pthread_setname_np(pthread_t thread, const char *name) { return (void)thread, (void)name, 0; }
int pthread_cancel(pthread_t thread) { return (void)thread, 0; }
int pthread_join(pthread_t thread, void **result) { return (void)thread, (void)result, 0; }

/* ---------------------------------------------------------------------------------------------------------- sockets */

static int open_as(struct descriptor *d) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
  if (fd < 0 || fd >= PIPES_AT) die("sim shim: too many descriptors");
  descriptors[fd] = d;
  return fd;
}

static int fresh(int kind, int family) { return open_as(new_descriptor(kind, family)); }

int socket(int family, int type, int protocol) {
  (void)type, (void)protocol;
  if (family == AF_INET || family == AF_UNIX) return fresh(FRESH, family);
  errno = EAFNOSUPPORT;
  return -1;
}

static struct descriptor *socket_of(int fd) {
  struct descriptor *d = of_fd(fd);
  if (!d) errno = ENOTSOCK;
  return d;
}

int bind(int fd, const struct sockaddr *address, socklen_t length) {
  struct descriptor *d = socket_of(fd);
  if (!d) return -1;
  if (address->sa_family == AF_UNIX) {
    size_t most = length - offsetof(struct sockaddr_un, sun_path);
    strncpy(d->path, ((const struct sockaddr_un *)address)->sun_path, most < sizeof d->path ? most : sizeof d->path - 1);
  } else {
    d->own_port = ntohs(((const struct sockaddr_in *)address)->sin_port);
    d->own_address = ((const struct sockaddr_in *)address)->sin_addr.s_addr;
  }
  return 0;
}

/* Tells the port in decimal, or the path. Of several addresses with one port the coordinator needs one. */
int listen(int fd, int backlog) {
  struct descriptor *d = socket_of(fd);
  char name[108];
  (void)backlog;
  if (!d) return -1;
  d->kind = LISTENER, d->id = next_id++;
  if (d->family == AF_UNIX) strcpy(name, d->path);
  else snprintf(name, sizeof name, "%s:%u", inet_ntoa((struct in_addr){d->own_address}), d->own_port);
  say(LISTEN, d->id, name, (uint32_t)strlen(name));
  return 0;
}

int connect(int fd, const struct sockaddr *address, socklen_t length) {
  struct descriptor *d = socket_of(fd);
  (void)length;
  if (!d) return -1;
  if (d->connected || d->error || d->connecting || address->sa_family != AF_INET) {
    errno = d->connected ? EISCONN : d->error ? d->error : d->connecting ? EALREADY : EAFNOSUPPORT;
    return -1;
  }
  const struct sockaddr_in *peer = (const struct sockaddr_in *)address;
  d->kind = STREAM, d->connecting = 1, d->id = next_id++;
  d->peer_address = peer->sin_addr.s_addr, d->peer_port = ntohs(peer->sin_port);
  d->own_address = own_address, d->own_port = next_port++;
  char asked[8];
  memcpy(asked, &d->peer_address, 4), memcpy(asked + 4, &d->peer_port, 2), memcpy(asked + 6, &d->own_port, 2);
  say(CONNECT, d->id, asked, sizeof asked);
  errno = EINPROGRESS;
  return -1;
}

static int tell_address(struct sockaddr *into, socklen_t *length, int family, uint32_t address, uint16_t port) {
  struct sockaddr_in told = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {address}};
  struct sockaddr_un none = {.sun_family = AF_UNIX};
  const void *from = family == AF_UNIX ? (const void *)&none : (const void *)&told;
  socklen_t size = family == AF_UNIX ? sizeof none.sun_family : sizeof told;
  if (!into || !length) return 0;
  memcpy(into, from, *length < size ? *length : size);
  *length = size;
  return 0;
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
  struct descriptor *listener = socket_of(fd);
  (void)flags;
  if (!listener) return -1;
  struct descriptor *d = listener->first;
  if (!d) {
    errno = EAGAIN;
    return -1;
  }
  listener->first = d->next, d->next = NULL;
  tell_address(address, length, d->family, d->peer_address, d->peer_port);
  return open_as(d);
}

int accept(int fd, struct sockaddr *address, socklen_t *length) { return accept4(fd, address, length, 0); }

int getpeername(int fd, struct sockaddr *address, socklen_t *length) {
  struct descriptor *d = socket_of(fd);
  return d ? tell_address(address, length, d->family, d->peer_address, d->peer_port) : -1;
}

int getsockname(int fd, struct sockaddr *address, socklen_t *length) {
  struct descriptor *d = socket_of(fd);
  return d ? tell_address(address, length, d->family, d->own_address, d->own_port) : -1;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
  (void)level, (void)option, (void)value, (void)length;
  return socket_of(fd) ? 0 : -1;
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length) {
  struct descriptor *d = socket_of(fd);
  (void)level;
  if (!d) return -1;
  memset(value, 0, *length);
  if (option == SO_ERROR && *length >= sizeof(int)) *(int *)value = d->error;
  return 0;
}

int shutdown(int fd, int how) { return (void)how, socket_of(fd) ? 0 : -1; }

static ssize_t receive(struct descriptor *d, void *into, size_t count) {
  size_t have = d->end - d->begin;
  if (have == 0 && d->error) return errno = d->error, -1;
  if (have == 0 && d->ended) return 0;
  if (have == 0) return errno = EAGAIN, -1;
  if (count > have) count = have;
  memcpy(into, d->bytes + d->begin, count);
  d->begin += count;
  return (ssize_t)count;
}

static ssize_t send_bytes(struct descriptor *d, const void *bytes, size_t count) {
  if (d->error) return errno = EPIPE, -1;
  if (!d->connected) return errno = EAGAIN, -1;
  say(SEND, d->id, bytes, (uint32_t)count);
  return (ssize_t)count;
}

static struct descriptor *stream_of(int fd) {
  struct descriptor *d = of_fd(fd);
  return d && d->kind == STREAM ? d : NULL;
}

/* Also one that was closed: whoever reads from it is to learn of that. */
static int is_readable(int fd) {
  const struct descriptor *d = stream_of(fd);
  return !d || d->end > d->begin || d->ended || d->error;
}

/* A thread that is given nothing looks again at once (Valkey 9 loads a replica's data in one), and no time passes while it does. */
static void wait_in_thread(int fd) {
  while (running && !is_readable(fd)) {
    struct thread *me = running;
    me->state = READS, me->fd = fd;
    swapcontext(&me->context, &program);
  }
}

ssize_t read(int fd, void *into, size_t count) {
  wait_in_thread(fd);
  struct descriptor *d = stream_of(fd);
  return d ? receive(d, into, count) : syscall(SYS_read, fd, into, count);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  struct descriptor *d = stream_of(fd);
  return d ? send_bytes(d, bytes, count) : syscall(SYS_write, fd, bytes, count);
}

ssize_t recv(int fd, void *into, size_t count, int flags) { return (void)flags, read(fd, into, count); }
ssize_t send(int fd, const void *bytes, size_t count, int flags) { return (void)flags, write(fd, bytes, count); }

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  struct descriptor *d = stream_of(fd);
  if (!d) return syscall(SYS_writev, fd, pieces, count);
  ssize_t total = 0;
  for (int at = 0; at < count; at++) {
    ssize_t done = send_bytes(d, pieces[at].iov_base, pieces[at].iov_len);
    if (done < 0) return total ? total : done;
    total += done;
  }
  return total;
}

int close(int fd) {
  struct descriptor *d = of_fd(fd);
  forget_file(fd);
  if (d) {
    if (d->id) say(CLOSE, d->id, "", 0);
    free(d->bytes), free(d);
    descriptors[fd] = NULL;
  }
  return (int)syscall(SYS_close, fd);
}

/* ------------------------------------------------------------------------------------------------------------ waits */

static int has_bytes(int fd) {
  int count = 0;
  return syscall(SYS_ioctl, fd, FIONREAD, &count) == 0 && count > 0;
}

static uint32_t events_of(int fd, const struct descriptor *d, uint32_t interest) {
  uint32_t events = 0;
  if (d->kind == PIPE) return interest & EPOLLIN && has_bytes(fd) ? EPOLLIN : 0;
  if (d->kind != STREAM && d->kind != LISTENER) return 0;
  if ((interest & EPOLLIN) && readable(d)) events |= EPOLLIN;
  if ((interest & EPOLLOUT) && d->kind == STREAM && (d->connected || d->error)) events |= EPOLLOUT;
  if (d->error) events |= EPOLLERR | EPOLLHUP;
  return events;
}

int epoll_create(int size) { return (void)size, fresh(EPOLL, 0); }
int epoll_create1(int flags) { return (void)flags, fresh(EPOLL, 0); }

/*
 * By a pipe of its own a thread of the program's tells it that something is done (FLUSHALL of Redis 8). A copy has the same pipe as its
 * original: what is in it is read before the program waits, so neither reads what is the other's.
 */
int pipe2(int ends[2], int flags) {
  if (syscall(SYS_pipe2, ends, flags) < 0) return -1;
  if (ends[0] < DESCRIPTORS && !in_child) descriptors[ends[0]] = new_descriptor(PIPE, 0);
  return 0;
}
int pipe(int ends[2]) { return pipe2(ends, 0); }

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
  struct descriptor *d = of_fd(fd);
  (void)epoll;
  if (!d) return 0;
  d->watched = operation != EPOLL_CTL_DEL;
  if (d->watched) d->interest = event->events, d->data = event->data;
  return 0;
}

static int collect(struct epoll_event *events, int most) {
  uint64_t since[DESCRIPTORS];
  int count = 0;
  for (int fd = 0; fd < DESCRIPTORS && count < most && count < DESCRIPTORS; fd++) {
    const struct descriptor *d = descriptors[fd];
    uint32_t ready = d && d->watched ? events_of(fd, d, d->interest) : 0;
    if (!ready) continue;
    int at = count++;
    for (; at > 0 && since[at - 1] > d->since; at--) since[at] = since[at - 1], events[at] = events[at - 1];
    since[at] = d->since, events[at].events = ready, events[at].data = d->data;
  }
  return count;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms) {
  (void)epoll;
  for (int64_t end = until(timeout_ms);;) {
    int count = collect(events, most);
    if (count == 0) run_threads(), count = collect(events, most);
    if (count > 0 || now_ns >= end) return count;
    exchange(end);
  }
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
  for (int64_t end = until(timeout_ms);;) {
    int ready = 0;
    for (nfds_t at = 0; at < count; at++) {
      const struct descriptor *d = of_fd(fds[at].fd);
      uint32_t events = d ? events_of(fds[at].fd, d, (fds[at].events & POLLIN ? EPOLLIN : 0) | (fds[at].events & POLLOUT ? EPOLLOUT : 0)) : 0;
      fds[at].revents = (short)((events & EPOLLIN ? POLLIN : 0) | (events & EPOLLOUT ? POLLOUT : 0) | (events & EPOLLERR ? POLLERR : 0));
      if (fds[at].revents) ready++;
    }
    if (ready > 0 || now_ns >= end) return ready;
    exchange(end);
  }
}

/* ------------------------------------------------------------------------------- processes, randomness, files, memory */

pid_t getpid(void) { return (pid_t)own_number; }

/* Returns when the child has ended: so what the program sees of it does not hang on how fast that was. */
pid_t fork(void) {
  if (in_child || child_number) return errno = EAGAIN, -1;
  long number = 1000 * own_number + ++children;
  told = mmap(NULL, TOLD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (told == MAP_FAILED) die("sim shim: no memory for a child");
  pid_t made = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (made == 0) {
    in_child = 1, own_number = number;
    syscall(SYS_close, from_fd), syscall(SYS_close, to_fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return 0;
  }
  if (made > 0) {
    while (syscall(SYS_wait4, made, &child_status, 0, NULL) < 0 && errno == EINTR);
    child_number = number, next_file += FILES_OF_A_CHILD;
    if (told->length > 0 && sent_length == 0) put((const char[12]){0}, 12);
    put(told->bytes, told->length);
  }
  munmap(told, TOLD_BYTES);
  return made < 0 ? -1 : (pid_t)child_number;
}

pid_t waitpid(pid_t which, int *status, int options) {
  (void)options;
  if (!child_number || (which != -1 && which != child_number)) return errno = ECHILD, -1;
  pid_t ended = (pid_t)child_number;
  if (status) *status = child_status;
  child_number = 0;
  return ended;
}
pid_t wait3(int *status, int options, struct rusage *usage) {
  if (usage) memset(usage, 0, sizeof *usage);
  return waitpid(-1, status, options);
}

/* Its child has ended already; of others it knows nothing. */
int kill(pid_t which, int signal) {
  if (child_number && which == child_number) return 0;
  if (which == own_number) return (int)syscall(SYS_kill, (pid_t)syscall(SYS_getpid), signal);
  return errno = ESRCH, -1;
}

int getrusage(__rusage_who_t who, struct rusage *usage) {
  (void)who;
  memset(usage, 0, sizeof *usage);
  return 0;
}

/* How many files may be open bounds how many clients Redis takes, and it tells. */
int getrlimit(__rlimit_resource_t what, struct rlimit *limit) {
  if (what == RLIMIT_NOFILE) return limit->rlim_cur = limit->rlim_max = 65536, 0;
  return (int)syscall(SYS_prlimit64, 0, what, NULL, limit);
}
int getrlimit64(__rlimit_resource_t what, struct rlimit64 *limit) { return getrlimit(what, (struct rlimit *)limit); }
int setrlimit(__rlimit_resource_t what, const struct rlimit *limit) { return (void)what, (void)limit, 0; }
int setrlimit64(__rlimit_resource_t what, const struct rlimit64 *limit) { return (void)what, (void)limit, 0; }

int uname(struct utsname *name) {
  memset(name, 0, sizeof *name);
  strcpy(name->sysname, "Linux"), strcpy(name->release, "sim"), strcpy(name->version, "sim");
  strcpy(name->machine, "x86_64"), strcpy(name->nodename, host_name);
  return 0;
}

char *getcwd(char *into, size_t size) {
  if (!into) into = room_for(NULL, size = sizeof HOME);
  if (size < sizeof HOME) return errno = ERANGE, NULL;
  return strcpy(into, HOME);
}

static const char *real_path(const char *path, char *into, size_t size) {
  size_t home = strlen(HOME);
  if (strncmp(path, HOME, home) != 0 || (path[home] != '/' && path[home] != '\0')) return path;
  snprintf(into, size, "%s%s", real_home, path + home);
  return into;
}

/* A configuration that the program wrote anew names the folder as it sees it. */
int chdir(const char *path) {
  char real[4096];
  return (int)syscall(SYS_chdir, real_path(path, real, sizeof real));
}

static int random_file(void) {
  char bytes[RANDOM_BYTES];
  int fd = (int)syscall(SYS_memfd_create, "random", 0);
  random_bytes(bytes, sizeof bytes);
  if (fd < 0 || syscall(SYS_write, fd, bytes, sizeof bytes) < 0) die("sim shim: no randomness");
  syscall(SYS_lseek, fd, 0, SEEK_SET);
  return fd;
}

/* ------------------------------------------------------------------------------------------------------------ the disk */

/* The path below the program's folder; null where it is not below it. */
static const char *below(const char *path) {
  size_t home = strlen(HOME);
  if (strncmp(path, HOME, home) == 0 && path[home] == '/') path += home + 1;
  while (strncmp(path, "./", 2) == 0) path += 2;
  return path[0] == '/' || strlen(path) >= sizeof ((struct file *)0)->name ? NULL : path;
}

/* Of a regular file. */
static int is_file(const char *path, struct stat *info) {
  char real[8192];
  return syscall(SYS_newfstatat, AT_FDCWD, real_path(path, real, sizeof real), info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info->st_mode);
}

static struct file *file_of(int fd) {
  struct stat info;
  struct file *file = fd >= 0 && fd < DESCRIPTORS ? files[fd] : NULL;
  if (file && (syscall(SYS_fstat, fd, &info) < 0 || info.st_ino != file->number || info.st_dev != file->device)) forget_file(fd), file = NULL;
  return file;
}

/* All that the file holds; to be freed. */
static char *content_of(const char *path, size_t *count) {
  char real[8192];
  struct stat info;
  *count = 0;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, real_path(path, real, sizeof real), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0 || syscall(SYS_fstat, fd, &info) < 0) die("sim shim: a file cannot be read");
  char *bytes = room_for(NULL, (size_t)info.st_size + 1);
  while (*count < (size_t)info.st_size) {
    long got = syscall(SYS_pread64, fd, bytes + *count, (size_t)info.st_size - *count, *count);
    if (got <= 0) die("sim shim: a file cannot be read");
    *count += (size_t)got;
  }
  syscall(SYS_close, fd);
  return bytes;
}

/* OPENED: uint8 what is true of it, int64 its size before, uint16 length of the name, name, content where that may be lost. */
enum { IS_NEW = 1, IS_EMPTIED = 2, IS_IN_PLACE = 4 };

static void opened_file(int fd, const char *name, int flags, const struct stat *before) {
  struct stat info;
  if (fd < 0 || fd >= DESCRIPTORS || !name || !(flags & (O_WRONLY | O_RDWR))) return;
  if (syscall(SYS_fstat, fd, &info) < 0 || !S_ISREG(info.st_mode)) return;
  struct file *file = files[fd] = room_for(files[fd], sizeof *file);
  file->id = next_file++, file->flags = flags, file->device = info.st_dev, file->number = info.st_ino;
  file->in_place = !(flags & (O_TRUNC | O_APPEND | O_EXCL));
  strcpy(file->name, name);
  size_t count = 0;
  char *held = before && file->in_place ? content_of(name, &count) : NULL;
  uint8_t is = (before ? 0 : IS_NEW) | (flags & O_TRUNC ? IS_EMPTIED : 0) | (file->in_place ? IS_IN_PLACE : 0);
  int64_t size = before ? before->st_size : 0;
  uint16_t length = (uint16_t)strlen(name);
  begin_saying(OPENED, file->id, (uint32_t)(11 + length + count));
  put(&is, 1), put(&size, 8), put(&length, 2), put(name, length), put(held, count);
  free(held);
}

/* A file that has no name any more (it was removed, or another took its name), with what is in it; -1: it cannot be made. */
static int nameless_copy(int fd, const struct file *file) {
  static const char name[] = ".nameless";
  char held_at[64], bytes[4096];
  snprintf(held_at, sizeof held_at, "/proc/self/fd/%d", fd);
  int held = (int)syscall(SYS_openat, AT_FDCWD, held_at, O_RDONLY | O_CLOEXEC, 0);
  int own = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CREAT | O_EXCL | (file->flags & (O_APPEND | O_CLOEXEC)), 0600);
  long count = held < 0 || own < 0 || syscall(SYS_unlinkat, AT_FDCWD, name, 0) < 0 ? -1 : 1;
  while (count > 0) {
    count = syscall(SYS_read, held, bytes, sizeof bytes);
    if (count > 0 && syscall(SYS_write, own, bytes, count) != count) count = -1;
  }
  if (held >= 0) syscall(SYS_close, held);
  return count < 0 ? -1 : own;
}

/* In a copy: each file is that of its own folder, where it stood. */
static void own_files(void) {
  struct stat info;
  for (int fd = 0; fd < DESCRIPTORS; fd++) {
    struct file *file = file_of(fd);
    if (!file) continue;
    long at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
    int own = file->name[0] ? (int)syscall(SYS_openat, AT_FDCWD, file->name, file->flags & ~(O_CREAT | O_EXCL | O_TRUNC), 0)
                            : nameless_copy(fd, file);
    if (own < 0 || syscall(SYS_fstat, own, &info) < 0 || syscall(SYS_lseek, own, at, SEEK_SET) < 0 ||
        syscall(SYS_dup3, own, fd, file->flags & O_CLOEXEC) < 0)
      die("sim shim: a copy does not have a file of its original's");
    syscall(SYS_close, own);
    file->device = info.st_dev, file->number = info.st_ino;
  }
}

static int open_file(const char *path, int flags, int mode) {
  char real[8192];
  struct stat info;
  if (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0) return random_file();
  if (strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0) {
    /* The machine's. But Redis on arm64 has a child try what the kernel does at a fork, and ends where that cannot be told. */
    if (!in_child || has_waited || strcmp(path, "/proc/self/smaps") != 0) return errno = ENOENT, -1;
  }
  int was_there = is_file(path, &info);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, real_path(path, real, sizeof real), flags, mode);
  forget_file(fd);
  opened_file(fd, below(path), flags, was_there ? &info : NULL);
  return fd;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
  int flags = mode[0] == 'r' ? 0 : O_CREAT | (mode[0] == 'w' ? O_TRUNC : O_APPEND);
  flags |= strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  int fd = open_file(path, flags, 0666);
  return fd < 0 ? NULL : fdopen(fd, mode);
}
FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }

/* RENAMED: both names, each with its 0, uint8 whether there was a file of the second one, and what that held. */
int rename(const char *from, const char *to) {
  char one[8192], other[8192];
  struct stat info;
  const char *name = below(from), *name_then = below(to);
  int is_told = name && name_then && is_file(from, &info);
  uint8_t was_there = is_told && is_file(to, &info);
  size_t count = 0;
  char *held = was_there ? content_of(to, &count) : NULL;
  int result = (int)syscall(SYS_renameat, AT_FDCWD, real_path(from, one, sizeof one), AT_FDCWD, real_path(to, other, sizeof other));
  if (result == 0 && is_told) {
    begin_saying(RENAMED, 0, (uint32_t)(strlen(name) + strlen(name_then) + 3 + count));
    put(name, strlen(name) + 1), put(name_then, strlen(name_then) + 1), put(&was_there, 1), put(held, count);
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
      if (!files[fd]) continue;
      if (strcmp(files[fd]->name, name_then) == 0) files[fd]->name[0] = '\0';
      else if (strcmp(files[fd]->name, name) == 0) strcpy(files[fd]->name, name_then);
    }
  }
  free(held);
  return result;
}

/* What Sentinel and Cluster do besides, to write their configuration anew. */
int access(const char *path, int mode) {
  char real[8192];
  return (int)syscall(SYS_faccessat, AT_FDCWD, real_path(path, real, sizeof real), mode);
}

/* REMOVED: the name with its 0, and what the file held. */
int unlink(const char *path) {
  char real[8192];
  struct stat info;
  const char *name = below(path);
  int is_told = name && is_file(path, &info);
  size_t count = 0;
  char *held = is_told ? content_of(path, &count) : NULL;
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, real_path(path, real, sizeof real), 0);
  if (result == 0 && is_told) {
    begin_saying(REMOVED, 0, (uint32_t)(strlen(name) + 1 + count));
    put(name, strlen(name) + 1), put(held, count);
    for (int fd = 0; fd < DESCRIPTORS; fd++)
      if (files[fd] && strcmp(files[fd]->name, name) == 0) files[fd]->name[0] = '\0';
  }
  free(held);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  char real[8192];
  const char *name = below(path);
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, real_path(path, real, sizeof real), mode);
  if (result == 0 && name) say(FOLDER, 0, name, (uint32_t)strlen(name));
  return result;
}

/* SHORTENED: int64 its size, name. */
static void shortened(const char *name, int64_t size) {
  begin_saying(SHORTENED, 0, (uint32_t)(8 + strlen(name)));
  put(&size, 8), put(name, strlen(name));
}

int truncate64(const char *path, off64_t size) {
  char real[8192];
  const char *name = below(path);
  int result = (int)syscall(SYS_truncate, real_path(path, real, sizeof real), size);
  if (result == 0 && name) shortened(name, size);
  return result;
}
int truncate(const char *path, off_t size) { return truncate64(path, size); }

int ftruncate64(int fd, off64_t size) {
  const struct file *file = file_of(fd);
  int result = (int)syscall(SYS_ftruncate, fd, size);
  if (result == 0 && file && file->name[0]) shortened(file->name, size);
  return result;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int mkostemp64(char *template, int flags) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  char *end = template + strlen(template) - 6;
  for (int at = 0; at < 6; at++) end[at] = letters[random_number() & 31];
  return open_file(template, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
}
int mkostemp(char *template, int flags) { return mkostemp64(template, flags); }

ssize_t getrandom(void *into, size_t count, unsigned flags) {
  (void)flags;
  random_bytes(into, count);
  return (ssize_t)count;
}
int getentropy(void *into, size_t count) { return random_bytes(into, count), 0; }

/*
 * SYNCED: int64 its size, and what it holds where it is written over in place. Without an id: a folder, which has names only. It is
 * told when the sync is over, of what there was when it was asked for; a name that was changed meanwhile counts as synced, too.
 */
int fsync(int fd) {
  struct stat info;
  const struct file *file = file_of(fd);
  if (syscall(SYS_fstat, fd, &info) < 0) return -1;
  if (!file && !S_ISDIR(info.st_mode)) return 0;
  int64_t size = info.st_size;
  size_t count = 0;
  char *held = file && file->in_place && file->name[0] ? content_of(file->name, &count) : NULL;
  uint32_t id = file ? file->id : 0;
  take_time(sync_ns);
  begin_saying(SYNCED, id, (uint32_t)(8 + count));
  put(&size, 8), put(held, count);
  free(held);
  return 0;
}
int fdatasync(int fd) { return fsync(fd); }
/* Promises nothing. */
int sync_file_range(int fd, off64_t at, off64_t count, unsigned flags) { return (void)fd, (void)at, (void)count, (void)flags, 0; }

/* jemalloc's own way to what `mallctl` names; absent where the program has another allocator. */
__attribute__((weak)) int mallctlnametomib(const char *name, size_t *mib, size_t *depth);
__attribute__((weak)) int mallctlbymib(const size_t *mib, size_t depth, void *old, size_t *length, void *given, size_t given_length);

/* What jemalloc has of the machine differs from one start to the next, and its own thread would spin on a clock that stands. */
int mallctl(const char *name, void *old, size_t *length, void *given, size_t given_length) {
  // What its build decides (sizes), and arenas and caches that a program wants of its own: newer servers do not go on without.
  if (strncmp(name, "arenas.", 7) == 0 || strncmp(name, "tcache.", 7) == 0) {
    size_t mib[4], depth = sizeof mib / sizeof *mib;
    if (!mallctlnametomib || mallctlnametomib(name, mib, &depth) != 0) return ENOENT;
    return mallctlbymib(mib, depth, old, length, given, given_length);
  }
  if (strncmp(name, "stats.", 6) != 0) return ENOENT;
  if (old && length && *length >= sizeof(size_t)) memset(old, 0, *length), *(size_t *)old = 4 << 20;
  return 0;
}
