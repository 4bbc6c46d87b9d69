// @ts-check
// Finds the place of each bar of the timeline: a row for each client, or several where its transitions overlap.

import { TIMELINE_CLIENTS, TIMELINE_ROWS_PER_CLIENT } from './limits.js';

/** How many clients the order is kept of, before those that are not in sight are forgotten. */
const CLIENTS_KNOWN = 1000;

/**
 * The bars of one client: its first row, how many it has, and which bar is in which.
 * @typedef {import('./model.js').Transition} Transition
 * @typedef {{name: string, first: number, rows: number, placed: {transition: Transition, row: number}[]}} Group
 * @typedef {{groups: Group[], count: number, hidden: number}} Rows `count` rows; `hidden` clients have none
 */

export class TimelineRows {
  /** The clients in the order in which they appeared, so that none changes its place. @type {Map<string, number>} */
  #order = new Map();

  reset() {
    this.#order.clear();
  }

  /** The bars between two instants, in rows. @param {import('./model.js').SceneModel} model @returns {Rows} */
  place(model, begin, end) {
    const byClient = this.#byClient(inSight(model, begin, end));
    const hidden = Math.max(0, byClient.size - TIMELINE_CLIENTS);
    const shown = [...byClient].slice(hidden).sort(([a], [b]) => this.#position(a) - this.#position(b));
    /** @type {Group[]} */
    const groups = [];
    let count = 0;
    for (const [name, bars] of shown) {
      const { rows, placed } = stack(bars, count);
      groups.push({ name, first: count, rows, placed });
      count += rows;
    }
    return { groups, count, hidden };
  }

  /** The bars of each client; the client that was active last is the last. @param {Transition[]} bars */
  #byClient(bars) {
    /** @type {Map<string, Transition[]>} */
    const byClient = new Map();
    for (const bar of bars) {
      const name = bar.document.client ?? '';
      if (!this.#order.has(name)) this.#order.set(name, this.#order.size);
      const those = byClient.get(name) ?? [];
      those.push(bar);
      byClient.delete(name);
      byClient.set(name, those);
    }
    if (this.#order.size > CLIENTS_KNOWN) this.#order = new Map([...byClient.keys()].map((name, index) => [name, index]));
    return byClient;
  }

  #position(name) {
    return this.#order.get(name) ?? 0;
  }
}

/** The transitions between two instants: those that have ended, by their ends, and then the others. */
function inSight(model, begin, end) {
  const bars = [];
  for (let index = model.ended.length - 1; index >= 0; index -= 1) {
    const each = model.ended[index];
    if (each.ended < begin) break;
    if (each.requested <= end) bars.push(each);
  }
  bars.reverse();
  for (const each of model.unfinished.values()) if (each.requested <= end) bars.push(each);
  return bars;
}

/** Gives each bar the first row that is free when it begins. @param {Transition[]} bars @param {number} first */
function stack(bars, first) {
  /** @type {number[]} The instants from which on the rows are free. */
  const free = [];
  const placed = bars.sort((a, b) => a.requested - b.requested).map(transition => {
    let row = free.findIndex(from => from <= transition.requested);
    if (row < 0) row = Math.min(free.length, TIMELINE_ROWS_PER_CLIENT - 1);
    free[row] = transition.ended ?? Infinity;
    return { transition, row: first + row };
  });
  return { rows: free.length, placed };
}
