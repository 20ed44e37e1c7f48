/** `process`, as the code of one lock client sees it: nothing of the machine's, and nothing that other clients would share. */
import { EventEmitter } from 'node:events';
import { refusing } from './current-world.js';

/** What of a process its own code sees. */
export interface OwnProcess {
  pid: number;
  hostname: string;
  exit(code: number): void;
}

const FOLDER = '/data';
const MEBIBYTES = 2 ** 20;
const MEMORY = {
  rss: 64 * MEBIBYTES,
  heapTotal: 32 * MEBIBYTES,
  heapUsed: 16 * MEBIBYTES,
  external: 0,
  arrayBuffers: 0,
};
const EMITTER = Object.getOwnPropertyNames(EventEmitter.prototype).filter(
  (name) => name !== 'constructor' && typeof (EventEmitter.prototype as never)[name] === 'function',
);
const REFUSED = ['kill', 'abort', 'chdir', 'dlopen', 'binding', 'getActiveResourcesInfo', 'send', 'setuid', 'setgid'];

export function ownProcess(own: OwnProcess): NodeJS.Process {
  const emitter = new EventEmitter();
  // Its listeners are this client's: on the process of them all they would pile up, and hear of what others threw.
  const methods = EMITTER.map((name): [string, unknown] => [
    name,
    (emitter as unknown as Record<string, () => unknown>)[name]!.bind(emitter),
  ]);
  const values: Record<string, unknown> = {
    ...Object.fromEntries(methods),
    ...Object.fromEntries(REFUSED.map((name) => [name, refusing(`process.${name}`)])),
    pid: own.pid,
    ppid: 1,
    env: {},
    argv: ['node', 'lock'],
    argv0: 'node',
    execArgv: [],
    execPath: '/usr/bin/node',
    title: 'node',
    exitCode: undefined,
    exit: (code = 0) => own.exit(code),
    cwd: () => FOLDER,
    umask: () => 0o22,
    getuid: () => 0,
    geteuid: () => 0,
    getgid: () => 0,
    getegid: () => 0,
    memoryUsage: Object.assign(() => ({ ...MEMORY }), { rss: () => MEMORY.rss }),
    cpuUsage: () => ({ user: 0, system: 0 }),
    resourceUsage: () => ({}),
  };
  const descriptors = Object.entries(values).map(([name, value]) => [
    name,
    { value, writable: true, enumerable: true },
  ]);
  return Object.create(process, Object.fromEntries(descriptors)) as NodeJS.Process;
}
