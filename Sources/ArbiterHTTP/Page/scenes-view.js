// @ts-check
// Lists the scenes, with how many transitions run and wait in each.

import { byId, el, keep, setHidden, setText } from './dom.js';

/** @typedef {{name: string, runningCount: number, queuedCount: number}} Summary */

export class ScenesView {
  /** @param {{follow: (name: string) => void}} options */
  constructor({ follow }) {
    this.follow = follow;
  }

  /** @param {Summary[]} scenes @param {string | null} followed @param {string} note what is to be said about those left out */
  draw(scenes, followed, note) {
    const isListed = followed === null || scenes.some(each => each.name === followed);
    const shown = isListed ? scenes : [{ name: followed, runningCount: 0, queuedCount: 0 }, ...scenes];
    keep(byId('scene-list'), shown, each => each.name, each => this.#make(each), (item, each) => fill(item, each, followed));
    setText(byId('scenes-note'), note);
    setHidden(byId('scenes-note'), !note);
  }

  /** @param {Summary} scene */
  #make({ name }) {
    return el('li', {}, el('button', { type: 'button', on: { click: () => this.follow(name) } },
      el('span', { class: 'name', text: name, title: name }), el('span', { class: 'counts' })));
  }
}

/** The one in which most happens. @param {Summary[]} scenes @returns {Summary | undefined} */
export function busiest(scenes) {
  const count = ({ runningCount, queuedCount }) => runningCount + queuedCount;
  return [...scenes].sort((a, b) => count(b) - count(a))[0];
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
