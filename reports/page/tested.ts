/** What was tested, and how hard: a few facts and figures. The table at the end of the page has everything. */

import { faultsInForce, type Hiding, hidingOf } from '../../harness/record/facts/faults.js';
import { count, durationOfMs, plural, serviceInWords } from '../../harness/record/facts/words.js';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import type { Story } from '../story/story.js';
import { command } from './command.js';
import type { Glossary } from './terms.js';

export function testedSection(input: ReportInput, story: Story, terms: Glossary): Markup {
  const { words } = input.results;
  return markup`<section id="tested"><h2>How hard it was tested</h2>
${tested(input, terms)}
${hardness(input, story, terms)}
${words?.stronger === undefined ? undefined : markup`<p>For a stronger verdict:</p>${command(words.stronger)}`}
</section>`;
}

function tested({ config, serverVersion }: ReportInput, terms: Glossary): Markup {
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
  return markup`<dl class="tested">${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${terms.explained(clipped(value, 400))}</dd></div>`)}</dl>`;
}

function hardness({ results, plan, holds, history }: ReportInput, story: Story, terms: Glossary): Markup {
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
  return markup`<ul class="tiles">${tiles.map(([figure, words]) => (figure === undefined ? undefined : markup`<li><b>${figure}</b><span>${terms.explained(words)}</span></li>`))}</ul>`;
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
