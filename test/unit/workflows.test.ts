/**
 * What runs on GitHub: actions of others are pinned, nothing that somebody typed becomes a part of a script, and a job may do what it
 * needs and no more.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SERVERS } from '../../bench/scenarios.js';
import { ROOT } from '../support/torture.js';

const WORKFLOWS = '.github/workflows';
const files = [
  'action.yml',
  'examples/ci/github-campaign.yml',
  ...readdirSync(join(ROOT, WORKFLOWS)).map((name) => join(WORKFLOWS, name)),
];

/** The lines of every `run:` of a file, script by script. */
function scripts(text: string): string[][] {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    const [, indent = '', first = ''] = /^( *)(?:- )?run: *(.*)$/.exec(line) ?? [];
    if (!/^ *(?:- )?run:/.test(line)) return [];
    if (first !== '|') return [[first]];
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((one) => one.trim() !== '' && one.search(/\S/) <= indent.length);
    return [rest.slice(0, end < 0 ? rest.length : end)];
  });
}

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');

  it('takes actions of others by their hash', () => {
    const used = [...text.matchAll(/^ *(?:- )?uses: *(\S+)/gm)].map(([, action]) => action!);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/^[\w-]+(\/[\w-]+)+@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it('leaves no credentials where it checked out', () => {
    const checkouts = text.split('uses: actions/checkout@').slice(1);
    expect(checkouts.filter((one) => !/^.*\n +with:\n +persist-credentials: false\n/.test(one))).toEqual([]);
  });

  it('gives back what it changed of the machine', () => {
    const [allowed, restored] = [
      /sysctl -w \S*userns=0/g,
      /if: always\(\) .*\n(?: .*\n)*? *run: sudo sysctl -w "\S*userns=\$/g,
    ];
    expect(text.match(restored)?.length ?? 0).toBe(new Set(text.match(allowed)).size);
  });

  it('gives scripts nothing but by the environment', () => {
    expect(scripts(text).length).toBeGreaterThan(0);
    expect(
      scripts(text)
        .flat()
        .filter((line) => line.includes('${{')),
    ).toEqual([]);
  });
});

it('a script is found, in one line or in several', () => {
  expect(scripts('  - run: a\n  - name: b\n    run: |\n      c\n      d e\n    env: f\n')).toEqual([
    ['a'],
    ['      c', '      d e'],
  ]);
});

/** Each block of permissions, as lines, and how far it is indented: at 0 it is the whole workflow's. */
function permissions(text: string): { indent: number; may: string[] }[] {
  const lines = text.split('\n').filter((line) => !/^ *#/.test(line));
  return lines.flatMap((line, at) => {
    const [, indent, inline] = /^( *)permissions:(.*)$/.exec(line) ?? [];
    if (indent === undefined) return [];
    const rest = lines.slice(at + 1);
    const end = rest.findIndex((one) => one.search(/\S/) <= indent.length);
    const may = rest.slice(0, end < 0 ? rest.length : end).map((one) => one.trim());
    return [{ indent: indent.length, may: inline!.trim() === '' ? may : [inline!.trim()] }];
  });
}

/** The jobs of a workflow, by name, as text. */
function jobsOf(file: string): [name: string, text: string][] {
  const [, jobs] = readFileSync(join(ROOT, WORKFLOWS, file), 'utf8').split('\njobs:\n');
  return [...jobs!.matchAll(/^ {2}(\w+):\n((?: {4}.*\n| {0,3}#.*\n|\n)*)/gm)].map(([, name, text]) => [name!, text!]);
}

describe('jobs', () => {
  it.each(jobsOf('nightly.yml'))('each night, and not in a fork: %s', (_, text) => {
    expect(text).toMatch(/^ {4}if: .*github\.event_name != 'schedule' \|\| !github\.event\.repository\.fork/m);
  });

  it('the summary waits for all the others of a night, and takes the result of each', () => {
    const names = jobsOf('nightly.yml').map(([name]) => name);
    const [, summary] = jobsOf('nightly.yml').at(-1)!;
    expect(names.at(-1)).toBe('summary');
    expect(/^ {4}needs: \[(.*)\]$/m.exec(summary)?.[1]?.split(', ')).toEqual(names.slice(0, -1));
    expect(summary).toMatch(/ NEEDS: \$\{\{ toJSON\(needs\) \}\}\n/);
  });

  it('each night plays what tests have only for then, whole layers of them, and breaks what they are to notice', () => {
    const deep = new Map(jobsOf('nightly.yml')).get('deep')!;
    const scripts = [...deep.matchAll(/^ {10}- '(.*)'$/gm)].map(([, script]) => script!);
    expect(scripts).toContain('test:breaks');
    const files = (readdirSync(join(ROOT, 'test'), { recursive: true }) as string[]).filter((name) =>
      name.endsWith('.test.ts'),
    );
    const ofNights = files.filter((name) =>
      /tags: .*'night'|\bisNight\b|\bdrawn\(/.test(readFileSync(join(ROOT, 'test', name), 'utf8')),
    );
    const layers = new Set(ofNights.map((name) => name.split('/').filter((part) => part !== 'runs')[0]!));
    expect([...layers]).toEqual(expect.arrayContaining(['unit', 'sharing']));
    for (const layer of layers) {
      const plays = scripts.filter(
        (script) => script.startsWith('test:deep ') && script.includes(`--project ${layer}`),
      );
      const shards = plays.flatMap((script) => /--shard (\d+\/\d+)/.exec(script)?.[1] ?? []);
      const all =
        shards.length === 0 ? plays.length === 1 : shards.every((one, n) => one === `${n + 1}/${shards.length}`);
      expect(all && plays.length > 0, `${layer}: ${plays.join(', ')}`).toBe(true);
    }
  });

  it.each(jobsOf('ci.yml'))(
    'a pull request of the same repository, which was pushed, is not run twice: %s',
    (_, text) => {
      const fork = 'github.event.pull_request.head.repo.full_name != github.repository';
      expect(text).toContain(`    if: github.event_name == 'push' || ${fork}\n`);
    },
  );

  it('only the tag of a version publishes, and without a token', () => {
    const text = readFileSync(join(ROOT, WORKFLOWS, 'release.yml'), 'utf8');
    expect(/ tags: (.*)/.exec(text)?.[1]).toBe("['v[0-9]+.[0-9]+.[0-9]+']");
    expect(text).not.toMatch(/secrets\.|TOKEN/);
  });
});

/** Runs a program with others in the place of those on PATH, each a script of bash. */
function withFakes(argv: readonly [string, ...string[]], cwd: string, fakes: Record<string, string>, env = {}) {
  const bin = join(cwd, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const [name, script] of Object.entries(fakes))
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  const [program, ...args] = argv;
  return spawnSync(program, args, { cwd, encoding: 'utf8', env: { PATH: `${bin}:${process.env.PATH}`, ...env } });
}

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'lock-torture-workflows-'));
});
afterEach(() => rmSync(scratch, { recursive: true }));

describe('a run of the night', () => {
  /** What comes of runs that end so, one after the other. */
  const night = (topology: string, ...statuses: number[]) => {
    // As `npm run torture` would: with a folder of results, and the status.
    const npm = `status=$(sed -n "$(( $(wc -l < seeds 2>/dev/null || echo 0) + 1 ))p" statuses)
while (( $# )); do if [[ $1 == --seed ]]; then echo "$2" >> seeds; fi; shift; done
mkdir -p nightly/runs/latest
echo '{"type":"deployment","serverVersion":"Redis 9"}' > nightly/runs/latest/history.jsonl
echo "{\\"headline\\":\\"ended with $status\\"}" > nightly/runs/latest/results.json
exit "$status"`;
    writeFileSync(join(scratch, 'statuses'), `${statuses.join('\n')}\n`);
    const script = join(ROOT, '.github/nightly.sh');
    const { status } = withFakes(['bash', script, topology, 'redis:9', '70'], scratch, { npm });
    const read = (name: string) => {
      const path = join(scratch, name);
      return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
    };
    return {
      status,
      row: read('nightly/row.md')?.trim(),
      issue: read('nightly/issue.md'),
      seeds: read('seeds')?.trim(),
    };
  };

  it('is good where it came to what the topology can hold', () => {
    const row = '| single | redis:9 | Redis 9 | 0 | ended with 0 |';
    expect(night('single', 0)).toEqual({ status: 0, row, issue: undefined, seeds: '70' });
  });

  it('that cannot tell is tried once more with another seed, and the table says so', () => {
    const row = '| single | redis:9 | Redis 9 | 2, then 0 | tried twice: at first ended with 2; then ended with 0 |';
    expect(night('single', 2, 0)).toEqual({ status: 0, row, issue: undefined, seeds: '70\n71' });
  });

  it.each([
    ['single', [1], '1'],
    ['sentinel', [0], '0'],
    ['single', [2, 2], '2, then 2'],
    ['single', [2, 1], '2, then 1'],
  ] as const)(
    'on %s with the exit status %j deserves a look, and no other status is tried again',
    (topology, ends, exits) => {
      const { status, issue, seeds } = night(topology, ...ends);
      expect(status).toBe(1);
      expect(issue).toContain(
        `## ${topology} on redis:9: exit status ${exits}, and ${topology === 'single' ? 0 : 1} was expected`,
      );
      expect(seeds?.split('\n').length).toBe(ends.length);
    },
  );
});

describe('the summary of a night', () => {
  const summary = (results: Record<string, string>, openIssue?: number) => {
    const folder = join(scratch, 'nightly/single-redis-9');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'row.md'), '| single | redis:9 | Redis 9 | 0 | held |\n');
    const issues = openIssue === undefined ? [] : [{ number: openIssue, title: 'The nightly workflow is not green' }];
    const others = [{ number: 1, title: 'Something else' }];
    const gh = `printf '%s ' "\${@:1:3}" >> asked; echo >> asked; if [[ $2 == list ]]; then echo '${JSON.stringify([...others, ...issues])}'; fi`;
    const needs = Object.fromEntries(Object.entries(results).map(([job, result]) => [job, { result, outputs: {} }]));
    const env = { NEEDS: JSON.stringify(needs), GH_TOKEN: 'any', RUN_URL: 'here' };
    const argv = [process.execPath, join(ROOT, '.github/nightly-summary.mjs'), 'nightly'] as const;
    const { status, stdout } = withFakes([...argv], scratch, { gh }, env);
    const asked = readFileSync(join(scratch, 'asked'), 'utf8').trim().split(/ *\n/);
    return { status, stdout, asked: asked.slice(1) };
  };

  it('is green where every job succeeded, and closes the issue of a night that was not', () => {
    const all = { torture: 'success', itself: 'success' };
    expect(summary(all)).toMatchObject({ status: 0, asked: [] });
    const { stdout, asked } = summary(all, 7);
    expect(stdout).toMatch(/^# All jobs succeeded\n/);
    expect(stdout).toContain('| itself | success |\n');
    expect(stdout).toContain('| single | redis:9 | Redis 9 | 0 | held |\n');
    expect(asked.at(-1)).toBe('issue close 7');
  });

  it.each(['failure', 'cancelled', 'skipped'])('is red for any job whose result is %s, in one issue', (result) => {
    const some = { torture: 'success', services: result };
    const { status, stdout, asked } = summary(some);
    expect([status, asked]).toEqual([1, ['issue create --title']]);
    expect(stdout).toMatch(/^# Not green: services\n/);
    expect(summary(some, 7).asked.at(-1)).toBe('issue comment 7');
  });
});

describe('whether two procedures agreed', () => {
  const told = (...seconds: (object | undefined)[]) => {
    const folder = join(scratch, 'runs');
    rmSync(folder, { recursive: true, force: true });
    seconds.forEach((second, n) => {
      mkdirSync(join(folder, `run-${n}`), { recursive: true });
      const checkers = [{ checker: 'liveness' }, { checker: 'mutual-exclusion', second }];
      writeFileSync(join(folder, `run-${n}`, 'results.json'), JSON.stringify({ checkers }));
    });
    if (seconds.length > 0) symlinkSync('run-0', join(folder, 'latest'));
    const argv = [join(ROOT, '.github/two-procedures.mjs'), folder];
    const { status, stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    return [status, stdout];
  };
  const alike = { agreed: 2, open: ['lock:2: too much'], disagreed: [] };

  it('they did, of every run', () => {
    const line = 'Two procedures, 2 runs: 4 keys decided alike, 2 by one only, 0 disagreements.\n';
    expect(told(alike, alike)).toEqual([0, line]);
  });

  it('they did not on one key: status 1, with both proofs', () => {
    const proofs = 'c1 and c2 on lock:0: one, other';
    const [status, text] = told(alike, { agreed: 1, open: [], disagreed: [proofs] });
    expect(status).toBe(1);
    expect(text).toContain(`\n- run-1/results.json: ${proofs}\n`);
  });

  it('nothing was decided by both: status 1', () => {
    expect(told(undefined)[0]).toBe(1);
    expect(told({ agreed: 0, open: ['lock:0: too much'], disagreed: [] })[0]).toBe(1);
  });
});

describe('permissions', () => {
  it.each(files.filter((file) => file !== 'action.yml'))(
    '%s may read the repository, and a job no more than it says why',
    (file) => {
      const found = permissions(readFileSync(join(ROOT, file), 'utf8'));
      expect(found[0]).toEqual({ indent: 0, may: ['contents: read'] });
      // The statement of where a package was made is signed for the job that makes it; one job keeps an issue.
      const jobs: Record<string, string> = { 'release.yml': 'id-token: write', 'nightly.yml': 'issues: write' };
      const more = jobs[basename(file)];
      expect(found.slice(1)).toEqual(more === undefined ? [] : [{ indent: 4, may: ['contents: read', more] }]);
    },
  );

  it.each(files)('%s does nothing with the rights of this repository for what a stranger sends', (file) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).not.toMatch(/pull_request_target|workflow_run/);
  });

  it('are found in a block and behind the colon', () => {
    expect(
      permissions('permissions: write-all\njobs:\n  a:\n    permissions:\n      # why\n      b: read\n    steps:\n'),
    ).toEqual([
      { indent: 0, may: ['write-all'] },
      { indent: 4, may: ['b: read'] },
    ]);
  });
});

it('each night every scenario is played in the image of each server that scenarios are said to hold on, and of newer ones', () => {
  const text = readFileSync(join(ROOT, WORKFLOWS, 'nightly.yml'), 'utf8');
  const played = [...text.matchAll(/command: scenario --all, image: '([^']+)'/g)].map(([, image]) => image);
  const imageOf = (server: string) => server.replace('valkey@', 'valkey/valkey:').replace('@', ':');
  // No distribution has Redis 8.4: nowhere else are its commands tried.
  expect(played).toEqual(expect.arrayContaining([...SERVERS.map(imageOf), 'redis:8.4', 'redis:8']));
});

it('each night the README is typed as it stands, on every system that it is for, with what takes long', () => {
  const text = readFileSync(join(ROOT, WORKFLOWS, 'nightly.yml'), 'utf8');
  const [job] = /^ {2}readme:\n(?: {4}.*\n| *#.*\n)+/m.exec(text)!;
  const played = [...job.matchAll(/\{ image: '([^']*)', parts: '([^']*)' \}/g)].map(([, image, parts]) => [
    image,
    parts,
  ]);
  expect(played).toEqual([
    // None: ubuntu-24.04 itself, where an engine is at hand.
    ['', '--part readme --part project --part docker'],
    ['debian:12', '--part readme --part project'],
    ['debian:13', '--part readme --part project'],
  ]);
  expect(job).toContain('runs-on: ubuntu-24.04');
  expect(job).toMatch(/node test\/support\/newcomer\.mjs .* --slow /);
  // As any container is.
  expect(job).not.toMatch(/options:|privileged/);
});

describe('a campaign each night brings along what earlier nights came to', () => {
  const textOf = (name: string) => readFileSync(join(ROOT, 'examples/ci', name), 'utf8');
  /** Where merged reports go, each in a folder of its own: what is beside one is what the trend goes by. */
  const nightsOf = (text: string) => / merge .* --out "(\S+)\/[^/"]*\$[^/"]*"/.exec(text)?.[1];
  const steps = (text: string, action: string) =>
    text
      .split(/\n {6}(?=- )/)
      .filter((step) => step.includes(`uses: ${action}@`))
      .map((step) => Object.fromEntries([...step.matchAll(/^[ -]*([\w-]+): (.*)$/gm)].map(([, k, v]) => [k!, v!])));

  it('on GitHub: what is kept is what is restored, under a key of its own, also of a night that found something', () => {
    const text = textOf('github-campaign.yml');
    const [[restored], [saved]] = [steps(text, 'actions/cache/restore'), steps(text, 'actions/cache/save')];
    expect(restored!.path).toBe(`${nightsOf(text)}/*/summary.json`);
    expect([saved!.path, saved!.key]).toEqual([restored!.path, restored!.key]);
    expect(saved!.if).toBe('always()');
    expect(restored!.key).toBe(`${restored!['restore-keys']}\${{ github.run_id }}-\${{ github.run_attempt }}`);
    // Restored before the merge, kept after it.
    const places = ['actions/cache/restore@', 'lock-torture merge', 'actions/cache/save@'].map((at) =>
      text.indexOf(at),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it('on GitLab: the same', () => {
    const text = textOf('gitlab.yml');
    const [, cache] = /^campaign-merge:\n[\s\S]*?^ {2}cache:\n((?: {4}.*\n)+)/m.exec(text)!;
    expect(cache!.trim().split(/\n */)).toEqual([
      'key: lock-torture-nights',
      `paths: [${nightsOf(text)}/*/summary.json]`,
      'when: always',
    ]);
  });
});

describe('the step of the action that allows user namespaces', () => {
  const [step] = scripts(readFileSync(join(ROOT, 'action.yml'), 'utf8')).map((lines) => lines.join('\n'));
  const RESTRICTED = '/proc/sys/kernel/apparmor_restrict_unprivileged_userns';

  it.each([
    [
      '1',
      'lock-torture gives each host a network of its own: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\nsudo: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n',
    ],
    ['0', ''],
    [undefined, ''],
  ])('where the machine says %j', (says, told) => {
    const folder = mkdtempSync(join(tmpdir(), 'lock-torture-userns-'));
    try {
      const file = join(folder, 'restricted');
      if (says !== undefined) writeFileSync(file, `${says}\n`);
      writeFileSync(join(folder, 'sudo'), '#!/bin/sh\necho "sudo: $*"\n');
      chmodSync(join(folder, 'sudo'), 0o755);
      expect(step).toContain(RESTRICTED);
      const { status, stdout, stderr } = spawnSync(
        'bash',
        ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step!.replace(RESTRICTED, file)],
        {
          env: { PATH: `${folder}:${process.env.PATH}`, GITHUB_OUTPUT: join(folder, 'output') },
          encoding: 'utf8',
        },
      );
      expect([status, stdout, stderr]).toEqual([0, told, '']);
      // By this it is given back at the end.
      const output = existsSync(join(folder, 'output')) ? readFileSync(join(folder, 'output'), 'utf8') : '';
      expect(output).toBe(told === '' ? '' : `was=${says}\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the step of the action that runs the tool', () => {
  it.each([
    ['lock-torture: my-lock.ts:3:16: Expected identifier but found ";"', 3],
    [
      'lock-torture: the lock client could not start: lock: lock.mjs cannot be loaded: no licence (/a b/my-lock.ts:7:1)',
      7,
    ],
    ['lock-torture: --lease must be at least 1 s', 1],
  ])('says why it could not run, at the line that is named: %s', (complaint, line) => {
    const folder = mkdtempSync(join(tmpdir(), 'lock-torture-action-'));
    try {
      const bin = join(folder, 'node_modules/lock-torture/bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(folder, 'my-lock.ts'), '');
      const program = `console.error(${JSON.stringify(`lock-torture: compiling\n${complaint}`)}); process.exit(3);`;
      writeFileSync(join(bin, 'torture.mjs'), program);
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, '.github/action/torture.mjs')], {
        cwd: folder,
        env: { PATH: process.env.PATH!, LOCK: './my-lock.ts', GITHUB_WORKSPACE: folder },
        encoding: 'utf8',
      });
      expect(status).toBe(3);
      expect(stderr).toContain(`${complaint}\n`);
      expect(stdout).toContain(
        `::warning title=lock-torture on single,file=my-lock.ts,line=${line}::it could not run: ${complaint.replace('lock-torture: ', '')}\n`,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('warns of what `fail-on` lets through, and its badge is not green', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lock-torture-action-'));
    try {
      const bin = join(folder, 'node_modules/lock-torture/bin');
      mkdirSync(bin, { recursive: true });
      const words = {
        verdict: 'PASSED, WITH 2 DOUBLE HOLDS ALLOWED BY --fail-on lock',
        lock: 'no mistake.',
        deployment: 'Redis lost 2 grants.',
        leases: 'none.',
      };
      const passed = {
        verdict: 'held',
        exitStatus: 0,
        words,
        headline: 'h',
        found: { exclusion: 2 },
        violations: [],
        reproduce: 'again',
      };
      const held = { ...passed, words: { ...words, verdict: 'HELD in 64 strikes' }, found: {} };
      const program = `import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
        mkdirSync('lock-torture-runs/run', { recursive: true });
        symlinkSync('run', 'lock-torture-runs/latest');
        const results = process.argv.includes('--topology=sentinel') ? ${JSON.stringify(passed)} : ${JSON.stringify(held)};
        writeFileSync('lock-torture-runs/latest/results.json', JSON.stringify(results));`;
      writeFileSync(join(bin, 'torture.mjs'), program);
      const outputs = join(folder, 'outputs');
      const step = (TOPOLOGIES: string) =>
        spawnSync(process.execPath, [join(ROOT, '.github/action/torture.mjs')], {
          cwd: folder,
          env: { PATH: process.env.PATH!, LOCK: 'set-nx-px', TOPOLOGIES, GITHUB_OUTPUT: outputs },
          encoding: 'utf8',
        });
      const badge = () => JSON.parse(readFileSync(join(folder, 'lock-torture-runs/badge.json'), 'utf8'));
      expect(step('single')).toMatchObject({ status: 0, stdout: expect.not.stringContaining('::warning') });
      expect(badge()).toMatchObject({ message: 'HELD in 64 strikes', color: 'brightgreen' });
      const { status, stdout } = step('sentinel,single');
      expect(status).toBe(0);
      expect(stdout.match(/^::warning .*$/gm)).toEqual([
        `::warning title=lock-torture on sentinel::${words.verdict}%0ALock: no mistake.%0ADeployment: Redis lost 2 grants.%0ALeases: none.%0Ah%0ARepeat: again`,
      ]);
      expect(badge()).toMatchObject({ message: words.verdict, color: 'orange' });
      expect(readFileSync(outputs, 'utf8')).toContain(`verdict=held\nwords=${words.verdict}\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
