/**
 * The frame of every page: one file that needs no network and is forbidden to use any. A page is its title and its body;
 * those that draw bring a script and the data for it.
 *
 *     pageFrame({ title: 'Selftest', body: markup`<h1>Selftest</h1>…` })
 */
import { createHash } from 'node:crypto';
import { clipped } from '../../harness/record/schemas/foreign-text.js';
import { Markup, markup } from '../markup.js';
import { pageScript, type Script, type ScriptName } from './script.js';
import { STYLE } from './style.js';

export interface Page {
  title: string;
  body: Markup;
  /** Which of the project's scripts runs on it; absent: none can. */
  script?: ScriptName;
  /** What `packed` made, by the id of the element that carries it. */
  data?: Readonly<Record<string, string>>;
}

/** A whole HTML document. */
export function pageFrame({ title, body, script, data = {} }: Page): string {
  const { code, style = '', trouble } = script === undefined ? {} : scriptOf(script);
  return markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy(code)}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>${title}</title><style>${STYLE}${new Markup(style)}</style></head>
<body><main>
${trouble === undefined ? undefined : markup`<p class="note">This page’s script could not be made, so the timeline and the plots are missing: ${clipped(trouble, 500)}</p>`}${body}
</main>
${Object.entries(data).map(([id, packed]) => markup`<script type="application/octet-stream" id="${id}">${base64(packed)}</script>\n`)}${code === undefined ? undefined : markup`<script type="module">${new Markup(code)}</script>`}
</body></html>
`.source;
}

/** A report without its script is a report: the verdict must be readable whatever became of the bundler. */
function scriptOf(name: ScriptName): Partial<Script> & { trouble?: string } {
  try {
    return pageScript(name);
  } catch (error) {
    return { trouble: (error as Error).message };
  }
}

/** Nothing is fetched or sent; and of scripts only this one runs, so that a lock's text could not act even if it escaped the escaping. */
function policy(code: string | undefined): string {
  const scripts =
    code === undefined ? '' : `script-src 'sha256-${createHash('sha256').update(code).digest('base64')}'; `;
  return `default-src 'none'; ${scripts}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`;
}

/** Only what can stand anywhere: no `<` can be in it. */
function base64(packed: string): Markup {
  if (!/^[A-Za-z0-9+/=]*$/.test(packed)) throw new Error('a page’s data must be base64');
  return new Markup(packed);
}
