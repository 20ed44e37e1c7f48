/** What a campaign reads of a run's folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { finishedRun, toldOf } from '../../../../cli/campaign/campaign-folder.js';
import { writeJson } from '../../../../harness/record/store.js';
import type { StruckByFault } from '../../../../harness/vocabulary/verdict.js';
import { sampleInput } from '../../reports/sample.js';

const none = { brief: 0, short: 0, long: 0, over: 0 };
const STRUCK: StruckByFault = {
  holds: { ...none, brief: 9 },
  faults: [{ fault: 'kill', struck: { ...none, brief: 4 } }],
};

const folderOf = (struck?: StruckByFault) => {
  const folder = mkdtempSync(join(tmpdir(), 'finished-run-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { config, plan, results } = sampleInput();
  writeJson(folder, 'config.json', config);
  writeJson(folder, 'plan.json', plan);
  writeJson(folder, 'results.json', { ...results, ...(struck && { struck }) });
  return folder;
};

it('what its faults struck is what the order of jobs is told', () => {
  expect(toldOf({ ...finishedRun(folderOf(STRUCK)), cell: 3 })).toMatchObject({ cell: 3, struck: STRUCK });
});

it('results of an earlier version are read without', () => {
  expect(toldOf({ ...finishedRun(folderOf()), cell: 3 })).not.toHaveProperty('struck');
});
