/** `summary.md`, which is also what a GitHub step summary shows: the verdict, the first violations, the command. */
import { type Bearing, bearingOf, whose } from '../harness/record/facts/blame.js';
import { groupInWords, groupsOf } from '../harness/record/facts/groups.js';
import { firstWords, type Tone, toneOf, verdictLines } from '../harness/record/facts/verdict-words.js';
import { plural, serviceInWords } from '../harness/record/facts/words.js';
import { clipped, visible } from '../harness/record/schemas/foreign-text.js';
import type { Blame } from '../harness/vocabulary/verdict.js';
import type { ReportInput } from './input.js';
import { propertyLines } from './properties.js';
import { EXIT_MEANING, knownWords, linkOf, notesInShort, shownOfFound, whatHappened } from './words.js';

const MOST_TOLD = 5;
const SIGNS: Record<Tone, string> = { held: '✅', passed: '⚠️', violated: '❌', unknown: '❔' };

export function markdownSummary({ results, config, serverVersion }: ReportInput): string {
  const groups = groupsOf(results.violations);
  const told = groups.slice(0, MOST_TOLD);
  const untold = groups.length - told.length;
  const shown = shownOfFound(results);
  const faults = config.nemesis.length === 0 ? 'no faults' : config.nemesis.join(', ');
  const rows = propertyLines(results, config.failOn).map(({ words, state, verdict, told }) => {
    const allowed = state === 'allowed' ? ' (does not fail this run)' : '';
    return `| ${plainMarkdown(words)} | ${plainMarkdown(verdict)}${allowed} | ${plainMarkdown(told)} |`;
  });
  const lines = [
    `## ${SIGNS[toneOf(results)] ?? '❔'} lock-torture: ${plainMarkdown(firstWords(results))}`,
    '',
    ...verdictLines(results).map(([name, line]) => `- **${name}**: ${plainMarkdown(line)}`),
    ...(results.words?.stronger === undefined ? [] : ['', 'For a stronger one:', '', ...code(results.words.stronger)]),
    '',
    `**${plainMarkdown(results.headline)}**`,
    '',
    `Lock ${plainMarkdown(config.lock)} on ${plainMarkdown(config.topology)} (${serviceInWords(config.service)} ${plainMarkdown(serverVersion)}), ${plural(config.clients, 'client')}, ${plainMarkdown(faults)}, seed ${config.seed}. Exit status ${results.exitStatus}: ${EXIT_MEANING[results.exitStatus]}.`,
    ...(results.virtualTime === undefined ? [] : ['', `${plainMarkdown(results.virtualTime)}.`]),
    ...notesInShort(results.reasons).flatMap((reason) => ['', `> ${plainMarkdown(reason)}`]),
    '',
    '| property | verdict | what was found |',
    '| --- | --- | --- |',
    ...rows,
    ...told.flatMap((group, at) => {
      const { violation } = group.clearest;
      const bearing = BEARING_WORDS[bearingOf(violation, config.failOn)];
      const { blame, cause } = violation;
      const theory = blame === undefined || blame.on === 'unexplained' ? '' : `<br>Whose: ${theoryMarkdown(blame)}`;
      const clearest = `${group.members.length > 1 ? '<br>Clearest' : '<br>What'}: ${plainMarkdown(whatHappened(violation))}.`;
      return [
        '',
        `${at + 1}. **${plainMarkdown(group.what)}, ${whose(group.blame)}**${knownWords(violation)}${bearing}: ${plainMarkdown(groupInWords(group))}.${clearest}<br>Why: ${plainMarkdown(cause.sentence)} (${plainMarkdown(cause.name)})${theory}<br>Proof: ${plainMarkdown(violation.proof)}`,
      ];
    }),
    ...(untold > 0 ? ['', `${plural(untold, 'more cause')} in the report.`] : []),
    ...(shown === undefined ? [] : ['', `All are counted; explained one by one are ${plainMarkdown(shown)}.`]),
    '',
    'Reproduce:',
    '',
    ...code(results.reproduce),
  ];
  return `${lines.join('\n')}\n`;
}

const BEARING_WORDS: Record<Bearing, string> = {
  fails: '',
  open: ' (cannot tell whether it fails this run)',
  allowed: ' (does not fail this run)',
};

function theoryMarkdown(blame: Blame): string {
  const link = linkOf(blame);
  return `${plainMarkdown(blame.theory)}${link === undefined ? '' : ` (<${link}>)`}`;
}

/** Plain text on one line: what would be markup, a link or a mention is shown as it is. */
export function plainMarkdown(words: string): string {
  return visible(clipped(words, 600))
    .replace(/[\\`*_[\]|~#@]/g, '\\$&')
    .replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]!)
    .replace(/:\/\/|\bwww\./g, (link) => `${link[0]}\u200b${link.slice(1)}`);
}

/** Indented, so that nothing in it can end it. */
function code(words: string): string[] {
  return [`    ${visible(words)}`];
}
