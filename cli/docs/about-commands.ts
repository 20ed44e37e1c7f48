/** `list` and `doctor`: what there is, and what this machine can do. */
import { type Command, Option } from 'commander';
import { checkers, judgesOf } from '../../checkers/index.js';
import { diagnose, formatFindings } from '../../harness/machine/doctor.js';
import { provideIp } from '../../harness/machine/iproute.js';
import { cacheFolder } from '../../harness/machine/redis-binary.js';
import { insteadOf } from '../../harness/record/schemas/names.js';
import { topologies } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';
import type { Checker } from '../../harness/vocabulary/run.js';
import type { Versions } from '../../lock-impl/builtin-lock.js';
import { externalLocks } from '../../lock-impl/external/index.js';
import { type BuiltinLock, locks } from '../../lock-impl/index.js';
import { parseLockSpec, typedForm } from '../../lock-impl/lock-spec.js';
import { faults } from '../../nemesis/index.js';
import { workloads } from '../../workloads/index.js';
import { EXIT_COULD_NOT_RUN, UsageError } from '../common/errors.js';
import { STANDING } from '../common/standing.js';
import { nameAmong } from '../common/values.js';
import { engineFinding } from '../run/containers.js';
import { askServer, type ServerFlags, serverOptions } from '../run/machine-flags.js';
import { defaultsText } from '../run/workload-flags.js';

/** Services that doctor looks for only when it is asked to. */
const OTHERS = Object.values(services).filter(({ name }) => name !== 'redis');
const ALL = 'all';

/** A text of several lines stands below its name. */
type Row = readonly [name: string, text: string];

const LISTS: Record<string, () => Row[]> = {
  topologies: () =>
    Object.values(topologies).map((kind) => [kind.name, `${kind.summary}; default lock ${kind.defaultLock}`]),
  locks: () => [
    ...Object.entries(locks).map(([name, lock]): Row => [name, describeLock(name, lock)]),
    ...Object.entries(externalLocks).map(([name, lock]): Row => {
      const needs = lock.project.needs.map(([program]) => program).join(', ');
      return [name, `${describeLock(name, lock)}\nneeds:  ${needs}; built at its first run`];
    }),
  ],
  faults: () => Object.values(faults).map((fault) => [fault.name, `${fault.summary} [${fault.targets.join(', ')}]`]),
  workloads: () =>
    Object.values(workloads).map((workload) => [
      workload.name,
      [
        workload.summary,
        ...(workload.needs ? [`for locks with the feature ${workload.needs.join(' or ')}`] : []),
        `judged by: ${namesOf(judgesOf({ ...workload, played: false }))}`,
        ...(workload.defaults ? [`defaults:  ${defaultsText(workload)}`] : []),
      ].join('\n'),
    ]),
  checkers: () => listOfCheckers(),
};

/** A row for each checker. */
export function listOfCheckers(all: readonly Checker[] = checkers): Row[] {
  return all.map(({ name, summary }) => [name, summary]);
}

function namesOf(judges: readonly Checker[]): string {
  return judges.map(({ name }) => name).join(', ');
}

/**
 * The kinds with their counts; all of one kind (`locks`, or `lock`); or one of a kind by its name. Throws one line where there is no such
 * kind or name.
 */
export function listText(kind?: string, name?: string): string {
  if (kind === undefined) {
    const counts = Object.entries(LISTS).map(([title, rows]): Row => [title, String(rows().length).padStart(4)]);
    return `${table(counts)}\n'list locks' shows all of a kind, 'list lock redlock' one of them.\n`;
  }
  const title = Object.keys(LISTS).find((plural) => plural === kind || singular(plural) === kind);
  if (title === undefined) throw new UsageError(`nothing is called "${kind}"; ${insteadOf(kind, Object.keys(LISTS))}`);
  const rows = LISTS[title]!();
  if (name === undefined) return `${title}\n${table(rows)}\n`;
  const asked = title === 'locks' ? parseLockSpec(name).name : name;
  const exactly = rows.filter(([called]) => called === asked);
  // `redisson`: all that it has.
  const one = exactly.length > 0 ? exactly : rows.filter(([called]) => called.startsWith(`${asked}/`));
  const names = rows.map(([called]) => called);
  if (one.length === 0)
    throw new UsageError(`no ${singular(title)} "${name}"; ${insteadOf(name, names, { list: `list ${title}` })}`);
  return table(one);
}

function singular(plural: string): string {
  return plural === 'topologies' ? 'topology' : plural.replace(/s$/, '');
}

function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map((row) => formatRow(row, width)).join('');
}

export function runList(kind: string | undefined, name: string | undefined): number {
  process.stdout.write(listText(kind, name));
  return 0;
}

function describeLock(name: string, lock: Omit<BuiltinLock, 'module'>): string {
  const { summary, family, forms, calls, versions, topologies, claims } = lock;
  return [
    summary,
    `family: ${family}; on ${topologies.join(', ')}`,
    `forms:  ${calls ? formsToChoose(name, calls) : forms.join(', ')}`,
    ...(versions ? [`version: ${versionsToChoose(name, versions)}`] : []),
    `claims: ${claims}`,
  ].join('\n');
}

/** As they are typed, and how. */
function formsToChoose(name: string, calls: readonly string[]): string {
  const [byDefault, ...others] = calls.map(typedForm);
  return `${byDefault} (default), ${others.join(', ')}, as in --lock ${name}:${others[0]}`;
}

function versionsToChoose(name: string, { library, byDefault, alsoPinned }: Versions): string {
  const usual = byDefault === undefined ? "your project's" : byDefault;
  const pinned = alsoPinned.length > 0 ? `; pinned too: ${alsoPinned.join(', ')}` : '';
  const example = alsoPinned[0] ?? byDefault;
  return `${usual} (default)${pinned}; any of ${library}${example ? `, as in --lock ${name}@${example}` : ''}`;
}

function formatRow([name, text]: Row, width: number): string {
  const lines = text.split('\n');
  if (lines.length > 1) return [`  ${name}`, ...lines.map((line) => `      ${line}`), ''].join('\n');
  return `  ${name.padEnd(width)}  ${text}`.trimEnd().concat('\n');
}

export interface DoctorFlags extends ServerFlags {
  service?: string;
}

export function addDoctorFlags(command: Command): Command {
  for (const option of serverOptions('a server to look at')) command.addOption(option);
  const names = [...OTHERS.map(({ name }) => name), ALL];
  return command.addOption(
    new Option('--service <name>', `a service beside Redis, too: ${names.join(' | ')}`).argParser(nameAmong(names)),
  );
}

export async function runDoctor({ service, ...flags }: DoctorFlags): Promise<number> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  // As a run would; that there is none is one of the findings.
  await provideIp(cacheFolder(), say).catch((error: Error) => say(`no ip: ${error.message}`));
  const asked = OTHERS.filter(({ name }) => service === ALL || service === name);
  const findings = [
    ...(await diagnose({ cacheFolder: cacheFolder(), server: askServer(flags, STANDING), services: asked })),
    await engineFinding(),
  ];
  process.stdout.write(`${formatFindings(findings)}\n`);
  return findings.some((finding) => finding.ok === false) ? EXIT_COULD_NOT_RUN : 0;
}
