/** Turns, which other users of the machine can take no more from this one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
// @ts-expect-error it has no types, for it runs before anything is compiled
import * as turns from '../../../bin/exclusive.mjs';

const { exclusively, socketName } = turns as {
  exclusively<T>(name: string, onWait: () => void, work: () => Promise<T>): Promise<T>;
  socketName(name: string, which?: number): string;
};

const HOLD = `
for (const path of JSON.parse(process.argv[1])) require('node:net').createServer().listen(path, () => process.stdout.write('.'));
`;

const holders: ChildProcess[] = [];
afterEach(() => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
});

/** A process that has taken these names; `user`: another one's. */
async function hold(paths: readonly string[], user?: number): Promise<ChildProcess> {
  const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--'];
  const [program, ...args] = [...as, process.execPath, '-e', HOLD, JSON.stringify(paths)];
  const holder = spawn(program!, args, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  holders.push(holder);
  let heard = 0;
  for await (const chunk of holder.stdout!) {
    heard += (chunk as Buffer).length;
    if (heard >= paths.length) return holder;
  }
  throw new Error('the names are not held');
}

describe('exclusively', () => {
  it("waits for another process of the user's", async () => {
    const name = `a test ${process.pid} own`;
    const holder = await hold([socketName(name)]);
    const done = await exclusively(
      name,
      () => holder.kill('SIGKILL'),
      async () => holder.signalCode ?? (await once(holder, 'exit'))[1],
    );
    expect(done).toBe('SIGKILL');
  });

  it('waits for no other user, and takes turns with its own all the same', { tags: ['root'] }, async () => {
    const name = `a test ${process.pid} other`;
    const names = Array.from({ length: 20 }, (_, which) => socketName(name, which));
    await hold(names.slice(0, 2), 12_345);
    const own = await hold(names.slice(2, 3));
    let waited = 0;
    const onWait = () => {
      waited++;
      own.kill('SIGKILL');
    };
    expect(await exclusively(name, onWait, async () => 'done')).toBe('done');
    expect(waited).toBe(1);

    await hold(names.slice(2), 12_345);
    expect(await exclusively(name, onWait, async () => 'done')).toBe('done');
    expect(waited).toBe(1);
  });
});
