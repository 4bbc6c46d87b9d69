// @ts-check
// What can be done from the page, by those who may: start, end, cancel and revoke transitions, and declare scenes.

import { byId, setText } from './dom.js';
import { who } from './names.js';
import { StartDialog } from './start-dialog.js';
import { StoryboardDialog } from './storyboard-dialog.js';
import { verdict } from './verdict.js';
import { operationWords } from './operations.js';
import { lockWords } from './words.js';

/** What is said while an end, or a request, is on its way to a daemon that does not answer. */
const LATE_END = 'The daemon does not answer. '
  + 'The transition ends as soon as the daemon is there again, unless it has lost its lock before.';
const LATE_REQUEST = 'The daemon does not answer. The page asks for the lock again for half a minute, and takes it if the daemon returns.';

export class Actions {
  #revoked = null;
  /** How many ends of transitions have been asked for, and not been answered yet. */
  #ending = 0;

  /**
   * @param {{live: any, scene: () => string, name: (id: string) => string, follow: (scene: string) => void,
   *   messages: import('./messages.js').Messages}} options `name` is whose a transition is
   */
  constructor({ live, scene, name, follow, messages }) {
    this.live = live;
    this.scene = scene;
    this.messages = messages;
    this.start = new StartDialog({ live, scene, name, ask: (...asked) => this.#request(...asked) });
    this.storyboard = new StoryboardDialog({ live, scene, declared: (name, revision) => {
      if (name !== scene()) follow(name);
      messages.tell(`The scene ${name} is declared. Its tree has revision ${revision}.`);
    } });
    for (const name of ['start', 'storyboard']) {
      byId(`${name}-open`).addEventListener('click', () => {
        messages.untell();
        this[name].open();
      });
    }
    byId('revoke-cancel').addEventListener('click', () => byId('revoke').close());
    byId('revoke-form').addEventListener('submit', event => {
      event.preventDefault();
      this.#revoke();
    });
  }

  /** Whether something may be done with a transition from here. */
  can(kind, transition) {
    const { roles } = this.live.identity;
    const own = this.live.own.get(transition.id);
    if (kind === 'revoke') return roles.includes('admin') && !own;
    return !!own && (kind === 'cancel' || !!own.held);
  }

  act(kind, transition) {
    if (kind !== 'revoke') {
      this.#end(transition.id, kind);
      return;
    }
    this.messages.untell();
    this.#revoked = transition;
    const { document } = transition;
    const has = document.state === 'queued' ? 'waits for' : 'has locked';
    setText(byId('revoke-what'), `${who(document)} ${has} ${lockWords(document)}, to ${operationWords(document)}. `
      + 'The tree will stay as it is, and the next in the queue will have its turn.');
    byId('revoke-reason').value = '';
    verdict('revoke', '', '');
    byId('revoke').showModal();
  }

  /** Shows the buttons of what the page may do, and what is late. */
  draw(isLive) {
    this.#sayWhatIsLate();
    if (isLive) for (const text of [LATE_END, LATE_REQUEST]) this.messages.untell(text);
    const { roles } = this.live.identity;
    byId('start-open').hidden = !(isLive && roles.includes('transition'));
    byId('storyboard-open').hidden = !(isLive && roles.includes('design'));
    byId('revoke-go').disabled = !isLive;
    if (!isLive) byId('storyboard-go').disabled = true;
    this.start.changed();
  }

  /** Something has happened in the scene. */
  changed() {
    this.start.changed();
  }

  #sayWhatIsLate() {
    if (this.live.status !== 'lost') return;
    if (this.live.own.isAsking) this.messages.tell(LATE_REQUEST, { text: 'Withdraw it', act: () => this.live.own.withdraw() });
    else if (this.#ending) this.messages.tell(LATE_END);
  }

  async #request(options, isQueueing) {
    try {
      const asking = this.live.own.request(this.scene(), options, isQueueing);
      this.#sayWhatIsLate();
      const why = await asking;
      if (why) this.messages.tell(why);
    } catch (error) {
      this.messages.tell(`The transition did not come about: ${error.message}`);
    }
  }

  async #end(id, kind) {
    this.messages.untell();
    this.#ending += 1;
    this.#sayWhatIsLate();
    try {
      await this.live.own.end(id, kind);
      if (this.live.status !== 'lost') this.messages.untell(LATE_END);
    } catch (error) {
      this.messages.tell(error.message);
    } finally {
      this.#ending -= 1;
    }
  }

  async #revoke() {
    const reason = byId('revoke-reason').value.trim();
    if (!reason) {
      verdict('revoke', 'bad', 'It needs a reason.');
      return;
    }
    try {
      await this.live.send('POST', '/transitions/revoke', { id: this.#revoked.id, reason });
      byId('revoke').close();
    } catch (error) {
      verdict('revoke', 'bad', error.message);
    }
  }
}
