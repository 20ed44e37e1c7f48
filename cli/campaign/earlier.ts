/** Campaigns beside one, for the trend over them: what each came to, by what it left. */
import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { conform } from '../../harness/record/schemas/conform.js';
import { readJson } from '../../harness/record/store.js';
import { isCampaign, readCampaign } from './campaign-folder.js';

export interface EarlierCampaign {
  /** The name of its folder, which begins with the time. */
  id: string;
  runs: number;
  violated: number;
  struckHolds: number;
  /** Findings by what tells them apart. */
  findings: string[];
}

const summarySchema = z.object({
  findings: z.array(z.object({ lock: z.string(), topology: z.string(), fingerprint: z.string() })),
  coverage: z.array(
    z.object({ runs: z.number(), struckHolds: z.number(), verdicts: z.object({ violated: z.number() }) }),
  ),
});

/** Those in the same folder that began before it and are about one of its locks on one of its topologies, in their order. */
export function earlierCampaigns(folder: string): EarlierCampaign[] {
  const own = new Set(pairsOf(folder));
  return readdirSync(dirname(folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name < basename(folder))
    .map(({ name }) => join(dirname(folder), name))
    .filter((other) => isCampaign(other))
    .sort()
    .flatMap((other) => {
      try {
        if (!pairsOf(other).some((pair) => own.has(pair))) return [];
        const { findings, coverage } = readJson(other, 'summary.json', (data) => conform(summarySchema, data));
        const sum = (of: (row: (typeof coverage)[number]) => number) => coverage.reduce((all, row) => all + of(row), 0);
        return [
          {
            id: basename(other),
            runs: sum(({ runs }) => runs),
            violated: sum(({ verdicts }) => verdicts.violated),
            struckHolds: sum(({ struckHolds }) => struckHolds),
            findings: findings.map((one) => `${one.lock} ${one.topology} ${one.fingerprint}`),
          },
        ];
      } catch {
        return []; // it came to nothing yet, or is one in virtual time, or damaged: this one's report does not need it
      }
    });
}

function pairsOf(folder: string): string[] {
  return readCampaign(folder).cells.map(({ lock, topology }) => `${lock} ${topology}`);
}
