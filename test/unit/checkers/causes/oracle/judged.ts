/** What the checkers find in a run, and which causes of it were true. */
import { mutualExclusion } from '../../../../../checkers/exclusion/mutual-exclusion.js';
import { neverGrantedHolds } from '../../../../../checkers/exclusion/never-granted.js';
import { ownership } from '../../../../../checkers/exclusion/ownership.js';
import { fencing } from '../../../../../checkers/harm/fencing.js';
import { leaseMarginNs } from '../../../../../harness/record/facts/margin.js';
import type { Hold, Violation } from '../../../../../harness/vocabulary/verdict.js';
import type { Run } from './run.js';
import { trueCauses, trueRefusal, trueStaleCauses, trueTokenCauses } from './truth.js';

export interface Judged {
  finding: Violation;
  name: string;
  truth: ReadonlySet<string>;
}

/** All that is found, each finding with the causes that were true. */
export function judged(run: Run): Judged[] {
  const { input, lived } = run;
  const lives = (hold: Hold) => run.hold(hold.client, hold.id);
  const truthOf = ({ class: name, kind, holds: [one, other] }: Violation): Set<string> => {
    if (kind === 'never-granted') return trueRefusal(lives(one!), lived);
    if (name === 'harm') return trueTokenCauses(lives(one!), lives(other!), lived);
    if (kind !== 'overlap') {
      // What was renewed or released after another one's grant is explained as what let that be granted.
      const isOver = other!.fromNs >= one!.leaseEndNs - leaseMarginNs(one!.leaseMs);
      return isOver
        ? trueStaleCauses(lives(one!), one!.leaseEndNs, lived)
        : trueCauses(lives(one!), lives(other!), lived);
    }
    if (name === 'exclusion') return trueCauses(lives(one!), lives(other!), lived);
    const stale = one!.leaseEndNs <= other!.leaseEndNs ? one! : other!;
    return trueStaleCauses(lives(stale), stale.leaseEndNs, lived);
  };
  const checkers = [mutualExclusion, neverGrantedHolds, input.model.kind === 'fenced' ? fencing : ownership];
  return checkers
    .flatMap((checker) => checker.check(input).violations)
    .map((finding) => ({ finding, name: finding.cause.name, truth: truthOf(finding) }));
}
