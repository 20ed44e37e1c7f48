/** A scheduler that drives lock clients on fake hosts and records into a folder, which is removed after the test. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Ledger } from '../../../../harness/record/facts/ledger.js';
import { Recorder } from '../../../../harness/record/recorder.js';
import { Scheduler, type SchedulerOptions } from '../../../../harness/run/scheduler.js';
import { createRandom } from '../../../../harness/runtimes/random.js';
import { monotonicNs, realClock } from '../../../../harness/runtimes/real-clock.js';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';
import type { Host } from '../../../../harness/vocabulary/host.js';
import type { Clock } from '../../../../harness/vocabulary/time.js';

/** Not started yet. `changed`: what the clock does otherwise than the real one. */
export function fakeRun(
  hosts: Host[],
  script: SchedulerOptions['script'],
  changed: Partial<Clock> = {},
  callers?: number,
  model: SchedulerOptions['model'] = { kind: 'mutex' },
) {
  const epochNs = monotonicNs();
  const clock = { ...realClock(epochNs), ...changed };
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const recorder = new Recorder(folder, clock);
  const ledger = new Ledger();
  recorder.subscribe((event) => ledger.event(event));
  const said: string[] = [];
  const scheduler = new Scheduler(hosts, {
    clock,
    recorder,
    ledger,
    random: createRandom(1),
    epochNs,
    clientArgv: ['fake'],
    topology: { kind: 'single', node: { name: 'r1', host: '10.0.0.1', port: 1 } },
    topologyName: 'single',
    model,
    leaseMs: 5_000,
    ...(callers !== undefined && { callers }),
    commandTimeoutMs: 100,
    operationGraceMs: 200,
    script,
    say: (line) => said.push(line),
  });
  const history = join(folder, 'history.jsonl');
  const events = (): HistoryEvent[] => {
    const lines = readFileSync(history, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  };
  return { scheduler, recorder, ledger, clock, epochNs, said, events, history };
}
