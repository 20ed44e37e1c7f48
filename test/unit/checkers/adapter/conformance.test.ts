/** Each mistake of an adapter by a literal record that has it, and the same record without it. */
import { describe, expect, it } from 'vitest';
import { conformance } from '../../../../checkers/adapter/conformance.js';
import type { AdapterRule } from '../../../../checkers/adapter/finding.js';
import { KEY, LEASE_MS, ns, Story } from '../build.js';

const CLIENT = 'c1';
const OTHER = 'c2';
const OWNER = `value-of-${CLIENT}`;

/** One server that was watched all the time, and went on until long after what the test tells. */
function story(features: string[] = []): Story {
  return new Story().replicated().up(CLIENT, features).up(OTHER, features).watch(0.1, 'r1').sample(0.2, 'r1');
}

function rules(told: Story): AdapterRule[] {
  const whole = told.take(20, 'r1', 'c9', 'last').whole(21);
  return conformance(whole.input()).findings.map(({ rule }) => rule);
}

/** A grant and its command, which left 2 ms before the answer and was read 1 ms before it. */
const granted = (told: Story, at: number, options: Parameters<Story['grant']>[2] = {}) =>
  told.grant(CLIENT, at, options).take(at - 0.001, 'r1', CLIENT);
const released = (told: Story, at: number) => told.release(CLIENT, at).unlock(at + 0.0005, 'r1', CLIENT);

it('says nothing of what is as it was said', () => {
  const told = released(granted(story(['extend']), 1), 2);
  expect(rules(told)).toEqual([]);
});

it('too few grants to judge by are no pass', () => {
  expect(conformance(granted(story(), 1).whole(3).input()).open).toEqual([
    expect.stringContaining('1 grants are too few'),
  ]);
});

it('what was not struck was not tried, and is told', () => {
  const told = granted(story(), 1).fault(2, 0, 'amnesia', 'failed', { proof: 'r1 runs still' }).whole(3);
  expect(conformance(told.input()).open).toContain('amnesia was not done: r1 runs still');
});

describe('stamps', () => {
  it('of a grant, taken when the answer was there', () => {
    expect(rules(granted(story(), 1, { grantSent: 0.9995, began: 0.99 }))).toEqual(['stamp-late']);
  });

  it('of the last node instead of the first', () => {
    const asked = (grantSent: number) => {
      const told = new Story().independent(3).up(CLIENT);
      for (const [n, node] of ['r1', 'r2', 'r3'].entries())
        told
          .watch(0.1, node)
          .sample(0.2, node)
          .take(1 + n * 0.03, node, CLIENT)
          .take(20, node, 'c9', 'last');
      const { findings } = conformance(told.grant(CLIENT, 1.07, { grantSent, began: 0.98 }).whole(21).input());
      return findings.map(({ rule, remedy }) => [rule, remedy]);
    };
    expect(asked(1.05)).toEqual([['stamp-late', expect.stringContaining('not of the last')]]);
    expect(asked(0.99)).toEqual([]);
  });

  it('of a release, taken when it was done', () => {
    const told = granted(story(), 1).unlock(1.9995, 'r1', CLIENT);
    expect(rules(told.release(CLIENT, 2.001, { sent: 1.999 }))).toEqual(['stamp-late']);
  });

  it('of a command that sets the time of what was stored before it are no late ones', () => {
    const told = story()
      .grant(CLIENT, 1, { grantSent: 0.995, began: 0.98 })
      .command(0.99, 'r1', CLIENT, ['SETNX', KEY, OWNER])
      .command(0.999, 'r1', CLIENT, ['PEXPIRE', KEY, String(LEASE_MS)]);
    expect(rules(told)).toEqual([]);
  });

  it('of a first try that was given back are no late ones', () => {
    const told = story().take(0.9, 'r1', CLIENT, 'first').unlock(0.92, 'r1', CLIENT, 'first');
    expect(rules(granted(told, 1, { sent: 0.88, began: 0.89 }))).toEqual([]);
  });

  it('of a try that finds the client itself on a node, left there by the one before, are no late ones', () => {
    const told = new Story().independent(3).up(CLIENT);
    for (const node of ['r1', 'r2', 'r3']) told.watch(0.1, node).sample(0.2, node).take(20, node, 'c9', 'last');
    told.take(0.9, 'r1', CLIENT).command(1, 'r1', CLIENT, ['EVALSHA', 'abc', '1', KEY, OWNER]);
    told.command(1, 'r1', 'lua', ['exists', KEY]).take(1, 'r2', CLIENT).take(1, 'r3', CLIENT);
    told.grant(CLIENT, 1.07, { grantSent: 0.99, began: 0.88 });
    expect(conformance(told.whole(21).input()).findings).toEqual([]);
  });

  it('that are missing where the script went by its hash', () => {
    const byHash = (told: Story, at: number) =>
      told
        .grant(CLIENT, at, { stamps: false })
        .command(at - 0.002, 'r1', CLIENT, ['EVALSHA', 'abc', '1', KEY, OWNER, String(LEASE_MS)])
        .command(at - 0.002, 'r1', 'lua', ['set', KEY, OWNER, 'px', String(LEASE_MS), 'nx']);
    const first = released(granted(story(), 1), 2);
    const told = byHash(first, 3).release(CLIENT, 3.5).unlock(3.5005, 'r1', CLIENT);
    const { findings } = conformance(byHash(told, 4).take(20, 'r1', 'c9', 'last').whole(21).input());
    expect(findings).toMatchObject([{ rule: 'stamp-missing', weight: 'mistake', count: 2 }]);
    expect(findings[0]!.remedy).toContain('EVALSHA');
  });

  it('that are missing everywhere are advice', () => {
    const told = story().grant(CLIENT, 1, { stamps: false }).take(0.999, 'r1', CLIENT).take(20, 'r1', 'c9', 'last');
    expect(conformance(told.whole(21).input()).findings).toMatchObject([{ rule: 'stamp-missing', weight: 'advice' }]);
  });
});

describe('renewals', () => {
  const renewal = (told: Story, at: number, answer: 'prolonged' | 'not yours') => {
    told.command(at + 0.0003, 'r1', CLIENT, ['EVALSHA', 'def', '1', KEY, OWNER, String(LEASE_MS)]);
    told.command(at + 0.0003, 'r1', 'lua', ['get', KEY]);
    return answer === 'prolonged' ? told.command(at + 0.0003, 'r1', 'lua', ['pexpire', KEY, String(LEASE_MS)]) : told;
  };

  it.each([
    ['prolonged', []],
    ['not yours', ['not-renewed']],
  ] as const)('that were answered "%s"', (answer, expected) => {
    expect(rules(renewal(granted(story(['renews']), 1).renewed(CLIENT, 3), 3, answer))).toEqual(expected);
  });

  it.each([
    ['prolonged', []],
    ['not yours', ['not-renewed']],
  ] as const)('that were asked for, and answered "%s"', (answer, expected) => {
    expect(rules(renewal(granted(story(['extend']), 1).extend(CLIENT, 3), 3, answer))).toEqual(expected);
  });

  it('while the server was not watched prove nothing', () => {
    const told = granted(story(['renews']), 1)
      .watch(2, 'r1', false)
      .watch(3.5, 'r1')
      .renewed(CLIENT, 3);
    expect(rules(told)).toEqual([]);
  });

  it('whose command was read late, by a harness that was held up', () => {
    const told = granted(story(['renews']), 1).renewed(CLIENT, 3);
    const late = (...argv: string[]) => told.command(4.5003, 'r1', argv.length > 2 ? CLIENT : 'lua', argv, -1_500);
    late('EVALSHA', 'def', '1', KEY, OWNER, String(LEASE_MS));
    late('get', KEY);
    told.command(4.5003, 'r1', 'lua', ['pexpire', KEY, String(LEASE_MS)], -1_500);
    expect(rules(told)).toEqual([]);
  });

  it('stamped after their command had run', () => {
    const told = granted(story(['renews']), 1).renewed(CLIENT, 3);
    expect(rules(renewal(told, 2.99, 'prolonged'))).toEqual(['stamp-late']);
  });
});

describe('releases', () => {
  it('that left the key', () => {
    const told = granted(story(), 1).release(CLIENT, 2).command(2.0005, 'r1', CLIENT, ['GET', KEY]);
    expect(rules(told)).toEqual(['release-left-key']);
  });

  it('of one of several permits, which are counted, leave what others have', () => {
    const counted = (told: Story, at: number, client: string, left: string) =>
      told.command(at, 'r1', client, ['SET', KEY, left, 'PX', '60000']);
    const told = counted(counted(story().grant(CLIENT, 1), 0.999, CLIENT, '1'), 1.5, OTHER, '1').release(CLIENT, 2);
    expect(rules(told)).toEqual([]);
  });

  it('of a permit that nobody else counted alike', () => {
    const told = story().grant(CLIENT, 1).command(0.999, 'r1', CLIENT, ['SET', KEY, '1', 'PX', '60000']);
    expect(rules(told.release(CLIENT, 2))).toEqual([]);
  });

  it('of which the end of the record does not show what became are not accused', () => {
    const told = granted(story(), 1).release(CLIENT, 2).whole(3);
    expect(conformance(told.input()).findings).toEqual([]);
  });

  it('that were said to have failed, and were done', () => {
    const told = granted(story(), 1)
      .release(CLIENT, 2, { type: 'fail', reason: 'not-owner' })
      .unlock(2.0005, 'r1', CLIENT);
    expect(rules(told)).toEqual(['fail-though-done']);
  });

  it('that ended when the lease was over may have lost a part and removed the others', () => {
    const told = granted(story(), 1);
    const late = 1 + LEASE_MS / 1_000 + 0.1;
    told.release(CLIENT, late, { type: 'fail', reason: 'not-owner', sent: late - 0.5 });
    expect(rules(told.unlock(late - 0.4, 'r1', CLIENT))).toEqual([]);
  });

  it('of what another had taken by then may fail', () => {
    const told = granted(story(), 1)
      .unlock(1.5, 'r1', 'stranger')
      .release(CLIENT, 2, { type: 'fail', reason: 'not-owner' });
    expect(rules(told.command(2.0005, 'r1', CLIENT, ['GET', KEY]))).toEqual([]);
  });
});

describe('acquires', () => {
  it('that were said to have failed, and stored the key', () => {
    expect(rules(story().refused(CLIENT, 1, 1.5).take(1.001, 'r1', CLIENT))).toEqual(['fail-though-done']);
  });

  it('that failed because somebody has it, or whose lease was as good as over', () => {
    expect(rules(story().take(0.9, 'r1', OTHER).refused(CLIENT, 1, 1.5).take(1.001, 'r1', CLIENT))).toEqual([]);
    expect(rules(story().refused(CLIENT, 1, 5.8).take(1.001, 'r1', CLIENT))).toEqual([]);
  });

  it('that fail on several nodes leave what they leave', () => {
    const told = new Story().independent(3).up(CLIENT);
    for (const node of ['r1', 'r2', 'r3']) told.watch(0.1, node).sample(0.2, node).take(20, node, 'c9', 'last');
    expect(
      conformance(told.take(1.001, 'r1', CLIENT).take(1.001, 'r2', CLIENT).refused(CLIENT, 1, 1.5).whole(21).input())
        .findings,
    ).toEqual([]);
  });
});

describe('leases', () => {
  it.each([
    [LEASE_MS, undefined, []],
    [LEASE_MS * 1_000, undefined, ['lease-unit']],
    [5, undefined, ['lease-unit']],
    [4_000, undefined, ['lease-shorter']],
    [4_000, 3_900, []],
    [30_000, undefined, []],
    [LEASE_MS, 4_900, []],
  ] as const)('kept for %d ms where the lock says %s', (ttlMs, validForMs, expected) => {
    const told = story().grant(CLIENT, 1, { ...(validForMs !== undefined && { validForMs }) });
    expect(rules(told.take(0.999, 'r1', CLIENT, OWNER, 0, ttlMs))).toEqual(expected);
  });
});

describe('what the handshake claims', () => {
  it('extensions, none of which succeeds', () => {
    const told = granted(story(['extend']), 1);
    for (const at of [1.1, 1.2, 1.3]) told.extend(CLIENT, at, LEASE_MS, { reason: 'unsupported' });
    expect(rules(told)).toEqual(['feature-not-shown']);
  });

  it('tokens, and gives none; gives some, and does not claim it', () => {
    expect(rules(granted(story(['fencing']), 1))).toEqual(['feature-not-shown']);
    expect(rules(granted(story(), 1, { token: 7 }))).toEqual(['feature-not-claimed']);
  });

  it('renewals, and tells none of holds that outlast their lease', () => {
    const told = story(['renews']);
    for (const at of [1, 8, 15])
      told
        .grant(CLIENT, at, {})
        .take(at - 0.001, 'r1', CLIENT)
        .release(CLIENT, at + 6.5, { reason: 'not-owner' });
    expect(rules(told.take(25, 'r1', 'c9', 'last'))).toEqual(['feature-not-shown']);
  });
});

it('names of keys that no command has', () => {
  const told = story()
    .grant(CLIENT, 1)
    .command(0.999, 'r1', CLIENT, ['SET', `mutex:${KEY}`, OWNER, 'PX', '5000', 'NX']);
  expect(conformance(told.whole(3).input()).findings).toMatchObject([{ rule: 'names-unknown', weight: 'advice' }]);
});

it('what is not protocol', () => {
  const told = granted(story(), 1).event(1.5, {
    type: 'client-down',
    client: CLIENT,
    endNs: ns(1.4),
    reason: 'protocol: hello',
    broke: { what: 'hello' },
  });
  expect(rules(told)).toEqual(['protocol']);
});
