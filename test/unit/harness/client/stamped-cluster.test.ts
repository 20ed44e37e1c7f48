/** The Cluster client against nodes that answer what a test wants: what it follows, what it never sends again. */
import { afterEach, expect, test, vi } from 'vitest';
import { CommandLog, type OpCommands, spansReconnect } from '../../../../harness/client/command-log.js';
import { StampedCluster } from '../../../../harness/client/stamped-cluster.js';
import { NeverSentError } from '../../../../harness/client/stamping.js';
import { type FakeClusterNode, startFakeCluster } from './fake-cluster.js';

let nodes: FakeClusterNode[] = [];
let client: StampedCluster;
afterEach(async () => {
  client.disconnect();
  await Promise.all(nodes.map((node) => node.stop()));
});

const log = new CommandLog();
let clockNs = 0;

/** Two nodes, of which the first has all slots until `owner` says otherwise, and a client that is ready. */
async function connected({
  owner = () => 0,
  commandTimeoutMs = 5_000,
} = {}): Promise<[FakeClusterNode, FakeClusterNode]> {
  nodes = await startFakeCluster(2, owner);
  client = new StampedCluster(
    [nodes[0]!.endpoint],
    {
      enableOfflineQueue: false,
      slotsRefreshTimeout: 2_000,
      clusterRetryStrategy: () => 10,
      redisOptions: { commandTimeout: commandTimeoutMs, maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
    },
    { log, nowNs: () => ++clockNs, node: 'cluster' },
  );
  client.on('error', () => {});
  await until(() => client.usable && client.nodes('slave').every((node) => node.status === 'ready'));
  return [nodes[0]!, nodes[1]!];
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Resolves when the node has been given a command; needs no timers. */
async function arrived(node: FakeClusterNode): Promise<void> {
  while (node.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
}

/** What became of a command, as its promise and as the log tell it. */
async function outcome<T>(command: () => Promise<T>): Promise<{ value?: T; error?: Error; commands: OpCommands }> {
  const commands = log.begin();
  try {
    return { value: await command(), commands };
  } catch (error) {
    return { error: error as Error, commands };
  } finally {
    log.end(commands);
  }
}

const moved = (to: FakeClusterNode) => `-MOVED 42 127.0.0.1:${to.endpoint.port}\r\n`;

test('a redirection is followed, and the stamp is that of the node that took the command', async () => {
  const [first, second] = await connected();
  let sentFirst: number | undefined;
  first.answer = () => {
    sentFirst = clockNs;
    return moved(second);
  };
  const { value, commands } = await outcome(() => client.set('k', 'me', 'PX', 1_000, 'NX'));
  expect(value).toBe('OK');
  expect(second.received).toEqual([['set', 'k', 'me', 'PX', '1000', 'NX']]);
  expect(commands).toMatchObject([{ node: 'cluster', name: 'SET', state: 'answered' }]);
  expect(commands[0]!.sentNs).toBeGreaterThan(sentFirst!);
});

test('a command in flight when its connection closes is cut off, and never sent again', async () => {
  const [first, second] = await connected();
  first.answer = (_argv, socket) => {
    socket.destroy();
    return undefined;
  };
  const { error, commands } = await outcome(() => client.set('k', 'me'));
  expect(error).not.toBeInstanceOf(NeverSentError);
  expect(spansReconnect(commands)).toBe(true);
  // The next command finds its way, so that one sent again would have been seen.
  first.answer = () => '+OK\r\n';
  second.answer = () => moved(first);
  await until(async () => (await outcome(() => client.set('later', 'me'))).value === 'OK');
  expect([...first.received, ...second.received].filter(([, key]) => key === 'k')).toHaveLength(1);
});

test('a Cluster that is down is reported at once as a refusal; which node serves what is asked again', async () => {
  const [first, second] = await connected();
  const before = first.asked + second.asked;
  first.answer = () => '-CLUSTERDOWN The cluster is down\r\n';
  const { error, commands } = await outcome(() => client.set('k', 'me'));
  expect(error).toMatchObject({ name: 'ReplyError', message: 'CLUSTERDOWN The cluster is down' });
  expect(commands).toMatchObject([{ state: 'refused' }]);
  await until(() => first.asked + second.asked > before);
  expect(first.received).toHaveLength(1);
  expect(second.received).toHaveLength(0);
});

test('redirected to a node that is not there: certainly not done', async () => {
  const [first, second] = await connected();
  first.answer = () => moved(second);
  await second.stop();
  await until(() => client.nodes('all').length === 1);
  const { error, commands } = await outcome(() => client.set('k', 'me'));
  expect(error).toBeInstanceOf(NeverSentError);
  expect(commands).toMatchObject([{ state: 'unsent', sentNs: undefined }]);
});

test('redirected in circles: certainly not done', async () => {
  const [first, second] = await connected();
  first.answer = () => moved(second);
  second.answer = () => moved(first);
  const { error, commands } = await outcome(() => client.set('k', 'me'));
  expect(error).toBeInstanceOf(NeverSentError);
  expect(commands).toMatchObject([{ state: 'unsent' }]);
});

test('a redirection that comes after the time-out is not followed', async () => {
  const [first, second] = await connected({ commandTimeoutMs: 50 });
  let answerLate = () => {};
  first.answer = (argv, socket) => {
    if (argv[1] !== 'k') return '+OK\r\n';
    answerLate = () => socket.write(moved(second));
    return undefined;
  };
  const { error, commands } = await outcome(() => client.set('k', 'me'));
  expect(error!.message).toBe('Command timed out');
  expect(error).not.toBeInstanceOf(NeverSentError);
  expect(commands).toMatchObject([{ state: 'in-flight' }]);
  // So short a time-out may have been too short for a busy machine to be told of the nodes, too: it asks again.
  await until(() => client.nodes('slave').length === 1);
  const [toSecond] = client.nodes('slave');
  answerLate();
  await client.set('next', 'me');
  await toSecond!.get('after it');
  expect(second.received).toEqual([['get', 'after it']]);
});

test('the time-out is for the command with all its redirections', async () => {
  const [first, second] = await connected({ commandTimeoutMs: 5_000 });
  let redirect = () => {};
  first.answer = (_argv, socket) => {
    redirect = () => socket.write(moved(second));
    return undefined;
  };
  second.answer = () => undefined;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const running = outcome(() => client.set('k', 'me'));
    await arrived(first);
    vi.advanceTimersByTime(3_000);
    redirect();
    await arrived(second);
    vi.advanceTimersByTime(2_000);
    const { error, commands } = await running;
    expect(error?.message).toBe('Command timed out');
    expect(commands).toMatchObject([{ state: 'in-flight' }]);
  } finally {
    vi.useRealTimers();
  }
});

test('with no server there a command never leaves', async () => {
  const [first, second] = await connected();
  await Promise.all([first.stop(), second.stop()]);
  await until(() => client.status !== 'ready');
  const { error, commands } = await outcome(() => client.set('k', 'me'));
  expect(error).toBeInstanceOf(NeverSentError);
  expect(commands).toMatchObject([{ state: 'unsent' }]);
});

test('a redirected pipeline is stamped by the node that took it', async () => {
  const [first, second] = await connected();
  first.answer = () => moved(second);
  const { value, commands } = await outcome(() => client.pipeline().set('k', 'me').pexpire('k', 1_000).exec());
  expect(value).toEqual([
    [null, 'OK'],
    [null, 'OK'],
  ]);
  expect(second.received.map(([name]) => name)).toEqual(['set', 'pexpire']);
  expect(commands.map(({ name, state }) => [name, state])).toEqual([
    ['SET', 'answered'],
    ['PEXPIRE', 'answered'],
  ]);
});

test('a pipeline in flight when its connection closes is cut off', async () => {
  const [first] = await connected();
  first.answer = (_argv, socket) => {
    socket.destroy();
    return undefined;
  };
  const { commands } = await outcome(() => client.pipeline().set('k', 'me').pexpire('k', 1_000).exec());
  expect(commands.map(({ state }) => state)).toEqual(['cut-off', 'cut-off']);
});

test('a duplicate is stamped and follows the same rules', async () => {
  const [first] = await connected();
  const duplicate = client.duplicate() as unknown as StampedCluster;
  duplicate.on('error', () => {});
  await until(() => duplicate.usable);
  first.answer = () => '-CLUSTERDOWN The cluster is down\r\n';
  const { commands } = await outcome(() => duplicate.set('k', 'me'));
  expect(commands).toMatchObject([{ state: 'refused' }]);
  expect(first.received).toHaveLength(1);
  duplicate.disconnect();
});
