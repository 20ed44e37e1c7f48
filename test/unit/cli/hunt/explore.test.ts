import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { areDependent, type OrderAction } from '../../../../cli/hunt/exhaustive/actions.js';
import { courseOf } from '../../../../cli/hunt/exhaustive/course.js';
import {
  awake,
  type Branch,
  branchesOf,
  type Dependent,
  type ExploredAction,
  ordersOf,
  ROOT,
  sleepingAfter,
  TreeEstimate,
} from '../../../../cli/hunt/exhaustive/explore.js';

/** What a process does next: it writes what it read there before, and its own name, to a place. */
interface Step extends ExploredAction {
  process: number;
  place: number;
  /** Not possible before somebody wrote there. */
  waits: boolean;
}

const PLACES = 3;

class Model {
  readonly places = Array.from({ length: PLACES }, () => '');
  private readonly at: number[];

  constructor(private readonly programs: readonly (readonly Step[])[]) {
    this.at = programs.map(() => 0);
  }

  possible(): Step[] {
    return this.programs.flatMap((program, n) => {
      const step = program[this.at[n]!];
      return step && (!step.waits || this.places[step.place] !== '') ? [step] : [];
    });
  }

  do({ process, place, id }: Step): void {
    this.at[process]!++;
    this.places[place] = `${this.places[place]}(${id})`;
  }
}

const dependent: Dependent<Step> = (one, other) => one.process === other.process || one.place === other.place;
const always = () => true;

interface Explored {
  /** What each course came to, in the order in which they were played. */
  ends: string[];
  courses: Step[][];
  cut: number;
}

function explored(programs: readonly (readonly Step[])[], by: Dependent<Step>): Explored {
  const found: Explored = { ends: [], courses: [], cut: 0 };
  const branches: Branch<Step>[] = [ROOT];
  for (let branch = branches.pop(); branch; branch = branches.pop()) {
    const model = new Model(programs);
    const course: Step[] = [];
    for (const id of branch.prefix) {
      const step = model.possible().find((one) => one.id === id)!;
      model.do(step);
      course.push(step);
    }
    let { sleeping } = branch;
    const states: Step[][] = [];
    for (let possible = model.possible(); possible.length > 0; possible = model.possible()) {
      states.push(possible);
      const candidates = awake(possible, sleeping);
      if (candidates.length === 0) break;
      sleeping = sleepingAfter(candidates, 0, sleeping, by);
      model.do(candidates[0]!);
      course.push(candidates[0]!);
    }
    branches.push(...branchesOf(branch, states, by));
    if (model.possible().length > 0) found.cut++;
    else {
      found.ends.push(model.places.join(' | '));
      found.courses.push(course);
    }
  }
  return found;
}

const programs = fc
  .array(fc.array(fc.record({ place: fc.nat(PLACES - 1), waits: fc.boolean() }), { maxLength: 3 }), {
    minLength: 1,
    maxLength: 3,
  })
  .map((all) => all.map((steps, process) => steps.map((one, n): Step => ({ ...one, process, id: `${process}.${n}` }))));

test('the reduced search comes to every end that there is, each once, and knows how many courses it saved', () => {
  fc.assert(
    fc.property(programs, (all) => {
      const whole = explored(all, always);
      const reduced = explored(all, dependent);
      expect(whole.cut).toBe(0);
      // Two courses of one end are one: what each place saw, it saw in the same order.
      expect([...reduced.ends].sort()).toEqual([...new Set(whole.ends)].sort());
      expect(reduced.courses.reduce((sum, course) => sum + ordersOf(course, dependent), 0)).toBe(whole.ends.length);
    }),
    { seed: 18, numRuns: 400 },
  );
});

test('where what is dependent is taken for independent, ends are missed', () => {
  const step = (process: number): Step => ({ process, place: 0, waits: false, id: `${process}` });
  const all = [[step(0)], [step(1)]];
  expect(explored(all, dependent).ends).toEqual(['(0)(1) |  | ', '(1)(0) |  | ']);
  expect(explored(all, () => false).ends).toHaveLength(1);
});

test('orders are those that keep what depends on each other', () => {
  expect(ordersOf([1, 2, 3], always)).toBe(1);
  expect(ordersOf([1, 2, 3], () => false)).toBe(6);
  expect(ordersOf(['a1', 'b1', 'a2', 'b2'], (one, other) => one[0] === other[0])).toBe(6);
});

test('the size of a tree is the mean of what descents at random make of it', () => {
  const estimate = new TreeEstimate();
  expect(estimate.size).toBe(0);
  estimate.add([2, 3, 1]);
  estimate.add([2, 0]);
  expect(estimate.size).toBe(4);
});

describe('of what happens in a schedule', () => {
  const request = (client: string): OrderAction => ({ id: `${client} > r1`, client, isServers: true });
  const answer = (client: string): OrderAction => ({ id: `r1 > ${client}`, client, isVisible: true });
  const crash = (client: string): OrderAction => ({ id: `${client} dies`, client, isVisible: true, fault: 'crash' });
  const stop = (client: string): OrderAction => ({ id: `${client} is stopped`, client, fault: 'stop' });

  test.each<[string, OrderAction, OrderAction, boolean]>([
    ['two requests reach one server', request('c1'), request('c2'), true],
    ['two answers begin or end holds', answer('c1'), answer('c2'), true],
    ['a request is nothing to whom another answer comes', request('c1'), answer('c2'), false],
    ['all that is one client’s', request('c1'), answer('c1'), true],
    ['time passes for all', { id: 'the lease passes' }, answer('c1'), true],
    ['one fault takes the place of another', stop('c1'), crash('c2'), true],
    ['nobody sees at once that a client is stopped', stop('c1'), answer('c2'), false],
  ])('%s', (_, one, other, is) => {
    expect(areDependent(one, other)).toBe(is);
    expect(areDependent(other, one)).toBe(is);
  });

  test('a course that cannot be played again as it was is an error, and one that another has is cut', () => {
    const bound = { operations: 2, faults: 1 };
    const gone = courseOf({ prefix: ['c1 > r1'], sleeping: [], bound, isReduced: true });
    expect(() => gone.choose([answer('c1')])).toThrow('was possible before and is not now: r1 > c1');
    const cut = courseOf({ prefix: [], sleeping: [request('c1')], bound, isReduced: true });
    expect(cut.choose([request('c1')])).toBeUndefined();
    expect(cut.played).toMatchObject({ isCut: true, choices: [0] });
  });
});
