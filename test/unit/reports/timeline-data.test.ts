import { describe, expect, it } from 'vitest';
import { packed, unpacked } from '../../../reports/data/pack.js';
import { timelineOf } from '../../../reports/data/timeline.js';
import { htmlReport } from '../../../reports/html.js';
import { type Mark, storyOf } from '../../../reports/story/story.js';
import { dataOf } from './reading.js';
import { inputOf, longInput, plainSample } from './sample.js';

const plain = plainSample();
const input = inputOf(plain);
const data = dataOf(htmlReport(input));
const us = (ns: number) => Math.round(ns / 1e3);

/** The data of a long run, of which only so many operations are drawn one by one. */
function longData(holds: number, broken: number, mostSingly?: number) {
  const long = longInput(holds, broken);
  const marks = long.results.violations.map((violation, at): Mark => ({ number: at + 1, violation, href: '' }));
  const timeline = timelineOf(long, storyOf(long), marks, mostSingly);
  return { ...timeline, long };
}

describe('what the timeline is drawn from', () => {
  it('has every hold, with the times of the history', () => {
    const drawn = data.slots.flatMap(({ lives, holds }) =>
      holds.fromUs.map((fromUs, n) => ({
        client: lives[holds.life[n]!]!.client,
        id: holds.id[n],
        fromUs,
        untilUs: fromUs + holds.lengthUs[n]!,
        leaseEndUs: fromUs + holds.leaseUs[n]!,
        key: data.keys[holds.key[n]!],
        count: holds.count[n],
      })),
    );
    const held = plain.holds.map(({ client, id, fromNs, untilNs, leaseEndNs, key }) => {
      return { client, id, fromUs: us(fromNs), untilUs: us(untilNs), leaseEndUs: us(leaseEndNs), key, count: 1 };
    });
    const order = (a: { client: string; fromUs: number }, b: typeof a) =>
      a.client < b.client ? -1 : a.client > b.client ? 1 : a.fromUs - b.fromUs;
    expect(drawn.sort(order)).toEqual(held.sort(order));
  });

  it('has every operation that failed, with its reason', () => {
    const misses = plain.events.filter(({ type }) => type === 'fail' || type === 'info');
    const tries = data.slots.flatMap(({ tries: { reason } }) => reason.map((n) => data.reasons[n]));
    expect(tries.sort()).toEqual(misses.map((event) => ('reason' in event ? event.reason : undefined)).sort());
  });

  it('marks the violations with the times of results.json', () => {
    expect(
      data.violations.map(({ number, fromUs, untilUs, slots, class: name }) => [number, fromUs, untilUs, slots, name]),
    ).toEqual(
      input.results.violations.map((one, at) => [
        at + 1,
        us(one.fromNs),
        us(one.untilNs),
        one.holds.map(({ client }) => client),
        one.class,
      ]),
    );
  });

  it('says which targets each fault struck, how, and for how long', () => {
    const words = data.faults.flatMap(({ number, touches }) =>
      touches.map(
        ({ host, kinds, fromUs, untilUs }) => `${number} ${host} ${kinds.join(', ')} ${fromUs / 1e6}–${untilUs / 1e6}`,
      ),
    );
    expect(words).toEqual([
      'F1 r1 cut off, down 8.3–13.2',
      'F2 c4 stopped 9.4–14.85',
      'F4 s1 down 16.3–17.2',
      'F4 s2 down 16.3–17.2',
    ]);
  });

  it('has what each node believed, and the failovers', () => {
    expect(data.promotions).toEqual([{ node: 'r2', atUs: 9_900_000 }]);
    const r1 = data.nodes.find(({ name }) => name === 'r1')!;
    expect(r1.roles.map(({ state }) => state)).toContain('unwatched');
    const { owner, names, fromUs } = r1.owners[data.keys.indexOf('lock:0')]!;
    const [lost] = input.results.violations[0]!.holds;
    expect(owner.map((n, at) => [names[n], fromUs[at]! / 1e6])).toContainEqual([lost!.client, expect.closeTo(8.43, 1)]);
  });

  it('a key that had expired when its time to live was read has no owner', () => {
    const stored = plain.observations.findIndex(({ type, node }) => type === 'sample' && node === 'r2');
    const observations = structuredClone(plain.observations);
    const sample = observations[stored]!;
    if (sample.type !== 'sample') throw new Error('not a sample');
    sample.keys = { 'lock:0': { owner: 'gone', pttlMs: -2 }, 'lock:1': { owner: 'stays', pttlMs: -1 } };
    const { nodes, keys } = dataOf(htmlReport(inputOf({ ...plain, observations })));
    const names = (key: string) => nodes.find(({ name }) => name === 'r2')!.owners[keys.indexOf(key)]!.names;
    expect(names('lock:0')).not.toContain('? gone');
    expect(names('lock:1')).toContain('? stays');
  });

  it('counts in its plots what the history counts', () => {
    const { perSecond, binSeconds, points } = data.plots;
    const sum = (list: number[]) => Math.round(list.reduce((a, b) => a + b, 0) * binSeconds);
    const of = (type: string) => plain.events.filter((event) => event.type === type).length;
    expect([sum(perSecond.granted), sum(perSecond.refused), sum(perSecond.unclear)]).toEqual([
      of('ok'),
      of('fail'),
      of('info'),
    ]);
    expect(points.granted.s).toHaveLength(plain.holds.length);
  });

  it('survives being packed, and contains nothing that HTML interprets', () => {
    const nasty = { ...data, keys: ['</script><script>alert(1)</script>', '\u2028', '日本'] };
    expect(packed(nasty)).toMatch(/^[A-Za-z0-9+/=]+$/);
    expect(unpacked(packed(nasty))).toEqual(JSON.parse(JSON.stringify(nasty)));
  });
});

describe('a long run', () => {
  it('draws neighbours as one, keeps what is around each violation, loses no hold, and says so', () => {
    const { data: long, notes, long: run } = longData(4_000, 3, 100);
    const holds = long.slots.flatMap(({ holds: list }) => list.count);
    expect(holds.reduce((a, b) => a + b, 0)).toBe(4_000);
    expect(holds.length).toBeLessThan(2_500);
    expect(notes.join()).toMatch(
      /this run has [\d,]+ operations: those within 1 s of a violation .* neighbours are drawn as one/,
    );
    for (const { holds: pair } of run.results.violations)
      for (const { client, id } of pair) {
        const { holds: list } = long.slots.find(({ name }) => name === client)!;
        expect(list.count[list.id.indexOf(id)]).toBe(1);
      }
  });

  it('has a mark for each of thousands of violations, in a page of bounded size', () => {
    const page = htmlReport(longInput(20_000, 4_000));
    expect(Buffer.byteLength(page)).toBeLessThan(5e6);
    expect(dataOf(page).violations).toHaveLength(4_000);
    expect(page.includes('900 further violations are in <code>results.json</code> only')).toBe(true);
  });
});
