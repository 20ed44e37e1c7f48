/** How to run it again, the plan that was carried out, and where the record is. */

import { count, durationOfMs } from '../../harness/record/facts/words.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import { plannedWords, whenWords } from '../story/faults.js';
import { command } from './command.js';

const MOST_STEPS = 200;

const WHAT_IS_IN: Record<string, string> = {
  'history.jsonl': 'what the clients did and saw, and what the nemesis did',
  'observations.jsonl': 'what each server believed',
  'plan.json': 'when which fault was to strike',
  'config.json': 'what was asked for',
  'results.json': 'the verdict, for machines',
  'junit.xml': 'the same for CI',
  'ctrf.json': 'the same for CI, in the Common Test Report Format',
  'summary.md': 'the same as Markdown',
  'worst-violation.svg': 'the drawing of the clearest violation by itself',
};

export function repeatSection({ config, plan, results, again, ...rest }: ReportInput): Markup {
  const files = (rest.files ?? []).filter((name) => !name.split('/').includes('..'));
  const steps = plan.steps
    .slice(0, MOST_STEPS)
    .map(
      (step, at) =>
        markup`<tr><td>F${at + 1}</td><td>${whenWords(step)}</td><td>${plannedWords(step)}</td><td>${durationOfMs(step.forMs)}</td></tr>`,
    );
  const more = plan.steps.length - steps.length;
  const isExact = config.runtime === 'sim';
  const logs = files.filter((name) => name.startsWith('logs/'));
  const others = files.filter((name) => !name.startsWith('logs/'));
  return markup`<h2 id="reproduce">Reproduce</h2>
<p>${isExact ? 'In virtual time it is the same each time, byte by byte:' : 'The same seed makes the same plan:'}</p>${command(results.reproduce)}
${again?.replay === undefined ? undefined : markup`<p>This run’s plan, ten times, with a count of how often the same is found:</p>${command(again.replay)}`}
${again === undefined ? undefined : markup`<p>Judge the record once more:</p>${command(again.check)}`}
${isExact ? undefined : markup`<p class="note">On real servers the timing is never quite the same twice: one repetition that finds nothing proves little.</p>`}
<details><summary>The plan: ${count(plan.steps.length)} steps</summary><div class="scroll"><table><thead><tr><th>no.</th><th>when</th><th>what</th><th>for</th></tr></thead><tbody>${steps}</tbody></table></div>${more > 0 ? markup`<p class="note">${count(more)} further steps are in <code>plan.json</code>.</p>` : undefined}</details>
${files.length === 0 ? undefined : markup`<h3>The record, beside this file</h3><ul>${others.map((name) => markup`<li>${fileLink(name)}${WHAT_IS_IN[name] === undefined ? '' : `: ${WHAT_IS_IN[name]}`}</li>`)}${logs.length === 0 ? undefined : markup`<li>logs: ${logs.map((name) => markup`${fileLink(name, name.slice('logs/'.length))} `)}</li>`}</ul>`}`;
}

/** Never anything but a file of the run's folder: no scheme, and nothing above it. */
function fileLink(name: string, shown = name): Markup {
  const path = name.split('/').map(encodeURIComponent).join('/');
  return markup`<a href="${`./${path}`}">${shown}</a>`;
}
