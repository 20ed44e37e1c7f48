/** That another client took a waiter out of the queue is said where it is proven, and each link of that is taken away once. */
import { describe, expect, it } from 'vitest';
import { fifo } from '../../../../checkers/liveness/fifo.js';
import type { Quorum } from '../../../../harness/vocabulary/topology.js';
import { KEY, ns, Story } from '../build.js';

const QUEUE = `{${KEY}}:queue`;
const DEADLINES = `{${KEY}}:deadlines`;

interface Telling {
  queues?: (story: Story) => Story;
  /** What becomes of the place before c1 is granted the lock. */
  removed?: (story: Story) => Story;
  deadline?: boolean;
  watchedFrom?: number;
  quorum?: Quorum;
  commandCount?: number;
}

const pushed = (s: Story) => s.command(1.2, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
const taken = (at: number, by: string) => (s: Story) => s.command(at, 'r1', by, ['LREM', QUEUE, '0', 'c2@1']);

/** c2 asks at 1 s and is queued; its place is removed; c1 asks at 2 s and is granted at 2.5 s, c2 at 4 s. */
function name({
  queues = pushed,
  removed = taken(1.8, 'c3'),
  deadline = true,
  watchedFrom = 0.1,
  quorum = { kind: 'primary' },
  commandCount,
}: Telling = {}) {
  const story = new Story().promised({ kind: 'fair' });
  for (const client of ['c1', 'c2']) {
    const where = { client, slot: client, host: client, address: '10.77.0.9' };
    const says = { lock: 'fair', features: [], ...(deadline && { deadlines: { place: 'lease' as const } }) };
    story.event(0.05, { type: 'client-up', ...where, ...says });
  }
  story.deployed(quorum).watch(watchedFrom, 'r1').sample(0.5, 'r1');
  removed(queues(story).event(1.5, { type: 'step', client: 'c2', name: 'queued', clientNs: ns(1.5), hold: 1 }));
  story.grant('c2', 4, { sent: 1, began: 1.001 });
  story.grant('c1', 2.5, { sent: 2, began: 2.001 }).release('c1', 3);
  story.take(2.499, 'r1', 'c1', 'c1@2').sample(3.2, 'r1').command(3.5, 'r1', 'c1', ['DEL', KEY]);
  const input = story.take(3.999, 'r1', 'c2', 'c2@1').sample(6, 'r1').input();
  const observations = { ...input.observations, ...(commandCount !== undefined && { commandCount }) };
  const { violations } = fifo.check({ ...input, observations });
  return violations[0]?.cause.name;
}

it('is named where the place was removed by another before its time was over', () => {
  expect(name()).toBe('place-removed');
  // A look that took longer shows the clock a little less ahead.
  expect(name({ removed: (s) => taken(1.8, 'c3')(s.sample(1.3, 'r1', { skewMs: -20 })) })).toBe('place-removed');
});

it('is named also where the queue had expired when the place was stored', () => {
  const old = (s: Story) => s.command(1.01, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@0']);
  expect(name({ queues: (s) => pushed(old(s).command(1.02, 'r1', 'c1', ['PEXPIRE', QUEUE, '50'])) })).toBe(
    'place-removed',
  );
});

describe('not named', () => {
  it('where the lock does not say when places end', () => {
    expect(name({ deadline: false })).toBe('unexplained');
  });

  it('where the client left by itself, or a stranger removed it', () => {
    expect(name({ removed: taken(1.8, 'c2') })).toBe('unexplained');
    expect(name({ removed: taken(1.8, 'stranger') })).toBe('unexplained');
  });

  it('where it was removed only when the client had been granted the lock, or not at all', () => {
    expect(name({ removed: taken(4.1, 'c3') })).not.toBe('place-removed');
    expect(name({ removed: (s) => s })).toBe('granted-past-queue');
  });

  it('where it was there until the client had been granted the lock, though another was not granted past it', () => {
    const beside = (s: Story) => pushed(s.command(1.1, 'r1', 'c1', ['RPUSH', QUEUE, 'c1@0']));
    expect(name({ queues: beside })).toBe('place-removed');
    expect(name({ queues: beside, removed: taken(3.9985, 'c3') })).toBe('unexplained');
  });

  it('where it may have been there still, or gone by its time', () => {
    const replaced = (s: Story) => s.command(1.8, 'r1', 'c3', ['RESTORE', QUEUE, '0', 'x', 'REPLACE']);
    expect(name({ removed: replaced })).toBe('unexplained');
    const lasting = (ms: number) => (s: Story) => pushed(s).command(1.2, 'r1', 'c2', ['PEXPIRE', QUEUE, String(ms)]);
    expect(name({ queues: lasting(600) })).toBe('unexplained');
    expect(name({ queues: lasting(700) })).toBe('place-removed');
  });

  it('on independent nodes, or of more commands than are followed', () => {
    expect(name({ quorum: { kind: 'majority', nodes: ['r1'], majority: 1 } })).toBe('unexplained');
    expect(name({ commandCount: 1_000_000 })).toBe('place-removed');
    expect(name({ commandCount: 1_000_001 })).toBe('unexplained');
  });

  it('where it may have been gone already', () => {
    const unknown = (s: Story) => taken(1.8, 'c3')(s.command(1.6, 'r1', 'c3', ['SOMETHING', QUEUE]));
    expect(name({ removed: unknown })).toBe('unexplained');
  });

  it('where its time was over by the clock of the server', () => {
    const aged = (s: Story) => pushed(s).command(1.3, 'r1', 'c2', ['PEXPIRE', QUEUE, '100']);
    expect(name({ queues: aged })).toBe('unexplained');
    const ahead = (s: Story) => s.command(1.8, 'r1', 'c3', ['LREM', QUEUE, '0', 'c2@1'], 60_000);
    expect(name({ removed: ahead })).toBe('unexplained');
  });

  it('where another stored the place, or before the acquire began', () => {
    expect(name({ queues: (s) => s.command(1.2, 'r1', 'c3', ['RPUSH', QUEUE, 'c2@1']) })).toBe('unexplained');
    expect(name({ queues: (s) => s.command(0.9, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']) })).toBe('unexplained');
  });

  it('where it had stored its place again after that', () => {
    const again = (s: Story) => taken(1.6, 'c3')(s).command(1.7, 'r1', 'c2', ['RPUSH', QUEUE, 'c2@1']);
    expect(name({ removed: again })).not.toBe('place-removed');
    const elsewhere = (s: Story) => taken(1.6, 'c3')(s).command(1.7, 'r1', 'c2', ['ZADD', DEADLINES, '5', 'c2@1']);
    expect(name({ removed: elsewhere })).not.toBe('place-removed');
  });

  it('where the server was not seen all the time, ran as another process, or its clock was moved', () => {
    expect(name({ watchedFrom: 1.3 })).toBe('unexplained');
    const unseen = (s: Story) => taken(1.8, 'c3')(s.watch(1.6, 'r1', false).watch(1.61, 'r1'));
    expect(name({ removed: unseen })).toBe('unexplained');
    const anew = (s: Story) => taken(1.8, 'c3')(s.sample(1.6, 'r1', { runId: 'run-2' }));
    expect(name({ removed: anew })).toBe('unexplained');
    const jumped = { effects: [{ kind: 'clock-jumped' as const, who: ['r1'], offsetMs: 100 }] };
    const moved = (s: Story) => taken(1.8, 'c3')(s.fault(1.6, 0, 'clock', 'strike', jumped));
    expect(name({ removed: moved })).toBe('unexplained');
  });
});
