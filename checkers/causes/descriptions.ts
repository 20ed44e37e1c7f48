/**
 * What each cause is called in a headline, whose mistake it is, and the piece of theory that says so.
 *
 * Promises: the lock is blamed where it did what no lock may do, whatever befell its clients and servers; the deployment
 * where a server lost or gave away what a lock had stored as it should; the lease where a client went on past it, which no
 * lock with a lease prevents. Of the deployment's it is said what prevents it, and what only makes it rarer.
 *
 * Where one cause can be either's, its `blame` looks at the finding; what that leaves open is unexplained. It is long because the
 * list of all causes is one.
 */

import { renewingClients } from '../../harness/record/facts/clients.js';
import { effectsOf } from '../../harness/record/facts/effects.js';
import { RECKONING_NS } from '../../harness/record/facts/key-writes.js';
import { majorityOf } from '../../harness/record/facts/quorum.js';
import { isInVirtualTime, ranUntold } from '../../harness/record/facts/ran.js';
import type { CheckInput } from '../../harness/vocabulary/run.js';
import type { Blame, CauseName, Hold, Violation } from '../../harness/vocabulary/verdict.js';

/** One cause. */
interface Description {
  /** A few words, to follow a comma in a headline. */
  phrase: string;
  blame: Blame | ((violation: Violation, input: CheckInput) => Blame);
}

const LOCKS = 'https://redis.io/docs/latest/develop/use/patterns/distributed-locks/';
const FENCING = 'https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html';

const lock = (theory: string, link: string): Blame => ({ on: 'lock', theory, link });
const deployment = (theory: string, link: string): Blame => ({ on: 'deployment', theory, link });
const lease = (theory: string): Blame => ({ on: 'lease', theory, link: FENCING });

/** Where nothing is proven. */
export const NOT_PROVEN: Blame = {
  on: 'unexplained',
  theory: 'Nothing proves whose mistake this is: it may be the lock’s.',
};

const GRANTED_WHEN_OVER = lock(
  'What is left of a lease is counted from when the request left, by a clock that is never set: a grant that comes when it is over is none.',
  LOCKS,
);

const SLEPT = lease(
  'A client that sleeps past its lease cannot know it when it goes on: no lock with a lease prevents that, and only a resource that checks fencing tokens contains it.',
);
const MUST_TELL = lock(
  'A client needs no network to read its clock: a lock that cannot renew must tell its client that it is lost before the lease is over.',
  FENCING,
);
const ITS_OWN_ONLY = 'A client may remove only what is its own: one script compares the owner and deletes.';

const descriptions: Record<string, Description> = {
  'failover-lost-write': {
    phrase: 'failover lost the write',
    blame: deployment(
      'Redis replicates after it has answered, so a failover may lose what was granted last: WAIT and min-replicas-to-write only make that rarer; a majority of independent nodes, which needs no replication, prevents it.',
      'https://redis.io/docs/latest/commands/wait/',
    ),
  },
  'granted-unacknowledged': {
    phrase: 'it was granted though no replica had it',
    blame: lock(
      'WAIT answers how many replicas have what was stored, and no error where too few do: a lock that asks for them must look at the answer.',
      'https://redis.io/docs/latest/commands/wait/',
    ),
  },
  'failover-lost-renewal': {
    phrase: 'failover lost the renewal',
    blame: deployment(
      'Redis replicates after it has answered, so a failover may lose the renewal that was granted last: WAIT and min-replicas-to-write only make that rarer; a majority of independent nodes, which needs no replication, prevents it.',
      'https://redis.io/docs/latest/commands/wait/',
    ),
  },
  'split-brain': {
    phrase: 'two nodes took themselves for primary',
    blame: deployment(
      'A primary that was replaced goes on granting until it learns of it: min-replicas-to-write ends that after min-replicas-max-lag and so only makes it rarer; a majority of independent nodes prevents it.',
      'https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/',
    ),
  },
  'node-forgot': { phrase: 'a node forgot it', blame: forgetting },
  evicted: {
    phrase: 'a full server evicted it',
    blame: deployment(
      'A full server throws keys away by its maxmemory-policy, those of locks that are held among them: noeviction prevents it.',
      'https://redis.io/docs/latest/develop/reference/eviction/',
    ),
  },
  'clock-jumped': {
    phrase: 'a clock jumped',
    blame: deployment(
      'A server ends a lease by its own wall clock: one that is slewed and never stepped prevents that; a majority of nodes outvotes a clock that is wrong, unless that node was needed for the majority, and so only makes it rarer.',
      FENCING,
    ),
  },
  'clock-ran-fast': {
    phrase: 'a clock ran fast',
    blame: deployment(
      'A server ends a lease by its own wall clock: a client that stops well before its lease ends, by more than clocks drift in that time, prevents that; watching the clocks of servers only makes it rarer.',
      FENCING,
    ),
  },
  'released-by-other': { phrase: 'somebody else released it', blame: removing },
  'released-by-itself': {
    phrase: 'its own client removed it',
    blame: lock(
      'A release may remove only the hold that it ends, so no two grants may have the same owner value; and what could not be extended is not given away before its holder has been told.',
      LOCKS,
    ),
  },
  'shortened-by-other': {
    phrase: 'another client shortened it',
    blame: lock(
      'Nobody may give what another holds less time than it has: a key of several holders lasts as long as the longest of them.',
      LOCKS,
    ),
  },
  'shared-owner': {
    phrase: 'both used the same owner value',
    blame: lock(
      'The owner value must be unlike that of any other grant: a script that compares two equal ones takes one client for the other.',
      LOCKS,
    ),
  },
  overwritten: {
    phrase: 'it was overwritten',
    blame: lock(
      'A lock may be taken only where there is none: SET with NX, or a script, transaction or statement that looks when it writes.',
      LOCKS,
    ),
  },
  'removed-early': {
    phrase: 'what was stored for its holder was removed',
    blame: lock(
      'A stored hold stays until its holder releases it or its lease is over: a client may remove only its own, and the server must compare it as it removes it.',
      FENCING,
    ),
  },
  'session-expired': {
    phrase: 'its session had expired and another was kept alive',
    blame: lock(
      'A hold ends with its session: a client that reconnects must check whether the server continued that session, or began a new one that holds nothing.',
      'https://zookeeper.apache.org/doc/current/zookeeperProgrammers.html#ch_zkSessions',
    ),
  },
  'session-lost': {
    phrase: 'the session was lost with its server',
    blame: deployment(
      'A lock that goes with a session lives in the memory of one server, and goes with that server, too: no replica knows of it. A record that a majority keeps, or a row that is replicated before it is answered, prevents that.',
      'https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS',
    ),
  },
  'failover-lost-row': {
    phrase: 'failover lost the row',
    blame: deployment(
      'A database that replicates after it has answered may lose with its primary what it answered last: replication that a commit waits for (synchronous_standby_names, rpl_semi_sync) prevents it.',
      'https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION',
    ),
  },
  'failover-lost-extension': {
    phrase: 'failover lost the extension of a row',
    blame: deployment(
      'A database that replicates after it has answered may lose with its primary the time that a row was given last: replication that a commit waits for (synchronous_standby_names, rpl_semi_sync) prevents it.',
      'https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION',
    ),
  },
  'local-to-one-server': {
    phrase: 'the lock is of a single server and two were asked',
    blame: lock(
      'Locks of a session (advisory locks, GET_LOCK) are of the server that granted them and are not replicated: all clients must ask the same one.',
      'https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS',
    ),
  },
  'taken-over-by-clock': {
    phrase: 'a client took it over by its own clock',
    blame: lock(
      'Whether a lease is over the server says that keeps it: a client may not find it past by a clock of its own, which may be wrong.',
      FENCING,
    ),
  },
  'lease-too-short': {
    phrase: 'the server was asked for a shorter lease',
    blame: lock(
      'The server must be asked for the lease that the client is given, in the unit of the command: EX takes seconds, PX milliseconds. A time of 0 deletes the key.',
      'https://redis.io/docs/latest/commands/set/',
    ),
  },
  'minority-granted': {
    phrase: 'too few nodes granted it',
    blame: lock(
      'Of independent nodes more than half must have granted a lock, or all that it is made of: only then any two grants share a node.',
      LOCKS,
    ),
  },
  'never-granted': {
    phrase: 'no server had granted it',
    blame: lock(
      'A client holds what a server has stored for it: neither a refusal, nor an error, nor an aborted transaction, nor the memory of an earlier grant is a grant.',
      'https://redis.io/docs/latest/commands/set/',
    ),
  },
  'adopted-stale-key': {
    phrase: 'its own earlier key was taken for a grant',
    blame: lock(
      'A key that an earlier attempt left lasts for the rest of that attempt’s lease: each attempt needs a value of its own, or must set the expiry anew.',
      LOCKS,
    ),
  },
  'token-drawn-early': {
    phrase: 'the token was drawn before the lock was waited for',
    blame: lock(
      'Tokens must rise from grant to grant: one that is drawn before the lock is waited for tells when its client asked, and not when it was granted.',
      FENCING,
    ),
  },
  'counter-expired': {
    phrase: 'the counter of tokens expired',
    blame: lock(
      'Tokens must rise for as long as the resource remembers them: what counts them may not expire, however short the lease is.',
      FENCING,
    ),
  },
  'counter-removed': {
    phrase: 'the counter of tokens was removed',
    blame: lock(
      'Tokens must rise for as long as the resource remembers them: no release and no try may remove what counts them.',
      FENCING,
    ),
  },
  'asking-unasked': {
    phrase: 'nobody had sent its client to that node',
    blame: lock(
      'ASKING is for the one command that a node has sent elsewhere (ASK): a node that awaits a slot does not know what its owner still has.',
      'https://redis.io/docs/latest/commands/asking/',
    ),
  },
  'count-expired': {
    phrase: 'the number of its holders expired',
    blame: lock(
      'The record that counts a lock’s holders must last as long as the longest lease among them: each new holder prolongs it, and nobody shortens it.',
      LOCKS,
    ),
  },
  'returned-too-often': {
    phrase: 'a client gave back more than it had taken',
    blame: lock(
      'A lock that counts permits cannot tell one return from two: a permit needs a name that a second return does not find.',
      LOCKS,
    ),
  },
  'client-paused': { phrase: 'the client was paused', blame: SLEPT },
  'client-cut-off': {
    phrase: 'the client was cut off',
    blame: (violation, input) => (wentOnAwake(violation, input) ? MUST_TELL : NOT_PROVEN),
  },
  'not-told': { phrase: 'its lock did not tell it', blame: MUST_TELL },
  'client-slow': {
    phrase: 'the client took longer than its lease',
    blame: lease(
      'Work took longer than the lease: a longer lease or its renewal makes that rarer; only a resource that checks fencing tokens contains it.',
    ),
  },
  'loss-ignored': {
    phrase: 'the client went on although its lock had refused to extend',
    blame: lease(
      'Its lock had told the client that it does not have the key any more: what works on all the same only a resource that checks fencing tokens contains.',
    ),
  },
  'granted-late': { phrase: 'the acquire outlived its lease', blame: grantedWhenOver },
  'key-never-expires': {
    phrase: 'the key never expires',
    blame: lock(
      'A key without expiry outlives a client that dies: one command must store the key and its expiry.',
      'https://redis.io/docs/latest/commands/setnx/',
    ),
  },
  'outlives-its-lease': {
    phrase: 'the key was stored for longer than the lease',
    blame: lock(
      'A key that lasts for longer than the lease keeps all others out when its client has died: what the server is asked for must be the lease.',
      'https://redis.io/docs/latest/commands/set/',
    ),
  },
  'prolonged-for-others': {
    phrase: "others prolonged a gone client's key",
    blame: lock('Only what its own client still holds may be prolonged, and only by that client.', LOCKS),
  },
  'prolonged-too-long': {
    phrase: 'it was prolonged when its client had gone',
    blame: lock('A renewal must end with the hold that it renews.', LOCKS),
  },
  'queue-head-gone': {
    phrase: 'the head of the queue is gone',
    blame: lock(
      'A queue must not wait for those who died or gave up: a place is taken back, or ends by itself.',
      'https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks',
    ),
  },
  'granted-past-queue': {
    phrase: 'it was granted past the queue',
    blame: lock(
      'A fair lock grants in the order of its queue: a newcomer may not take it while another’s place stands there.',
      'https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks',
    ),
  },
  'place-removed': {
    phrase: 'another client took its place out of the queue',
    blame: lock(
      'A place in a queue lasts until its client leaves, or its declared time is over: nobody else may take it away before.',
      'https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks',
    ),
  },
  'place-expired': {
    phrase: 'its place in the queue ended before its time',
    blame: lock(
      'A place in a queue lasts until its client leaves, or its declared time is over: the queue must be there for as long.',
      'https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks',
    ),
  },
  'granted-beside': {
    phrase: 'it was granted beside a holder that its record named',
    blame: lock(
      'A client may be granted a lock only if the record names nobody whom that excludes: a reader that wants to write must wait for all others to let go.',
      LOCKS,
    ),
  },
  'granted-nobody': {
    phrase: 'it granted nobody anything',
    blame: NOT_PROVEN,
  },
  'script-unknown': {
    phrase: 'the server does not know its script',
    blame: lock(
      'A server that restarts, or is promoted, need not know a script that was loaded before: a call by digest that it refuses (NOSCRIPT) must be made with the script.',
      'https://redis.io/docs/latest/develop/programmability/eval-intro/',
    ),
  },
  'stored-again': {
    phrase: 'it was stored again after it had been given back',
    blame: lock(
      'A client must end every request that stores its lock, above all a renewal, before it releases the lock: a later one stays stored until its lease ends.',
      LOCKS,
    ),
  },
  'released-meanwhile': {
    phrase: 'its own client had just released it',
    blame: lock(
      'A renewal must end with its hold: one that comes after the release finds nothing, and that is no loss.',
      LOCKS,
    ),
  },
  'went-on-trying': {
    phrase: 'the lock went on trying',
    blame: lock('A try must end when its wait is over, whatever it still means to send.', LOCKS),
  },
  unexplained: { phrase: 'unexplained', blame: NOT_PROVEN },
};

/** A few words for a cause, to follow a comma in a headline. */
export function causePhrase(name: CauseName): string {
  return descriptionOf(name)?.phrase ?? name.replaceAll('-', ' ');
}

/** Whom the violation's cause blames. */
export function blameByCause(violation: Violation, input: CheckInput): Blame {
  const { blame = NOT_PROVEN } = descriptionOf(violation.cause.name) ?? {};
  return typeof blame === 'function' ? blame(violation, input) : blame;
}

/** Whom a cause always blames; undefined: that depends on the finding. */
export function fixedBlame(name: CauseName): Blame | undefined {
  const blame = descriptionOf(name)?.blame;
  return typeof blame === 'function' ? undefined : blame;
}

/** Every cause that there is. */
export const CAUSES: readonly CauseName[] = Object.keys(descriptions);

function descriptionOf(name: CauseName): Description | undefined {
  return Object.hasOwn(descriptions, name) ? descriptions[name] : undefined;
}

/** What prevents it depends on what was chosen: a log that was synced with every write does not help where the disk was lost. */
function forgetting(_: Violation, { config, history }: CheckInput): Blame {
  const theory =
    config.topologyOptions.persistence === 'aof-always'
      ? 'What is synced with every write (`aof-always`) survives a restart, but not the loss of the disk: that only a majority of nodes, most of which keep theirs, prevents.'
      : majorityOf(history) === undefined
        ? 'A server that restarts comes back with what it had saved: `aof-always` ends forgetting by restart, though not by the loss of a disk; any other persistence only makes it rarer.'
        : 'A node that restarts without what it had granted votes a second time: `aof-always` ends forgetting by restart, though not by the loss of a disk; keeping a node that restarted away for as long as a lease prevents both.';
  return deployment(theory, 'https://redis.io/docs/latest/operate/oss_and_stack/management/persistence/');
}

/** A command from outside the lock's clients is not the lock's doing: the cause cites it, and the record tells who sent it. */
function removing({ cause }: Violation, { observations }: CheckInput): Blame {
  const byStranger = cause.chain.some(({ observation }) => {
    const seen = observation === undefined ? undefined : observations.line(observation);
    return seen?.type === 'command' && seen.client === undefined && seen.source !== 'lua';
  });
  return byStranger
    ? deployment(
        'No client of this lock removed the key: whoever may delete keys can end any lock, and access rules (ACL) prevent that.',
        'https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/',
      )
    : lock(ITS_OWN_ONLY, LOCKS);
}

/**
 * A client may have been stopped just after its lock had looked at the clock, by a fault or because a busy machine did not run it.
 * That cannot be where servers granted it only when the lease was over: the cause then cites what they carried out. Nor in virtual time,
 * where none but faults stop a client, if it ran from the lease's end on. A wall clock that was set back meanwhile is no excuse.
 */
function grantedWhenOver({ holds, cause }: Violation, input: CheckInput): Blame {
  if (cause.chain.some(({ observation }) => observation !== undefined)) return GRANTED_WHEN_OVER;
  const late = holds.filter(({ fromNs, leaseEndNs }) => fromNs > leaseEndNs);
  if (late.some(({ client, leaseEndNs }) => mayHaveSlept(client, leaseEndNs, leaseEndNs, input))) return SLEPT;
  return isInVirtualTime(input.history) && late.length > 0 && late.every((hold) => sawItsEnd(hold, input))
    ? GRANTED_WHEN_OVER
    : NOT_PROVEN;
}

/** Whether its lock could see that the lease was over, even if it reckons in whole milliseconds. */
function sawItsEnd({ client, fromNs, leaseEndNs }: Hold, input: CheckInput): boolean {
  const isAwake = !mayHaveSlept(client, leaseEndNs, fromNs, input);
  return isAwake && fromNs - leaseEndNs > RECKONING_NS;
}

/**
 * Whether the stale holder of an overlap certainly ran when its lease was over, and was not stopped meanwhile, with a lock that renews
 * by itself: what its client is to prolong, that client hears of.
 */
function wentOnAwake({ holds, fromNs }: Violation, input: CheckInput): boolean {
  const stale = holds.filter(({ leaseEndNs }) => leaseEndNs <= fromNs);
  const renewing = renewingClients(input.history);
  return stale.some(
    (hold) =>
      renewing.has(hold.client) &&
      ranUntold(hold, input.history) !== undefined &&
      !mayHaveSlept(hold.client, hold.leaseEndNs, hold.untilNs, input),
  );
}

function mayHaveSlept(client: string, fromNs: number, untilNs: number, { history }: CheckInput): boolean {
  const effects = effectsOf(history);
  return [...effects.on('stopped', client), ...effects.on('slowed', client)].some(
    ({ earliestNs, latestNs }) => earliestNs <= untilNs && latestNs >= fromNs,
  );
}
