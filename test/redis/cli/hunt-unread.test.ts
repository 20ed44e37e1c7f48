/** A lock that prints is played the same in virtual time whether or not somebody reads it: what nobody reads is no error of its own. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freshFolder, start } from '../../support/torture.js';

const LOCK = `
import { defineLock } from 'lock-torture';
export default defineLock({
  name: 'prints',
  async connect(topology) {
    const redis = await topology.redis();
    return {
      async acquire(key, { leaseMs }) {
        console.log('acquiring', key);
        console.error('acquiring', key);
        if ((await redis.set(key, topology.randomValue(), 'PX', leaseMs, 'NX')) === null) return null;
        return { release: async () => (await redis.del(key)) === 1 };
      },
    };
  },
});
`;

it('is the same schedule, and nothing is found that the lock did not do', { tags: ['native'] }, async () => {
  const folder = freshFolder();
  const lock = join(folder, 'prints.mjs');
  writeFileSync(lock, LOCK);
  const [read, unread] = await Promise.all(
    [true, false].map(async (isRead) => {
      const out = join(folder, String(isRead));
      const hunt = start(['--lock', lock, '--runs', '1', '--seed', '7', '--out', out], { command: 'hunt' });
      if (!isRead) for (const stream of [hunt.child.stdout!, hunt.child.stderr!]) stream.destroy();
      await hunt.ended;
      // Each line once, however many tries printed it.
      if (isRead) {
        const printed = `${hunt.output()}${hunt.errors()}`.split('\n').filter((line) => line.includes('acquiring'));
        expect(printed.length).toBeGreaterThan(0);
        expect(printed.length).toBeLessThan(5);
        expect(hunt.output()).toMatch(/the lock printed [\d,]+ lines, \d+ of them distinct but for numbers/);
      }
      const [id] = readdirSync(out);
      return readFileSync(join(out, id!, 'schedules.jsonl'), 'utf8');
    }),
  );
  expect(JSON.parse(read!)).toMatchObject({ schedule: 1, digest: expect.stringMatching(/^[0-9a-f]{64}/) });
  expect(unread).toBe(read);
});
