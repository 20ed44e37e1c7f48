import { describe, expect, test } from 'vitest';
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

describe('a stop in the midst of a turn', () => {
  const MS = 1e6;

  /** A client that in one turn reads the clock three times and sends something after each; when its second turn is due. */
  async function stopped(
    meanwhile: (client: SimClientProcess, laterMs: (ms: number, run: () => void) => void) => void,
  ) {
    const world = new SimWorld(1);
    const told: string[] = [];
    let bornNs = 0;
    const at = (ns: number) => ((ns - bornNs) / MS).toFixed(0);
    await world.run(
      () =>
        new Promise<void>((resolve) => {
          const laterMs = (ms: number, run: () => void) => world.forHarness(bornNs + ms * MS, run);
          const program = () => {
            bornNs = world.timeline.nowNs;
            const actor = world.actor;
            const reads = (what: string) => {
              actor.moment();
              const nowNs = actor.nowNs();
              actor.acts(() => told.push(`${what} read ${at(nowNs)}, sent ${at(world.timeline.nowNs)}`));
            };
            world.timeline.at(bornNs + 10 * MS, () =>
              actor.turn(() => {
                reads('first');
                reads('second');
                void Promise.resolve().then(() => reads('third'));
              }),
            );
            world.timeline.at(bornNs + 20 * MS, () => actor.turn(() => reads('next turn')));
            const stop = client.stopWithin(2, 100);
            void stop.stopped.then((does) => told.push(`stopped ${does ? at(world.timeline.nowNs) : 'never'}`));
            void stop.over.then(() => told.push(`over ${at(world.timeline.nowNs)}`));
            meanwhile(client, laterMs);
            laterMs(500, resolve);
            return () => {};
          };
          const client = new SimClientProcess(owner, 100, program, world, () => {});
        }),
    );
    return told;
  }

  test('what it read before is old when it goes on, and what it does then is late', async () => {
    const states: string[] = [];
    const told = await stopped((client, laterMs) => {
      for (const ms of [5, 50, 150]) laterMs(ms, () => void client.state().then((state) => states.push(state)));
    });
    expect(told).toEqual([
      'first read 10, sent 10',
      'stopped 10',
      'over 110',
      'second read 110, sent 110',
      'third read 110, sent 110',
      'next turn read 110, sent 110',
    ]);
    expect(states).toEqual(['running', 'stopped', 'running']);
  });

  test('of one that is killed meanwhile nothing more comes', async () => {
    const told = await stopped((client, laterMs) => laterMs(50, () => client.signal('SIGKILL')));
    expect(told).toEqual(['first read 10, sent 10', 'stopped 10', 'over 50']);
  });

  test('a signal that stops it, too, outlasts it', async () => {
    const told = await stopped((client, laterMs) => {
      laterMs(50, () => client.signal('SIGSTOP'));
      laterMs(200, () => client.signal('SIGCONT'));
    });
    expect(told).toEqual([
      'first read 10, sent 10',
      'stopped 10',
      'over 110',
      'second read 110, sent 200',
      'third read 110, sent 200',
      'next turn read 200, sent 200',
    ]);
  });

  test('one that was given up stops nobody', async () => {
    const told = await stopped((client, laterMs) => {
      const another = client.stopWithin(1, 100);
      another.cancel();
      laterMs(1, () => {});
    });
    expect(told).toEqual([
      'stopped never',
      'over 0',
      'first read 10, sent 10',
      'second read 10, sent 10',
      'third read 10, sent 10',
      'next turn read 20, sent 20',
    ]);
  });
});
