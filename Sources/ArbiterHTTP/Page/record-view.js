// @ts-check
// Shows one transition in full: in words, in times, as the document, and as the curl command that asks for the same.

import { Blockers } from './blockers.js';
import { byId, el, setText } from './dom.js';
import { escaped, inWords, list, who } from './names.js';
import { operationWords } from './operations.js';
import { clockTime, duration, endWords, holdWords, isEndKnown, lockWords, outcomeWord } from './words.js';

/** The members of a request, which a transition shows as they were asked for. */
const ASKED = [
  'client', 'scene', 'scope', 'mode', 'priority', 'operation', 'operations', 'expect', 'animation', 'interactive', 'policy', 'participants',
  'readySeconds', 'onUnready', 'leaseSeconds', 'maxHoldSeconds', 'onExpiry', 'ticketSeconds', 'queueSeconds', 'coalesce',
  'whenBusy', 'interruptible', 'unmet', 'ignoreGuards', 'note',
];
/** The members of an animation that a request may have. */
const ANIMATION = ['type', 'duration', 'curve', 'completionSpeed'];

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

export class RecordView {
  #id = null;
  /** The whole document, once it has been read. */
  #whole = null;
  #isReading = false;
  #opener = null;

  /**
   * @param {{read: (id: string) => Promise<any>, changed: () => void, origin: () => string | null}} options
   *   `origin` is that of the daemon, if it is known
   */
  constructor({ read, changed, origin }) {
    this.origin = origin;
    this.read = read;
    this.changed = changed;
    byId('record-close').addEventListener('click', () => this.close());
    byId('record').addEventListener('keydown', event => { if (event.key === 'Escape') this.close(); });
  }

  /** @param {string} id */
  async open(id) {
    if (byId('record').hidden) this.#opener = document.activeElement;
    this.#id = id;
    this.#whole = null;
    this.#isReading = true;
    byId('record-body').replaceChildren();
    byId('record').hidden = false;
    this.changed();
    byId('record-title').focus();
    const whole = await this.read(id).catch(() => null);
    if (this.#id !== id) return;
    this.#whole = whole;
    this.#isReading = false;
    this.changed();
  }

  close() {
    this.#id = null;
    byId('record').hidden = true;
    if (this.#opener?.isConnected) this.#opener.focus();
    else byId('now').focus();
    this.#opener = null;
  }

  /** @param {SceneModel} model */
  draw(model) {
    if (this.#id === null) return;
    const transition = model.transition(this.#id);
    const document = transition?.document ?? this.#whole;
    if (!document) {
      setText(byId('record-title'), this.#id);
      const text = this.#isReading ? 'It is being read.' : 'This transition is not known here any more.';
      byId('record-body').replaceChildren(el('p', { text }));
      return;
    }
    setText(byId('record-title'), document.client?.trim() ? escaped(document.client) : who(document));
    const body = byId('record-body');
    if (!body.querySelector('dl')) body.replaceChildren(...this.#make());
    const [lead, facts, , curl, , source] = body.children;
    const now = model.now();
    setText(lead, transition ? leadWords(transition, model, now) : endWords(document));
    const known = new Map(transition ? factsOf(transition, model, now) : [['Id', document.id]]);
    if (known.size * 2 !== facts.children.length) {
      facts.replaceChildren(...[...known.keys()].flatMap(name => [el('dt', { text: name }), el('dd')]));
    }
    [...known].forEach(([name, text], index) => {
      setText(facts.children[2 * index], name);
      setText(facts.children[2 * index + 1], text);
    });
    const shown = this.#whole?.state === document.state ? this.#whole : document;
    setText(curl, escaped(curlOf(this.#whole ?? document, this.origin())));
    setText(source.querySelector('pre'), escaped(JSON.stringify(shown, null, 2)));
  }

  #make() {
    const said = el('span', { role: 'status' });
    const curl = el('pre', { tabindex: '0', role: 'group', 'aria-label': 'The request as curl' });
    const copy = async text => {
      const isCopied = await navigator.clipboard.writeText(text).then(() => true, () => false);
      if (!isCopied) getSelection()?.selectAllChildren(curl);
      setText(said, isCopied ? ' Copied.' : ' Not allowed by the browser. It is selected: copy it with the keyboard.');
    };
    return [
      el('p', { class: 'lead' }), el('dl'), el('h3', { text: 'The same request as curl' }), curl,
      el('div', { class: 'tools' },
        el('button', { type: 'button', text: 'Copy as curl', on: { click: () => copy(curl.textContent) } }),
        el('button', { type: 'button', text: 'Copy the id', on: { click: () => copy(String(this.#id)) } }), said),
      el('details', {}, el('summary', { text: 'The whole record' }),
        el('pre', { tabindex: '0', role: 'group', 'aria-label': 'The whole record' })),
    ];
  }
}

/** @param {Transition} transition @param {SceneModel} model */
function leadWords(transition, model, now) {
  const { document, granted, requested } = transition;
  if (document.state === 'ended') return `${outcomeWord(document)}. ${endWords(document)}`;
  if (document.state === 'queued') return `It has waited ${duration(now - requested)}. ${new Blockers(model).words(transition)}`;
  return `It has locked ${lockWords(document)}, and ${holdWords(transition)}, for ${duration(now - (granted ?? now))} now.`;
}

/** @returns {[string, string][]} */
function factsOf(transition, model, now) {
  const { document, requested, granted, running, ended } = transition;
  /** @type {[string, string | null | undefined | false][]} */
  const facts = [
    ['Wants to', operationWords(document)],
    ['Note', document.note && inWords(document.note)],
    ['Locks', lockWords(document)],
    ['Asked at', clockTime(requested) + revisionWords(document)],
    ['Granted at', granted !== null && `${clockTime(granted)}, after ${duration(granted - requested)}`],
    ['Ran from', running !== null && running !== granted
      && `${clockTime(running)}, after ${duration(running - (granted ?? running))} of preparing`],
    ['Ended at', ended !== null && isEndKnown(document) && `${clockTime(ended)}, after ${duration(ended - (granted ?? requested))}`],
    ['Waits for', document.state === 'queued' && (unmetWords(document) ?? blockersWords(transition, model))],
    ['Participants', document.participants?.map(participantWords).join(', ')],
    ['Fence', document.fence?.toString()],
    ['Known as', document.principal && inWords(document.principal)],
    ['Session', document.session],
    ['Superseded by', document.supersededBy && nameOf(model, document.supersededBy)],
    ['Id', document.id],
  ];
  return /** @type {[string, string][]} */ (facts.filter(([, text]) => text));
}

const participantWords = ({ client, state, guard }) =>
  `${inWords(client)} (${guard ? `guards what it removes, ${inWords(state)}` : inWords(state)})`;

const revisionWords = ({ requestedRevision: number }) => (number === undefined ? '' : `, in revision ${number} of the tree`);

/** What a ticket waits for that is set aside. */
const unmetWords = ({ unmetExpectation: unmet }) => (unmet ? inWords(unmet.expected) : null);

/** Everything that a ticket waits for, by name. @param {Transition} ticket @param {SceneModel} model */
function blockersWords(ticket, model) {
  const blockers = new Blockers(model);
  const names = list(blockers.all(ticket).map(({ id }) => nameOf(model, id)));
  return blockers.isWhole(ticket) ? names : `${names}, as far as is known here`;
}

function nameOf(model, id) {
  const other = model.transition(id);
  return other ? `${who(other.document)} (${id})` : inWords(id);
}

/** The command that asks for the same again; of which daemon, the reader has to know if it is not known here. */
function curlOf(document, origin) {
  /** @type {Record<string, any>} */
  const body = {};
  for (const name of ASKED) if (document[name] !== undefined) body[name] = document[name];
  if (body.animation) {
    body.animation = Object.fromEntries(Object.entries(body.animation).filter(([name]) => ANIMATION.includes(name)));
  }
  if (document.participants) {
    // Those who guard what it removes were not asked for.
    body.participants = document.participants.filter(each => !each.guard).map(({ client, required, mayVeto }) => (
      { client, required, ...(mayVeto ? { mayVeto } : {}) }));
    if (!body.participants.length) for (const name of ['participants', 'readySeconds', 'onUnready']) delete body[name];
  }
  // Defaults of the wire need not be said again.
  if (body.scope === 'scene') delete body.scope;
  const call = document.grantedAt === document.requestedAt && document.state !== 'queued' ? 'start' : 'serialize';
  return `curl -s --json ${quoted(JSON.stringify(body))} ${origin === null ? `"$ARBITER_URL/transitions/${call}"` : quoted(`${origin}/transitions/${call}`)}`;
}

/** A word of a shell, whatever is in it. */
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;
