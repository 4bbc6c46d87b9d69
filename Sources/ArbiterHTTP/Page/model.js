// @ts-check
// What is known about one scene: its tree with its past, what runs, what waits, and what ended. Events, documents and
// recordings are taken in; nothing is asked here.

import { Hierarchy, Inapplicable } from './hierarchy.js';
import { CLAIM_SECONDS, ENDED_KEPT, REVISIONS_KEPT } from './limits.js';

/** The place of what is set aside: behind all in the line. */
const LAST = Number.MAX_SAFE_INTEGER;

const RANKS = { queued: 0, preparing: 1, running: 2, ended: 3 };

/** The priority of a transition, which shows only one that is not the standard one. @param {any} document */
export const priorityOf = document => document.priority ?? 0;

/**
 * A transition as the daemon last showed it, with its instants in milliseconds of the daemon's clock.
 * @typedef {{id: string, document: any, requested: number, granted: number | null, running: number | null,
 *   ended: number | null, until: Record<string, number>, claim: number | null, seen: number, fraction: number | null}} Transition
 * `until` says when what runs out will have run out: `lease`, `ticket`, `queue`, `ready`, `grace`. `claim` says until when it has to
 * take its turn, if it was granted while it waited. At `seen` it was there for the last time.
 */

export class SceneModel {
  hierarchy = new Hierarchy();
  revision = 0;
  /** The number of the last event that is included. */
  lastNumber = 0;
  isDeleted = false;
  /** Whether there is such a scene, as far as is known. @type {'loading' | 'known' | 'unknown' | 'forbidden'} */
  presence = 'known';
  /** Whether `hierarchy` is the tree of now; where events are missing it is not, until the whole has been read. */
  isTreeKnown = true;
  /** How long the first lease of a ticket is whose owner is not there at its turn, in seconds. */
  claimSeconds = CLAIM_SECONDS;
  /** How many run and wait of which no document has been seen. */
  #unseen = { running: 0, queued: 0 };
  /** The ids of the first tickets, in the order in which the daemon has shown them last. @type {string[]} */
  #front = [];
  /** @type {Map<string, Transition>} */
  unfinished = new Map();
  /** The ended ones by their ends, oldest first. @type {Transition[]} */
  ended = [];
  /** @type {Map<string, Transition>} */
  #endedById = new Map();
  /**
   * The last revisions, oldest first; one without an event was read, and had come about before.
   * @type {{revision: number, root: any, isKnown: boolean, at: number, event: any}[]}
   */
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

  /** The tickets in the order of the line: a higher priority comes first, and among equals the earlier request. */
  get queued() {
    const waiting = new Map(this.#inState(each => each.document.state === 'queued').map(each => [each.id, each]));
    const front = this.#front.map(id => waiting.get(id)).filter(each => each !== undefined);
    for (const { id } of front) waiting.delete(id);
    // No equal comes before those whose place is known. Of one instant, those that were heard of first come first.
    return [...front, ...[...waiting.values()].sort((a, b) => a.requested - b.requested)]
      .sort((a, b) => priorityOf(b.document) - priorityOf(a.document));
  }

  /** How many run and wait, of which the documents may show fewer. */
  get counts() {
    let queued = 0;
    for (const { document } of this.unfinished.values()) if (document.state === 'queued') queued += 1;
    return { running: this.unfinished.size - queued + this.#unseen.running, queued: queued + this.#unseen.queued };
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
    this.presence = 'known';
    this.isTreeKnown = true;
    this.lastNumber = scene.lastEvent;
    this.hierarchy.replace(scene.hierarchy ?? null);
    this.revision = scene.revision;
    this.#keepRevision(this.now(), null);
    this.takeUnfinished(scene);
  }

  /** Takes in that there is no such scene. */
  takeAbsence() {
    this.takeScene({ revision: 0, lastEvent: 0, running: [], queue: [], runningCount: 0, queuedCount: 0 });
    this.presence = 'unknown';
  }

  /**
   * Takes in what runs and waits, of the tickets the first ones, and returns the ids of those that should be among them, and
   * are not any more.
   * @param {{running: any[], queue: any[], runningCount: number, queuedCount: number, lastEvent?: number, limits?: any}} state
   *   `lastEvent` is the last event that it includes; without it, the state has to be whole
   * @returns {string[]}
   */
  takeUnfinished({ running, queue, runningCount, queuedCount, lastEvent, limits }) {
    this.claimSeconds = limits?.claimSeconds ?? this.claimSeconds;
    const seen = new Set();
    for (const document of [...running, ...queue]) {
      seen.add(document.id);
      this.take(document);
    }
    this.#front = [...queue].sort((a, b) => (a.position ?? LAST) - (b.position ?? LAST)).map(({ id }) => id);
    const areAllShown = { running: running.length >= runningCount, queued: queue.length >= queuedCount };
    // Behind the last ticket that is shown there may be others.
    const line = queue.filter(each => each.awaits !== 'expectation');
    const lowest = areAllShown.queued ? -Infinity : Math.min(...line.map(priorityOf));
    const last = Math.max(...line.filter(each => priorityOf(each) === lowest).map(({ requestedAt }) => instant(requestedAt) ?? 0));
    const isBeforeLast = (document, requested) => (
      priorityOf(document) > lowest || priorityOf(document) === lowest && requested < last);
    const missing = [...this.unfinished.values()].filter(({ id, document, requested }) => (
      !seen.has(id) && (document.awaits === 'expectation' ? areAllShown.queued
        : document.state === 'queued' ? isBeforeLast(document, requested) : areAllShown.running)));
    // An older or newer state would count those twice that events tell about.
    if (lastEvent === undefined || lastEvent === this.lastNumber) {
      this.#unseen = { running: 0, queued: 0 };
      const known = this.counts;
      for (const { document } of missing) known[document.state === 'queued' ? 'queued' : 'running'] -= 1;
      this.#unseen = { running: Math.max(0, runningCount - known.running), queued: Math.max(0, queuedCount - known.queued) };
    }
    return missing.map(({ id }) => id);
  }

  /**
   * Takes in a transition as it is, or was; never a state before the known one.
   * @param {any} document @param {number} at @param {boolean} isEvent whether it comes from an event, which does not say what
   *   is left of anything
   * @returns {Transition}
   */
  take(document, at = this.now(), isEvent = false) {
    const known = this.transition(document.id);
    if (known && RANKS[document.state] < RANKS[known.document.state]) return known;
    const transition = known ?? fresh(document);
    const before = known?.document.state;
    transition.document = document;
    transition.granted = instant(document.grantedAt) ?? transition.granted;
    if (document.state === 'running') transition.running ??= document.participants ? at : transition.granted;
    transition.seen = at;
    if (before !== document.state && (before === undefined || before === 'queued')) this.#begin(transition, at);
    if (!isEvent) transition.until = remaining(document, at);
    // The event of its interruption says how long the whole grace is.
    else if (document.interruption) transition.until.grace ??= at + document.interruption.graceRemaining * 1000;
    const interaction = document.interaction;
    if (interaction?.fraction !== undefined) transition.fraction = interaction.fraction;
    this.#cover(transition.requested);
    if (document.state === 'ended') this.#end(transition);
    else if (!known) this.unfinished.set(document.id, transition);
    if (before !== document.state) this.notice(document.state, transition);
    return transition;
  }

  /** What is left when it is asked for, or granted, as far as nobody has said so. */
  #begin(transition, at) {
    const { document, granted, requested } = transition;
    const { leaseSeconds, queueSeconds, readySeconds } = document;
    transition.until = {};
    if (document.state === 'queued' && queueSeconds !== undefined) transition.until.queue = at + queueSeconds * 1000;
    if (!document.fence || document.state === 'ended') return;
    // Whether its owner waited for its turn is not said. If not, it has this long to take it.
    transition.claim = granted === requested || leaseSeconds <= this.claimSeconds ? null : granted + this.claimSeconds * 1000;
    transition.until.lease = transition.claim ?? at + leaseSeconds * 1000;
    if (document.state === 'preparing' && readySeconds !== undefined) transition.until.ready = at + readySeconds * 1000;
  }

  /** Takes in that nobody knows any more how a transition ended, or when. @param {string} id */
  forget(id) {
    const transition = this.unfinished.get(id);
    if (transition) this.take({ ...transition.document, state: 'ended', outcome: 'unknown' }, transition.seen);
  }

  #end(transition) {
    if (this.#endedById.has(transition.id)) return;
    transition.ended = instant(transition.document.endedAt) ?? transition.seen;
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
      this.presence = 'known';
      this.isDeleted = false;
    }
    if (name === 'reset') {
      this.takeScene(data);
    } else if (name === 'hierarchy.changed') {
      this.#takeChange(data, at);
    } else if (name === 'scene.deleted') {
      this.isDeleted = true;
      this.presence = 'unknown';
      this.isTreeKnown = true;
      this.hierarchy.replace(null);
      this.revision = 0;
      this.#keepRevision(at, { ...data, isDeletion: true });
    } else if (name === 'transition.progress') {
      const transition = this.unfinished.get(data.transition);
      if (transition) transition.fraction = data.fraction;
    } else if (name.startsWith('transition.')) {
      this.#takeTransition(data, at);
    }
  }

  #takeTransition(data, at) {
    const isKnown = this.transition(data.id) !== null;
    const { document, requested, granted } = this.take(data, at, true);
    if (isKnown || document.state === 'queued' || granted === requested) return;
    // It had waited, or run, without having been seen.
    const kind = document.state === 'ended' && this.#unseen.running ? 'running' : 'queued';
    this.#unseen[kind] = Math.max(0, this.#unseen[kind] - 1);
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
    until: {}, claim: null, seen: 0, fraction: null,
  };
}

/** When what runs out will have run out, as a document says. */
function remaining(document, at) {
  /** @type {Record<string, number>} */
  const until = {};
  for (const name of ['lease', 'ticket', 'queue', 'ready']) {
    const seconds = document[`${name}Remaining`];
    if (seconds !== undefined) until[name] = at + seconds * 1000;
  }
  if (document.interruption) until.grace = at + document.interruption.graceRemaining * 1000;
  return until;
}

export const instant = text => (text ? Date.parse(text) : null);
