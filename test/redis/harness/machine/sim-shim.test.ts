/** The library under which servers live in virtual time, tried for real. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { privateFolder } from '../../../../harness/machine/private-folder.js';
import { addressing, buildSimShim, trySimShim } from '../../../../harness/machine/sim-shim.js';

/** Node 20 itself needs 2.28; the shim is content with less. */
const OLDEST_GLIBC = [2, 17];

test('it works, and needs no symbol that an old C library lacks', { tags: ['native'] }, async () => {
  using cache = privateFolder(tmpdir());
  const built = await buildSimShim({ cacheFolder: cache.path, say: () => {} });
  if (!('path' in built)) throw new Error(built.unavailable);
  expect(await trySimShim(built.path)).toBeUndefined();

  const asked = readFileSync(built.path, 'latin1').matchAll(/GLIBC_(\d+)\.(\d+)/g);
  const versions = [...asked].map(([, major, minor]) => [Number(major), Number(minor)]);
  expect(versions.length).toBeGreaterThan(0);
  const tooNew = versions.filter(([major, minor]) => major! > OLDEST_GLIBC[0]! || minor! > OLDEST_GLIBC[1]!);
  expect(tooNew).toEqual([]);
});

/** Runs a command as an unprivileged container does: its addresses are not to be the same in every start. */
const REFUSES = `
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **arguments) {
  struct sock_filter code[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_personality, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffff, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog all = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
  return count > 1 ? execvp(arguments[1], arguments + 1) : 1;
}
`;

test('where the machine refuses to have addresses the same in every start, it goes on', {
  tags: ['compiler'],
}, async () => {
  using folder = privateFolder(tmpdir());
  const built = await buildSimShim({ cacheFolder: folder.path, say: () => {} });
  if (!('path' in built)) throw new Error(built.unavailable);
  const [source, refuses] = [join(folder.path, 'refuses.c'), join(folder.path, 'refuses')];
  writeFileSync(source, REFUSES);
  execFileSync('cc', ['-o', refuses, source]);
  expect(addressing([refuses])).toBe('random');
  expect(await trySimShim(built.path, [refuses])).toBeUndefined();
});

/** As Redis on arm64 does when it starts: a child looks whether what its parent has written is counted as its own. */
const LOOKS = `
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int looks(void) {
  char line[256];
  int shared_kb = 0, kb;
  FILE *file = fopen("/proc/self/smaps", "r");
  if (!file) return -1;
  while (fgets(line, sizeof line, file)) if (sscanf(line, "Shared_Dirty: %d", &kb) == 1) shared_kb += kb;
  fclose(file);
  return shared_kb > 0;
}
static int asked(void) {
  int ends[2], answer = -2;
  if (pipe(ends) < 0) return answer;
  pid_t child = fork();
  if (child == 0) return answer = looks(), write(ends[1], &answer, sizeof answer) > 0 ? (_exit(0), 0) : 1;
  if (read(ends[0], &answer, sizeof answer) < 0) return -3;
  waitpid(child, NULL, 0);
  return answer;
}
int main(void) {
  int before = asked(), itself = looks();
  usleep(1);
  printf("%d %d %d\\n", before, itself, asked());
  return 0;
}
`;

test('a child of what has only begun may look what the kernel does at a fork, and nobody else', {
  tags: ['compiler'],
}, async () => {
  using folder = privateFolder(tmpdir());
  const built = await buildSimShim({ cacheFolder: folder.path, say: () => {} });
  if (!('path' in built)) throw new Error(built.unavailable);
  const [source, looks, into] = ['looks.c', 'looks', 'into'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(source, LOOKS);
  execFileSync('cc', ['-o', looks, source]);
  // One frame: it is later, and nothing has come.
  const frame = Buffer.alloc(12);
  frame.writeUInt32LE(8, 0);
  frame.writeBigInt64LE(1_000_000n, 4);
  writeFileSync(into, frame);
  const said = execFileSync('sh', [
    '-c',
    'LD_PRELOAD="$0" SIM_PIPES=3,4 exec "$1" 3<"$2" 4>/dev/null',
    built.path,
    looks,
    into,
  ]);
  expect(said.toString()).toBe('1 -1 -1\n');
});

test('what is no such library is said to have no effect', async () => {
  expect(await trySimShim('/nowhere/shim.so')).toMatch(
    /has no effect: .* should see its clock at 1700000000 read "\d+"/,
  );
});
