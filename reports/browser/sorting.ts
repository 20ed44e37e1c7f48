/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Sorting a table by its columns: headings with `data-sorts` become buttons. A press sorts as the
 * heading says (`words`, numbers from the `least` or the `most` on), the next one the other way round. Rows that are equal keep their order.
 */

export function sortable(table: HTMLTableElement): void {
  const body = table.tBodies[0]!;
  const headings = [...table.tHead!.rows[0]!.cells];
  for (const [at, heading] of headings.entries()) {
    const { sorts } = heading.dataset;
    if (sorts === undefined) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    heading.append(button);
    const first = sorts === 'most' ? 'descending' : 'ascending';
    button.addEventListener('click', () => {
      const before = heading.getAttribute('aria-sort');
      const order = before === null ? first : before === 'ascending' ? 'descending' : 'ascending';
      for (const other of headings) other.removeAttribute('aria-sort');
      heading.setAttribute('aria-sort', order);
      const sign = order === 'ascending' ? 1 : -1;
      const compare = sorts === 'words' ? byWords : byNumber;
      body.append(...[...body.rows].sort((a, b) => sign * compare(a.cells[at]!, b.cells[at]!)));
    });
  }
}

function byNumber(a: HTMLTableCellElement, b: HTMLTableCellElement): number {
  return Number(a.dataset.value) - Number(b.dataset.value);
}

function byWords(a: HTMLTableCellElement, b: HTMLTableCellElement): number {
  return a.textContent!.localeCompare(b.textContent!, 'en', { numeric: true });
}
