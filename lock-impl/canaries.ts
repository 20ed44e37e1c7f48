/**
 * Locks with one mistake each, and beside each a twin that has one mistake less and is otherwise the same: they test the tool,
 * which must catch the one and not accuse the other of it.
 */
import { type BuiltinLock, ONE_SERVER, ONE_TRY, WITH_EXTEND } from './builtin-lock.js';

const replicated = ['replica', 'sentinel'] as const;
const independent = ['redlock'] as const;

const readWrite = ONE_TRY.map((form) => `readLock/writeLock ${form}`);

/** A canary and its twin, which are modules of the same name in `broken/`. */
interface Pair {
  topologies: readonly string[];
  forms: readonly string[];
  /** What it does, and what goes wrong by it. */
  summary: string;
  claims: string;
  /** What the twin does instead, and what may be expected of that. */
  mended: string;
  mendedClaims: string;
}

const pairs: Record<string, Pair> = {
  'blind-del': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'releases with a plain DEL',
    claims: 'an expired holder deletes the lock of the next',
    mended: 'the same, releasing only what is its own',
    mendedClaims: 'exclusion; a holder that outlives its lease is stale',
  },
  'lease-in-seconds': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'gives PX seconds instead of milliseconds',
    claims: 'the lock ends a thousand times too early',
    mended: 'the same, with milliseconds',
    mendedClaims: 'exclusion',
  },
  'half-quorum': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock that takes half of the nodes for a majority',
    claims: 'two clients that start at once both hold',
    mended: 'the same, with more than half',
    mendedClaims: 'exclusion',
  },
  'shared-owner': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'one owner id for all clients',
    claims: 'everybody takes the lock for its own',
    mended: 'the same, with an owner id for each client',
    mendedClaims: 'exclusion',
  },
  'pid-owner': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'the process id as owner',
    claims: 'in containers, where process ids are alike, each client takes the lock for its own',
    mended: 'the same, with an owner id that was drawn',
    mendedClaims: 'exclusion',
  },
  'no-validity-check': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock that does not look at how long it took',
    claims: 'a majority that comes together when its lease is over is granted, while another client holds',
    mended: 'the same, with what has passed off the lease',
    mendedClaims: 'exclusion; such a grant is refused as granted-late',
  },
  'wall-clock-validity': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock that measures its validity by the wall clock',
    claims: 'a clock that is set back while the nodes are asked grants what came too late',
    mended: 'the same, by the monotonic clock',
    mendedClaims: 'exclusion, whatever becomes of the clock of the client',
  },
  'release-where-acquired': {
    topologies: independent,
    forms: ONE_TRY,
    summary: 'Redlock whose failed tries give back only what they know that they got',
    claims: 'a node whose answer was lost stays taken for a lease, though no client holds',
    mended: 'the same, giving back to all that were asked',
    mendedClaims: 'a failed try leaves nothing behind on nodes that can be reached',
  },
  'reused-owner': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'one owner value for all that a client ever takes',
    claims: 'the late release of an expired hold frees a later one of the same client',
    mended: 'the same, with a value for each try',
    mendedClaims: 'exclusion; a late release is refused',
  },
  'renewal-unchecked': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a background renewal by a plain PEXPIRE',
    claims: 'a client that was paused for a lease renews the lock of the next, and believes to hold',
    mended: 'the same, renewing only what is its own',
    mendedClaims: 'exclusion; a paused client is a stale holder until its next renewal',
  },
  'renewal-recreates': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a background renewal that makes a key again which is gone',
    claims: 'a client that was paused goes on as if no other had held meanwhile',
    mended: 'the same, to which a key that is gone is lost',
    mendedClaims: 'exclusion; a paused client is a stale holder until its next renewal',
  },
  'watchdog-dies': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a watchdog that ends with the first renewal that fails',
    claims: 'after one failed renewal the lock expires under its holder, who is not told',
    mended: 'the same, trying again at the next tick',
    mendedClaims: 'one failed renewal costs nothing',
  },
  'swapped-arguments': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a reentrant unlock that looks at one argument and counts down another',
    claims: 'never unlocks, and says that it did; the watchdog keeps it for ever',
    mended: 'the same, counting down what it looks at',
    mendedClaims: 'exclusion; every unlock counts',
  },
  'negative-expiry': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'converts "no lease given", which is -1, as if it were a lease',
    claims: 'the key is deleted by its own expiry; everybody is granted',
    mended: 'the same, comparing before it converts',
    mendedClaims: 'exclusion',
  },
  'count-not-reset': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a reentrant lock whose count is kept in the memory of its client',
    claims: 'after a lease that ran out the next lock of that client is granted as nested, beside any holder',
    mended: 'the same, with the count on the server, where it expires with the lock',
    mendedClaims: 'exclusion; a holder that outlives its lease is stale',
  },
  'lost-wake-up': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a waiter that sleeps until an unlock is published',
    claims: 'when a holder dies no waiter is woken: they sleep beside a free lock until their wait is over',
    mended: 'the same, looking again when the lease of the holder is over',
    mendedClaims: 'a lost wake-up costs one lease at most',
  },
  'queue-jumper': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a fair lock with a fast path for newcomers',
    claims: 'who comes between a release and the one who is next gets in before the whole queue',
    mended: 'the same without the fast path',
    mendedClaims: 'first come first served',
  },
  'upgrade-beside-readers': {
    topologies: ONE_SERVER,
    forms: readWrite,
    summary: 'a read-write lock that lets any reader write',
    claims: 'two readers that upgrade are two writers',
    mended: 'the same, letting only a reader write who is alone',
    mendedClaims: 'exclusion; two readers that want to upgrade wait for each other',
  },
  'fence-per-client': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'fencing tokens that each client counts for itself',
    claims: 'a later grant gets a lower token, or the same; the resource takes the stale holder for the newer one',
    mended: 'the same, with one counter beside the lock',
    mendedClaims: 'rising tokens as long as the server keeps the counter',
  },
  'permit-returned-twice': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a semaphore whose permits are returned by their holder and by a timer',
    claims: 'one lease after the first release there are more permits than there should be',
    mended: 'the same, returning each once',
    mendedClaims: 'never more than two hold; a permit may be lost',
  },
  'extend-expired': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'extends by setting the key again, whatever is in it',
    claims: 'an expired holder extends, and takes the lock away from the next',
    mended: 'the same, extending only what is its own',
    mendedClaims: 'exclusion; a late extension is refused',
  },
  'silent-unlock': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'compares before it releases, and reports success in any case',
    claims: 'exclusion; a holder that outlived its lease is not told',
    mended: 'the same, passing on what the comparison said',
    mendedClaims: 'exclusion; a late release is refused',
  },
  'one-acknowledgement': {
    topologies: replicated,
    forms: ONE_TRY,
    summary: 'SET NX PX, then WAIT for one of two replicas',
    claims: 'the replica that did not acknowledge is promoted, and gives the lock to the next client',
    mended: 'the same, waiting for both',
    mendedClaims: 'a failover to either of two replicas keeps the grant; while one is away nothing is granted',
  },
  'refusal-ignored': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'takes whatever SET NX answers for a yes',
    claims: 'every client takes itself for the holder, and only the first one was ever stored',
    mended: 'the same, looking at the answer',
    mendedClaims: 'exclusion',
  },
  'aborted-exec': {
    topologies: ['single', 'replica', 'sentinel'],
    forms: WITH_EXTEND,
    summary: 'takes the lock by WATCH, MULTI and EXEC, and does not look at what EXEC answers',
    claims: 'of two clients that ask at once both take themselves for the holder, and only one was ever stored',
    mended: 'the same, looking at the answer',
    mendedClaims: 'exclusion',
  },
  'granted-from-memory': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'remembers which locks it has, and forgets none',
    claims: 'after its first grant of a key a client takes itself for the holder without asking',
    mended: 'the same, asking each time',
    mendedClaims: 'exclusion',
  },
  'adopted-key': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'takes a key that it stored before it died for a new grant',
    claims: 'the key ends in the midst of the lease that is claimed, and another client is granted it',
    mended: 'the same, giving that key a whole lease',
    mendedClaims: 'exclusion; who comes back soon enough goes on',
  },
  'token-before-wait': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'draws its fencing token before it waits for the lock',
    claims: 'a later grant has a lower token, and the resource refuses its lawful holder',
    mended: 'the same, drawing it in the script that takes the lock',
    mendedClaims: 'rising tokens as long as the server keeps the counter',
  },
  'wall-clock-stamps': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'a sound lock that says by the wall clock when its attempt left',
    claims: 'its answers contradict themselves, so that they prove nothing',
    mended: 'the same, by the monotonic clock',
    mendedClaims: 'exclusion',
  },
  'overstayed-try': {
    topologies: ONE_SERVER,
    forms: WITH_EXTEND,
    summary: 'tries twice, three seconds apart, whatever wait it was given',
    claims: 'a try without a wait is answered after seconds',
    mended: 'the same, with as many tries as fit into the wait',
    mendedClaims: 'exclusion, and an answer in time',
  },
  'abandoned-ticket': {
    topologies: ONE_SERVER,
    forms: ONE_TRY,
    summary: 'a queue in which those who give up leave their ticket',
    claims: 'when that ticket comes to the head, the free lock is granted to no client',
    mended: 'the same, taking the ticket back',
    mendedClaims: 'exclusion; everyone is granted in turn as long as no client dies',
  },
};

export const canaries: Record<string, BuiltinLock> = Object.fromEntries(
  Object.entries(pairs).flatMap(([name, pair]) => [
    entry(name, pair, pair.summary, pair.claims),
    entry(`${name}-mended`, pair, pair.mended, pair.mendedClaims),
  ]),
);

function entry(name: string, { topologies, forms }: Pair, summary: string, claims: string): [string, BuiltinLock] {
  const module = `./broken/${name}.js` as const;
  return [`broken/${name}`, { module, family: 'canary', forms, summary, claims, topologies, canary: true }];
}
