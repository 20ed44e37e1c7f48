/**
 * `ip` on a host, started once and fed commands: an address that has to move while the machine is busy must not wait for
 * processes to be started, and its waiter asks many times a second.
 *
 * Every answer is what the kernel has after the commands; a change proves nothing by itself.
 */

import { LineSplitter } from '../runtimes/lines.js';
import type { Host, HostProcess } from '../vocabulary/host.js';
import type { Clock } from '../vocabulary/time.js';

export const DEVICE = 'eth0';
const ANSWER_TIMEOUT_MS = 2_000;

export interface DeviceState {
  mac: string;
  addresses: string[];
}

interface Session {
  process: HostProcess;
  /** Who waits for an answer, in the order of the questions. */
  waiting: ((answer: DeviceState | undefined) => void)[];
}

export class IpSession {
  private session: Session | undefined;

  constructor(
    private readonly host: Host,
    private readonly clock: Clock,
  ) {}

  /** Runs `ip` commands, one of which may fail, and resolves with what the device then is. */
  async run(commands: readonly string[]): Promise<DeviceState> {
    this.session ??= this.open();
    const { process, waiting } = this.session;
    const answered = new AbortController();
    let answer: DeviceState | undefined;
    waiting.push((state) => {
      answer = state;
      answered.abort();
    });
    process.stdin.write(`${[...commands, `addr show dev ${DEVICE}`].join('\n')}\n`);
    await this.clock.sleep(ANSWER_TIMEOUT_MS, answered.signal);
    if (answer) return answer;
    // What it says later would be taken for the answer to another question.
    process.signal('SIGKILL');
    throw new Error(`${this.host.name}: ip did not tell what ${DEVICE} is after: ${commands.join('; ') || 'nothing'}`);
  }

  async close(): Promise<void> {
    this.session?.process.signal('SIGKILL');
    await this.session?.process.exited;
  }

  private open(): Session {
    // Its JSON is flushed after every command.
    const process = this.host.spawn(['ip', '-force', '-json', '-batch', '-']);
    const session: Session = { process, waiting: [] };
    const lines = new LineSplitter();
    process.stdout.setEncoding('utf8');
    process.stdout.on('data', (chunk: string) => {
      for (const line of lines.push(chunk)) session.waiting.shift()?.(stateIn(line));
    });
    void process.exited.then(() => {
      if (this.session === session) this.session = undefined;
      for (const tell of session.waiting.splice(0)) tell(undefined);
    });
    return session;
  }
}

function stateIn(json: string): DeviceState | undefined {
  const devices = JSON.parse(json) as { ifname?: string; address: string; addr_info: { local?: string }[] }[];
  // Old versions print an empty object for every device that was not asked for.
  const device = devices.find(({ ifname }) => ifname === DEVICE || ifname?.startsWith(`${DEVICE}@`));
  return device && { mac: device.address, addresses: device.addr_info.flatMap(({ local }) => (local ? [local] : [])) };
}
