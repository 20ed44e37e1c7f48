import { faultsInForce, type Hiding, hidingOf } from '../../harness/record/facts/faults.js';
import { firstWords, type Tone, toneOf, verdictLines } from '../../harness/record/facts/verdict-words.js';
import { count, durationOfMs, plural, serviceInWords } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import { propertyLines } from '../properties.js';
import type { Story } from '../story/story.js';

const SIGNS: Readonly<Record<Tone, string>> = { held: '✓', passed: '!', violated: '✗', unknown: '?' };

export function verdictSection(input: ReportInput, story: Story): Markup {
  const { results } = input;
  const tone = toneOf(results);
  const state = tone in SIGNS ? tone : 'unknown';
  const { reasons, words } = results;
  const lines = verdictLines(results);
  return markup`<section class="verdict ${state}" id="verdict">
<h1>${SIGNS[state]} ${clipped(firstWords(results), 400)} <span>exit status ${results.exitStatus}</span></h1>
${lines.length === 0 ? undefined : markup`<dl class="in-short">${lines.map(([name, line]) => markup`<div><dt>${name}</dt><dd>${clipped(line, 1_000)}</dd></div>`)}</dl>`}
${words?.stronger === undefined ? undefined : markup`<p class="muted">For a stronger one:</p><pre><code>${words.stronger}</code></pre>`}
<p class="headline">${clipped(results.headline, 1_000)}</p>
${results.virtualTime === undefined ? undefined : markup`<p>${clipped(results.virtualTime, 1_000)}.</p>`}
${tested(input)}
${reasons.length === 0 ? undefined : markup`<p><b>${results.verdict === 'unknown' ? 'Why it cannot tell, and what else to know:' : 'What weakens it or was left out:'}</b></p><ul>${reasons.map((reason) => markup`<li>${clipped(reason, 2_000)}</li>`)}</ul>`}
<h2>What it says of each property</h2>
${properties(input)}
<h2>How hard it was tested</h2>
${hardness(input, story)}
<p class="muted">Run it again:</p>
<pre><code>${results.reproduce}</code></pre>
</section>`;
}

/** The table at the end has everything. */
function tested({ config, serverVersion }: ReportInput): Markup {
  const facts: [string, string][] = [
    ['Lock', config.lock],
    [
      'On',
      // What was found in simulation must not pass for a run.
      [
        config.topology,
        `${serviceInWords(config.service)} ${serverVersion}`,
        ...(config.service === undefined ? [`persistence ${config.topologyOptions.persistence}`] : []),
        ...(config.runtime === 'sim' ? ['simulated in virtual time'] : []),
      ].join(', '),
    ],
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

const STATE_CLASS = {
  held: 'good',
  broken: 'bad',
  allowed: 'doubt',
  weak: 'doubt',
  unknown: 'doubt',
  'none found': 'muted',
  'not judged': 'muted',
} as const;

function properties({ results, config }: ReportInput): Markup {
  const rows = propertyLines(results, config.failOn).map(
    ({ words, state, verdict, told }) =>
      markup`<tr><td>${clipped(words, 400)}</td><td class="nowrap"><span class="state ${STATE_CLASS[state]}">${verdict}</span>${state === 'allowed' ? markup`<br><span class="note">does not fail this run</span>` : undefined}</td><td>${clipped(told, 1_000)}</td></tr>`,
  );
  if (rows.length === 0) return markup`<p>No checker ran.</p>`;
  return markup`<div class="scroll"><table class="properties"><thead><tr><th>property</th><th>verdict</th><th>what was found</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function hardness({ results, plan, holds, history }: ReportInput, story: Story): Markup {
  const { stats } = results;
  const promoted = story.beliefs.nodes.reduce((sum, { roles }) => sum + promotions(roles), 0);
  const replicated = story.beliefs.nodes.some(({ roles }) => roles.some(({ state }) => state.startsWith('replica')));
  const planned = faultsInForce(history).filter(({ step }) => step < plan.steps.length);
  const hidings = planned.map(hidingOf);
  const struck = hidings.filter((hiding) => hiding === undefined).length;
  const tiles: [figure: string | undefined, words: string][] = [
    [count(stats.holds ?? holds.count), 'holds'],
    [count(history.operations.count), 'operations'],
    [known(stats.contendedTries), 'tries while another held'],
    [
      plan.steps.length === 0 ? '0' : `${count(struck)} of ${count(plan.steps.length)}`,
      ['planned faults struck', ...hiddenWords(hidings)].join('; '),
    ],
    [known(stats.strikes), 'strikes: faults, from injection to healing, that met a held lock'],
    [known(stats.struckHolds), 'holds struck by a fault'],
    [replicated ? count(promoted) : undefined, 'failovers seen'],
  ];
  return markup`<ul class="tiles">${tiles.map(([figure, words]) => (figure === undefined ? undefined : markup`<li><b>${figure}</b><span>${words}</span></li>`))}</ul>`;
}

const WHICH_CLIENTS_CANNOT_SEE: Record<Hiding, string> = {
  tcp: 'which TCP hides from clients',
  order: 'which only chose whom servers hear first, as chance does without it',
};

function hiddenWords(hidings: readonly (Hiding | undefined)[]): string[] {
  return Object.entries(WHICH_CLIENTS_CANNOT_SEE).flatMap(([hiding, words]) => {
    const many = hidings.filter((one) => one === hiding).length;
    return many === 0 ? [] : [`${count(many)} more carried out, ${words}`];
  });
}

function known(value: number | undefined): string | undefined {
  return value === undefined ? undefined : count(value);
}

function promotions(roles: Story['beliefs']['nodes'][number]['roles']): number {
  const told = roles.filter(({ state }) => state === 'primary' || state.startsWith('replica'));
  return told.filter(({ state }, at) => state === 'primary' && told[at - 1]?.state.startsWith('replica')).length;
}
