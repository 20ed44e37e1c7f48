import { describe, expect, it } from 'vitest';
import {
  type Action,
  actionsFor,
  type Memory,
  remember,
  type Saying,
  type ServerView,
  type Survey,
} from '../../../../harness/topologies/failover-manager/decide.js';
import { sayingOf } from '../../../../harness/topologies/failover-manager/watched-redis.js';

const DOWN_AFTER_MS = 500;
const ms = (value: number) => value * 1e6;
const ADDRESS = { r1: '10.0.0.1', r2: '10.0.0.2', r3: '10.0.0.3' };
type Name = keyof typeof ADDRESS;

const primary = (stream: string, offset = 100, formerStream?: string): Saying => ({
  role: 'primary',
  offset,
  stream,
  ...(formerStream && { formerStream }),
});
const replicaOf = (of: Name, stream: string, offset = 100): Saying => ({
  role: 'replica',
  follows: ADDRESS[of],
  offset,
  stream,
});
const answering = (name: Name, said: Saying, answeredNs = ms(10_000)): ServerView => ({
  name,
  address: ADDRESS[name],
  answers: true,
  answeredNs,
  askedNs: answeredNs - ms(1),
  roleSinceNs: ms(5_000),
  said,
});
/** Heard of for the last time `forMs` before the look at 10 s. */
const silent = (name: Name, said: Saying, forMs: number): ServerView => ({
  ...answering(name, said, ms(10_000 - forMs)),
  answers: false,
});
const look = (servers: ServerView[], atMs = 10_000, lateMs = 0): Survey => ({ atNs: ms(atMs), lateMs, servers });
const memory = (over: Partial<Memory> = {}): Memory => ({ primary: 'r1', streams: ['A'], attentiveNs: 0, ...over });
const actions = (servers: ServerView[], known = memory()): Action[] => actionsFor(known, look(servers), DOWN_AFTER_MS);
const promoted = (servers: ServerView[], known = memory()) =>
  actions(servers, known).map((action) => (action.do === 'promote' ? action.server : action.do));

describe('a primary that answers', () => {
  it('is left alone, and so are the replicas that follow it', () => {
    const all = [
      answering('r1', primary('A')),
      answering('r2', replicaOf('r1', 'A')),
      silent('r3', primary('A'), 9_000),
    ];
    expect(actions(all)).toEqual([]);
  });

  it('is followed by every node that comes back as a primary or follows another', () => {
    const all = [
      answering('r1', primary('A', 900)),
      answering('r2', primary('B')),
      answering('r3', replicaOf('r1', 'A')),
    ];
    expect(actions(all, memory({ primary: 'r2', streams: ['A', 'B'] }))).toEqual([
      { do: 'follow', server: 'r1', was: 'primary' },
      { do: 'follow', server: 'r3', was: 'replica' },
    ]);
  });

  it('is made a primary again when it came back as a replica', () => {
    const all = [answering('r1', replicaOf('r3', 'A')), answering('r2', replicaOf('r1', 'A'))];
    expect(promoted(all)).toEqual(['r1']);
  });
});

describe('a primary that hands over to a replica, as an operator told it to', () => {
  const heir = { ...answering('r2', primary('B', 100, 'A')), roleSinceNs: ms(9_999.5) };
  const third = answering('r3', replicaOf('r1', 'A'));

  it('is adopted as the one that follows its successor', () => {
    expect(actions([answering('r1', replicaOf('r2', 'B')), heir, third])).toEqual([
      { do: 'adopt', server: 'r2', why: 'r1 has handed over to it' },
    ]);
  });

  it('is not adopted where the other has nothing of its data', () => {
    const stranger = answering('r2', primary('B', 100, 'C'));
    expect(promoted([answering('r1', replicaOf('r2', 'B')), stranger, third])).toEqual(['r1']);
  });

  it('is let alone while it is about it', () => {
    expect(actions([answering('r1', { ...primary('A'), handsOver: true }), heir, third])).toEqual([]);
    const almost = { ...replicaOf('r2', 'A'), handsOver: true as const };
    expect(actions([answering('r1', almost), answering('r2', replicaOf('r1', 'A')), third])).toEqual([]);
  });

  it('is let be where its heir was not asked since: it may be a primary by now', () => {
    const handedOver = { ...answering('r1', replicaOf('r2', 'B')), roleSinceNs: ms(9_999.5) };
    const before = answering('r2', replicaOf('r1', 'A'));
    expect(actions([handedOver, before, third])).toEqual([]);
    expect(promoted([handedOver, answering('r2', replicaOf('r1', 'A'), ms(10_001)), third])).toEqual(['r1']);
  });

  it('is asked again before its heir is made to follow: what it said may be older', () => {
    expect(actions([answering('r1', primary('A')), heir, third])).toEqual([]);
    expect(actions([answering('r1', primary('A'), ms(10_001)), heir, third])).toEqual([
      { do: 'follow', server: 'r2', was: 'primary' },
    ]);
  });
});

describe('a primary that does not answer', () => {
  const replicas = [answering('r2', replicaOf('r1', 'A', 700)), answering('r3', replicaOf('r1', 'A', 800))];

  it('is given time before it is replaced', () => {
    expect(actions([silent('r1', primary('A'), DOWN_AFTER_MS - 1), ...replicas])).toEqual([]);
    expect(promoted([silent('r1', primary('A'), DOWN_AFTER_MS), ...replicas])).toEqual(['r3']);
  });

  it('is replaced by the one with the greatest offset, and the reason says so', () => {
    const [action] = actions([silent('r1', primary('A'), 612), ...replicas]);
    expect(action).toEqual({
      do: 'promote',
      server: 'r3',
      why: 'r1 has not answered for 612 ms; r3 has the greatest replication offset, 800 (r2 700)',
    });
  });

  it('is not replaced while no other node is reachable', () => {
    const all = [
      silent('r1', primary('A'), 900),
      silent('r2', replicaOf('r1', 'A'), 100),
      silent('r3', replicaOf('r1', 'A'), 900),
    ];
    expect(actions(all)).toEqual([{ do: 'wait', why: 'r1 does not answer, and no other server is reachable' }]);
  });

  it('is never replaced by one that started empty and has not synchronised, however great its offset', () => {
    const empty = answering('r2', replicaOf('r1', 'fresh', 5_000));
    const gone = silent('r1', primary('A'), 900);
    expect(promoted([gone, empty, answering('r3', replicaOf('r1', 'A', 3))])).toEqual(['r3']);
    expect(actions([gone, empty])).toEqual([
      { do: 'wait', why: 'r1 does not answer, and no reachable server ever had its data (r2)' },
    ]);
  });

  it('is replaced by one with the latest data, before one with more of an earlier stream', () => {
    const known = memory({ primary: 'r2', streams: ['A', 'B'] });
    const gone = silent('r2', primary('B'), 900);
    const old = answering('r1', primary('A', 9_000));
    expect(promoted([old, gone, answering('r3', replicaOf('r2', 'B', 10))], known)).toEqual(['r3']);
    expect(promoted([old, gone, silent('r3', replicaOf('r2', 'B', 10), 900)], known)).toEqual(['r1']);
  });

  it('is replaced by one whose promotion was done but not confirmed', () => {
    const all = [
      silent('r1', primary('A'), 900),
      answering('r2', primary('B', 700, 'A')),
      answering('r3', replicaOf('r1', 'other', 800)),
    ];
    expect(promoted(all)).toEqual(['r2']);
  });
});

describe("the manager's own silence", () => {
  const deaf = [
    silent('r1', primary('A'), 3_000),
    silent('r2', replicaOf('r1', 'A'), 3_000),
    silent('r3', replicaOf('r1', 'A'), 3_000),
  ];
  /** r2 is heard again, r1 is not yet. */
  const half = [deaf[0]!, answering('r2', replicaOf('r1', 'A')), deaf[2]!];
  const decided = (known: Memory, atMs: number) =>
    actionsFor(known, look(half, atMs), DOWN_AFTER_MS).map((action) => action.do);

  it('does not replace the primary just because another is heard first when its own cut is healed', () => {
    const known = remember(memory(), look(deaf), DOWN_AFTER_MS);
    expect(actionsFor(known, look(deaf), DOWN_AFTER_MS)).toEqual([]);
    const then = remember(known, look(half, 10_100), DOWN_AFTER_MS);
    expect(decided(then, 10_100)).toEqual([]);
    expect(decided(then, 10_000 + DOWN_AFTER_MS - 1)).toEqual([]);
    expect(decided(then, 10_000 + DOWN_AFTER_MS)).toEqual(['promote']);
  });

  it('does not replace the primary because it was asleep itself', () => {
    const overslept = remember(memory(), look(half, 10_000, 3_000), DOWN_AFTER_MS);
    expect(decided(overslept, 10_100)).toEqual([]);
    const awake = remember(memory(), look(half, 10_000, 20), DOWN_AFTER_MS);
    expect(decided(awake, 10_100)).toEqual(['promote']);
  });

  it('promotes no node before it has ever seen a primary', () => {
    const never = { name: 'r1', address: ADDRESS.r1, answers: false };
    const all = [never, answering('r2', replicaOf('r1', 'fresh'))];
    expect(promoted(all, memory({ streams: [] }))).toEqual(['wait']);
  });
});

describe('what it remembers of the data', () => {
  it('is what the primary says, latest last, and not what other nodes say', () => {
    const all = [answering('r1', primary('B', 1, 'A')), answering('r2', primary('X'))];
    expect(remember(memory({ streams: [] }), look(all), DOWN_AFTER_MS).streams).toEqual(['A', 'B']);
    expect(remember(memory({ streams: ['0', 'A'] }), look(all), DOWN_AFTER_MS).streams).toEqual(['0', 'A', 'B']);
    const gone = [silent('r1', primary('C'), 900), answering('r2', primary('X'))];
    expect(remember(memory(), look(gone), DOWN_AFTER_MS).streams).toEqual(['A']);
  });
});

describe('INFO replication', () => {
  it('is read for primaries and replicas', () => {
    const stream = 'a'.repeat(40);
    expect(
      sayingOf(
        `# Replication\r\nrole:slave\r\nmaster_host:10.0.0.1\r\nmaster_port:6379\r\nslave_repl_offset:837\r\nmaster_replid:${stream}\r\nmaster_replid2:${'0'.repeat(40)}\r\nmaster_repl_offset:900\r\n`,
      ),
    ).toEqual({ role: 'replica', follows: '10.0.0.1', offset: 837, stream });
    expect(
      sayingOf(
        `role:master\r\nmaster_replid:${stream}\r\nmaster_replid2:${'b'.repeat(40)}\r\nmaster_repl_offset:900\r\n`,
      ),
    ).toEqual({ role: 'primary', offset: 900, stream, formerStream: 'b'.repeat(40) });
    expect(() => sayingOf('role:sentinel')).toThrow('no role');
  });
});
