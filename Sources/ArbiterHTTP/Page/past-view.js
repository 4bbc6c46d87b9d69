// @ts-check
// Goes back to earlier revisions of the tree, and says what each changed.

import { byId, el, setHidden, setText } from './dom.js';
import { CHANGES_SHOWN } from './limits.js';
import { inWords, who } from './names.js';
import { changeWords, clockTime, duration, plural } from './words.js';

/** @typedef {import('./model.js').SceneModel} SceneModel */

export class PastView {
  /** @type {SceneModel | null} */
  #model = null;
  /** The revision that is looked at; null for the newest. */
  #viewing = null;

  /** @param {{view: (revision: any) => void}} options `view` shows a revision, or with null the newest */
  constructor({ view }) {
    this.view = view;
    byId('revision').addEventListener('input', event => view(this.#model?.revisions[event.target.value - event.target.min] ?? null));
    byId('revision-back').addEventListener('click', () => this.#step(-1));
    byId('revision-on').addEventListener('click', () => this.#step(1));
    byId('revision-now').addEventListener('click', () => {
      view(null);
      byId('revision').focus();
    });
  }

  /** @param {SceneModel} model @param {any} viewing */
  draw(model, viewing) {
    this.#model = model;
    this.#viewing = viewing;
    const { revisions } = model;
    const at = this.#index();
    if (at < 0 && viewing) {
      // It has been forgotten meanwhile, as the oldest one.
      this.view(null);
      return;
    }
    const last = revisions.length - 1;
    const shown = revisions[at];
    const slider = byId('revision');
    // The number of the revision, as long as none is missing.
    const first = last < 0 ? 0 : Math.max(0, revisions[last].revision - last);
    slider.min = String(first);
    slider.max = String(first + Math.max(0, last));
    slider.value = String(first + Math.max(0, at));
    slider.setAttribute('aria-valuetext', shown ? `${nameOf(shown)}, ${clockTime(shown.at)}` : 'No revision');
    slider.disabled = last < 1;
    setText(byId('revision-label'), shown ? nameOf(shown) + (viewing ? '' : ', now') : `Revision ${model.revision}, now`);
    byId('revision-back').disabled = at <= 0;
    byId('revision-on').disabled = at >= last;
    setHidden(byId('revision-now'), !viewing);
    setHidden(byId('changes'), !viewing);
    if (viewing) byId('changes').replaceChildren(...changesOf(viewing, model));
  }

  /** The place of the revision that is looked at among those that are kept. */
  #index() {
    const revisions = this.#model?.revisions ?? [];
    return this.#viewing ? revisions.indexOf(this.#viewing) : revisions.length - 1;
  }

  #step(by) {
    const revision = this.#model?.revisions[this.#index() + by];
    if (revision) this.view(revision);
  }
}

const nameOf = ({ revision, event }) => (event?.isDeletion ? 'Deleted' : `Revision ${revision}`);

function changesOf({ event, at, isKnown }, model) {
  if (!event) return [el('p', { text: `The tree was read at ${clockTime(at)}, and is older. What was before is not known here.` })];
  if (event.isDeletion) return [el('p', { text: `The scene was deleted at ${clockTime(at)}.` })];
  const transition = event.transition ? model.transition(event.transition) : null;
  const by = transition ? `${who(transition.document)}, ${duration(at - transition.requested)} after its request`
    : inWords(event.transition ?? 'a declaration');
  const changes = event.changes ?? [];
  const more = changes.length - CHANGES_SHOWN;
  return [
    el('p', { text: `Changed at ${clockTime(at)} by ${by}${isKnown ? '' : ', in a tree that is not in the recording'}:` }),
    el('ul', {}, ...changes.slice(0, CHANGES_SHOWN).map(change => el('li', { text: `· ${changeWords(change)}` })),
      more > 0 ? el('li', { text: `· and ${plural(more, 'more change')}` }) : null),
  ];
}
