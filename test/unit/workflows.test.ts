/** What runs on GitHub: actions of others are pinned, and nothing that somebody typed becomes a part of a script. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/torture.js';

const WORKFLOWS = '.github/workflows';
const files = [
  'action.yml',
  'examples/ci/github-campaign.yml',
  ...readdirSync(join(ROOT, WORKFLOWS)).map((name) => join(WORKFLOWS, name)),
];

/** The lines of every `run:` of a file. */
function scripts(text: string): string[] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const [, indent = '', first = ''] = /^( *)(?:- )?run: *(.*)$/.exec(line) ?? [];
    if (!/^ *(?:- )?run:/.test(line)) return [];
    if (first !== '|') return [first];
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((one) => one.trim() !== '' && one.search(/\S/) <= indent.length);
    return rest.slice(0, end < 0 ? rest.length : end);
  });
}

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');

  it('takes actions of others by their hash', () => {
    const used = [...text.matchAll(/^ *(?:- )?uses: *(\S+)/gm)].map(([, action]) => action!);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it('gives scripts nothing but by the environment', () => {
    expect(scripts(text).length).toBeGreaterThan(0);
    expect(scripts(text).filter((line) => line.includes('${{'))).toEqual([]);
  });
});

it('a script is found, in one line or in several', () => {
  expect(scripts('  - run: a\n  - name: b\n    run: |\n      c\n      d e\n    env: f\n')).toEqual([
    'a',
    '      c',
    '      d e',
  ]);
});
