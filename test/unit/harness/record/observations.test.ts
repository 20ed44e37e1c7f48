import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { observationsOf, readObservations } from '../../../../harness/record/observations.js';
import type { Observation, Observations } from '../../../../harness/vocabulary/history.js';

const watch: Observation = { atNs: 1, node: 'r1', type: 'watch', watching: true };
const sample: Observation = {
  atNs: 5,
  node: 'r1',
  type: 'sample',
  role: 'primary',
  offset: 1,
  runId: 'a',
  skewMs: 0.5,
  keys: { 'lock:0': { owner: 'x', pttlMs: -1 } },
};
function command(atNs: number, argument: string, node = 'r1'): Observation {
  return { atNs, node, type: 'command', serverWallMs: 1.5, source: 'lua', argv: ['get', argument] };
}
const evicted: Observation = { atNs: 9, node: 'r1', type: 'evicted', key: 'lock:0' };
const few = [watch, command(2, 'a'), command(3, 'b'), sample, command(5, 'c'), command(7, 'd'), evicted];

/** All that the interface gives of the commands within the bounds, and of everything. */
function told(observations: Observations, fromNs: number, untilNs: number) {
  const lines = Array.from({ length: observations.length + 1 }, (_, i) => observations.line(i));
  const { length, rare, commandCount } = observations;
  return { length, lines, rare, commandCount, commands: [...observations.commands(fromNs, untilNs)] };
}

describe('observationsOf', () => {
  it('separates commands from the rest, and gives those within the bounds, both included', () => {
    const observations = observationsOf(few);
    expect(observations).toMatchObject({ length: 7, commandCount: 4 });
    expect(observations.rare).toEqual([
      [0, watch],
      [3, sample],
      [6, evicted],
    ]);
    expect([...observations.commands(3, 5)]).toEqual([
      [2, few[2]],
      [4, few[4]],
    ]);
    expect(observations.line(5)).toEqual(command(7, 'd'));
    expect(observations.line(7)).toBeUndefined();
  });
});

describe('readObservations', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'observations-'));
    path = join(folder, 'observations.jsonl');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const written = async (list: readonly Observation[]) => {
    await writeFile(path, list.map((one) => `${JSON.stringify(one)}\n`).join(''));
    return readObservations(path);
  };

  it('takes a missing file for no observations', async () => {
    expect(told(await readObservations(path), 0, 9)).toEqual(told(observationsOf([]), 0, 9));
  });

  it('gives what was written', async () => {
    expect(told(await written(few), 3, 5)).toEqual(told(observationsOf(few), 3, 5));
  });

  it('gives what was written, however long, in whatever order and form', async () => {
    const names = fc.constantFrom('r1', 'r2', 'ü€😀', 'with "quotes" and \\');
    const one = fc.oneof(
      { weight: 9, arbitrary: fc.record({ atNs: fc.nat(1_000), argument: fc.string(), node: names }) },
      { weight: 1, arbitrary: fc.constantFrom(watch, sample, evicted) },
    );
    const observation = one.map((made) => ('type' in made ? made : command(made.atNs, made.argument, made.node)));
    const form = fc.constantFrom('as recorded', 'type first', 'spaced', 'stamp in words of its own');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(observation, form), { maxLength: 30 }),
        fc.constantFrom('', 'x'.repeat(30_000)),
        fc.nat(1_000),
        fc.nat(1_000),
        async (items, padding, fromNs, forNs) => {
          const list = items.map(([made]) =>
            made.type === 'command' ? { ...made, argv: [...made.argv, padding] } : made,
          );
          await writeFile(path, list.map((made, n) => `${spelled(made, items[n]![1])}\n`).join(''));
          const untilNs = fromNs + forNs;
          expect(told(await readObservations(path), fromNs, untilNs)).toEqual(
            told(observationsOf(list), fromNs, untilNs),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds one of many without reading all', async () => {
    const many = Array.from({ length: 5_000 }, (_, n) => (n % 1_000 === 0 ? sample : command(n, 'y'.repeat(100))));
    const observations = await written(many);
    expect(observations.line(4_321)).toEqual(many[4_321]);
    expect([...observations.commands(2_999, 3_002)].map(([line]) => line)).toEqual([2_999, 3_001, 3_002]);
  });

  it('leaves out a torn last line of any type', async () => {
    for (const last of few) {
      const line = JSON.stringify(last);
      // Killed while writing, and cut off by a full disk before a line break that was there already.
      for (const end of [
        line.slice(0, 10),
        line.slice(0, -1),
        line,
        `${line.slice(0, -2)}\n`,
        `${line.slice(0, -2)}}\n`,
      ]) {
        await written(few);
        await appendFile(path, end);
        expect(told(await readObservations(path), 0, 9), end).toEqual(told(observationsOf(few), 0, 9));
      }
    }
  });

  it.each([
    ['no node', '{"atNs":1,"type":"watch","watching":true}', /"node" is missing/],
    ['a role that is none', '{"atNs":1,"node":"r1","type":"sample","role":"king"}', /"role" is "king"/],
    [
      'keys without owners',
      '{"atNs":1,"node":"r1","type":"sample","role":"primary","offset":0,"runId":"","skewMs":0,"keys":{"a":{}}}',
      /"keys" is not a string/,
    ],
    ['an unknown type', '{"atNs":1,"node":"r1","type":"monitor"}', /unknown type "monitor"/],
    ['a command that ends in the middle', '{"atNs":1,"node":"r1","type":"command","serverWa', /not JSON/],
    ['a command before the epoch', '{"atNs":-1,"node":"r1","type":"command"}', /"atNs" is negative/],
  ])('refuses an observation with %s at once', async (_name, line, problem) => {
    await writeFile(path, `${line}\n${line}\n`);
    await expect(readObservations(path)).rejects.toThrow(problem);
    await expect(readObservations(path)).rejects.toThrow(`${path}, line 1:`);
  });

  it.each([
    ['not JSON', '{"atNs":4,"node":"r1","type":"command",rubbish}', /not JSON/],
    ['without its words', '{"atNs":4,"node":"r1","type":"command","serverWallMs":1,"source":""}', /"argv" is missing/],
    ['another thing in truth', '{"atNs":4,"node":"r1","type":"command","type":"watch"}', /"watching" is missing/],
  ])('tells of a command that is %s when it is asked for', async (_name, line, problem) => {
    await writeFile(path, [JSON.stringify(watch), line, JSON.stringify(evicted), ''].join('\n'));
    const observations = await readObservations(path);
    expect([...observations.commands(0, 3)]).toEqual([]);
    for (const ask of [() => [...observations.commands(4, 5)], () => observations.line(1)]) {
      expect(ask).toThrow(problem);
      expect(ask).toThrow(`${path}, line 2:`);
    }
  });
});

function spelled(observation: Observation, form: string): string {
  const { atNs, node, type, ...rest } = observation;
  switch (form) {
    case 'type first':
      return JSON.stringify({ type, ...rest, node, atNs });
    case 'spaced':
      return JSON.stringify(observation, null, 1).replaceAll('\n', ' ');
    case 'stamp in words of its own':
      return JSON.stringify(observation).replace(/^\{"atNs":(\d+)/, '{"atNs":$1e0');
    default:
      return JSON.stringify(observation);
  }
}
