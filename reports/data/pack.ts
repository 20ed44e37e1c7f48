/**
 * Data of a page as text that can stand in any element: JSON, deflated, in base64. There is no character in it that HTML
 * knows, whatever a lock or a log said. The script's side of it is `reports/browser/unpack.ts`.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';

export function packed(data: unknown): string {
  return deflateRawSync(JSON.stringify(data), { level: 9 }).toString('base64');
}

/** For tests: what the page was given. */
export function unpacked<T>(text: string): T {
  return JSON.parse(inflateRawSync(Buffer.from(text, 'base64')).toString('utf8')) as T;
}

/** Differences, for a list in order. */
export function differences(list: readonly number[]): number[] {
  return list.map((value, at) => value - (list[at - 1] ?? 0));
}
