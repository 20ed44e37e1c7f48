/** Options that change what the servers do: they must do it, seen from a lock. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readHistory } from '../../../harness/record/history.js';
import { freshFolder, torture } from '../../support/torture.js';

/** A lock that first makes sure that no client gets in without a password. */
const SUSPICIOUS = `
import { connect } from 'node:net';
import { defineLock } from 'lock-torture';

const ping = ({ host, port }) => new Promise((resolve, reject) => {
  const socket = connect(port, host, () => socket.write('PING\\r\\n'));
  socket.on('error', reject);
  socket.once('data', (reply) => { socket.destroy(); resolve(String(reply)); });
});

export default defineLock({
  name: 'suspicious',
  async connect(topology) {
    const { description } = topology;
    for (const endpoint of [...(description.sentinels ?? []), ...(description.nodes ?? [])]) {
      const reply = await ping(endpoint);
      if (!reply.startsWith('-NOAUTH')) throw new Error(endpoint.name + ' lets anybody in: ' + reply);
    }
    const [redis] = description.kind === 'redlock' ? await topology.nodes() : [await topology.redis()];
    return {
      async acquire(key, { leaseMs }) {
        if ((await redis.set(key, 'mine', 'PX', leaseMs, 'NX')) === null) return null;
        return { release: async () => { await redis.del(key); } };
      },
    };
  },
});
`;

const AUTH = '--auth: every server asks for a password, and a lock is given it, on';
it(`${AUTH} sentinel`, () => asksForPasswords('sentinel'));
it(`${AUTH} redlock`, { tags: ['night'] }, () => asksForPasswords('redlock'));

async function asksForPasswords(name: string): Promise<void> {
  const lock = join(freshFolder(), 'suspicious.mjs');
  writeFileSync(lock, SUSPICIOUS);
  const args = [
    '--topology',
    name,
    '--lock',
    lock,
    '--nemesis',
    'none',
    '--time-limit',
    '6s',
    '--hold',
    '0.01x..0.02x',
  ];
  const open = await torture(args);
  expect(open.errors).toContain('lets anybody in: +PONG');
  expect(open.status).toBe(3);
  const { status, output } = await torture([...args, '--auth']);
  expect(status, output).toBe(0);
}

it('--min-replicas-to-write: a primary without replicas refuses, and that is no doubt', async () => {
  const one = ['--min-replicas-to-write', '1', '--redis-conf', 'min-replicas-max-lag=1'];
  const args = ['--topology', 'sentinel', '--nemesis', 'lag', '--time-limit', '9s', '--lease', '2s', ...one];
  const { status, output, folder } = await torture(args);
  expect(status, output).not.toBe(1);
  const history = await readHistory(join(folder, 'history.jsonl'));
  const reasons = [...history.all()].flatMap((event) => (event.type === 'fail' ? [event.reason] : []));
  expect(reasons).toContainEqual(expect.stringMatching(/noreplicas/i));
});
