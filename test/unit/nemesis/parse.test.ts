// biome-ignore-all lint/suspicious/noThenProperty: a word in a plan, never a function
import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../harness/vocabulary/faults.js';
import { faults } from '../../../nemesis/faults/index.js';
import { allFaults, needsOf, PlanError, parseNemesis } from '../../../nemesis/requests.js';
import { world } from './fakes.js';
import { readPlan } from './read-plan.js';

const sentinel = world('sentinel', { clients: 2 }).plan;
const redlock = world('redlock', { clients: 2 }).plan;
const single = world('single', { clients: 2 }).plan;
const noClock = { clock: 'the clock shim needs a C compiler: install gcc' };

/** The message, which must be one line of a PlanError. */
function complaint(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(PlanError);
    expect((error as Error).message).not.toContain('\n');
    return (error as Error).message;
  }
  throw new Error('there was nothing to complain about');
}

describe('--nemesis', () => {
  it('takes faults with and without targets', () => {
    expect(parseNemesis('kill, pause:client,partition:r2', sentinel).requests).toEqual([
      { fault: 'kill' },
      { fault: 'pause', target: 'client' },
      { fault: 'partition', target: 'r2' },
    ]);
    expect(parseNemesis('none', sentinel)).toEqual({ requests: [], warnings: [] });
  });

  it.each([
    ['kil', sentinel, `--nemesis: "kil" is not a fault; did you mean kill? ('list faults' shows all)`],
    ['', sentinel, '--nemesis: "" is not a fault'],
    ['constructor', sentinel, '--nemesis: "constructor" is not a fault'],
    ['kill,,pause', sentinel, '--nemesis: "" is not a fault'],
    ['kill,none', sentinel, '--nemesis: "none" stands alone, not in a list (kill,none)'],
    [
      'kill:x9',
      sentinel,
      '--nemesis: kill: there is no "x9"; it can strike primary, one, minority, replica, client, holder, sentinel, majority, all, r1, r2, r3, s1, s2, s3, c1, c2',
    ],
    ['kill:primary', redlock, '--nemesis: kill: redlock has no primary; it can strike one, minority'],
    ['kill:client:c1', sentinel, '--nemesis: "kill:client:c1" is not of the form fault:target'],
    [
      'amnesia:client',
      sentinel,
      '--nemesis: amnesia: amnesia does not strike "client"; it can strike one, primary, replica, minority, r1, r2, r3',
    ],
    ['amnesia:s1', sentinel, '--nemesis: amnesia: amnesia does not strike sentinels (s1)'],
    ['failover', redlock, '--nemesis: failover makes no sense here: redlock has nothing that could replace a node'],
    [
      'failover-to',
      redlock,
      '--nemesis: failover-to makes no sense here: redlock has nothing that could replace a node',
    ],
    [
      'cluster-failover',
      sentinel,
      '--nemesis: cluster-failover makes no sense here: on sentinel a failover is planned by sentinel-failover',
    ],
    ['lag', single, '--nemesis: lag makes no sense here: nothing replicates on single'],
    [
      'forget-granted',
      sentinel,
      '--nemesis: forget-granted makes no sense here: there are no independent grantors on sentinel',
    ],
  ] as const)('%j: one clear line', (list, topology, message) => {
    expect(complaint(() => parseNemesis(list, topology))).toContain(message);
  });

  it('leaves clock faults out of groups with the reason, and names the remedy when they are asked for by name', () => {
    const { requests, warnings } = parseNemesis('default', redlock, noClock);
    expect(requests.map(({ fault }) => fault)).not.toContain('skew-granted');
    expect(warnings).toEqual([`left out skew-granted: ${noClock.clock}`]);
    expect(complaint(() => parseNemesis('clock', single, noClock))).toBe(
      `--nemesis: clock is not possible here: ${noClock.clock}`,
    );
    const left = parseNemesis('all', single, noClock).requests.map(({ fault }) => fault);
    expect(left).toEqual(
      allFaults(single)
        .map(({ fault }) => fault)
        .filter((fault) => !faults[fault]!.needs.includes('clock')),
    );
    expect(left).toEqual(expect.arrayContaining(['kill', 'pause', 'partition']));
    expect(left).not.toContain('clock');
  });
});

describe('--plan', () => {
  const step = { atMs: 100, fault: 'kill', target: 'primary', forMs: 500 };
  const aim = { side: 'before', event: 'request', count: 1 };
  const text = (steps: unknown[], more: object = {}) => JSON.stringify({ version: 1, seed: 7, steps, ...more });
  const parse = (json: string, topology = sentinel) => readPlan(json, 'my.json', topology);

  it('takes a plan as it was saved', () => {
    const plan: Plan = {
      version: 1,
      seed: 7,
      steps: [
        { atMs: 0, fault: 'failover', target: 'primary', forMs: 6_000, args: { then: 'kill' } },
        {
          after: { event: 'acquire', count: 2, client: 'c1' },
          fault: 'pause',
          target: { names: ['c1'] },
          forMs: 6_500,
        },
        { after: { event: 'step', count: 1, step: 'after-setnx' }, fault: 'kill', target: 'holder', forMs: 10 },
        { atMs: 10, fault: 'clock', target: { names: ['r1', 'c2'] }, forMs: 10, args: { offsetMs: -500 } },
        { atMs: 10, aim: { side: 'before', event: 'going-on', count: 2 }, fault: 'kill', target: 'holder', forMs: 10 },
      ],
    };
    expect(parse(JSON.stringify(plan))).toEqual(plan);
  });

  it.each([
    ['{"version":1,', 'my.json: not JSON ('],
    ['[]', 'my.json: expected an object, got []'],
    ['null', 'my.json: expected an object, got null'],
    [text([], { version: 2 }), 'my.json: version: expected 1, got 2'],
    [text([], { seed: 1.5 }), 'my.json: seed: expected a whole number, got 1.5'],
    [text([], { steps: {} }), 'my.json: steps: expected a list, got {}'],
    [text([], { extra: 1 }), 'my.json: unknown field "extra"; there are version, seed, steps'],
    [text([step, 5]), 'my.json: steps[1]: expected an object, got 5'],
    [text([{ ...step, fault: 'explode' }]), 'my.json: steps[0].fault: "explode" is not a fault; '],
    [text([{ ...step, fault: 3 }]), 'my.json: steps[0].fault: expected a string, got 3'],
    [text([{ ...step, fault: undefined }]), 'my.json: steps[0].fault: missing, expected a string'],
    [
      text([{ ...step, fault: 'skew-granted', target: 'minority' }]),
      'my.json: steps[0].fault: skew-granted makes no sense on sentinel',
    ],
    [text([step, { ...step, atMs: -1 }]), 'my.json: steps[1].atMs: expected a number from 0, got -1'],
    [text([{ ...step, atMs: '1s' }]), 'my.json: steps[0].atMs: expected a number from 0, got "1s"'],
    [text([{ ...step, atMs: undefined }]), 'my.json: steps[0]: needs either atMs or after'],
    [text([{ ...step, after: { event: 'acquire', count: 1 } }]), 'my.json: steps[0]: needs either atMs or after'],
    [
      text([{ ...step, forMs: 0 }]),
      'my.json: steps[0].forMs: expected a positive number of milliseconds, at most a day, got 0',
    ],
    [text([{ ...step, forMs: undefined }]), 'my.json: steps[0].forMs: missing, expected a number from 0'],
    [
      text([{ ...step, target: 'master' }]),
      'my.json: steps[0].target: expected one of primary, replica, one, minority, majority, holder, client, sentinel, all or an object, got "master"',
    ],
    [
      text([{ ...step, target: { names: ['r7'] } }]),
      'my.json: steps[0].target: is not possible: there is no "r7"; it can strike primary',
    ],
    [
      text([{ ...step, target: { names: [] } }]),
      'my.json: steps[0].target.names: expected a list that is not empty, got []',
    ],
    [text([{ ...step, target: { names: ['r1', 'r1'] } }]), 'my.json: steps[0].target.names: has a name twice: r1, r1'],
    [text([{ ...step, target: { name: 'r1' } }]), 'my.json: steps[0].target.names: missing, expected a list'],
    [
      text([{ ...step, when: 3 }]),
      'my.json: steps[0]: unknown field "when"; there are atMs, aim, after, fault, target, forMs, args',
    ],
    [
      text([{ ...step, args: { mode: 'both' } }]),
      'my.json: steps[0].args: unknown field "mode"; there is none to give',
    ],
    [
      text([{ ...step, fault: 'partition', args: { mode: 'left' } }]),
      'my.json: steps[0].args.mode: must be one of both, out, in, link, minority, off, not "left"',
    ],
    [
      text([{ ...step, fault: 'failover', args: { then: 'pray' } }]),
      'my.json: steps[0].args.then: must be one of kill, isolate, not "pray"',
    ],
    [
      text([{ ...step, fault: 'clock' }]),
      'my.json: steps[0].args.offsetMs: must be a whole number of milliseconds, not 0, at most a year forward or back, not missing',
    ],
    [text([{ ...step, fault: 'clock', args: { offsetMs: 0 } }]), 'not 0'],
    [text([{ ...step, fault: 'drift' }]), 'steps[0].args.ratePpm: must be a whole number of parts per million'],
    [text([{ ...step, fault: 'drift', args: { ratePpm: 5_000 } }]), 'at least 10000 away from 0'],
    [text([{ ...step, fault: 'drift', args: { ratePpm: -1_000_000 } }]), 'from -900000'],
    [text([{ ...step, fault: 'strobe', args: { offsetMs: 500, everyMs: 1 } }]), 'a whole number from 10 to 10000'],
    [text([{ ...step, fault: 'slow', args: { pauseMs: 2_000 } }]), 'a whole number from 5 to 800'],
    [
      text([{ ...step, atMs: undefined, after: { event: 'kiss', count: 1 } }]),
      'my.json: steps[0].after.event: expected one of acquire, release, step, got "kiss"',
    ],
    [
      text([{ ...step, atMs: undefined, after: { event: 'acquire', count: 0 } }]),
      'my.json: steps[0].after.count: expected a whole number from 1, got 0',
    ],
    [
      text([{ ...step, atMs: undefined, after: { event: 'acquire', count: 1, client: 'c9' } }]),
      'my.json: steps[0].after.client: expected one of c1, c2, got "c9"',
    ],
    [
      text([{ ...step, atMs: undefined, after: { event: 'step', count: 1 } }]),
      'my.json: steps[0].after.step: missing, expected the name of a step of the lock',
    ],
    [
      text([{ ...step, atMs: undefined, after: { event: 'acquire', count: 1, step: 'x' } }]),
      'my.json: steps[0].after.step: only for event "step"',
    ],
    [
      text([{ ...step, aim: { ...aim, side: 'at' } }]),
      'my.json: steps[0].aim.side: expected one of before, after, got "at"',
    ],
    [
      text([{ ...step, aim: { ...aim, event: 'lease' } }]),
      'my.json: steps[0].aim.event: expected one of request, going-on, change, expiry, got "lease"',
    ],
    [
      text([{ ...step, aim: { ...aim, event: 'change' } }]),
      'my.json: steps[0].aim.side: only after a "change": which request it is its answer tells',
    ],
    [
      text([{ ...step, aim: { ...aim, count: 0 } }]),
      'my.json: steps[0].aim.count: expected a whole number from 1, got 0',
    ],
    [
      text([{ ...step, aim: { ...aim, client: 'c1' } }]),
      'my.json: steps[0].aim: unknown field "client"; there are side, event, count',
    ],
    [
      text([{ ...step, atMs: undefined, after: { event: 'acquire', count: 1 }, aim }]),
      'my.json: steps[0]: an aim needs atMs, and no after',
    ],
    [text([{ ...step, atMs: undefined, aim }]), 'my.json: steps[0]: an aim needs atMs, and no after'],
    [
      text([{ ...step, fault: 'gc', target: 'holder', aim }]),
      'my.json: steps[0].aim: is not possible: gc counts moments of its own',
    ],
  ])('%s: one clear line', (json, message) => {
    expect(complaint(() => parse(json))).toContain(message);
  });

  it('refuses an aim where turns are not its to decide, and says that it needs them', () => {
    const turns = 'in virtual time only';
    const json = text([{ ...step, target: 'one', aim }]);
    expect(complaint(() => readPlan(json, 'p.json', single, { turns }))).toBe(
      `p.json: steps[0].aim: is not possible here: ${turns}`,
    );
    expect(needsOf(readPlan(json, 'p.json', single))).toContain('turns');
    expect(needsOf(readPlan(text([{ ...step, target: 'one' }]), 'p.json', single))).not.toContain('turns');
  });

  it('refuses what this machine cannot do', () => {
    const json = text([{ ...step, target: 'one', fault: 'clock', args: { offsetMs: 5 } }]);
    expect(complaint(() => readPlan(json, 'p.json', single, noClock))).toContain(noClock.clock);
  });

  it('takes what it makes', () => {
    expect(readPlan(text([{ ...step, target: 'one' }]), 'p.json', redlock).steps).toHaveLength(1);
  });
});
