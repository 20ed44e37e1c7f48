/**
 * `docs/faults.md`, from the code that runs: what a fault says of itself, how it is planned, where it makes sense, and how
 * each runtime gives it what it needs. Nothing about a particular fault is written here.
 */

import { provides } from '../../harness/runtimes/provides.js';
import { topologies } from '../../harness/topologies/index.js';
import type { RuntimeCapability } from '../../harness/vocabulary/host.js';
import type { TopologyKind } from '../../harness/vocabulary/topology.js';
import {
  defaultFaults,
  defaultRole,
  faults,
  type NemesisFault,
  type PlanTopology,
  parseNemesis,
  roles,
} from '../../nemesis/index.js';
import { planTopology } from '../run/deployment.js';
import { DEFAULT_LEASE_MS } from '../run/flags.js';

/** Any policy will do where a fault asks whether there is one. */
const POLICY = 'allkeys-lru';

/** The whole page, in Markdown. */
export function faultsPage(): string {
  return `${[
    INTRODUCTION,
    '## The faults',
    overview(),
    '## Whom a fault strikes',
    targets(),
    '## What is planned when nothing is said',
    defaults(),
    '## What faults need, and how a runtime gives it',
    'A runtime that cannot give it (an engine that grants no power over the network, say) says so before the run: the fault is left out of groups with a note, and refused by name where it was asked for, with the remedy.',
    runtimes(),
    ...Object.values(faults).map(section),
  ].join('\n\n')}\n`;
}

const INTRODUCTION = `# Faults

<!-- Written by \`npm run docs\` from the code that runs. Change the fault, not this page. -->

What lock-torture does to servers and clients, how each fault proves that it struck, and what it is known to break.

**A fault** is a command on a host: a signal to a process, a route in a host's own network, an offset in the file that a
host's clock follows. It strikes, stays in force for a while, and is healed. Faults overlap; each takes back only what is
its own.

**What it did** is recorded as effects: which processes were stopped or killed, which clocks moved, what was cut from what, each
with the time at which it was read back. Checkers and causes know a fault by its effects only, never by its name.

**A plan** is plain data, made from \`--seed\` and saved as \`plan.json\` before the run starts. \`--plan FILE\` runs one of
your own:

\`\`\`json
{
  "version": 1,
  "seed": 1,
  "steps": [
    { "atMs": 500, "fault": "pause", "target": "holder", "forMs": 6000 },
    { "atMs": 2000, "fault": "clock", "target": { "names": ["r1"] }, "forMs": 3000, "args": { "offsetMs": 6000 } },
    { "after": { "event": "acquire", "count": 5, "client": "c1" }, "fault": "kill", "target": "primary", "forMs": 1000 }
  ]
}
\`\`\`

\`atMs\` counts from the beginning of the torture phase; \`after\` waits for the count-th \`acquire\`, \`release\` or \`step\` (of
any client, or of one). \`target\` is a role or names of nodes, Sentinels and client slots. \`forMs\` is how long the fault
stays in force. Every mistake in a plan is one line that names the step and the field. In hunts a step with \`atMs\` may have an
\`aim\`, as \`"aim": { "side": "after", "event": "request", "count": 3 }\`: it strikes right \`before\` or \`after\` the count-th \`request\`
(or \`going-on\`, \`change\`, \`expiry\`) from then on, see [simulation.md](simulation.md); elsewhere that is refused in one line.

A strike after a \`step\` comes before the next command of the client that reached it: the client stops itself there (SIGSTOP)
and goes on when the strike has been read back. \`client\` and \`holder\` then mean this client, if it is one. How long it stood
is in the history, and it counts as stopped for that time. Only operations that are sent while the trigger is due can stop; the
step of one that had been sent before is counted, and the strike waits for the next. A lock client that cannot stop itself
(feature \`stop-at\` of the [protocol](protocol.md)) is struck from outside, when its next command may have left: the record
says that it was too late. A fault that was too late each time makes the verdict \`unknown\`, as one that never struck.

**\`--nemesis\`** makes a plan: \`default\`, \`all\`, \`none\`, or a list of \`fault\` and \`fault:target\`, as in
\`--nemesis kill,pause:client,partition:r2\`. Server faults follow one another, each after the deployment had time to become
whole again; client faults run beside them. Arguments and durations are drawn from the seed, see each fault.

**Proof.** A fault reads back that it struck, by other means than it struck with: from the kernel, from the host's routing
table, from the program itself. The history says what was read. It reads back that it was healed, too, and at the end of
the run every host, server and client is asked whether anything is left.

**Refused, failed.** Every step of a plan ends in the history. \`refused\`: it cannot or must not be done now, with the
reason (there is no minority; no lock is held; more than a minority of the nodes would forget within one lease, and no
lock promises anything then). \`failed\`: it was done and the read-back does not show it, or it could not be undone. A
planned fault that never struck makes the verdict \`unknown\`: nothing was tested.`;

function overview(): string {
  const rows = Object.values(faults).map((fault) => [
    `[\`${fault.name}\`](#${fault.name})`,
    fault.summary,
    fault.needs.join(', ') || 'nothing',
  ]);
  return table(['fault', 'what', 'needs'], rows);
}

function targets(): string {
  return table(
    ['role', 'who that is when the step fires'],
    Object.entries(roles).map(([role, meaning]) => [`\`${role}\``, meaning]),
  );
}

function defaults(): string {
  const rows = Object.values(topologies).map((kind) => {
    const requests = defaultFaults(usual(kind));
    return [
      `\`${kind.name}\``,
      requests
        .map(({ fault, target, atLeast, again, args = {} }) => {
          const given = Object.entries(args).map(([name, value]) => `${name} ${value}`);
          const times = atLeast === undefined ? '' : ` (${atLeast} times)`;
          const often = atLeast === 0 ? ' (where time is left)' : again ? ' (twice where there is time)' : times;
          const withArgs = given.length > 0 ? ` (${given.join(', ')})` : '';
          return `\`${target ? `${fault}:${target}` : fault}\`${withArgs}${often}`;
        })
        .join(', '),
    ];
  });
  return table(['topology', '`--nemesis default`'], rows);
}

function runtimes(): string {
  const names = Object.keys(provides);
  const needs = Object.keys(Object.values(provides)[0]!) as RuntimeCapability[];
  return table(
    ['need', ...names.map((name) => `\`${name}\` runtime`)],
    needs.map((need) => [`\`${need}\``, ...names.map((name) => provides[name]![need])]),
  );
}

function section(fault: NemesisFault): string {
  return [
    `## ${fault.name}`,
    `${capital(fault.summary)}.`,
    `**Does.** ${fault.explained.does}`,
    `**Proof.** ${fault.explained.proof}`,
    `**Breaks.** ${fault.explained.breaks}`,
    `**Strikes** ${fault.targets.map((role) => `\`${role}\``).join(', ')}; by name ${listed(fault.strikes.map((kind) => STRUCK[kind]))}.`,
    `**Recorded as** ${listed(fault.effects.map((kind) => `\`${kind}\``))}.`,
    `**Needs** ${fault.needs.map((need) => `\`${need}\``).join(', ') || 'nothing of the runtime'}.`,
    ...argumentsOf(fault),
    whereOf(fault),
  ].join('\n\n');
}

const STRUCK = { node: 'data nodes', sentinel: 'Sentinels', client: 'clients' } as const;

function argumentsOf(fault: NemesisFault): string[] {
  const rows = Object.entries(fault.args).map(([name, { means, unit, required }]) => [
    `\`${name}\``,
    unit ?? '',
    `${means}${required ? ' (must be given in a plan)' : ''}`,
    drawn(fault, name),
  ]);
  return rows.length > 0 ? [table(['argument', 'unit', 'what it decides', 'drawn by `--nemesis` from'], rows)] : [];
}

/** The values that plans choose from, on all topologies and for all targets together. */
function drawn(fault: NemesisFault, argument: string): string {
  const values = placesOf(fault).flatMap(({ topology }) =>
    fault.targets.flatMap((role) => fault.shape(topology, role, DEFAULT_LEASE_MS).args?.[argument] ?? []),
  );
  return [...new Set(values)].map((value) => `\`${value}\``).join(', ');
}

/** Where it makes sense, whom it strikes there if no target is named, and for how long. */
function whereOf(fault: NemesisFault): string {
  const places = placesOf(fault);
  const rows = places.map(({ topology, condition }) => {
    const role = defaultRole(fault, topology)!;
    const { forMs, lane } = fault.shape(topology, role, DEFAULT_LEASE_MS);
    return [
      `\`${topology.name}\`${condition}`,
      `\`${role}\``,
      `${seconds(forMs.min)} – ${seconds(forMs.max)}`,
      lane === 'servers' ? 'after other server faults' : 'beside other faults',
    ];
  });
  const not = Object.values(topologies)
    .map(usual)
    .filter((topology) => !places.some((place) => place.topology.name === topology.name))
    .map((topology) => `Not on \`${topology.name}\`: ${whyNot(fault, topology)}.`);
  const heads = [
    'topology',
    'strikes, if no target is named',
    `in force, at a lease of ${seconds(DEFAULT_LEASE_MS)}`,
    'planned',
  ];
  return [table(heads, rows), ...not].join('\n\n');
}

interface Place {
  topology: PlanTopology;
  /** What must be asked for so that it makes sense. */
  condition: string;
}

function placesOf(fault: NemesisFault): Place[] {
  return Object.values(topologies).flatMap((kind): Place[] => {
    const topology = usual(kind);
    if (whyNot(fault, topology) === undefined) return [{ topology, condition: '' }];
    const limited = { ...topology, maxmemoryPolicy: POLICY };
    return whyNot(fault, limited) === undefined ? [{ topology: limited, condition: ' with `--maxmemory-policy`' }] : [];
  });
}

/** A topology as a run without options has it. */
function usual(kind: TopologyKind): PlanTopology {
  return planTopology(kind, { nodes: 5, persistence: 'rdb', minReplicasToWrite: 0, redisConf: [] }, 6);
}

/** As `--nemesis` answers it. */
function whyNot(fault: NemesisFault, topology: PlanTopology): string | undefined {
  try {
    parseNemesis(fault.name, topology);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^--nemesis: \S+ (makes no sense here: )?/, '');
  }
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function listed(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function seconds(ms: number): string {
  return `${Number((ms / 1_000).toFixed(1))} s`;
}
