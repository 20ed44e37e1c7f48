/**
 * How this run's lock stores a grant, as its grants show it: by a command of the client itself, within the attempt that was
 * granted, under keys named after the resource; and whose the owners are that were stored so.
 *
 * Example: each of 40 grants stored a value of its own under `app:lock:0` by a SET that its client sent between the leaving of
 * the attempt and the answer. Then `app:lock:0` is where this lock keeps a grant, and the value that c1 stored there is c1's.
 */
import { type Change, type KeyChanges, ownersBy, stores } from '../../harness/record/facts/commands/changes.js';
import type { ServerReading } from '../../harness/record/facts/commands/server-reading.js';
import { isScript } from '../../harness/record/facts/commands/table.js';
import type { Evidence } from '../../harness/record/facts/evidence.js';
import { firstIndex } from '../../harness/record/facts/first-index.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { appendTo } from '../../harness/record/facts/listed-by-name.js';
import type { CommandObservation } from '../../harness/vocabulary/history.js';
import type { Hold } from '../../harness/vocabulary/verdict.js';

/** Something that a client stored on a server under a key, by a name of its own. */
export interface NamedStore {
  readonly key: string;
  readonly name: string;
  /** Line of observations.jsonl. */
  readonly line: number;
  readonly atNs: number;
  /** By the server's own clock. */
  readonly serverWallMs: number;
}

/** An owner that a client stored itself, in the attempt that was granted. */
export interface OwnStore {
  readonly node: string;
  readonly key: string;
  /** The key's name with the resource left out: what the names of all resources' keys have in common. */
  readonly form: string;
  readonly owner: string;
  /** Line of observations.jsonl. */
  readonly line: number;
  /** That of the request: the command, or the script that called it. */
  readonly request: number;
  /** Whether it was certainly stored for this hold, and not when that was released, say, or in a try before, and read late. */
  readonly inTime: boolean;
}

/**
 * A command is read so late at the most while harness and machine run; and stamps of servers are on the run's clock only as
 * well as the machine's wall clock keeps up with it.
 */
export const READ_WITHIN_NS = 1e9;
/** By more than this the two do not part unsaid. */
export const PARTED_NS = 10e6;
/** A lock that has more keys for one resource (one for each try, say) is not followed. */
const MOST_KEYS = 32;

/** What the client stored on any node in the attempt that was granted, and what nothing removed before the answer. */
export function ownStoresOf(hold: Hold, evidence: Evidence, related: RelatedKeys): OwnStore[] {
  return evidence.nodes.flatMap((node) => {
    const reading = evidence.readingOf(node);
    const keys = reading ? related.of(hold.key, reading) : undefined;
    return reading && keys ? keys.flatMap((key) => storedUnder(key, node, reading, hold)) : [];
  });
}

function storedUnder(key: string, node: string, reading: ServerReading, hold: Hold): OwnStore[] {
  const { client, fromNs, untilNs, grantSentNs } = hold;
  const changes = reading.changes(key);
  const own = storesByClient(changes).get(client) ?? [];
  const stored: OwnStore[] = [];
  for (let n = firstIndex(own.length, (of) => own[of]!.change.atNs >= grantSentNs - RECKONING_NS); own[n]; n++) {
    const { at, change } = own[n]!;
    const { atNs, ranFromNs, line, after, by } = change;
    // What ran after the answer is of a later try, and then the answer rests on nothing.
    if (ranFromNs > fromNs + PARTED_NS) break;
    const ranByNs = Math.min(atNs, ranFromNs + PARTED_NS);
    const inTime = ranFromNs <= fromNs && ranByNs <= untilNs && ranByNs >= grantSentNs - RECKONING_NS;
    for (const owner of ownersBy(after, line))
      if (staysUntil(fromNs, owner, changes.list, at + 1))
        stored.push({
          node,
          key,
          form: key.split(hold.key).join('*'),
          owner,
          line,
          request: by?.script?.line ?? line,
          inTime,
        });
  }
  return stored;
}

/**
 * Whether what came to a server by `copiedNs`, from its primary say, is what one of these clients stored: the last client that was seen
 * to store it under that key, on any node, was one, and none is missing since. What two servers print is read in any order: so one
 * counts that may have run by then.
 */
export function isCopyOf(
  { key, owner }: Pick<OwnStore, 'key' | 'owner'>,
  copiedNs: number,
  isOne: (client: string) => boolean,
  evidence: Evidence,
): boolean {
  const stores = evidence.nodes.flatMap((node) =>
    (evidence.readingOf(node)?.changes(key).list ?? []).filter(
      ({ by, applied, after, wanted, line, ranFromNs }) =>
        by?.client !== undefined &&
        applied !== 'no' &&
        ranFromNs <= copiedNs &&
        ownersBy(wanted ?? after, line).includes(owner),
    ),
  );
  const last = stores.reduce<Change | undefined>(
    (one, other) => (one && one.atNs > other.atNs ? one : other),
    undefined,
  );
  if (!last || !isOne(last.by!.client!)) return false;
  return evidence.nodes.every((node) => evidence.watchedThroughout(node, last.atNs, copiedNs));
}

/** The command; of a script with how many keys and arguments, for the same one is sent by its text and by its hash. */
export function formOf({ argv }: CommandObservation): string {
  const name = argv[0]!.toUpperCase();
  return isScript(name) ? `script ${argv[2]} ${argv.length}` : name;
}

/** Whether nothing from that place in the list on had certainly removed the owner by then. */
function staysUntil(untilNs: number, owner: string, list: readonly Change[], from: number): boolean {
  for (let at = from; at < list.length && list[at]!.atNs <= untilNs; at++)
    if (stores(list[at]!.after, owner) === 'no') return false;
  return true;
}

/** A change, and its place among all that became of its key. */
interface Placed {
  readonly at: number;
  readonly change: Change;
}

const byClient = new WeakMap<KeyChanges, Map<string, Placed[]>>();

/** By client, what its own commands certainly stored under a key. */
function storesByClient(changes: KeyChanges): ReadonlyMap<string, readonly Placed[]> {
  let known = byClient.get(changes);
  if (!known) {
    known = new Map();
    for (const [at, change] of changes.list.entries()) {
      const { by, applied, after, line } = change;
      if (applied !== 'yes' || by?.client === undefined) continue;
      if (ownersBy(after, line).length > 0) appendTo(known, by.client, { at, change });
    }
    byClient.set(changes, known);
  }
  return known;
}

/** The keys of servers by the resource that they are named after. */
export class RelatedKeys {
  private readonly byReading = new WeakMap<ServerReading, Map<string, string[]>>();

  /** `resources`: the keys that the run's clients asked for. */
  constructor(private readonly resources: readonly string[]) {}

  /** All keys of a server that are named after a resource; undefined: they cannot all be looked at. */
  of(resource: string, reading: ServerReading): readonly string[] | undefined {
    let known = this.byReading.get(reading);
    if (!known) {
      known = this.sorted(reading);
      this.byReading.set(reading, known);
    }
    const keys = known.get(resource) ?? [];
    return keys.length > MOST_KEYS || known.has(ELSEWHERE) ? undefined : keys;
  }

  private sorted(reading: ServerReading): Map<string, string[]> {
    const sorted = new Map<string, string[]>();
    if (reading.usesOtherDatabases()) sorted.set(ELSEWHERE, []);
    for (const key of reading.keys()) {
      const resource = this.resourceOf(key);
      if (resource === undefined) continue;
      const keys = sorted.get(resource) ?? [];
      keys.push(key);
      sorted.set(resource, keys);
    }
    return sorted;
  }

  /** The longest that the name contains: `lock:1:queue` is of `lock:1`, and `lock:10` is not. */
  private resourceOf(key: string): string | undefined {
    let longest: string | undefined;
    for (const one of this.resources) if (key.includes(one) && one.length > (longest?.length ?? 0)) longest = one;
    return longest;
  }
}

/** No resource has this name: the server was seen to use other databases, too. */
const ELSEWHERE = '';
