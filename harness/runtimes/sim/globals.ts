/**
 * Gives the code of this Node process the world's time, network and randomness in place of the machine's: timers, Date,
 * performance, process.hrtime, Math.random, node:net, node:crypto. Code is not changed for it, be it the harness, ioredis or a
 * lock. While there is no world, everything is the machine's.
 *
 * For a process that does nothing else: what is replaced is replaced for good.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { CORES } from './cores.js';
import { refuse, theWorld, worldNow } from './current-world.js';
import { machinesOwn } from './machines-own.js';
import { SimSocket } from './socket.js';
import type { Appointment } from './timeline.js';

const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Callback = (...args: unknown[]) => void;

/** What `setTimeout`, `setInterval` and `setImmediate` return. */
class SimTimer {
  private appointment: Appointment | undefined;
  private over = false;
  private runsNoMore = () => {};

  constructor(
    private readonly callback: () => void,
    private readonly delayMs: number,
    private readonly again: boolean,
    private readonly actor = theWorld().actor,
  ) {
    this.actor.moment();
    this.arm();
  }

  private arm(): void {
    const { timeline } = theWorld();
    const lateNs = this.delayMs === 0 ? 0 : this.actor.lateNs();
    const atNs = this.actor.nowNs() + this.delayMs * 1e6 + lateNs;
    this.runsNoMore();
    this.runsNoMore = theWorld().timerRuns(this.actor, atNs);
    this.appointment = timeline.at(atNs, () => {
      this.runsNoMore();
      // One that its process is stopped for can still be cleared by what runs before it.
      this.actor.turn(() => {
        if (this.over) return;
        if (this.again) this.arm();
        else this.over = true;
        this.callback();
      });
    });
  }

  close(): this {
    this.over = true;
    this.runsNoMore();
    this.appointment?.cancel();
    return this;
  }

  refresh(): this {
    if (this.over) return this;
    this.appointment?.cancel();
    this.arm();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function delayOf(ms: unknown): number {
  const asked = Math.trunc(Number(ms));
  return asked >= 1 && asked <= LONGEST_TIMER_MS ? asked : 1;
}

/** Replaces what is to be replaced. Call it before any other code of the process is loaded. */
export function replaceGlobals(): void {
  const real = { ...machinesOwn, hrtime: process.hrtime, uptime: process.uptime };
  const start =
    (otherwise: unknown, make: (callback: () => void, ms: unknown) => SimTimer, hasDelay: boolean) =>
    (callback: Callback, ...rest: unknown[]) => {
      if (!worldNow()) return (otherwise as Callback)(callback, ...rest);
      const [ms, ...args] = hasDelay ? rest : [0, ...rest];
      return make(() => callback(...args), ms);
    };
  const clear = (timer: unknown) => {
    if (timer instanceof SimTimer) timer.close();
    else if (timer !== undefined && timer !== null) real.clearTimeout(timer as NodeJS.Timeout);
  };
  const timing = {
    setTimeout: start(real.setTimeout, (callback, ms) => new SimTimer(callback, delayOf(ms), false), true),
    setInterval: start(real.setInterval, (callback, ms) => new SimTimer(callback, delayOf(ms), true), true),
    setImmediate: start(real.setImmediate, (callback) => new SimTimer(callback, 0, false), false),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  };
  Object.assign(globalThis, timing);
  Object.assign(timers, timing);
  replacePromisedTimers(timing.setTimeout, timing.setImmediate, timing.setInterval);
  replaceClocks(real);
  replaceRandomness();
  replaceNetwork();
  Object.assign(os, { availableParallelism: () => CORES });
  syncBuiltinESMExports();
}

interface Abortable {
  signal?: AbortSignal;
}

/** What Node's own promised timers reject with, whatever the reason is. */
function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', { cause: reason });
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}

function replacePromisedTimers(
  later: (callback: Callback, ms: unknown) => unknown,
  soon: (callback: Callback) => unknown,
  regularly: (callback: Callback, ms: unknown) => unknown,
) {
  const until = (begin: (done: () => void) => unknown, value: unknown, signal: AbortSignal | undefined) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const timer = begin(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve(value);
      });
      const onAbort = () => {
        (timer as SimTimer).close?.();
        reject(abortError(signal!));
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  const wait = (ms: unknown, value: unknown, options?: Abortable) =>
    until((done) => later(done, ms), value, options?.signal);
  const yieldTurn = (value?: unknown, options?: Abortable) => until(soon, value, options?.signal);
  /** As Node's, it goes on while whoever iterates is about something, and yields then what came meanwhile. */
  async function* every(ms: unknown, value: unknown, { signal }: Abortable = {}) {
    if (signal?.aborted) throw abortError(signal);
    let ticks = 0;
    let goOn = () => {};
    const timer = regularly(() => {
      ticks++;
      goOn();
    }, ms);
    const onAbort = () => goOn();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      for (;;) {
        if (ticks === 0 && !signal?.aborted) await new Promise<void>((resolve) => (goOn = resolve));
        for (; ticks > 0; ticks--) yield value;
        if (signal?.aborted) throw abortError(signal);
      }
    } finally {
      clearInterval(timer as NodeJS.Timeout);
      signal?.removeEventListener('abort', onAbort);
    }
  }
  Object.assign(timersPromises, { setTimeout: wait, setImmediate: yieldTurn, setInterval: every });
  Object.assign(timersPromises.scheduler, {
    wait: (ms: unknown, options?: Abortable) => wait(ms, undefined, options),
    yield: () => yieldTurn(),
  });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  AbortSignal.timeout = (ms) => {
    if (!worldNow()) return timeout(ms);
    const controller = new AbortController();
    later(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
    return controller.signal;
  };
}

function replaceClocks(real: { hrtime: typeof process.hrtime; uptime: typeof process.uptime }): void {
  const RealDate = Date;
  const readNs = () => {
    const { actor } = theWorld();
    actor.moment();
    return actor.nowNs();
  };
  const wallMs = () => {
    const ns = readNs();
    const { timeline, actor } = theWorld();
    return Math.floor(timeline.wallMsAt(ns) + actor.aheadMs());
  };
  const now = () => (worldNow() ? wallMs() : RealDate.now());
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
    apply: () => new RealDate(now()).toString(),
    get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
  const ns = () => BigInt(readNs());
  const hrtime = ((before?: [number, number]) => {
    if (!worldNow()) return real.hrtime(before);
    const passed = ns() - (before ? BigInt(before[0]) * 1_000_000_000n + BigInt(before[1]) : 0n);
    return [Number(passed / 1_000_000_000n), Number(passed % 1_000_000_000n)];
  }) as typeof process.hrtime;
  hrtime.bigint = () => (worldNow() ? ns() : real.hrtime.bigint());
  process.hrtime = hrtime;
  process.uptime = () => (worldNow() ? readNs() / 1e9 : real.uptime());
  const performanceNow = performance.now.bind(performance);
  performance.now = () => (worldNow() ? readNs() / 1e6 : performanceNow());
}

function replaceRandomness(): void {
  const real = {
    random: Math.random,
    randomBytes: crypto.randomBytes,
    randomInt: crypto.randomInt,
    randomUUID: crypto.randomUUID,
    randomFillSync: crypto.randomFillSync,
    randomFill: crypto.randomFill,
  };
  Math.random = () => (worldNow() ? theWorld().actor.random.float() : real.random());
  const drawn = (count: number) =>
    Buffer.from(Array.from({ length: count }, () => theWorld().actor.random.int(0, 255)));
  const fill = <View extends ArrayBufferView>(view: View): View => {
    drawn(view.byteLength).copy(Buffer.from(view.buffer, view.byteOffset, view.byteLength));
    return view;
  };
  const randomBytes = (count: number, tell?: (error: Error | null, bytes: Buffer) => void) => {
    if (!worldNow()) return tell ? real.randomBytes(count, tell) : real.randomBytes(count);
    const bytes = drawn(count);
    return tell ? void setImmediate(() => tell(null, bytes)) : bytes;
  };
  const randomInt = (...args: unknown[]) => {
    if (!worldNow()) return (real.randomInt as (...args: unknown[]) => number)(...args);
    const tell = args.at(-1);
    const bounds = args.filter((arg) => typeof arg === 'number');
    const [min, end] = bounds.length > 1 ? [bounds[0]!, bounds[1]!] : [0, bounds[0]!];
    const value = min + Math.floor(theWorld().actor.random.float() * (end - min));
    return typeof tell === 'function' ? void setImmediate(() => tell(null, value)) : value;
  };
  const randomUUID = () => {
    if (!worldNow()) return real.randomUUID();
    const bytes = drawn(16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  const part = (view: NodeJS.ArrayBufferView, offset = 0, size = view.byteLength - offset) =>
    fill(new Uint8Array(view.buffer, view.byteOffset + offset, size));
  const randomFillSync = (view: NodeJS.ArrayBufferView, ...where: [offset?: number, size?: number]) => {
    if (!worldNow()) return (real.randomFillSync as Callback)(view, ...where);
    part(view, ...where);
    return view;
  };
  const randomFill = (view: NodeJS.ArrayBufferView, ...rest: unknown[]) => {
    if (!worldNow()) return (real.randomFill as Callback)(view, ...rest);
    part(view, ...(rest.slice(0, -1) as [offset?: number, size?: number]));
    setImmediate(() => (rest.at(-1) as Callback)(null, view));
  };
  const getRandomValues = <View extends ArrayBufferView>(view: View) =>
    worldNow() ? fill(view) : crypto.webcrypto.getRandomValues(view as never);
  Object.assign(crypto, {
    randomBytes,
    pseudoRandomBytes: randomBytes,
    randomInt,
    randomUUID,
    randomFillSync,
    randomFill,
  });
  const web = Object.create(crypto.webcrypto, {
    randomUUID: { value: randomUUID },
    getRandomValues: { value: getRandomValues },
    subtle: {
      get() {
        return refuse('WebCrypto, whose work is done in threads');
      },
    },
  });
  Object.defineProperty(globalThis, 'crypto', { value: web, configurable: true });
}

function replaceNetwork(): void {
  const real = { connect: net.connect };
  const connect = (...args: unknown[]) =>
    worldNow() ? new SimSocket(theWorld()).connect(...args) : (real.connect as Callback)(...args);
  // What makes a socket by itself makes one of the world's.
  const Socket = new Proxy(net.Socket, {
    construct: (target, args, newTarget) =>
      worldNow() ? new SimSocket(theWorld()) : (Reflect.construct(target, args, newTarget) as object),
  });
  Object.assign(net, { connect, createConnection: connect, Socket });
}
