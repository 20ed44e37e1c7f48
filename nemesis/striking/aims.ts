/**
 * Strikes at a moment of the clients or of the servers (`Aim`): what would be heard next waits until the fault is in force, though not
 * for ever, and the end of a lease is asked of the servers.
 *
 * Excludes real time: nobody can have a message wait there, and who asks when a lease ends hears of it when it is over.
 */
import type { Aim, ClientTarget, PlanStep } from '../../harness/vocabulary/faults.js';
import type { HeldBack, RequestMoment } from '../../harness/vocabulary/host.js';
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import type { NemesisContext } from './context.js';
import type { AtStep } from './step-watch.js';

/**
 * What strikes at once is in force in less. A fault that waits for something itself may wait for what is held back for it; and what comes much
 * later without any fault would have to be told as one.
 */
const HELD_AT_MOST_MS = 5;
/** How near to the end of a lease a strike is, on either side. */
const NEAR_MS = 2;
/** How often is asked whether there is any lease. */
const POLL_MS = 10;
/** What a server answers of a key that it does not have, or that nothing ends. */
const NONE_MS = 0;

export type AimedStep = PlanStep & { atMs: number; aim: Aim };

/** Resolves when the moment has come; with the reason when the run ended before. */
export function momentOf(step: AimedStep, context: NemesisContext): Promise<AtStep | string> {
  const { side, event } = step.aim;
  return event === 'expiry' ? atExpiry(step.aim, context) : atRequest(step, { side, event }, context);
}

function atRequest(
  { aim, target }: AimedStep,
  moment: Omit<RequestMoment, 'counts'>,
  context: NemesisContext,
): Promise<AtStep | string> {
  const { runtime, signal } = context;
  const network = runtime.ownNetwork;
  if (!network) return Promise.resolve('nobody can say here when a request comes');
  return new Promise((resolve) => {
    const letGo = network.moments.wait(aim.count, { ...moment, counts: counting(target, context) }, (request) => {
      signal.removeEventListener('abort', ended);
      resolve(waitsFor(aim, request, letGo, context));
    });
    const ended = () => {
      letGo();
      resolve(momentNeverCame(aim));
    };
    if (signal.aborted) ended();
    else signal.addEventListener('abort', ended, { once: true });
  });
}

/** Requests of clients to data nodes: of and to those that the step strikes, as far as it says who they are. */
function counting(target: PlanStep['target'], context: NemesisContext): (request: HeldBack) => boolean {
  const nodes = new Set(context.topology.nodes.map(({ host }) => host.name));
  const clients = new Set(context.clientHosts.map(({ name }) => name));
  const named = typeof target === 'string' ? [] : target.names;
  const namedOf = (all: ReadonlySet<string>) => {
    const some = named.filter((name) => all.has(name));
    return some.length > 0 ? new Set(some) : all;
  };
  const [from, to] = [namedOf(clients), namedOf(nodes)];
  const holds = (slot: string) => {
    const asking = clientIn(slot, context);
    return context.holds.open().some(({ client }) => asking?.callers.includes(client));
  };
  return (request) => from.has(request.from) && to.has(request.to) && (target !== 'holder' || holds(request.from));
}

function waitsFor(aim: Aim, { from, to }: HeldBack, letGo: () => void, context: NemesisContext): AtStep {
  let isLetGo = false;
  let cameFirst = false;
  const goOn = async () => {
    isLetGo = true;
    letGo();
  };
  void context.clock.sleep(HELD_AT_MOST_MS).then(() => {
    if (isLetGo) return;
    cameFirst = true;
    void goOn();
  });
  const client = clientIn(from, context);
  const what = aim.side === 'before' ? `a request of ${from}` : `${to}'s answer to ${from}`;
  return {
    ...(client && { client }),
    seen: `${what} waited for it${aim.side === 'before' ? ` before ${to}` : ''}`,
    checked: async () => (cameFirst ? `${what} waited no longer than ${HELD_AT_MOST_MS} ms for it` : undefined),
    goOn,
    goOnNow: goOn,
  };
}

/** A key of the run on a server, and in how many milliseconds its lease ends there. */
interface Lease {
  node: ServerNode;
  key: string;
  leftMs: number;
}

async function atExpiry(aim: Aim, context: NemesisContext): Promise<AtStep | string> {
  const { clock, signal } = context;
  for (let ended = 0; !signal.aborted; ) {
    const next = await nextEnding(context);
    if (!next) {
      await clock.sleep(POLL_MS, signal);
      continue;
    }
    const { node, key, leftMs } = next;
    if (leftMs > NEAR_MS) {
      await clock.sleep(leftMs - NEAR_MS, signal);
      continue;
    }
    const isIt = ended + 1 === aim.count;
    if (isIt && aim.side === 'before') return nearEnd(aim, next, context);
    await clock.sleep(leftMs + NEAR_MS, signal);
    // Somebody may have made it last for longer.
    if ((await leftOf(node, key, context)) !== undefined) continue;
    ended++;
    if (isIt) return nearEnd(aim, next, context);
  }
  return momentNeverCame(aim);
}

function nearEnd(aim: Aim, { node, key, leftMs }: Lease, { clock, holds, clients }: NemesisContext): AtStep {
  const hold = holds.open().find((one) => one.key === key);
  const client = hold && clients().find(({ callers }) => callers.includes(hold.client));
  const endsNs = clock.nowNs() + leftMs * 1e6;
  const isLate = () => aim.side === 'before' && clock.nowNs() > endsNs;
  const done = async () => {};
  return {
    ...(client && { client }),
    seen:
      aim.side === 'before'
        ? `${key} had ${leftMs} ms left on ${node.name}`
        : `${key} had ended on ${node.name}, with ${leftMs} ms left when it was last there`,
    checked: async () =>
      isLate() ? `${key} may have ended on ${node.name} before the strike was in force` : undefined,
    goOn: done,
    goOnNow: done,
  };
}

async function nextEnding(context: NemesisContext): Promise<Lease | undefined> {
  const asked = context.topology.nodes.flatMap((node) =>
    context.keys.map(async (key) => ({ node, key, leftMs: await leftOf(node, key, context) })),
  );
  const left = (await Promise.all(asked)).filter((one): one is Lease => one.leftMs !== undefined);
  return left.sort((one, other) => one.leftMs - other.leftMs)[0];
}

/** Undefined: it is not there, has no end, or the server does not answer. */
async function leftOf(node: ServerNode, key: string, { keyName }: NemesisContext): Promise<number | undefined> {
  const said = await node.command('PTTL', keyName(key)).catch(() => undefined);
  const leftMs = typeof said === 'number' || typeof said === 'string' ? Number(said) : Number.NaN;
  return leftMs >= NONE_MS ? leftMs : undefined;
}

function clientIn(slot: string, { clients }: NemesisContext): ClientTarget | undefined {
  return clients().find((one) => one.slot === slot);
}

function momentNeverCame({ side, event, count }: Aim): string {
  return `its moment never came: ${side} ${event} ${count}`;
}
