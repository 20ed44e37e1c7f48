/**
 * Whose container or network it is, written on it as labels, so that the next run can remove what a killed run left
 * behind, and nothing else. What does not carry our label is never touched; what does, only when its run is dead.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import type { Docker } from './engine.js';

/** The run's id. */
export const RUN_LABEL = 'lock-torture.run';
/** `Owner` as JSON: the process that made it. */
export const OWNER_LABEL = 'lock-torture.owner';

interface Owner {
  /** A kernel's boot. */
  boot: string;
  /** The process namespace in which `pid` means something. */
  namespace: string;
  pid: number;
  /** Ticks from boot to the process's start: tells it from another that got the same number later. */
  started: string;
}

/** Labels of everything that this process makes for a run. */
export function labelsOf(runId: string): Record<string, string> {
  const owner: Owner = { ...here(), pid: process.pid, started: startOf(process.pid) ?? '' };
  return { [RUN_LABEL]: runId, [OWNER_LABEL]: JSON.stringify(owner) };
}

function here(): Pick<Owner, 'boot' | 'namespace'> {
  try {
    return {
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      namespace: readlinkSync('/proc/self/ns/pid'),
    };
  } catch {
    return { boot: 'unknown', namespace: 'unknown' }; // not Linux
  }
}

/** What belongs to a process of another machine or container cannot be asked after: it goes when it is this old. */
const FOREIGN_MS_MAX = 24 * 3600 * 1000;

/** Whether the run whose label this is has ended. One of which this is unknown counts as alive until it is old. */
export function isDead(label: string | undefined, createdMs: number, nowMs: number): boolean {
  const owner = parse(label);
  const us = here();
  if (!owner || us.boot === 'unknown' || owner.boot !== us.boot || owner.namespace !== us.namespace) {
    return nowMs - createdMs > FOREIGN_MS_MAX;
  }
  return startOf(owner.pid) !== owner.started;
}

function parse(label: string | undefined): Owner | undefined {
  try {
    const owner = JSON.parse(label ?? '') as Owner;
    return typeof owner?.pid === 'number' && typeof owner.started === 'string' ? owner : undefined;
  } catch {
    return undefined; // not of this version
  }
}

/** Undefined when there is no such process, or only what is left of it until its parent has looked. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name, is in parentheses and may hold anything; the state is field 3, the start field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** Removes containers and networks of runs that are dead. Resolves with how many runs had left something behind. */
export async function removeLeftovers(docker: Docker): Promise<number> {
  const filters = { label: [OWNER_LABEL] };
  const [containers, networks] = await Promise.all([
    docker.listContainers({ all: true, filters }),
    docker.listNetworks({ filters }),
  ]);
  const nowMs = Date.now();
  const dead = containers.filter(({ Labels, Created }) => isDead(Labels[OWNER_LABEL], Created * 1e3, nowMs));
  const gone = networks.filter(({ Labels, Created }) => isDead(Labels?.[OWNER_LABEL], Date.parse(Created), nowMs));
  await Promise.all(dead.map(({ Id }) => ifThere(docker.getContainer(Id).remove({ force: true, v: true }))));
  await Promise.all(gone.map(({ Id }) => removeNetwork(docker.getNetwork(Id))));
  return new Set([...dead, ...gone].map(({ Labels }) => Labels?.[RUN_LABEL])).size;
}

/** Somebody else may be removing it, too. */
async function ifThere(removal: Promise<unknown>): Promise<void> {
  try {
    await removal;
  } catch (error) {
    if (!isBeingRemoved(error)) throw error;
  }
}

function isBeingRemoved(error: unknown): boolean {
  const { statusCode } = error as { statusCode?: number };
  return statusCode === 404 || statusCode === 409;
}

const NETWORK_TRIES = 250;
const NETWORK_PAUSE_MS = 20;

/** The engine may still be taking the last containers off it. */
export async function removeNetwork(network: ReturnType<Docker['getNetwork']>): Promise<void> {
  for (let left = NETWORK_TRIES; ; left--) {
    try {
      await network.remove();
      return;
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 404) return;
      if (left === 0) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, NETWORK_PAUSE_MS));
  }
}
