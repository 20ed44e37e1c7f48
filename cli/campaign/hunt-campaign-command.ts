/** The command line of a campaign in virtual time: what is typed becomes cells, and what was played a report. */
import { join } from 'node:path';
import { readPlan, writeJson, writeWhole } from '../../harness/record/store.js';
import { topologies } from '../../harness/topologies/index.js';
import { SEARCHED_BY_DEFAULT } from '../../nemesis/index.js';
import { sheetMarkdown, sheetPage } from '../../reports/index.js';
import { UsageError } from '../common/errors.js';
import { commandLine, shownPath } from '../common/reproduce.js';
import type { Say } from '../common/say.js';
import { STANDING } from '../common/standing.js';
import { tellStepSummary } from '../common/step-summary.js';
import { isFinding } from '../hunt/finding.js';
import type { ExitStatus } from '../judge/series-summary.js';
import { fitsTopology } from '../run/deployment.js';
import { slugOf, writeKnown } from '../run/known.js';
import { mustBeLock } from '../run/lock-at-hand.js';
import { provideSimulation } from '../run/simulation.js';
import type { Campaign } from './campaign-folder.js';
import { campaignWords } from './campaign-words.js';
import type { AskedCells } from './cells.js';
import { type GridCell, jobsPlanned } from './grid.js';
import {
  huntOf,
  type PlayedSchedule,
  playCampaign,
  playedIn,
  takeReplays,
  takeTries,
  triedIn,
} from './hunt-campaign.js';
import { type HuntCampaignSummary, huntCampaignSheet, NOT_KEPT, summariseHunts } from './hunt-tally.js';

/** Every lock, topology and workload that go together; all faults of the list are a cell's at once. Throws one line. */
export function huntCells({ locks, topologies: names, faults, workloads, extra, cwd }: AskedCells): GridCell[] {
  const cells: GridCell[] = [];
  for (const topology of names) {
    const kind = topologies[topology];
    if (kind?.service !== 'redis') throw new UsageError(`"${topology}" is no topology of a hunt`);
    for (const lock of locks ?? [kind.defaultLock]) {
      mustBeLock(lock);
      if (!fitsTopology(lock, kind)) continue;
      for (const workload of workloads) {
        const argv = ['--lock', lock, '--topology', topology, '--workload', workload];
        const cell = {
          ...{ lock, topology, workload },
          nemesis: (faults ?? SEARCHED_BY_DEFAULT).join(','),
          argv: [...argv, ...(faults ? ['--faults', faults.join(',')] : []), ...extra],
        };
        try {
          huntOf(cell, cwd);
        } catch (error) {
          throw new UsageError((error as Error).message.replace(/^error: /, ''));
        }
        cells.push(cell);
      }
    }
  }
  if (cells.length === 0) throw new UsageError('none of these locks makes sense on one of these topologies');
  return cells;
}

export interface HuntCampaign {
  campaign: Campaign;
  folder: string;
  cwd: string;
  server: string | undefined;
  jobs: number;
  json: boolean;
  knownOk: boolean;
  goesOn(): boolean;
  say: Say;
}

/** Plays, prints what it finds, and resolves with the exit status. */
export async function carryOutHunts(hunts: HuntCampaign): Promise<ExitStatus> {
  const { campaign, folder, json, knownOk, say } = hunts;
  const print = (text: string) => process.stdout.write(`${text}\n`);
  const simulation = await provideSimulation(hunts.server, say);
  const planned = jobsPlanned(campaign);
  const known = new Set<string>();
  let count = playedIn(folder).length;
  await playCampaign({
    ...hunts,
    simulation,
    onPlayed({ job, found, verdict }, { lock, topology }) {
      count++;
      const fresh = found.filter(({ fingerprint }) => !known.has(`${lock} ${topology} ${fingerprint}`));
      for (const { fingerprint } of fresh) known.add(`${lock} ${topology} ${fingerprint}`);
      if (json) print(JSON.stringify({ type: 'schedule', schedule: job + 1, lock, topology, verdict }));
      for (const { fingerprint, sentence } of json ? [] : fresh)
        print(`schedule ${job + 1}: ${lock} on ${topology}, ${fingerprint}: ${sentence}`);
      if (!json && count % 100 === 0) print(`${count}${planned === undefined ? '' : ` of ${planned}`} schedules`);
    },
  });
  const summary = writeHunts(folder, campaign, playedIn(folder), planned, knownOk);
  tellStepSummary(join(folder, 'summary.md'));
  print(json ? JSON.stringify({ type: 'summary', ...summary }) : huntsText(summary, folder));
  return summary.exitStatus;
}

/** Makes one report of several parts in `target`; resolves with the exit status. */
export function mergeHunts(
  target: string,
  parts: readonly { folder: string; campaign: Campaign }[],
  knownOk: boolean,
): { exitStatus: ExitStatus; text: string } {
  const { campaign } = parts[0]!;
  const read = parts.map(({ folder }) => ({ folder, played: playedIn(folder) }));
  const byJob = new Map(read.flatMap(({ played }) => played).map((one) => [one.job, one]));
  const played = [...byJob.values()].sort((a, b) => a.job - b.job);
  takeReplays(target, campaign.cells, read);
  takeTries(target, campaign, read);
  const summary = writeHunts(target, campaign, played, campaign.runs, knownOk);
  return { exitStatus: summary.exitStatus, text: huntsText(summary, target) };
}

function writeHunts(
  folder: string,
  campaign: Campaign,
  played: readonly PlayedSchedule[],
  planned: number | undefined,
  knownOk: boolean,
): HuntCampaignSummary {
  const tried = campaign.known.flatMap((known) => {
    const again = triedIn(folder, known);
    return again ? [{ known, ...again }] : [];
  });
  const summary = summariseHunts(campaign, played, planned, knownOk, tried);
  for (const { state, lock, topology, fingerprint, sentence, replay, first } of summary.findings) {
    const place = join(folder, replay);
    if (state === 'known' || !isFinding(place)) continue;
    const { argv } = campaign.cells[(first - 1) % campaign.cells.length]!;
    const { seed, steps } = readPlan(place);
    const found = { version: 1 as const, lock, topology, fingerprint, sentence };
    writeKnown(join(folder, 'known'), { ...found, argv, seed, faults: steps.length, replay: slugOf(found) });
  }
  const sheet = huntCampaignSheet(summary, (replay) => commandAgain(join(folder, replay)));
  writeJson(folder, 'summary.json', summary);
  writeWhole(join(folder, 'summary.md'), sheetMarkdown(sheet));
  writeWhole(join(folder, 'report.html'), sheetPage(sheet));
  return summary;
}

function huntsText({ exitStatus, headline, findings, known = [] }: HuntCampaignSummary, folder: string): string {
  return [
    '',
    `${campaignWords(findings, exitStatus)} (exit status ${exitStatus}): ${headline}`,
    ...known.map(({ lock, topology, fingerprint, text }) => `known: ${lock} on ${topology}, ${fingerprint}: ${text}`),
    ...findings.map(
      (one) =>
        `${one.state}: ${one.lock} on ${one.topology}, ${one.fingerprint}, in ${one.schedules} of ${one.of}\n  ${one.sentence}\n  ${againText(join(folder, one.replay))}`,
    ),
    `Report: ${join(folder, 'report.html')}`,
  ].join('\n');
}

function againText(place: string): string {
  const command = commandAgain(place);
  return command === undefined ? NOT_KEPT : `Reproduce: ${command}`;
}

/** What plays the finding there again; undefined where none was kept. */
function commandAgain(place: string): string | undefined {
  return isFinding(place) ? commandLine(['replay', shownPath(place, STANDING)]) : undefined;
}
