/** `--runtime container`: the inside of a run in one container of the tool's image, which can do no more than it must, and ends. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findContainerEngine, provideToolImage } from '../../../cli/run/tool-image.js';
import { FIRST_RUN_MS, leftOf } from '../../support/containers.js';
import { bases, containers } from '../../support/needs-docker.js';
import { endAll, freshFolder, historyOf, QUIET, start, type Torture, torture, until } from '../../support/torture.js';

const IN_ONE = ['--runtime', 'container', '--client-image', bases.clientImage];
const docker = (...argv: string[]) => execFileSync('docker', argv, { encoding: 'utf8' }).trim();

const LOCK = `import { defineLock } from 'lock-torture';
import { ONLY_NEW } from './only-new';

export default defineLock({
  name: 'mine',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key: string, { leaseMs }: { leaseMs: number }) {
        const owner: string = topology.randomValue();
        if ((await redis.call('SET', key, owner, 'PX', leaseMs, ONLY_NEW)) === null) return null;
        return { release: async () => (await redis.del(key)) === 1 };
      },
    };
  },
});
`;

// Side by side: each mostly waits.
describe.concurrent('a run in one container', containers, () => {
  const runs: Torture[] = [];
  // Once for all, where each run would build it.
  beforeAll(async () => {
    await provideToolImage(await findContainerEngine(), bases.clientImage, () => {});
  }, FIRST_RUN_MS);
  afterAll(() => runs.forEach(endAll));

  async function inFullSwing(flags: readonly string[]): Promise<{ run: Torture; folder: string; container: string }> {
    const begun = start([...IN_ONE, ...QUIET, '--clients', '2', '--time-limit', '90s', ...flags]);
    runs.push(begun);
    await until(
      `grants; output so far: ${begun.output()} ${begun.errors()}`,
      () => {
        if (begun.child.exitCode !== null) throw new Error(`it ended: ${begun.output()} ${begun.errors()}`);
        return historyOf(begun).some(({ type }) => type === 'ok');
      },
      FIRST_RUN_MS,
    );
    const [, id = ''] = /^run (\S+), seed/m.exec(begun.output()) ?? [];
    const container = docker('ps', '--quiet', '--filter', `label=lock-torture.run=${id}`);
    return { run: begun, folder: join(begun.out, id), container };
  }

  it(
    "tortures the user's own lock, may write the run's folder and nothing else, and heals and judges after Ctrl-C",
    async () => {
      const project = freshFolder();
      writeFileSync(join(project, 'lock.ts'), LOCK);
      writeFileSync(join(project, 'only-new.ts'), "export const ONLY_NEW: string = 'NX';\n");
      const { run: begun, folder, container } = await inFullSwing(['--lock', join(project, 'lock.ts')]);
      const [facts] = JSON.parse(docker('inspect', container));
      const { HostConfig, Mounts, Config } = facts;
      expect(HostConfig).toMatchObject({
        NetworkMode: 'none',
        ReadonlyRootfs: true,
        Privileged: false,
        AutoRemove: true,
      });
      expect([HostConfig.CapDrop, HostConfig.Binds, HostConfig.Devices]).toEqual([['ALL'], null, []]);
      const uid = process.getuid!();
      const powers = HostConfig.CapAdd.map((name: string) => name.replace('CAP_', ''));
      expect(powers.sort()).toEqual(uid === 0 ? ['SETFCAP', 'SYS_ADMIN'] : ['SYS_ADMIN']);
      expect(HostConfig.SecurityOpt).toContain('no-new-privileges');
      expect(Config.User).toBe(`${uid}:${process.getgid!()}`);
      expect(Mounts.map(({ Source, RW }: { Source: string; RW: boolean }) => [Source, RW])).toEqual([[folder, true]]);
      expect(begun.output()).toMatch(/^runtime container: .* without network, which may write its run's folder only/m);

      begun.child.kill('SIGINT');
      const { code } = await begun.ended;
      expect([0, 2], `${begun.output()} ${begun.errors()}`).toContain(code);
      expect(begun.output()).toContain('lock "mine"');
      expect(JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')).exitStatus).toBe(code);
      expect(statSync(join(folder, 'history.jsonl')).uid).toBe(uid);
      expect(await leftOf(begun.output())).toEqual([]);
    },
    FIRST_RUN_MS,
  );

  it(
    'leaves no container when the tool is killed, and what was recorded can be judged',
    async () => {
      const { run: begun, folder } = await inFullSwing([]);
      begun.child.kill('SIGKILL');
      await begun.ended;
      const label = /^run (\S+), seed/m.exec(begun.output())![1]!;
      await until(
        'the end of its container',
        () => docker('ps', '--all', '--quiet', '--filter', `label=lock-torture.run=${label}`) === '',
      );
      expect(historyOf(begun).length).toBeGreaterThan(0);
      expect(statSync(join(folder, 'history.jsonl')).size).toBeGreaterThan(0);
    },
    FIRST_RUN_MS,
  );
});

describe.concurrent('what makes no sense with it is refused in one line', () => {
  it.each([
    [['--server', 'redis@8.0'], '--runtime container has the Redis of its image: leave out --server'],
    [['--image', 'redis:8'], '--runtime container runs all in one image; --client-image names what that is made of'],
    [['--service', 'etcd'], 'etcd runs in the netns and docker runtimes, not in one container'],
  ])('%j', async (flags, line) => {
    const { status, errors } = await torture(['--runtime', 'container', '--nemesis', 'none', ...flags]);
    expect([status, errors]).toEqual([3, `lock-torture: ${line}\n`]);
  });
});
