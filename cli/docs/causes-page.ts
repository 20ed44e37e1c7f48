/** `docs/causes.md`, made from the causes themselves. Nothing about a particular one is written here. */
import { CAUSES, causePhrase, fixedBlame } from '../../checkers/causes/descriptions.js';
import { whose } from '../../harness/record/facts/blame.js';
import { plainMarkdown } from '../../reports/index.js';

/** The whole page, in Markdown: a section for each cause, whose heading is its name. */
export function causesPage(): string {
  return `${[INTRODUCTION, ...[...CAUSES].sort().map(sectionOf)].join('\n\n')}\n`;
}

const INTRODUCTION = `# Causes

<!-- Written by \`npm run docs\` from the code that runs. Change the cause in \`checkers/causes/descriptions.ts\`, not this page. -->

A checker proves a violation. A cause explains it: a chain of evidence from the history and from the servers' commands. Where a link of
the chain was not observed, the finding is unexplained. A report names the cause of each violation and links to this page.

How a cause is proven, and what excludes it, stands at the head of its file in \`checkers/causes/\`, and in [checking.md](checking.md).`;

function sectionOf(name: string): string {
  const blame = fixedBlame(name);
  const told = [
    `## ${name}`,
    `In a headline: ${plainMarkdown(causePhrase(name))}.`,
    blame === undefined
      ? 'Whose mistake it is depends on the finding: the report says it of each.'
      : `Whose mistake: ${whose(blame.on).replace(' mistake', '')}. ${plainMarkdown(blame.theory)}`,
    ...(blame?.link === undefined ? [] : [`Read more: <${blame.link}>`]),
  ];
  return told.join('\n\n');
}
