/** Every scenario can be listed, played and judged: what its file says of itself fits. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decidePlay } from '../../../cli/batches/scenario-cast.js';
import { unexpected } from '../../../cli/batches/scenario-command.js';
import { judgesOfRun } from '../../../cli/judge/workload-of.js';
import type { Machine } from '../../../cli/run/machine.js';
import { topologies } from '../../../harness/topologies/index.js';
import { scenarios } from '../../../scenarios/index.js';

const FOLDER = resolve(import.meta.dirname, '../../../scenarios');
/** Some words, and no full stop: others are put around it. */
const SENTENCE = /^\S+(?: \S+){3,}[^.\s]$/;

const machine = (unavailable: Machine['unavailable'] = {}): Machine => ({
  runtime: 'netns',
  redis: { path: '/redis-server', env: {}, version: '7.0.15', origin: 'PATH' },
  unavailable,
});

it('every file here is a scenario of its name, and is listed', () => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && name !== 'index.ts');
  expect(Object.keys(scenarios).sort()).toEqual(files.map((name) => name.replace(/\.ts$/, '')).sort());
});

describe.each(Object.values(scenarios))('$name', (scenario) => {
  it('has a claim and a truth that are sentences', () => {
    expect(scenario.claim).toMatch(SENTENCE);
    expect(scenario.truth).toMatch(SENTENCE);
    expect(scenario.truth).not.toBe(scenario.claim);
  });

  it('has a lock that fits its topology', () => {
    expect(topologies).toHaveProperty(scenario.topology);
    expect(decidePlay(scenario, { machine: machine(), naming: [] }, 1, join(FOLDER, '..'))).toMatchObject({
      request: { scenario: scenario.name, lock: scenario.lock },
    });
  });

  it('is judged by checkers that exist', () => {
    const judges = judgesOfRun({ workload: 'mutex', scenario: scenario.name }).map(({ name }) => name);
    const ofAllPlays = ['mutual-exclusion', 'never-granted', 'ownership', 'liveness', 'starved', 'waiting', 'fencing'];
    expect(judges).toEqual(
      expect.arrayContaining([...ofAllPlays, ...(scenario.settings?.resource ? ['stale-writes'] : [])]),
    );
    expect(judges).not.toContain('vacuity');
  });

  it('with nothing found goes as written only where the lock is to hold', () => {
    const nothing = { violations: [], verdict: 'held' as const, headline: 'The lock held.' };
    const trouble = unexpected(scenario, nothing);
    if (scenario.expect.length === 0) expect(trouble).toBeUndefined();
    else expect(trouble).toContain('was to be found');
  });
});

it('a play is refused where the machine lacks what it needs, and no other is', () => {
  const lacking = { machine: machine({ disk: 'no shim here' }), naming: [] };
  const play = (name: string) => () => decidePlay(scenarios[name]!, lacking, 1, FOLDER);
  expect(play('power-cut-with-a-synced-log')).toThrow(
    'scenario power-cut-with-a-synced-log is not possible here: no shim here',
  );
  expect(play('only-one-holds')).not.toThrow();
});

describe('a finding that differs from what is written', () => {
  const violation = (name: 'exclusion' | 'stale', kind: string, cause: string) =>
    ({ class: name, kind, cause: { name: cause, sentence: '', chain: [] } }) as never;
  const found = (...violations: never[]) => ({ violations, verdict: 'violated' as const, headline: 'It broke.' });

  it('is reported where the lock was to hold', () => {
    expect(unexpected({ expect: [] }, found(violation('stale', 'overlap', 'client-slow')))).toContain('was to hold');
    expect(unexpected({ expect: [] }, { ...found(), verdict: 'unknown' })).toContain('was to hold');
  });

  it('is reported where class, kind or cause differs', () => {
    const expected = { class: 'exclusion', kind: 'overlap', cause: 'node-forgot' } as const;
    const judged = (one: never) => unexpected({ expect: [expected] }, found(one));
    expect(judged(violation('exclusion', 'overlap', 'node-forgot'))).toBeUndefined();
    expect(judged(violation('exclusion', 'overlap', 'unexplained'))).toContain('node-forgot was to be found');
    expect(judged(violation('exclusion', 'revived', 'node-forgot'))).toContain('overlap');
    expect(judged(violation('stale', 'overlap', 'node-forgot'))).toContain('exclusion');
  });

  it('is reported where there is more than was expected', () => {
    const both = found(violation('exclusion', 'overlap', 'a'), violation('stale', 'overlap', 'b'));
    expect(unexpected({ expect: [{ class: 'exclusion' }] }, both)).toContain('nothing of class stale');
    expect(unexpected({ expect: [{ class: 'exclusion' }, { class: 'stale' }] }, both)).toBeUndefined();
  });
});
