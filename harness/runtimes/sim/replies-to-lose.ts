/** Answers that links are to lose, each with its connection, and those that they have lost. */

interface Losing {
  fromPort: number;
  left: number;
  which: 'any' | 'numbers';
  ports: number[];
}

const COLON = ':'.charCodeAt(0);

/** Links by any name. */
export class RepliesToLose {
  private readonly losing = new Map<string, Losing>();

  /** As `OwnNetwork.loseReplies`. */
  lose(link: string, fromPort: number, count: number, which: 'any' | 'numbers'): void {
    this.losing.set(link, { fromPort, left: count, which, ports: [...this.of(link).ports] });
  }

  of(link: string): { left: number; ports: readonly number[] } {
    return this.losing.get(link) ?? { left: 0, ports: [] };
  }

  /** Whether the link loses this answer; then it loses one less from now on. */
  takes(link: string, ends: { dialer: { port: number }; listener: { port: number } }, answer: Buffer): boolean {
    const losing = this.losing.get(link);
    if (!losing || losing.left === 0 || ends.listener.port !== losing.fromPort) return false;
    if (losing.which === 'numbers' && answer[0] !== COLON) return false;
    losing.left--;
    losing.ports.push(ends.dialer.port);
    return true;
  }
}
