/**
 * The recorded run that the README shows: a short one on sentinel with that topology's default faults. It is judged anew each time,
 * so what is shown is what today's checkers and reports say.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { temporaryFolder } from '../../harness/machine/private-folder.js';
import { inProject } from '../../harness/machine/project-files.js';
import { type JudgedRun, readRun } from '../judge/judge.js';

/** Recorded runs are a clone's: they are not packed. */
const RECORDED = 'test/fixtures/recorded-runs/topology-sentinel-default.json.br';

/** Its files are there for as long as `use` takes: a report reads the servers' commands from them. */
export async function ofExampleRun<T>(use: (run: JudgedRun) => T | Promise<T>): Promise<T> {
  const { files } = JSON.parse(brotliDecompressSync(readFileSync(inProject(RECORDED))).toString('utf8')) as {
    files: Record<string, string>;
  };
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  return await use(await readRun(folder.path));
}
