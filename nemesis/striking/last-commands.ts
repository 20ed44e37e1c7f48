/** What each connection of a node asked last, in the node's own order, from its MONITOR. */
import type { ServerNode } from '../../harness/vocabulary/topology.js';
import { waitFor } from '../levers/basics.js';
import type { NemesisContext } from './context.js';

/** MONITOR tells what was run within milliseconds of it; a machine that is busy with more takes longer to read it. */
const SHOWN_WITHIN_MS = 5_000;

export class LastCommands {
  private readonly last = new Map<string, readonly string[]>();
  /** Marks of this watch that were seen. Several watches ask by one connection: what was asked last by it may be another's. */
  private readonly seen = new Set<string>();
  private readonly mark: string;
  private marks = 0;
  private close: () => void = () => {};

  private constructor(
    readonly node: ServerNode,
    private readonly context: NemesisContext,
  ) {
    this.mark = `seen by ${context.random.int(0, 2 ** 31 - 1)}`;
  }

  static async watch(node: ServerNode, context: NemesisContext): Promise<LastCommands> {
    const watch = new LastCommands(node, context);
    const monitoring = await node.monitor(({ source, argv }) => {
      watch.last.set(source, argv);
      if (argv[1]?.startsWith(watch.mark)) watch.seen.add(argv[1]);
    });
    watch.close = () => monitoring.close();
    return watch;
  }

  /** The last command that came from `source` (ADDRESS:PORT), of all that the node has run by now; undefined: none did. */
  async lastOf(source: string): Promise<readonly string[] | undefined> {
    await this.caughtUp();
    return this.last.get(source);
  }

  async heal(): Promise<string> {
    this.close();
    return '';
  }

  /** Resolves when everything is known that the node ran until now. */
  private async caughtUp(): Promise<void> {
    const mark = `${this.mark}, ${this.marks++}`;
    await this.node.command('ECHO', mark);
    const { context } = this;
    const timing = {
      timeoutMs: SHOWN_WITHIN_MS,
      pollMs: 1,
      doing: `before ${this.node.name} could be watched`,
      context,
    };
    if (!(await waitFor(() => this.seen.delete(mark) || undefined, timing)))
      throw new Error(`${this.node.name} does not show the commands that it runs`);
  }
}
