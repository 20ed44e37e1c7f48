/**
 * Who is heard first where several clients ask at about the same time: their priorities, as in probabilistic concurrency testing (PCT). With
 * `preempt`, which is one of its change points, a hunt draws such schedules.
 *
 * Excludes real time, where the order of what is under way at once is the kernel's.
 */
import type { OwnPrecedence } from '../../harness/vocabulary/host.js';
import { Refusal, words } from '../levers/basics.js';
import type { NemesisContext, NemesisFault } from '../striking/context.js';
import { resolveTarget } from '../striking/targets.js';
import { wholeNumber } from './args.js';

const WITHIN_MS = 5;
const WITHIN_MS_MAX = 1_000;

export const priorities: NemesisFault = {
  name: 'priorities',
  summary: 'who is heard first where several clients ask at about the same time (hunts only)',
  explained: {
    does: 'Servers hear the targets after all other clients, and of several the first that is named first: what one of them asks waits while a client before it is about something, but for no longer than `withinMs`. A client is about something while a message of its is on its way, to a server or back, and for 0.1 ms after. What is sent on one connection keeps its order.',
    proof: 'The simulated network says in which order it hears.',
    breaks:
      'Locks in which it matters who of several comes first, again and again: queues that are jumped, wake-ups that are lost, tries that are refused for ever. With `preempt`, mistakes that take a few requests in an unusual order.',
  },
  effects: ['heard-after'],
  targets: ['client', 'holder'],
  strikes: ['client'],
  needs: ['turns'],
  args: {
    withinMs: {
      means: `for how long a request waits for others at the most; ${WITHIN_MS} if not given`,
      unit: 'ms',
      check: wholeNumber(1, WITHIN_MS_MAX),
    },
  },
  unfit: () => undefined,
  shape: (_topology, _target, leaseMs) => ({
    lane: 'clients',
    forMs: { min: leaseMs, max: 2 * leaseMs },
    leastMs: 100,
    settleMs: 0,
    args: { withinMs: [1, 5, 20] },
  }),
  async strike(step, context) {
    const precedence = precedenceOf(context);
    if (precedence.isSet) throw new Refusal('there is an order of clients already');
    const last =
      typeof step.target === 'string'
        ? (await resolveTarget(step, context)).map(({ host }) => host.name)
        : step.target.names;
    const clients = context.clientHosts.map(({ name }) => name);
    const order = [...clients.filter((name) => !last.includes(name)), ...last];
    const withinMs = typeof step.args?.withinMs === 'number' ? step.args.withinMs : WITHIN_MS;
    precedence.set(order, withinMs);
    const servers = context.hosts.filter(({ name }) => !clients.includes(name));
    const pairs = last.flatMap((from) => servers.map(({ name }): [string, string] => [from, name]));
    return {
      record: {
        targets: context
          .clients()
          .filter(({ slot }) => last.includes(slot))
          .map(({ name }) => name),
        did: `servers hear clients in the order ${words(order)}`,
        proof: `the network has each wait for those before it, for up to ${withinMs} ms`,
        effects: [{ kind: 'heard-after', pairs, withinMs, sinceNs: context.clock.nowNs() }],
      },
      async heal() {
        precedence.set(undefined, 0);
        return 'servers hear clients as they come';
      },
    };
  },
};

/** Throws a Refusal where the order of what is under way at once is the kernel's. */
export function precedenceOf({ runtime }: NemesisContext): OwnPrecedence {
  if (!runtime.ownNetwork) throw new Refusal('nobody can say here in which order messages come');
  return runtime.ownNetwork.precedence;
}
