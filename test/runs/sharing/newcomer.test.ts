/** The newcomer's play fails where the README promises what does not come: a small project stands for this one. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ended } from '../../support/ended.js';
import { ADDRESS } from '../../support/readme-commands.mjs';
import { ROOT } from '../../support/torture.js';

const README = `# small

\`\`\`sh
git clone ${ADDRESS} lock-torture && cd lock-torture
npm run torture -- --topology sentinel
\`\`\`

\`\`\`ts
export default defineLock({});
\`\`\`

\`\`\`sh
npm run torture -- --lock ./my-lock.ts
npm test
\`\`\`
`;
/** What the tool would say, by the first of its flags: its exit status, its last line, and what results.json has. */
const GOOD = {
  '--topology': [1, 'VIOLATED: not safe on sentinel (a failover lost 3 grants)', 'none'],
  '--lock': [1, 'VIOLATED by the lock', 'found'],
};

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'lock-torture-newcomer-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function played(name: string, { readme = README, says = {} as Partial<typeof GOOD>, flags = [] as string[] }) {
  const project = join(home, name, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'README.md'), readme);
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ scripts: { torture: 'node tool.js', test: 'exit 0' } }),
  );
  const tool = `const [status, line, ownMistakes] = ${JSON.stringify({ ...GOOD, ...says })}[process.argv[2]];
    const { mkdirSync, writeFileSync } = require('node:fs');
    if (process.argv[2] === '--lock') require('node:fs').readFileSync(process.argv[3]);
    mkdirSync('runs/latest', { recursive: true });
    writeFileSync('runs/latest/results.json', JSON.stringify({ ownMistakes }));
    console.log(line);
    process.exit(status);`;
  writeFileSync(join(project, 'tool.js'), tool);
  const git = (...argv: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@localhost', ...argv], { cwd: project });
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=all');
  const newcomer = join(ROOT, 'test/support/newcomer.mjs');
  const argv = [newcomer, '--from', project, '--in', join(home, name, 'found'), '--part', 'readme', ...flags];
  const { status, output } = await ended(spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] }));
  const { steps, notRun } = JSON.parse(output.trim().split('\n').at(-1)!);
  return { status, output, steps, notRun, wrong: steps.filter((step: { wrong?: string }) => step.wrong !== undefined) };
}

// Few plays: most of each is the start of npm.
describe.concurrent('a newcomer', () => {
  it('is content where each command comes to what is promised', async () => {
    const { status, output, steps, notRun } = await played('good', { flags: ['--slow'] });
    expect([status, notRun], output).toEqual([0, []]);
    expect(steps.map(({ command }: { command: string }) => command)).toEqual([
      `git clone ${ADDRESS} lock-torture && cd lock-torture`,
      'npm run torture -- --topology sentinel',
      'npm run torture -- --lock ./my-lock.ts',
      'npm test',
    ]);
  });

  it('is not with another exit status, a mistake that is not found, or a command of which nothing is known', async () => {
    const { status, output, wrong, notRun } = await played('bad', {
      readme: README.replace('npm test', 'npm run what\nnpm test'),
      says: {
        '--topology': [0, 'VIOLATED: not safe on sentinel', 'none'],
        '--lock': [1, 'VIOLATED by the lock', 'none'],
      },
      flags: ['--keep-going'],
    });
    expect([status, wrong.map((step: { wrong: string }) => step.wrong)]).toEqual([
      1,
      [
        'it ended with 0, and 1 was promised',
        `results.json says of the lock's own mistakes "none", and found was promised`,
        'newcomer.mjs does not know what it must come to',
      ],
    ]);
    expect(notRun).toEqual([{ command: 'npm test', why: 'slow' }]);
    expect(output).toContain('not run: npm test (slow)');
  });

  it('is not with other words, and goes no further unless told to', async () => {
    const { status, steps, wrong } = await played('words', { says: { '--topology': [1, 'VIOLATED', 'none'] } });
    expect([status, steps.length, wrong[0].wrong]).toEqual([1, 2, expect.stringContaining('it does not say')]);
  });

  it('is not with a README that begins otherwise', async () => {
    const { status, wrong } = await played('first', { readme: README.replace('git clone', 'git  clone') });
    expect([status, wrong[0].wrong]).toEqual([1, expect.stringContaining('the README begins with')]);
  });
});
