// @ts-check
// Whom a ticket waits for, and why.

import { waitWords } from './words.js';

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

/**
 * The blockers of a ticket that are known here, without those that another of its blockers waits for.
 * @param {Transition} ticket @param {SceneModel} model @returns {Transition[]}
 */
export function directBlockers(ticket, model) {
  const blockers = (ticket.document.blockers ?? []).map(id => model.unfinished.get(id)).filter(each => each !== undefined);
  const indirect = new Set(blockers.flatMap(({ document }) => (document.state === 'queued' ? document.blockers ?? [] : [])));
  return blockers.filter(({ id }) => !indirect.has(id));
}

/** Why a ticket waits, in a sentence. @param {Transition} ticket @param {SceneModel} model */
export function whyItWaits(ticket, model) {
  const blockers = directBlockers(ticket, model);
  if (!blockers.length) return 'Its turn has come; it is about to be granted.';
  return waitWords(ticket.document, blockers.map(({ document }) => document), (a, b) => model.hierarchy.overlaps(a, b));
}
