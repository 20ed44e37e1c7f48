/** Tests that a machine is not made for: skipped with the reason, counted at the end, and none where all must be there. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestCase, TestModule } from 'vitest/node';
import LayerTimes from '../support/layer-times.js';
import { probedTags, skipWhere } from '../support/needs.js';

type Result = Pick<ReturnType<TestCase['result']>, 'state'> & { note?: string };

describe('the last lines of the tests', () => {
  let printed: string[];
  beforeEach(() => {
    printed = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  });
  afterEach(() => void vi.restoreAllMocks());

  const ran = (result: Result, lacking?: string) => ({ result: () => result, meta: () => ({ lacking }) });
  function layer(name: string, tests: ReturnType<typeof ran>[], state = 'passed'): TestModule {
    const children = { allTests: () => tests };
    return { project: { name }, children, state: () => state } as unknown as TestModule;
  }

  it('count what was skipped, for each reason and in all, and a file that could not be loaded', () => {
    const reporter = new LayerTimes();
    const [passed, failed, skipped]: Result[] = [{ state: 'passed' }, { state: 'failed' }, { state: 'skipped' }];
    for (const module of [
      layer('unit', [ran(passed!), ran(skipped!, 'not root'), ran(skipped!)]),
      layer('redis', [ran(passed!), ran(failed!), ran(skipped!, 'no network namespaces')], 'failed'),
      layer('redis', [], 'failed'),
      layer('redis', [ran(skipped!, 'no network namespaces'), ran({ state: 'skipped', note: 'no such server here' })]),
    ]) {
      reporter.onTestModuleStart(module);
      reporter.onTestModuleEnd(module);
    }
    reporter.onTestRunEnd();
    expect(printed.map((line) => line.replace(/ +\d+\.\d s /, ' '))).toEqual([
      'unit  1 passed, 0 failed, 2 skipped',
      'redis  1 passed, 2 failed, 3 skipped',
      'skipped 5: 2 (no network namespaces), 1 (not root), 1 (no reason given), 1 (no such server here)',
      '2 passed, 2 failed, 5 skipped',
    ]);
  });

  it('say nothing of skipped tests where there are none', () => {
    const reporter = new LayerTimes();
    const module = layer('unit', [ran({ state: 'passed' })]);
    reporter.onTestModuleStart(module);
    reporter.onTestModuleEnd(module);
    reporter.onTestRunEnd();
    expect(printed.slice(1)).toEqual(['1 passed, 0 failed, 0 skipped']);
  });
});

describe('what this machine lacks', () => {
  let tools: string;
  beforeEach(() => {
    tools = mkdtempSync(join(tmpdir(), 'needs-test-'));
    vi.stubEnv('PATH', tools);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(tools, { recursive: true, force: true });
  });
  const of = async (need: string) => (await probedTags(false)).find(({ name }) => name === need);

  it('is skipped, with the reason', async () => {
    expect(await of('python')).toEqual({ name: 'python', ...skipWhere('no python3') });
    symlinkSync('/bin/true', join(tools, 'python3'));
    expect(await of('python')).toEqual({ name: 'python' });
  });

  it('is found by trying: namespaces that may not be made', async () => {
    symlinkSync('/bin/false', join(tools, 'unshare'));
    expect(await of('namespaces')).toEqual({ name: 'namespaces', ...skipWhere('no network namespaces') });
    expect(await of('mounts')).toEqual({ name: 'mounts', ...skipWhere('nothing can be mounted') });
  });

  it('is not skipped where all must be there, as in `.ci/run`', async () => {
    const skipped = (await probedTags(true)).filter((tag) => 'skip' in tag);
    const night = process.env.LOCK_TORTURE_TEST_DEEP === '1' ? [] : ['night'];
    expect(skipped.map(({ name }) => name)).toEqual([...night, ...(process.geteuid!() === 0 ? [] : ['root'])]);
    const script = readFileSync(join(import.meta.dirname, '../../.ci/run'), 'utf8');
    expect(script).toMatch(/^export LOCK_TORTURE_TEST_ALL=1$/m);
  });
});
