/**
 * Words that only this tool uses so, explained where they stand: a word is a button that opens its explanation, by pointer, finger or
 * key, without a script.
 */
import { type Markup, markup } from '../markup.js';

interface Term {
  /** The word as it stands in a text. */
  found: RegExp;
  name: string;
  text: string;
}

/** For the page, and for the test of how it is written. */
export const TERMS: Readonly<Record<string, Term>> = {
  strike: {
    found: /\b(?:struck|strikes?)\b/,
    name: 'strike, struck',
    text: 'A strike is an injection of a fault, with its healing, that met a held lock. Injections that overlap in time are one strike. A hold is struck if a strike met it.',
  },
  careful: {
    found: /\bcare(?:ful|less)\b/,
    name: 'careful, careless',
    text: 'A careful client stops its work when its lock reports a loss, or when the lease ends by its own clock. A careless client ignores both.',
  },
  client: {
    found: /\bc\d+\.\d+\b/,
    name: 'c7.2',
    text: 'c7.2 is the second process of client c7. A client gets a new process after its process ended, or after a request without an answer.',
  },
  hold: {
    found: /\bhold #\d+/,
    name: 'hold',
    text: 'A hold is the time from a grant until its release, its loss, or the end of its client. Its number is the acquire’s id in history.jsonl.',
  },
  stale: {
    found: /\bstale holders?\b|\bstill acted as holder\b|\boutslept\b/,
    name: 'stale holder',
    text: 'A stale holder is a client that acts on after its lease has ended, while another client holds the lock.',
  },
  fencing: {
    found: /\bfencing(?: tokens?)?\b/,
    name: 'fencing token',
    text: 'A fencing token is a number that rises with every grant, so that a resource can refuse late writes of a stale holder.',
  },
};

/** The terms of one page. */
export class Glossary {
  private readonly used = new Set<string>();

  /** The text, escaped, with the first place of each of its terms as a button. */
  explained(text: string): Markup {
    const places = Object.entries(TERMS)
      .flatMap(([id, { found }]) => {
        const match = found.exec(text);
        return match === null ? [] : [{ id, at: match.index, word: match[0] }];
      })
      .sort((a, b) => a.at - b.at);
    const parts: (Markup | string)[] = [];
    let from = 0;
    for (const { id, at, word } of places) {
      if (at < from) continue;
      this.used.add(id);
      parts.push(text.slice(from, at), button(id, word));
      from = at + word.length;
    }
    return markup`${[...parts, text.slice(from)]}`;
  }

  /** The explanations that the page needs; after everything else. */
  section(): Markup {
    return markup`${[...this.used].map((id) => markup`<div id="${`term-${id}`}" class="explanation" popover="auto"><b>${TERMS[id]!.name}</b>: ${TERMS[id]!.text}</div>`)}`;
  }
}

function button(id: string, word: string): Markup {
  return markup`<button type="button" class="term" popovertarget="${`term-${id}`}" title="${TERMS[id]!.text}">${word}</button>`;
}
