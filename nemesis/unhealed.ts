/** Asks hosts, servers and programs themselves whether everything is as it was. */
import type { ClientTarget, FaultContext, RedisNode } from '../harness/api.js';
import { message, waitFor } from './context.js';
import { offsetOf, redisWallMs, signed } from './levers/clock.js';
import type { Levers } from './levers/index.js';

const ANSWER_TIMEOUT_MS = 5_000;
const POLL_MS = 50;
const CLOCK_TOLERANCE_MS = 250;

/** What is not healed, in words; empty when all is. */
export async function findUnhealed(context: FaultContext, levers: Levers): Promise<string[]> {
  const { topology, hosts } = context;
  const checks: [name: string, check: () => Promise<string[]>][] = [
    ...hosts.map((host): [string, () => Promise<string[]>] => [host.name, () => levers.network.trouble(host)]),
    ...[...topology.nodes, ...topology.sentinels].map((node): [string, () => Promise<string[]>] => [
      node.name,
      () => serverTrouble(node, context),
    ]),
    ...context
      .clients()
      .map((client): [string, () => Promise<string[]>] => [client.name, () => clientTrouble(client, context, levers)]),
  ];
  const found = checks.map(([name, check]) =>
    check().catch((error) => [`${name} cannot be checked: ${message(error)}`]),
  );
  return (await Promise.all(found)).flat();
}

async function clientTrouble(client: ClientTarget, { clock }: FaultContext, levers: Levers): Promise<string[]> {
  if ((await client.process.state()) === 'stopped') return [`${client.name} is still stopped`];
  if (!levers.clock.moved().includes(client.host.name)) return [];
  return clockTrouble(client.name, await offsetOf(() => client.wallMs(), clock));
}

async function serverTrouble(node: RedisNode, { clock }: FaultContext): Promise<string[]> {
  const state = await node.process.state();
  if (state !== 'running') return [`${node.name} is ${state}`];
  let why = 'no answer';
  const answers = async () => {
    try {
      return (await node.command('PING')) === 'PONG' || undefined;
    } catch (error) {
      why = message(error); // it may still be loading its data, or waking up
      return undefined;
    }
  };
  const healing = { clock, signal: new AbortController().signal };
  const alive = await waitFor(answers, { timeoutMs: ANSWER_TIMEOUT_MS, pollMs: POLL_MS, doing: '', context: healing });
  if (!alive) return [`${node.name} does not answer PING (${why})`];
  return clockTrouble(node.name, await offsetOf(redisWallMs(node), clock));
}

function clockTrouble(name: string, offsetMs: number | undefined): string[] {
  if (offsetMs === undefined) return [`${name} cannot tell the time, so nothing shows that its clock is right again`];
  return Math.abs(offsetMs) <= CLOCK_TOLERANCE_MS ? [] : [`${name}'s clock is ${signed(offsetMs)} ms off`];
}
