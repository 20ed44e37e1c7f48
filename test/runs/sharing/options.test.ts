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

/** A lock that first makes sure that nobody gets in without the run's authority, and that programs find it in a file. */
const TRUSTING = `
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { defineLock } from 'lock-torture';

const ping = (open) => new Promise((resolve) => {
  const socket = open(() => socket.write('PING\\r\\n'));
  socket.on('error', (error) => resolve(error.code));
  socket.on('close', () => resolve('closed'));
  socket.once('data', (reply) => { resolve(String(reply)); socket.destroy(); });
});

export default defineLock({
  name: 'trusting',
  async connect(topology) {
    const { description } = topology;
    if (!description.tls) throw new Error('no TLS');
    const ca = readFileSync(description.tls.caFile, 'utf8');
    for (const { host, port, name } of [description.node, ...(description.sentinels ?? []), ...(description.nodes ?? [])].filter(Boolean)) {
      const plain = await ping((then) => connect(port, host, then));
      const strange = await ping((then) => connectTls({ port, host }, then));
      const trusted = await ping((then) => connectTls({ port, host, ca }, then));
      if (!/closed|ECONNRESET/.test(plain) || !/UNABLE_TO_VERIFY|SELF_SIGNED/.test(strange) || !trusted.startsWith('+PONG'))
        throw new Error([name, plain, strange, trusted].join(': '));
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

const TLS = '--tls: every server speaks TLS only, and a lock is given its authority, on';
it(`${TLS} sentinel`, () => speaksTls('sentinel'));
const NIGHT = { tags: ['night'] };
it.each(['single', 'replica', 'cluster', 'redlock'])(`${TLS} %s`, NIGHT, (topology) => speaksTls(topology));

async function speaksTls(topology: string): Promise<void> {
  const lock = join(freshFolder(), 'trusting.mjs');
  writeFileSync(lock, TRUSTING);
  const quiet = ['--nemesis', 'none', '--time-limit', '4s', '--hold', '0.01x..0.02x'];
  const { status, output, errors } = await torture(['--topology', topology, '--lock', lock, '--tls', ...quiet]);
  expect(status, output + errors).toBe(0);
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
