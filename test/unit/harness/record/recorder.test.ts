/** What is left on a disk that takes no more: whole lines without a hole, and the reason. */
import type * as Fs from 'node:fs';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readHistory } from '../../../../harness/record/history.js';
import { readObservations } from '../../../../harness/record/observations.js';
import { Recorder } from '../../../../harness/record/recorder.js';
import { realClock } from '../../../../harness/runtimes/real-clock.js';
import type { HistoryEvent } from '../../../../harness/vocabulary/history.js';

/** Bytes that the disk still takes; giving back the reserve makes room. */
const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY, givenBack: 0 }));
// Modules are loaded anew with the false one, and are not left to the files that come after.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof Fs>();
  return {
    ...fs,
    writeSync: (fd: number, bytes: Buffer, offset = 0) => {
      if (disk.room <= 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      const taken = fs.writeSync(fd, bytes.subarray(offset, offset + disk.room));
      disk.room -= taken;
      return taken;
    },
    truncateSync: (path: string, size: number) => {
      disk.room += disk.givenBack;
      fs.truncateSync(path, size);
    },
  };
});

const RUN = { type: 'run', version: 2, runId: 'r', seed: 1, epochWallMs: 0 } as const;
const step = (n: number) => ({ type: 'step', client: 'c1', name: `step ${n}`, clientNs: n }) as const;

let folder: string;
let recorder: Recorder;
beforeEach(() => {
  Object.assign(disk, { room: Number.POSITIVE_INFINITY, givenBack: 0 });
  folder = mkdtempSync(join(tmpdir(), 'lock-torture-'));
  recorder = new Recorder(folder, realClock(0));
  recorder.record(RUN);
});
afterEach(() => rmSync(folder, { recursive: true }));
const history = async () => [...(await readHistory(join(folder, 'history.jsonl'))).all()];
const steps = (events: readonly HistoryEvent[]) => events.flatMap((one) => (one.type === 'step' ? [one.clientNs] : []));

describe('a disk that is full', () => {
  test('the line that did not fit is written whole into the reserve, then why, then what follows', async () => {
    Object.assign(disk, { room: 100, givenBack: 10_000 });
    for (let n = 1; n <= 5; n++) recorder.record(step(n));
    recorder.close();
    const events = await history();
    expect(steps(events)).toEqual([1, 2, 3, 4, 5]);
    expect(events.find((event) => event.type === 'fault')).toMatchObject({
      step: -1,
      fault: 'disk',
      state: 'failed',
      proof: expect.stringMatching(/^the disk was full at \d+\.\d{3} s, .*--out/),
    });
    expect(recorder.trouble.reason).toMatch(/^the disk was full/);
  });

  test('without room in the reserve nothing more is written: the beginning, without a torn line or a hole', async () => {
    disk.room = 100;
    for (let n = 1; n <= 5; n++) recorder.record(step(n));
    disk.room = 10_000; // somebody removed a file: too late, events are missing
    recorder.record(step(6));
    recorder.close();
    const text = readFileSync(join(folder, 'history.jsonl'), 'utf8');
    expect(text.endsWith('\n')).toBe(true);
    expect(steps(await history())).toEqual([1]);
    expect(recorder.trouble.aborted).toBe(true);
  });

  test('listeners still hear of every event: healing depends on them', () => {
    disk.room = 0;
    const heard: HistoryEvent[] = [];
    recorder.subscribe((event) => heard.push(event));
    for (let n = 1; n <= 3; n++) recorder.record(step(n));
    expect(steps(heard)).toEqual([1, 2, 3]);
  });

  test('an observation that does not fit ends the run, too; and no node counts as watched from then on', async () => {
    recorder.observe({ atNs: 1, node: 'r1', type: 'watch', watching: true });
    Object.assign(disk, { room: 20, givenBack: 10_000 });
    recorder.observe({ atNs: 2, node: 'r1', type: 'evicted', key: 'lock:0' });
    recorder.observe({ atNs: 3, node: 'r1', type: 'evicted', key: 'lock:1' });
    recorder.record(step(1));
    recorder.close();
    expect(recorder.trouble.aborted).toBe(true);
    expect((await history()).map((event) => event.type)).toEqual(['run', 'fault', 'step', 'closed']);
    // What stands in the file is counted, not what was to be written.
    expect((await history()).at(-1)).toMatchObject({ type: 'closed', observations: 2 });
    const seen = await readObservations(join(folder, 'observations.jsonl'));
    expect(seen.rare.map(([, one]) => (one.type === 'watch' ? one.watching : one.type))).toEqual([true, false]);
  });
});

test('the reserve is there while the run goes on, and gone afterwards', () => {
  expect(existsSync(join(folder, 'reserve'))).toBe(true);
  recorder.close();
  expect(existsSync(join(folder, 'reserve'))).toBe(false);
});

test('a record that nobody needs of a killed run is written when it is closed', () => {
  const later = mkdtempSync(join(tmpdir(), 'lock-torture-recorder-'));
  try {
    const held = new Recorder(later, realClock(0), { atOnce: false });
    held.record({ type: 'phase', phase: 'warm-up' });
    expect(existsSync(join(later, 'history.jsonl'))).toBe(false);
    held.close();
    const lines = readFileSync(join(later, 'history.jsonl'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).toEqual(['phase', 'closed']);
    expect(readFileSync(join(later, 'observations.jsonl'), 'utf8')).toBe('');
  } finally {
    rmSync(later, { recursive: true });
  }
});
