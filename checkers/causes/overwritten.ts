/**
 * A client's own write took the key although it was there: an unconditional SET (`overwritten`), or a script that let it
 * pass because both store the same value as owner (`shared-owner`).
 *
 * Excludes a key that was not certainly there when that write ran: it may have gone by other means; what left the holder's value
 * where it was and stored another one beside it (HSET, SADD); and a script that did not read whose the key was: it went by something
 * else, a time of day say.
 */
import { ownersOf } from '../../harness/record/facts/commands/changes.js';
import { type KeyWrite, keeps } from '../../harness/record/facts/key-writes.js';
import { type Contest, type Explanation, goneLink, grantLink, type Reason } from './contest.js';

export const overwritten: Reason = (contest) => {
  const { earlier, reached, gone, tenure, key } = contest;
  if (gone.client === undefined || gone.client === earlier.hold.client) return undefined;
  if (!tenure.held || tenure.losses.length > 0) return undefined;
  if (gone.conditional === false) {
    if (gone.value !== reached!.value && keeps(gone, reached!.value)) return undefined;
    return explanation(
      'overwritten',
      `${gone.client} overwrote ${earlier.hold.client}'s ${key}: ${gone.script ? 'its script wrote before it asked' : `${gone.command} without NX overwrites`} what is there.`,
      contest,
    );
  }
  if (!gone.comparing || namesOthers(gone)) return undefined;
  const sentence = `${gone.client} and ${earlier.hold.client} store the same value as owner, so the script took one for the other.`;
  return explanation('shared-owner', sentence, contest);
};

/** Whether the key names another owner, too, before or after: of what else all of them store in a hash, say, none is the owner. */
function namesOthers({ before, after, value }: KeyWrite): boolean {
  return [before!, after!].some((state) => ownersOf(state).some((one) => one !== value));
}

function explanation(name: string, sentence: string, contest: Contest): Explanation {
  return { name, sentence, chain: [grantLink(contest.earlier), ...goneLink(contest), grantLink(contest.later)] };
}
