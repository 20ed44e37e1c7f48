/** A client's place in the queue for a key: a node below the key's that goes with its session, and that the server numbers. */
import type { TopologyAccess } from '../../harness/vocabulary/lock.js';
import { refused } from '../define-lock.js';
import { ConnectionLossError, ZooError } from './connection.js';
import {
  create,
  EPHEMERAL_SEQUENTIAL,
  getChildren,
  NO_NODE,
  NODE_EXISTS,
  PERSISTENT,
  remove,
  setData,
  sync,
} from './protocol.js';
import type { ZooSession } from './session.js';

export interface ZooPlace {
  /** Of its own node. */
  path: string;
  /** What is stored there, which no other place has. */
  owner: string;
  /** The number of the change that made it: rises from place to place. */
  token: number;
  /** When what made it left this process: from then on its session lasts. */
  sentNs: number;
}

/**
 * Makes a place. A node whose making was not answered may be there: with `findsItsOwn` it is looked for by its name, which begins
 * with a value that no other has. Rejects with a refusal where there certainly is none, with a ConnectionLossError in doubt.
 */
export async function enqueue(
  access: TopologyAccess,
  session: ZooSession,
  key: string,
  { findsItsOwn, untilNs }: { findsItsOwn: boolean; untilNs: number },
): Promise<ZooPlace> {
  const owner = access.ownerValue();
  const parent = keyPath(key);
  for (;;) {
    const sentNs = access.nowNs();
    try {
      const made = await session.ask(create(`${parent}/${owner}-`, owner, EPHEMERAL_SEQUENTIAL));
      return { path: made.path, owner, token: Number(made.stat.czxid), sentNs };
    } catch (error) {
      if (error instanceof ZooError) {
        if (error.code !== NO_NODE) throw refused(`zookeeper${error.code}`);
        await makeParents(session, parent);
        continue;
      }
      if (!(error instanceof ConnectionLossError) || !error.isSent) throw refused('unreachable');
      if (!(await session.connected(untilNs))) throw error;
      const found = findsItsOwn ? await find(session, parent, owner) : undefined;
      if (found) return { ...found, owner, sentNs };
    }
  }
}

/**
 * What was made under this name. Once another server has taken the session over, nothing that it was asked for before is carried
 * out any more; and that server has all that was, after a sync.
 */
async function find(session: ZooSession, parent: string, owner: string) {
  await session.ask(sync(parent));
  const name = (await session.ask(getChildren(parent))).find((child) => child.startsWith(`${owner}-`));
  if (name === undefined) return undefined;
  const path = `${parent}/${name}`;
  const stat = await session.ask(setData(path, owner)).catch(unlessGone);
  return stat && { path, token: Number(stat.czxid) };
}

/**
 * Waits until nobody is before it. Rejects with a refusal where it is not, with a ConnectionLossError where that could not be
 * asked.
 */
export async function firstInLine(
  access: TopologyAccess,
  session: ZooSession,
  { path }: ZooPlace,
  { giveUpNs, untilNs, stop }: { giveUpNs: number; untilNs: number; stop: AbortSignal },
): Promise<void> {
  for (;;) {
    if (stop.aborted) throw refused('no-longer-asked');
    // Also one that is behind the others has whatever was there before this place was made.
    if (!(await session.connected(untilNs))) throw new ConnectionLossError('no server went on with the session', false);
    const before = await nextBefore(session, path).catch(unlessLost);
    if (before === FIRST) return;
    const leftMs = (giveUpNs - access.nowNs()) / 1e6;
    if (leftMs <= 0) throw refused('held');
    if (before === undefined) continue;
    const changed = session.changed(before);
    // Of the children that it has not: a watch on it would be told of every renewal.
    const isThere = await session.ask(getChildren(before, true)).then(() => true, unlessLost);
    if (isThere) await access.sleep(leftMs, AbortSignal.any([changed, stop]));
  }
}

/** What a new leader takes, beyond the command that found out that one is needed. */
const NEW_LEADER_MS = 2_000;

const FIRST = Symbol('nobody is before it');

async function nextBefore(session: ZooSession, path: string): Promise<string | typeof FIRST> {
  const parent = path.slice(0, path.lastIndexOf('/'));
  const own = numberOf(path);
  const names = await session.ask(getChildren(parent));
  const queue = names.filter((name) => /\d{10}$/.test(name)).sort((a, b) => numberOf(a) - numberOf(b));
  const at = queue.findIndex((name) => numberOf(name) === own);
  if (at < 0) throw refused('session-expired');
  return at === 0 ? FIRST : `${parent}/${queue[at - 1]!}`;
}

/** What it is asked about has gone, or the connection: to be asked anew. Anything else is thrown on. */
function unlessLost(error: unknown): undefined {
  return error instanceof ConnectionLossError ? undefined : unlessGone(error);
}

function unlessGone(error: unknown): undefined {
  if (error instanceof ZooError && error.code === NO_NODE) return undefined;
  throw error;
}

/**
 * Whether it is there: by a write, which a majority must have stored. A server that is cut off from the others answers for
 * a while, when all that it is asked is whether it is there. Rejects where that could not be asked.
 */
export async function isStillThere(
  access: TopologyAccess,
  session: ZooSession,
  { path, owner }: ZooPlace,
): Promise<boolean> {
  await session.connected(patient(access));
  try {
    await session.ask(setData(path, owner));
    return true;
  } catch (error) {
    if (error instanceof ZooError && error.code === NO_NODE) return false;
    throw error;
  }
}

/** Gives the place up: false, it was not there any more. In doubt it asks once more, and then rejects. */
export async function leave(access: TopologyAccess, session: ZooSession, { path }: ZooPlace): Promise<boolean> {
  const untilNs = patient(access);
  let mayBeDone = false;
  for (let tries = 2; ; tries--) {
    try {
      await session.ask(remove(path));
      return true;
    } catch (error) {
      if (error instanceof ZooError && error.code === NO_NODE) return mayBeDone;
      if (!(error instanceof ConnectionLossError) || tries === 1) throw error;
      mayBeDone ||= error.isSent;
      if (!(await session.connected(untilNs))) throw error;
    }
  }
}

/** Until when a session that has no server may look for one: as long as a new leader takes. */
export function patient({ nowNs, options }: TopologyAccess): number {
  return nowNs() + (NEW_LEADER_MS + options.commandTimeoutMs) * 1e6;
}

/** Grants nothing, so that nobody need know what became of it. */
async function makeParents(session: ZooSession, path: string): Promise<void> {
  const names = path.split('/').slice(1);
  for (let depth = 1; depth <= names.length; depth++) {
    try {
      await session.ask(create(`/${names.slice(0, depth).join('/')}`, '', PERSISTENT));
    } catch (error) {
      if (!(error instanceof ZooError) || error.code !== NODE_EXISTS) throw refused('unreachable');
    }
  }
}

function keyPath(key: string): string {
  return `/${key}`;
}

/** The server's own number, at the end of a name. */
function numberOf(name: string): number {
  return Number(name.slice(-10));
}
