import { beforeEach, expect, it } from 'vitest';
import { faults } from '../../../nemesis/faults/index.js';
import { type FakeNode, type World, world } from './fakes.js';

let w: World;
/** What Sentinels are set to, by name. */
let periods: Map<string, Map<string, number>>;
/** What they say of the replica r2. */
let heir: Record<string, string>;
let asked: string[];

beforeEach(() => {
  w = world('sentinel');
  const described = { kind: 'sentinel', sentinels: [], masterName: 'mymaster' };
  w.topology.describe = () => described as unknown as ReturnType<World['topology']['describe']>;
  periods = new Map();
  asked = [];
  heir = { name: 'r2', flags: 'slave', 'master-link-status': 'ok', 'info-refresh': '80' };
  for (const sentinel of w.sentinels) {
    const own = new Map([
      ['publish-period', 100],
      ['info-period', 100],
    ]);
    periods.set(sentinel.name, own);
    sentinel.command = async (...argv) => answers(sentinel, own, argv.slice(1).map(String));
  }
});

function answers({ name }: FakeNode, own: Map<string, number>, [what, ...args]: string[]): unknown {
  if (what === 'CKQUORUM') return 'OK 3 usable Sentinels';
  if (what === 'REPLICAS') return [Object.entries(heir).flat()];
  if (what === 'DEBUG') {
    for (let at = 0; at < args.length; at += 2) own.set(args[at]!, Number(args[at + 1]));
    return [...own].flat().map(String);
  }
  if (what !== 'FAILOVER') throw new Error(`the fake Sentinel does not know ${what}`);
  asked.push(`${name} at ${w.clock.nowNs() / 1e6} ms, info-period ${own.get('info-period')} ms`);
  const [old, next] = [w.node('r1'), w.node('r2')];
  w.primary = next;
  next.role = 'master';
  old.role = 'slave';
  return 'OK';
}

const strike = () =>
  w.clock.run(
    faults['sentinel-failover']!.strike(
      { atMs: 0, fault: 'sentinel-failover', target: 'primary', forMs: 12_000 },
      w.nemesis,
    ),
  );

it('asks a Sentinel, whose periods are longer meanwhile and what they were afterwards', async () => {
  const active = await strike();
  expect(asked).toEqual([expect.stringMatching(/^s\d at \d+ ms, info-period 1000 ms$/)]);
  expect(active.record.did).toMatch(/^SENTINEL FAILOVER by s\d: r2 replaced r1$/);
  expect(await w.clock.run(active.heal())).toContain('info-period of s1: 100 ms');
  for (const own of periods.values())
    expect(Object.fromEntries(own)).toEqual({ 'publish-period': 100, 'info-period': 100 });
});

it.each([
  ['whose link is not up yet', { 'master-link-status': 'err' }],
  ['that it takes for dead', { flags: 's_down,slave' }],
  ['of which it has not heard lately', { 'info-refresh': '4000' }],
])('waits for a replica to promote instead of one %s', async (_, lacking) => {
  const fit = heir;
  heir = { ...heir, ...lacking };
  void w.clock.sleep(2_000).then(() => {
    heir = fit;
  });
  const active = await strike();
  expect(Number(/at (\d+) ms/.exec(asked[0]!)![1])).toBeGreaterThanOrEqual(2_000);
  await w.clock.run(active.heal());
});

it('is refused where none comes, and leaves the periods as they were', async () => {
  heir['master-link-status'] = 'err';
  await expect(strike()).rejects.toMatchObject({
    refused: true,
    message: expect.stringMatching(/^s\d knows of no replica that it could promote \(r2: slave, link err\)$/),
  });
  expect(asked).toEqual([]);
  for (const own of periods.values()) expect(own.get('info-period')).toBe(100);
});
