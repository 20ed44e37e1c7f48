/** JSON as histories are written in it: objects one after another, one a line or spread over lines, or all in one array. */
import { type Syntax, Unreadable, unfinished } from './forms.js';

const [QUOTE, BACKSLASH, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [...'"\\,{}[]'].map((character) =>
  character.charCodeAt(0),
);
const SPACE = 0x20;

export class JsonSyntax implements Syntax {
  end = 0;

  skip(text: string, at: number): number {
    let place = at;
    for (; place < text.length; place++) {
      const code = text.charCodeAt(place);
      if (code > SPACE && code !== COMMA) break;
    }
    return place;
  }

  read(text: string, at: number): unknown {
    if (text.charCodeAt(at) !== OPEN_OBJECT) throw new Unreadable(`not a JSON object: ${excerpt(text, at)}`, at);
    this.end = objectEnd(text, at);
    try {
      return JSON.parse(text.slice(at, this.end));
    } catch (error) {
      throw new Unreadable(`not JSON (${(error as Error).message})`, at);
    }
  }
}

/** The place after the bracket that closes the object at `at`. */
function objectEnd(text: string, at: number): number {
  let depth = 0;
  for (let place = at; place < text.length; place++) {
    switch (text.charCodeAt(place)) {
      case QUOTE:
        place = stringEnd(text, place) - 1;
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        depth++;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth--;
        if (depth === 0) return place + 1;
    }
  }
  throw unfinished;
}

/** The place after the quote that closes the string at `at`. */
function stringEnd(text: string, at: number): number {
  for (let place = at + 1; place < text.length; place++) {
    const code = text.charCodeAt(place);
    if (code === QUOTE) return place + 1;
    if (code === BACKSLASH) place++;
  }
  throw unfinished;
}

function excerpt(text: string, at: number): string {
  return JSON.stringify(text.slice(at, at + 20).split('\n')[0]);
}
