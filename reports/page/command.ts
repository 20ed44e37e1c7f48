/** A command to be typed, with a button that copies it. */
import { type Markup, markup } from '../markup.js';

export function command(line: string): Markup {
  return markup`<div class="command"><pre><code>${line}</code></pre><button type="button" class="only-scripted" data-copy="" aria-label="Copy the command">copy</button></div>`;
}
