/**
 * The link shaper between two hosts, as root and as an ordinary user, with a TUN device and without: what it is asked for is
 * measured by programs that know nothing of it, and a connection that is open all the time must survive everything but its reset.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildLinkShaper, linkShaperTrouble } from '../../../../harness/machine/link-shaper.js';
import { inNamespaces, isRoot } from '../../../../harness/machine/namespaces.js';
import { BUNDLED } from '../../../support/job-inside.js';
import type { Measured } from '../../../support/links/inside.js';

const NOBODY = 65_534;
const DROPPED = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--'];
const TUN = '/dev/net/tun';
const TUN_DEVICE = 'a TUN device';
const VETH_PAIR = 'a veth pair';

let folder: string;
let linkShaper: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'link-shaper-test-'));
  const built = await buildLinkShaper({ cacheFolder: join(folder, 'cache'), say: () => {} });
  if ('unavailable' in built) throw new Error(built.unavailable);
  linkShaper = join(folder, 'shaper');
  cpSync(built.path, linkShaper);
  await build({
    entryPoints: [join(import.meta.dirname, '../../../support/links/inside.ts')],
    ...BUNDLED,
    outfile: join(folder, 'inside.mjs'),
  });
  for (const path of [folder, linkShaper, join(folder, 'inside.mjs')]) chmodSync(path, 0o777);
});
afterAll(() => folder && rmSync(folder, { recursive: true, force: true }));

/** As root, and as the ordinary user that anybody is. */
const users = isRoot() ? ['root', 'an ordinary user'] : ['an ordinary user'];

function measure(user: string, withoutTun: boolean): Measured {
  const own = join(folder, `run as ${user}${withoutTun ? ' without TUN' : ''}`.replaceAll(' ', '-'));
  mkdirSync(own);
  chmodSync(own, 0o777);
  const unprivileged = [
    'unshare',
    '--user',
    '--map-root-user',
    ...inNamespaces()
      .slice(1)
      .filter((flag) => !/^--(user|map-root-user)$/.test(flag)),
  ];
  const argv = user === 'root' || !isRoot() ? inNamespaces() : [...DROPPED, ...unprivileged];
  const [command, ...rest] = [...argv, process.execPath, join(folder, 'inside.mjs')];
  const { status, stdout, stderr } = spawnSync(command!, rest, {
    encoding: 'utf8',
    input: JSON.stringify({ folder: own, linkShaper, withoutTun }),
    timeout: 280_000,
    killSignal: 'SIGKILL',
  });
  if (status !== 0) throw new Error(`as ${user}: ${stderr}`);
  return JSON.parse(stdout) as Measured;
}

/** On some machines the device file is root's alone: then others have the veth pair, as where there is none. */
function mayOpenTun(user: string): boolean {
  const [command, ...rest] = [...(user === 'root' || !isRoot() ? [] : DROPPED), 'test', '-w', TUN];
  return spawnSync(command!, rest).status === 0;
}

const cases = users.flatMap((user) => [
  {
    user,
    where: `${TUN} is as the machine has it`,
    withoutTun: false,
    device: mayOpenTun(user) ? TUN_DEVICE : VETH_PAIR,
  },
  { user, where: `there is no ${TUN}`, withoutTun: true, device: VETH_PAIR },
]);

describe.each(cases)(
  'a link shaper started as $user where $where',
  { tags: ['native', 'namespaces'] },
  ({ user, withoutTun, device }) => {
    let seen: Measured;
    beforeAll(() => {
      seen = measure(user, withoutTun);
    });

    it('says by which device it gets packets', () => {
      expect(seen.proof).toMatch(new RegExp(`: a to b \\(${device}(, SCHED_FIFO)?\\)$`));
    });

    it('takes no larger packets than the device that they go on by', () => {
      expect(seen.mtu).toEqual({ own: 1400, near: 1400 });
    });

    it('lets everything through as it comes where nothing is asked', () => {
      expect(seen.through.came).toBe(1);
      expect(seen.through.overtaken).toBe(false);
      // A machine with other work may need ten times as long for either: this is no figure, it only says that nothing waits.
      expect(seen.through.leastMs).toBeLessThan(seen.plain.leastMs + 5);
    });

    it('delays by what it was asked for, never by less, and keeps the order', () => {
      expect(seen.delayed.came).toBe(1);
      expect(seen.delayed.leastMs).toBeGreaterThanOrEqual(50);
      expect(seen.delayed.leastMs).toBeLessThan(60);
      expect(seen.delayed.overtaken).toBe(false);
      expect(seen.jittered.leastMs).toBeGreaterThanOrEqual(20);
      expect(seen.jittered.leastMs).toBeLessThan(80);
      expect(seen.jittered.overtaken).toBe(false);
    });

    it('loses the share that it was asked for, drawn anew each time', () => {
      // 400 packets, 30 %: six standard deviations on either side.
      for (const { came } of [seen.lossy, seen.again]) expect(Math.abs(came - 0.7)).toBeLessThan(0.14);
    });

    it('sends twice, and out of order, what it was asked for', () => {
      expect(Math.abs(seen.twice.came - 1.3)).toBeLessThan(0.14);
      expect(seen.reordered).toMatchObject({ came: 1, overtaken: true });
    });

    it('holds a link to its rate', () => {
      expect(seen.slowMs).toBeGreaterThan(190);
    });

    it('drops what waits for a peer that is cut off', () => {
      expect(seen.cutWhileWaiting).toEqual({ dropped: 50, waiting: 0, came: 0 });
    });

    it('leaves connections as they are, also when it is killed twenty times', () => {
      expect(seen.echoes).toHaveLength(8);
      expect(seen.echoes.at(-1)).toBe('echo after the cut');
      expect(seen.kills).toEqual(
        Array.from({ length: 20 }, (_, nth) => ({
          healed: 'the link shaper of a had ended before, and no route leads to it any more',
          echoed: `echo after kill ${nth + 1}`,
          trouble: [],
          ended: false,
        })),
      );
      expect(seen.troubleAfter).toEqual([]);
    });

    it('resets a connection on which nothing is sent, at both ends', () => {
      expect(seen.reset).toEqual({ own: 'ECONNRESET', peer: 'ECONNRESET', idle: true });
    });

    it('loses an answer with its connection, when what was asked for has been done', () => {
      expect(seen.lostReply).toEqual({
        ran: ['got answered', 'got no number', 'got :1', 'got unanswered'],
        own: ['ECONNRESET', 'ECONNRESET'],
      });
    });
  },
);

describe('linkShaperTrouble', { tags: ['native', 'namespaces'] }, () => {
  it('finds a working shaper to be one', async () => {
    expect(await linkShaperTrouble(linkShaper)).toBeUndefined();
  });

  it('says what is wrong with one that does not work', async () => {
    expect(await linkShaperTrouble('/bin/true')).toMatchObject({
      problem: 'the link shaper /bin/true does not work: it ended',
      remedy: expect.stringContaining('veth'),
    });
  });
});
