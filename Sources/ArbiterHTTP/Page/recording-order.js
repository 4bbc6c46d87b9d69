// @ts-check
// Whether a recording is whole: its events have to be there, each once and in order, up to the states that it ends with.

/** How many scenes a recording of all scenes shows at its end. */
const STATES = 100;

/** Where a recording is not whole. */
export class Disorder extends Error {
  /** @param {number} line the first wrong line @param {string} why */
  constructor(line, why) {
    super(`Line ${line} is wrong: ${why}. The recording is damaged.`);
  }
}

/**
 * Follows the numbers of the events. Those of a scene grow by one; only after its deletion some are missing. What has no
 * number, such as where a finger was, may be missing.
 */
export class RecordingOrder {
  #head;
  /** The last event of each scene. @type {Map<string, {number: number, first: number, name: string}>} */
  #last = new Map();
  /** The last line with a number. */
  #line = 1;
  /** The line up to which the states at the end have come about. */
  #stateLine = 0;
  #lastEvents = new Map();
  /** The last place in the stream of all scenes. */
  #cursor = 0;

  /** @param {any} head the first line */
  constructor(head) {
    this.#head = head;
    for (const { name, lastEvent } of head.scenes) this.#lastEvents.set(name, lastEvent);
    if (head.scene === undefined) return;
    const [state, ...others] = head.scenes;
    if (state?.name !== head.scene || others.length) throw new Disorder(1, `it does not show the scene ${head.scene}`);
  }

  /** Takes the next event. @param {number} line @param {{id?: string, event: string, data: any}} event @throws {Disorder} */
  take(line, { id, event, data: { scene, number } }) {
    if (this.#head.scene !== undefined && scene !== this.#head.scene) throw new Disorder(line, `it is about another scene, ${scene}`);
    if (number === undefined) return;
    const before = this.#last.get(scene);
    const expected = before ? before.number + 1 : this.#first();
    const mayBeLater = before?.name === 'scene.deleted' || expected === null;
    if (expected !== null && number < expected) throw new Disorder(line, `event ${number} of ${scene} is there already, or comes too late`);
    if (!mayBeLater && number > expected) throw new Disorder(line, `event ${expected} of ${scene} is missing before event ${number}`);
    const cursor = /^c(\d+)$/.exec(id ?? '');
    if (cursor && Number(cursor[1]) <= this.#cursor) throw new Disorder(line, `it comes after ${this.#cursor}, and has the place ${cursor[1]}`);
    if (cursor) this.#cursor = Number(cursor[1]);
    this.#last.set(scene, { number, first: before?.first ?? line, name: event });
    this.#line = line;
    if (this.#lastEvents.get(scene) === number) this.#stateLine = line;
  }

  /** The number that the first event of a scene has; null if that is not known. */
  #first() {
    const { scene, dropped } = this.#head;
    if (scene !== undefined) return (dropped ?? 0) + 1;
    return dropped ? null : 1;
  }

  /** Looks at the end whether the events lead to the states of the first line. @throws {Disorder} */
  finish() {
    const { scene: only, dropped } = this.#head;
    for (const [name, lastEvent] of this.#lastEvents) {
      const last = this.#last.get(name)?.number ?? (only === undefined ? (dropped ? lastEvent : 0) : dropped ?? 0);
      if (last < lastEvent) throw new Disorder(this.#line + 1, `event ${last + 1} of ${name} is missing`);
    }
    if (this.#lastEvents.size >= STATES) return;
    for (const [name, last] of this.#last) {
      // A scene may have come about after the states were read.
      const isLate = this.#stateLine > 0 && last.first > this.#stateLine;
      if (!this.#lastEvents.has(name) && last.name !== 'scene.deleted' && !isLate) throw new Disorder(1, `it does not show the scene ${name}`);
    }
  }
}
