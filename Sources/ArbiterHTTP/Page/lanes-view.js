// @ts-check
// Draws the lanes: who holds a lock, who waits and behind whom, and what ended.

import { Blockers } from './blockers.js';
import { byId, el, keep, setHidden, setText } from './dom.js';
import { ENDED_SHOWN, RUNNING_SHOWN, WAITING_SHOWN } from './limits.js';
import { inWords, who } from './names.js';
import { operationTypes, operationWords } from './operations.js';
import { WiresView } from './wires-view.js';
import {
  clockTime, duration, endWords, hasFailed, holdWords, interrupterOf, isEndKnown, lockWords, lossOf, lossWords, outcomeWord,
} from './words.js';

/** A lease of which less than this part is left is shown as running out. */
const LOW = 0.3;
/** The silence of a ticket's owner is shown when so much is left of it, in milliseconds. */
const SILENCE = 60_000;

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

export class LanesView {
  #wires = new WiresView();
  #lanes = [...byId('lanes').querySelectorAll('.lane')];

  /**
   * @param {{open: (id: string) => void, act: (kind: string, transition: Transition) => void,
   *   can: (kind: string, transition: Transition) => boolean, isLive: () => boolean}} options
   */
  constructor({ open, act, can, isLive }) {
    this.open = open;
    this.act = act;
    this.can = can;
    this.isLive = isLive;
    for (const lane of this.#lanes) {
      lane.addEventListener('scroll', () => this.#moved());
      lane.querySelector('.below button').addEventListener('click', () => {
        lane.scrollBy({ top: lane.clientHeight * 0.8 });
        lane.focus();
      });
    }
    new ResizeObserver(() => this.#moved()).observe(byId('lanes'));
  }

  /** @param {SceneModel} model */
  draw(model) {
    const now = model.now();
    const { granted, queued } = model;
    const ended = model.ended.slice(-ENDED_SHOWN).reverse();
    keep(byId('running-cards'), granted.slice(0, RUNNING_SHOWN), keyOf, each => this.#make(each),
      (card, each) => this.#fillGranted(card, each, now));
    const blockers = new Blockers(model);
    const waiting = queued.slice(0, WAITING_SHOWN);
    keep(byId('waiting-cards'), waiting, keyOf, each => this.#make(each),
      (card, each, index) => this.#fillQueued(card, each, index, blockers, now));
    keep(byId('ended-cards'), ended, keyOf, each => this.#make(each), (card, each) => this.#fillEnded(card, each, now));
    const { running: grants, queued: tickets } = model.counts;
    setText(byId('running-note'), grants ? sentence(grants, 'transition has', 'transitions have', 'a lock', granted.length, RUNNING_SHOWN)
      : model.presence === 'known' ? 'Nobody. Any transition may start.' : 'Nobody.');
    setText(byId('waiting-note'), tickets ? sentence(tickets, 'ticket waits', 'tickets wait', 'in order', queued.length, WAITING_SHOWN)
      : 'Nobody.');
    setHidden(byId('waiting-arrows'), !tickets);
    setText(byId('ended-note'), ended.length ? 'The newest first.' : 'Nothing yet.');
    this.#wires.draw(new Map(waiting.map(each => [each.id, blockers.direct(each).map(keyOf)])));
    this.#countBelow();
  }

  /** The cards are elsewhere than they were. */
  #moved() {
    this.#wires.draw();
    this.#countBelow();
  }

  /** Says at the lower edge of each lane how many of its cards go on below. */
  #countBelow() {
    for (const lane of this.#lanes) {
      const end = lane.getBoundingClientRect().bottom;
      const count = [...lane.querySelectorAll('.card')].filter(card => card.getBoundingClientRect().bottom > end + 1).length;
      const below = lane.querySelector('.below');
      setText(below.firstElementChild, `▾ ${count} more below`);
      setHidden(below, !count);
    }
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
    const loss = lossOf(transition);
    const [head, what, why, meters, chips] = card.children;
    card.className = `card ${document.state === 'preparing' ? 'prepares' : 'runs'}`;
    setText(head.children[0], who(document));
    setText(head.children[1], `for ${duration(now - (granted ?? now))}`);
    setText(what, `It has locked ${lockWords(document)}, to ${operationWords(document)}. It ${holdWords(transition)}.`);
    setHidden(why, true);
    const shown = [];
    if (Number.isFinite(loss.at)) {
      const [name, shape, seconds] = loss.isFinal ? ['hold', 'clock', document.maxHoldSeconds]
        : loss.isClaim ? ['claim', 'clock', (loss.at - (granted ?? now)) / 1000] : ['lease', 'strip', document.leaseSeconds];
      shown.push({ name, shape, ...runningOut(loss.at - now, seconds, () => lossWords(transition, now)) });
    }
    if (document.state === 'preparing' && until.ready !== undefined) {
      const then = document.onUnready === 'abort' ? 'it gives up' : 'it starts without those that are missing';
      shown.push({ name: 'ready', shape: 'clock', ...runningOut(until.ready - now, document.readySeconds, left => `In ${left} ${then}`) });
    }
    if (until.grace !== undefined && document.interruption) {
      const words = left => `It ends for ${interrupterOf(document)} in ${left}`;
      shown.push({ name: 'grace', shape: 'clock', ...runningOut(until.grace - now, LONGEST_GRACE, words) });
    }
    if (document.interactive && fraction !== null) {
      shown.push({ name: 'finger', shape: 'knob', text: `The finger is at ${Math.round(fraction * 100)} %`, part: fraction, isLow: false });
    }
    fillMeters(meters, shown);
    fillChips(chips, [
      ...priorityChips(document),
      ...(document.endRequested ? [{ text: 'completes by itself then', class: '' }] : []),
      ...onceEach((document.participants ?? []).map(participantChip)),
      ...(document.waiting ? [waitingChip(document.waiting)] : []),
    ]);
    this.#fillTools(head.children[2], transition, { end: 'End it', cancel: 'Cancel it', revoke: 'Revoke…' });
  }

  #fillQueued(card, transition, index, blockers, now) {
    const { document, requested, until, fraction } = transition;
    const [head, what, why, meters, chips] = card.children;
    card.className = 'card waits';
    setText(head.children[0], `${index + 1}.\u00a0${who(document)}`);
    setText(head.children[1], `for ${duration(now - requested)}`);
    setText(what, `It wants to ${operationWords(document)}. ${blockers.words(transition)}`);
    setHidden(why, true);
    const shown = [];
    if (until.queue !== undefined) {
      shown.push({ name: 'queue', shape: 'clock', ...runningOut(until.queue - now, document.queueSeconds, left => `It gives up in ${left}`) });
    }
    if (until.ticket !== undefined && until.ticket - now < SILENCE) {
      const words = left => `Its owner is silent, and loses the place in ${left}`;
      shown.push({ name: 'ticket', shape: 'strip', ...runningOut(until.ticket - now, document.ticketSeconds, words) });
    }
    if (document.interactive && fraction !== null) {
      shown.push({ name: 'finger', shape: 'knob', text: `The finger is at ${Math.round(fraction * 100)} % already`, part: fraction, isLow: false });
    }
    fillMeters(meters, shown);
    fillChips(chips, [
      ...priorityChips(document),
      ...(document.coalesce ? [{ text: `only one of “${inWords(document.coalesce.key)}” waits`, class: '' }] : []),
      ...(document.endRequested ? [{ text: 'completes at its turn, without its owner', class: '' }] : []),
    ]);
    this.#fillTools(head.children[2], transition, { cancel: 'Give it up', revoke: 'Revoke…' });
  }

  #fillEnded(card, { document, requested, granted, ended }, now) {
    const [head, what, why] = card.children;
    card.className = `card ${hasFailed(document) ? 'failed' : document.outcome}`;
    setText(head.children[0], who(document));
    setText(head.children[1], isEndKnown(document) ? `${duration(now - (ended ?? now))} ago` : '');
    if (!what.firstChild) what.append(el('span', { class: 'outcome' }), el('span', { class: 'calm' }));
    const spent = isEndKnown(document) ? ` · ${spentWords(requested, granted, ended)}` : '';
    setText(what.children[0], outcomeWord(document));
    setText(what.children[1], ` · ${operationTypes(document)}${spent}`);
    setText(why, endWords(document));
    card.title = ended && isEndKnown(document) ? clockTime(ended) : '';
  }

  #fillTools(tools, transition, names) {
    const kinds = Object.keys(names).filter(kind => this.can(kind, transition));
    keep(tools, kinds, kind => kind, kind => el('button', {
      type: 'button', text: names[kind], 'aria-label': `${names[kind].replace('…', '')}: ${who(transition.document)}`,
      on: { click: () => this.act(kind, transition) },
    }), button => { button.disabled = !this.isLive(); });
  }
}

const keyOf = transition => transition.id;

const spentWords = (requested, granted, ended) => {
  const waited = (granted ?? ended) - requested;
  const wait = waited > 20 ? `waited ${duration(waited)}, ` : '';
  return granted === null ? `${wait}never had the lock` : `${wait}held the lock for ${duration(ended - granted)}`;
};

function sentence(count, one, many, rest, known, shown) {
  const hidden = count - Math.min(known, shown);
  const first = `${count.toLocaleString('en')} ${count === 1 ? one : many} ${rest}.`;
  if (hidden <= 0) return first;
  return `${first} ${hidden.toLocaleString('en')} of them ${hidden === 1 ? 'is' : 'are'} not shown.`;
}

/**
 * A meter of what runs out: a strip for what is renewed again and again, a clock for what comes once.
 * @param {number} left milliseconds @param {number} seconds the whole @param {(left: string) => string} words
 */
function runningOut(left, seconds, words) {
  const part = left / (seconds * 1000);
  // What has run out here, and has not ended yet, is only not known well enough.
  return { text: words(duration(left)), part, isLow: part > 0 && part < LOW };
}

/** The daemon counts to 100. */
const COUNTED = 100;
const waitingChip = count => ({
  text: count >= COUNTED ? `${COUNTED} tickets or more are behind it`
    : `${count} ticket${count === 1 ? ' is' : 's are'} behind it`,
  class: 'waits',
});

/** The most that a transition may go on when it is interrupted, in seconds. */
const LONGEST_GRACE = 10;

const priorityChips = ({ priority }) => (priority ? [{ text: `priority ${priority}`, class: '' }] : []);

/** The chips without those that say the same as one before: a client may guard several controllers. */
const onceEach = chips => [...new Map(chips.map(chip => [chip.text, chip])).values()];

function participantChip({ client: name, required, state, guard }) {
  const client = inWords(name);
  if (guard && state === 'ready') return { text: `✓ ${client} lets it go`, class: 'good' };
  if (guard && state === 'waiting') return { text: `${client}, who guards it, is asked`, class: 'bad' };
  if (state === 'ready') return { text: `✓ ${client} is ready`, class: 'good' };
  if (state === 'gone') return { text: `${client} is gone`, class: '' };
  return required ? { text: `${client} is missing`, class: 'bad' } : { text: `${client} may join`, class: '' };
}

function fillMeters(container, meters) {
  const make = ({ shape }) => el('div', { class: `meter ${shape}` }, el('span', { class: 'dial' }), el('span'));
  keep(container, meters, each => each.name, make, (element, { text, part, isLow }) => {
    setText(element.lastChild, text);
    element.classList.toggle('low', isLow);
    element.style.setProperty('--part', String(Math.max(0, Math.min(1, part))));
  });
  setHidden(container, !meters.length);
}

function fillChips(container, chips) {
  const make = ({ text, class: kind }) => el('span', { text, class: `chip ${kind}`, title: text });
  keep(container, chips, each => each.text, make, () => {});
}
