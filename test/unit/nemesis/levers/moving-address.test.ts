/** Cuts in a deployment where an address moves between hosts: the receiver drops as well, whatever address was meant. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecResult } from '../../../../harness/vocabulary/host.js';
import { createLevers } from '../../../../nemesis/levers/index.js';
import { bothWays, NetworkLever, oneWay } from '../../../../nemesis/levers/network.js';
import { FakeClock, FakeHost, world } from '../fakes.js';

/** A host that also keeps routing rules. */
class RuleHost extends FakeHost {
  readonly dropped = new Set<string>();
  /** Changes of rules that are accepted and do nothing. */
  deafTo: ('add' | 'del')[] = [];

  override async exec(argv: readonly string[]): Promise<ExecResult> {
    const script = argv[0] === 'sh' ? argv[2]! : '';
    if (script.includes('rule $op')) {
      const op = argv[4] as 'add' | 'del';
      for (const address of this.deafTo.includes(op) ? [] : argv.slice(5)) {
        if (op === 'add') this.dropped.add(address);
        else this.dropped.delete(address);
      }
      return this.rules();
    }
    return argv[0] === 'ip' && argv[2] === 'rule' ? this.rules() : super.exec(argv);
  }

  private rules(): ExecResult {
    const shown = [...this.dropped].map((src) => ({ priority: 10, src, iif: 'eth0', action: 'blackhole' }));
    return { exitCode: 0, stdout: JSON.stringify(shown), stderr: '' };
  }
}

let r1: RuleHost;
let r2: RuleHost;
let c1: RuleHost;
let lever: NetworkLever;
beforeEach(() => {
  [r1, r2, c1] = ['r1', 'r2', 'c1'].map((name, n) => new RuleHost(name, `10.0.0.${n + 1}`, new FakeClock())) as [
    RuleHost,
    RuleHost,
    RuleHost,
  ];
  lever = new NetworkLever(world('single').clock, [r1, r2]);
});

describe('a cut of a host that may have the address', () => {
  it('is made on both sides and healed on both', async () => {
    const cut = await lever.cut(bothWays([c1], [r1]));
    expect([...c1.routes]).toEqual([r1.address]);
    expect([...r1.dropped]).toEqual([c1.address]);
    // A client has no address but its own: what is sent there is cut by the route.
    expect([...c1.dropped]).toEqual([]);
    expect(cut.proof).toBe('blackhole routes: c1 to r1; r1 to c1; dropped on arrival: r1 from c1');
    expect(await cut.heal()).toBe('blackhole routes gone: c1 to r1; r1 to c1; dropped on arrival no more: r1 from c1');
    expect([...r1.dropped, ...r1.routes, ...c1.routes]).toEqual([]);
  });

  it('one way drops only that way', async () => {
    await lever.cut(oneWay([r1], [c1]));
    expect([...r1.dropped, ...c1.dropped, ...c1.routes]).toEqual([]);
    await lever.cut(oneWay([c1], [r1]));
    expect([...r1.dropped]).toEqual([c1.address]);
  });

  it('is kept by another fault that wants it, too', async () => {
    const first = await lever.cut(oneWay([c1], [r1, r2]));
    const second = await lever.cut(oneWay([c1], [r1]));
    expect(await first.heal()).toContain('kept by another fault: c1 to r1; r1 from c1');
    expect([...r1.dropped, ...r2.dropped]).toEqual([c1.address]);
    await second.heal();
    expect([...r1.dropped]).toEqual([]);
  });

  it('is rejected, and nothing left cut, when the rule is not there', async () => {
    r1.deafTo = ['add'];
    await expect(lever.cut(bothWays([c1], [r1]))).rejects.toThrow('r1 has no rule that drops what comes from c1');
    expect([...c1.routes, ...r1.routes, ...r1.dropped]).toEqual([]);
  });

  it('is not healed while the rule is there, and can be healed again', async () => {
    const cut = await lever.cut(oneWay([c1], [r1]));
    r1.deafTo = ['del'];
    await expect(cut.heal()).rejects.toThrow('r1 still drops what comes from c1');
    expect(await lever.trouble(r1)).toEqual([`r1 still drops what comes from ${c1.address}`]);
    r1.deafTo = [];
    await cut.heal();
    expect(await lever.trouble(r1)).toEqual([]);
  });
});

describe('which hosts may have it', () => {
  const dropsOnArrival = async (kind: 'replica' | 'single') => {
    const node = { ...world('single').node('r1'), host: r1 };
    const describe = () => ({ kind, node: { name: 'primary', host: '10.0.9.9', port: 6379 } });
    const { clock, context } = world('single');
    const levers = createLevers(clock, { nodes: [node as never], replicated: true, describe }, 5_000, context.random);
    await levers.network.cut(bothWays([c1], [r1]));
    return r1.dropped.size > 0;
  };

  it('are the data nodes of a deployment with a virtual address, and no host elsewhere', async () => {
    expect(await dropsOnArrival('replica')).toBe(true);
    r1.dropped.clear();
    expect(await dropsOnArrival('single')).toBe(false);
  });
});
