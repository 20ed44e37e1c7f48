/** Which commands of the pages are run by a test, and why the others are not. */

export interface RunHere {
  argv: string[];
  output: RegExp;
  /** What is there where it is typed: path → content. */
  files?: Record<string, string>;
}

/** Two clients, one after the other. */
const STORY = ['a', 'b'].flatMap((process) =>
  ['acquire', 'release'].flatMap((f) => ['invoke', 'ok'].map((type) => ({ process, f, type }))),
);
const EDN = STORY.map(
  ({ process, f, type }, n) =>
    `{:process "${process}", :type :${type}, :f :${f}, :value nil, :time ${n + 1}000000000}\n`,
).join('');
const JSONL = STORY.map((event, n) => `${JSON.stringify({ ...event, key: 'orders', time: (n + 1) * 1e9 })}\n`).join('');

/** Each ends within some seconds, with exit status 0. */
export const RUN_HERE: readonly RunHere[] = [
  { argv: ['list', 'locks'], output: /set-nx-px/ },
  { argv: ['run', '--help'], output: /--until-violation/ },
  { argv: ['scenario', '--list'], output: /pause-between-grant-and-write/ },
  { argv: ['check', 'history.edn'], output: /exit status 0/, files: { 'history.edn': EDN } },
  {
    argv: ['check', 'path/to/history.edn', '--model', 'reentrant:2'],
    output: /exit status 0/,
    files: { 'path/to/history.edn': EDN },
  },
  {
    argv: ['check', 'history.jsonl', '--lease', '5s', '--reading', 'lease'],
    output: /exit status 0/,
    files: { 'history.jsonl': JSONL },
  },
  { argv: ['check', 'store/latest'], output: /exit status 0/, files: { 'store/latest/history.edn': EDN } },
];

/** By how a command begins. */
const NOT_RUN: readonly [begins: RegExp, why: string][] = [
  [/^(--|run --|$)/, 'a run takes half a minute; runs are made in test/runs'],
  [/^(hunt|campaign|matrix|selftest|conform|scenario) ?/, 'it takes minutes, or as long as it says'],
  [/^(replay|report|open|merge)( |$)/, 'it needs runs that were made before'],
  [/^check (<run>|latest)/, 'it needs a run that was made before'],
  [/^list$/, 'more of a command that is run'],
  [/^check history.edn --model semaphore:3/, 'another model of a command that is run'],
  [/^check history.json.gz --key/, 'its tests: test/unit/harness/record/import'],
  [/^doctor/, 'it looks at the whole machine, servers and images included'],
  [/^init/, 'it asks, and writes into a project: test/unit/cli/init'],
];

/** Undefined: nothing is said of it. */
export function whyNotRun(argv: readonly string[]): string | undefined {
  return NOT_RUN.find(([begins]) => begins.test(argv.join(' ')))?.[1];
}
