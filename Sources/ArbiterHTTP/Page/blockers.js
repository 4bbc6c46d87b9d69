// @ts-check
// Whom tickets wait for, and why.

import { BLOCKERS_EXAMINED } from './limits.js';
import { priorityOf } from './model.js';
import { inWords } from './names.js';
import { waitWords } from './words.js';

/** How many blockers of a ticket the daemon names at most. */
const NAMED = 8;

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

/** Who waits for whom at this moment; made anew for each drawing. */
export class Blockers {
  #model;
  /** @type {Transition[]} */
  #queue;
  /** The places of the tickets in the queue, by their ids. @type {Map<string, number>} */
  #places;
  /** @type {Map<string, Transition[]>} */
  #all = new Map();
  /** @type {Map<string, Transition[]>} */
  #direct = new Map();

  /** @param {SceneModel} model */
  constructor(model) {
    this.#model = model;
    // What is set aside keeps nobody waiting.
    this.#queue = model.queued.filter(({ document }) => document.awaits !== 'expectation');
    this.#places = new Map(this.#queue.map(({ id }, index) => [id, index]));
  }

  /** Everything that a ticket waits for, as far as it is known here, in its order. @param {Transition} ticket */
  all(ticket) {
    let all = this.#all.get(ticket.id);
    if (!all) this.#all.set(ticket.id, all = this.#find(ticket));
    return all;
  }

  /** Those without the ones that another of them waits for. @param {Transition} ticket @returns {Transition[]} */
  direct(ticket) {
    const known = this.#direct.get(ticket.id);
    if (known) return known;
    const direct = [];
    const indirect = new Set();
    for (const blocker of this.all(ticket).slice(-BLOCKERS_EXAMINED).reverse()) {
      if (!indirect.has(blocker.id)) direct.unshift(blocker);
      if (blocker.document.state !== 'queued') continue;
      // It waits for all that come before it.
      if (!blocker.document.locks) break;
      for (const { id } of this.all(blocker)) indirect.add(id);
    }
    this.#direct.set(ticket.id, direct);
    return direct;
  }

  /** Whether `all` has everything. @param {Transition} ticket */
  isWhole(ticket) {
    const { blockers = [], position = 0 } = ticket.document;
    const place = this.#places.get(ticket.id) ?? 0;
    return blockers.length < NAMED || this.#model.counts.queued <= this.#queue.length || position <= place + 1;
  }

  /** Why a ticket waits, in sentences. @param {Transition} ticket */
  words(ticket) {
    if (ticket.document.resumeRemaining) return 'It waits until every lease is over that the daemon may have forgotten.';
    const unmet = ticket.document.unmetExpectation;
    if (unmet) return `It is set aside until what it expects holds: ${inWords(unmet.expected)}. Now: ${inWords(unmet.actual)}.`;
    const blockers = this.direct(ticket).map(({ document }) => document);
    if (!blockers.length) return 'Its turn has come; it is about to be granted.';
    const words = waitWords(ticket.document, blockers, (a, b) => this.#model.hierarchy.overlaps(a, b));
    return this.isWhole(ticket) ? words : `${words} Only the first ${NAMED} that it waits for are known here.`;
  }

  /** @param {Transition} ticket @returns {Transition[]} */
  #find(ticket) {
    const ids = ticket.document.blockers ?? [];
    const placeOf = ({ id }) => this.#places.get(id) ?? -1;
    const named = [
      ...ids.map(id => this.#model.unfinished.get(id)).filter(each => each !== undefined), ...this.#overtaking(ticket, ids),
    ].sort((a, b) => placeOf(a) - placeOf(b));
    if (ids.length < NAMED) return named;
    // Running ones are named first, and then the queue from its front: what is not named comes after these.
    const last = Math.max(-1, ...named.map(placeOf));
    const others = [...(last < 0 ? this.#model.granted : []), ...this.#queue.slice(last + 1, this.#places.get(ticket.id) ?? 0)];
    const isNamed = new Set(named.map(({ id }) => id));
    return [...named, ...others.filter(each => !isNamed.has(each.id) && this.#isInTheWay(each, ticket))];
  }

  /** Those of a higher priority that may have come after the document, which does not name them. */
  #overtaking(ticket, ids) {
    const own = priorityOf(ticket.document);
    return this.#queue.slice(0, this.#places.get(ticket.id) ?? 0).filter(each => (
      priorityOf(each.document) > own && !ids.includes(each.id) && this.#isInTheWay(each, ticket)));
  }

  #isInTheWay({ document: { locks } }, ticket) {
    const others = ticket.document.locks;
    return !locks || !others || locks.some(id => others.some(other => this.#model.hierarchy.overlaps(id, other)));
  }
}
