/**
 * One request that comes late, and the others of its connection last from then on: a change point of probabilistic concurrency testing
 * (PCT), where whoever is about to do its so-manieth step loses its priority. Counted in requests, not in time: the gap between two commands
 * of a client is a ten-thousandth of a schedule's time, and a hundredth of its requests. Most of these are tries that come when a timer is
 * due, which might as well be due later: so those alone can be counted with which a client goes on.
 *
 * Excludes real time, as `priorities`; `delay` holds back all that a link carries, for a time.
 */
import type { PlanStep } from '../../harness/vocabulary/faults.js';
import type { HeldBack } from '../../harness/vocabulary/host.js';
import { Interrupted } from '../levers/basics.js';
import type { ActiveNemesis, NemesisContext, NemesisFault } from '../striking/context.js';
import { mustBeOneOf, wholeNumber } from './args.js';
import { precedenceOf } from './priorities.js';

const FIRST = 1;
const MOST_REQUESTS = 1_000_000;
const COUNTED = ['all', 'going-on'] as const;
/** Requests of a schedule are hundreds; see `priority-plan.ts`. */
const PLANNED_REQUESTS = [10, 30, 100, 300];

export const preempt: NemesisFault = {
  name: 'preempt',
  summary: 'one request of a client comes late, and what follows on its connection after all others’ (hunts only)',
  explained: {
    does: 'Holds back the nth request (`request`) that comes from the targets to any server, counted from when the step begins; if no target is named, from any client. What its client sends on that connection meanwhile waits behind it. While `priorities` is in force, all that comes by the connection is heard after all others from then on.',
    proof: 'The simulated network says since when it holds the request, and that it lets it come.',
    breaks:
      'What takes two requests, and trusts in the second that all is as the first had found it: a lock that expires between GET and DEL, and is deleted under its next holder. What one script does, or compares on the server, survives it.',
  },
  effects: ['degraded'],
  targets: ['client'],
  strikes: ['client'],
  needs: ['turns'],
  args: {
    of: {
      means:
        'what is counted: all requests, or going-on, those that a client sends as it hears an answer, as the DEL after a GET; all if not given',
      check: mustBeOneOf(COUNTED),
    },
    request: {
      means: 'which request is held back, counted from the strike; 1 if not given',
      check: wholeNumber(FIRST, MOST_REQUESTS),
    },
  },
  unfit: () => undefined,
  shape: (_topology, _target, leaseMs) => ({
    lane: 'clients',
    forMs: { min: 1, max: Math.round(1.5 * leaseMs) },
    leastMs: 1,
    settleMs: 0,
    args: { of: COUNTED, request: PLANNED_REQUESTS },
  }),
  async strike(step, context) {
    const nth = requestOf(step);
    let tellOver = () => {};
    const over = new Promise<void>((resolve) => {
      tellOver = resolve;
    });
    const { held, cancel } = heldBack(nth, step, context, tellOver);
    const request = await Promise.race([held, ended(context)]);
    if (!request) {
      cancel();
      throw new Interrupted(`before there were ${nth} requests`);
    }
    const { from, to } = request;
    const sinceNs = context.clock.nowNs();
    const late = { delayMs: step.forMs, jitterMs: 0, lossPpm: 0, duplicatePpm: 0, reorderPpm: 0, rateKbps: 0 };
    const active: ActiveNemesis = {
      sinceNs,
      over,
      record: {
        targets: context
          .clients()
          .filter(({ slot }) => slot === from)
          .map(({ name }) => name),
        did: `held back a request of ${from} to ${to} for ${step.forMs} ms`,
        proof: `request ${nth} waits before ${to}`,
        effects: [{ kind: 'degraded', pairs: [[from, to]], ...late, sinceNs }],
      },
      async heal() {
        cancel();
        return `what ${from} asked ${to} has come`;
      },
    };
    return active;
  },
};

function requestOf({ args }: PlanStep): number {
  return typeof args?.request === 'number' ? args.request : FIRST;
}

function heldBack(
  nth: number,
  { target, forMs, args }: PlanStep,
  context: NemesisContext,
  over: () => void,
): { held: Promise<HeldBack>; cancel(): void } {
  const hosts = typeof target === 'string' ? context.clientHosts.map(({ name }) => name) : target.names;
  let cancel = () => {};
  const held = new Promise<HeldBack>((resolve) => {
    cancel = precedenceOf(context).holdBack(
      nth,
      forMs,
      { hosts, goingOn: args?.of === 'going-on' },
      { held: resolve, over },
    );
  });
  return { held, cancel: () => cancel() };
}

/** Resolves when the run ends. */
function ended({ signal }: NemesisContext): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
