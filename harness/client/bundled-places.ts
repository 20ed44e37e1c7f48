/** Where in the author's sources something was thrown by a lock that is one bundled file, whose source map lies beside it. */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { thrownAt } from './thrown-at.js';

/** Where the map of such a file lies. */
export function mapOf(bundle: string): string {
  return `${bundle}.map`;
}

/** `bundle`: the file's absolute path. Undefined from what it gives: the stack names no place in it, or it has no map. */
export function placesIn(bundle: string): (thrown: unknown) => string | undefined {
  let map: SourceMap | undefined;
  return (thrown) => {
    const [, line, column] = /:(\d+):(\d+)$/.exec(thrownAt(thrown, (at) => !at.startsWith(`${bundle}:`)) ?? '') ?? [];
    if (line === undefined || !existsSync(mapOf(bundle))) return undefined;
    map ??= new SourceMap(JSON.parse(readFileSync(mapOf(bundle), 'utf8')) as SourceMapPayload);
    const entry = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!('originalSource' in entry) || entry.originalSource.includes('node_modules/')) return undefined;
    const source = resolve(dirname(bundle), entry.originalSource);
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  };
}
