/** Which packets pass: what is told of a cut or of a host that is off the network, counted, and read back whole. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecResult, Host } from '../../../../harness/vocabulary/host.js';
import { bothWays, NetworkLever, oneWay } from '../../../../nemesis/levers/network.js';
import { FakeClock, FakeHost } from '../fakes.js';

const clock = new FakeClock();
/** What some of its commands print, and how they end, instead of what they do. */
class SayingHost extends FakeHost {
  says: { when: string; instead: Partial<ExecResult> }[] = [];

  override async exec(argv: readonly string[]): Promise<ExecResult> {
    const said = this.says.find(({ when }) => argv.join(' ').includes(when));
    return said ? { exitCode: 0, stdout: '', stderr: '', ...said.instead } : super.exec(argv);
  }
}

let r1: SayingHost;
let r2: SayingHost;
let c1: SayingHost;
let lever: NetworkLever;
beforeEach(() => {
  [r1, r2, c1] = ['r1', 'r2', 'c1'].map((name, n) => new SayingHost(name, `10.0.0.${n + 1}`, clock)) as [
    SayingHost,
    SayingHost,
    SayingHost,
  ];
  lever = new NetworkLever(clock);
});

describe('a cut', () => {
  it('is told pair by pair, each in its direction, and of no host with itself', async () => {
    const { effects } = await lever.cut([...bothWays([r1, r2], [r2]), ...oneWay([c1], [r1])]);
    expect(effects).toEqual([
      {
        kind: 'cut',
        pairs: [
          ['r1', 'r2'],
          ['r2', 'r1'],
          ['c1', 'r1'],
        ],
        sinceNs: clock.nowNs(),
      },
    ]);
  });

  it('is known whichever way it goes, and until it is healed', async () => {
    const { heal } = await lever.cut(oneWay([r1], [r2]));
    const isCut = (one: Host, other: Host) => lever.isCut([one, other]);
    expect([isCut(r1, r2), isCut(r2, r1), isCut(r1, c1)]).toEqual([true, true, false]);
    await heal();
    expect(isCut(r1, r2)).toBe(false);
  });

  it('that failed in part is taken back where it had not, with every reason', async () => {
    r1.ignores = ['add'];
    const waiting = new NetworkLever(clock, [], async () => {
      throw new Error('what waits on the link could not be dropped');
    });
    await expect(waiting.cut(bothWays([r1], [r2]))).rejects.toThrow(
      'r1 has no blackhole route to r2; what waits on the link could not be dropped',
    );
    expect([r1.routes.size, r2.routes.size]).toEqual([0, 0]);
    expect(waiting.isCut([r1, r2])).toBe(false);
  });

  it('that is healed while another keeps a part of it says what is gone and what is kept', async () => {
    const first = await lever.cut(oneWay([r1], [r2, c1]));
    await lever.cut(oneWay([r1], [r2]));
    expect(await first.heal()).toBe('blackhole routes gone: r1 to c1; kept by another fault: r1 to r2');
  });

  it('whose routes cannot be read is none', async () => {
    r1.says = [{ when: 'route', instead: { exitCode: 1, stderr: 'no such device' } }];
    await expect(lever.cut(oneWay([r1], [r2]))).rejects.toThrow('no such device');
  });
});

describe('a host off the network', () => {
  it('is told, and cut from everybody until the last fault lets it go', async () => {
    const first = await lever.off(r1);
    expect(first.proof).toBe("r1's eth0 is down");
    expect(first.effects).toEqual([{ kind: 'off-network', who: ['r1'], sinceNs: clock.nowNs() }]);
    const isCut = () => [lever.isCut([r1, r2]), lever.isCut([c1, r1]), lever.isCut([c1, r2])];
    expect(isCut()).toEqual([true, true, false]);
    const second = await lever.off(r1);
    expect(await first.heal()).toBe('r1 is kept off the network by another fault');
    expect([r1.link, ...isCut()]).toEqual([false, true, true, false]);
    expect(await second.heal()).toBe("r1's eth0 is up and has its route");
    expect([r1.link, ...isCut()]).toEqual([true, false, false, false]);
  });

  it('is taken off once, however many faults do it', async () => {
    await lever.off(r1);
    r1.says = [{ when: 'link set', instead: { exitCode: 1, stderr: 'told twice' } }];
    await lever.off(r1);
  });

  it.each([
    ['its link says that it is up', { when: 'link show', instead: { stdout: '[{"flags":[]}]' } }],
    ['something is routed there', { when: 'route show', instead: { stdout: '[]' } }],
    ['its routes can be read', { when: 'route show', instead: { exitCode: 1, stdout: '[{}]' } }],
  ])('is not on it again before %s', async (_, broken) => {
    const { heal } = await lever.off(r1);
    r1.says = [broken];
    await expect(heal()).rejects.toThrow('r1: eth0 does not come up');
    r1.says = [];
    await heal();
    expect(lever.isCut([r1, r2])).toBe(false);
  });

  it('is not where its link refuses, or cannot be read', async () => {
    r1.says = [{ when: 'link set', instead: { exitCode: 2, stderr: 'not permitted' } }];
    await expect(lever.off(r1)).rejects.toThrow('r1: ip link set eth0 down: not permitted');
    r1.says = [{ when: 'link show', instead: { exitCode: 1, stderr: 'no such device' } }];
    await expect(lever.off(r1)).rejects.toThrow('r1: its link cannot be read: no such device');
    expect([r1.link, lever.isCut([r1, r2])]).toEqual([true, false]);
  });
});

it('a host whose filter cannot be read is said to have one', async () => {
  r1.says = [{ when: 'rp_filter', instead: { exitCode: 1, stdout: '0\n0', stderr: 'no such file' } }];
  expect(await lever.oneWayTrouble([r1])).toEqual(['r1 filters by reverse path (rp_filter 0, 0)']);
});
