import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { realClock } from '../../../../harness/runtimes/real-clock.js';
import { VirtualAddress } from '../../../../harness/topologies/virtual-address.js';
import type { Host, HostProcess } from '../../../../harness/vocabulary/host.js';

const VIRTUAL = '10.77.255.1';

/** A host on which `ip` runs: it keeps addresses, says what it did in `log`, and can be told not to obey. */
class IpHost {
  readonly addresses = new Set<string>();
  readonly announced: string[][] = [];
  /** Commands that are accepted and do nothing. */
  ignores: string[] = [];
  started = 0;
  process: { die(): void } | undefined;

  constructor(
    readonly name: string,
    readonly address: string,
    private readonly log: string[],
  ) {
    this.addresses.add(address);
  }

  async exec() {
    return { exitCode: 0, stdout: '1\n', stderr: '' };
  }

  spawn(): HostProcess {
    this.started++;
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    let end = () => {};
    const exited = new Promise<{ code: null; signal: 'SIGKILL' }>((resolve) => {
      end = () => resolve({ code: null, signal: 'SIGKILL' });
    });
    stdin.on('data', (data) => {
      for (const line of String(data).trim().split('\n')) this.obey(line, stdout);
    });
    this.process = { die: end };
    return { pid: 1, stdin, stdout, exited, signal: end, state: async () => 'running' };
  }

  private obey(line: string, stdout: PassThrough): void {
    const [object, verb, ...rest] = line.split(' ');
    if (verb === 'show') {
      const device = { ifname: 'eth0', address: `02:${this.name}`, addr_info: this.list().map((local) => ({ local })) };
      stdout.write(`${JSON.stringify([{}, device])}\n`);
      return;
    }
    this.log.push(`${this.name}: ${line}`);
    if (this.ignores.includes(verb!)) return;
    if (object === 'link') this.announced.push(this.list());
    const address = rest[0]!.replace('/32', '');
    if (verb === 'add') this.addresses.add(address);
    if (verb === 'del') this.addresses.delete(address);
  }

  private list(): string[] {
    return [...this.addresses];
  }
}

let log: string[];
let r1: IpHost;
let r2: IpHost;
let r3: IpHost;
let virtual: VirtualAddress;
const host = (fake: IpHost) => fake as unknown as Host;
beforeEach(() => {
  log = [];
  [r1, r2, r3] = ['r1', 'r2', 'r3'].map((name, n) => new IpHost(name, `10.77.0.${n + 2}`, log)) as [
    IpHost,
    IpHost,
    IpHost,
  ];
  virtual = new VirtualAddress(VIRTUAL, [r1, r2, r3].map(host), realClock(0));
});
const holders = async () => (await virtual.holders()).map(({ name }) => name);

describe('a virtual address', () => {
  it('is taken from its present holder before it is given, and announced by the new one', async () => {
    r1.addresses.add(VIRTUAL);
    r3.addresses.add(VIRTUAL);
    await virtual.moveTo(host(r2));
    expect(await holders()).toEqual(['r2']);
    expect(log.slice(0, 2).sort()).toEqual(['r1', 'r3'].map((name) => `${name}: addr del ${VIRTUAL}/32 dev eth0`));
    expect(log.slice(2)).toEqual([`r2: addr add ${VIRTUAL}/32 dev eth0`, 'r2: link set eth0 address 02:r2']);
    expect(r2.announced).toEqual([[r2.address, VIRTUAL]]);
  });

  it('is not given to another while one keeps it', async () => {
    r1.addresses.add(VIRTUAL);
    r1.ignores = ['del'];
    await expect(virtual.moveTo(host(r2))).rejects.toThrow('r1 did not let go of it');
    expect(await holders()).toEqual(['r1']);
    r1.ignores = [];
    await virtual.moveTo(host(r2));
    expect(await holders()).toEqual(['r2']);
  });

  it('did not move where the host does not show it', async () => {
    r2.ignores = ['add'];
    await expect(virtual.moveTo(host(r2))).rejects.toThrow('r2 did not take it');
  });

  it('moves one after the other', async () => {
    await Promise.all([virtual.moveTo(host(r1)), virtual.moveTo(host(r2)), virtual.moveTo(host(r3))]);
    expect(await holders()).toEqual(['r3']);
    const given = log.filter((line) => line.includes('addr add')).map((line) => line.slice(0, 2));
    expect(given).toEqual(['r1', 'r2', 'r3']);
  });

  it('is asked of the host by another `ip` when one has died', async () => {
    r1.addresses.add(VIRTUAL);
    expect(await virtual.isOn(host(r1))).toBe(true);
    r1.process!.die();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await virtual.isOn(host(r1))).toBe(true);
    expect(r1.started).toBe(2);
  });
});
