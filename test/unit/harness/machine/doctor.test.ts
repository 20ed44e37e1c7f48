import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findOnPath, runProgram } from '../../../../harness/machine/command.js';
import { type Diagnosis, diagnose, formatFindings } from '../../../../harness/machine/doctor.js';
import { NETWORK_PROBE } from '../../../../harness/machine/network-probe.js';
import { services } from '../../../../harness/topologies/services.js';

describe('formatFindings', () => {
  it('gives each finding a line, and each remedy one under its detail', () => {
    const text = formatFindings([
      { what: 'Node.js', ok: true, detail: 'v20.1.0' },
      { what: 'clock shim', ok: 'limited', detail: 'no compiler', remedy: 'install gcc', capability: 'clock' },
      { what: 'ip', ok: false, detail: 'not on PATH', remedy: 'install iproute2', capability: 'network' },
    ]);
    expect(text.split('\n')).toEqual([
      'ok       Node.js     v20.1.0',
      'limited  clock shim  no compiler',
      '                     → install gcc',
      'missing  ip          not on PATH',
      '                     → install iproute2',
    ]);
  });
});

describe('diagnose', () => {
  let tools: string;
  let path: string | undefined;

  /** From here on PATH has nothing but what a test puts here. */
  beforeEach(() => {
    tools = mkdtempSync(join(tmpdir(), 'doctor-test-'));
    path = process.env.PATH;
    for (const name of ['sh', 'env']) symlinkSync(findOnPath(name)!, join(tools, name));
    process.env.PATH = tools;
  });
  afterEach(() => {
    process.env.PATH = path;
    rmSync(tools, { recursive: true, force: true });
  });

  function fake(name: string, body: string): void {
    writeFileSync(join(tools, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  }

  async function findings(): Promise<(what: string) => Diagnosis> {
    const all = await diagnose({ cacheFolder: join(tools, 'cache'), runsFolder: tools, services: [services.etcd] });
    return (what) => all.find((finding) => finding.what.startsWith(what))!;
  }

  it('on a bare machine names everything that is missing, with its remedy', async () => {
    const finding = await findings();
    expect(finding('Node.js').ok).toBe(true);
    expect(finding('npm packages')).toMatchObject({ ok: true });
    expect(finding('redis-server')).toMatchObject({ ok: false, remedy: expect.stringContaining('install Redis 6.2') });
    expect(finding('slots at once')).toMatchObject({ ok: 'limited', capability: 'slots-at-once' });
    for (const what of ['unshare', 'nsenter']) {
      expect(finding(what)).toMatchObject({
        ok: false,
        capability: 'network',
        remedy: expect.stringContaining('util-linux'),
      });
    }
    expect(finding('hostname')).toMatchObject({
      ok: false,
      remedy: expect.stringContaining('apt-get install hostname'),
    });
    expect(finding('setpriv')).toMatchObject({ ok: 'limited', remedy: expect.stringContaining('util-linux') });
    expect(finding('ip')).toMatchObject({
      ok: false,
      capability: 'network',
      remedy: expect.stringContaining('iproute2'),
    });
    expect(finding('namespaces')).toMatchObject({ ok: false, detail: 'not tried: it needs unshare' });
    expect(finding('virtual network')).toMatchObject({ ok: false, detail: 'not tried: it needs the namespaces' });
    // The clone carries it, for these machines.
    const carried = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
    expect(finding('clock shim')).toMatchObject(
      carried ? { ok: true } : { ok: 'limited', capability: 'clock', remedy: expect.stringContaining('gcc') },
    );
    expect(finding('Python')).toMatchObject({ ok: 'limited', remedy: expect.stringContaining('python3') });
    expect(finding('etcd')).toMatchObject({ ok: 'limited', detail: expect.stringContaining('no --service etcd') });
    expect(finding('disk space').detail).toMatch(/^\d+ MB free in /);
  });

  it('does not download Redis itself, and says that a run will', async () => {
    for (const name of ['apt-get', 'dpkg', 'dpkg-deb']) fake(name, `touch ${tools}/used; exit 1`);
    const finding = await findings();
    expect(finding('redis-server')).toMatchObject({
      ok: 'limited',
      detail: expect.stringContaining('will be downloaded'),
    });
    expect(findOnPath(join(tools, 'used'))).toBeUndefined();
  });

  it('reports the version of a Redis on PATH, or what is wrong with it', async () => {
    fake('redis-server', 'echo "Redis server v=7.4.1 sha=0"');
    expect((await findings())('redis-server')).toMatchObject({
      ok: true,
      detail: `7.4.1, ${tools}/redis-server (PATH)`,
    });
    fake('redis-server', 'echo "Redis server v=5.0.7 sha=0"');
    expect((await findings())('redis-server')).toMatchObject({ ok: false, detail: expect.stringContaining('too old') });
  });

  it('says why namespaces are not available', async () => {
    fake(
      'unshare',
      '[ "$1" = --version ] && exit 0; echo "unshare: unshare failed: Operation not permitted" >&2; exit 1',
    );
    const finding = await findings();
    expect(finding('unshare').ok).toBe(true);
    expect(finding('namespaces')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/fails: unshare: unshare failed: Operation not permitted$/),
      remedy: expect.stringMatching(/--privileged|sysctl/),
      capability: 'network',
    });
  });

  it('distinguishes an old Python from none', async () => {
    fake('python3', 'echo 3.6.9');
    expect((await findings())('Python')).toMatchObject({ ok: 'limited', detail: '3.6.9 is too old' });
    fake('python3', 'echo 3.7.0');
    expect((await findings())('Python')).toMatchObject({ ok: true, detail: '3.7.0' });
  });

  it('names the step of the network that failed', async () => {
    fake('ip', 'echo "RTNETLINK answers: Not supported" >&2; exit 2');
    const { exitCode, stderr } = await runProgram(['sh', '-c', NETWORK_PROBE]);
    expect(exitCode).toBe(2);
    expect(stderr).toBe('RTNETLINK answers: Not supported\nfailed at: make a bridge');
  });
});
