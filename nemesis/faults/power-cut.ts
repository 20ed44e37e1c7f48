/**
 * A server's host loses power: everything on it dies at once, and of its files only what had been synced is there when it
 * starts again. What the server had written and not synced, which a killed process leaves to its kernel, is gone.
 *
 * Excludes disks that lose what they said they had synced.
 */
import type { FaultEffect } from '../../harness/vocabulary/history.js';
import type { FileAfterPowerCut, PowerCut } from '../../harness/vocabulary/host.js';
import { Refusal, waitFor } from '../levers/basics.js';
import { InForce } from '../levers/in-force.js';
import { killForgets, type NemesisContext, type NemesisFault } from '../striking/context.js';
import { GrantWatch } from '../striking/grants.js';
import { isNode, namesOf, resolveTarget, type StruckNode } from '../striking/targets.js';
import { mustBeOneOf } from './args.js';
import { killDown } from './take-down.js';

const MODES: readonly PowerCut['mode'][] = ['exact', 'torn', 'zeros'];
const SEED_MAX = 2 ** 31 - 1;
/** A hold that has lasted this part of its lease is none of those that are over in a moment. */
const FRESH_PARTS = 0.03;
const POLL_MS = 5;

export const powerCut: NemesisFault = {
  name: 'power-cut',
  summary: 'a server loses power: it dies, and of its files only what was synced is there when it starts again',
  explained: {
    does: 'SIGKILL to servers and their children; then the files of each are made what they are after a power cut, and it starts again when healed. A preloaded library has recorded what was synced: sizes as they were before the sync was asked for, and names with the order that the journal of ext4 or XFS gives them, so an undone rename gives the old file back. Where it may forget (every `--persistence` but `aof-always`) no more than a minority may lose power within one lease, and a primary stays down until it has been replaced. With `zeros` a server may refuse to start: then its log is mended with `redis-check-aof --fix`, and the heal says so.',
    proof:
      'Each process is read back as dead, with its threads and children; the sizes of all its files before and after, and what was durable of them, are in the record. The restart is proved by its PONG. Refused where the server did not load the library (static, setuid).',
    breaks:
      'With `appendfsync everysec` what was granted in the last second, also what the server had not written yet because a sync was under way: exclusion (`node-forgot`) on a single server, and on independent nodes where a bare majority had granted. `aof-always` syncs before it answers and forgets nothing; `WAITAOF 1 0` waits for that lock by lock.',
  },
  effects: ['killed', 'lost-power', 'forgot'],
  targets: ['primary', 'one', 'minority', 'replica', 'sentinel', 'majority', 'all'],
  strikes: ['node', 'sentinel'],
  needs: ['disk', 'process'],
  args: {
    mode: {
      means:
        'what becomes of what was not synced: `exact`, all of it is gone (if not given); `torn`, each file keeps some of it; `zeros`, files have their full size and some of their last pages are zeros',
      check: mustBeOneOf(MODES),
    },
    when: {
      means:
        '`grant`: right after a lock was granted that is held for longer than a moment (3 % of the lease), within one lease; if not given: at once',
      check: mustBeOneOf(['grant']),
    },
  },
  unfit: () => undefined,
  shape: () => ({
    lane: 'servers',
    // Back well within the lease of what was lost.
    forMs: { min: 50, max: 400 },
    leastMs: 50,
    settleMs: 1_500,
    args: { mode: ['exact', 'torn'], when: ['grant'] },
  }),
  async strike({ args = {}, target }, context) {
    const struck = (await resolveTarget({ target }, context)).filter(isNode);
    await mustBeRecorded(struck);
    if (args.when === 'grant') await freshHold(context);
    const mode = (args.mode as PowerCut['mode'] | undefined) ?? 'exact';
    return InForce.strike(async (inForce) => {
      const down = await inForce.add(killDown(struck, killForgets(context.persistence), context));
      const cuts = struck.map((one) => losePower(one, { mode, seed: context.random.int(0, SEED_MAX) }, context));
      const lost = await Promise.all(cuts);
      return {
        record: {
          targets: namesOf(struck),
          did: lost.map(({ did }) => did).join('; '),
          proof: [down.proof, ...lost.map(({ proof }) => proof)].join('; '),
          effects: [...down.effects, ...lost.flatMap(({ effects }) => effects)],
        },
        heal: () => inForce.heal(),
      };
    });
  },
};

async function mustBeRecorded(struck: readonly StruckNode[]): Promise<void> {
  for (const { name, node } of struck) {
    const trouble = await node.diskTrouble();
    if (trouble !== undefined) throw new Refusal(`${name} cannot lose power: ${trouble}`);
  }
}

/** Waits for a hold that is one of those that last, and so young that its grant has hardly been synced by chance. */
async function freshHold(context: NemesisContext): Promise<void> {
  const { clock, leaseMs } = context;
  using grants = new GrantWatch(context, clock.nowNs());
  const lasts = () => grants.held().find(({ grantedNs }) => clock.nowNs() - grantedNs >= FRESH_PARTS * leaseMs * 1e6);
  const timing = { timeoutMs: leaseMs, pollMs: POLL_MS, doing: 'before a lock was granted that was held on', context };
  if (!(await waitFor(lasts, timing)))
    throw new Refusal(`no lock was granted within ${leaseMs} ms and held for ${FRESH_PARTS * leaseMs} ms`);
}

interface Lost {
  did: string;
  proof: string;
  effects: FaultEffect[];
}

async function losePower({ name, node }: StruckNode, cut: PowerCut, context: NemesisContext): Promise<Lost> {
  const files = await node.losePower(cut);
  if (cut.mode === 'zeros' && files.some(({ zeroedBytes }) => zeroedBytes !== undefined))
    context.levers.kill.expectDamage(node);
  const sinceNs = context.clock.nowNs();
  const less = files.filter(hasLost);
  // What is not synced before the answer need not even be written, as with `everysec` while a sync is under way
  // (`flushAppendOnlyFile` in Redis): the files do not tell all that was forgotten, and it is recorded with the death.
  const isRecorded = node.kind === 'redis' && killForgets(context.persistence);
  return {
    did: `${name} lost power: ${lossWords(files)}${isRecorded && less.length === 0 ? ', and what it had not written is gone' : ''}`,
    proof: `its files are rebuilt: ${files.map(({ name: file, leftBytes }) => `${file} has ${leftBytes} bytes`).join(', ') || 'it has none'}`,
    effects: [
      { kind: 'lost-power', who: [name], mode: cut.mode, files, sinceNs, untilNs: sinceNs },
      ...(!isRecorded && less.length > 0 ? [{ kind: 'forgot' as const, who: [name], sinceNs }] : []),
    ],
  };
}

function hasLost({ writtenBytes, leftBytes, zeroedBytes, became }: FileAfterPowerCut): boolean {
  return became !== undefined || zeroedBytes !== undefined || leftBytes < writtenBytes;
}

function lossWords(files: readonly FileAfterPowerCut[]): string {
  // It was down, and has written nothing since it lost power, or its data, before.
  if (files.length === 0) return 'it had no file left that it had written';
  return files.filter(hasLost).map(fileWords).join(', ') || 'all that it had written was synced';
}

function fileWords({ name, writtenBytes, durableBytes, leftBytes, zeroedBytes, became }: FileAfterPowerCut): string {
  if (became === 'gone') return `${name} (${writtenBytes} bytes) is gone`;
  if (became === 'back') return `${name} is the older file of ${leftBytes} bytes again`;
  const zeros = zeroedBytes === undefined ? '' : `, ${zeroedBytes} of them zeros`;
  return `of ${writtenBytes} bytes of ${name} ${durableBytes} were synced, and ${leftBytes} are left${zeros}`;
}
