/**
 * The program that shapes what a host sends (`native/link-shaper.c`): compiled on first use, and tried on a network of its own.
 */
import { runProgram } from './command.js';
import { inNamespaces } from './namespaces.js';
import { type BuildOptions, type BuiltPart, buildPart, type NativePart } from './native-part.js';
import { temporaryFolder } from './private-folder.js';

const REMEDY =
  'the kernel must have TUN devices, or veth and packet sockets (as root on the machine itself: modprobe tun, or modprobe -a veth af_packet); set LOCK_TORTURE_CACHE to a folder from which programs may be run';

export const linkShaperPart: NativePart = {
  what: 'link shaper',
  name: 'link-shaper',
  extension: '',
  flags: ['-O2'],
  trouble: (path) => linkShaperTrouble(path),
};

/** The compiled program, or why there is none (see `buildPart`). */
export function buildLinkShaper(options: BuildOptions): Promise<BuiltPart> {
  return buildPart(linkShaperPart, options);
}

/** Delays a datagram on a network of its own; resolves with what is wrong, or undefined. */
export async function linkShaperTrouble(
  path: string,
  namespaces = inNamespaces(),
): Promise<{ problem: string; remedy: string } | undefined> {
  using scratch = temporaryFolder();
  const { exitCode, stdout, stderr } = await runProgram([...namespaces, process.execPath, '-e', PROBE, path], {
    cwd: scratch.path,
  });
  if (exitCode === 0) return undefined;
  const said = `${stdout}\n${stderr}`.trim().split('\n')[0];
  return { problem: `the link shaper ${path} does not work: ${said || `exit status ${exitCode}`}`, remedy: REMEDY };
}

/** A datagram is sent to a peer that is not there: it is enough that it goes out, late, and that nothing is left behind. */
const PROBE = `
const { execFileSync, spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const ip = (...argv) => execFileSync('ip', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const fail = (what) => { console.log(what); process.exit(1); };
const HERE = '10.255.255.1', THERE = '10.255.255.2', DELAY_MS = 20;
(async () => {
  ip('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
  ip('addr', 'add', HERE + '/24', 'dev', 'eth0');
  for (const device of ['lo', 'eth0', 'eth1']) ip('link', 'set', device, 'up');
  const shaper = spawn(process.argv[1], ['lt0', 'eth0', '1'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => { shaper.on('exit', resolve); shaper.on('error', (e) => fail(e.message)); });
  const lines = createInterface(shaper.stdout)[Symbol.asyncIterator]();
  const answer = async () => { const { value = '{"error":"it ended"}' } = await lines.next(); const said = JSON.parse(value); if (said.error) fail(said.error); return said; };
  const ask = (command) => { shaper.stdin.write(command + '\\n'); return answer(); };
  await answer();
  await ask('shape ' + THERE + ' delay ' + DELAY_MS * 1000);
  ip('route', 'add', THERE + '/32', 'dev', 'lt0', 'src', HERE, 'metric', '50');
  const socket = require('node:dgram').createSocket('udp4');
  const sentMs = performance.now();
  await new Promise((resolve) => socket.send('x', 9, THERE, resolve));
  let seen, tookMs;
  do { seen = await ask('show ' + THERE); tookMs = performance.now() - sentMs; } while (seen.sent === 0 && tookMs < 5000);
  if (seen.sent !== 1 || seen.errors !== 0) fail('what was sent did not go out: ' + JSON.stringify(seen));
  if (tookMs < DELAY_MS) fail('what was to be late by ' + DELAY_MS + ' ms went out after ' + tookMs + ' ms');
  shaper.stdin.end();
  await gone;
  for (let tries = 0; ip('route', 'show').includes('lt0'); tries++) {
    if (tries === 100) fail('its device outlives it');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  process.exit(0);
})().catch((error) => fail(error.message));
`;
