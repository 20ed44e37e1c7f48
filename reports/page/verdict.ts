/** The top of the page: what was tested, what the run says of each property, and how much that is worth. */
import { className } from '../../harness/record/facts/classes.js';
import { count, duration, durationOfMs, moment, plural } from '../../harness/record/facts/words.js';
import type { CheckerResult, Violation, ViolationClass } from '../../harness/vocabulary/verdict.js';
import type { ReportInput } from '../input.js';
import { clipped, type Markup, markup } from '../markup.js';
import type { Story } from '../story/story.js';
import { countFound, EXIT_MEANING } from '../words.js';

const SIGNS = { held: '✓', violated: '✗', unknown: '?' } as const;

export function verdictSection(input: ReportInput, story: Story): Markup {
  const { results } = input;
  const state = results.verdict in SIGNS ? results.verdict : 'unknown';
  const { reasons } = results;
  return markup`<section class="verdict ${state}" id="verdict">
<h1>${SIGNS[state]} ${results.verdict.toUpperCase()} <span>exit status ${results.exitStatus}: ${EXIT_MEANING[results.exitStatus]}</span></h1>
<p class="headline">${clipped(results.headline, 1_000)}</p>
${tested(input)}
${reasons.length === 0 ? undefined : markup`<p><b>${results.verdict === 'unknown' ? 'Why it cannot tell, and what else to know:' : 'What weakens it or was left out:'}</b></p><ul>${reasons.map((reason) => markup`<li>${clipped(reason, 2_000)}</li>`)}</ul>`}
<h2>What it says of each property</h2>
${properties(input)}
<h2>How hard it was tested</h2>
${hardness(input, story)}
${results.strength === undefined ? undefined : markup`<p><b>Strength:</b> ${clipped(results.strength, 1_000)}</p>`}
<p class="muted">Run it again:</p>
<pre><code>${results.again}</code></pre>
</section>`;
}

/** The table at the end has everything. */
function tested({ config, serverVersion }: ReportInput): Markup {
  const facts: [string, string][] = [
    ['Lock', config.lock],
    ['On', `${config.topology}, Redis ${serverVersion}, persistence ${config.topologyOptions.persistence}`],
    [
      'Load',
      `${plural(config.clients, config.careless ? 'careless client' : 'careful client')}, ${plural(config.keys.length, 'key')}, lease ${durationOfMs(config.leaseMs)}, ${durationOfMs(config.timeLimitMs)}`,
    ],
    ['Faults', config.nemesis.length === 0 ? 'none' : config.nemesis.join(', ')],
    ['Seed', String(config.seed)],
    ['Run', `${config.runId}, started ${config.startedAt}`],
  ];
  return markup`<dl class="tested">${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${clipped(value, 400)}</dd></div>`)}</dl>`;
}

/** What a checker decides, in the words of a user; of checkers that only measure there is no row. */
const PROPERTIES: Record<string, [cls: ViolationClass | undefined, words: string][]> = {
  'mutual-exclusion': [
    ['exclusion', 'Two clients never held a lock at once while both leases ran'],
    ['stale', 'Nobody acted as holder past its lease while another held'],
  ],
  liveness: [['liveness', 'After everything was healed, every lock could be had again']],
  fencing: [['harm', 'Every grant had a higher fencing token than those before it']],
  'lost-updates': [['harm', 'No acknowledged update of what the lock protects was lost']],
  'stale-writes': [['harm', 'What the lock protects took no write of a holder after a later one had used it']],
  fifo: [['liveness', 'The lock was granted in the order of the queue']],
  permits: [['liveness', 'After everything was healed, all permits could be had again']],
  vacuity: [[undefined, 'The run was worth something: holds, contention, faults that struck held locks']],
};

function properties({ results, config }: ReportInput): Markup {
  const rows = results.checkers.flatMap((checker) => {
    const known = PROPERTIES[checker.checker];
    if (known === undefined && checker.verdict === 'valid' && checker.violations.length === 0) return [];
    const classes = known ?? [[undefined, checker.checker] as [undefined, string]];
    return classes.map(([cls, words]) => propertyRow(checker, cls, words, config.failOn));
  });
  if (rows.length === 0) return markup`<p>No checker ran.</p>`;
  return markup`<div class="scroll"><table class="properties"><thead><tr><th>property</th><th>verdict</th><th>what was found</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function propertyRow(
  checker: CheckerResult,
  cls: ViolationClass | undefined,
  words: string,
  failOn: readonly ViolationClass[],
): Markup {
  const found = cls === undefined ? countFound(checker) : countFound(checker, [cls]);
  const violations = checker.violations.filter((one) => cls === undefined || one.class === cls);
  const allowed = cls !== undefined && !failOn.includes(cls);
  const [state, word] =
    found > 0
      ? [allowed ? 'doubt' : 'bad', `✗ ${cls === undefined ? 'violated' : className(cls)}: ${count(found)}`]
      : checker.verdict === 'unknown'
        ? ['doubt', '? cannot tell']
        : ['good', cls === undefined ? '✓ yes' : '✓ held'];
  const told =
    found > 0 ? foundWords(violations, found) : checker.verdict === 'unknown' ? checker.notes.join('; ') : '';
  return markup`<tr><td>${words}</td><td><span class="state ${state}">${word}</span>${found > 0 && allowed ? markup`<br><span class="note">does not fail this run</span>` : undefined}</td><td>${clipped(told, 1_000)}</td></tr>`;
}

/** The first, the worst, and the causes with how often each. */
function foundWords(violations: readonly Violation[], found: number): string {
  const [first] = violations;
  if (first === undefined) return '';
  const worst = violations.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  const causes = new Map<string, number>();
  for (const { cause } of violations) causes.set(cause.name, (causes.get(cause.name) ?? 0) + 1);
  const named = [...causes].sort(([, a], [, b]) => b - a).map(([name, times]) => `${name} ×${count(times)}`);
  const ofThem = found > violations.length ? ` (of the first ${count(violations.length)})` : '';
  return `First at ${moment(first.fromNs)} on ${first.key}; longest ${duration(lengthOf(worst))}. Cause: ${named.join(', ')}${ofThem}.`;
}

function lengthOf({ fromNs, untilNs }: Violation): number {
  return untilNs - fromNs;
}

function hardness({ results, plan, holds, history }: ReportInput, story: Story): Markup {
  const { stats } = results;
  const promoted = story.beliefs.nodes.reduce((sum, { roles }) => sum + promotions(roles), 0);
  const replicated = story.beliefs.nodes.some(({ roles }) => roles.some(({ state }) => state.startsWith('replica')));
  const struck = story.faults.filter(({ outcome }) => outcome === 'struck').length;
  const tiles: [figure: string | undefined, words: string][] = [
    [count(stats.holds ?? holds.count), 'holds'],
    [count(history.operations.count), 'operations'],
    [known(stats.contendedTries), 'tries while another held'],
    [plan.steps.length === 0 ? '0' : `${count(struck)} of ${count(plan.steps.length)}`, 'planned faults struck'],
    [known(stats.struckHolds), 'holds struck by a fault'],
    [replicated ? count(promoted) : undefined, 'failovers seen'],
  ];
  return markup`<ul class="tiles">${tiles.map(([figure, words]) => (figure === undefined ? undefined : markup`<li><b>${figure}</b><span>${words}</span></li>`))}</ul>`;
}

function known(value: number | undefined): string | undefined {
  return value === undefined ? undefined : count(value);
}

function promotions(roles: Story['beliefs']['nodes'][number]['roles']): number {
  const told = roles.filter(({ state }) => state === 'primary' || state.startsWith('replica'));
  return told.filter(({ state }, at) => state === 'primary' && told[at - 1]?.state.startsWith('replica')).length;
}
