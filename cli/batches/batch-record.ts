/** What commands that make many runs leave and say: a folder beside the runs with a table, kept as the runs end, and a line each. */
import { join } from 'node:path';
import { writeJson, writeWhole } from '../../harness/record/store.js';
import { type Sheet, sheetMarkdown, sheetPage, sheetWords } from '../../reports/index.js';
import { createFreshFolder } from '../common/ids.js';
import type { WorkShard } from '../common/values.js';

/** What is known of a batch so far. */
export interface BatchSummary {
  exitStatus: 0 | 1 | 2 | 3;
  headline: string;
  /** How long it has taken so far. */
  seconds?: number;
  /** How many rows there are to be. */
  planned: number;
  /** Of how many parts it is which; absent: all of it. */
  shard?: WorkShard;
}

/** "48 of 48 went as written, in 54 s". */
export function batchHeadline({ headline, seconds }: BatchSummary): string {
  return seconds === undefined ? headline : `${headline}, in ${seconds} s`;
}

export interface BatchRecord {
  /** The name of its folder. */
  readonly id: string;
  /** A run has ended: says so, and brings the table up to date. `line` is what `--json` prints, `text` what people see. */
  ended(line: object, count: number, of: number, text: string): void;
  /** Says what all came to; resolves with the exit status. `troubles`: lines below the headline. */
  end(troubles?: readonly string[]): number;
}

/** Makes the folder `<time>-<name>-<id>` below `base`. `summarise` and `sheetOf` are asked after every run. */
export function recordBatch<Summary extends BatchSummary>(
  { base, name, json }: { base: string; name: string; json: boolean },
  summarise: () => Summary,
  sheetOf: (summary: Summary, id: string) => Sheet,
): BatchRecord {
  const { id, folder } = createFreshFolder(base, name);
  const print = (text: string) => process.stdout.write(`${text}\n`);
  const write = () => {
    const summary = summarise();
    writeJson(folder, `${name}.json`, summary);
    const sheet = sheetOf(summary, id);
    writeWhole(join(folder, `${name}.html`), sheetPage(sheet));
    writeWhole(join(folder, `${name}.md`), sheetMarkdown(sheet));
    return summary;
  };
  return {
    id,
    ended(line, count, of, text) {
      print(json ? JSON.stringify(line) : `${String(count).padStart(String(of).length)}/${of}  ${text}`);
      write();
    },
    end(troubles = []) {
      const summary = write();
      const { exitStatus } = summary;
      const text = [
        '',
        `${sheetWords(exitStatus)} (exit status ${exitStatus}): ${batchHeadline(summary)}`,
        ...troubles,
        `Table: ${join(folder, `${name}.html`)}`,
      ];
      print(json ? JSON.stringify({ type: 'summary', ...summary }) : text.join('\n'));
      return exitStatus;
    },
  };
}
