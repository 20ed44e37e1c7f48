/** The page on what articles say: each row has a verdict, and a command of which there is what it names. */
import { describe, expect, it } from 'vitest';
import { parseRunFlags } from '../../../cli/run/flags.js';
import { externalLocks } from '../../../lock-impl/external/index.js';
import { builtinLock } from '../../../lock-impl/index.js';
import { parseLockSpec } from '../../../lock-impl/lock-spec.js';
import { cells } from '../../../matrix/index.js';
import { scenarios } from '../../../scenarios/index.js';
import { trials } from '../../../selftest/index.js';
import { articleRows } from '../../support/articles.js';

const rows = articleRows();

/** What a command's words name, each with whether there is such a one. */
function named(command: string): [name: string, isThere: boolean][] {
  const [verb, ...words] = command.split(' ');
  if (verb === 'run') {
    const { flags } = parseRunFlags(words);
    const { name } = parseLockSpec(flags.lock!);
    return [[name, name in externalLocks || builtinLock(name) !== undefined]];
  }
  if (verb === 'scenario') return words.map((name) => [name, name in scenarios]);
  if (verb === 'selftest')
    return words[1]!.split(',').map((name) => [name, trials.some(({ canary }) => canary === name)]);
  const after = (flag: string) => (words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined);
  const [faults, locks] = [after('--faults')!, after('--locks')];
  return faults.split(',').flatMap((fault) =>
    (locks?.split(',') ?? [undefined]).map((lock): [string, boolean] => {
      const isCell = cells.some((cell) => cell.fault === fault && (lock === undefined || cell.lock === lock));
      return [`${fault} of ${lock ?? 'any'}`, verb === 'matrix' && isCell];
    }),
  );
}

describe('the page on what articles say', () => {
  it('has rows, each of another claim', () => {
    expect(rows.length).toBeGreaterThan(100);
    expect(new Set(rows.map(([claim]) => claim)).size).toBe(rows.length);
    for (const row of rows) expect(row, row.join()).toHaveLength(4);
  });

  it.each(rows.map(([claim, ...rest]) => [claim!, rest] as const))('%s', (_, [verdict, shown]) => {
    expect(verdict).toMatch(/^(confirmed|refuted|cannot be tried here)([, ].+)?$/);
    if (verdict === 'cannot be tried here') return expect(shown).toBe('–');
    const [, command] = /^`(.+)`$/.exec(shown!) ?? [];
    if (command === undefined) expect(shown).toMatch(/^\[.+\]\([\w-]+\.md#[\w-]+\)$/);
    else for (const [name, isThere] of named(command)) expect(isThere, name).toBe(true);
  });
});
