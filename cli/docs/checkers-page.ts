/** `docs/checkers.md`, made from the checkers themselves. Nothing about a particular one is written here. */
import { checkers } from '../../checkers/index.js';
import type { Checker } from '../../harness/vocabulary/run.js';
import { markdownCell } from '../judge/summary-text.js';

/** The whole page, in Markdown. `all`: the checkers that it is about. */
export function checkersPage(all: readonly Checker[] = checkers): string {
  const deciding = all.filter(({ properties }) => properties.length > 0);
  const measuring = all.filter(({ properties }) => properties.length === 0);
  return `${[
    INTRODUCTION,
    '## What is decided',
    table(['checker', 'what is true of a run in which it finds nothing', 'judges'], deciding.map(rowOf)),
    '## What a lock is accused of',
    table(['kind', 'class', 'checker', 'accused if', "the lock's mistake"], deciding.flatMap(kindRows)),
    '## What is measured',
    table(['checker', 'what', 'of'], measuring.map(rowOf)),
  ].join('\n\n')}\n`;
}

const INTRODUCTION = `# Checkers

<!-- Written by \`npm run docs\` from the code that runs. Change the checker, not this page. -->

A checker is a pure function of what a run recorded. Each describes itself in its own file: what it decides, what it accuses a
lock of, and which runs it judges. How it decides stands at the head of that file, and in [checking.md](checking.md).

A new one is a file in \`checkers/\` and a line in \`checkers/index.ts\`; \`list\`, headlines, reports and this page follow.
Which runs it judges follows from what it says of itself: for which kinds of locks, whether plays, and where its clients must do
something, which habit (\`ClientHabit\` in \`harness/vocabulary/workload.ts\`) the workload must have.`;

function rowOf(checker: Checker): string[] {
  return [`\`${checker.name}\``, checker.summary, runsOf(checker)];
}

function runsOf({ judges, atTheEnd }: Checker): string {
  const models = judges.models === 'all' ? 'all workloads' : `workloads of ${judges.models.join(', ')}`;
  const whose = judges.habit === undefined ? '' : ` whose clients have the habit \`${judges.habit}\``;
  return `${models}${whose}${judges.plays ? '; plays' : ''}${atTheEnd ? '; at the end of a run only' : ''}`;
}

function kindRows({ name, properties }: Checker): string[][] {
  return properties.flatMap(({ class: of, kinds }) =>
    Object.entries(kinds).map(([kind, { accusedIf, ownMistake }]) => [
      `\`${kind}\``,
      of ?? '',
      `\`${name}\``,
      accusedIf,
      ownMistake === undefined
        ? 'by its cause'
        : ownMistake.onlyIf === undefined
          ? 'yes'
          : `where ${ownMistake.onlyIf}`,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownCell).join(' | ')} |`;
  return [line(head), `| ${head.map(() => '---').join(' | ')} |`, ...rows.map(line)].join('\n');
}
