/**
 * The manifests for Kubernetes: held against the schemas of its programming interface (the Python package kubernetes-validate has
 * them), and their command lines carried out for all eight indices in local containers.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findContainerEngine, provideToolImage } from '../../../cli/run/tool-image.js';
import { runProgram } from '../../../harness/machine/command.js';
import { ended } from '../../support/ended.js';
import { isAllRequired } from '../../support/needs.js';
import { bases, containers } from '../../support/needs-docker.js';
import { freshFolder, ROOT } from '../../support/torture.js';

const VERSION = '1.37.0';
const VALIDATOR = `kubernetes-validate==${VERSION}`;
/** Its own, of which it brings no copy. */
const NEEDS = ['jsonschema>=4.23.0', 'PyYAML', 'importlib-resources', 'packaging', 'typing-extensions', 'referencing'];
/** It has the schemas of every version, in 17,000 files: only the newest is unpacked. */
const UNPACK = `import glob, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0])
wheel.extractall(sys.argv[2], [name for name in wheel.namelist() if '-schema/v' not in name or '-schema/v${VERSION}-' in name])`;
const MANIFESTS = ['kubernetes.yml', 'kubernetes-merge.yml'].map((name) => join(ROOT, 'examples/ci', name));

interface Container {
  command: string[];
  args: string[];
  env: { name: string; value: string }[];
}

let python: string;
/** Where the validator and what it needs are. */
const modules = freshFolder();
let unfetched: string | undefined;
beforeAll(async () => {
  const folder = freshFolder();
  const { LOCK_TORTURE_TEST_PYTHON: made } = process.env;
  python = made ?? join(folder, 'python/bin/python3');
  if (made === undefined) await runProgram(['python3', '-m', 'venv', join(folder, 'python')], { timeoutMs: 120_000 });
  const pip = [python, '-m', 'pip', '--quiet', '--disable-pip-version-check'];
  const fetched = await Promise.all([
    runProgram([...pip, 'download', '--no-deps', '--dest', folder, VALIDATOR], { timeoutMs: 240_000 }),
    runProgram([...pip, 'install', '--no-compile', '--target', modules, ...NEEDS], { timeoutMs: 240_000 }),
  ]);
  const failed = fetched.find(({ exitCode }) => exitCode !== 0);
  if (failed) unfetched = `${VALIDATOR} could not be fetched: ${failed.stderr}`;
  else execFileSync(python, ['-c', UNPACK, folder, modules]);
}, 400_000);

const env = { PYTHONPATH: modules };
const validated = (file: string) => runProgram([python, '-m', 'kubernetes_validate', '--strict', file], { env });
/** Every document of a manifest, by what Python's reader of YAML makes of it. */
function documents(file: string): { kind: string; metadata: { name: string }; [field: string]: unknown }[] {
  const read = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))';
  return JSON.parse(execFileSync(python, ['-c', read, file], { encoding: 'utf8', env: { ...process.env, ...env } }));
}

it.for(MANIFESTS)('%s is what the interface takes, and a misspelt field is not', async (file, { skip }) => {
  if (!isAllRequired) skip(unfetched !== undefined, 'the validator could not be fetched');
  const good = await validated(file);
  expect([good.exitCode, unfetched], `${good.stdout} ${good.stderr}`).toEqual([0, undefined]);
  const misspelt = join(freshFolder(), 'bad.yml');
  writeFileSync(misspelt, readFileSync(file, 'utf8').replace('restartPolicy', 'restartPolice'));
  const bad = await validated(misspelt);
  expect([bad.exitCode, bad.stdout]).toEqual([1, expect.stringContaining('restartPolice')]);
});

describe('in local containers', containers, () => {
  it('eight parts make each run of the campaign once, go on where they were begun, and are merged', async () => {
    const [lock, runs] = [freshFolder(), freshFolder()];
    const [configMap, , job] = documents(MANIFESTS[0]!);
    for (const [name, text] of Object.entries((configMap as unknown as { data: Record<string, string> }).data))
      writeFileSync(join(lock, name), text);
    // As a volume is, that its pods' group may write.
    for (const folder of [lock, runs]) chmodSync(folder, 0o777);
    const engine = await findContainerEngine();
    const image = await provideToolImage(engine, bases.clientImage, () => {});
    const containerOf = (of: object) =>
      (of as { spec: { template: { spec: { containers: Container[] } } } }).spec.template.spec.containers[0]!;
    const carryOut = ({ command, args, env }: Container, more: Record<string, string>) => {
      const [entry, ...flags] = command;
      const all = { ...Object.fromEntries(env.map(({ name, value }) => [name, value])), ...more };
      // What the manifest says of the pod, in the words of an engine, whose own filter of system calls is in force.
      const argv = [
        ...['run', '--rm', '--network', 'none', '--read-only', '--user', '10001:10001', '--cap-drop', 'ALL'],
        ...['--security-opt', 'no-new-privileges'],
        ...['--tmpfs', '/tmp:exec,mode=1777', '--volume', `${lock}:/work:ro`, '--volume', `${runs}:/runs`],
        ...Object.entries(all).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
        ...['--workdir', '/work', '--entrypoint', entry!, image, ...flags, ...args],
      ];
      return ended(spawn(engine.command, argv, { stdio: ['ignore', 'pipe', 'pipe'] }));
    };
    const { completions } = (job as unknown as { spec: { completions: number } }).spec;
    expect(completions).toBe(8);
    const part = (index: number) =>
      carryOut(containerOf(job!), {
        ...{ JOB_COMPLETION_INDEX: String(index), RUNS: '8', TOPOLOGIES: 'single' },
        FLAGS: '--time-limit 2s --clients 2 --keys 1 --starts-within 60s',
      });
    for (let index = 0; index < completions; index += 2)
      for (const { status, output, errors } of await Promise.all([part(index), part(index + 1)])) {
        expect(status, `${output} ${errors}`).toBe(0);
        expect(`${output} ${errors}`).toContain('virtual time');
      }
    // A pod that is made again finds its part done.
    expect((await part(3)).output).toMatch(/^campaign .*; finished so far: 1 run$/m);
    const [merge] = documents(MANIFESTS[1]!);
    const { output, status } = await carryOut(containerOf(merge!), {});
    expect(output).toContain('8 of 8 runs made');
    const whole = JSON.parse(readFileSync(join(runs, 'whole/summary.json'), 'utf8'));
    expect([0, 1, 2]).toContain(status);
    expect(whole.exitStatus).toBe(status);
  }, 1_800_000);
});
