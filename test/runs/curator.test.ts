/**
 * A lock of another language on another service: what Curator's mutex comes to under faults of its clients and its server.
 *
 * @module-tag namespaces
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../harness/vocabulary/history.js';
import { externalLocks } from '../../lock-impl/external/index.js';
import { skipWhere, withoutTool } from '../support/needs.js';
import { lacking } from '../support/needs-service.js';
import { torture } from '../support/torture.js';

/** A cold build downloads and compiles libraries on a machine that has other tests to run. */
const BUILD_MS = 10 * 60_000;
const LOCK = 'curator/mutex';
const noTool = externalLocks[LOCK]!.project.needs.flatMap(([tool]) => withoutTool(tool) ?? [])[0];

describe(LOCK, skipWhere(noTool ?? (await lacking('zookeeper'))), () => {
  it('is held by sessions that end, and never by two', { timeout: BUILD_MS }, async () => {
    const { output, errors, results, folder } = await torture([
      ...['--service', 'zookeeper', '--topology', 'single', '--lock', LOCK, '--clients', '3', '--lease', '2s'],
      ...['--nemesis', 'kill:holder,pause:client', '--time-limit', '12s', '--seed', '1'],
    ]);
    const told = `${output}\n${errors}`;
    expect(output, told).toMatch(/ struck {3}kill c\d/);
    expect(output, told).toMatch(/ struck {3}pause c\d/);
    expect(
      results.violations.filter((one) => one.class === 'exclusion' || one.class === 'harm'),
      told,
    ).toEqual([]);
    expect(results.stats.struckHolds, told).toBeGreaterThan(0);
    // What its client hears of its session, it says; and each grant has its token.
    const lines = readFileSync(join(folder, 'history.jsonl'), 'utf8').trim().split('\n');
    const events = lines.map((line): HistoryEvent => JSON.parse(line));
    expect(new Set(events.map(({ type }) => type)), told).toContain('renewed');
    const grants = events.flatMap((one) => (one.type === 'ok' && one.op === 'acquire' ? [one] : []));
    expect(grants.length, told).toBeGreaterThan(0);
    expect(
      grants.filter((one) => one.token === undefined || one.grantSentNs === undefined),
      told,
    ).toEqual([]);
  });
});
