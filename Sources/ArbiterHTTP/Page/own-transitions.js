// @ts-check
// The transitions that are asked for on this page, which keeps each until it is ended here.

import { inPageWords } from './answers.js';
import { OWN_TRANSITIONS } from './limits.js';

/** `held` is the client's transition once it is granted. @typedef {{id: string | null, giveUp: AbortController, held: any}} Own */

export class OwnTransitions {
  /** @type {Map<string | null, Own>} */
  #all = new Map();
  /** The one that is being asked for, until its id is known. @type {Own | null} */
  #requesting = null;

  /** @param {{scene: (name: string) => any, changed: () => void}} options `scene` is that of the client */
  constructor({ scene, changed }) {
    this.scene = scene;
    this.changed = changed;
  }

  get size() {
    return this.#all.size;
  }

  /** @param {string} id */
  get(id) {
    return this.#all.get(id);
  }

  /** Whether one has been asked for, and the daemon has not answered yet. */
  get isAsking() {
    return this.#requesting !== null;
  }

  /** Forgets them all; the session that they belong to has ended. */
  clear() {
    this.#all.clear();
  }

  /** Why this page cannot ask for a transition now, in a sentence; nothing if it can. */
  whyNoMore() {
    if (this.size >= OWN_TRANSITIONS) return `This page has ${this.size} transitions already: end one of them first.`;
    return this.#requesting ? 'The daemon has not yet answered what this page asked before: try again.' : '';
  }

  /**
   * Asks for a transition, which this page keeps until it ends it.
   * @param {string} scene @param {any} options @param {boolean} isQueueing
   * @returns {Promise<string>} why there is no such transition, in a sentence; nothing if there is one, or was
   */
  async request(scene, options, isQueueing) {
    const full = this.whyNoMore();
    if (full) throw new Error(full);
    const giveUp = new AbortController();
    /** @type {Own} */
    const own = this.#requesting = { id: null, giveUp, held: null };
    const target = this.scene(scene);
    const asked = { ...options, signal: giveUp.signal };
    try {
      own.held = await (isQueueing ? target.serialize(asked) : target.start(asked));
      if (!own.held) return 'Another transition is in the way, so nothing was done.';
      if (own.held.noop) return 'There was nothing to change.';
      own.held.signal.addEventListener('abort', () => this.#drop(own));
      this.changed();
      return '';
    } catch (error) {
      this.#drop(own);
      if (giveUp.signal.aborted) return '';
      throw inPageWords(error);
    } finally {
      if (this.#requesting === own) this.#requesting = null;
      if (!own.held || own.held.noop) this.#drop(own);
    }
  }

  /** Takes back what has been asked for, while the daemon has not answered. */
  withdraw() {
    this.#requesting?.giveUp.abort();
  }

  /** Sees the answer to a request of the client, in which the id is. @param {string} url @param {Response} response */
  note(url, response) {
    if (!this.#requesting || !/\/transitions\/(start|serialize)$/.test(url)) return;
    const requested = this.#requesting;
    this.#requesting = null;
    response.clone().json().then(({ id }) => {
      requested.id = id;
      this.#all.set(id, requested);
      this.changed();
    }, () => {});
  }

  /** Ends one of them. @param {string} id @param {'end' | 'cancel'} kind */
  async end(id, kind) {
    const own = this.#all.get(id);
    if (!own) return;
    try {
      if (!own.held) own.giveUp.abort();
      else await (kind === 'end' ? own.held.complete() : own.held.cancel());
    } catch (error) {
      throw inPageWords(error);
    }
    this.#drop(own);
  }

  #drop(own) {
    this.#all.delete(own.id);
    this.changed();
  }
}
