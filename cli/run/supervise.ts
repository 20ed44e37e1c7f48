/**
 * Stays with a run while the inner process carries it out, passes on Ctrl-C, and comes back with judged results,
 * whatever became of the inner process: a verdict counts only if it is on disk.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { showingLife } from '../../harness/machine/signs-of-life.js';
import { readResults } from '../../harness/record/store.js';
import type { Results } from '../../harness/vocabulary/verdict.js';
import { EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { announcedIsOver } from '../common/say.js';
import { judgeRun, showVerdict } from '../judge/judge.js';
import { type LiveLook, liveLook, surroundings } from '../live/terminal.js';
import { showLive } from '../live/view.js';
import { enterNamespaces, type Inner, type InnerEnd } from './enter-namespaces.js';
import { dropServersFolders } from './kept-files.js';
import { SIM } from './machine.js';
import type { PreparedRun } from './prepare-run.js';

export interface Output {
  /** JSON lines instead of text. */
  json: boolean;
  /** Nothing of what the inner process says: one of many runs. Errors are still told. */
  quiet: boolean;
}

/** Judged results; absent: the inner process could not run, and has said why. */
export type Supervised = { results?: Results };

/**
 * Carries out a prepared run; one that the user has stopped before it began leaves no folder. Rejects with an error for the
 * user when nothing was recorded.
 */
export async function supervise(
  { folder, config }: PreparedRun,
  output: Output,
  stop: StopRequests,
): Promise<Supervised | 'not-begun'> {
  if (stop.asked) {
    rmSync(folder, { recursive: true, force: true });
    return 'not-begun';
  }
  announcedIsOver();
  const inWorld = config.runtime === SIM;
  const main = fileURLToPath(new URL(inWorld ? '../hunt/virtual-main.js' : './inside-main.js', import.meta.url));
  const look = output.json || output.quiet ? undefined : liveLook(surroundings());
  const flags = [...(output.json ? ['--json'] : []), ...(output.quiet ? ['--quiet'] : []), ...(look ? ['--live'] : [])];
  const inContainers = config.runtime === 'docker';
  const hosts = inContainers ? 'containers' : inWorld ? 'a world of its own' : 'namespaces';
  const stdout = look ? 'capture' : output.quiet ? 'ignore' : 'inherit';
  const inner = config.toolImage
    ? await (await import('./tool-container.js')).enterToolContainer(config.toolImage, folder, flags, { stdout })
    : await enterNamespaces([process.execPath, main, folder, ...flags], { stdout, hosts });
  const end = await shown(inner, look, stop);
  if ('code' in end && end.code === EXIT_COULD_NOT_RUN) return {};
  const results = judgedByInner(folder, end) ?? (await judgedHere(folder, end, inContainers, output));
  dropServersFolders(folder);
  // Only here, where it is known that the inner process has come to its end: it may die after it has judged.
  if (!output.quiet) showVerdict(folder, { results, config }, output);
  return { results };
}

/** Programs that fail to start exit with 1, too: that alone is no violation. */
function judgedByInner(folder: string, end: InnerEnd): Results | undefined {
  const results = 'code' in end ? readResults(folder) : undefined;
  return results !== undefined && 'code' in end && results.exitStatus === end.code ? results : undefined;
}

async function judgedHere(
  folder: string,
  end: InnerEnd,
  inContainers: boolean,
  { json, quiet }: Output,
): Promise<Results> {
  if (inContainers) await (await import('./containers.js')).removeLeftOvers();
  const how = 'code' in end ? 'the run failed (see above)' : `the run was killed (${end.signal})`;
  process.stderr.write(`lock-torture: ${how}; judging what it had recorded\n`);
  if (!existsSync(join(folder, 'history.jsonl'))) throw new UsageError('it ended before anything was recorded');
  return (await (json || quiet ? judgeRun(folder) : showingLife((stop) => judgeRun(folder, stop)))).results;
}

/** Waits for the end, with a live view where the terminal can show one: it is gone again by then. */
async function shown(inner: Inner, look: LiveLook | undefined, stop: StopRequests): Promise<InnerEnd> {
  if (!look || !inner.captured) {
    stop.passOnTo(inner, (text) => process.stderr.write(`\n${text}`));
    return inner.ended;
  }
  using view = showLive({ ...inner.captured, feed: inner.channel }, process.stdout, process.stderr, look);
  stop.passOnTo(inner, view.tell);
  return await inner.ended;
}

/** By which the user asks to stop. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A run that goes on, as far as it can be ended. */
type Endable = Pick<Inner, 'askToStop' | 'kill'> & { ended: Promise<unknown> };

/** Ctrl-C, or a terminal that is closed, once: the runs that go on end early and no other follows. Twice: everything ends at once. Disposed, it hears no more. */
export class StopRequests implements Disposable {
  private readonly inners = new Set<Endable>();
  private listening = false;
  private heard = false;
  private tell: (text: string) => void = () => {};

  /** `onAsked`: called once, before any run that goes on is told. */
  constructor(
    private readonly many: boolean,
    private readonly onAsked: () => void = () => {},
  ) {}

  /** Whether the user wants it to end. */
  get asked(): boolean {
    return this.heard;
  }

  /** From now on requests are for this run too, and `tell` shows the user that they were heard. Until the first one begins, Ctrl-C simply ends the program. */
  passOnTo(inner: Endable, tell: (text: string) => void): void {
    if (!this.listening) for (const signal of SIGNALS) process.on(signal, this.hear);
    this.listening = true;
    this.inners.add(inner);
    void inner.ended.then(() => this.inners.delete(inner));
    this.tell = tell;
    if (this.heard) inner.askToStop();
  }

  [Symbol.dispose](): void {
    for (const signal of SIGNALS) process.off(signal, this.hear);
  }

  private readonly hear = (signal: NodeJS.Signals) => {
    // One closed terminal hangs up more than once: the kernel when it goes and when its shell ends, and whatever passes that on.
    if (this.heard && signal === 'SIGHUP') return;
    if (this.heard) {
      for (const inner of this.inners) inner.kill();
      process.exit(EXIT_COULD_NOT_RUN);
    }
    this.heard = true;
    this.onAsked();
    const then = this.many ? ', then the summary of all runs' : '';
    this.tell(`stopping: healing, tearing down and judging what there is${then} (once more: stop at once)\n`);
    for (const inner of this.inners) inner.askToStop();
  };
}
