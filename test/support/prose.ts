/** Sentences of prose, to be measured: of Markdown, and of what a program prints. */

/** What `docs/style.md` forbids, with what to write instead. */
export const BANNED: readonly { pattern: RegExp; instead: string }[] = [
  {
    pattern: /^(?:What|Who|Whoever|Whatever)\b(?!.*\?$)/,
    instead: 'name the actor or the thing, and make it the subject',
  },
  { pattern: /^(?:So|Free|Such|Neither|Nor) (?:is|are|was|were)\b/, instead: 'put the subject before the verb' },
  { pattern: /\bbe (?:it|they)\b/i, instead: '"whether … or …", or two sentences' },
  { pattern: /, say,/, instead: '"for example"' },
  { pattern: /\bnot un\w+/i, instead: 'say it without the double negative' },
  { pattern: /\b(?:goes|go) by\b/, instead: '"follows", "depends on", "uses"' },
  { pattern: /\b(?:is|are) told (?!to\b|about\b|that\b)/, instead: '"reported", "shown", "printed"' },
  { pattern: /\bhas it\b/, instead: '"contains", "records", "says"' },
  { pattern: /\bcomes? to\b/, instead: '"results in", "reaches", or the figure' },
  { pattern: /\bfor ever\b/, instead: '"forever", "without end", or the limit' },
];

/** The sentences of a page: no code, no tables, no headings, no link targets. Each item of a list begins a new one. */
export function sentencesOfMarkdown(markdown: string): string[] {
  const prose: string[] = [];
  let isCode = false;
  let isComment = false;
  for (const line of markdown.split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      isCode = !isCode;
      prose.push('');
      continue;
    }
    if (isCode) continue;
    if (line.includes('<!--')) isComment = true;
    const skipped = isComment || /^\s*(?:#|\||<|!\[)/.test(line);
    if (line.includes('-->')) isComment = false;
    if (skipped) prose.push('');
    else prose.push(line.replace(/^\s*(?:[-*]|\d+\.)\s+/, '\n\n').replace(/^\s*>\s?/, ''));
  }
  const plain = prose
    .join('\n')
    // A piece of code, a link's target and marks of emphasis are no words of the sentence.
    .replace(/`[^`]*`/g, 'CODE')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+/g, 'LINK')
    .replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '');
  return plain.split(/\n\s*\n/).flatMap(sentencesIn);
}

/** The sentences of one paragraph. */
export function sentencesIn(paragraph: string): string[] {
  return paragraph
    .replace(/\s+/g, ' ')
    .split(/(?<=[.!?:;]["”)]?)\s+(?=["“(]?[\p{Lu}\d])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /\p{L}/u.test(sentence));
}

export function wordsIn(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

export interface Measured {
  sentences: number;
  /** In words. */
  median: number;
  percentile95: number;
  /** Sentences with a banned pattern, each with what to write instead. */
  banned: string[];
}

export function measured(sentences: readonly string[]): Measured {
  const lengths = sentences.map(wordsIn).sort((a, b) => a - b);
  const at = (share: number) => lengths[Math.min(lengths.length - 1, Math.floor(share * lengths.length))] ?? 0;
  const banned = sentences.flatMap((sentence) =>
    BANNED.filter(({ pattern }) => pattern.test(sentence)).map(({ instead }) => `${sentence} (${instead})`),
  );
  return { sentences: sentences.length, median: at(0.5), percentile95: at(0.95), banned };
}
