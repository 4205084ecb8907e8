/**
 * Rows of a list or a table that is drawn again and again. A row of what has not changed is left as it is: it keeps the focus,
 * and a press that has begun.
 */

/** @template {{id?: unknown}} T */
export class Rows {
  /** @param {HTMLElement} host @param {(one: T) => HTMLElement} make */
  constructor(host, make) {
    this.host = host;
    this.make = make;
    /** @type {Map<unknown, {said: string, row: HTMLElement}>} by id */
    this.made = new Map();
  }

  /** All are made again when they are drawn next. */
  outdate() {
    for (const one of this.made.values()) one.said = "";
  }

  /** @param {T[]} shown in this order */
  draw(shown) {
    const focus = document.activeElement;
    const [held] = [...this.made].filter(([, { row }]) => focus && row.contains(focus));
    const place = held ? buttonsOf(held[1].row).indexOf(/** @type {HTMLElement} */ (focus)) : -1;
    this.made = new Map(shown.map((one) => {
      const [said, known] = [JSON.stringify(one), this.made.get(one.id)];
      return [one.id, known?.said === said ? known : { said, row: this.make(one) }];
    }));
    const rows = new Set([...this.made.values()].map(({ row }) => row));
    for (const old of [...this.host.children]) if (!rows.has(/** @type {HTMLElement} */ (old))) old.remove();
    let next = this.host.firstElementChild;
    for (const row of rows) {
      if (row === next) next = next.nextElementSibling;
      else this.host.insertBefore(row, next);
    }
    const again = held && this.made.get(held[0]);
    if (again && focus !== document.activeElement) buttonsOf(again.row)[place]?.focus();
  }
}

/** @param {HTMLElement} row */
function buttonsOf(row) {
  return /** @type {HTMLElement[]} */ ([...row.querySelectorAll("button")]);
}
