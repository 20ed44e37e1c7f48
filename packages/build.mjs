/**
 * Compiles the parts of `harness/native/` for the platform packages beside this file, and writes down what came of it:
 *
 *     pip install ziglang==0.17.1; node packages/build.mjs [--check]
 *
 * One compiler makes them for every platform, against a glibc that is older than every machine's that Node.js itself runs on.
 * The same compiler makes the same bytes wherever it runs, so anybody can see that the binaries are of these sources:
 * `--check` compiles them elsewhere, changes nothing, and ends with 1 where a byte differs.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const MANIFEST = join(PROJECT, 'harness/native/prebuilt.json');
/** The oldest that is promised: what the programs of Node 20 ask for. */
const GLIBC = '2.28';
const TARGETS = { 'linux-x64': 'x86_64-linux-gnu', 'linux-arm64': 'aarch64-linux-gnu' };
const PARTS = {
  'clock-shim': { file: 'clock-shim.so', flags: ['-shared', '-fPIC'] },
  'durable-shim': { file: 'durable-shim.so', flags: ['-shared', '-fPIC'] },
  'link-shaper': { file: 'link-shaper', flags: [] },
  'sim-shim': { file: 'sim-shim.so', flags: ['-shared', '-fPIC'] },
};

const zig = [process.env.ZIG_PYTHON ?? 'python3', '-m', 'ziglang'];
const run = (argv, options) => execFileSync(argv[0], argv.slice(1), { encoding: 'utf8', ...options });
const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Compiles everything into `folder`; resolves with the manifest. */
function build(folder) {
  const manifest = { compiler: `zig ${run([...zig, 'version']).trim()}`, glibc: GLIBC, parts: {} };
  for (const [name, { file, flags }] of Object.entries(PARTS)) {
    const source = `harness/native/${name}.c`;
    manifest.parts[name] = { source: sha256(join(PROJECT, source)) };
    for (const target of Object.keys(TARGETS)) {
      const made = join(folder, `${target}-${file}`);
      // Paths and build ids would differ from machine to machine.
      const same = ['-s', '-Wl,--build-id=none', '-fno-sanitize=all', `-target`, `${TARGETS[target]}.${GLIBC}`];
      // The baseline of its kind, whatever machine compiles.
      const cpu = target === 'linux-x64' ? ['-mcpu=x86_64'] : ['-mcpu=generic'];
      run([...zig, 'cc', '-O2', ...flags, ...same, ...cpu, '-o', made, source], { cwd: PROJECT, stdio: 'inherit' });
      manifest.parts[name][target] = sha256(made);
    }
  }
  return manifest;
}

const folder = mkdtempSync(join(tmpdir(), 'lock-torture-parts-'));
try {
  const manifest = build(folder);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  if (process.argv.includes('--check')) {
    if (!existsSync(MANIFEST) || readFileSync(MANIFEST, 'utf8') !== text) {
      process.stderr.write(`harness/native/prebuilt.json should be\n${text}`);
      process.exitCode = 1;
    }
  } else {
    for (const { file } of Object.values(PARTS))
      for (const target of Object.keys(TARGETS)) {
        const path = join(PROJECT, 'packages', target, file);
        copyFileSync(join(folder, `${target}-${file}`), path);
        chmodSync(path, 0o755);
      }
    writeFileSync(MANIFEST, text);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
