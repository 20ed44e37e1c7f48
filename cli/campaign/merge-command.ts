/** `merge`: one report, and one exit status, of what several machines did of the same. */
import { existsSync, rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { createRunFolder } from '../../harness/record/store.js';
import { sheetWords } from '../../reports/index.js';
import { mergeBatches, partsIn, partsKind } from '../batches/merge-batches.js';
import { UsageError } from '../common/errors.js';
import { slugOf } from '../run/known.js';
import { knownOkOptions } from '../run/shared-flags.js';
import {
  askedIn,
  type Campaign,
  cellRunsIn,
  failedIn,
  finishedIn,
  isCampaign,
  readCampaign,
  triesFolder,
} from './campaign-folder.js';
import { campaignText, write } from './campaign-report.js';
import { campaignsBeside } from './earlier.js';
import { mergeHunts } from './hunt-campaign-command.js';
import type { Tally, TriedAgain } from './tally.js';

export interface MergeFlags {
  out: string;
  knownOk: boolean;
}

export function addMergeFlags(command: Command): Command {
  command
    .argument(
      '<folders...>',
      'of campaigns, series, scenarios, matrices or self-tests, or the --out folders they lie in',
    )
    .requiredOption('--out <folder>', 'where the report goes: a folder that is not there yet');
  for (const option of knownOkOptions()) command.addOption(option);
  return command;
}

const NO_PART = "nothing to merge: neither a campaign's folder nor one of a series, scenarios, a matrix or a self-test";

/** Prints what they came to together, and gives the exit status. */
export function mergeCommand(folders: readonly string[], { out, knownOk }: MergeFlags, cwd: string): number {
  const isPart = (folder: string) => isCampaign(folder) || partsKind(folder) !== undefined;
  const places = [...new Set(folders.flatMap((folder) => partsIn(resolve(cwd, folder), isPart)))];
  const target = resolve(cwd, out);
  const isThere = `--out ${out}: it is there already`;
  if (existsSync(target)) throw new UsageError(isThere);
  const odd = places.find((place) => !isPart(place));
  if (odd !== undefined) throw new UsageError(`${odd}: ${existsSync(odd) ? NO_PART : 'there is no such folder'}`);
  // Before anything is written: parts that do not belong together leave nothing.
  const campaigns = isCampaign(places[0]!)
    ? places.map((folder) => ({ folder, campaign: partIn(folder, places[0]!) }))
    : undefined;
  const isHunt = campaigns?.some(({ campaign }) => campaign.hunt) === true;
  const tally = campaigns && !isHunt ? tallyOf(campaigns, knownOk) : undefined;
  if (createRunFolder(resolve(target, '..'), basename(target)) === undefined) throw new UsageError(isThere);
  const print = (text: string) => process.stdout.write(`${text}\n`);
  if (campaigns && isHunt) {
    const { exitStatus, text } = mergeHunts(target, campaigns, knownOk);
    print(text);
    return exitStatus;
  }
  if (tally) {
    const summary = write(target, tally, campaignsBeside(target));
    print(campaignText(summary, target));
    return summary.exitStatus;
  }
  try {
    const { exitStatus, headline, report } = mergeBatches(places, target);
    print(`\n${sheetWords(exitStatus)} (exit status ${exitStatus}): ${headline}\nReport: ${target}/${report}`);
    return exitStatus;
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  }
}

/** The campaign of a folder; throws one line where it is no part of what is in `first`. */
function partIn(folder: string, first: string): Campaign {
  const campaign = readCampaign(folder);
  if (askedIn(campaign).digest !== askedIn(readCampaign(first)).digest)
    throw new UsageError(
      `${folder} is no part of the campaign in ${first}: cells, seed, runs or known findings differ`,
    );
  return campaign;
}

function tallyOf(parts: readonly { folder: string; campaign: Campaign }[], knownOk: boolean): Tally {
  const { campaign } = parts[0]!;
  const { cells, known: all, runs: planned, atLeast } = campaign;
  const runs = new Map(
    parts.flatMap(({ folder, campaign }) => cellRunsIn(folder, campaign)).map((run) => [run.runId, run]),
  );
  const onServers = all.filter(({ replay }) => replay === undefined);
  const known = onServers.map((known): TriedAgain => {
    const tries = parts.flatMap(({ folder }) => finishedIn(triesFolder(folder, slugOf(known))));
    return { known, tries: [...new Map(tries.map((run) => [run.runId, run])).values()] };
  });
  // In an order that is not that of the parts.
  const failed = parts
    .flatMap(({ folder }) => failedIn(folder))
    .sort(new Intl.Collator('en', { numeric: true }).compare);
  return { cells, runs: [...runs.values()], known, planned, failed, knownOk, atLeast, asked: askedIn(campaign) };
}
