// @ts-check
// What is known about one scene: its tree with its past, what runs, what waits, and what ended. Events, documents and
// recordings are taken in; nothing is asked here.

import { Hierarchy, Inapplicable } from './hierarchy.js';
import { ENDED_KEPT, REVISIONS_KEPT } from './limits.js';

const RANKS = { queued: 0, preparing: 1, running: 2, ended: 3 };

/**
 * A transition as the daemon last showed it, with its instants in milliseconds of the daemon's clock.
 * @typedef {{id: string, document: any, requested: number, granted: number | null, running: number | null,
 *   ended: number | null, until: Record<string, number>, fraction: number | null}} Transition
 * `until` says when what runs out will have run out: `lease`, `ticket`, `queue`, `ready`.
 */

export class SceneModel {
  hierarchy = new Hierarchy();
  revision = 0;
  /** The number of the last event that is included. */
  lastNumber = 0;
  isDeleted = false;
  /** Whether `hierarchy` is the tree of now; where events are missing it is not, until the whole has been read. */
  isTreeKnown = true;
  /** How many run and wait, of which the documents may show fewer. */
  counts = { running: 0, queued: 0 };
  /** @type {Map<string, Transition>} */
  unfinished = new Map();
  /** The ended ones by their ends, oldest first. @type {Transition[]} */
  ended = [];
  /** @type {Map<string, Transition>} */
  #endedById = new Map();
  /** The last revisions, oldest first. @type {{revision: number, root: any, isKnown: boolean, at: number, event: any}[]} */
  revisions = [];
  /** The first and the last instant that anything is known about. */
  span = { from: Infinity, to: 0 };
  /** How much this machine's clock is ahead of the daemon's, in milliseconds, as far as events tell. */
  #offset = Infinity;

  /**
   * @param {string} name
   * @param {{clock?: () => number, notice?: (kind: string, transition: Transition) => void}} options
   */
  constructor(name, { clock = Date.now, notice = () => {} } = {}) {
    this.name = name;
    this.clock = clock;
    this.notice = notice;
  }

  /** Now, by the daemon's clock. */
  now() {
    return this.clock() - (Number.isFinite(this.#offset) ? this.#offset : 0);
  }

  /** A transition, whether it has ended or not. @param {string} id */
  transition(id) {
    return this.unfinished.get(id) ?? this.#endedById.get(id) ?? null;
  }

  /** The granted ones in the order of their grants. */
  get granted() {
    return this.#inState(each => each.document.state !== 'queued').sort((a, b) => (a.granted ?? 0) - (b.granted ?? 0));
  }

  /** The tickets in the order of their requests. */
  get queued() {
    return this.#inState(each => each.document.state === 'queued');
  }

  /** The transitions that were granted at an instant. @param {number} at */
  grantedAt(at) {
    const all = [...this.ended, ...this.unfinished.values()];
    return all.filter(({ granted, ended }) => granted !== null && granted <= at && (ended === null || ended > at));
  }

  #inState(condition) {
    return [...this.unfinished.values()].filter(condition);
  }

  // Documents

  /** Takes in the document of the scene, or a `reset`, which stands for events that are gone. @param {any} scene */
  takeScene(scene) {
    this.isDeleted = false;
    this.isTreeKnown = true;
    this.lastNumber = scene.lastEvent;
    this.hierarchy.replace(scene.hierarchy ?? null);
    this.revision = scene.revision;
    this.#keepRevision(this.now(), null);
    this.takeUnfinished(scene.running.concat(scene.queue), scene);
  }

  /** Takes in what runs and waits now, and returns the ids of those that are not among them any more. */
  takeUnfinished(documents, { runningCount, queuedCount }) {
    this.counts = { running: runningCount, queued: queuedCount };
    const seen = new Set();
    for (const document of documents) {
      seen.add(document.id);
      this.take(document);
    }
    const isWhole = documents.length >= runningCount + queuedCount;
    return isWhole ? [...this.unfinished.keys()].filter(id => !seen.has(id)) : [];
  }

  /** Takes in a transition as it is, or was; never a state before the known one. @param {any} document @returns {Transition} */
  take(document, at = this.now()) {
    const known = this.transition(document.id);
    if (known && RANKS[document.state] < RANKS[known.document.state]) return known;
    const transition = known ?? fresh(document);
    const before = known?.document.state;
    transition.document = document;
    transition.granted = instant(document.grantedAt) ?? transition.granted;
    if (document.state === 'running') transition.running ??= document.participants ? at : transition.granted;
    transition.until = remaining(document, at);
    const interaction = document.interaction;
    if (interaction?.fraction !== undefined) transition.fraction = interaction.fraction;
    this.#cover(transition.requested);
    if (document.state === 'ended') this.#end(transition);
    else if (!known) this.unfinished.set(document.id, transition);
    if (before !== document.state) this.notice(document.state, transition);
    return transition;
  }

  /** Takes in that nobody knows any more how a transition ended. @param {string} id */
  forget(id) {
    const transition = this.unfinished.get(id);
    if (!transition) return;
    const endedAt = new Date(this.now()).toISOString();
    this.take({ ...transition.document, state: 'ended', outcome: 'unknown', endedAt });
  }

  #end(transition) {
    if (this.#endedById.has(transition.id)) return;
    transition.ended = instant(transition.document.endedAt) ?? this.now();
    transition.until = {};
    this.unfinished.delete(transition.id);
    this.#endedById.set(transition.id, transition);
    this.ended.push(transition);
    // Lists come after events: then it is not the newest.
    let at = this.ended.length - 1;
    while (at > 0 && (this.ended[at - 1].ended ?? 0) > transition.ended) {
      this.ended[at] = this.ended[at - 1];
      at -= 1;
    }
    this.ended[at] = transition;
    // A tenth at a time, because the front of an array is slow to cut.
    if (this.ended.length > ENDED_KEPT * 1.1) {
      for (const old of this.ended.splice(0, this.ended.length - ENDED_KEPT)) this.#endedById.delete(old.id);
    }
    this.#cover(transition.ended);
  }

  // Events

  /**
   * Takes in an event, in the order of the stream.
   * @param {{name: string, data: any}} event
   * @param {{isLive?: boolean}} options whether it happens now
   */
  takeEvent({ name, data }, { isLive = false } = {}) {
    const at = instant(data.at) ?? this.now();
    if (isLive) this.#offset = Math.min(this.#offset, this.clock() - at);
    this.#cover(at);
    if (data.number !== undefined) {
      if (data.number <= this.lastNumber) return;
      this.lastNumber = data.number;
    }
    if (name === 'reset') {
      this.takeScene(data);
    } else if (name === 'hierarchy.changed') {
      this.#takeChange(data, at);
    } else if (name === 'scene.deleted') {
      this.isDeleted = true;
      this.isTreeKnown = true;
      this.hierarchy.replace(null);
      this.#keepRevision(at, { ...data, changes: [], inserted: [], removed: [] });
    } else if (name === 'transition.progress') {
      const transition = this.unfinished.get(data.transition);
      if (transition) transition.fraction = data.fraction;
    } else if (name.startsWith('transition.')) {
      this.#takeTransition(data, at);
    }
  }

  #takeTransition(data, at) {
    const before = this.unfinished.get(data.id)?.document.state;
    const after = this.take(data, at).document.state;
    if (before === after) return;
    if (before) this.counts[before === 'queued' ? 'queued' : 'running'] -= 1;
    if (after !== 'ended') this.counts[after === 'queued' ? 'queued' : 'running'] += 1;
  }

  #takeChange(data, at) {
    const isWhole = data.changes[0]?.type === 'replace';
    if (isWhole) this.isTreeKnown = true;
    else if (data.revision !== this.revision + 1) this.isTreeKnown = false;
    try {
      if (this.isTreeKnown) this.hierarchy.apply(data.changes);
    } catch (error) {
      if (!(error instanceof Inapplicable)) throw error;
      this.isTreeKnown = false;
    }
    if (!this.isTreeKnown) this.hierarchy.replace(null);
    this.isDeleted = false;
    this.revision = data.revision;
    this.#keepRevision(at, data);
  }

  /** Keeps the tree as it is now; without an event only if its revision is not kept already. */
  #keepRevision(at, event) {
    const [root, isKnown] = [this.hierarchy.root, this.isTreeKnown];
    const last = this.revisions.at(-1);
    if (!event && last?.revision === this.revision) Object.assign(last, { root, isKnown });
    else this.revisions.push({ revision: this.revision, root, isKnown, at, event });
    if (this.revisions.length > REVISIONS_KEPT * 1.1) this.revisions.splice(0, this.revisions.length - REVISIONS_KEPT);
  }

  #cover(at) {
    if (at < this.span.from) this.span.from = at;
    if (at > this.span.to) this.span.to = at;
  }
}

/** @returns {Transition} */
function fresh(document) {
  return {
    id: document.id, document, requested: instant(document.requestedAt) ?? 0, granted: null, running: null, ended: null,
    until: {}, fraction: null,
  };
}

/** When what runs out will have run out. */
function remaining(document, at) {
  /** @type {Record<string, number>} */
  const until = {};
  for (const name of ['lease', 'ticket', 'queue', 'ready']) {
    const seconds = document[`${name}Remaining`];
    if (seconds !== undefined) until[name] = at + seconds * 1000;
  }
  // An event does not say what is left; at the grant, the lease is full.
  if (document.fence && document.state !== 'ended') until.lease ??= at + document.leaseSeconds * 1000;
  return until;
}

export const instant = text => (text ? Date.parse(text) : null);
