/** A server's process that remembers whether we ended it: one that ends otherwise died by itself. */
import type { HostProcess, ProcessExit } from '../vocabulary/host.js';

export class ServerProcess implements HostProcess {
  /** True once it was sent a signal that ends it. */
  wasEnded = false;
  readonly exited: Promise<ProcessExit>;

  constructor(private readonly process: HostProcess) {
    this.exited = process.exited;
  }

  get pid() {
    return this.process.pid;
  }

  get stdin() {
    return this.process.stdin;
  }

  get stdout() {
    return this.process.stdout;
  }

  signal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.wasEnded = true;
    this.process.signal(signal);
  }

  state(): Promise<'running' | 'stopped' | 'dead'> {
    return this.process.state();
  }
}
