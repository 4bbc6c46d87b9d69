// @ts-check
// Says in sentences who holds the lock, who waits, for whom and for how long, and why the last one failed.

import { Blockers } from './blockers.js';
import { byId, setHidden, setText } from './dom.js';
import { inWords, list, who } from './names.js';
import { operationWords } from './operations.js';
import {
  absenceWords, duration, endWords, hasFailed, holdWords, isEndKnown, lockWords, lossOf, lossWords, outcomeWord, plural,
} from './words.js';

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */
/** A line: whose it is, and what is said of it. @typedef {{transition: Transition | null, text: string}} Line */

export class NowView {
  /** @param {{open: (id: string) => void}} options */
  constructor({ open }) {
    for (const name of ['holder', 'next', 'failure']) {
      byId(`now-${name}`).firstElementChild.addEventListener('click', event => open(event.currentTarget.dataset.id));
    }
  }

  /** @param {SceneModel} model @param {boolean} isWithheld whether nothing is granted */
  draw(model, isWithheld) {
    fill('holder', holder(model, isWithheld));
    fill('next', next(model));
    fill('failure', failure(model));
  }
}

/** @param {string} name @param {Line} line */
function fill(name, { transition, text }) {
  const [button, rest] = byId(`now-${name}`).children;
  setHidden(button, !transition);
  if (transition) {
    button.dataset.id = transition.id;
    setText(button, who(transition.document));
  }
  setText(rest, transition ? ` ${text}` : text);
}

/** @param {SceneModel} model @param {boolean} isWithheld @returns {Line} */
function holder(model, isWithheld) {
  const now = model.now();
  const { granted } = model;
  const [first] = granted;
  if (!first && model.presence !== 'known') return { transition: null, text: absenceWords(model) };
  if (!first) {
    const newest = model.ended.at(-1);
    const before = newest ? ` The last one was ${who(newest.document)}${isEndKnown(newest.document) ? `, ${ago(newest, model)}` : ''}.` : '';
    const soon = isWithheld ? '' : ' The next transition may start at once.';
    return { transition: null, text: `Nobody holds a lock in ${inWords(model.name)}.${soon}${before}` };
  }
  const { document } = first;
  const left = Number.isFinite(lossOf(first).at) ? ` ${lossWords(first, now)}.` : '';
  const others = granted.slice(1).map(each => `${who(each.document)} (${lockWords(each.document)})`);
  const beside = others.length ? ` At the same time, others hold other locks: ${list(others, 3)}.` : '';
  const lock = `has held the lock of ${lockWords(document)} for ${duration(now - (first.granted ?? now))}`;
  const text = `${lock}, to ${operationWords(document)}. It ${holdWords(first)}.${left}${beside}`;
  return { transition: first, text };
}

/** @param {SceneModel} model @returns {Line} */
function next(model) {
  const { queued, counts } = model;
  const [first] = queued;
  if (!first) return { transition: null, text: isHidden(model) ? 'Not known.' : 'Nobody waits.' };
  const more = Math.max(counts.queued, queued.length) - 1;
  const rest = more ? ` After it ${plural(more, 'more ticket')} wait${more === 1 ? 's' : ''}.` : '';
  const text = `has waited ${duration(model.now() - first.requested)}, to ${operationWords(first.document)}.`;
  return { transition: first, text: `${text} ${new Blockers(model).words(first)}${rest}` };
}

/** @param {SceneModel} model @returns {Line} */
function failure(model) {
  const last = model.ended.findLast(each => hasFailed(each.document));
  if (!last && isHidden(model)) return { transition: null, text: 'Not known.' };
  if (!last) return { transition: null, text: model.ended.length ? 'None of those that ended has failed.' : 'Nothing has ended yet.' };
  const { document } = last;
  const when = isEndKnown(document) ? ` ${ago(last, model)}` : '';
  const passive = ['rejected', 'revoked'].includes(document.outcome) ? 'was ' : '';
  return { transition: last, text: `${passive}${outcomeWord(document).toLowerCase()}${when}. ${endWords(document)}` };
}

const isHidden = ({ presence }) => presence === 'loading' || presence === 'forbidden';

const ago = ({ ended }, model) => `${duration(model.now() - (ended ?? 0))} ago`;
