/** Asks hosts, servers and programs themselves whether everything is as it was. */
import type { ClientTarget, FaultContext } from '../harness/vocabulary/faults.js';
import type { Host } from '../harness/vocabulary/host.js';
import type { ServerNode } from '../harness/vocabulary/topology.js';
import { message, waitFor } from './levers/basics.js';
import { exactOffsetOf, type ReadWallMs, signed } from './levers/clock.js';
import type { Levers } from './levers/index.js';

const ANSWER_TIMEOUT_MS = 5_000;
const POLL_MS = 50;
/** Programs read the time in whole milliseconds, and servers remember it for the length of a command. */
const CLOCK_TOLERANCE_MS = 10;
/** A machine that is busy for longer than this tells nothing about a clock. */
const CLOCK_ERROR_MS = 250;

/** What is not healed, in words; empty when all is. */
export async function findUnhealed(context: FaultContext, levers: Levers): Promise<string[]> {
  const { topology, hosts } = context;
  const checks: [name: string, check: () => Promise<string[]>][] = [
    ...hosts.map((host): [string, () => Promise<string[]>] => [
      host.name,
      async () => [
        ...(await levers.network.trouble(host)),
        ...(await levers.links.trouble(host)),
        ...diskTrouble(host),
      ],
    ]),
    ...[...topology.nodes, ...topology.sentinels].map((node): [string, () => Promise<string[]>] => [
      node.name,
      () => serverTrouble(node, context, levers),
    ]),
    ...context
      .clients()
      .map((client): [string, () => Promise<string[]>] => [client.name, () => clientTrouble(client, context, levers)]),
  ];
  const found = checks.map(([name, check]) => answered(name, check, context));
  return (await Promise.all(found)).flat();
}

/** A machine that is busy for seconds lets questions time out: they are asked again for as long as an answer may take. */
async function answered(name: string, check: () => Promise<string[]>, { clock }: FaultContext): Promise<string[]> {
  let why = '';
  const ask = () =>
    check().catch((error) => {
      why = message(error);
      return undefined;
    });
  const healing = { clock, signal: new AbortController().signal };
  const wait = { timeoutMs: ANSWER_TIMEOUT_MS, pollMs: POLL_MS, doing: '', context: healing };
  return (await waitFor(ask, wait)) ?? [`${name} cannot be checked: ${why}`];
}

function diskTrouble({ name, ownDisk }: Host): string[] {
  return ownDisk && ownDisk.syncMs > 0 ? [`a sync takes ${name} ${ownDisk.syncMs} ms`] : [];
}

async function clientTrouble(client: ClientTarget, { clock }: FaultContext, levers: Levers): Promise<string[]> {
  if (!(await runs(client, clock))) return [`${client.name} is still stopped`];
  if (!levers.clock.moved().includes(client.host.name)) return [];
  const trouble = await clockTrouble(client.name, () => client.wallMs(), clock);
  // One that has ended sees no clock; what comes in its place has the host's, which was set right.
  return trouble.length > 0 && (await client.process.state()) === 'dead' ? [] : trouble;
}

/** An operation that was to stop its process at a step may come there only now; then it is continued at once. */
async function runs({ process, stopping }: ClientTarget, clock: FaultContext['clock']): Promise<boolean> {
  const read = async () => (await process.state()) !== 'stopped' || undefined;
  const timeoutMs = stopping ? ANSWER_TIMEOUT_MS : 0;
  const healing = { clock, signal: new AbortController().signal };
  return (await waitFor(read, { timeoutMs, pollMs: POLL_MS, doing: '', context: healing })) ?? false;
}

async function serverTrouble(node: ServerNode, { clock }: FaultContext, levers: Levers): Promise<string[]> {
  await node.undisturbed?.();
  const state = await node.process.state();
  if (state !== 'running') return [`${node.name} is ${state}`];
  let why = 'no answer';
  const answers = async () => {
    try {
      await node.ping();
      return true;
    } catch (error) {
      why = message(error); // it may still be loading its data, or waking up
      return undefined;
    }
  };
  const healing = { clock, signal: new AbortController().signal };
  const alive = await waitFor(answers, { timeoutMs: ANSWER_TIMEOUT_MS, pollMs: POLL_MS, doing: '', context: healing });
  if (!alive) return [`${node.name} does not answer PING (${why})`];
  // No fault moves a clock that the service does not tell.
  if ((await node.clockMs()) === undefined) return [];
  const clocks = await clockTrouble(node.name, async () => (await node.clockMs())!, clock);
  return [...clocks, ...(node.roleNow ? [] : await levers.pressure.trouble(node))];
}

async function clockTrouble(name: string, read: ReadWallMs, clock: FaultContext['clock']): Promise<string[]> {
  const seen = await exactOffsetOf(read, clock, CLOCK_TOLERANCE_MS);
  if (!seen) return [`${name} cannot tell the time, so nothing shows that its clock is right again`];
  const off = `${name}'s clock is ${signed(Math.round(seen.offsetMs))} ms off`;
  if (Math.abs(seen.offsetMs) > seen.errorMs + CLOCK_TOLERANCE_MS) return [off];
  return seen.errorMs <= CLOCK_ERROR_MS
    ? []
    : [`${off}, give or take ${Math.round(seen.errorMs)} ms: nothing shows that it is right`];
}
