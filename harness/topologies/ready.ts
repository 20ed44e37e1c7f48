/** Waiting for a deployment: observed ready, never assumed; a time-out names what is missing. */
import type { Clock } from '../vocabulary/time.js';
import type { Topology } from '../vocabulary/topology.js';

/** The deployment could not be started; the message says what is missing. */
export class DeploymentError extends Error {
  override name = 'DeploymentError';
}

const POLL_MS = 10;

/** Polls `missing()` until it is empty; resolves with what is still missing when the time is over (empty: ready). */
export async function waitUntilComplete(
  topology: Pick<Topology, 'missing'>,
  clock: Clock,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const giveUpNs = clock.nowNs() + timeoutMs * 1e6;
  for (;;) {
    const missing = await topology.missing();
    if (missing.length === 0 || clock.nowNs() > giveUpNs || signal?.aborted) return missing;
    await clock.sleep(POLL_MS, signal);
  }
}

/** As above, but a deployment that does not come up is an error that says what is missing. */
export async function startedOrThrow<T extends Topology>(topology: T, clock: Clock, timeoutMs: number): Promise<T> {
  const missing = await waitUntilComplete(topology, clock, timeoutMs);
  if (missing.length === 0) return topology;
  await topology[Symbol.asyncDispose]();
  throw new DeploymentError(
    `the ${topology.name} deployment was not ready after ${timeoutMs} ms: ${missing.join('; ')}`,
  );
}

/** Servers that do not answer, in words. */
export async function notAnswering(
  nodes: readonly { name: string; command(...argv: string[]): Promise<unknown> }[],
): Promise<string[]> {
  const answers = await Promise.all(
    nodes.map((node) =>
      node.command('PING').then(
        () => undefined,
        (error: Error) => `${node.name} does not answer (${error.message})`,
      ),
    ),
  );
  return answers.filter((answer) => answer !== undefined);
}
