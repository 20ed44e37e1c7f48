/*
 * What of a server's files would be there after a power cut: preloaded (LD_PRELOAD), it records, for the regular files
 * below the folder named by LOCK_TORTURE_DISK, how much of each was synced, and which names were. The record lies in the
 * folder named by LOCK_TORTURE_DURABLE, which must be on the same file system:
 *
 *     table       mapped: a head, then one slot a file. A kill -9 keeps what is in a mapping.
 *     names       the changes of names, one a line, each written before it is made.
 *     files/INO   every file under a second name: an undone rename or unlink gives it back; and as long as it is there the
 *                 number INO belongs to no other file.
 *     copies/INO  of a small file that is written over in place what it held when it was last synced: there its size says nothing.
 *
 * What is promised: a size is taken before the sync is asked for and written down after it returned, so before the server
 * can tell anybody of it. Names are as on ext4 and XFS, whose journal keeps their order: any sync that returned keeps every
 * change of a name that was made before it was asked for. What was never mentioned is as it is found.
 *
 * Not recorded: programs that do not call the C library for their files (Go, static binaries), and programs that get
 * their privileges by being executed (setuid), for which the loader preloads nothing. The table's `pid` says who is.
 *
 * A child of the server (BGSAVE) writes into the same record, and is made to die with it: what loses power ends as one.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "the durable shim is for 64-bit systems");

#define MAGIC 0x3130656c62617264 /* "drable01" */
#define SLOTS 8192
#define COPY_BYTES_MAX (1 << 20)

/* Why nothing can be rebuilt from this record; bits of `troubles`. */
enum { TABLE_FULL = 1, NO_LINK = 2, NOT_WRITTEN = 4, TOO_LARGE_TO_COPY = 8, BAD_NAME = 16 };

/* Read by harness/runtimes/power-cut.ts: all fields of 8 bytes, of the machine's byte order. */
struct head {
  uint64_t magic, pid, troubles, names_made, names_durable, spare[3];
};
struct slot {
  uint64_t ino, durable_bytes, in_place, spare;
};

static struct head *head; /* null: nothing is recorded */
static struct slot *slots;
static int folder_fd, names_fd;
static dev_t device;
static char disk[PATH_MAX];
static size_t disk_length;
static char folder[PATH_MAX];

static void trouble(uint64_t what) { __atomic_or_fetch(&head->troubles, what, __ATOMIC_SEQ_CST); }

static void raise_to(uint64_t *field, uint64_t value) {
  uint64_t now = __atomic_load_n(field, __ATOMIC_SEQ_CST);
  while (now < value && !__atomic_compare_exchange_n(field, &now, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
}

static void complain(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored; /* nowhere left to say it */
}

/* System calls, and not the functions below. */
static int sys_open(int at, const char *path, int flags) { return (int)syscall(SYS_openat, at, path, flags, 0600); }

__attribute__((constructor)) static void attach(void) {
  const char *record = getenv("LOCK_TORTURE_DURABLE"), *root = getenv("LOCK_TORTURE_DISK");
  if (!record || !root) return;
  const uint64_t bytes = sizeof(struct head) + SLOTS * sizeof(struct slot);
  struct stat info;
  syscall(SYS_mkdirat, AT_FDCWD, record, 0700);
  int table_fd = -1;
  if (!realpath(root, disk) || !realpath(record, folder)) goto failed;
  disk_length = strlen(disk);
  if ((folder_fd = sys_open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) goto failed;
  syscall(SYS_mkdirat, folder_fd, "files", 0700);
  syscall(SYS_mkdirat, folder_fd, "copies", 0700);
  names_fd = sys_open(folder_fd, "names", O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC);
  table_fd = sys_open(folder_fd, "table", O_RDWR | O_CREAT | O_CLOEXEC);
  if (names_fd < 0 || table_fd < 0 || fstat(names_fd, &info) != 0) goto failed;
  device = info.st_dev;
  /* Shared, and inherited by every child: who can have it alone knows that all of them are gone. */
  if (flock(names_fd, LOCK_SH | LOCK_NB) != 0) goto failed;
  if (syscall(SYS_ftruncate, table_fd, bytes) != 0) goto failed;
  struct head *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, table_fd, 0);
  if (mapped == MAP_FAILED) goto failed;
  close(table_fd);
  slots = (struct slot *)(mapped + 1);
  mapped->magic = MAGIC;
  mapped->pid = (uint64_t)getpid();
  head = mapped;
  return;
failed:
  if (table_fd >= 0) close(table_fd);
  complain("lock-torture durable shim: LOCK_TORTURE_DURABLE cannot be used; what this process syncs is not recorded\n");
}

/* ------------------------------------------------------------------------------------------------ files and their names */

/* The path below the recorded folder, in `out`; 0 where it is not below it, or is the record itself. */
static int below(const char *path, char *out) {
  char parent[PATH_MAX], full[PATH_MAX];
  if (!head || !path) return 0;
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length >= sizeof parent || strlen(name) > NAME_MAX) return 0;
  memcpy(parent, path, length), parent[length] = 0;
  /* The file itself may not be there yet. */
  if (!realpath(slash ? (length ? parent : "/") : ".", full)) return 0;
  if (strncmp(full, disk, disk_length) != 0 || (full[disk_length] && full[disk_length] != '/')) return 0;
  if (strncmp(full, folder, strlen(folder)) == 0) return 0;
  int n = snprintf(out, PATH_MAX, "%s%s%s", full[disk_length] ? full + disk_length + 1 : "", full[disk_length] ? "/" : "", name);
  if (n < 0 || n >= PATH_MAX) return trouble(BAD_NAME), 0;
  if (strpbrk(out, "\t\n")) return trouble(BAD_NAME), 0;
  return 1;
}

/* Of a regular file; 0: there is none. */
static uint64_t number_of(const char *path, int flags) {
  struct stat info;
  return syscall(SYS_newfstatat, AT_FDCWD, path, &info, flags) == 0 && S_ISREG(info.st_mode) ? info.st_ino : 0;
}

/* The file's slot; made with `durable_bytes` where it has none yet. Null: there is no room. */
static struct slot *slot_of(uint64_t ino, int make, uint64_t durable_bytes) {
  for (uint64_t tried = 0, at = ino * 0x9e3779b97f4a7c15u >> 32; tried < SLOTS; tried++, at++) {
    struct slot *slot = &slots[at % SLOTS];
    uint64_t found = __atomic_load_n(&slot->ino, __ATOMIC_SEQ_CST);
    if (found == ino) return slot;
    if (found != 0) continue;
    if (!make) return NULL;
    if (__atomic_compare_exchange_n(&slot->ino, &found, ino, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      slot->durable_bytes = durable_bytes;
      return slot;
    }
    if (found == ino) return slot;
  }
  if (make) trouble(TABLE_FULL);
  return NULL;
}

static void own_name(char *out, size_t size, uint64_t ino) {
  snprintf(out, size, "files/%llu", (unsigned long long)ino);
}

static void keep(uint64_t ino, const char *path) {
  char name[64];
  own_name(name, sizeof name, ino);
  if (syscall(SYS_linkat, AT_FDCWD, path, folder_fd, name, 0) != 0 && errno != EEXIST && errno != ENOENT) trouble(NO_LINK);
}

/* A line: OP INO OTHER <tab> path <tab> other path. `!` before it: that one was not made after all. */
static void note(const char *op, uint64_t ino, uint64_t other, const char *path, const char *to) {
  char line[2 * PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "%s %llu %llu\t%s\t%s\n", op, (unsigned long long)ino,
                        (unsigned long long)other, path, to);
  if (length < 0 || length >= (int)sizeof line || syscall(SYS_write, names_fd, line, length) != length) trouble(NOT_WRITTEN);
}

/* All that was noted has been made: what a sync that is asked for from now on keeps. */
static void made(void) {
  struct stat info;
  if (fstat(names_fd, &info) == 0) raise_to(&head->names_made, (uint64_t)info.st_size);
}

/* ------------------------------------------------------------------------------------------------------------ contents */

static ssize_t copy_all(int from, int to) {
  char buffer[16384];
  off_t at = 0;
  for (;;) {
    ssize_t got = pread(from, buffer, sizeof buffer, at);
    if (got <= 0) return got < 0 ? -1 : (ssize_t)at;
    if (syscall(SYS_pwrite64, to, buffer, got, at) != got) return -1;
    at += got;
  }
}

static void copy_name(char *out, size_t size, uint64_t ino, int temporary) {
  if (temporary) snprintf(out, size, "copies/%llu.%d", (unsigned long long)ino, (int)syscall(SYS_gettid));
  else snprintf(out, size, "copies/%llu", (unsigned long long)ino);
}

/* Takes a copy of what the file holds now, under a name of its own. 0: it could not. */
static int take_copy(uint64_t ino) {
  char name[64], own[64];
  copy_name(name, sizeof name, ino, 1);
  own_name(own, sizeof own, ino);
  /* By its second name: it may be open for writing only. */
  int from = sys_open(folder_fd, own, O_RDONLY | O_CLOEXEC);
  int to = sys_open(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
  ssize_t copied = from < 0 || to < 0 ? -1 : copy_all(from, to);
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  if (copied < 0) trouble(NOT_WRITTEN);
  return copied >= 0;
}

/* The copy that was taken is what is durable. */
static void settle_copy(uint64_t ino) {
  char from[64], to[64];
  copy_name(from, sizeof from, ino, 1), copy_name(to, sizeof to, ino, 0);
  if (syscall(SYS_renameat, folder_fd, from, folder_fd, to) != 0) trouble(NOT_WRITTEN);
}

static void opened(int fd, const char *path, int flags, uint64_t before) {
  char name[PATH_MAX];
  struct stat info;
  int saved = errno;
  if (fd < 0 || !head || !(flags & (O_WRONLY | O_RDWR)) || !below(path, name)) goto done;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_dev != device) goto done;
  int is_new = before != info.st_ino;
  struct slot *known = slot_of(info.st_ino, 0, 0);
  struct slot *slot = slot_of(info.st_ino, 1, is_new ? 0 : (uint64_t)info.st_size);
  keep(info.st_ino, path);
  if (is_new || !known) note(is_new ? "create" : "found", info.st_ino, 0, name, ""), made();
  if (!slot) goto done;
  if (flags & O_TRUNC) {
    slot->durable_bytes = 0;
    slot->in_place = 0;
  } else if (!(flags & (O_APPEND | O_EXCL)) && !slot->in_place) {
    /* It may be written over anywhere. What it held until now is durable as far as it was. */
    if (info.st_size > COPY_BYTES_MAX) trouble(TOO_LARGE_TO_COPY);
    else if (slot->durable_bytes > 0 && take_copy(info.st_ino)) settle_copy(info.st_ino);
    slot->in_place = 1;
  }
done:
  errno = saved;
}

/* Whether a folder that is open here is one of the recorded ones. */
static int is_ours(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, disk, disk_length) == 0 && (!path[disk_length] || path[disk_length] == '/');
}

static int synced(int fd, int (*sync)(int)) {
  struct stat info;
  if (!head || fstat(fd, &info) != 0 || info.st_dev != device) return sync(fd);
  struct slot *slot = S_ISREG(info.st_mode) ? slot_of(info.st_ino, 0, 0) : NULL;
  if (!slot && !is_ours(fd)) return sync(fd);
  uint64_t names = __atomic_load_n(&head->names_made, __ATOMIC_SEQ_CST);
  int copied = 0;
  if (slot && slot->in_place) {
    if (info.st_size > COPY_BYTES_MAX) trouble(TOO_LARGE_TO_COPY);
    else copied = take_copy(info.st_ino);
  }
  int result = sync(fd);
  if (result != 0) return result;
  int saved = errno;
  if (copied) settle_copy(info.st_ino);
  if (slot && slot->in_place) slot->durable_bytes = (uint64_t)info.st_size;
  else if (slot) raise_to(&slot->durable_bytes, (uint64_t)info.st_size);
  raise_to(&head->names_durable, names);
  errno = saved;
  return result;
}

static void shortened(uint64_t ino, uint64_t bytes) {
  struct slot *slot = head ? slot_of(ino, 0, 0) : NULL;
  if (slot && !slot->in_place && slot->durable_bytes > bytes) slot->durable_bytes = bytes;
}

/* ---------------------------------------------------------------------------------- what the C library has by these names */

#define REAL(name)                   \
  static __typeof__(&name) real;     \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int fsync(int fd) {
  REAL(fsync);
  return synced(fd, real);
}

int fdatasync(int fd) {
  REAL(fdatasync);
  return synced(fd, real);
}

#define OPEN(name)                                                              \
  int name(const char *path, int flags, ...) {                                  \
    static int (*real)(const char *, int, ...);                                 \
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    mode_t mode = 0;                                                            \
    if (flags & (O_CREAT | O_TMPFILE)) {                                        \
      va_list list;                                                             \
      va_start(list, flags);                                                    \
      mode = va_arg(list, mode_t);                                              \
      va_end(list);                                                             \
    }                                                                           \
    uint64_t before = head && (flags & (O_WRONLY | O_RDWR)) ? number_of(path, 0) : 0; \
    int fd = real(path, flags, mode);                                           \
    opened(fd, path, flags, before);                                            \
    return fd;                                                                  \
  }
OPEN(open)
OPEN(open64)

/* What `open` becomes in a program that was built to be checked (_FORTIFY_SOURCE). */
#define CHECKED_OPEN(name)                                              \
  int name(const char *path, int flags);                                \
  int name(const char *path, int flags) {                               \
    REAL(name);                                                         \
    uint64_t before = head && (flags & (O_WRONLY | O_RDWR)) ? number_of(path, 0) : 0; \
    int fd = real(path, flags);                                         \
    opened(fd, path, flags, before);                                    \
    return fd;                                                          \
  }
CHECKED_OPEN(__open_2)
CHECKED_OPEN(__open64_2)

static int flags_of(const char *mode) {
  if (mode[0] == 'w') return O_WRONLY | O_TRUNC;
  if (mode[0] == 'a') return O_WRONLY | O_APPEND;
  return strchr(mode, '+') ? O_RDWR : O_RDONLY;
}

#define FOPEN(name)                                                \
  FILE *name(const char *path, const char *mode) {                 \
    REAL(name);                                                    \
    uint64_t before = head && path ? number_of(path, 0) : 0;          \
    FILE *file = real(path, mode);                                 \
    if (file) opened(fileno(file), path, flags_of(mode), before);  \
    return file;                                                   \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define TEMPORARY(name, arguments, given)                      \
  int name arguments {                                         \
    REAL(name);                                                \
    int fd = real given;                                       \
    opened(fd, template, O_RDWR | O_EXCL, 0);                  \
    return fd;                                                 \
  }
TEMPORARY(mkstemp, (char *template), (template))
TEMPORARY(mkstemp64, (char *template), (template))
TEMPORARY(mkostemp, (char *template, int flags), (template, flags))
TEMPORARY(mkostemp64, (char *template, int flags), (template, flags))

int rename(const char *from, const char *to) {
  REAL(rename);
  char old_name[PATH_MAX], new_name[PATH_MAX];
  if (!below(from, old_name) || !below(to, new_name)) return real(from, to);
  uint64_t ino = number_of(from, AT_SYMLINK_NOFOLLOW), replaced = number_of(to, AT_SYMLINK_NOFOLLOW);
  if (!ino) return real(from, to);
  keep(ino, from);
  if (replaced) keep(replaced, to);
  note("rename", ino, replaced, old_name, new_name);
  int result = real(from, to), saved = errno;
  if (result != 0) note("!rename", ino, replaced, old_name, new_name);
  made();
  errno = saved;
  return result;
}

int unlink(const char *path) {
  REAL(unlink);
  char name[PATH_MAX];
  if (!below(path, name)) return real(path);
  uint64_t ino = number_of(path, AT_SYMLINK_NOFOLLOW);
  if (!ino) return real(path);
  keep(ino, path);
  note("unlink", ino, 0, name, "");
  int result = real(path), saved = errno;
  if (result != 0) note("!unlink", ino, 0, name, "");
  made();
  errno = saved;
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  char name[PATH_MAX];
  int result = real(path, mode), saved = errno;
  if (result == 0 && below(path, name)) note("mkdir", 0, 0, name, ""), made();
  errno = saved;
  return result;
}

#define TRUNCATE(name, offset)                          \
  int name(const char *path, offset bytes) {            \
    REAL(name);                                         \
    int result = real(path, bytes), saved = errno;      \
    if (result == 0 && head) shortened(number_of(path, 0), (uint64_t)bytes); \
    errno = saved;                                      \
    return result;                                      \
  }
TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

#define FTRUNCATE(name, offset)                         \
  int name(int fd, offset bytes) {                      \
    REAL(name);                                         \
    struct stat info;                                   \
    int result = real(fd, bytes), saved = errno;        \
    if (result == 0 && head && fstat(fd, &info) == 0) shortened(info.st_ino, (uint64_t)bytes); \
    errno = saved;                                      \
    return result;                                      \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

pid_t fork(void) {
  REAL(fork);
  if (!head) return real();
  pid_t parent = getpid(), child = real();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1); /* it died before that was asked for */
  return child;
}
