/** Patterns that every drawing of a page refers to, and the legend that explains them. */
import { type Markup, markup } from '../markup.js';
import { KEY_COLOURS } from './canvas.js';

/** Once per page, before the first drawing. */
export function sharedDefinitions(): Markup {
  const names = [...Array.from({ length: KEY_COLOURS }, (_, at) => `k${at}`), 'k-other'];
  const hatches = names.map(
    (name) =>
      markup`<pattern id="${`stale-${name}`}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch ${name}" width="2" height="5"/></pattern>`,
  );
  const grey = markup`<pattern id="unwatched" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-grey" width="1.5" height="6"/></pattern>`;
  const red = markup`<pattern id="stale-mark" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="hatch-red" width="2" height="6"/></pattern>`;
  const unclear = markup`<pattern id="unclear" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-fault" width="2" height="5"/></pattern>`;
  return markup`<svg class="definitions" width="0" height="0" aria-hidden="true"><defs>${hatches}${grey}${red}${unclear}</defs></svg>`;
}

function swatch(inside: Markup, text: string): Markup {
  return markup`<span class="swatch"><svg width="26" height="14" viewBox="0 0 26 14" aria-hidden="true">${inside}</svg>${text}</span>`;
}

/** What the colours and shapes mean; what hardly any run has only where it occurs. */
export function legend(keys: readonly string[], has: { evictions: boolean; skews: boolean }): Markup {
  const keySwatches = keys
    .slice(0, KEY_COLOURS)
    .map((key, at) => swatch(markup`<rect class="hold k${at}" x="0" y="1" width="26" height="12"/>`, key));
  const shared =
    keys.length > KEY_COLOURS
      ? markup`<span class="swatch">${`and ${keys.length - KEY_COLOURS} more keys, which share these colours`}</span>`
      : undefined;
  return markup`<p class="legend">${keySwatches}${shared}
${swatch(markup`<rect class="hold k0" x="0" y="1" width="12" height="12"/><rect class="hold-edge k0" x="12" y="1" width="14" height="12"/><rect fill="url(#stale-k0)" x="12" y="1" width="14" height="12"/>`, 'held: lease running, then hatched once it had ended')}
${swatch(markup`<rect class="wait" x="0" y="6" width="26" height="3"/>`, 'waited, and got it')}
${swatch(markup`<rect class="tick fail" x="0" y="7" width="24" height="1.5"/><rect class="tick fail" x="24" y="4" width="1.5" height="8"/>`, 'tried, and was refused')}
${swatch(markup`<rect fill="url(#unclear)" x="0" y="4" width="26" height="7"/>`, 'outcome unknown')}
${swatch(markup`<g class="down"><line x1="13" y1="2" x2="13" y2="14"/><path d="M9.500 1l7 7m0 -7l-7 7"/></g>`, 'client process gone')}
${swatch(markup`<rect class="fault-band" x="0" y="0" width="26" height="14"/><line class="fault-edge" x1="0.7" y1="0" x2="0.7" y2="14"/><rect fill="url(#unclear)" x="13" y="9" width="13" height="5"/>`, 'under a fault; hatched below: stopped or down')}
${swatch(markup`<rect class="mark-span exclusion" x="1" y="1" width="24" height="12"/>`, 'overlap: exclusion broken')}
${swatch(markup`<rect class="mark-span stale" x="1" y="1" width="24" height="12"/>`, 'overlap: stale holder')}
${swatch(markup`<rect class="role primary" x="0" y="1" width="13" height="12"/><rect class="role replica" x="13" y="1" width="13" height="12"/>`, 'primary; replica')}
${swatch(markup`<rect class="role unwatched" x="0" y="1" width="26" height="12"/>`, 'not watched: dead or stopped')}
${has.skews ? swatch(markup`<rect class="skewed" x="0" y="9" width="26" height="3"/>`, 'its clock is off') : undefined}
${has.evictions ? swatch(markup`<rect class="owner k0" x="0" y="3" width="13" height="8"/><line class="evicted" x1="13" y1="1" x2="13" y2="13"/>`, 'evicted: the server’s memory was full') : undefined}</p>`;
}
