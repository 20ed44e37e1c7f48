import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeRunsIndex } from '../../../../cli/judge/write-reports.js';

const base = mkdtempSync(join(tmpdir(), 'runs-index-'));
afterAll(() => rmSync(base, { recursive: true }));

test.each(['', '{"version":1}', '{"version":1,"runs":{"gone":{}}}', '{"version":2,"runs":[]}', '[[['])(
  'the list of runs is made anew where index.json holds %j',
  (text) => {
    mkdirSync(join(base, 'latest'), { recursive: true });
    writeFileSync(join(base, 'latest', 'config.json'), '{}');
    mkdirSync(join(base, 'gone'), { recursive: true });
    writeFileSync(join(base, 'gone', 'config.json'), '{}');
    writeFileSync(join(base, 'index.json'), text);
    writeRunsIndex(base);
    expect(JSON.parse(readFileSync(join(base, 'index.json'), 'utf8'))).toEqual({ version: 2, runs: {} });
  },
);
