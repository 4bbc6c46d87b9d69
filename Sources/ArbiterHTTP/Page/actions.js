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

  /**
   * @param {{live: any, scene: () => string, name: (id: string) => string, follow: (scene: string) => void,
   *   tell: (text: string) => void}} options `name` is whose a transition is
   */
  constructor({ live, scene, name, follow, tell }) {
    this.live = live;
    this.scene = scene;
    this.name = name;
    this.follow = follow;
    this.tell = tell;
    byId('start-open').addEventListener('click', () => this.#openStart());
    byId('storyboard-open').addEventListener('click', () => this.#openStoryboard());
    for (const name of ['start', 'storyboard', 'revoke']) byId(`${name}-cancel`).addEventListener('click', () => byId(name).close());
    byId('start-type').append(...Object.entries(NAMES).map(([value, text]) => el('option', { value, text })));
    byId('start-type').addEventListener('change', () => this.#fillOperands());
    byId('start-scope').addEventListener('change', () => showControllers());
    byId('start-form').addEventListener('input', () => this.#checkSoon(() => this.#checkStart()));
    byId('start-form').addEventListener('submit', event => this.#submit(event, () => this.#start()));
    byId('storyboard-form').addEventListener('input', () => this.#checkSoon(() => this.#checkStoryboard()));
    byId('storyboard-form').addEventListener('submit', event => this.#submit(event, () => this.#declare()));
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
      this.live.end(transition.id, kind).catch(error => this.tell(error.message));
      return;
    }
    this.#revoked = transition;
    const { document } = transition;
    const has = document.state === 'queued' ? 'waits for' : 'has locked';
    setText(byId('revoke-what'), `${who(document)} ${has} ${lockWords(document)}, to ${operationWords(document.operation)}. `
      + 'The tree will stay as it is, and the next in the queue will have its turn.');
    byId('revoke-reason').value = '';
    verdict('revoke', '', '');
    byId('revoke').showModal();
  }

  /** Shows the buttons of what the page may do. */
  draw(isLive) {
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
      el('label', { for: `start-${name}`, text: `${name[0].toUpperCase()}${name.slice(1)}` }),
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
    if (Object.values(operands).some(value => !value) || (scope === 'controllers' && !ids.length)) return null;
    return {
      client: byId('start-client').value.trim() || 'page', leaseSeconds: Number(byId('start-lease').value),
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
      const path = byId('start-queue').value === 'wait' ? 'serialize' : 'start';
      const answer = await this.live.send('POST', `/transitions/${path}?dryRun=true`, { ...asked, scene: this.scene() });
      if (check === this.#check) verdict('start', 'good', dryRunWords(answer, this.name));
    } catch (error) {
      if (check === this.#check) verdict('start', 'bad', error.message);
    }
  }

  async #start() {
    const asked = this.#asked();
    if (!asked) return;
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
    const scene = this.scene();
    byId('storyboard-scene').value = scene;
    byId('storyboard-text').value = '';
    verdict('storyboard', '', '');
    byId('storyboard').showModal();
    setHidden(byId('storyboard-note'), true);
    try {
      this.#suggest(await this.live.get(`/scenes/${encodeURIComponent(scene)}/storyboard`));
    } catch (error) {
      if (error.status === 404) {
        setHidden(byId('storyboard-note'), false);
        this.#suggest(EXAMPLE);
      } else {
        verdict('storyboard', 'bad', error.message);
      }
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
    try {
      const answer = await this.#put('?dryRun=true');
      if (check !== this.#check) return;
      verdict('storyboard', 'good', storyboardWords(answer));
      byId('storyboard-go').disabled = false;
    } catch (error) {
      const field = error.problem?.field ? `${error.problem.field}: ` : '';
      if (check === this.#check) verdict('storyboard', 'bad', field + error.message);
    }
  }

  async #declare() {
    const scene = byId('storyboard-scene').value;
    try {
      const { revision } = await this.#put('');
      byId('storyboard').close();
      this.tell(`The scene ${scene} is declared. Its tree has revision ${revision}.`);
      if (scene !== this.scene()) this.follow(scene);
    } catch (error) {
      verdict('storyboard', 'bad', error.message);
    }
  }

  #put(query) {
    const scene = encodeURIComponent(byId('storyboard-scene').value);
    return this.live.send('PUT', `/scenes/${scene}/storyboard${query}`, byId('storyboard-text').value);
  }

  // Revoking

  async #revoke() {
    try {
      await this.live.send('POST', '/transitions/revoke', { id: this.#revoked.id, reason: byId('revoke-reason').value });
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

function dryRunWords(answer, name) {
  if (answer.noop) return 'It would change nothing.';
  if (answer.wouldRun) {
    const coming = answer.inserted?.length ? ` ${list(answer.inserted)} would come.` : '';
    const going = answer.removed?.length ? ` ${list(answer.removed)} would go.` : '';
    return `It would run at once.${coming}${going}`;
  }
  if (answer.reason === 'busy') return `It would have to wait for ${list(answer.blockers.map(name))}.`;
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
