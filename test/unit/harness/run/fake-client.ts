/** A lock client that a test plays by hand: what it prints is written by the test, what it is asked can be read. */
import { PassThrough } from 'node:stream';
import type { Host, HostProcess, ProcessExit } from '../../../../harness/vocabulary/host.js';

export interface FakeProcess extends HostProcess {
  /** Writes raw text to the process's standard output. */
  print(text: string): void;
  /** Answers a request as the protocol says. */
  answer(message: object): void;
  /** Requests received so far. */
  readonly asked: Record<string, unknown>[];
  /** Resolves with the next request. */
  nextRequest(): Promise<Record<string, unknown>>;
  setState(state: 'running' | 'stopped'): void;
  exit(exit: ProcessExit): void;
  readonly signals: string[];
}

export function fakeHost(name: string): { host: Host; processes: FakeProcess[] } {
  const processes: FakeProcess[] = [];
  const host = {
    name,
    address: '10.77.0.9',
    folder: '/nowhere',
    spawn: () => {
      const process = fakeProcess();
      processes.push(process);
      return process;
    },
  } as unknown as Host;
  return { host, processes };
}

function fakeProcess(): FakeProcess {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const asked: Record<string, unknown>[] = [];
  const waiting: ((request: Record<string, unknown>) => void)[] = [];
  let read = 0;
  let state: 'running' | 'stopped' | 'dead' = 'running';
  let exit!: (exit: ProcessExit) => void;
  const exited = new Promise<ProcessExit>((resolve) => {
    exit = (how) => {
      state = 'dead';
      resolve(how);
    };
  });
  stdin.on('data', (chunk: Buffer) => {
    for (const line of String(chunk).split('\n').filter(Boolean)) {
      asked.push(JSON.parse(line));
      const next = waiting.shift();
      if (next) next(asked[read++]!);
    }
  });
  const signals: string[] = [];
  return {
    pid: 4711,
    stdin,
    stdout,
    exited,
    asked,
    signals,
    print: (text) => stdout.write(text),
    answer: (message) => stdout.write(`${JSON.stringify(message)}\n`),
    nextRequest: () =>
      read < asked.length ? Promise.resolve(asked[read++]!) : new Promise((resolve) => waiting.push(resolve)),
    setState: (next) => {
      state = next;
    },
    exit: (how) => exit(how),
    signal: (signal) => {
      signals.push(signal);
      if (signal === 'SIGKILL') exit({ code: null, signal });
    },
    state: async () => state,
  };
}
