/** What a campaign on servers leaves of itself, and what it says at its end; also of merged ones. */
import { join, relative } from 'node:path';
import { writeJson, writeWhole } from '../../harness/record/store.js';
import { sheetMarkdown, sheetPage } from '../../reports/index.js';
import { campaignWords } from './campaign-words.js';
import type { CampaignBeside } from './earlier.js';
import { type CampaignSummary, campaignSheet, summariseCampaign, type Tally } from './tally.js';

/** Writes the report into `folder`, where its links begin; of those `beside` it are the earlier ones of the trend. */
export function write(folder: string, tally: Tally, beside: readonly CampaignBeside[]): CampaignSummary {
  const summary = summariseCampaign(tally);
  const all = [...tally.runs, ...tally.known.flatMap(({ tries }) => tries)];
  const folders = new Map(all.map(({ runId, folder: of }) => [runId, relative(folder, of)]));
  const sheet = campaignSheet(tally, summary, (run) => folders.get(run)!, beside);
  writeJson(folder, 'summary.json', summary);
  writeWhole(join(folder, 'summary.md'), sheetMarkdown(sheet));
  writeWhole(join(folder, 'report.html'), sheetPage(sheet));
  return summary;
}

/** What it came to, for a terminal. */
export function campaignText({ exitStatus, headline, findings, known }: CampaignSummary, folder: string): string {
  return [
    '',
    `${campaignWords(findings, exitStatus)} (exit status ${exitStatus}): ${headline}`,
    ...known.map(({ lock, topology, fingerprint, text }) => `known: ${lock} on ${topology}, ${fingerprint}: ${text}`),
    ...findings.map(
      (one) =>
        `${one.state}: ${one.lock} on ${one.topology}, ${one.fingerprint}, in ${one.runs} of ${one.of}\n  ${one.sentence}\n  Reproduce: ${one.reproduce}`,
    ),
    `Report: ${join(folder, 'report.html')}`,
  ].join('\n');
}
