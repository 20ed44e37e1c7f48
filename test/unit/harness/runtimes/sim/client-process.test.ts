import { expect, test } from 'vitest';
import { type ProgramPorts, SimClientProcess } from '../../../../../harness/runtimes/sim/client-process.js';
import type { WireEnd } from '../../../../../harness/runtimes/sim/wire.js';
import { SimWorld } from '../../../../../harness/runtimes/sim/world.js';

const owner = { name: 'c1', address: '10.77.0.3', aheadMs: () => 0 };
/** How often a run looks at a server, ns. */
const LOOKS_EVERY_NS = 100e6;

test('a client takes longer to start than a look at a server is away, and hears in order what was said meanwhile', async () => {
  const world = new SimWorld(1);
  const heard: string[] = [];
  let startNs = Number.NaN;
  await world.run(
    () =>
      new Promise<void>((resolve) => {
        const bornNs = world.timeline.nowNs;
        const program = () => {
          startNs = world.timeline.nowNs - bornNs;
          world.timeline.at(world.timeline.nowNs + 1e6, () => world.inTurnOf(world.harness, resolve));
          return (line: string) => void heard.push(line);
        };
        const client = new SimClientProcess(owner, 100, program, world, () => {});
        client.stdin.write('first\n');
        const says = (line: string, ns: number) =>
          world.timeline.at(bornNs + ns, () => world.inTurnOf(world.harness, () => void client.stdin.write(line)));
        says('second\n', LOOKS_EVERY_NS / 2);
        says('third\n', LOOKS_EVERY_NS);
      }),
  );
  expect(startNs).toBeGreaterThan(LOOKS_EVERY_NS);
  expect(heard).toEqual(['first', 'second', 'third']);
});

test('what listens on a port of its host answers there, and no longer once it is dead', async () => {
  const world = new SimWorld(1);
  const seen: string[] = [];
  await world.run(
    () =>
      new Promise<void>((resolve) => {
        world.network.hosts.set(owner.address, owner.name).set('10.77.0.4', 'c2');
        const end = (name: string): WireEnd => ({
          opened: () => seen.push(`${name} opened`),
          refused: () => seen.push(`${name} refused`),
          received: (bytes) => seen.push(`${name} received ${bytes}`),
          finished: (how) => seen.push(`${name} ${how}`),
        });
        const dial = (name: string) =>
          world.network.dial(
            { host: 'c2', address: '10.77.0.4', port: 40_000 },
            { address: owner.address, port: 7000 },
            end(name),
          );
        const later = (ms: number, happen: () => void) => world.forHarness(world.timeline.nowNs + ms * 1e6, happen);
        const program = (ports: ProgramPorts) => {
          ports.listen(
            7000,
            ({ send }) =>
              (text) =>
                send(text.toUpperCase()),
          );
          const first = dial('first');
          later(1, () => first.send(Buffer.from('word')));
          later(2, () => listener.signal('SIGKILL'));
          later(3, () => dial('second'));
          later(4, resolve);
          return () => {};
        };
        const listener = new SimClientProcess(owner, 100, program, world, () => {});
      }),
  );
  expect(seen).toEqual(['first opened', 'first received WORD', 'first ended', 'second refused']);
});
