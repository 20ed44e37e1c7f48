/**
 * A client's own write took the key although it was there: an unconditional SET (`overwritten`), or a script that let it
 * pass because both store the same value as owner (`shared-owner`).
 */
import { type Contest, type Explanation, goneLink, grantLink, type Reason } from './contest.js';

export const overwritten: Reason = (contest, evidence) => {
  const { earlier, reached, gone, removal, key } = contest;
  if (!reached || removal || gone.client === undefined || gone.serverWallMs >= reached.expiresWallMs) return undefined;
  if (!gone.conditional) {
    return explanation(
      'overwritten',
      `${gone.client} overwrote ${earlier.hold.client}'s ${key}: ${gone.command} without NX overwrites what is there.`,
      contest,
    );
  }
  if (!gone.script || gone.value === undefined || gone.value !== reached.value) return undefined;
  // Shown after the one grant and before the other, so it was not gone by other means.
  if (!evidence.seenStored(gone.node, key, reached.value, reached.atNs, gone.atNs)) return undefined;
  const sentence = `${gone.client} and ${earlier.hold.client} store the same value as owner, so the script took one for the other.`;
  return explanation('shared-owner', sentence, contest);
};

function explanation(name: string, sentence: string, contest: Contest): Explanation {
  return { name, sentence, chain: [grantLink(contest.earlier), ...goneLink(contest), grantLink(contest.later)] };
}
