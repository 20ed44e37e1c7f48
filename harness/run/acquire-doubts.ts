/**
 * Who may hold a key without knowing it: a client that gave an acquire up, whose outcome is not known, and that lives on. A lock that
 * lets its owner in again would let such a client in beside what it left, so that its grant does not show that the key is free.
 *
 * A doubt ends when another client is granted the key by an acquire that was asked for after it: then nothing was in the way.
 */
export class AcquireDoubts {
  /** By key and client, since when. */
  private readonly since = new Map<string, Map<string, number>>();

  doubtful(client: string, key: string, atNs: number): void {
    const ofKey = this.since.get(key) ?? new Map<string, number>();
    this.since.set(key, ofKey.set(client, atNs));
  }

  granted(client: string, key: string, askedNs: number): void {
    const ofKey = this.since.get(key);
    if (!ofKey) return;
    for (const [other, atNs] of ofKey) if (other !== client && atNs < askedNs) ofKey.delete(other);
  }

  mayHold(client: string, key: string): boolean {
    return this.since.get(key)?.has(client) === true;
  }
}
