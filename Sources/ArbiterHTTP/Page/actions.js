// @ts-check
// What can be done from the page, by those who may: start, end, cancel and revoke transitions, and declare scenes.

import { byId, el, setHidden, setText } from './dom.js';
import { below } from './hierarchy.js';
import { CHECK_AFTER } from './limits.js';
import { list, lockWords, operationWords, plural, who } from './words.js';

/** The operands of the operations that the page can make, by their types. */
const OPERANDS = {
  none: [], push: ['controller', 'navigation'], pop: ['navigation'], popTo: ['controller', 'navigation'], popToRoot: ['navigation'],
  present: ['controller', 'presenter'], dismiss: ['controller'], select: ['controller', 'tabs'], showDetail: ['controller', 'split'],
  collapse: ['split'], expand: ['split'], setRoot: ['controller'], segue: ['identifier', 'source'],
};
/** What the operands are called. */
const LABELS = {
  controller: 'Controller', navigation: 'Stack', presenter: 'Presented by', tabs: 'Tab bar', split: 'Split', identifier: 'Segue',
  source: 'Of the controller',
};
/** What the page calls them in its list. */
const NAMES = {
  none: 'none: an animation that leaves the tree as it is', push: 'push a controller onto a stack', pop: 'pop the top of a stack',
  popTo: 'pop a stack back to a controller', popToRoot: 'pop a stack back to its root', present: 'present a controller',
  dismiss: 'dismiss what is presented', select: 'select a tab', showDetail: 'show the detail of a split', collapse: 'collapse a split',
  expand: 'expand a split', setRoot: 'replace the whole tree', segue: 'perform a segue',
};
/** A storyboard to begin with. */
const EXAMPLE = {
  root: { id: 'nav', kind: 'navigation', children: ['list'] },
  segues: [{ identifier: 'edit', source: 'list', kind: 'show', destination: 'editor' }],
  transitionTypes: [{ name: 'star', duration: 1 }],
};

export class Actions {
  /** What is checked now; an answer to anything else comes too late. */
  #check = 0;
  #timer = 0;
  #revoked = null;
  /** How many ends of transitions have been asked for, and not been answered yet. */
  #ending = 0;
  #isLateSaid = false;
  /**
   * The scene whose storyboard was read last, and the storyboard's tag; null if it has none.
   * @type {{scene: string, tag: string | null}}
   */
  #declared = { scene: '', tag: null };

  /**
   * @param {{live: any, scene: () => string, name: (id: string) => string, follow: (scene: string) => void,
   *   tell: (text: string) => void, untell: () => void}} options `name` is whose a transition is
   */
  constructor({ live, scene, name, follow, tell, untell }) {
    this.live = live;
    this.scene = scene;
    this.name = name;
    this.follow = follow;
    this.tell = tell;
    this.untell = untell;
    byId('start-open').addEventListener('click', () => this.#openStart());
    byId('storyboard-open').addEventListener('click', () => this.#openStoryboard());
    for (const name of ['start', 'storyboard', 'revoke']) byId(`${name}-cancel`).addEventListener('click', () => byId(name).close());
    byId('start-type').append(...Object.entries(NAMES).map(([value, text]) => el('option', { value, text })));
    byId('start-type').addEventListener('change', () => this.#fillOperands());
    byId('start-scope').addEventListener('change', () => showControllers());
    byId('start-form').addEventListener('input', () => this.#checkSoon(() => this.#checkStart()));
    byId('start-form').addEventListener('submit', event => this.#submit(event, () => this.#start()));
    byId('storyboard-form').addEventListener('input', () => {
      byId('storyboard-go').disabled = true;
      this.#checkSoon(() => this.#checkStoryboard());
    });
    byId('storyboard-form').addEventListener('submit', event => this.#submit(event, () => this.#declare()));
    byId('storyboard-load').addEventListener('click', () => this.#load());
    byId('revoke-form').addEventListener('submit', event => this.#submit(event, () => this.#revoke()));
  }

  /** Whether something may be done with a transition from here. */
  can(kind, transition) {
    const { roles } = this.live.identity;
    if (kind === 'revoke') return roles.includes('admin') && !this.live.own.has(transition.id);
    const own = this.live.own.get(transition.id);
    return !!own && (kind === 'cancel' || !!own.held);
  }

  act(kind, transition) {
    if (kind !== 'revoke') {
      this.#end(transition.id, kind);
      return;
    }
    this.untell();
    this.#revoked = transition;
    const { document } = transition;
    const has = document.state === 'queued' ? 'waits for' : 'has locked';
    setText(byId('revoke-what'), `${who(document)} ${has} ${lockWords(document)}, to ${operationWords(document.operation)}. `
      + 'The tree will stay as it is, and the next in the queue will have its turn.');
    byId('revoke-reason').value = '';
    verdict('revoke', '', '');
    byId('revoke').showModal();
  }

  async #end(id, kind) {
    this.untell();
    this.#ending += 1;
    if (this.live.status === 'lost') this.#sayItIsLate();
    try {
      await this.live.end(id, kind);
      if (this.live.status !== 'lost') this.untell();
    } catch (error) {
      this.tell(error.message);
    } finally {
      this.#ending -= 1;
    }
  }

  #sayItIsLate() {
    this.#isLateSaid = true;
    this.tell('The daemon does not answer. '
      + 'The transition ends as soon as the daemon is there again, unless it has lost its lock before.');
  }

  /** Shows the buttons of what the page may do. */
  draw(isLive) {
    if (this.#ending && this.live.status === 'lost') this.#sayItIsLate();
    if (this.#isLateSaid && isLive) {
      this.#isLateSaid = false;
      this.untell();
    }
    const { roles } = this.live.identity;
    byId('start-open').hidden = !(isLive && roles.includes('transition'));
    byId('storyboard-open').hidden = !(isLive && roles.includes('design'));
  }

  #submit(event, act) {
    event.preventDefault();
    act();
  }

  #checkSoon(check) {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(check, CHECK_AFTER);
  }

  // Starting

  #openStart() {
    this.untell();
    byId('start').showModal();
    showControllers();
    this.#fillOperands();
  }

  #fillOperands() {
    const type = byId('start-type').value;
    const [ofOperation] = byId('start-scope').options;
    // Without an operation there is nothing that it touches.
    ofOperation.disabled = type === 'none';
    if (byId('start-scope').value !== 'controllers') byId('start-scope').value = type === 'none' ? 'scene' : 'operation';
    byId('start-operands').replaceChildren(...OPERANDS[type].flatMap(name => [
      el('label', { for: `start-${name}`, text: LABELS[name] }),
      el('input', { id: `start-${name}`, name, required: true, autocomplete: 'off', spellcheck: 'false' }),
    ]));
    this.#checkStart();
  }

  /** What is asked for, or null while something is missing. */
  #asked() {
    const type = byId('start-type').value;
    const operands = Object.fromEntries(OPERANDS[type].map(name => [name, byId(`start-${name}`).value.trim()]));
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

  async #checkStart() {
    const asked = this.#asked();
    const check = this.#check += 1;
    if (!asked) {
      verdict('start', '', 'Something is missing above.');
      return;
    }
    try {
      const waits = byId('start-queue').value === 'wait';
      const path = waits ? 'serialize' : 'start';
      const answer = await this.live.send('POST', `/transitions/${path}?dryRun=true`, { ...asked, scene: this.scene() });
      if (check === this.#check) verdict('start', 'good', dryRunWords(answer, this.name, waits));
    } catch (error) {
      if (check === this.#check) verdict('start', 'bad', error.message);
    }
  }

  async #start() {
    const asked = this.#asked();
    if (!asked) return;
    const full = this.live.whyNoMore();
    if (full) {
      // What was typed stays.
      verdict('start', 'bad', full);
      return;
    }
    byId('start').close();
    try {
      const why = await this.live.request(this.scene(), asked, byId('start-queue').value === 'wait');
      if (why) this.tell(why);
    } catch (error) {
      this.tell(`The transition did not come about: ${error.message}`);
    }
  }

  // Declaring

  async #openStoryboard() {
    this.untell();
    byId('storyboard-scene').value = this.scene();
    byId('storyboard').showModal();
    await this.#load();
  }

  /** Begins with what is declared now. */
  async #load() {
    byId('storyboard-text').value = '';
    setHidden(byId('storyboard-note'), true);
    setHidden(byId('storyboard-load'), true);
    verdict('storyboard', '', '');
    try {
      const storyboard = await this.#read();
      setHidden(byId('storyboard-note'), storyboard !== null);
      this.#suggest(storyboard ?? EXAMPLE);
    } catch (error) {
      verdict('storyboard', 'bad', error.message);
    }
  }

  /** The storyboard of the scene, or null if it has none. */
  async #read() {
    const scene = byId('storyboard-scene').value;
    try {
      const { document, tag } = await this.live.ask('GET', `/scenes/${encodeURIComponent(scene)}/storyboard`);
      this.#declared = { scene, tag };
      return document;
    } catch (error) {
      if (error.status !== 404) throw error;
      this.#declared = { scene, tag: null };
      return null;
    }
  }

  /** Begins with a storyboard, unless something has been typed meanwhile. */
  #suggest(storyboard) {
    if (!byId('storyboard-text').value) byId('storyboard-text').value = JSON.stringify(storyboard, null, 2);
    this.#checkStoryboard();
  }

  async #checkStoryboard() {
    const check = this.#check += 1;
    byId('storyboard-go').disabled = true;
    const field = byId('storyboard-scene');
    if (!field.checkValidity()) {
      verdict('storyboard', 'bad', field.value ? `No scene can have the name “${field.value}”.` : 'The scene needs a name.');
      return;
    }
    const text = byId('storyboard-text').value;
    try {
      const answer = await this.#put('?dryRun=true');
      const isAnother = field.value !== this.#declared.scene;
      if (isAnother) await this.#read();
      if (check !== this.#check) return;
      const isReplaced = field.value !== this.scene() && this.#declared.tag !== null;
      verdict('storyboard', 'good', storyboardWords(answer)
        + (isReplaced ? ` It would replace what is declared in ${field.value}.` : ''));
      byId('storyboard-go').disabled = false;
    } catch (error) {
      const name = error.problem?.field ? `${error.problem.field}: ` : '';
      if (check === this.#check) verdict('storyboard', 'bad', name + withLines(error.message, text));
    }
  }

  async #declare() {
    const { scene, tag } = this.#declared;
    try {
      // Only what has been seen here is replaced.
      const { revision } = await this.#put('', tag === null ? { 'If-None-Match': '*' } : { 'If-Match': tag });
      byId('storyboard').close();
      if (scene !== this.scene()) this.follow(scene);
      this.tell(`The scene ${scene} is declared. Its tree has revision ${revision}.`);
    } catch (error) {
      const hasChanged = error.status === 412;
      setHidden(byId('storyboard-load'), !hasChanged);
      const changed = `The storyboard of ${scene} has changed since it was read here, so yours was not declared. `
        + '“Read it again” shows it, in the place of yours.';
      verdict('storyboard', 'bad', hasChanged ? changed : withLines(error.message, byId('storyboard-text').value));
    }
  }

  #put(query, headers = {}) {
    const scene = encodeURIComponent(byId('storyboard-scene').value);
    return this.live.send('PUT', `/scenes/${scene}/storyboard${query}`, byId('storyboard-text').value, headers);
  }

  // Revoking

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

/** The field for controllers is there where they are to be named. */
function showControllers() {
  const field = byId('start-controllers');
  for (const element of [field, ...field.labels]) setHidden(element, byId('start-scope').value !== 'controllers');
}

function verdict(name, kind, text) {
  const check = byId(`${name}-check`);
  check.className = `check ${kind}`;
  setText(check, text);
}

/** A sentence of the daemon, with the place in a text of several lines as an editor counts it. */
function withLines(sentence, text) {
  return sentence.replace(/ at byte (\d+)/, (_, byte) => {
    const before = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, Number(byte))).split('\n');
    return ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
  });
}

function dryRunWords(answer, name, waits) {
  if (answer.noop) return 'It would change nothing.';
  if (answer.wouldRun) {
    const coming = answer.inserted?.length ? ` ${list(answer.inserted)} would come.` : '';
    const going = answer.removed?.length ? ` ${list(answer.removed)} would go.` : '';
    return `It would run at once.${coming}${going}`;
  }
  if (answer.reason === 'busy') {
    const others = list(answer.blockers.map(name));
    const are = answer.blockers.length === 1 ? 'is' : 'are';
    return waits ? `It would have to wait for ${others}.` : `${others} ${are} in the way, so nothing would be done.`;
  }
  if (answer.reason === 'superseded') return 'An older ticket for the same thing waits already.';
  return 'Nothing is granted at the moment, because the daemon has restarted, and those that held locks before may still return.';
}

function storyboardWords({ root, segues, transitionTypes }) {
  let count = 0;
  const waiting = root ? [root] : [];
  while (waiting.length) {
    const node = waiting.pop();
    count += 1;
    waiting.push(...below(node));
  }
  const types = plural(transitionTypes.length, 'transition type');
  return `Correct: ${plural(count, 'controller')}, ${plural(segues.length, 'segue')}, ${types}.`;
}
