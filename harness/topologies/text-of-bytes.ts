/**
 * What a server stores as text: most of it is UTF-8. Some locks draw twenty random bytes as their owner, and those are told apart only
 * if each keeps its value: of what is no UTF-8 every byte that is no ASCII is written as `\xNN`, as redis-cli writes it.
 */

const READER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textOf(bytes: Uint8Array): string {
  try {
    return READER.decode(bytes);
  } catch {
    return Array.from(bytes, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
    ).join('');
  }
}

/** An answer of ioredis, with texts for its buffers, whatever it is nested in. */
export function withTexts(answer: unknown): unknown {
  if (Buffer.isBuffer(answer)) return textOf(answer);
  return Array.isArray(answer) ? answer.map(withTexts) : answer;
}
