// Promises: when the npm that started this process is killed, this process ends soon after, whatever it is doing, and
// with it all that it started. npm leaves its children running when it is killed, and nothing else ends them.
// Excludes a terminal that is closed: that sends SIGHUP.

import { readFileSync } from 'node:fs';

const EVERY_MS = 200;

/**
 * Calls `onOrphaned` once npm, or anybody between npm and us, is dead; at once if it already is.
 *
 * @param {() => void} onOrphaned
 */
export function watchNpm(onOrphaned) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const ancestors = ancestorsUpToNpm();
  // Started as npm's own script, and no npm above us: it was killed before we could look. (Started by a test that npm
  // runs, or in a container that was given the variables, there may be no npm to be seen and nothing wrong.)
  if (ancestors.length === 0 && /torture\.mjs/.test(process.env.npm_lifecycle_script ?? '')) return onOrphaned();
  if (ancestors.length === 0) return;
  const timer = setInterval(() => {
    if (ancestors.every((ancestor) => parentAndStart(ancestor.pid)?.start === ancestor.start)) return;
    clearInterval(timer);
    onOrphaned();
  }, EVERY_MS);
  timer.unref();
}

/** From our parent up to npm: process numbers with start times, which tell a process from another of its number. */
function ancestorsUpToNpm() {
  const chain = [];
  for (let pid = process.ppid; pid > 1; ) {
    const facts = parentAndStart(pid);
    if (!facts) return [];
    chain.push({ pid, start: facts.start });
    if (isNpm(pid)) return chain;
    pid = facts.parent;
  }
  return [];
}

function isNpm(pid) {
  try {
    return /(^|[/\0 ])(npm|npm-cli\.js|npx|yarn|pnpm)(\.js)?([\0 ]|$)/.test(
      readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    );
  } catch {
    return false; // it died while we looked
  }
}

function parentAndStart(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { parent: Number(fields[1]), start: fields[19] };
  } catch {
    return undefined; // no such process any more
  }
}
