import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TopologyAccess } from '../../../harness/vocabulary/lock.js';
import multi from '../../../lock-impl/multi.js';
import { FakeAccess, type FakeNode, type FakeReply, named, node, options } from './fake-access.js';

type Reply = 'yes' | 'no' | 'lost' | 'unsent';

function answer(name: string, reply: Reply, afterMs = 0): FakeReply {
  if (reply === 'lost') return { error: new Error('closed') };
  if (reply === 'unsent') return { error: named('NeverSentError', 'not sent') };
  const [yes, no] = name === 'set' ? ['OK', null] : [1, 0];
  return { reply: reply === 'yes' ? yes : no, afterMs };
}

/** One server, which answers the parts in turn: the grants first, then what comes after. */
function server(grants: Reply[], later: Reply[] = [], afterMs = 0): FakeNode {
  return node((name, nth) => answer(name, (name === 'set' ? grants : later)[nth] ?? 'yes', afterMs));
}

/** Of one server, or on independent nodes. */
async function acquire(one: FakeNode | FakeNode[], { leaseMs = 5_000, waitMs = 0 } = {}) {
  const fake = new FakeAccess(Array.isArray(one) ? one : [one]);
  const steps: string[] = [];
  const step = async (name: string) => void steps.push(name);
  const description = { kind: Array.isArray(one) ? 'redlock' : 'single' };
  const client = await multi.connect({ ...fake.access, description, step } as TopologyAccess);
  const hold = await fake.run(client.acquire('k', options(leaseMs, waitMs)));
  return { fake, hold: hold!, steps };
}

const parts = ['k', 'k:b', 'k:c'];
const asked = (one: FakeNode) => one.commands.filter(([name]) => name === 'set').map(([, key]) => key);
const givenBack = (one: FakeNode) => one.commands.filter(([name]) => name === 'eval').map((command) => command[3]);

describe('acquire', () => {
  test('takes the parts in order; the lease runs from the first', async () => {
    const one = server([], [], 100);
    const { hold, steps } = await acquire(one);
    expect(asked(one)).toEqual(parts);
    expect(hold.validForMs).toBeCloseTo(5_000 - 300 - 52, 6);
    expect(hold.grantSentNs).toBe(1_000e6);
    expect(steps).toEqual(['part-granted', 'part-granted']);
    expect(givenBack(one)).toEqual([]);
  });

  test.each<[Reply[], string, string[]]>([
    [['no'], 'refused: held', []],
    [['yes', 'no'], 'refused: held', ['k']],
    [['yes', 'yes', 'no'], 'refused: held', ['k', 'k:b']],
    [['yes', 'unsent'], 'refused: unreachable', ['k']],
    [['lost'], 'closed', ['k']],
    [['yes', 'yes', 'lost'], 'closed', ['k', 'k:b', 'k:c']],
  ])('%j: %s, and gives back %j', async (grants, error, back) => {
    const one = server(grants);
    await expect(acquire(one)).rejects.toThrow(error);
    expect(asked(one)).toEqual(parts.slice(0, grants.length));
    expect(givenBack(one)).toEqual(back);
    expect(new Set(one.commands.map((command) => command[command[0] === 'set' ? 2 : 4])).size).toBe(1);
  });

  test('all parts after the end of the lease are no grant', async () => {
    const one = server([], [], 40);
    await expect(acquire(one, { leaseMs: 120 })).rejects.toThrow('refused: granted-late');
    expect(givenBack(one)).toEqual(parts);
  });

  test('begins anew, with a new random value, until the wait is over', async () => {
    const one = server(['yes', 'no', 'yes', 'yes', 'no']);
    const { hold } = await acquire(one, { waitMs: 1_000 });
    expect(hold).not.toBeNull();
    expect(asked(one)).toEqual(['k', 'k:b', 'k', 'k:b', 'k:c', 'k', 'k:b', 'k:c']);
    const owners = one.commands.filter(([name]) => name === 'set').map((command) => command[2]);
    expect(new Set(owners).size).toBe(3);
  });

  test('whatever the servers answer: a hold of all parts, or every part that may be ours is given back', async () => {
    const reply = fc.constantFrom<Reply>('yes', 'no', 'lost', 'unsent');
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 3, maxLength: 3 }), fc.array(reply), async (grants, later) => {
        const one = server(grants, later);
        const granted = await acquire(one).then(
          () => true,
          () => false,
        );
        const first = grants.findIndex((grant) => grant !== 'yes');
        expect(granted).toBe(first < 0);
        expect(asked(one)).toHaveLength(first < 0 ? 3 : first + 1);
        const ours = parts.filter((_, n) => n < first || (n === first && grants[n] === 'lost'));
        expect(givenBack(one)).toEqual(ours);
      }),
    );
  });
});

describe('on independent nodes', () => {
  test('each has one part, under the key itself', async () => {
    const nodes = [server([]), server([]), server([])];
    await acquire(nodes);
    expect(nodes.map(asked)).toEqual([['k'], ['k'], ['k']]);
  });

  test.each<[string, Reply, string]>([
    ['has granted another client, who need not hold it', 'no', 'refused: no-quorum'],
    ['is away', 'unsent', 'refused: unreachable'],
  ])('nobody is granted it while one of them %s', async (_, reply, error) => {
    const nodes = [server([]), server([]), server([reply])];
    await expect(acquire(nodes)).rejects.toThrow(error);
    expect(nodes.map(givenBack)).toEqual([['k'], ['k'], []]);
  });
});

describe('release and extend', () => {
  test.each<[Reply[], boolean | RegExp]>([
    [['yes', 'yes', 'yes'], true],
    [['yes', 'no', 'yes'], false],
    [['no', 'lost', 'lost'], false],
    [['yes', 'lost', 'yes'], /2 of 3 parts, the rest did not answer/],
    [['yes', 'unsent', 'yes'], /2 of 3 parts/],
    [['unsent', 'unsent', 'unsent'], /^refused: unreachable$/],
  ])('%j', async (later, expected) => {
    const one = server([], later);
    const { hold, fake } = await acquire(one);
    const release = fake.run(hold.release());
    if (typeof expected === 'boolean') expect(await release).toBe(expected);
    else await expect(release).rejects.toThrow(expected);
    expect(givenBack(one)).toEqual(parts);

    const { hold: other, fake: again } = await acquire(server([], later));
    const extension = again.run(other.extend!(2_000));
    if (expected === true) expect(await extension).toEqual({ validForMs: 2_000 - 22 });
    else if (expected === false) expect(await extension).toBeNull();
    else await expect(extension).rejects.toThrow(expected);
  });
});
