// @ts-check
// What the page says: to everybody in a message, and in words to those who do not see it.

import { byId, el, setText } from './dom.js';
import { ANNOUNCE_EVERY, TOLD_FOR } from './limits.js';
import { who } from './names.js';
import { endWords, hasFailed, holdWords, outcomeWord } from './words.js';

export class Messages {
  /** The message that is shown. */
  #told = '';
  #toldTimer = 0;
  /** What is to be said to a screen reader. @type {string[]} */
  #news = [];
  #newsTimer = 0;

  /**
   * Says something to everybody, until it is hidden, something else is done or said, or much time has passed.
   * @param {string} text @param {{text: string, act: () => void} | null} choice a button beside it
   */
  tell(text, choice = null) {
    clearTimeout(this.#toldTimer);
    this.#toldTimer = window.setTimeout(() => this.untell(), TOLD_FOR);
    this.#told = text;
    const button = (name, act, more = {}) => el('button', { type: 'button', text: name, ...more, on: { click: () => {
      this.untell();
      act();
    } } });
    byId('told').replaceChildren(
      el('span', { text }), ...(choice ? [button(choice.text, choice.act)] : []),
      button('Hide', () => {}, { 'aria-label': 'Hide the message' }));
  }

  /** Takes the message back; with a text, only that one. @param {string} text */
  untell(text = this.#told) {
    if (text !== this.#told) return;
    clearTimeout(this.#toldTimer);
    this.#told = '';
    byId('told').replaceChildren();
  }

  /** Says something to those who do not see the page. @param {string} text */
  say(text) {
    setText(byId('said'), text);
  }

  /** Says soon that a transition runs, or has ended. @param {string} kind @param {import('./model.js').Transition} transition */
  notice(kind, transition) {
    const { document } = transition;
    const why = hasFailed(document) ? ` ${endWords(document)}` : '';
    if (kind === 'running') this.#news.push(`${who(document)} ${holdWords(transition)}.`);
    else if (kind === 'ended') this.#news.push(`${who(document)} ended, ${outcomeWord(document).toLowerCase()}.${why}`);
    else return;
    if (this.#news.length > 1000) this.#news.splice(0, 500);
    this.#newsTimer ||= window.setTimeout(() => {
      const news = this.#news.splice(0);
      this.#newsTimer = 0;
      this.say(news.length <= 3 ? news.join(' ') : `${news.length} grants and ends. The last: ${news.at(-1)}`);
    }, ANNOUNCE_EVERY);
  }
}
