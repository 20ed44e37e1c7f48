/** Tables of a batch whose runs were made on several servers: one beside the other, then each by itself. */
import type { Sheet, SheetCell } from '../../reports/index.js';

/** A row that says on which server its runs were made, if the user named one. */
export interface OnServer {
  server?: string;
}

/** The rows of each server, in the order in which the servers came; `where` for titles: `, on redis@8.0`, or nothing. */
export function byServer<Row extends OnServer>(rows: readonly Row[]): { where: string; rows: Row[] }[] {
  return serversOf(rows).map((server) => ({
    where: server === undefined ? '' : `, on ${server}`,
    rows: rows.filter((row) => row.server === server),
  }));
}

/** A table with one row for each name and one column for each server; none where there is nothing to compare. */
export function sideBySide<Row extends OnServer>(
  rows: readonly Row[],
  what: string,
  nameOf: (row: Row) => string,
  cellOf: (row: Row) => SheetCell,
): Sheet['tables'] {
  const servers = serversOf(rows);
  if (servers.length < 2) return [];
  const names = [...new Set(rows.map(nameOf))];
  return [
    {
      title: 'Servers side by side',
      columns: [what, ...servers.map((server) => server ?? 'the server of this machine')],
      rows: names.map((name) => [
        name,
        ...servers.map((server) => {
          const row = rows.find((one) => one.server === server && nameOf(one) === name);
          return row ? cellOf(row) : '–';
        }),
      ]),
    },
  ];
}

function serversOf(rows: readonly OnServer[]): (string | undefined)[] {
  return [...new Set(rows.map(({ server }) => server))];
}
