/** Runs that need commands which not every server has: where they are made, and why those are not that cannot be. */
import { findOnPath } from '../../harness/machine/command.js';
import { RedisNotFoundError } from '../../harness/machine/redis-binary.js';
import { ServerNotFoundError } from '../../harness/machine/service-program.js';
import type { ServerNeeds, ServiceName, WithServerNeeds } from '../../harness/vocabulary/topology.js';
import { externalLock } from '../../lock-impl/external/index.js';
import { nodeTooOld } from '../../lock-impl/third-party/library.js';
import type { Say } from '../common/say.js';
import { registered } from '../run/chosen.js';
import { namedServer, SIM } from '../run/machine.js';
import { findLibrary } from '../run/published-library.js';
import type { BatchOptions } from './batch.js';
import { type BatchFlags, batchOptions } from './batch-flags.js';

/** How a command asks for what it runs on. */
export interface Asked<Flags extends BatchFlags = BatchFlags> {
  flags: Flags;
  cwd: string;
  say: Say;
}

/**
 * What an item needs it says, or the registry says it of its lock. Calls `run` with all that `options` can run, and then with what is
 * run elsewhere: on its service (Redis unless it says another), and on the server that its needs name, if the user named none.
 * `lacks` is called with each of the rest, and why it was not tried.
 */
export async function runWhereItCan<Item extends WithServerNeeds & { lock: string; service?: ServiceName }>(
  items: readonly Item[],
  options: BatchOptions,
  asked: Asked,
  { run, lacks }: { run(some: Item[], on: BatchOptions): Promise<void>; lacks(item: Item, why: string): void },
): Promise<void> {
  const needsOf = ({ lock, serverNeeds }: Item) => serverNeeds ?? registered(lock)?.serverNeeds;
  const buildable = items.filter((item) => {
    const missing = missingTool(item.lock, options.machine, asked.cwd);
    if (missing !== undefined) lacks(item, missing);
    return missing === undefined;
  });
  for (const service of new Set(buildable.map(serviceOf))) {
    if (options.stop.asked) return;
    const there = buildable.filter((item) => serviceOf(item) === service);
    const on = await optionsOf(service, options, asked);
    for (const needs of new Set(there.map(needsOf))) {
      if (options.stop.asked) return;
      const some = there.filter((item) => needsOf(item) === needs);
      const onThis = needs && !('lacks' in on) ? await optionsFor(needs, on, asked) : on;
      if ('lacks' in onThis) for (const item of some) lacks(item, onThis.lacks);
      else await run(some, onThis);
    }
  }
}

function serviceOf({ service = 'redis' }: { service?: ServiceName }): ServiceName {
  return service;
}

/** A server that the user named is of the service that `options` are for; of others what this machine has is taken. */
async function optionsOf(
  service: ServiceName,
  options: BatchOptions,
  { flags, cwd, say }: Asked,
): Promise<BatchOptions | { lacks: string }> {
  if (service === serviceOf(options)) return options;
  const { server: _, redis: __, ...others } = flags;
  try {
    return { ...(await batchOptions(others, cwd, say, service)), stop: options.stop };
  } catch (error) {
    if (error instanceof ServerNotFoundError) return { lacks: error.message };
    throw error;
  }
}

/**
 * Why a lock cannot be had here: one of another language for want of its tools, a published library for want of a newer Node.
 * Undefined: it can, as far as that goes.
 */
function missingTool(
  lock: string,
  { runtime, containers, toolImage }: BatchOptions['machine'],
  cwd: string,
): string | undefined {
  // In virtual time it is the language that is lacking, which the run says, whatever this machine has.
  const project = runtime === SIM ? undefined : externalLock(lock)?.project;
  const missing = project?.needs.find(([program]) => !findOnPath(program));
  if (project && missing) return `it needs ${missing[0]}: ${project.remedy}`;
  const library = registered(lock)?.library;
  const tooOld = library && nodeTooOld(library);
  // Clients in containers have the Node of their image, but of this machine's what npm installed.
  const isElsewhere = containers !== undefined || toolImage !== undefined;
  return tooOld !== undefined && isElsewhere && typeof findLibrary(library!, cwd) !== 'string' ? undefined : tooOld;
}

async function optionsFor(
  { oneOf, what = oneOf.join(' or '), server, notOn }: ServerNeeds,
  options: BatchOptions,
  { flags, cwd, say }: Asked,
): Promise<BatchOptions | { lacks: string }> {
  const { machine, stop } = options;
  const wanted = `it needs ${what}`;
  if (!machine.server) return options; // it does not start, and each run says so
  const { kind, commands } = machine.server;
  const hasOne = oneOf.some((name) => commands.includes(name));
  if (hasOne && kind !== notOn?.kind) return options;
  const named = machine.containers?.image ?? machine.toolImage?.base ?? namedServer(machine.redis);
  if (named !== undefined)
    return { lacks: hasOne ? `on ${named}: ${notOn!.because}` : `${wanted}, which ${named} has not` };
  try {
    return { ...(await batchOptions({ ...flags, server }, cwd, say)), stop };
  } catch (error) {
    if (error instanceof RedisNotFoundError) return { lacks: `${wanted}: ${error.problem}` };
    throw error;
  }
}
