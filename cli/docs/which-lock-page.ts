/** docs/which-lock.md: what locks on Redis and on other services do under the same faults, and what each costs. */
import { nameInService, topologies } from '../../harness/topologies/index.js';
import { services } from '../../harness/topologies/services.js';
import { type Cell, comparedPlaces } from '../../matrix/index.js';
import { markdownCell } from '../judge/summary-text.js';
import { type Costs, costs, costsTable } from './costs.js';
import {
  anchorTag,
  between,
  cameText,
  foundItem,
  type Measured,
  type MeasuredCell,
  markdownTable,
  measured,
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
export function whichLockPage(path: string, of = measured('services'), cost: Costs | undefined = costs()): string {
  return between(path, {
    'what survives what': `${whatSurvives(of)}\n\n${of.day}; ${of.servers.join(', ')}.`,
    'what it costs': costsTable(cost, columnText),
    'why each is so': why(of),
    'how each is repeated': list(of),
  });
}

/** "`pg-row` on PostgreSQL, primary-replica". */
function columnText({ lock, topology }: Pick<Cell, 'lock' | 'topology'>): string {
  const { title } = services[topologies[topology]!.service];
  return `\`${lock}\`, ${title} ${nameInService(topology)}`;
}

function whatSurvives({ cells }: Measured): string {
  return markdownTable(
    ['', ...Object.values(FAULTS)],
    comparedPlaces.map((column) => [
      columnText(column),
      ...Object.keys(FAULTS).map((fault) =>
        cameText(
          cells.find((cell) => cell.fault === fault && cell.lock === column.lock && cell.topology === column.topology),
          '',
        ),
      ),
    ]),
  );
}

/** Of each row: who came out alike for the same reason, and what could not be asked in the words of the refusal. */
function why({ cells }: Measured): string {
  return Object.entries(FAULTS)
    .flatMap(([fault, title]) => {
      const here = cells.filter((cell) => cell.fault === fault);
      if (here.length === 0) return [];
      const alike = new Map<string, MeasuredCell[]>();
      for (const cell of here) {
        const text =
          cell.came === 'refused' ? `not asked: ${markdownCell(cell.headline)}` : `${cell.came}: ${cell.reason}`;
        alike.set(text, [...(alike.get(text) ?? []), cell]);
      }
      const items = [...alike].map(([text, some]) => {
        const places = some.filter(({ came }) => came === 'refused').map(anchorTag);
        return `- ${places.join('')}${some.map(columnText).join('; ')}: ${text}`;
      });
      return [`### ${title}`, items.join('\n')];
    })
    .join('\n\n');
}

function list({ cells }: Measured): string {
  const found = cells.filter(({ came }) => came !== 'safe' && came !== 'refused');
  return found.map((cell) => foundItem(cell, `${columnText(cell)}, ${FAULTS[cell.fault]}`)).join('\n\n');
}
