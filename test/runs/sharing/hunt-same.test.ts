/**
 * Schedules of every topology are the same, every byte at the same time, in one process and in two others elsewhere
 * (`npm run bench -- hunt`): fifteen of each here, fifty where all is tried.
 */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../../harness/machine/command.js';
import { PROJECT } from '../../../harness/machine/project-files.js';
import { topologiesOfService } from '../../../harness/topologies/index.js';

const BENCH = [process.execPath, join(PROJECT, 'dist/bench/main.js'), 'hunt'];
const [WARM, COLD] = process.env.LOCK_TORTURE_TEST_DEEP === '1' ? [10, 40] : [3, 12];
/** On a quiet machine it is one. */
const LIMIT_MS = 20 * 60_000;

/** Their schedules have the most servers, and take the longest. */
const AT_NIGHT: ReadonlySet<string> = new Set(['cluster', 'redlock', 'replica']);

describe.each(topologiesOfService('redis'))('%s', (topology) => {
  const tags = AT_NIGHT.has(topology) ? ['night' as const] : [];
  test('its schedules are as they were', { tags, timeout: LIMIT_MS }, async () => {
    // With a short lease schedules are short, where primaries can be replaced as well.
    const few = [
      '--warm',
      String(WARM),
      '--schedules',
      String(COLD),
      '--again',
      '2 elsewhere',
      '--no-first',
      '--lease',
      '470ms',
    ];
    const { exitCode, stdout, stderr } = await runProgram([...BENCH, '--topology', topology, ...few], {
      timeoutMs: LIMIT_MS,
    });
    expect(stdout, stderr).toContain(`${topology}, 2 elsewhere: ${WARM + COLD} of ${WARM + COLD} identical\n`);
    expect(exitCode).toBe(0);
  });
});
