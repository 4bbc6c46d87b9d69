// @ts-check
// Draws the lanes: who holds a lock, who waits and behind whom, and what ended.

import { byId, el, keep, setHidden, setText } from './dom.js';
import { ENDED_SHOWN, RUNNING_SHOWN, WAITING_SHOWN } from './limits.js';
import {
  clockTime, duration, endWords, hasFailed, holdWords, lockWords, operationWords, outcomeWord, plural, waitWords, who,
} from './words.js';

const SVG = 'http://www.w3.org/2000/svg';
/** A lease of which less than this part is left is shown as running out. */
const LOW = 0.3;
/** The silence of a ticket's owner is shown when so much is left of it, in milliseconds. */
const SILENCE = 60_000;

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

export class LanesView {
  /** The ticket whose wires are drawn stronger. */
  #near = null;

  /**
   * @param {{open: (id: string) => void, act: (kind: string, transition: Transition) => void,
   *   can: (kind: string, transition: Transition) => boolean}} options
   */
  constructor({ open, act, can }) {
    this.open = open;
    this.act = act;
    this.can = can;
    const lanes = byId('lanes');
    for (const name of ['pointerover', 'focusin']) {
      lanes.addEventListener(name, event => this.#come(event.target.closest('.card.waits')?.dataset.id ?? null));
    }
    for (const each of lanes.querySelectorAll('.lane')) each.addEventListener('scroll', () => this.#wire());
    new ResizeObserver(() => this.#wire()).observe(lanes);
  }

  /** @param {SceneModel} model */
  draw(model) {
    const now = model.now();
    const { granted, queued } = model;
    const ended = model.ended.slice(-ENDED_SHOWN).reverse();
    keep(byId('running-cards'), granted.slice(0, RUNNING_SHOWN), keyOf, each => this.#make(each),
      (card, each) => this.#fillGranted(card, each, now));
    keep(byId('waiting-cards'), queued.slice(0, WAITING_SHOWN), keyOf, each => this.#make(each),
      (card, each, index) => this.#fillQueued(card, each, index, model, now));
    keep(byId('ended-cards'), ended, keyOf, each => this.#make(each), (card, each) => this.#fillEnded(card, each, now));
    const running = Math.max(model.counts.running, granted.length);
    const waiting = Math.max(model.counts.queued, queued.length);
    setText(byId('running-note'), running ? sentence(running, 'transition has', 'transitions have', 'a lock', granted.length, RUNNING_SHOWN)
      : 'Nobody. Any transition may start.');
    setText(byId('waiting-note'), waiting ? sentence(waiting, 'ticket waits', 'tickets wait', 'in order', queued.length, WAITING_SHOWN)
      : 'Nobody.');
    setText(byId('ended-note'), ended.length ? 'The newest first.' : 'Nothing yet.');
    this.#wire();
  }

  /** @param {Transition} transition */
  #make({ id }) {
    const on = { click: () => this.open(id) };
    return el('li', { class: 'card', 'data-id': id },
      el('div', { class: 'head' },
        el('button', { class: 'plain', type: 'button', on }), el('span', { class: 'when' }), el('span', { class: 'tools' })),
      el('p', { class: 'what' }), el('p', { class: 'why' }), el('div', { class: 'meters' }), el('div', { class: 'chips' }));
  }

  #fillGranted(card, transition, now) {
    const { document, granted, until, fraction } = transition;
    const [head, what, why, meters, chips] = card.children;
    card.className = `card ${document.state === 'preparing' ? 'prepares' : 'runs'}`;
    setText(head.children[0], who(document));
    setText(head.children[1], `for ${duration(now - (granted ?? now))}`);
    setText(what, `It has locked ${lockWords(document)}, to ${operationWords(document.operation)}. It ${holdWords(transition)}.`);
    setHidden(why, true);
    const shown = [];
    if (until.lease !== undefined) {
      const words = left => `It loses the lock in ${left} unless its owner renews it`;
      shown.push({ name: 'lease', ...runningOut(until.lease - now, document.leaseSeconds, words) });
    }
    if (document.state === 'preparing' && until.ready !== undefined) {
      const then = document.onUnready === 'abort' ? 'it gives up' : 'it starts without those that are missing';
      shown.push({ name: 'ready', ...runningOut(until.ready - now, document.readySeconds, left => `In ${left} ${then}`) });
    }
    if (document.interactive && fraction !== null) {
      shown.push({ name: 'finger', text: `The finger is at ${Math.round(fraction * 100)} %`, part: fraction, isLow: false });
    }
    fillMeters(meters, shown);
    fillChips(chips, [
      ...(document.participants ?? []).map(participantChip),
      ...(document.waiting ? [waitingChip(document.waiting)] : []),
    ]);
    this.#fillTools(head.children[2], transition, { end: 'End it', cancel: 'Cancel it', revoke: 'Revoke…' });
  }

  #fillQueued(card, transition, index, model, now) {
    const { document, requested, until, fraction } = transition;
    const [head, what, why, meters, chips] = card.children;
    card.className = 'card waits';
    card.blockers = directBlockers(transition, model);
    setText(head.children[0], `${index + 1}. ${who(document)}`);
    setText(head.children[1], `waited ${duration(now - requested)}`);
    setText(what, `It wants to ${operationWords(document.operation)}. ${whyItWaits(transition, model)}`);
    setHidden(why, true);
    const shown = [];
    if (until.queue !== undefined) {
      shown.push({ name: 'queue', ...runningOut(until.queue - now, document.queueSeconds, left => `It gives up in ${left}`) });
    }
    if (until.ticket !== undefined && until.ticket - now < SILENCE) {
      const words = left => `Its owner is silent, and loses the place in ${left}`;
      shown.push({ name: 'ticket', ...runningOut(until.ticket - now, document.ticketSeconds, words) });
    }
    if (document.interactive && fraction !== null) {
      shown.push({ name: 'finger', text: `The finger is at ${Math.round(fraction * 100)} % already`, part: fraction, isLow: false });
    }
    fillMeters(meters, shown);
    fillChips(chips, [
      ...(document.coalesce ? [{ text: `only one of “${document.coalesce.key}” waits`, class: '' }] : []),
      ...(document.endRequested ? [{ text: 'completes at its turn, without its owner', class: '' }] : []),
    ]);
    this.#fillTools(head.children[2], transition, { cancel: 'Give it up', revoke: 'Revoke…' });
  }

  #fillEnded(card, { document, requested, granted, ended }, now) {
    const [head, what, why] = card.children;
    card.className = `card ${hasFailed(document) ? 'failed' : document.outcome}`;
    setText(head.children[0], who(document));
    setText(head.children[1], `${duration(now - (ended ?? now))} ago`);
    if (!what.firstChild) what.append(el('span', { class: 'outcome' }), el('span', { class: 'calm' }));
    setText(what.children[0], outcomeWord(document));
    setText(what.children[1], ` · ${document.operation?.type ?? 'no operation'} · ${spent(requested, granted, ended)}`);
    setText(why, endWords(document));
    card.title = ended ? clockTime(ended) : '';
  }

  #fillTools(tools, transition, names) {
    const kinds = Object.keys(names).filter(kind => this.can(kind, transition));
    keep(tools, kinds, kind => kind, kind => el('button', {
      type: 'button', text: names[kind], 'aria-label': `${names[kind].replace('…', '')}: ${who(transition.document)}`,
      on: { click: () => this.act(kind, transition) },
    }), () => {});
  }

  #come(id) {
    if (id === this.#near) return;
    this.#near = id;
    this.#wire();
  }

  /** Draws a line from each ticket to those that it waits for directly. */
  #wire() {
    const lanes = byId('lanes');
    const wires = /** @type {any} */ (byId('wires'));
    wires.replaceChildren();
    if (getComputedStyle(wires).display === 'none') return;
    const frame = lanes.getBoundingClientRect();
    const all = [...lanes.querySelectorAll('#running-cards > *, #waiting-cards > *')];
    const cards = new Map(all.map(card => [card.dataset.id, card]));
    for (const card of lanes.querySelectorAll('#waiting-cards > *')) {
      const from = edge(card, frame);
      for (const id of from ? card.blockers : []) {
        const other = cards.get(id);
        const to = other && edge(other, frame);
        if (!to) continue;
        const isAbove = other.parentElement === card.parentElement;
        const [x1, y1, x2, y2] = [from.left, from.y, isAbove ? to.left : to.right, to.y + (isAbove ? 4 : 0)];
        const bend = isAbove ? -14 : (x2 - x1) / 2;
        const path = document.createElementNS(SVG, 'path');
        path.setAttribute('d', `M${x1} ${y1} C${x1 + bend} ${y1} ${isAbove ? x2 + bend : x2 - bend} ${y2} ${x2} ${y2}`);
        path.classList.toggle('near', card.dataset.id === this.#near);
        const end = document.createElementNS(SVG, 'circle');
        for (const [name, value] of Object.entries({ cx: x2, cy: y2, r: 3 })) end.setAttribute(name, String(value));
        wires.append(path, end);
      }
    }
  }
}

const keyOf = transition => transition.id;

const spent = (requested, granted, ended) => {
  const waited = (granted ?? ended) - requested;
  const wait = waited > 20 ? `waited ${duration(waited)}, ` : '';
  return granted === null ? `${wait}never had the lock` : `${wait}held the lock for ${duration(ended - granted)}`;
};

function sentence(count, one, many, rest, known, shown) {
  const hidden = count - Math.min(known, shown);
  const first = `${count.toLocaleString('en')} ${count === 1 ? one : many} ${rest}.`;
  return hidden > 0 ? `${first} ${hidden.toLocaleString('en')} of them are not shown.` : first;
}

/** The blockers that are known, in the order of the document. */
function blockersOf({ document }, model) {
  return (document.blockers ?? []).map(id => model.unfinished.get(id)).filter(Boolean);
}

/** The blockers that it waits for even if those that these wait for themselves are left out. */
function directBlockers(transition, model) {
  const blockers = blockersOf(transition, model);
  const indirect = new Set(blockers.flatMap(each => (each.document.state === 'queued' ? each.document.blockers : [])));
  return blockers.map(keyOf).filter(id => !indirect.has(id));
}

/** @param {Transition} transition @param {SceneModel} model */
export function whyItWaits(transition, model) {
  const direct = new Set(directBlockers(transition, model));
  const blockers = blockersOf(transition, model).filter(each => direct.has(each.id));
  if (!blockers.length) return 'Its turn has come; it is about to be granted.';
  return waitWords(transition.document, blockers.map(each => each.document), (a, b) => model.hierarchy.overlaps(a, b));
}

/**
 * A meter of what runs out.
 * @param {number} left milliseconds @param {number} seconds the whole @param {(left: string) => string} words
 */
function runningOut(left, seconds, words) {
  const part = left / (seconds * 1000);
  return { text: words(duration(left)), part, isLow: part < LOW };
}

const waitingChip = count => ({ text: `${plural(count, 'transition')} wait${count === 1 ? 's' : ''} for it`, class: 'waits' });

function participantChip({ client, required, state }) {
  if (state === 'ready') return { text: `✓ ${client} is ready`, class: 'good' };
  if (state === 'gone') return { text: `${client} is gone`, class: '' };
  return required ? { text: `${client} is missing`, class: 'bad' } : { text: `${client} may join`, class: '' };
}

function fillMeters(container, meters) {
  keep(container, meters, each => each.name, each => el('div', { class: `meter ${each.name}` },
    el('span', {}), el('div', { class: 'track' }, el('div', { class: 'fill' }))), (element, each) => {
    setText(element.children[0], each.text);
    element.classList.toggle('low', each.isLow);
    element.children[1].firstChild.style.transform = `scaleX(${Math.max(0, Math.min(1, each.part))})`;
  });
  setHidden(container, !meters.length);
}

function fillChips(container, chips) {
  const make = ({ text, class: kind }) => el('span', { text, class: `chip ${kind}`, title: text });
  keep(container, chips, each => each.text, make, () => {});
}

/** Where a wire may end at a card, unless it is scrolled out of its lane. */
function edge(card, frame) {
  const box = card.getBoundingClientRect();
  const lane = card.closest('.lane').getBoundingClientRect();
  const y = box.top + Math.min(16, box.height / 2);
  if (y < lane.top || y > lane.bottom) return null;
  return { left: box.left - frame.left, right: box.right - frame.left, y: y - frame.top };
}
