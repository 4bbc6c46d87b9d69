// @ts-check
// Draws an arrow from each ticket to every transition that it waits for directly.

import { byId } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';
/** How far below the upper edge of a card its arrows leave, and arrive from another lane, in pixels. */
const HEAD = 16;
/** How far above the lower edge of a card the arrows from below arrive. */
const FOOT = 14;
/** How far an arrow within the lane is bent outwards: at least, and at most. */
const BEND = { least: 18, most: 32 };

/**
 * Where arrows may leave a card and arrive at it.
 * @typedef {{left: number, right: number, head: number, foot: number, isSeen: boolean}} Place
 */

export class WiresView {
  #lanes = byId('lanes');
  #wires = byId('wires');
  /** The blockers of each ticket, by their ids. @type {Map<string, string[]>} */
  #blockers = new Map();
  /** The ticket that the mouse or the keyboard is at. @type {string | null} */
  #near = null;

  constructor() {
    for (const name of ['pointerover', 'focusin']) {
      this.#lanes.addEventListener(name, event => this.#come(event.target.closest('.card.waits')?.dataset.id ?? null));
    }
    this.#lanes.addEventListener('pointerleave', () => this.#come(null));
    this.#lanes.addEventListener('focusout', event => { if (!this.#lanes.contains(event.relatedTarget)) this.#come(null); });
  }

  /** @param {Map<string, string[]>} blockers the ids of the direct blockers of each ticket */
  draw(blockers = this.#blockers) {
    this.#blockers = blockers;
    const paths = [];
    const cards = [...this.#lanes.querySelectorAll('#running-cards > .card, #waiting-cards > .card')];
    const near = this.#near !== null && blockers.has(this.#near) ? this.#near : null;
    const chosen = new Set(near === null ? [] : blockers.get(near));
    for (const card of cards) card.classList.toggle('blocks', chosen.has(card.dataset.id));
    if (getComputedStyle(this.#wires).display !== 'none') {
      const frame = this.#lanes.getBoundingClientRect();
      const places = new Map(cards.map(card => [card.dataset.id, { lane: card.parentElement, place: placeOf(card, frame) }]));
      for (const [id, others] of blockers) {
        for (const other of others) {
          const [from, to] = [places.get(id), places.get(other)];
          if (!from || !to || !(from.place.isSeen || to.place.isSeen)) continue;
          paths.push(wire(from.place, to.place, from.lane === to.lane, id === near));
        }
      }
    }
    this.#wires.classList.toggle('chosen', near !== null);
    byId('wires-drawn').replaceChildren(...paths);
  }

  #come(id) {
    if (id === this.#near) return;
    this.#near = id;
    this.draw();
  }
}

/** @param {Place} from @param {Place} to @param {boolean} isSameLane @param {boolean} isNear */
function wire(from, to, isSameLane, isNear) {
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', isSameLane ? around(from, to) : across(from, to));
  path.setAttribute('marker-end', 'url(#arrow)');
  path.classList.toggle('near', isNear);
  // One of its ends is scrolled out of the lane.
  path.classList.toggle('beyond', !(from.isSeen && to.isSeen));
  return path;
}

/** From the left of a ticket to the right of a card in the lane before. */
function across(from, to) {
  const bend = (from.left - to.right) / 2;
  return `M${from.left} ${from.head} C${from.left - bend} ${from.head} ${to.right + bend} ${to.head} ${to.right} ${to.head}`;
}

/** From the left of a ticket to the left of one above it. */
function around(from, to) {
  const bend = Math.min(BEND.most, BEND.least + Math.abs(from.head - to.foot) / 24);
  return `M${from.left} ${from.head} C${from.left - bend} ${from.head} ${to.left - bend} ${to.foot} ${to.left} ${to.foot}`;
}

/** @returns {Place} */
function placeOf(card, frame) {
  const box = card.getBoundingClientRect();
  const lane = card.closest('.lane').getBoundingClientRect();
  const inLane = y => Math.max(lane.top, Math.min(y, lane.bottom));
  const [head, foot] = [box.top + Math.min(HEAD, box.height / 2), box.bottom - Math.min(FOOT, box.height / 3)];
  return {
    left: box.left - frame.left, right: box.right - frame.left, head: inLane(head) - frame.top, foot: inLane(foot) - frame.top,
    isSeen: box.bottom > lane.top && box.top < lane.bottom,
  };
}
