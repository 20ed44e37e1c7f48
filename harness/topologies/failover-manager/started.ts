/** The failover manager as the harness sees it: a process that says what it did, and answers what it sees. */
import { fileURLToPath } from 'node:url';
import { LineSplitter } from '../../runtimes/lines.js';
import type { Host } from '../../vocabulary/host.js';
import type { Clock } from '../../vocabulary/time.js';
import type { News, Order } from './messages.js';

/** Its argument after that of Node. */
export const FAILOVER_MANAGER = fileURLToPath(new URL('./main.js', import.meta.url));
const ANSWER_TIMEOUT_MS = 1_000;

type View = Extract<News, { news: 'view' }>;

export interface FailoverManager {
  /** Asked of the program itself. Rejects when it is dead or does not answer in time. */
  view(): Promise<View>;
  /** Ends it; nothing more is heard of it. */
  stop(): Promise<void>;
}

/** Starts the program on `host`; `hear` gets everything it says unasked. */
export function startFailoverManager(
  host: Host,
  order: Order,
  clock: Clock,
  hear: (news: Exclude<News, View>) => void,
): FailoverManager {
  const process = host.spawn([globalThis.process.execPath, FAILOVER_MANAGER]);
  const asked = new Map<number, (view: View) => void>();
  const lines = new LineSplitter();
  let stopped = false;
  let dead = false;
  let nextId = 1;
  process.stdout.setEncoding('utf8');
  process.stdout.on('data', (chunk: string) => {
    for (const line of lines.push(chunk)) {
      const news = JSON.parse(line) as News;
      if (news.news === 'view') asked.get(news.id)?.(news);
      else if (!stopped) hear(news);
    }
  });
  void process.exited.then(({ code, signal }) => {
    dead = true;
    const what = `it ended (${signal ?? `exit status ${code}`}); its last words are in logs/${host.name}.log`;
    if (!stopped) hear({ news: 'trouble', what });
  });
  // The password must not be in anybody's list of processes.
  process.stdin.write(`${JSON.stringify(order)}\n`);

  return {
    async view() {
      if (dead) throw new Error('it is dead');
      const id = nextId++;
      const answered = new AbortController();
      let view: View | undefined;
      asked.set(id, (answer) => {
        view = answer;
        answered.abort();
      });
      process.stdin.write(`${JSON.stringify({ id })}\n`);
      await clock.sleep(ANSWER_TIMEOUT_MS, answered.signal);
      asked.delete(id);
      if (!view) throw new Error(`it did not answer within ${ANSWER_TIMEOUT_MS} ms`);
      return view;
    },
    async stop() {
      stopped = true;
      process.signal('SIGKILL');
      await process.exited;
    },
  };
}
