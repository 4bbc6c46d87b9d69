// @ts-check
// The dialog that declares a scene.

import { byId, setHidden } from './dom.js';
import { below } from './hierarchy.js';
import { CHECK_AFTER } from './limits.js';
import { inWords } from './names.js';
import { verdict } from './verdict.js';
import { plural } from './words.js';

/** A storyboard to begin with. */
const EXAMPLE = {
  root: { id: 'nav', kind: 'navigation', children: ['list'] },
  segues: [{ identifier: 'edit', source: 'list', kind: 'show', destination: 'editor' }],
  transitionTypes: [{ name: 'star', duration: 1 }],
};

/** A scene, and the tag of its storyboard; null if it has none. @typedef {{scene: string, tag: string | null}} Read */

export class StoryboardDialog {
  /** What is checked now; an answer to anything else comes too late. */
  #check = 0;
  #timer = 0;
  /** Where the text comes from. @type {Read | null} */
  #source = null;
  /** Another scene that it would be declared in, whose storyboard has not been shown here. @type {Read | null} */
  #other = null;

  /** @param {{live: any, scene: () => string, declared: (scene: string, revision: number) => void}} options */
  constructor({ live, scene, declared }) {
    this.live = live;
    this.scene = scene;
    this.declared = declared;
    byId('storyboard-cancel').addEventListener('click', () => byId('storyboard').close());
    byId('storyboard-form').addEventListener('input', () => {
      byId('storyboard-go').disabled = true;
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => this.#checkNow(), CHECK_AFTER);
    });
    byId('storyboard-scene').addEventListener('input', () => {
      // These are about the scene that stood here.
      setHidden(byId('storyboard-note'), true);
      setHidden(byId('storyboard-load'), true);
    });
    byId('storyboard-form').addEventListener('submit', event => {
      event.preventDefault();
      this.#declare();
    });
    byId('storyboard-load').addEventListener('click', () => this.#load());
  }

  async open() {
    byId('storyboard-scene').value = this.scene();
    byId('storyboard').showModal();
    await this.#load();
  }

  /** Begins with what is declared now. */
  async #load() {
    byId('storyboard-text').value = '';
    byId('storyboard-go').disabled = true;
    setHidden(byId('storyboard-note'), true);
    setHidden(byId('storyboard-load'), true);
    verdict('storyboard', '', '');
    this.#source = null;
    try {
      const { storyboard, ...source } = await this.#read(byId('storyboard-scene').value);
      // Unless something has been typed meanwhile.
      if (!byId('storyboard-text').value) {
        this.#source = source;
        byId('storyboard-text').value = JSON.stringify(storyboard ?? EXAMPLE, null, 2);
        setHidden(byId('storyboard-note'), storyboard !== null || byId('storyboard-scene').value !== source.scene);
      }
      this.#checkNow();
    } catch (error) {
      verdict('storyboard', 'bad', error.message);
    }
  }

  /** The storyboard of a scene, or null if it has none. @param {string} scene @returns {Promise<Read & {storyboard: any}>} */
  async #read(scene) {
    try {
      const { document, tag } = await this.live.ask('GET', `/scenes/${encodeURIComponent(scene)}/storyboard`);
      return { scene, tag, storyboard: document };
    } catch (error) {
      if (error.status !== 404) throw error;
      return { scene, tag: null, storyboard: null };
    }
  }

  async #checkNow() {
    clearTimeout(this.#timer);
    const check = this.#check += 1;
    byId('storyboard-go').disabled = true;
    const field = byId('storyboard-scene');
    if (!field.checkValidity()) {
      verdict('storyboard', 'bad', field.value ? `No scene can have the name “${inWords(field.value)}”.` : 'The scene needs a name.');
      return;
    }
    const [scene, text] = [field.value, byId('storyboard-text').value];
    try {
      const answer = await this.#put(scene, text, '?dryRun=true');
      const other = scene === this.#source?.scene ? null : await this.#read(scene);
      if (check !== this.#check) return;
      this.#other = other;
      const isReplaced = !!other && other.tag !== null;
      verdict('storyboard', 'good', storyboardWords(answer)
        + (isReplaced ? ` It would replace what is declared in ${scene}, which is not what stood here.` : ''));
      byId('storyboard-go').disabled = false;
    } catch (error) {
      const name = error.problem?.field ? `${error.problem.field}: ` : '';
      if (check === this.#check) verdict('storyboard', 'bad', name + withLines(error.message, text));
    }
  }

  async #declare() {
    const [scene, text] = [byId('storyboard-scene').value, byId('storyboard-text').value];
    const read = [this.#source, this.#other].find(each => each?.scene === scene);
    if (!read) return;
    try {
      // Only what has been seen here, or warned of, is replaced.
      const { revision } = await this.#put(scene, text, '', read.tag === null ? { 'If-None-Match': '*' } : { 'If-Match': read.tag });
      byId('storyboard').close();
      this.declared(scene, revision);
    } catch (error) {
      const hasChanged = error.status === 412;
      setHidden(byId('storyboard-load'), !hasChanged || byId('storyboard-scene').value !== scene);
      const changed = `The storyboard of ${scene} has changed since it was read here, so yours was not declared. `
        + '“Read it again” shows it, in the place of yours.';
      verdict('storyboard', 'bad', hasChanged ? changed : withLines(error.message, text));
    }
  }

  #put(scene, text, query, headers = {}) {
    return this.live.send('PUT', `/scenes/${encodeURIComponent(scene)}/storyboard${query}`, text, headers);
  }
}

/** A sentence of the daemon, with the place in a text of several lines as an editor counts it. */
function withLines(sentence, text) {
  return sentence.replace(/ at byte (\d+)/, (_, byte) => {
    const before = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, Number(byte))).split('\n');
    return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  });
}

function storyboardWords({ root, segues, transitionTypes }) {
  let count = 0;
  const waiting = root ? [root] : [];
  while (waiting.length) {
    const node = waiting.pop();
    count += 1;
    waiting.push(...below(node));
  }
  const types = plural(transitionTypes.length, 'transition type');
  return `Correct: ${plural(count, 'controller')}, ${plural(segues.length, 'segue')}, ${types}.`;
}
