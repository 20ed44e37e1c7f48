/** A hold is accused where no server can have stored its grant, and each link of that proof is taken away once. */
import { describe, expect, it } from 'vitest';
import { neverGrantedHolds } from '../../../../checkers/exclusion/never-granted.js';
import type { FaultEffect } from '../../../../harness/vocabulary/history.js';
import { KEY, Story } from '../build.js';
import { beside, found, held, run, SECOND_OF_C2 } from './never-granted-runs.js';

const MS = 0.001;

describe('accused is', () => {
  it('a hold served from memory: no server was asked, and none had anything', () => {
    const { violations, stats } = neverGrantedHolds.check(run().input());
    expect(stats).toEqual({ neverGranted: 1 });
    expect(violations).toMatchObject([
      {
        class: 'exclusion',
        kind: 'never-granted',
        key: KEY,
        fromNs: 4.5e9,
        untilNs: 6e9,
        proof:
          'c2 said at 4.500 s that it holds lock:0, by an attempt that left at 4.498 s; no server had stored anything for any client meanwhile. This lock stores a grant under lock:0, as 3 others show.',
      },
    ]);
    expect(found(run())).toEqual(SECOND_OF_C2);
  });

  it('one that was refused', () => {
    const story = beside(run()).take(4.499, 'r1', 'c2', 'c2@4.5');
    expect(found(story)).toEqual(SECOND_OF_C2);
    const [violation] = neverGrantedHolds.check(story.input()).violations;
    expect(violation!.cause.chain.map(({ text }) => text)).toEqual([
      "r1 stored c1's own under lock:0",
      "c2's attempt left",
      'c2 said at 4.500 s that it holds the lock',
    ]);
  });

  it('one whose transaction was aborted: of that nothing is printed but WATCH and what it read', () => {
    const story = beside(run()).command(4.4985, 'r1', 'c2', ['WATCH', KEY]).command(4.499, 'r1', 'c2', ['GET', KEY]);
    expect(found(story)).toEqual(SECOND_OF_C2);
  });

  it('one that a replica was asked for', () => {
    const nodes = ['r1', 'r2'];
    const story = new Story().watch(0, 'r1').watch(0, 'r2');
    for (const client of ['c1', 'c2']) story.up(client);
    for (const at of [0.5, 7, 8]) story.sample(at, 'r1').sample(at, 'r2', { role: 'replica' });
    held(story, 'c1', 1);
    held(story, 'c2', 2);
    held(story, 'c1', 3);
    for (const [client, at] of [
      ['c1', 1],
      ['c2', 2],
      ['c1', 3],
    ] as const)
      story
        .command(at, 'r2', 'link', [
          'SET',
          KEY,
          `${client}@${at}`,
          'PXAT',
          String(1_700_000_000_000 + at * 1e3 + 4_999),
        ])
        .command(at + 0.502, 'r2', 'link', ['DEL', KEY]);
    // A look that tells of the servers' roles only: the key ran out while it was asked for.
    const ofItsRole = { owner: 'of-somebody', pttlMs: -2 };
    story.looks(3.2, 4.6, 'r1', ofItsRole).looks(3.2, 4.6, 'r2', { role: 'replica', ...ofItsRole });
    story.grant('c2', 4.5).release('c2', 6).command(4.499, 'r2', 'c2', ['GET', KEY]);
    expect(nodes).toHaveLength(2);
    expect(found(story)).toEqual(SECOND_OF_C2);
    // While the primary's copy of another's grant was there, too.
    story
      .grant('c1', 4)
      .take(4 - MS, 'r1', 'c1', 'c1@4')
      .release('c1', 6.4)
      .unlock(6.401, 'r1', 'c1', 'c1@4');
    story
      .command(4.001, 'r2', 'link', ['SET', KEY, 'c1@4', 'PXAT', '1700000008999'])
      .command(6.402, 'r2', 'link', ['DEL', KEY]);
    expect(found(story)).toEqual(SECOND_OF_C2);
  });

  it("one beside what another client's unanswered attempt had left", () => {
    const left = () =>
      run().refused('c3', 4, 4.01).take(4.005, 'r1', 'c3', 'left by c3').unlock(6.9, 'r1', 'c3', 'left by c3');
    expect(found(left().take(4.499, 'r1', 'c2', 'c2@4.5'))).toEqual(SECOND_OF_C2);
    // But where the client itself had named it before, it may be its own place in a queue.
    expect(found(left().command(3.9, 'r1', 'c2', ['RPUSH', `${KEY}:queue`, 'left by c3']))).toEqual([]);
  });

  it('one of a lock with another name for its keys, or with a hash', () => {
    const prefixed = (story: Story, client: string, at: number) => held(story, client, at, { key: `app:{${KEY}}` });
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(7, 'r1');
    // Whether the first one found something there is not known, since samples do not look for that key.
    for (const [client, at] of [
      ['c1', 0.7],
      ['c1', 1.4],
      ['c2', 2],
      ['c1', 3],
    ] as const)
      prefixed(story, client, at);
    expect(found(story.grant('c2', 4.5).release('c2', 6))).toEqual(SECOND_OF_C2);

    const hashed = new Story()
      .promised({ kind: 'reentrant', depth: 2 })
      .up('c1')
      .up('c2')
      .watch(0, 'r1')
      .sample(0.5, 'r1');
    for (const [client, at] of [
      ['c1', 1],
      ['c2', 2],
      ['c1', 3],
    ] as const)
      hashed
        .grant(client, at)
        .command(at - MS, 'r1', client, ['EVAL', 'script', '1', KEY, `id-of-${client}`])
        .command(at - MS, 'r1', 'lua', ['hincrby', KEY, `id-of-${client}`, '1'])
        .command(at - MS, 'r1', 'lua', ['pexpire', KEY, '5000'])
        .release(client, at + 0.5)
        .command(at + 0.501, 'r1', client, ['EVAL', 'script', '1', KEY, `id-of-${client}`])
        .command(at + 0.501, 'r1', 'lua', ['del', KEY]);
    expect(found(hashed.grant('c2', 4.5).release('c2', 6).sample(7, 'r1'))).toEqual(SECOND_OF_C2);
  });

  it('no hold of a key that another key only begins with: that is a resource of its own', () => {
    const story = run()
      .grant('c3', 4.4, { key: `${KEY}0` })
      .release('c3', 6.5);
    story.command(4.399, 'r1', 'c3', ['SET', `${KEY}0`, 'c3@4.4', 'PX', '5000', 'NX']);
    expect(found(story)).toEqual(SECOND_OF_C2);
  });
});

describe('nothing is said of a hold', () => {
  it('that was stored, be it read late', () => {
    expect(found(run().take(4.499, 'r1', 'c2', 'c2@4.5'))).toEqual([]);
    expect(found(run().take(5.4, 'r1', 'c2', 'c2@4.5', -901))).toEqual([]);
    expect(found(run().take(4.499, 'r1', 'c2', 'c2@4.5').command(4.4995, 'r1', 'c3', ['DEL', KEY]))).toEqual([]);
  });

  it('that may have been stored', () => {
    // c2's own unconditional command may have run into an error, or not.
    expect(found(run().command(4.499, 'r1', 'c2', ['SOMETHING', KEY, 'c2@4.5']))).toEqual([]);
    expect(found(run().command(4.2, 'r1', 'c3', ['SOMETHING', KEY, 'x']))).toEqual([]);
  });

  it('whose client, or its predecessor in the same place, had left its own key', () => {
    expect(found(run().take(4.2, 'r1', 'c2', 'kept'))).toEqual([]);
    const later = new Story().event(0.1, {
      type: 'client-up',
      client: 'c2.2',
      slot: 'c2',
      host: 'c2',
      address: '10.77.0.9',
      lock: 'any',
      features: [],
    });
    const story = run(['r1'], later).take(4.2, 'r1', 'c2', 'kept').grant('c2.2', 4.5).release('c2.2', 6);
    expect(found(story)).toEqual([]);
  });

  it('whose key the last holder may have left to it, telling only the client', () => {
    const holding = () =>
      run()
        .grant('c1', 4)
        .take(4 - MS, 'r1', 'c1', 'c1@4')
        .unlock(6.9, 'r1', 'c3', 'c1@4');
    const left = (until: number) => holding().release('c1', until);
    expect(found(left(4.4))).toEqual([]);
    expect(found(left(4.499))).toEqual([]);
    expect(found(left(4.6))).toEqual(SECOND_OF_C2);
    expect(found(holding().lost('c1', 4.4))).toEqual([]);
    expect(found(holding().down('c1', 4.4))).toEqual(SECOND_OF_C2);
  });

  it('beside an owner of which it is not known whose it is: of others it is', () => {
    // c1 gives the key on to the next one in the queue, when it releases.
    const story = run()
      .grant('c1', 4)
      .take(4 - MS, 'r1', 'c1', 'c1@4')
      .release('c1', 4.2);
    story.command(4.21, 'r1', 'c1', ['SET', KEY, 'place of c2', 'PX', '5000']);
    expect(found(story)).toEqual([]);
    expect(neverGrantedHolds.check(story.input()).notJudged).toBe('this lock does not store all its grants in one way');
    story.command(6.2, 'r1', 'c1', ['DEL', KEY]).grant('c3', 6.5).release('c3', 6.9);
    expect(found(story)).toEqual(['c3 at 6.5']);
    expect(neverGrantedHolds.check(story.input()).notJudged).toBeUndefined();
  });

  it('beside a key of the same resource that holds something of its own', () => {
    expect(found(run().command(4.2, 'r1', 'c2', ['RPUSH', `${KEY}:queue`, 'place of c2']))).toEqual([]);
    const ofOther = run().command(4.2, 'r1', 'c3', ['RPUSH', `${KEY}:queue`, 'place of c2']);
    expect(found(ofOther)).toEqual([]);
  });

  it('where all clients store the same value and no line says whose it was', () => {
    const story = new Story().up('c1').up('c2').up('c3').watch(0, 'r1').sample(0.5, 'r1').sample(7, 'r1');
    for (const [client, at] of [
      ['c1', 1],
      ['c3', 2],
      ['c1', 3],
    ] as const)
      held(story, client, at, { value: 'locked' });
    story.grant('c2', 4.5).release('c2', 6);
    expect(found(story)).toEqual(SECOND_OF_C2);
    // Set by no known client, while c1 and c3 both store that.
    story.command(4.2, 'r1', 'stranger', ['SET', KEY, 'locked', 'PX', '5000']);
    expect(found(story)).toEqual([]);
  });

  it('that its client took while it held the key', () => {
    const story = run().promised({ kind: 'reentrant', depth: 2 });
    expect(found(story)).toEqual(SECOND_OF_C2);
    const nested = () => {
      const told = new Story().promised({ kind: 'reentrant', depth: 2 });
      told.up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(8.5, 'r1');
      held(told, 'c1', 1);
      held(told, 'c2', 2);
      held(told, 'c1', 3);
      return told;
    };
    // The outer one was stored and removed by somebody; the inner one finds nothing.
    const inner = nested().grant('c2', 4.5).take(4.499, 'r1', 'c2', 'outer').command(5, 'r1', 'c3', ['DEL', KEY]);
    inner.grant('c2', 5.5).release('c2', 7);
    expect(found(inner)).toEqual([]);
  });

  it.each([
    ['semaphore', { kind: 'semaphore', permits: 1 }],
    ['read-write', { kind: 'read-write' }],
  ] as const)('of a %s lock', (_, model) => {
    expect(found(run().promised(model))).toEqual([]);
  });

  it('where too few grants, or those of one client only, show how the lock stores', () => {
    const story = (...grants: [string, number][]) => {
      const told = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(7, 'r1');
      for (const [client, at] of grants) held(told, client, at);
      return told.grant('c2', 4.5).release('c2', 6);
    };
    expect(found(story(['c1', 1], ['c2', 2], ['c1', 3]))).toEqual(SECOND_OF_C2);
    const few = story(['c1', 1], ['c2', 2]);
    expect(found(few)).toEqual([]);
    expect(neverGrantedHolds.check(few.input()).notJudged).toContain('does not show');
    expect(found(story(['c1', 1], ['c1', 2], ['c1', 3]))).toEqual([]);
  });

  it('where the grants have no kind of key in common', () => {
    const story = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1').sample(7, 'r1');
    held(story, 'c1', 1, { key: `fast:${KEY}` });
    held(story, 'c2', 2, { key: `slow:${KEY}` });
    held(story, 'c1', 3, { key: `fast:${KEY}` });
    expect(found(story.grant('c2', 4.5).release('c2', 6))).toEqual([]);
  });

  it('of a key that the observer does not follow', () => {
    const story = run().grant('c3', 4.5, { key: 'another lock' }).release('c3', 6);
    expect(found(story.configured({ keys: [KEY] }))).toEqual(SECOND_OF_C2);
  });

  it('where the server keeps several databases', () => {
    const story = run();
    const elsewhere = story.input();
    expect(neverGrantedHolds.check(elsewhere).violations).toHaveLength(1);
    expect(found(story.command(4.1, 'r1', 'c3', ['SWAPDB', '0', '1']))).toEqual([]);
  });

  it('where watching had a gap, before the answer or within a second after it', () => {
    for (const at of [4.4975, 4.499, 5.4])
      expect(
        found(
          run()
            .watch(at, 'r1', false)
            .watch(at + 0.0001, 'r1'),
        ),
        `${at}`,
      ).toEqual([]);
    expect(found(run().command(5.55, 'r1', 'c3', ['GET', KEY]).watch(5.6, 'r1', false))).toEqual(SECOND_OF_C2);
    expect(found(run(['r1', 'r2']).watch(5.4, 'r2', false))).toEqual([]);
  });

  it('where no later look at the server shows that it was the same process', () => {
    const story = (last: Parameters<Story['sample']>[2] | undefined) => {
      const told = new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1');
      for (const [client, at] of [
        ['c1', 1],
        ['c2', 2],
        ['c1', 3],
      ] as const)
        held(told, client, at);
      told.grant('c2', 4.5).release('c2', 6);
      return last ? told.sample(6, 'r1', last) : told;
    };
    expect(found(story({}))).toEqual(SECOND_OF_C2);
    expect(found(story(undefined))).toEqual([]);
    expect(found(story({ runId: 'run-2' }))).toEqual([]);
    expect(found(story({ skewMs: 40 }))).toEqual([]);
  });

  it('where a fault moved the clock of the server', () => {
    const jump: FaultEffect = { kind: 'clock-jumped', who: ['r1'], offsetMs: 2 };
    expect(found(run().fault(4.2, 0, 'clock', 'strike', { effects: [jump] }))).toEqual([]);
    expect(
      found(
        run()
          .fault(0.2, 0, 'clock', 'strike', { effects: [jump] })
          .fault(0.3, 0, 'clock', 'heal'),
      ),
    ).toEqual(SECOND_OF_C2);
  });

  it('while the harness stood still', () => {
    expect(found(run().disturbed(4.3, 'harness-stall', 300))).toEqual([]);
    expect(found(run().disturbed(5.2, 'harness-stall', 300))).toEqual([]);
    expect(found(run().disturbed(0.2, 'harness-stall', 300))).toEqual(SECOND_OF_C2);
  });

  it('of a client whose stamps contradict each other', () => {
    expect(found(run().grant('c2', 9, { grantSent: 9.5, began: 8.9, sent: 8.8 }))).toEqual([]);
  });

  it('where a server was watched only from some time on: the client may have stored its own there before', () => {
    const another = (at: number) =>
      run()
        .looks(3.2, 4.6, 'r1', { owner: 'of-somebody', pttlMs: -2 })
        .watch(at, 'r2')
        .sample(3.75, 'r2')
        .sample(7, 'r2');
    expect(found(another(0.2))).toEqual(SECOND_OF_C2);
    expect(found(another(1.2))).toEqual([]);
    expect(found(another(0.2).sample(2, 'r2', { runId: 'run-0' }))).toEqual([]);
  });
});

describe('on independent nodes', () => {
  const five = ['r1', 'r2', 'r3', 'r4', 'r5'];
  const redlock = () => run(five, new Story().independent());
  const granting = (...nodes: string[]) => {
    const story = redlock();
    for (const node of nodes) story.take(4.499, node, 'c2', 'c2@4.5');
    return story;
  };

  it('accused is a hold that fewer than a majority can have granted', () => {
    expect(found(redlock())).toEqual(SECOND_OF_C2);
    expect(found(granting('r1', 'r2'), 'minority-granted')).toEqual(SECOND_OF_C2);
    expect(neverGrantedHolds.check(granting('r1', 'r2').input()).violations[0]!.proof).toContain(
      'of the nodes only r1 and r2 can have granted it meanwhile, which are too few',
    );
    expect(found(granting('r1', 'r2', 'r3'))).toEqual([]);
  });

  it('accused is a hold that not all can have granted, of a lock that needs all', () => {
    const granting = (...nodes: string[]) => {
      const story = run(five, new Story().independent().up('c1', ['all-nodes']));
      for (const node of nodes) story.take(4.499, node, 'c2', 'c2@4.5');
      return story;
    };
    expect(found(granting('r1', 'r2', 'r3', 'r4'), 'minority-granted')).toEqual(SECOND_OF_C2);
    expect(found(granting(...five))).toEqual([]);
  });

  it('counts as able to grant a node that was not watched, unless it was dead, stopped or out of reach all the time', () => {
    const unseen = () => granting('r1', 'r2').watch(4.4, 'r3', false);
    expect(found(unseen())).toEqual([]);
    const killed = { effects: [{ kind: 'killed' as const, who: ['r3'] }] };
    expect(found(unseen().fault(4.4, 0, 'kill', 'strike', killed), 'minority-granted')).toEqual(SECOND_OF_C2);
    expect(found(unseen().fault(4.4, 0, 'kill', 'strike', killed).fault(4.499, 0, 'kill', 'heal'))).toEqual([]);
  });
});

it('counts all, and reports the first two hundred', () => {
  const claims = (count: number) => {
    const story = run();
    for (let n = 1; n < count; n++)
      story.grant('c3', 6.1 + n * 0.004, { grantSent: 6.1 + n * 0.004 - 0.001 }).release('c3', 6.102 + n * 0.004);
    return neverGrantedHolds.check(story.input());
  };
  expect(claims(200)).toMatchObject({ verdict: 'invalid', violations: { length: 200 } });
  expect(claims(200).found).toBeUndefined();
  expect(claims(201)).toMatchObject({ verdict: 'invalid', violations: { length: 200 }, found: { exclusion: 201 } });
});

it('is content where every grant was stored', () => {
  const story = held(
    held(held(new Story().up('c1').up('c2').watch(0, 'r1').sample(0.5, 'r1'), 'c1', 1), 'c2', 2),
    'c1',
    3,
  );
  expect(neverGrantedHolds.check(story.sample(7, 'r1').input())).toMatchObject({ verdict: 'valid', violations: [] });
});

it('cannot tell where the record of the servers is missing', () => {
  const story = run().event(9, { type: 'closed', observations: 3 });
  expect(neverGrantedHolds.check(story.input())).toMatchObject({ verdict: 'unknown', violations: [] });
});
