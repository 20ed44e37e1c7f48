/** The lines of history and observations that a report cites, carried in the report itself so that links lead somewhere. */

import { clipped } from '../../harness/record/schemas/foreign-text.js';
import type { ReportInput } from '../input.js';
import { type Markup, markup } from '../markup.js';
import type { Folded } from './folded.js';

/** A link costs some bytes, its line some hundred; above this the files themselves are the better reading. */
const MOST_LINES = 1_200;

export class Citations {
  private readonly history = new Set<number>();
  private readonly observations = new Set<number>();
  private leftOut = 0;

  constructor(private readonly input: ReportInput) {}

  /** A link to a line of history.jsonl. */
  historyLine(line: number): Markup {
    return this.cite(this.history, line, 'h', this.input.history.length);
  }

  /** A link to a line of observations.jsonl. */
  observationLine(line: number): Markup {
    return this.cite(this.observations, line, 'o', this.input.observations.length);
  }

  private cite(cited: Set<number>, line: number, prefix: 'h' | 'o', lines: number): Markup {
    const name = `${prefix}${line}`;
    if (!Number.isInteger(line) || line < 0 || line >= lines)
      return markup`<span class="mono">${name} (not in the record)</span>`;
    if (!cited.has(line) && this.history.size + this.observations.size >= MOST_LINES) {
      this.leftOut++;
      return markup`<span class="mono">${name}</span>`;
    }
    cited.add(line);
    return markup`<a class="mono" href="${`#${name}`}">${name}</a>`;
  }

  /** Every line cited so far. */
  section(folded: Folded): Markup {
    const { history, observations } = this.input;
    if (this.history.size + this.observations.size === 0) return markup``;
    const item = (name: string, value: unknown) =>
      markup`<li id="${name}" class="mono"><b>${name}</b> ${clipped(JSON.stringify(value) ?? '', 1_000)}</li>`;
    const sorted = (lines: Set<number>) => [...lines].sort((a, b) => a - b);
    const list = markup`<ul class="cited">${sorted(this.history).map((line) => item(`h${line}`, history.event(line)))}${sorted(this.observations).map((line) => item(`o${line}`, observations.line(line)))}</ul>`;
    return markup`<h2 id="lines">Lines cited</h2>
<p class="note">h<i>n</i> is line <i>n</i> of <code>history.jsonl</code>, o<i>n</i> of <code>observations.jsonl</code>, both counted from 0 (so <code>sed -n '<i>n+1</i>p'</code> prints it). Times in them are nanoseconds since the run's epoch.${this.leftOut > 0 ? ` ${this.leftOut} further citations name their line without repeating it here.` : ''}</p>
<details><summary>Show the lines</summary>${folded.fold('lines-cited', list)}</details>`;
  }
}
