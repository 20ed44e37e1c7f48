/** What a campaign in virtual time came to. Pure, and without any time: the same schedules give the same, whoever played them. */
import { createHash } from 'node:crypto';
import { ENOUGH_STRIKES, strengthOf } from '../../checkers/index.js';
import { plural } from '../../harness/record/facts/words.js';
import { BLAMES } from '../../harness/record/schemas/blame.js';
import type { BlameName } from '../../harness/vocabulary/verdict.js';
import type { Sheet, SheetCell } from '../../reports/index.js';
import type { ExitStatus } from '../judge/series-summary.js';
import { identityOf, type KnownFinding } from '../run/known.js';
import type { Campaign } from './campaign-folder.js';
import { campaignWords } from './campaign-words.js';
import { firstSeen, type PlayedSchedule, replayOf, type TriedSchedule } from './hunt-campaign.js';

export interface HuntCampaignSummary {
  version: 1;
  exitStatus: ExitStatus;
  headline: string;
  /** Of the digests of all schedules, in their order. */
  digest: string;
  findings: {
    state: 'new' | 'known';
    fails: boolean;
    /** It may be the lock's mistake, which would fail it. */
    open?: true;
    lock: string;
    topology: string;
    fingerprint: string;
    sentence: string;
    /** In how many schedules, of how many on the same lock and topology. */
    schedules: number;
    of: number;
    /** The first and the last of the campaign's schedules that found it, from 1 on. */
    first: number;
    last: number;
    /** Below the campaign's folder. */
    replay: string;
  }[];
  /** Known findings whose schedules were played again; absent: there are none. */
  known?: { lock: string; topology: string; fingerprint: string; seen: boolean; text: string }[];
  coverage: {
    lock: string;
    topology: string;
    faults: string;
    workload: string;
    schedules: number;
    violated: number;
    untold: number;
    endless: number;
    holds: number;
    strikes: number;
    struckHolds: number;
    bound?: string;
  }[];
}

/** `played`: each once, in their order; `planned`: how many there are to be, of all parts. */
export function summariseHunts(
  { cells, known }: Pick<Campaign, 'cells' | 'known'>,
  played: readonly PlayedSchedule[],
  planned: number | undefined,
  knownOk: boolean,
  tried: readonly ({ known: KnownFinding } & TriedSchedule)[] = [],
): HuntCampaignSummary {
  const cellOf = ({ job }: PlayedSchedule) => cells[job % cells.length]!;
  const isKnown = new Set(known.map(identityOf));
  const findings = [...firstSeen(cells, played).entries()].map(([identity, { job, cell, fingerprint, slug }]) => {
    const { lock, topology } = cells[cell]!;
    const same = played.filter((one) => cellOf(one).lock === lock && cellOf(one).topology === topology);
    const seen = same.filter(({ found }) => found.some((one) => one.fingerprint === fingerprint));
    const told = seen.flatMap(({ found }) => found.filter((one) => one.fingerprint === fingerprint));
    return {
      state: isKnown.has(identity) ? ('known' as const) : ('new' as const),
      fails: told.some(({ fails }) => fails),
      ...(told.some(({ open }) => open) && { open: true as const }),
      ...{ lock, topology, fingerprint },
      sentence: told[0]!.sentence,
      schedules: seen.length,
      of: same.length,
      first: job + 1,
      last: seen.at(-1)!.job + 1,
      replay: replayOf(slug),
    };
  });
  const rank = ({ state, fails, fingerprint }: (typeof findings)[number]) =>
    (state === 'new' ? 0 : 20) + (fails ? 0 : 10) + BLAMES.indexOf(fingerprint.split('/')[0] as BlameName);
  findings.sort((a, b) => rank(a) - rank(b) || a.first - b.first || (a.fingerprint < b.fingerprint ? -1 : 1));
  const counting = findings.filter(({ state }) => !(knownOk && state === 'known'));
  const failing = counting.filter(({ fails }) => fails);
  const isOpen = counting.some(({ open }) => open);
  const struck = played.reduce((sum, { strikes = 0 }) => sum + strikes, 0);
  const isMissing = planned !== undefined && played.length < planned;
  const isWeak = struck < ENOUGH_STRIKES || played.some(({ verdict }) => verdict === 'endless');
  const count = (state: 'new' | 'known') => findings.filter((one) => one.state === state).length;
  return {
    version: 1,
    exitStatus:
      failing.length > 0 || (!knownOk && tried.some(({ fails }) => fails)) ? 1 : isMissing || isWeak || isOpen ? 2 : 0,
    headline: [
      `${planned === undefined ? plural(played.length, 'schedule') : `${played.length} of ${plural(planned, 'schedule')}`} played in virtual time`,
      plural(count('new'), 'new finding'),
      ...(count('known') > 0 ? [`${count('known')} known`] : []),
    ].join(', '),
    digest: createHash('sha256')
      .update(played.map(({ job, digest }) => `${job} ${digest}\n`).join(''))
      .digest('hex'),
    findings,
    ...(tried.length > 0 && {
      known: tried.map(({ known: { lock, topology, fingerprint }, seen, course }) => ({
        ...{ lock, topology, fingerprint, seen },
        text: seen
          ? 'still there'
          : `not seen when its schedule was played again${course === undefined ? '' : ` (${course})`}`,
      })),
    }),
    coverage: cells.map((cell, n) => {
      const own = played.filter(({ job }) => job % cells.length === n);
      const sum = (of: 'holds' | 'strikes' | 'struckHolds', among = own) =>
        among.reduce((total, one) => total + (one[of] ?? 0), 0);
      const of = (verdict: PlayedSchedule['verdict']) => own.filter((one) => one.verdict === verdict).length;
      const { lock, topology, nemesis: faults, workload } = cell;
      const bound = own.some(({ found }) => found.length > 0)
        ? undefined
        : strengthOf({
            strikes: sum('strikes'),
            struckHolds: sum(
              'struckHolds',
              own.filter(({ strikes }) => strikes !== undefined),
            ),
          });
      return {
        ...{ lock, topology, faults, workload, schedules: own.length },
        ...{ violated: of('violated'), untold: of('unknown'), endless: of('endless') },
        ...{ holds: sum('holds'), strikes: sum('strikes'), struckHolds: sum('struckHolds') },
        ...(bound !== undefined && { bound }),
      };
    }),
  };
}

/** What is said in place of the command of a replay. */
export const NOT_KEPT = 'it was not found again when its schedule was played once more';

/** `again`: the command that plays a finding again, by the path of its replay below the campaign's folder, if one is there. */
export function huntCampaignSheet(
  { exitStatus, headline, findings, known = [], coverage }: HuntCampaignSummary,
  again: (replay: string) => string | undefined,
): Sheet {
  const cells = (rows: SheetCell[][]) => rows;
  return {
    title: 'campaign in virtual time',
    state: exitStatus === 0 ? 'good' : exitStatus === 1 ? 'bad' : 'unknown',
    words: campaignWords(findings, exitStatus),
    headline,
    folderOf: (replay) => replay,
    tables: [
      {
        title: 'Findings',
        columns: ['', 'lock', 'on', 'blame/class/kind/cause', 'seen in', 'first', 'last', 'how', 'again'],
        rows: cells(
          findings.map((one) => [
            { text: one.fails ? one.state : `${one.state}, allowed`, good: one.state === 'known' || !one.fails },
            ...[one.lock, one.topology, one.fingerprint],
            `${one.schedules} of ${plural(one.of, 'schedule')}`,
            ...[`schedule ${one.first}`, `schedule ${one.last}`],
            again(one.replay) === undefined ? one.sentence : { text: one.sentence, run: one.replay },
            again(one.replay) ?? NOT_KEPT,
          ]),
        ),
      },
      {
        title: 'Known, tried again',
        columns: ['lock', 'on', 'blame/class/kind/cause', ''],
        rows: cells(known.map((one) => [one.lock, one.topology, one.fingerprint, { text: one.text, good: !one.seen }])),
      },
      {
        title: 'Coverage',
        columns: ['lock', 'on', 'faults', 'workload', 'schedules', 'violated', 'holds', 'struck', 'strikes', 'bound'],
        rows: cells(
          coverage.map((one) => [
            ...[one.lock, one.topology, one.faults, one.workload],
            ...[one.schedules, one.violated, one.holds, one.struckHolds, one.strikes].map(String),
            one.bound ?? '–',
          ]),
        ),
      },
    ].filter(({ rows }) => rows.length > 0),
  };
}
