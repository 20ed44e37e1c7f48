/** What a run must start to find: programs that misbehave in the handshake, a directive that Redis refuses. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freshFolder, torture } from '../../support/torture.js';

const folder = freshFolder();
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

test("a directive that Redis refuses: exit 3 and one line, Redis's own message and where to find it", async () => {
  const run = await torture(['--redis-conf', 'frobnicate=1', '--nemesis', 'none', '--time-limit', '5s']);
  expect(run.errors.trim().split('\n')).toHaveLength(1);
  expect(run.errors).toMatch(/^lock-torture: r1: .*exit status 1.*frobnicate.*Bad directive.*logs\/r1\.log/);
  expect(run.status).toBe(3);
});

describe('programs that misbehave in the handshake', () => {
  const script = (name: string, text: string) => {
    const path = file(name, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return `cmd:${path}`;
  };

  test.each([
    ['prints garbage', 'echo "hello world"; cat >/dev/null', /first line is not protocol: hello world/],
    ['dies', 'exit 7', /your lock's program ended before it was ready, with exit status 7\n/],
    [
      'dies of something',
      'echo "Traceback (most recent call last):" >&2; echo "NameError: name x is not defined" >&2; exit 1',
      /ended before it was ready, with exit status 1; its last words: NameError: name x is not defined \(all of them in logs\/c\d\.log\)\n/,
    ],
    [
      'refuses',
      `read line; echo '{"id":0,"type":"fail","reason":"no licence"}'; cat >/dev/null`,
      /could not start: no licence/,
    ],
    [
      'names another topology',
      `read line; echo '{"id":0,"type":"ok","value":{"lock":"x","features":[],"topologies":["redlock"]}}'; cat >/dev/null`,
      /makes no sense on topology single/,
    ],
  ])('%s: exit 3 and the offending line', async (_, text, says) => {
    const run = await torture([
      '--lock',
      script(`s${Math.random()}.sh`, text),
      '--nemesis',
      'none',
      '--time-limit',
      '5s',
    ]);
    expect(run.errors).toMatch(says);
    expect(run.errors).not.toMatch(/\n\s+at /);
    expect(run.status).toBe(3);
  });
});
