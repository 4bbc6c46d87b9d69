// @ts-check
// Lists the scenes, with how many transitions run and wait in each.

import { byId, el, keep, setHidden, setText } from './dom.js';
import { escaped } from './names.js';

/** @typedef {{name: string, runningCount: number, queuedCount: number}} Summary */

export class ScenesView {
  /** @param {{follow: (name: string) => void}} options */
  constructor({ follow }) {
    this.follow = follow;
  }

  /**
   * @param {Summary[]} scenes
   * @param {import('./model.js').SceneModel | null} model the scene that is followed
   * @param {string} note what is to be said about those left out
   */
  draw(scenes, model, note) {
    const followed = model?.name ?? null;
    const isMissing = model?.presence === 'known' && !scenes.some(({ name }) => name === followed);
    const { running = 0, queued = 0 } = model?.counts ?? {};
    const shown = isMissing ? [{ name: model.name, runningCount: running, queuedCount: queued }, ...scenes] : scenes;
    keep(byId('scene-list'), shown, each => each.name, each => this.#make(each), (item, each) => fill(item, each, followed));
    setText(byId('scenes-note'), note);
    setHidden(byId('scenes-note'), !note);
  }

  /** @param {Summary} scene */
  #make({ name }) {
    return el('li', {}, el('button', { type: 'button', on: { click: () => this.follow(name) } },
      el('span', { class: 'name', text: escaped(name), title: escaped(name) }), el('span', { class: 'counts' })));
  }
}

/**
 * The scene to begin with: the one in which most happens, or else the one in which something has happened last.
 * @param {Summary[]} scenes @param {string | null} newest
 */
export function firstScene(scenes, newest) {
  const count = ({ runningCount, queuedCount }) => runningCount + queuedCount;
  const [busiest] = [...scenes].sort((a, b) => count(b) - count(a));
  return busiest && count(busiest) ? busiest.name : newest ?? busiest?.name ?? 'main';
}

function fill(item, { name, runningCount, queuedCount }, followed) {
  const button = item.firstChild;
  button.setAttribute('aria-current', String(name === followed));
  const counts = [
    { kind: 'chip runs', count: runningCount, word: 'running' }, { kind: 'chip waits', count: queuedCount, word: 'waiting' },
  ].filter(({ count }) => count);
  const make = ({ kind, word }) => el('span', { class: kind },
    el('span'), el('span', { class: kind && 'unseen', text: ` ${word} ` }));
  keep(button.lastChild, counts.length ? counts : [{ kind: '', count: 0, word: 'idle' }], ({ word }) => word, make,
    (chip, { count }) => setText(chip.firstChild, count ? String(count) : ''));
}
