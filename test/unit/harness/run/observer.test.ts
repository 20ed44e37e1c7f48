/** What the observer records of a node that the test plays. */
import { expect, test, vi } from 'vitest';
import type { HostsClient } from '../../../../harness/run/command-senders.js';
import { observe } from '../../../../harness/run/observer.js';
import { monotonicNs, realClock } from '../../../../harness/runtimes/real-clock.js';
import { EVICTION } from '../../../../harness/topologies/monitor.js';
import type { Observation } from '../../../../harness/vocabulary/history.js';
import type { MonitoredCommand, ServerNode } from '../../../../harness/vocabulary/topology.js';

const itself = (key: string) => key;

function watched(answers: (name: string, ...args: unknown[]) => unknown = () => undefined, keyName = itself) {
  const recorded: Observation[] = [];
  const connections: { tell(command: MonitoredCommand): void; end(): void }[] = [];
  const node = {
    name: 'r1',
    async command(name: string, section?: string, ...rest: unknown[]) {
      const answer = answers(name, section, ...rest);
      if (answer instanceof Error) throw answer;
      if (answer !== undefined) return answer;
      if (name === 'TIME') return ['0', '0'];
      if (name === 'INFO') return section === 'server' ? 'run_id:a\r\n' : 'role:master\r\nmaster_repl_offset:1\r\n';
      if (name === 'DBSIZE') return 3;
      return name === 'GET' ? null : -2;
    },
    async monitor(tell: (command: MonitoredCommand) => void) {
      let end = () => {};
      const closed = new Promise<string>((done) => {
        end = () => done('the connection was closed');
      });
      connections.push({ tell, end });
      return { closed, close: end };
    },
  } as unknown as ServerNode;
  const clock = realClock(monotonicNs());
  const hosts: Record<string, HostsClient> = { '10.0.0.9': { name: 'c1' } };
  const options = {
    // The pause between two samples never ends by itself: those that are seen have another reason.
    clock: { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms >= 100 ? 1e6 : ms, signal) },
    keys: ['lock:0'],
    keyName,
    record: (observation: Observation) => void recorded.push(observation),
    clientAt: (address: string) => hosts[address],
  };
  return {
    recorded,
    connections,
    hosts,
    node,
    options,
    get observing() {
      return observe([node], options);
    },
  };
}

const types = (recorded: readonly Observation[]) => recorded.map(({ type }) => type);

test('whether nothing at all is stored, once its commands are followed', async () => {
  const looks = async (count: number) => {
    const { recorded, observing } = watched((name) => (name === 'DBSIZE' ? count : undefined));
    await using _ = await observing;
    const from = types(recorded).indexOf('watch');
    return recorded.slice(from).map((one) => one.type === 'sample' && one.isEmpty === true);
  };
  expect(await looks(0)).toContain(true);
  expect(await looks(1)).not.toContain(true);
});

test('what is stored under a key, by the name that the lock has for it', async () => {
  const stored = (name: string, key: unknown) => (name === 'GET' && key === 'mutex:lock:0' ? 'c1' : undefined);
  const { recorded, observing } = watched(stored, (key) => `mutex:${key}`);
  await using _ = await observing;
  const sample = recorded.find((one) => one.type === 'sample');
  expect(sample?.keys).toEqual({ 'lock:0': { owner: 'c1', type: 'string', pttlMs: -2 } });
});

test('commands and evictions in their order, of the keys of the run only, and not its own', async () => {
  const { recorded, connections, observing } = watched();
  await using _ = await observing;
  const [connection] = connections;
  const from = recorded.length;
  const say = (source: string, ...argv: string[]) => connection!.tell({ serverWallMs: 5, source, argv });
  say('10.0.0.9:400', 'SET', 'lock:0', 'v');
  say(EVICTION, 'somebody-elses:1');
  say('unix:redis.sock', 'GET', 'lock:0');
  say(EVICTION, 'lock:0');
  say('10.0.0.9:400', 'GET', 'another');
  say('10.0.0.9:400', 'DEL', 'lock:0');
  const seen = recorded.slice(from).filter(({ type }) => type !== 'sample');
  expect(seen).toEqual([
    expect.objectContaining({ type: 'command', client: 'c1', argv: ['SET', 'lock:0', 'v'] }),
    { atNs: expect.any(Number), node: 'r1', type: 'evicted', key: 'lock:0' },
    expect.objectContaining({ type: 'command', argv: ['DEL', 'lock:0'] }),
  ]);
});

test('commands on a whole database, what waits for replicas, and the script of a command that concerns the run, whatever it names itself', async () => {
  const { recorded, connections, observing } = watched();
  await using _ = await observing;
  const from = recorded.length;
  const say = (source: string, ...argv: string[]) => connections[0]!.tell({ serverWallMs: 5, source, argv });
  say('10.0.0.8:400', 'EVAL', 'reads only', '0');
  say('lua', 'GET', 'another');
  say('10.0.0.9:400', 'EVALSHA', 'builds the name of its key', '0');
  say('lua', 'GET', 'another');
  say('lua', 'SET', 'lock:0', 'v');
  say('lua', 'PEXPIRE', 'lock:0', '5000');
  say('10.0.0.9:400', 'FLUSHALL');
  say('10.0.0.9:400', 'wait', '1', '100');
  connections[0]!.tell({ serverWallMs: 5, source: '10.0.0.9:400', db: 3, argv: ['DEL', 'lock:0'] });
  const seen = recorded.slice(from).filter(({ type }) => type !== 'sample');
  expect(seen).toEqual([
    expect.objectContaining({ client: 'c1', argv: ['EVALSHA', 'builds the name of its key', '0'] }),
    expect.objectContaining({ source: 'lua', argv: ['SET', 'lock:0', 'v'] }),
    expect.objectContaining({ source: 'lua', argv: ['PEXPIRE', 'lock:0', '5000'] }),
    expect.objectContaining({ argv: ['FLUSHALL'] }),
    expect.objectContaining({ argv: ['wait', '1', '100'] }),
    expect.objectContaining({ db: 3, argv: ['DEL', 'lock:0'] }),
  ]);
  expect(seen[3]).not.toHaveProperty('db');
});

test("a connection is the process's that had it first, also when another is in its place", async () => {
  const { recorded, connections, observing, hosts } = watched();
  await using _ = await observing;
  await vi.waitFor(() => expect(types(recorded)).toContain('sample'));
  const from = recorded.length;
  const say = (source: string, ...argv: string[]) => connections[0]!.tell({ serverWallMs: 5, source, argv });
  say('10.0.0.9:400', 'INFO');
  hosts['10.0.0.9'] = { name: 'c1.2', predecessorDeadNs: 0 };
  say('10.0.0.9:400', 'SET', 'lock:0', 'v');
  // Since the predecessor was dead, the server has answered a look.
  say('10.0.0.9:402', 'DEL', 'lock:0');
  const seen = recorded.slice(from).filter(({ type }) => type !== 'sample');
  expect(seen).toEqual([
    expect.objectContaining({ client: 'c1', argv: ['SET', 'lock:0', 'v'] }),
    expect.objectContaining({ client: 'c1.2', argv: ['DEL', 'lock:0'] }),
  ]);
});

test('what came from a dead process or its successor counts as not seen, with all that its script calls', async () => {
  const { recorded, connections, observing, hosts } = watched();
  await using _ = await observing;
  await vi.waitFor(() => expect(types(recorded)).toContain('sample'));
  const from = recorded.length;
  const say = (source: string, ...argv: string[]) => connections[0]!.tell({ serverWallMs: 5, source, argv });
  hosts['10.0.0.9'] = { name: 'c1.2', predecessorDeadNs: Number.MAX_SAFE_INTEGER };
  say('10.0.0.9:402', 'EVALSHA', 'take', '1', 'lock:0');
  say('lua', 'SET', 'lock:0', 'v');
  say('unix:redis.sock', 'GET', 'lock:0');
  say('10.0.0.8:400', 'DEL', 'lock:0');
  hosts['10.0.0.9'] = { name: 'c1.2', predecessorDeadNs: 0 };
  say('10.0.0.9:402', 'SET', 'lock:0', 'v');
  const seen = recorded.slice(from).filter(({ type }) => type !== 'sample');
  expect(seen).toEqual([
    expect.objectContaining({
      watching: false,
      reason: 'whether c1.2 or its predecessor sent EVALSHA cannot be told',
    }),
    expect.objectContaining({ type: 'watch', watching: true }),
    expect.objectContaining({ source: '10.0.0.8:400', argv: ['DEL', 'lock:0'] }),
    expect.objectContaining({ client: 'c1.2', argv: ['SET', 'lock:0', 'v'] }),
  ]);
});

test('a key that a fault moves away: who moves it is in the record', async () => {
  const { recorded, connections, observing } = watched();
  await using _ = await observing;
  const from = recorded.length;
  const argv = ['MIGRATE', '10.0.0.3', '6379', '', '0', '1000', 'KEYS', 'lock:0'];
  connections[0]!.tell({ serverWallMs: 5, source: 'unix:redis.sock', argv });
  expect(recorded.slice(from)).toEqual([expect.objectContaining({ type: 'command', argv })]);
});

test.each([
  ['elsewhere, and nothing of its slot here: it is not there', 'MOVED 7495 10.0.0.3:6379', 0, undefined],
  ['elsewhere, and its slot comes here: it may be there', 'MOVED 7495 10.0.0.3:6379', 1, ['lock:0']],
  ['given away: it is not there any more', 'ASK 7495 10.0.0.3:6379', 1, undefined],
])('a key that is %s', async (_title, error, inSlot, unseen) => {
  const { recorded, observing } = watched((name) => {
    if (name === 'GET' || name === 'PTTL') return new Error(error);
    return name === 'CLUSTER' ? inSlot : undefined;
  });
  await using _ = await observing;
  const sample = recorded.find((one) => one.type === 'sample');
  expect(sample?.keys).toEqual({});
  expect(sample?.unseen).toEqual(unseen);
});

test('whenever it can follow again, it samples at once what is stored', async () => {
  const { recorded, connections, observing } = watched();
  await using _ = await observing;
  expect(recorded.at(-1)).toMatchObject({ type: 'sample' });
  // The first look, which was asked for before its commands were followed, is none.
  await vi.waitFor(() => expect(types(recorded)).toEqual(['watch', 'sample']));
  connections[0]!.end();
  await vi.waitFor(() => expect(types(recorded).slice(2)).toEqual(['watch', 'watch', 'sample']));
  expect(recorded.slice(2, 4)).toEqual([
    expect.objectContaining({ watching: false, reason: 'the connection was closed' }),
    expect.objectContaining({ watching: true }),
  ]);
});

test('clients of a server that was started again wait for it, and for what is stored, but not for long', async () => {
  const events: string[] = [];
  const { node, options } = watched();
  const monitor = async () => ({
    ...(await node.monitor(() => {})),
    letClientsIn: () => void events.push('clients'),
  });
  const record = ({ type }: Observation) => void events.push(type);
  const looking = await observe([{ ...node, monitor }], { ...options, record });
  await looking[Symbol.asyncDispose]();
  expect(events.indexOf('sample')).toBeGreaterThan(events.indexOf('watch'));
  expect(events.indexOf('clients')).toBeGreaterThan(events.indexOf('sample'));

  const command = () => new Promise<never>(() => {});
  const { sleep } = options.clock;
  const clock = { ...options.clock, sleep: (ms: number, signal?: AbortSignal) => sleep(ms === 100 ? 1 : ms, signal) };
  events.splice(0);
  void observe([{ ...node, monitor, command }], { ...options, clock, record }); // it asks for ever, and nothing answers
  await vi.waitFor(() => expect(events).toEqual(['watch', 'clients']));
});

test('follows a server at once whose connection was ended and that runs', async () => {
  const { node, options, connections, recorded } = watched();
  const clock = { ...options.clock, sleep: (_ms: number, signal?: AbortSignal) => realClock(0).sleep(1e6, signal) };
  let nowNs = 0;
  await using _ = await observe([node], { ...options, clock: { ...clock, nowNs: () => nowNs } });
  nowNs += 1e9;
  connections.at(-1)!.end();
  await vi.waitFor(() => expect(types(recorded).filter((type) => type === 'watch')).toHaveLength(3));
});

test('a look that was answered before a command that it missed is not recorded after it', async () => {
  const late: (() => void)[] = [];
  let isLate = false;
  const { recorded, connections, observing, hosts } = watched((name) => {
    if (name !== 'INFO' || !isLate) return undefined;
    return new Promise((done) => late.push(() => done('role:master\r\nrun_id:a\r\n')));
  });
  await using _ = await observing;
  await vi.waitFor(() => expect(types(recorded)).toEqual(['watch', 'sample']));
  hosts['10.0.0.9'] = { name: 'c1.2', predecessorDeadNs: Number.MAX_SAFE_INTEGER };
  const miss = () => connections[0]!.tell({ serverWallMs: 5, source: '10.0.0.9:402', argv: ['SET', 'lock:0', 'v'] });
  const looks = () => types(recorded).filter((type) => type === 'sample').length;
  isLate = true;
  miss();
  isLate = false;
  miss();
  await vi.waitFor(() => expect(looks()).toBe(2));
  // It was asked for after the first one, and before the second.
  for (const answer of late) answer();
  await new Promise((done) => setTimeout(done));
  expect(looks()).toBe(2);
});

const dead = async () => {
  throw new Error('ECONNREFUSED');
};

test('does not wait for a server that died before it was ever watched, and says that it is not', async () => {
  const recorded: Observation[] = [];
  const node = { name: 'r1', command: dead, monitor: dead } as unknown as ServerNode;
  const clock = realClock(monotonicNs());
  const record = (observation: Observation) => void recorded.push(observation);
  await using _ = await observe([node], {
    clock,
    keys: ['lock:0'],
    keyName: itself,
    record,
    clientAt: () => undefined,
  });
  expect(recorded).toEqual([expect.objectContaining({ type: 'watch', watching: false, reason: 'ECONNREFUSED' })]);
});

test('does not wait for ever for a server that takes the connection and never answers, at either end', async () => {
  const never = () => new Promise<never>(() => {});
  const node = { name: 'r1', command: dead, monitor: never } as unknown as ServerNode;
  const clock = realClock(monotonicNs());
  const asked: number[] = [];
  const sleep = async (ms: number, signal?: AbortSignal) => {
    asked.push(ms);
    await clock.sleep(ms === 3_000 ? 0 : ms, signal);
  };
  const quick = { ...clock, sleep };
  const options = { clock: quick, keys: [], keyName: itself, record: () => {}, clientAt: () => undefined };
  await using _ = await observe([node], options);
  expect(asked).toContain(3_000);
});
