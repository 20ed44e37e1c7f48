/**
 * SIGKILL. A server comes back with what is on its disk when the fault is healed, a client as a new process under a new
 * name. A server without a durable log forgets by this, so the minority rule applies to it.
 */

import { waitFor } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import type { Grip } from '../levers/network.js';
import { becomesDead } from '../levers/process.js';
import { killForgets, type NemesisContext, type NemesisFault } from '../striking/context.js';
import { isNode, namesOf, resolveTarget, type StruckClient } from '../striking/targets.js';
import { killDown } from './take-down.js';

const COMES_BACK_TIMEOUT_MS = 10_000;
const POLL_MS = 20;

export const kill: NemesisFault = {
  name: 'kill',
  summary: 'SIGKILL; a server starts again with what is on its disk, a client as a new process',
  explained: {
    does: 'SIGKILL. A server starts again with what is on its disk when the fault is healed; a client is replaced by a new process under a new name. Where a kill may forget (every `--persistence` but `aof-always`) no more than a minority may be down within one lease, and a primary stays down until it has been replaced.',
    proof:
      'Each process is read back from the kernel as dead; a server that is back must answer PING, a client must have shaken hands.',
    breaks:
      'A single server without a durable log: exclusion (`node-forgot`). A killed holder breaks nothing: its hold ends with it, and its key stays until its lease is over.',
  },
  effects: ['killed', 'forgot'],
  targets: ['primary', 'one', 'minority', 'replica', 'client', 'holder', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel', 'client'],
  needs: ['process'],
  args: {},
  unfit: () => undefined,
  shape: (_topology, target) =>
    target === 'client' || target === 'holder'
      ? { lane: 'clients', forMs: { min: 200, max: 800 }, leastMs: 100, settleMs: 0 }
      : { lane: 'servers', forMs: { min: 1_000, max: 3_000 }, leastMs: 500, settleMs: 1_500 },
  async strike(step, context) {
    const struck = await resolveTarget(step, context);
    const nodes = struck.filter(isNode);
    const clients = struck.filter((one): one is StruckClient => one.kind === 'client');
    return InForce.strike(async (inForce) => {
      const forgets = killForgets(context.persistence);
      const down = nodes.length > 0 ? [inForce.add(killDown(nodes, forgets, context))] : [];
      const done = await Promise.all([...down, inForce.addAll(clients.map((one) => killClient(one, context)))]);
      return {
        record: {
          targets: namesOf(struck),
          did: `SIGKILL to ${namesOf(struck).join(', ')}`,
          proof: done
            .flat()
            .map((grip) => grip.proof)
            .join('; '),
          effects: done.flat().flatMap(({ effects }) => effects),
        },
        heal: () => inForce.heal(),
      };
    });
  },
};

async function killClient({ client, name }: StruckClient, context: NemesisContext): Promise<Grip> {
  const { process } = client;
  const { pid } = process;
  const killing = client.kill();
  try {
    await becomesDead(name, process, context.clock);
  } catch (error) {
    killing.catch(() => {}); // it may never end
    client.resume();
    throw error;
  }
  const sinceNs = context.clock.nowNs();
  await killing;
  return {
    proof: `${name} (pid ${pid}) is dead`,
    effects: [{ kind: 'killed', who: [name], sinceNs }],
    heal: () => comeBack(client.slot, () => client.resume(), context),
  };
}

/** The harness starts another process in the slot; it is back when it has shaken hands. */
async function comeBack(slot: string, resume: () => void, context: NemesisContext): Promise<string> {
  resume();
  const next = await waitFor(async () => living(slot, context), {
    timeoutMs: COMES_BACK_TIMEOUT_MS,
    pollMs: POLL_MS,
    doing: `before ${slot} was back`,
    context: { clock: context.clock, signal: new AbortController().signal },
  });
  if (!next) throw new Error(`no new process in ${slot} after ${COMES_BACK_TIMEOUT_MS} ms`);
  return `${slot} is back as ${next.name} (pid ${next.process.pid})`;
}

async function living(slot: string, context: NemesisContext) {
  const found = context.clients().find((client) => client.slot === slot);
  return found && (await found.process.state()) !== 'dead' ? found : undefined;
}
