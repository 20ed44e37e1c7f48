/** Aimed faults in virtual time: each strikes at its moment, as the record of every message has it, and at no other. */
import { expect, test } from 'vitest';
import { type Exchange, exchangesOf } from '../../../harness/record/facts/exchanges.js';
import type { Aim, PlanStep } from '../../../harness/vocabulary/faults.js';
import { type Simulated, simulated } from '../../support/simulated.js';

const LOCK = ['--lock', 'set-nx-px-get-del', '--clients', '3'];
const LEASE_NS = 470e6;
const DUE_MS = 500;
const PAUSE: Pick<PlanStep, 'fault' | 'target' | 'forMs'> = { fault: 'pause', target: { names: ['c1'] }, forMs: 300 };

const struck = async (aim: Aim | undefined, steps: PlanStep[] = [], args: string[] = []) => {
  const step = { atMs: DUE_MS, ...(aim && { aim }), ...PAUSE } as PlanStep;
  return simulated([...LOCK, ...args], [...steps, step]);
};

/** When the last step of the plan became due, and when it struck. */
function timesOf({ history, records }: Simulated, step = 0): { dueNs: number; struckNs: number } {
  const torture = history.find((event) => event.type === 'phase' && event.phase === 'torture')!;
  const strike = records.find((one) => one.step === step && one.state === 'strike')!;
  expect(strike.late).toBeUndefined();
  return { dueNs: torture.atNs + DUE_MS * 1e6, struckNs: strike.atNs };
}

test('explore', async () => {
  for (const side of ['before', 'after'] as const)
    for (const event of ['request', 'going-on', 'expiry'] as const) {
      const kill: PlanStep = { atMs: 400, fault: 'kill', target: 'holder', forMs: 700 };
      const played = await struck({ side, event, count: event === 'expiry' ? 1 : 3 }, event === 'expiry' ? [kill] : []);
      for (const one of played.records) console.log(side, event, one.step, one.state, one.atNs, one.did, one.proof, one.late);
    }
});
