/** A campaign in virtual time says what its schedules say, in whatever parts they were played; and its state survives a kill. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type PlayedSchedule, playedIn } from '../../../../cli/campaign/hunt-campaign.js';
import { huntCampaignSheet, summariseHunts } from '../../../../cli/campaign/hunt-tally.js';

const LOST = 'lock/exclusion/overlap/released-by-other';
const cells = ['./mine.ts', './other.ts'].map((lock) => ({
  ...{ lock, topology: 'single', nemesis: 'pause', workload: 'mutex', argv: [] },
}));
const played = (job: number, over: Partial<PlayedSchedule> = {}): PlayedSchedule => ({
  ...{ job, verdict: 'held', digest: `d${job}`, holds: 40, strikes: 10, struckHolds: 20, found: [] },
  ...over,
});
const found = (job: number, sentence: string, fails = true): PlayedSchedule =>
  played(job, { verdict: 'violated', found: [{ fingerprint: LOST, sentence, fails }] });
const asked = { cells, known: [] };

it('is good where nothing was found in enough, and cannot tell where schedules are missing or too few', () => {
  const all = [0, 1, 2, 3, 4, 5].map((job) => played(job));
  expect(summariseHunts(asked, all, 6, false)).toMatchObject({ exitStatus: 0, findings: [] });
  expect(summariseHunts(asked, all, 7, false).exitStatus).toBe(2);
  expect(summariseHunts(asked, all.slice(0, 5), 5, false).exitStatus).toBe(2);
  expect(
    summariseHunts(
      asked,
      all.map((one) => ({ ...one, strikes: 9, struckHolds: 900 })),
      6,
      false,
    ).exitStatus,
  ).toBe(2);
  expect(summariseHunts(asked, all, 6, false).coverage[0]!.bound).toBe(
    '0 of 30 strikes violated; at most 9.5 % at 95 % (60 holds struck)',
  );
  expect(summariseHunts(asked, [...all.slice(1), played(7, { verdict: 'endless' })], 6, false).exitStatus).toBe(2);
});

it('tells each thing once a lock, with the first that found it; known ones are allowed where that is asked for', () => {
  const all = [played(0), found(2, 'first'), found(3, 'other lock'), found(4, 'later')];
  const { findings, exitStatus, coverage } = summariseHunts(asked, all, 4, false);
  expect(exitStatus).toBe(1);
  expect(findings).toMatchObject([
    { lock: './mine.ts', sentence: 'first', schedules: 2, of: 3, first: 3, last: 5, state: 'new' },
    { lock: './other.ts', sentence: 'other lock', schedules: 1, of: 1, first: 4, last: 4 },
  ]);
  expect(coverage.map(({ schedules, bound }) => [schedules, bound])).toEqual([
    [3, undefined],
    [1, undefined],
  ]);
  const known = cells.map(({ lock, topology }) => ({
    ...{ version: 1 as const, lock, topology, fingerprint: LOST, sentence: '', argv: [], seed: 1, faults: 1 },
  }));
  expect(summariseHunts({ cells, known }, all, 4, false).exitStatus).toBe(1);
  // Nothing fails it any more, but so few strikes prove nothing.
  expect(summariseHunts({ cells, known }, all, 4, true).exitStatus).toBe(2);
});

it("tells the lock's mistakes first, and cannot tell where what may be one is unexplained", () => {
  const all = [0, 1, 2, 3, 4, 5].map((job) => played(job));
  const with_ = (job: number, ...found: PlayedSchedule['found']) => ({ ...all[job]!, found });
  const lease = { fingerprint: 'lease/stale/overlap/client-paused', sentence: '', fails: false };
  const open = {
    fingerprint: 'unexplained/stale/overlap/unexplained',
    sentence: '',
    fails: false,
    open: true as const,
  };
  const own = { fingerprint: LOST, sentence: '', fails: true };
  const order = summariseHunts(asked, [with_(0, lease), with_(1, { ...lease, fails: true }), with_(2, own)], 3, false);
  expect(order.findings.map(({ fingerprint }) => fingerprint.split('/')[0])).toEqual(['lock', 'lease', 'lease']);
  const allowed = [with_(0, lease), ...all.slice(1)];
  expect(summariseHunts(asked, allowed, 6, false).exitStatus).toBe(0);
  expect(summariseHunts(asked, [...allowed.slice(0, 5), with_(5, open)], 6, false).exitStatus).toBe(2);
  const known = cells.map(({ lock, topology }) => ({
    ...{
      version: 1 as const,
      lock,
      topology,
      fingerprint: open.fingerprint,
      sentence: '',
      argv: [],
      seed: 1,
      faults: 1,
    },
  }));
  expect(summariseHunts({ cells, known }, [...allowed.slice(0, 5), with_(5, open)], 6, true).exitStatus).toBe(0);
});

it('has another digest where one schedule was played otherwise', () => {
  const [one, other] = [[played(0)], [played(0, { digest: 'x' })]].map((all) => summariseHunts(asked, all, 1, false));
  expect(one!.digest).not.toBe(other!.digest);
});

it('reads what a killed process left: each job once, and no half line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lock-torture-hunts-'));
  const lines = [played(2), played(0), played(2)].map((one) => JSON.stringify(one));
  writeFileSync(join(folder, 'schedules.jsonl'), `${lines.join('\n')}\n${JSON.stringify(played(1)).slice(0, 30)}`);
  expect(playedIn(folder).map(({ job }) => job)).toEqual([0, 2]);
  rmSync(folder, { recursive: true });
});

it('fails for what is known and still there, unless that is allowed; what is not seen any more it says', () => {
  const all = [0, 1, 2, 3, 4, 5].map((job) => played(job));
  const known = { version: 1 as const, lock: './mine.ts', topology: 'single', fingerprint: LOST, sentence: '' };
  const one = { ...known, argv: [], seed: 1, faults: 1, replay: 'mine' };
  const tried = (seen: boolean, knownOk: boolean, course?: string) =>
    summariseHunts({ cells, known: [one] }, all, 6, knownOk, [
      { known: one, seen, fails: seen, ...(course && { course }) },
    ]);
  expect(tried(true, false)).toMatchObject({ exitStatus: 1, known: [{ seen: true, text: 'still there' }] });
  expect(tried(true, true).exitStatus).toBe(0);
  const notSeen = 'not seen when its schedule was played again';
  expect(tried(false, false)).toMatchObject({ exitStatus: 0, known: [{ text: notSeen }] });
  const course = 'another course of events from 0.5 s on, with another lock';
  expect(tried(false, false, course).known).toMatchObject([{ text: `${notSeen} (${course})` }]);
  expect(summariseHunts(asked, all, 6, false)).not.toHaveProperty('known');
});

it('says what replays a finding; and of one that has no replay, that it has none', () => {
  const summary = summariseHunts(asked, [found(0, 'first'), found(1, 'other lock')], 2, false);
  const [one, other] = summary.findings.map(({ replay }) => replay);
  const again = huntCampaignSheet(summary, (replay) => (replay === one ? 'replay it' : undefined)).tables[0]!.rows.map(
    (row) => row.at(-1),
  );
  expect(other).not.toBe(one);
  expect(again).toEqual(['replay it', 'it was not found again when its schedule was played once more']);
});
