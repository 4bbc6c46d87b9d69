// @ts-check
// The dialog that asks for the lock.

import { byId, el, setHidden, setText } from './dom.js';
import { CHECK_AFTER, CHECK_AGAIN_AFTER } from './limits.js';
import { inWords, list, listOf } from './names.js';
import { LABELS, OPERATIONS } from './operations.js';
import { verdict } from './verdict.js';

/** What can be chosen in the list, and what it is called there. */
const OFFERED = [
  ['none', 'none: an animation that leaves the tree as it is'],
  ...Object.entries(OPERATIONS).flatMap(([type, { title }]) => (title ? [[type, title]] : [])),
];

/** What has to be said for an operation. @param {string} type */
const operandsOf = type => OPERATIONS[type]?.operands ?? [];

export class StartDialog {
  /** What is checked now; an answer to anything else comes too late. */
  #check = 0;
  #timer = 0;

  /**
   * @param {{live: any, scene: () => string, name: (id: string) => string,
   *   ask: (options: any, isQueueing: boolean) => void}} options `name` is whose a transition is
   */
  constructor({ live, scene, name, ask }) {
    this.live = live;
    this.scene = scene;
    this.name = name;
    this.ask = ask;
    byId('start-cancel').addEventListener('click', () => byId('start').close());
    byId('start-type').append(...OFFERED.map(([value, text]) => el('option', { value, text })));
    byId('start-type').addEventListener('change', () => this.#fillOperands());
    byId('start-scope').addEventListener('change', () => showControllers());
    byId('start-form').addEventListener('input', () => {
      byId('start-go').disabled = true;
      this.#checkIn(CHECK_AFTER);
    });
    byId('start-form').addEventListener('submit', event => {
      event.preventDefault();
      this.#submit();
    });
  }

  /** What was typed before is still there. */
  open() {
    setText(byId('start-title'), `Start a transition in ${inWords(this.scene())}`);
    byId('start-go').disabled = true;
    byId('start').showModal();
    showControllers();
    this.#fillOperands();
  }

  /** Something has happened, which may change what would come of it. */
  changed() {
    if (byId('start').open && !this.#timer) this.#checkIn(CHECK_AGAIN_AFTER);
  }

  #checkIn(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#checkNow(), milliseconds);
  }

  #fillOperands() {
    const type = byId('start-type').value;
    const [ofOperation] = byId('start-scope').options;
    // Without an operation there is nothing that it touches.
    ofOperation.disabled = type === 'none';
    if (byId('start-scope').value !== 'controllers') byId('start-scope').value = type === 'none' ? 'scene' : 'operation';
    const typed = new Map([...byId('start-operands').querySelectorAll('input')].map(({ name, value }) => [name, value]));
    byId('start-operands').replaceChildren(...operandsOf(type).flatMap(name => [
      el('label', { for: `start-${name}`, text: LABELS[name] }),
      el('input', { id: `start-${name}`, name, required: true, autocomplete: 'off', spellcheck: 'false', value: typed.get(name) }),
    ]));
    this.#checkNow();
  }

  /** What is asked for, or null while something is missing. */
  #asked() {
    const type = byId('start-type').value;
    const operands = Object.fromEntries(operandsOf(type).map(name => [name, byId(`start-${name}`).value.trim()]));
    const scope = byId('start-scope').value;
    const ids = byId('start-controllers').value.split(',').map(id => id.trim()).filter(Boolean);
    const client = byId('start-client').value.trim();
    if (!client || Object.values(operands).some(value => !value) || (scope === 'controllers' && !ids.length)) return null;
    return {
      client, leaseSeconds: Number(byId('start-lease').value),
      ...(type === 'none' ? {} : { operation: { type, ...operands } }),
      scope: scope === 'controllers' ? ids : scope,
    };
  }

  get #isQueueing() {
    return byId('start-queue').value === 'wait';
  }

  async #checkNow() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const asked = this.#asked();
    const check = this.#check += 1;
    if (!asked) {
      this.#say('', 'Something is missing above.');
      return;
    }
    try {
      const isQueueing = this.#isQueueing;
      const path = `/transitions/${isQueueing ? 'serialize' : 'start'}?dryRun=true`;
      const answer = await this.live.send('POST', path, { ...asked, scene: this.scene() });
      if (check === this.#check) this.#say('good', dryRunWords(answer, this.name, isQueueing));
    } catch (error) {
      if (check === this.#check) this.#say('bad', error.message);
    }
  }

  /** Only what can come about can be asked for. */
  #say(kind, text) {
    verdict('start', kind, text);
    byId('start-go').disabled = kind !== 'good';
  }

  #submit() {
    const asked = this.#asked();
    // What was typed stays.
    const full = this.live.own.whyNoMore();
    if (full) verdict('start', 'bad', full);
    if (full || !asked) return;
    byId('start').close();
    this.ask(asked, this.#isQueueing);
  }
}

/** The field for controllers is there where they are to be named. */
function showControllers() {
  const field = byId('start-controllers');
  for (const element of [field, ...field.labels]) setHidden(element, byId('start-scope').value !== 'controllers');
}

function dryRunWords(answer, name, waits) {
  if (answer.noop) return 'It would change nothing.';
  if (answer.wouldRun) {
    const coming = answer.inserted?.length ? ` ${listOf(answer.inserted)} would come.` : '';
    const going = answer.removed?.length ? ` ${listOf(answer.removed)} would go.` : '';
    return `It would run at once.${coming}${going}`;
  }
  if (answer.reason === 'busy') {
    const others = list(answer.blockers.map(name));
    const are = answer.blockers.length === 1 ? 'is' : 'are';
    return waits ? `It would have to wait for ${others}.` : `${others} ${are} in the way, so nothing would be done.`;
  }
  if (answer.reason === 'superseded') return 'An older one for the same thing is there already.';
  return 'Nothing is granted at the moment, because the daemon has restarted, and those that held locks before may still return.';
}
