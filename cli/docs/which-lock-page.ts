/** docs/which-lock.md: what locks on Redis and on other services do under the same faults, and what each costs. */
import { nameInService, topologies } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';
import { type Cell, comparedPlaces, publishedCells, whyNoCell } from '../../matrix/index.js';
import { markdownCell } from '../judge/summary-text.js';
import { type Costs, costs, costsTable } from './costs.js';
import {
  anchorTag,
  between,
  cameText,
  foundItem,
  type MeasuredCell,
  markdownTable,
  measuredCells,
  runOn,
} from './measured.js';

/** Rows of the matrix, by what the table calls them, in its order. */
const FAULTS: Readonly<Record<string, string>> = {
  'client-paused': 'client paused',
  'holder-cut-off': 'holder cut off',
  'client-crash': 'crash of a holder',
  'leader-lost': 'leader or primary lost',
  'node-forgets': 'node forgets',
  'node-clock-forward': 'node’s clock ahead',
  'planned-failover': 'planned failover',
  'whole-restart': 'restart of all servers',
};

/** The page with its tables made anew. */
export function whichLockPage(path: string, of = measuredCells(), cost: Costs | undefined = costs()): string {
  const compared = of.filter(({ lock, topology }) =>
    comparedPlaces.some((place) => place.lock === lock && place.topology === topology),
  );
  return between(path, {
    'what survives what': whatSurvives(of),
    'what it costs': costsTable(cost, columnText),
    'why each is so': why(compared),
    'how each is repeated': list(compared),
  });
}

/** "`pg-row` on PostgreSQL, primary-replica". */
function columnText({ lock, topology }: Pick<Cell, 'lock' | 'topology'>): string {
  const { title } = services[topologies[topology]!.service];
  return `\`${lock}\`, ${title} ${nameInService(topology)}`;
}

function whatSurvives(cells: readonly MeasuredCell[]): string {
  return markdownTable(
    ['', ...Object.values(FAULTS), 'run on'],
    comparedPlaces.map(({ lock, topology }) => {
      const its = cells.filter((cell) => cell.lock === lock && cell.topology === topology && cell.fault in FAULTS);
      return [
        columnText({ lock, topology }),
        ...Object.keys(FAULTS).map((fault) => {
          const cell = its.find((one) => one.fault === fault);
          return cell ? cameText(cell, '') : whyNoCell(publishedCells, lock, fault, topology);
        }),
        runOn(its),
      ];
    }),
  );
}

/** Of each row: who came out alike for the same reason, and what could not be asked in the words of the refusal. */
function why(cells: readonly MeasuredCell[]): string {
  return Object.entries(FAULTS)
    .flatMap(([fault, title]) => {
      const here = cells.filter((cell) => cell.fault === fault);
      if (here.length === 0) return [];
      const alike = new Map<string, MeasuredCell[]>();
      for (const cell of here) {
        const text = whyText(cell);
        alike.set(text, [...(alike.get(text) ?? []), cell]);
      }
      const items = [...alike].map(([text, some]) => {
        const places = some.filter(({ came }) => came === 'refused' || came === 'not-tried').map(anchorTag);
        return `- ${places.join('')}${some.map(columnText).join('; ')}: ${text}`;
      });
      return [`### ${title}`, items.join('\n')];
    })
    .join('\n\n');
}

function whyText({ came, headline, reason }: MeasuredCell): string {
  if (came === 'refused') return `not asked: ${markdownCell(headline)}`;
  if (came === 'not-tried') return `not tried: ${markdownCell(headline)}`;
  return came === 'open' ? `not explained yet, though ${reason}` : `${came}: ${reason}`;
}

/** Whether the list of what was found has it. */
function isListed(came: MeasuredCell['came']): boolean {
  return came !== 'safe' && came !== 'refused' && came !== 'not-tried';
}

function list(cells: readonly MeasuredCell[]): string {
  const found = cells.filter(({ came }) => isListed(came));
  return found.map((cell) => foundItem(cell, `${columnText(cell)}, ${FAULTS[cell.fault]}`)).join('\n\n');
}
