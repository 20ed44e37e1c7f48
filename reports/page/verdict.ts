/** The top of the page: what the run says, how much that is worth, and how to run it again. */
import type { ViolationClass } from '../../harness/api.js';
import type { ReportInput } from '../input.js';
import { clipped, type Markup, markup } from '../markup.js';
import { CLASS_NAMES, count, durationOfMs, EXIT_MEANING, plural } from '../words.js';

export function verdictSection(input: ReportInput): Markup {
  const { results } = input;
  const state = ['held', 'violated', 'unknown'].includes(results.verdict) ? results.verdict : 'unknown';
  const { reasons } = results;
  return markup`<section class="verdict ${state}">
<h1>${results.verdict.toUpperCase()} <span>exit status ${results.exitStatus}: ${EXIT_MEANING[results.exitStatus]}</span></h1>
<p class="headline">${clipped(results.headline, 1_000)}</p>
${foundTags(input)}
${results.strength === undefined ? undefined : markup`<p><b>Strength:</b> ${clipped(results.strength, 1_000)}</p>`}
${reasons.length === 0 ? undefined : markup`<p><b>${results.verdict === 'unknown' ? 'Why it cannot tell, and what else to know:' : 'What weakens it or was left out:'}</b></p><ul>${reasons.map((reason) => markup`<li>${clipped(reason, 2_000)}</li>`)}</ul>`}
<p class="muted">${runWords(input)} Run it again:</p>
<pre><code>${results.again}</code></pre>
</section>`;
}

/** The run in a sentence; the table at the end has everything. */
function runWords({ config, serverVersion }: ReportInput): string {
  const faults = config.nemesis.length === 0 ? 'no faults' : `faults ${config.nemesis.join(', ')}`;
  const load = `${plural(config.clients, 'client')}, ${plural(config.keys.length, 'key')}, lease ${durationOfMs(config.leaseMs)}`;
  return `Lock ${config.lock} on ${config.topology} (Redis ${serverVersion}), ${load}, ${faults}, ${durationOfMs(config.timeLimitMs)}, seed ${config.seed}. Run ${config.runId}, started ${config.startedAt}.`;
}

function foundTags({ results, config }: ReportInput): Markup {
  const classes = Object.keys(CLASS_NAMES) as ViolationClass[];
  const tags = classes.flatMap((one) => {
    const found = results.found[one] ?? 0;
    if (found === 0) return [];
    const fails = config.failOn.includes(one);
    return markup`<span class="tag ${fails ? 'bad' : 'soft'}">${CLASS_NAMES[one]}: ${count(found)}${fails ? '' : ' (does not fail this run)'}</span>`;
  });
  return tags.length === 0 ? markup`` : markup`<div class="tags">${tags}</div>`;
}
