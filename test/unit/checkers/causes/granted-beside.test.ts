import { describe, expect, it, test } from 'vitest';
import { mutualExclusion } from '../../../../checkers/exclusion/mutual-exclusion.js';
import type { FaultRecord } from '../../../../harness/vocabulary/history.js';
import type { LockMode } from '../../../../harness/vocabulary/protocol.js';
import { KEY, ns, Story } from '../build.js';

interface Told {
  /** What the second client's script does. */
  second?: readonly (readonly string[])[];
  /** What it stores, and what the first one stored. */
  owners?: readonly [string, string];
  beside?: (story: Story) => Story;
}

const enters = (owner: string) => [
  ['hget', KEY, 'mode'],
  ['hset', KEY, owner, '1'],
  ['pexpire', KEY, '5000'],
];

/** c1 reads from 1 s to 4 s; at 3 s c2 is let in to write, with c1's field still in the hash. */
function upgraded({
  owners = ['read:c1', 'write:c2'],
  second = enters(owners[1]),
  beside = (story) => story,
}: Told = {}) {
  const story = new Story().promised({ kind: 'read-write' }).up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1');
  story.grant('c1', 1, { mode: 'read' }).grant('c2', 3, { mode: 'write' }).release('c1', 4).release('c2', 4);
  script(story, 0.999, 'c1', owners[0], enters(owners[0]));
  return script(beside(story), 2.999, 'c2', owners[1], second);
}

function script(story: Story, at: number, client: string, owner: string, calls: readonly (readonly string[])[]): Story {
  story.command(at, 'r1', client, ['EVAL', 'abc', '1', KEY, owner, '5000']);
  for (const argv of calls) story.command(at, 'r1', 'lua', [...argv]);
  return story;
}

const causes = (told?: Told) => mutualExclusion.check(upgraded(told).input()).violations.map(({ cause }) => cause);
const names = (told?: Told) => causes(told).map(({ name }) => name);

it('is that the server had the holder in its record when it stored the next one beside', () => {
  const [cause, ...others] = causes();
  expect(others).toEqual([]);
  expect(cause).toMatchObject({
    name: 'granted-beside',
    sentence: 'r1 had c1 in lock:0 when it stored c2 there as well (EVAL), which was granted it all the same.',
  });
  expect(cause!.chain.map(({ text }) => text)).toEqual([
    'r1 granted lock:0 to c1 (EVAL)',
    'r1 had c1 in lock:0, and stored c2 beside',
    'r1 granted lock:0 to c2 (EVAL)',
    "until 5.998 s c1's lease would have run",
  ]);
});

const jump = (at: number): Partial<FaultRecord> => ({
  effects: [{ kind: 'clock-jumped', who: ['r1'], offsetMs: 10_000, sinceNs: ns(at) } as FaultRecord['effects'][number]],
});

test.each<[string, Told]>([
  ['the holder had been taken out before', { beside: (s) => s.command(2, 'r1', 'c1', ['HDEL', KEY, 'read:c1']) }],
  ['the holder was taken out by the same script', { second: [...enters('write:c2'), ['hdel', KEY, 'read:c1']] }],
  [
    'the holder was taken out before the answer',
    { beside: (s) => s.command(2.9995, 'r1', 'c1', ['HDEL', KEY, 'read:c1']) },
  ],
  ['the two store the same', { owners: ['in', 'in'] }],
  ['the next one was not seen to store anything', { second: [['hget', KEY, 'mode']] }],
  ['nothing was seen for a while', { beside: (s) => s.watch(2, 'r1', false).watch(2.5, 'r1') }],
  ['a clock had gained meanwhile', { beside: (s) => s.fault(2, 0, 'clock', 'strike', jump(2)) }],
  ['they are permits', { beside: (s) => s.promised({ kind: 'semaphore', permits: 1 }) }],
])('is not said where %s', (_, told) => {
  expect(names(told)).not.toContain('granted-beside');
  expect(names(told).length).toBeGreaterThan(0);
});

describe('where a key beside it names the holder as well', () => {
  const OWNER = `{${KEY}}:owner`;
  const set = (client: string) => ['set', OWNER, client, 'PX', '5000'];
  const namesOf = (story: Story) => mutualExclusion.check(story.input()).violations.map(({ cause }) => cause.name);
  const granted = () => {
    const story = new Story()
      .up('c1')
      .up('c2')
      .up('c3')
      .grant('c1', 1)
      .grant('c2', 3)
      .release('c1', 4)
      .release('c2', 4);
    return story.watch(0, 'r1').sample(0.5, 'r1');
  };
  const byScripts = (lost: (story: Story) => Story) => {
    const story = granted();
    const takes = (at: number, client: string) =>
      script(story, at, client, client, [['exists', OWNER], ['hset', KEY, client, '1'], set(client)]);
    takes(0.999, 'c1');
    lost(story);
    return namesOf(takes(2.999, 'c2'));
  };
  const byCommands = (lost: (story: Story) => Story) => {
    const story = granted();
    const takes = (at: number, client: string) =>
      story
        .command(at - 0.0005, 'r1', client, [...set(client), 'NX'])
        .command(at, 'r1', client, ['HSET', KEY, client, '1']);
    takes(0.999, 'c1');
    lost(story);
    return namesOf(takes(2.999, 'c2'));
  };

  it('is not said where that had gone by somebody else’s command, an eviction or its time: by it the lock was free', () => {
    for (const told of [byScripts, byCommands]) {
      expect(told((s) => s)).toEqual(['granted-beside']);
      expect(told((s) => s.command(2, 'r1', 'c3', ['DEL', OWNER]))).not.toContain('granted-beside');
      expect(told((s) => s.evicted(2, 'r1', OWNER))).not.toContain('granted-beside');
      expect(told((s) => s.command(2, 'r1', 'c1', ['PEXPIRE', OWNER, '300']))).not.toContain('granted-beside');
    }
  });

  it('is said where it went after that, or by who left a queue when it was granted the lock', () => {
    expect(byScripts((s) => s.command(3.5, 'r1', 'c3', ['DEL', OWNER]))).toEqual(['granted-beside']);
    const queued = (s: Story) =>
      s
        .command(0.9985, 'r1', 'c1', ['RPUSH', `{${KEY}}:queue`, 'c1'])
        .command(0.9995, 'r1', 'c1', ['LREM', `{${KEY}}:queue`, '1', 'c1']);
    expect(byScripts(queued)).toEqual(['granted-beside']);
  });
});

describe('beside a third one who reads, and of whom the hash tells', () => {
  /** c1 holds from 1 s on, and somebody deletes its field at 2 s; c4 reads; c2 is granted it at 3 s. */
  const names = (modes: { c1: LockMode; c2: LockMode; c4At?: number; c4Until?: number }) => {
    const { c1, c2, c4At = 1.5, c4Until = 4 } = modes;
    const story = new Story()
      .promised({ kind: 'read-write' })
      .up('c1')
      .up('c2')
      .up('c4')
      .watch(0, 'r1')
      .sample(0.5, 'r1');
    story.grant('c1', 1, { mode: c1 }).grant('c4', c4At, { mode: 'read' }).grant('c2', 3, { mode: c2 });
    story.release('c1', 4).release('c4', c4Until).release('c2', 4);
    script(story, 0.999, 'c1', 'one', enters('one'));
    story.command(2, 'r1', 'c3', ['HDEL', KEY, 'one']);
    script(story, c4At - 0.001, 'c4', 'third', enters('third'));
    script(story, 2.999, 'c2', 'next', enters('next'));
    return mutualExclusion.check(story.input()).violations.map(({ cause }) => cause.name);
  };

  it('a writer was let in by nothing that another reader had lost', () => {
    expect(names({ c1: 'read', c2: 'write' })).toEqual(['unexplained', 'granted-beside']);
    // That one had left its field there when it was done.
    expect(names({ c1: 'read', c2: 'write', c4Until: 2.5 })).toEqual(['released-by-other']);
  });

  it('a reader was let in by what the writer had lost, as the third one was', () => {
    expect(names({ c1: 'write', c2: 'read', c4At: 2.5 })).toEqual(['released-by-other', 'released-by-other']);
    expect(names({ c1: 'write', c2: 'write', c4At: 2.5 })).toEqual([
      'released-by-other',
      'unexplained',
      'granted-beside',
    ]);
  });
});
