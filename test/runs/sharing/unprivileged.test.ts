/**
 * What somebody has who types the README's commands in an ordinary container (`docker run`, nothing added), in which there is
 * Node.js, npm and git, and nothing else: no namespaces, no compiler, no Redis. As root, and as an ordinary user.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { ended } from '../../support/ended.js';
import { isAllRequired, skipWhere } from '../../support/needs.js';
import { repositoryHere } from '../../support/repository.js';
import { ROOT } from '../../support/torture.js';

const image = process.env.LOCK_TORTURE_TEST_BARE_IMAGE;
/** By which certificates this machine reaches the package registry. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const WITHIN_MS = 1_200_000;
/** Of each command: its name, its exit status, what it printed. */
const EACH = /^=== (\S+) ended with (\d+)\n([\s\S]*?)(?=^=== |(?![\s\S]))/gm;

/** In a clone. */
const COMMANDS = {
  redlock: '--topology redlock --time-limit 5s',
  // Held for longer than its lease by clients that do not look at it: found in the first schedule, and hardly to be shrunk.
  hunt: 'hunt --lock ./my-lock.ts --topology single --seed 1 --runs 20 --clients 2 --time-limit 2s --careless --lease 500ms --hold 1.1x..1.4x --faults none',
};
/** How each user comes to a clone with a lock in it: by all commands of the README, or by the first of them. */
const CLONED = {
  readme:
    'node /support/newcomer.mjs --from /repository --in /tmp/found --part readme >out 2>&1; echo "=== readme ended with $?"; cat out; cd /tmp/found/lock-torture || exit',
  sentinel:
    'git clone --quiet /repository clone; cd clone || exit; cp examples/vitest/blind-delete.ts my-lock.ts; npm run torture -- --topology sentinel >out 2>&1; echo "=== sentinel ended with $?"; cat out',
};

async function inContainer(user: string, script: string, onTestFinished: TestContext['onTestFinished']) {
  using repository = repositoryHere();
  const certificates = existsSync(CERTIFICATES) ? ['--volume', `${CERTIFICATES}:${CERTIFICATES}:ro`] : [];
  const argv = [
    ...['run', '--rm', '--init', '--user', user, '--env', 'HOME=/tmp', '--workdir', '/tmp'],
    ...[...certificates, '--env', `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`],
    ...['--volume', `${join(ROOT, 'test/support')}:/support:ro`, '--volume', `${repository.path}:/repository:ro`],
    ...[image!, 'sh', '-c', script],
  ];
  const child = spawn('docker', argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  // It passes the signal on, and the container ends with it.
  onTestFinished(() => void child.kill());
  return await ended(child);
}

const isNamed = image !== undefined || isAllRequired;
describe(
  'a container without added power',
  skipWhere(isNamed ? undefined : 'no image with nothing but Node.js'),
  () => {
    it.concurrent.for([
      ['root', '0:0', 'sentinel', '1', /^VIOLATED: not safe on sentinel/m],
      ['an ordinary user', '54323:54323', 'readme', '0', /./],
    ] as const)(
      'is enough for %s: the README’s commands, other topologies, hunts',
      { timeout: WITHIN_MS },
      async ([, user, first, status, says], { onTestFinished }) => {
        const told = Object.entries(COMMANDS).map(
          ([name, flags]) => `npm run torture -- ${flags} >out 2>&1; echo "=== ${name} ended with $?"; cat out`,
        );
        const { output } = await inContainer(user, [CLONED[first], ...told].join('\n'), onTestFinished);
        const came = new Map(
          [...output.matchAll(EACH)].map(([, name, status, text]) => [name, { status, text: text! }]),
        );
        expect(came.get(first), output).toEqual({ status, text: expect.stringMatching(says) });
        expect(came.get('redlock')?.text, output).toContain('in virtual time');
        // A sound lock, whose deployment may be struck in a way that nothing survives.
        expect(came.get('redlock')?.text, output).toMatch(/^(HELD|VIOLATED|CANNOT TELL)/m);
        expect(came.get('redlock')?.status, output).toMatch(/^[012]$/);
        expect(came.get('hunt'), output).toMatchObject({
          status: '1',
          text: expect.stringContaining('exclusion (overlap)'),
        });
      },
    );
  },
);
