// @ts-self-types="./client.d.ts"
// A client of `arbiterd`, the lock of user interface transitions, for browsers and Node 20. Types and documentation are in
// client.d.ts. The daemon serves both, at /client.js and /client.d.ts.

const SESSION = 'Arbiter-Session';
/** The lease of a transition, in seconds, unless the daemon says another. */
const LEASE = 10;
/** The longest wait of one request, in seconds: shorter than the time in which proxies want an answer. */
const LONGEST_WAIT = 10;
/** The longest wait that the wire has, in seconds. */
const MOST_WAIT = 120;
/** What an answer may take that waits for nothing, in seconds. */
const LONGEST_ANSWER = 30;
/** What an answer may take besides the wait, in seconds. */
const MARGIN = 5;
/** The longest time of `setTimeout`, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** The most entries on a page of a list. */
const LONGEST_PAGE = 1000;
/** For how long the first request of a client finds no daemon before that is said, in seconds. */
const SILENCE_BEFORE_WORDS = 2;
/** What an answer that keeps a lease may take besides the wait, in seconds: a sixth of the lease, if that is not less. */
const KEEPING_MARGIN = 1;
/**
 * The time between two attempts to keep a lease or a place, in seconds. The daemon ends a session two seconds after its last
 * connection was cut.
 */
const [SHORTEST_DELAY, LONGEST_DELAY] = [0.05, 0.4];
/** The field in which a daemon says how often something comes on a stream of events at least, in seconds. */
const HEARTBEAT = 'Arbiter-Heartbeat-Seconds';
/** For how long a stream may be silent if its daemon does not say that, in seconds. */
const STREAM_SILENCE = 45;
/** The shortest silence after which a stream is taken for dead, in seconds. */
const SHORTEST_SILENCE = 3;
/** What two comments may take longer than the daemon says, in seconds. */
const HEARTBEAT_MARGIN = 1;
/** What no daemon says, in seconds. */
const LONGEST_HEARTBEAT = 3600;
/** How often a ticket is asked for where no request is parked, in seconds; within the 5 in which its grant must be claimed. */
const SHARED_WAIT = 4;

let { crypto } = globalThis;
/** The ids of the transitions in whose bodies code runs; null in browsers, which cannot tell. */
let bodies = null;
/** The transition of a `TransitionLock` in whose block code runs, and the one whose operation it draws. */
let [blocks, drawings] = [null, null];

function useHooks({ AsyncLocalStorage }) {
  [bodies, blocks, drawings] = [new AsyncLocalStorage(), new AsyncLocalStorage(), new AsyncLocalStorage()];
}

// The module has no `await`, so that it can be loaded by `require` and bundled for any browser.
const { process } = globalThis;
if (process?.getBuiltinModule) {
  useHooks(process.getBuiltinModule('node:async_hooks'));
} else if (process?.versions?.node) {
  // Before Node 20.16, and in Node 18, which Debian 12 has, they are there before the first answer is.
  import(/* webpackIgnore: true */ 'node:async_hooks').then(useHooks, () => {});
  if (!crypto) import(/* webpackIgnore: true */ 'node:crypto').then(({ webcrypto }) => { crypto = webcrypto; }, () => {});
}

export class ArbiterError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class Unreachable extends ArbiterError {}

export class TimedOut extends ArbiterError {}

export class BlockedBySelf extends ArbiterError {
  constructor(document) {
    super(`The turn in ${document.scene} is asked for in the body of a transition that is in its way: do this as a part of that `
      + 'one, or after its end');
    this.document = document;
  }
}

export class Closed extends ArbiterError {
  constructor() {
    super('The client has been closed');
  }
}

export class Refused extends ArbiterError {
  constructor(status, problem) {
    const code = problem.code ?? 'unknown';
    const detail = problem.detail ?? problem.title ?? `HTTP ${status}`;
    super(`${detail} (${code})`);
    Object.assign(this, { status, problem, code, detail });
  }
}

export class TransitionEnded extends ArbiterError {
  constructor(document) {
    const { outcome, reason, code, detail } = document ?? {
      outcome: 'expired', reason: 'unreachable',
      detail: 'no answer of the daemon kept it for as long as its lease lasts (unreachable)',
    };
    const why = detail ?? reason;
    super(`The transition is ${outcome}${why ? `: ${why}` : ''}`);
    Object.assign(this, { document: document ?? null, outcome, reason: reason ?? null, code: code ?? null });
  }
}

// Operations

const defined = fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export const operations = {
  present: (controller, { presenter } = {}) => ({ type: 'present', ...defined({ presenter }), controller }),
  dismiss: controller => ({ type: 'dismiss', controller }),
  push: (controller, { navigation }) => ({ type: 'push', navigation, controller }),
  pop: navigation => ({ type: 'pop', navigation }),
  popTo: (controller, { navigation }) => ({ type: 'popTo', navigation, controller }),
  popToRoot: navigation => ({ type: 'popToRoot', navigation }),
  setStack: (controllers, { navigation }) => ({ type: 'setStack', navigation, controllers }),
  select: (tabs, { index, controller, offset }) => ({ type: 'select', tabs, ...defined({ index, controller, offset }) }),
  segue: (identifier, { source, destination }) => ({ type: 'segue', source, identifier, ...defined({ destination }) }),
  showDetail: (controller, { split }) => ({ type: 'showDetail', split, controller }),
  setColumn: (column, controller, { split }) => ({ type: 'setColumn', split, column, controller }),
  showColumn: (column, { split }) => ({ type: 'showColumn', split, column }),
  collapse: (split, { topColumn } = {}) => ({ type: 'collapse', split, ...defined({ topColumn }) }),
  expand: split => ({ type: 'expand', split }),
  setTabs: (tabs, controllers, { selected } = {}) => ({ type: 'setTabs', tabs, controllers, ...defined({ selected }) }),
  insertTab: (controller, { tabs, index }) => ({ type: 'insertTab', tabs, controller, ...defined({ index }) }),
  removeTab: (controller, { tabs }) => ({ type: 'removeTab', tabs, controller }),
  setRoot: controller => ({ type: 'setRoot', controller }),
};

// Hierarchies

/** The members of a node that are nodes, besides its children. */
const SINGLE = ['primary', 'supplementary', 'secondary', 'presented'];

/** A change that this client does not know, or that does not fit its tree. The whole has to be read again. */
class Inapplicable extends Error {}

/** A node, and everything below it; without a node, nothing. */
function* nodesOf(root) {
  const waiting = root ? [[root, null]] : [];
  while (waiting.length) {
    const [node, parent] = waiting.pop();
    yield [node, parent];
    for (const child of node.children ?? []) waiting.push([child, node.id]);
    for (const member of SINGLE) if (node[member]) waiting.push([node[member], node.id]);
  }
}

class HierarchySnapshot {
  constructor(root, revision, isCurrent = false) {
    this.root = root;
    this.revision = revision;
    this.isCurrent = isCurrent;
    Object.freeze(this);
  }

  controller(id) {
    for (const [node] of nodesOf(this.root)) if (node.id === id) return node;
    return null;
  }
}

/** The hierarchy in the document of a scene, or in a `reset`. */
function snapshotOf({ hierarchy = null, revision }) {
  for (const [node] of nodesOf(hierarchy)) frozen(node);
  return new HierarchySnapshot(hierarchy, revision);
}

function frozen(node) {
  if (node.children) Object.freeze(node.children);
  return Object.freeze(node);
}

/**
 * What an event of the scene makes of its hierarchy; the same object if it does not change it.
 * @throws Inapplicable
 */
function after(snapshot, { name, data }) {
  if (name === 'reset') return snapshotOf(data);
  if (name === 'scene.deleted') return new HierarchySnapshot(null, 0);
  if (name !== 'hierarchy.changed') return snapshot;
  if (!data.changes || data.revision !== snapshot.revision + 1) throw new Inapplicable('There is a gap');
  return new HierarchySnapshot(applied(snapshot.root, data.changes), data.revision);
}

/**
 * The tree after changes (`HierarchyChange` of openapi.yaml) in their order; the given one stays as it is.
 * @throws Inapplicable
 */
function applied(root, changes) {
  let draft = new Draft(root);
  for (const change of changes) {
    if (change.type === 'replace') draft = new Draft(structuredClone(change.root ?? null));
    else draft.apply(change);
  }
  return draft.finished();
}

/** A tree that is being changed: a node is copied before its first change. */
class Draft {
  #root;
  #nodes = new Map();
  #parents = new Map();
  /** The nodes that may be changed; each one above such a node is one too. */
  #own = new Set();

  constructor(root) {
    this.#root = root;
    this.#enter(root);
  }

  finished() {
    for (const node of this.#own) frozen(node);
    return this.#root;
  }

  apply(change) {
    const { type, id } = change;
    if (type === 'insert') {
      // Others may read the same event.
      const node = structuredClone(change.controller);
      this.#enter(node);
      this.#attach(node, change.place);
    } else if (type === 'remove') {
      this.#leave(this.#detach(id));
    } else if (type === 'move') {
      this.#attach(this.#detach(id), change.place);
    } else if (type === 'select') {
      this.#copy(id).selected = change.selected;
    } else if (type === 'arrange') {
      this.#arrange(this.#copy(id), change);
    } else if (type === 'collapse' || type === 'expand') {
      const node = this.#copy(id);
      node.collapsed = type === 'collapse';
      delete node.pushed;
      if (change.pushed) node.pushed = structuredClone(change.pushed);
    } else {
      throw new Inapplicable(`There is a change ${type}`);
    }
  }

  #node(id) {
    if (!this.#nodes.has(id)) throw new Inapplicable(`There is no ${id}`);
    return this.#nodes.get(id);
  }

  #enter(top) {
    for (const [node, parent] of nodesOf(top)) {
      if (this.#nodes.has(node.id)) throw new Inapplicable(`${node.id} is there already`);
      this.#nodes.set(node.id, node);
      this.#parents.set(node.id, parent);
      if (!Object.isFrozen(node)) this.#own.add(node);
    }
  }

  #leave(top) {
    for (const [node] of nodesOf(top)) {
      this.#nodes.delete(node.id);
      this.#parents.delete(node.id);
      this.#own.delete(node);
    }
  }

  #attach(node, { type, parent = null } = {}) {
    if (type === 'root' && !this.#root) this.#root = node;
    else if ((type === 'top' || type === 'tab') && this.#node(parent).children) this.#copy(parent).children.push(node);
    else if (SINGLE.includes(type) && !this.#node(parent)[type]) this.#copy(parent)[type] = node;
    else throw new Inapplicable(`There is no room at ${type} of ${parent}`);
    this.#parents.set(node.id, parent);
  }

  #detach(id) {
    const node = this.#node(id);
    this.#exchange(node);
    return node;
  }

  #arrange(node, { children = [], selected }) {
    const known = new Set(node.children?.map(child => child.id));
    if (children.length !== known.size || !children.every(id => known.delete(id))) throw new Inapplicable('Other children');
    node.children = children.map(id => this.#nodes.get(id));
    if (selected !== undefined) node.selected = selected;
  }

  /** The node as one that may be changed. */
  #copy(id) {
    const lineage = [];
    for (let each = id; each !== null && !this.#own.has(this.#node(each)); each = this.#parents.get(each)) lineage.push(each);
    for (const each of lineage.reverse()) {
      const old = this.#nodes.get(each);
      const node = { ...old, ...(old.children ? { children: [...old.children] } : {}) };
      this.#exchange(old, node);
      this.#nodes.set(each, node);
      this.#own.add(node);
    }
    return this.#nodes.get(id);
  }

  /** Puts a node, or nothing, where another one is. */
  #exchange(old, ...replacement) {
    const parent = this.#parents.get(old.id);
    if (parent === null) {
      [this.#root = null] = replacement;
      return;
    }
    const holder = this.#copy(parent);
    const member = SINGLE.find(name => holder[name] === old);
    if (!member) {
      // From the end, because the top of a stack comes and goes most often.
      holder.children.splice(holder.children.lastIndexOf(old), 1, ...replacement);
    } else if (replacement.length) {
      [holder[member]] = replacement;
    } else {
      delete holder[member];
    }
  }
}

// Time

/** @throws TypeError for what is no number; RangeError for a number that is no duration */
function checkedSeconds(name, value) {
  if (typeof value !== 'number') {
    throw new TypeError(`${name} is a number of seconds, not ${value === null ? null : typeof value}`);
  }
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`${name} is a finite number of seconds, 0 or more`);
  return value;
}

/** @throws TypeError for what is no number; RangeError for a number that JSON does not have */
function checkedNumber(name, value) {
  if (typeof value !== 'number') throw new TypeError(`${name} is a number, not ${value === null ? null : typeof value}`);
  if (!Number.isFinite(value)) throw new RangeError(`${name} is a finite number`);
}

/** Milliseconds by which the clock of the day gets ahead of the other one if the machine was suspended. */
const SUSPENSION = 1000;

/**
 * Seconds on a clock that never goes back.
 *
 * Where performance.now() stands still while the machine is suspended, the clock of the day says how long that was. If that is
 * only set forward, leases seem to be over earlier than they are, which is harmless.
 */
const now = (() => {
  let suspended = 0;
  let ahead = Date.now() - performance.now();
  return () => {
    const [time, lead] = [performance.now(), Date.now() - performance.now()];
    if (lead - ahead > SUSPENSION) suspended += lead - ahead;
    ahead = lead;
    return (time + suspended) / 1000;
  };
})();

/** Delays between attempts in seconds: doubled from 0.1 to the longest, each drawn between half and all of it. */
function* backoff(longest = 5) {
  for (let delay = 0.1; ; delay = Math.min(2 * delay, longest)) yield delay * (0.5 + Math.random() / 2);
}

/** Passes so many seconds, or fewer if the signal is aborted. */
function sleep(seconds, signal) {
  return new Promise(resolve => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, Math.max(0, seconds) * 1000);
    if (signal?.aborted) over();
    else signal?.addEventListener('abort', over);
  });
}

/** A controller that is aborted with any of the signals; `release` lets go of them. */
function linked(...signals) {
  const controller = new AbortController();
  const abort = event => controller.abort(event.target.reason);
  const given = signals.filter(Boolean);
  for (const signal of given) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', abort);
  }
  controller.release = () => given.forEach(signal => signal.removeEventListener('abort', abort));
  return controller;
}

// Answers

/** @throws TypeError for what is no JSON; RangeError for a number that JSON does not have */
function jsonOf(value) {
  return JSON.stringify(value, (name, each) => {
    if (typeof each === 'number' && !Number.isFinite(each)) throw new RangeError(`JSON has no number ${each}, as in ${name}`);
    return each;
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * The status of a response, its document or problem, and the seconds that it asks to wait before the next attempt.
 * @throws Error for what is no answer of a daemon, but for example of a proxy whose daemon is gone
 */
async function answerOf(response) {
  const { status } = response;
  const text = await response.text();
  let document = parsed(text);
  // A proxy says these itself, also in JSON. The daemon gives each problem a code.
  const mayBeOfProxy = status === 404 || status >= 500;
  const isObject = typeof document === 'object' && document && !Array.isArray(document);
  if (!isObject || (mayBeOfProxy && typeof document.code !== 'string')) {
    // The daemon refuses in HTML what is no HTTP.
    if (status !== 204 && !(text && status >= 400 && status < 500 && !mayBeOfProxy)) {
      throw new Error(`an answer of status ${status} is not one of the daemon`);
    }
    document = {};
  }
  const [, next = null] = /^<([^>]*)>; rel="next"/.exec(response.headers.get('Link')) ?? [];
  return { status, document, next, retryAfter: Number(response.headers.get('Retry-After')) || 0 };
}

/** Why there was no answer. In Node, the cause says more than that fetch has failed. */
function reasonOf(error) {
  return error.cause?.message || error.cause?.code || error.message;
}

/** There is no room for anything new, which may last. */
const OUT_OF_ROOM = 'out-of-room';

/**
 * Whether an answer refuses something that may be accepted later, or that may have happened. So does every 503 that this client
 * does not know. A queue that is full is the caller's to handle.
 */
function passes({ status, document: { code } }) {
  // A node of an earlier version may be there for long.
  return status === 503 ? code !== OUT_OF_ROOM && code !== 'older-rules' : status === 429 && code === 'too-many-requests';
}

/** Whether the daemon says what it knows; not if it refuses to say so now, or a proxy answers in its place. */
function decides({ status, document: { code } }) {
  return status < 400 || (status < 500 && status !== 429 && typeof code === 'string');
}

/** The document of an answer; throws the problem that it tells. */
function documentOf(answer) {
  if (answer.status >= 400) throw new Refused(answer.status, answer.document);
  return answer.document;
}

/** @throws TypeError, without the value, which may be a secret, for a header field that no request can have */
function checkedHeaders(headers) {
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      throw new TypeError('The name of a header field has other characters than those of a token');
    }
    if (!/^[\t -~]*$/.test(value)) {
      throw new TypeError(`The header field ${name} has other characters than visible ones of ASCII, spaces and tabs`);
    }
  }
  return headers;
}

/** @throws TypeError, without the URL, which may have a password in it, if requests cannot be sent there */
function checkedURL(text) {
  let url = null;
  try {
    url = new URL(text);
  } catch {
    // The message would have it.
  }
  if (!['http:', 'https:'].includes(url?.protocol) || url.username || url.password) {
    throw new TypeError('The URL of a daemon is http://… or https://…, without a name or a password');
  }
  return text.replace(/\/$/, '');
}

const sessionIsOver = answer => answer.status === 401 && answer.document.field === SESSION;

function listOf(participants) {
  if (!Array.isArray(participants)) throw new TypeError('participants is a list');
  return participants;
}

/**
 * The options as members of a request.
 * @throws TypeError, RangeError for what can be no duration
 */
function wireFields({ participants, coalesce, ...options }) {
  for (const [name, value] of Object.entries(options)) {
    if (name.endsWith('Seconds') && value !== undefined) checkedSeconds(name, value);
  }
  if (options.leaseSeconds === 0) throw new RangeError('leaseSeconds is more than 0');
  const { duration } = options.animation ?? {};
  if (duration !== undefined) checkedSeconds('animation.duration', duration);
  return {
    ...options,
    ...defined({
      participants: participants && listOf(participants).map(each => (typeof each === 'string' ? { client: each } : each)),
      coalesce: typeof coalesce === 'string' ? { key: coalesce } : coalesce,
    }),
  };
}

/** A request on its way, so that it can be given up at any moment. */
class Ticket {
  constructor(scene, options) {
    /** The idempotency key, once it has been asked. */
    this.key = null;
    // A copy, because the key stands for the same request only. What is no JSON is the caller's TypeError now.
    this.body = JSON.parse(jsonOf({ ...wireFields(options), scene }));
    this.headers = null;
    /** The path and the body of the request, as soon as it may have arrived. */
    this.asked = null;
    /** How often the client had given up its session when it asked. */
    this.epoch = 0;
    /** What windows had told before the last request about it. */
    this.mark = 0;
    this.document = null;
    /** Until when the lease certainly lasts, by `now`. */
    this.heldUntil = 0;
    /** When the newest request was sent that `heldUntil` is from. */
    this.heard = 0;
    this.isAnimated = true;
    /** `finish` or `cancel`, once its gesture was decided: it ends as that was. */
    this.decision = null;
  }

  /** Takes in what the daemon says of the transition; its token is in the first answer only. */
  note(answer) {
    const token = this.document?.token;
    this.document = documentOf(answer);
    if (token) this.document.token = token;
    // An answer may come after that to a later request.
    if (answer.sent < this.heard) return;
    this.heard = answer.sent;
    this.heldUntil = answer.sent + (this.document.leaseRemaining ?? this.document.leaseSeconds ?? LEASE);
  }

  get lease() {
    return this.document.leaseSeconds ?? LEASE;
  }

  get hasEnded() {
    return this.document?.state === 'ended';
  }

  /** Whether it may wait or run at the daemon after an error, so that it has to be given up. */
  mayWaitAfter(error) {
    if (error instanceof Refused) return error.status === 503 || !!this.document;
    return !(error instanceof TransitionEnded);
  }

  /** What the daemon said, without the token. */
  get shown() {
    const { token, ...shown } = this.document;
    return shown;
  }

  named(fields) {
    return { id: this.document.id, token: this.document.token, ...fields };
  }

  /** Throws BlockedBySelf in the body of a transition that is in its way. */
  checkNesting() {
    const { id, scene, blockers, blockedBySelf } = this.document;
    if (blockers?.some(blocker => bodies?.getStore()?.has(blocker))) throw new BlockedBySelf(this.shown);
    if (blockedBySelf && !bodies) {
      console.warn(`${id} waits for transitions of this client alone. It waits for ever if it is asked for in the body of one: `
        + `locks of ${scene} are not re-entrant`);
    }
  }
}

/** The transition as it has to be taken for lost, because the daemon answered and refused to keep it. */
function refusedEnd(ticket, answer) {
  const { code, detail } = new Refused(answer.status, answer.document);
  const why = code === 'unknown-transition'
    ? { reason: 'forgotten', detail: 'the daemon no longer knows the transition (forgotten)' } : { reason: code, detail };
  return { ...ticket.shown, state: 'ended', outcome: 'expired', code, ...why };
}

// Events

/** After how many seconds of silence a stream is taken for dead, because two comments are missing; null if its head says none. */
export function silenceSaidBy(headers) {
  const seconds = Number(headers.get(HEARTBEAT));
  return seconds > 0 && seconds <= LONGEST_HEARTBEAT ? Math.max(SHORTEST_SILENCE, 2 * seconds + HEARTBEAT_MARGIN) : null;
}

/**
 * Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). An id without an event, with
 * which a stream of all scenes begins, has no name; and a comment, which only shows that the stream lives, is null.
 */
async function* parseEvents(body) {
  const decoder = new TextDecoder();
  let [rest, name, data, id] = ['', '', [], null];
  for await (const chunk of chunks(body)) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (data.length) yield { name: name || 'message', data: JSON.parse(data.join('\n')), id };
        else if (id !== null) yield { name: null, data: null, id };
        [name, data, id] = ['', [], null];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'event') name = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id') id = value;
    }
    yield null;
  }
}

/** The chunks of a body; not every browser can iterate one. */
async function* chunks(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** What is told of a ticket when it need not wait any longer, and of a transition that has ended. */
const RUNNING = ['transition.preparing', 'transition.running', 'transition.ended'];
const ENDED = ['transition.ended', 'transition.interrupting'];
/** What the windows are told where events may be missing; the daemon says so with the same name. */
const GAP = { name: 'reset.end', data: {}, id: null };
/** What windows tell each other of the stream that they share: that it has opened, that it was cut, and that a window is new. */
const OPEN = { name: 'stream.open', data: {}, id: null };
const CUT = { name: 'stream.cut', data: {}, id: null };
const HELLO = { name: 'hello', data: {}, id: null };
/** How many scenes a stream remembers, to leave out what comes again. */
const SCENES_REMEMBERED = 10_000;
/** The most events that wait for their reader in a window, or are remembered. */
const LONGEST_FEED = 1000;

/** Whether there is what windows share a stream by. Browsers have locks, and digests, on `https:` and `localhost` only. */
const canShare = () => typeof BroadcastChannel !== 'undefined' && !!globalThis.navigator?.locks && !!crypto?.subtle;

/** A name that says nothing of the key, which has the token: any script of the origin can list the names of locks. */
async function nameFor(key) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key)));
  return `arbiter ${Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')}`;
}

/**
 * One stream of all scenes for all windows of an origin, because a browser opens six connections to a host.
 *
 * The window that has the lock reads the stream, and tells the others; when it is closed, the next one continues after the
 * last event.
 */
class SharedEvents {
  static #all = new Map();

  /** The stream of a daemon, as a client with these headers sees it, until the client leaves it. */
  static of(arbiter) {
    // The number is that of what windows tell each other: those of another version share a stream of their own.
    const key = JSON.stringify([2, arbiter.url, arbiter.headers]);
    if (!this.#all.has(key)) this.#all.set(key, new SharedEvents(arbiter, key));
    const shared = this.#all.get(key);
    shared.#clients += 1;
    return shared;
  }

  /** Whether the stream is open, as far as is known here. */
  isOpen = false;
  #clients = 0;
  /** What the lock and the channel are called, and the channel; null until the name is made, and where nothing can be shared. */
  #name = null;
  #channel = null;
  /** Whether this window reads the stream. */
  #leads = false;
  #listeners = new Set();
  #last = null;
  #told = 0;
  /** The last events that were told. */
  #recent = [];
  /** Why the stream is read no more, if the daemon has refused it for good. */
  #refusal = null;

  constructor({ url, headers, fetch }, key) {
    this.key = key;
    // It belongs to no client of the window, each of which may be closed.
    this.arbiter = new Arbiter({ url, headers, fetch, shared: false });
    this.#begin();
  }

  async #begin() {
    if (canShare()) {
      const name = await nameFor(this.key);
      if (this.#clients === 0) return;
      this.#name = name;
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = ({ data }) => {
        if (data.name !== HELLO.name) this.#take(data);
        else if (this.#leads) this.#channel.postMessage(this.isOpen ? OPEN : CUT);
      };
      // What was told before is missed.
      this.gap();
    }
    this.#lead();
  }

  leave() {
    this.#clients -= 1;
    if (this.#clients > 0) return;
    SharedEvents.#all.delete(this.key);
    this.arbiter.close();
    this.#channel?.close();
  }

  /** Says that this window may have missed events. */
  gap() {
    this.#channel?.postMessage(HELLO);
    this.#take(GAP);
  }

  /**
   * Calls back with each event of all scenes, with the error that ends the stream, and when it has opened or was cut; what is
   * returned ends that.
   */
  listen(take, fail = () => {}, note = () => {}) {
    const listener = { take, fail, note };
    this.#listeners.add(listener);
    if (this.#refusal) this.#lead();
    return () => this.#listeners.delete(listener);
  }

  /** How many events have been told so far: what is asked after reading it is not older than they are. */
  get mark() {
    return this.#told;
  }

  /** Passes so many seconds, or fewer if an event of these names has been told about a transition since the mark. */
  async news(id, names, mark, seconds, signal) {
    // After a gap, anything may have happened to any transition.
    const concerns = ({ name, data }) => (data.id === id && names.includes(name)) || name === 'reset' || name === GAP.name;
    const missed = this.#told - mark;
    if (missed > this.#recent.length || this.#recent.slice(this.#recent.length - missed).some(concerns)) return;
    const told = new AbortController();
    const end = this.listen(event => {
      if (concerns(event)) told.abort();
    });
    const both = linked(told.signal, signal);
    await sleep(seconds, both.signal);
    both.release();
    end();
  }

  async #lead() {
    this.#refusal = null;
    const read = () => this.#read();
    try {
      if (this.#name === null) await read();
      else await navigator.locks.request(this.#name, read).catch(error => {
        if (error instanceof ArbiterError) throw error;
        // A page that may not use locks reads a stream of its own.
        return read();
      });
    } catch (error) {
      this.#refusal = error;
      for (const { fail } of [...this.#listeners]) fail(error);
    }
  }

  async #read() {
    this.#leads = true;
    this.#tell(CUT);
    const opened = isResumed => {
      this.#tell(OPEN);
      if (!isResumed) this.#tell(GAP);
    };
    const options = { since: this.#last, opened, cut: () => this.#tell(CUT), patience: Infinity };
    for await (const event of this.arbiter.stream('/events', options)) this.#tell(event);
  }

  #tell(event) {
    this.#channel?.postMessage(event);
    this.#take(event);
  }

  #take(event) {
    if (event.name === OPEN.name || event.name === CUT.name) {
      this.isOpen = event.name === OPEN.name;
      for (const { note } of [...this.#listeners]) note(this.isOpen);
      return;
    }
    this.#last = event.id ?? this.#last;
    this.#told += 1;
    this.#recent.push(event);
    if (this.#recent.length > LONGEST_FEED) this.#recent.shift();
    for (const { take } of [...this.#listeners]) take(event);
  }
}

/**
 * What a resumed stream repeats. Where a cluster has several shards, the stream of all scenes is resumed at a place that may be
 * a second old, so that events come again; a scene's event is the same if its number is.
 */
export class Repeats {
  /** The number of the last event of each scene; the scene that was used last is the last one. */
  #numbers = new Map();
  #named = new Set();

  /** Whether an event was not there before. */
  isNew({ name, data }) {
    if (name === 'reset.end') {
      // Another life of the daemon may count from the beginning.
      for (const scene of [...this.#numbers.keys()]) if (!this.#named.has(scene)) this.#numbers.delete(scene);
      this.#named.clear();
      return true;
    }
    const { scene, number } = data ?? {};
    if (number === undefined) return true;
    if (name === 'reset') this.#named.add(scene);
    else if ((this.#numbers.get(scene) ?? -1) >= number) return false;
    this.#numbers.delete(scene);
    this.#numbers.set(scene, number);
    if (this.#numbers.size > SCENES_REMEMBERED) this.#numbers.delete(this.#numbers.keys().next().value);
    return true;
  }
}

/** Events that wait for their reader, until the signal is aborted. */
class Feed {
  #events = [];
  #error = null;
  #wake = () => {};
  #signal;

  constructor(shared, signal, note) {
    this.#signal = signal;
    this.end = shared.listen(event => this.#take(event), error => this.fail(error), note);
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  #take(event) {
    if (this.#events.length < LONGEST_FEED) this.#events.push(event);
    else this.#events = [GAP];
    this.#wake();
  }

  fail(error) {
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    while (!this.#signal.aborted) {
      if (this.#events.length) yield this.#events.shift();
      else if (this.#error) throw this.#error;
      else await new Promise(resolve => { this.#wake = resolve; });
    }
  }
}

// The client

export class Arbiter {
  #session = null;
  #opening = null;
  /** Whether the daemon has answered, or it was said that it does not. */
  #hasSpoken = false;
  /** How often the session has been given up, with what was bound to it. */
  #epoch = 0;
  #held = new Set();
  #shared = null;
  #isClosed = false;
  /** What `close` aborts; a signal would warn in Node of so many listeners. */
  #pending = new Set();
  #hide = () => this.#giveUpSession();
  #show = event => {
    // What was told meanwhile is lost.
    if (event.persisted) this.#shared?.gap();
  };

  constructor({ url, token, client, patience = 30, headers = {}, shared = typeof window !== 'undefined' && canShare(), fetch } = {}) {
    this.url = checkedURL(
      url ?? globalThis.location?.origin ?? (globalThis.process?.env?.ARBITER_URL || 'http://127.0.0.1:8080'));
    this.client = client;
    this.patience = checkedSeconds('patience', patience);
    this.headers = checkedHeaders({ ...headers, ...(token ? { Authorization: `Bearer ${token.trim()}` } : {}) });
    this.fetch = fetch ?? globalThis.fetch.bind(globalThis);
    if (shared) this.#shared = SharedEvents.of(this);
    if (typeof window !== 'undefined') {
      addEventListener('pagehide', this.#hide);
      addEventListener('pageshow', this.#show);
    }
  }

  scene(name = 'main') {
    return new Scene(this, name);
  }

  events(options) {
    return this.stream('/events', options);
  }

  async read(id) {
    return documentOf(await this.ask('GET', `/transitions/${inPath('The id', id)}`));
  }

  async transitions(given = {}) {
    const { scene, state, client, limit = 100, ...others } = optionsOf(given);
    noOthers(others);
    if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError('limit is an integer, 1 or more');
    let found = [];
    // Each page is older than the one before.
    for await (const page of this.#pages('/transitions', { scene, state, client, limit: Math.min(limit, LONGEST_PAGE) })) {
      found = [...page.transitions, ...found];
      if (found.length >= limit) break;
    }
    return found.slice(Math.max(0, found.length - limit));
  }

  async scenes() {
    const found = [];
    for await (const page of this.#pages('/scenes', { limit: LONGEST_PAGE })) found.push(...page.scenes);
    return found;
  }

  async revoke(id, { reason }) {
    return documentOf(await this.ask('POST', '/transitions/revoke', { id, reason }));
  }

  async revokeAll(scene, { reason, client }) {
    // Repeated, it would end what was asked for in between.
    return documentOf(await this.#send('POST', '/transitions/revoke', defined({ scene, client, reason }))).revoked;
  }

  async *#pages(path, query) {
    for (let next = `${path}?${new URLSearchParams(defined(query))}`; next;) {
      const answer = await this.ask('GET', next);
      yield documentOf(answer);
      next = answer.next;
    }
  }

  ready(id) {
    return this.#report({ id });
  }

  veto(id, { reason } = {}) {
    return this.#report({ id, ready: false, ...defined({ reason }) });
  }

  #report(body) {
    return this.#say('POST', '/transitions/ready', body);
  }

  /** Sets a guard, or removes it. */
  guard(method, path, body) {
    return this.#say(method, path, body);
  }

  async #say(method, path, body) {
    return documentOf(await this.#inSession(session => this.ask(method, path, body, { headers: { [SESSION]: session } })));
  }

  async close() {
    if (this.#isClosed) return;
    if (typeof window !== 'undefined') {
      removeEventListener('pagehide', this.#hide);
      removeEventListener('pageshow', this.#show);
    }
    const told = this.#giveUpSession();
    this.#isClosed = true;
    for (const controller of [...this.#pending]) controller.abort(new Closed());
    this.#shared?.leave();
    await told;
  }

  /** Ends the session, and loses what is bound to it. The next request opens another one. */
  async #giveUpSession() {
    const session = this.#session;
    this.#session = null;
    this.#epoch += 1;
    for (const holding of [...this.#held]) holding.loseSession();
    if (!session) return;
    try {
      // Without a word, it ends by itself.
      const options = { headers: { [SESSION]: session }, timeout: MARGIN, keepalive: true };
      await this.#send('POST', '/sessions/end', undefined, options);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }

  #checkOpen() {
    if (this.#isClosed) throw new Closed();
  }

  /** A controller that is aborted with the signal, and by `close`; `release` lets go of it. */
  #abortedWith(signal) {
    const controller = linked(signal);
    const { release } = controller;
    controller.release = () => {
      release();
      this.#pending.delete(controller);
    };
    this.#pending.add(controller);
    if (this.#isClosed) controller.abort(new Closed());
    return controller;
  }

  // Asking

  /** Sends a request once. */
  async #send(method, path, body, { headers, timeout = LONGEST_ANSWER, signal, keepalive } = {}) {
    const text = body === undefined ? undefined : jsonOf(body);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeout * 1000);
    const both = linked(late.signal, signal);
    const sent = now();
    try {
      const response = await this.fetch(this.url + path, {
        method, keepalive, signal: both.signal, cache: 'no-store',
        headers: { ...this.headers, ...headers, ...(text === undefined ? {} : { 'Content-Type': 'application/json' }) },
        body: text,
      });
      return { ...await answerOf(response), sent };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const why = late.signal.aborted ? `no answer within ${timeout} s` : reasonOf(error);
      throw new Unreachable(`${method} ${path} at ${this.url}: ${why}`, { cause: error });
    } finally {
      clearTimeout(timer);
      both.release();
    }
  }

  /**
   * Sends a request until there is an answer, or `patience` seconds are over in which there should have been one. It may arrive
   * several times, so it must be one that does the same then, by its nature or by its idempotency key. If it waits for something,
   * the daemon parks it for `wait` seconds. Until `roomUntil`, by `now`, a daemon without room is asked again too.
   */
  async ask(method, path, body, { signal, wait, roomUntil = 0, ...options } = {}) {
    const began = now();
    const deadline = began + (wait ?? 0) + this.patience;
    if (wait !== undefined) options.timeout = wait + MARGIN;
    const over = this.#abortedWith(signal);
    try {
      // If the connection of what is parked is cut, its place is kept for two seconds.
      for (const delay of backoff(wait === undefined ? undefined : LONGEST_DELAY)) {
        let after = delay;
        over.signal.throwIfAborted();
        try {
          const answer = await this.#send(method, path, body, { ...options, signal: over.signal });
          this.#hasSpoken = true;
          const waitsForRoom = answer.document.code === OUT_OF_ROOM && now() + answer.retryAfter < roomUntil;
          if (!passes(answer) && !waitsForRoom) return answer;
          after = Math.max(delay, answer.retryAfter);
          if (now() >= deadline || now() + answer.retryAfter > deadline) return answer;
        } catch (error) {
          if (!(error instanceof Unreachable) || now() >= deadline) throw error;
          this.#unheard(error, began, deadline);
        }
        // The last attempt is made when the patience is over.
        await sleep(Math.min(after, Math.max(0, deadline - now())), over.signal);
      }
    } finally {
      over.release();
    }
  }

  /** Says that the daemon has not answered yet: once, and never if it has answered before. */
  #unheard({ message }, began, deadline) {
    if (this.#hasSpoken || now() - began < SILENCE_BEFORE_WORDS) return;
    this.#hasSpoken = true;
    console.warn(`arbiter: ${message}; it is asked for ${Math.round(deadline - now())} s more`);
  }

  /** The token of the session, which is opened once if there is none. */
  async #open() {
    if (this.#session) return this.#session;
    const body = defined({ client: this.client });
    this.#opening ??= this.ask('POST', '/sessions', body, { roomUntil: Infinity }).finally(() => {
      this.#opening = null;
    });
    this.#session = documentOf(await this.#opening).token;
    return this.#session;
  }

  /** Asks something of the session, whose token `ask` is called with; a session that has ended is replaced once. */
  async #inSession(ask) {
    const session = await this.#open();
    const answer = await ask(session);
    if (!sessionIsOver(answer)) return answer;
    if (this.#session === session) this.#session = null;
    return ask(await this.#open());
  }

  /** Asks for a transition that is bound to the session. */
  #askInSession(path, ticket, body, options) {
    return this.#inSession(session => {
      options.signal?.throwIfAborted();
      ticket.key ??= Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('');
      ticket.headers = { [SESSION]: session, 'Idempotency-Key': ticket.key };
      ticket.asked = [path, body];
      ticket.epoch = this.#epoch;
      ticket.mark = this.#shared?.mark;
      return this.ask('POST', path, body, { ...options, headers: ticket.headers });
    });
  }

  /** Registers what is held, to be lost with its session, until the function that is returned is called. */
  hold(holding, ticket) {
    this.#held.add(holding);
    if (ticket.epoch !== this.#epoch) holding.loseSession();
    return () => this.#held.delete(holding);
  }

  // Turns, for `Scene` and `Transition`

  async start(ticket, signal) {
    // What never waits does not interrupt.
    const { whenBusy, unmet, ...body } = ticket.body;
    const answer = await this.#askInSession('/transitions/start', ticket, body, { timeout: MARGIN, signal });
    if (answer.document.code === 'busy') return false;
    ticket.note(answer);
    await this.#untilRunning(ticket, Infinity, signal);
    return true;
  }

  async serialize(ticket, { timeout, waiting, waitForSelf, signal }) {
    const deadline = timeout == null ? Infinity : now() + timeout;
    const body = { ...ticket.body, wait: 0 };
    const options = { timeout: MARGIN, signal, roomUntil: deadline };
    ticket.note(await this.#askInSession('/transitions/serialize', ticket, body, options));
    if (!waitForSelf) ticket.checkNesting();
    await this.#untilRunning(ticket, deadline, signal, waiting);
  }

  async #untilRunning(ticket, deadline, signal, waiting) {
    while (['queued', 'preparing'].includes(ticket.document.state)) {
      waiting?.(ticket.shown);
      const left = Math.max(0, deadline - now());
      if (left === 0) throw new TimedOut(`The turn in ${ticket.body.scene} did not come in time`);
      if (this.#shared) await this.#news(ticket, RUNNING, Math.min(SHARED_WAIT, left), signal);
      const wait = this.#shared ? 0 : Math.min(LONGEST_WAIT, left);
      const options = { headers: ticket.headers, wait, signal };
      // So that a client which is gone, and whose connections a proxy keeps, holds the lock for seconds only.
      const body = ticket.named({ until: 'running', claim: true, wait });
      ticket.note(await this.ask('POST', '/transitions/await', body, options));
    }
    const isUnclaimed = ticket.document.leaseRemaining < ticket.lease;
    if (!ticket.hasEnded && (isUnclaimed || ticket.heldUntil - now() < ticket.lease / 2)) {
      // The answer to a request that was parked for long says nothing about when it was given; and a grant is to be claimed.
      const body = ticket.named({ until: 'running', wait: 0 });
      ticket.note(await this.ask('POST', '/transitions/await', body, { headers: ticket.headers, wait: 0, signal }));
    }
    if (ticket.hasEnded && !ticket.document.noop) throw new TransitionEnded(ticket.shown);
  }

  /** Passes so many seconds, or fewer if windows tell such an event of a ticket, or the signal is aborted. */
  async #news(ticket, names, seconds, signal) {
    const over = this.#abortedWith(signal);
    await this.#shared.news(ticket.document.id, names, ticket.mark, seconds, over.signal);
    over.release();
    ticket.mark = this.#shared.mark;
  }

  /** Takes back what was asked, wherever it was cut off; after `close`, it ends with the session. */
  async giveUp(ticket) {
    if (this.#isClosed) return;
    try {
      if (!ticket.document) {
        if (!ticket.asked) return;
        // The request may have arrived: the same one with the same key leads to what it made.
        ticket.note(await this.#lastWords(...ticket.asked, ticket.headers));
      }
      if (ticket.hasEnded) return;
      const answer = await this.#lastWords('/transitions/end', ticket.named({ outcome: 'cancelled' }));
      // One whose gesture was decided ends as that was.
      if (answer.document.code === 'already-decided') await this.#lastWords('/transitions/end', ticket.named({}));
    } catch (error) {
      // The ticket ends with the session.
      if (!(error instanceof ArbiterError)) throw error;
    }
  }

  /** Sends a request, and once more if the connection was cut: one that is kept open may have been cut before. */
  async #lastWords(path, body, headers = {}) {
    const send = () => this.#send('POST', path, body, { headers, timeout: MARGIN });
    return send().catch(error => {
      if (error instanceof Unreachable) return send();
      throw error;
    });
  }

  /**
   * Keeps a granted transition until it has ended: its last document, or null if its lease may have run out.
   *
   * A request is answered within a sixth of the lease, so that two thirds of the lease are left at any time; where windows share a
   * stream, one is made in each third of it. After a failure the next one is not parked, and they follow each other
   * the faster, the less is left of the lease, which is counted from the sending of the last one that was answered. If no such
   * one was asked shortly before its end, this process was stopped, the machine slept, or it ends now by `maxHoldSeconds`: then
   * the daemon is asked once more. An aborted `signal` says that its owner ends it, or has lost it; then it is not kept any
   * longer. `interrupt` is called with its interruption, when that is heard of.
   */
  async keep(ticket, signal, interrupt) {
    const { lease } = ticket;
    const pause = Math.min(lease / (this.#shared ? 3 : 6), LONGEST_WAIT);
    const margin = Math.min(MARGIN, Math.max(KEEPING_MARGIN, lease / 6));
    const headers = { ...ticket.headers };
    const closing = this.#abortedWith();
    let [hasFailed, isLast, asked, delays] = [false, false, -Infinity, backoff(LONGEST_DELAY)];
    try {
      while (!signal.aborted && !isLast) {
        if (this.#shared && !hasFailed) {
          await this.#news(ticket, ENDED, Math.min(pause, ticket.heldUntil - now()), signal);
          if (signal.aborted) break;
        }
        const left = ticket.heldUntil - now();
        isLast = left <= 0;
        if (isLast && now() - asked <= margin) break;
        const wait = this.#shared || hasFailed || isLast ? 0 : pause;
        // The less is left, the shorter are the asks; but each is long enough for a slow network.
        const timeout = isLast ? margin : Math.min(left, wait ? wait + margin : Math.min(MARGIN, Math.max(margin, left / 2)));
        const options = { headers, timeout, signal: closing.signal };
        let delay = delays.next().value;
        // One that is cut short by the end of the lease says nothing.
        if (wait === 0 && timeout >= margin / 2) asked = now();
        try {
          const answer = await this.#send('POST', '/transitions/await', ticket.named({ until: 'ended', wait }), options);
          if (decides(answer)) {
            // The daemon does not know it any more, or says how it ended.
            if (sessionIsOver(answer) && headers[SESSION]) {
              // Without the token of its session, which has ended, the daemon says what became of it.
              delete headers[SESSION];
              [hasFailed, isLast, asked] = [true, false, -Infinity];
              continue;
            }
            if (answer.status >= 400) return answer.document.transition ?? refusedEnd(ticket, answer);
            if (answer.document.state === 'ended') return answer.document;
            ticket.heldUntil = answer.sent + (answer.document.leaseRemaining ?? lease);
            if (answer.document.interruption) interrupt(answer.document.interruption);
            [hasFailed, isLast, asked, delays] = [false, false, -Infinity, backoff(LONGEST_DELAY)];
            continue;
          }
          delay = Math.max(delay, answer.retryAfter);
        } catch (error) {
          if (!(error instanceof Unreachable)) throw error;
        }
        hasFailed = true;
        await sleep(Math.min(ticket.heldUntil - now(), Math.max(SHORTEST_DELAY, Math.min(delay, left / 4))), signal);
      }
      return null;
    } finally {
      closing.release();
    }
  }

  async end(ticket, outcome) {
    return documentOf(await this.#act('end', ticket, { outcome }));
  }

  /** `progress` or `release` of a gesture. @throws as `end` */
  async drive(ticket, call, fields) {
    return documentOf(await this.#act(call, ticket, fields));
  }

  async perform(ticket, fields) {
    const answer = await this.#act('perform', ticket, fields);
    // It still has no operation then, and runs.
    if (documentOf(answer).noop) return answer.document;
    ticket.note(answer);
    return ticket.shown;
  }

  async update(ticket, animation) {
    const answer = await this.#act('update', ticket, { animation });
    documentOf(answer);
    ticket.note(answer);
    return ticket.shown;
  }

  /** The answer to its owner. @throws TransitionEnded if it has ended otherwise, or the daemon does not know it any more */
  async #act(call, ticket, fields) {
    const answer = await this.ask('POST', `/transitions/${call}`, ticket.named(defined(fields)), { timeout: MARGIN });
    if (answer.status >= 400 && answer.document.transition?.state === 'ended') {
      throw new TransitionEnded(answer.document.transition);
    }
    if (answer.document.code === 'unknown-transition') throw new TransitionEnded(refusedEnd(ticket, answer));
    return answer;
  }

  // Streams

  /**
   * Follows a path until the signal is aborted. `opened` is called with each connection, and whether it resumes a stream; `cut` at
   * the end of each. Within `patience` seconds it has to open for the first time.
   */
  stream(path, { since = null, attached = false, signal, opened = () => {}, cut = () => {}, patience = this.patience } = {}) {
    this.#checkOpen();
    if (since !== null) checkedHeaders({ 'Last-Event-ID': since });
    return this.#stream(path, since, attached, signal, opened, cut, patience);
  }

  async *#stream(path, since, attached, signal, opened, cut, patience) {
    let [last, delays, said] = [since, backoff(), null];
    /** Until when it has to open for the first time; null once it has. */
    const began = now();
    let deadline = began + patience;
    const failed = why => {
      if (deadline === null || patience === Infinity) return;
      const error = this.#neverOpened(path, why);
      if (now() >= deadline) throw error;
      this.#unheard(error, began, deadline);
    };
    const repeats = new Repeats();
    const over = this.#abortedWith(signal);
    try {
      while (!over.signal.aborted) {
        const silent = new AbortController();
        const both = linked(silent.signal, over.signal);
        let [isOpen, why] = [false, 'nothing came'];
        // A daemon that is there sends the head about as soon as a comment would come.
        let [timer, limit] = [null, said === null ? STREAM_SILENCE : Math.max(said, MARGIN)];
        if (deadline !== null) limit = Math.max(SHORTEST_SILENCE, Math.min(limit, deadline - now()));
        const listen = () => {
          clearTimeout(timer);
          timer = setTimeout(() => silent.abort(), limit * 1000);
        };
        try {
          const session = attached ? await this.#open() : null;
          listen();
          const response = await this.fetch(this.url + path, {
            signal: both.signal, cache: 'no-store',
            headers: {
              ...this.headers, Accept: 'text/event-stream', ...(last === null ? {} : { 'Last-Event-ID': last }),
              ...(session ? { [SESSION]: session } : {}),
            },
          });
          if (response.status === 200) {
            if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
              throw new Error('the answer is no stream of events');
            }
            said = silenceSaidBy(response.headers);
            limit = said ?? STREAM_SILENCE;
            if (deadline !== null) limit = Math.max(SHORTEST_SILENCE, Math.min(limit, deadline - now()));
            listen();
            for await (const event of parseEvents(response.body)) {
              // A proxy may pass the head on, and keep what comes after it.
              if (!isOpen) opened(last !== null);
              [isOpen, deadline, limit] = [true, null, said ?? STREAM_SILENCE];
              this.#hasSpoken = true;
              listen();
              if (!event) continue;
              last = event.id ?? last;
              delays = backoff();
              if (!event.name || !repeats.isNew(event)) continue;
              // What its reader does meanwhile is no silence of the stream.
              clearTimeout(timer);
              yield event;
              listen();
            }
          } else {
            const answer = await answerOf(response);
            if (session && sessionIsOver(answer)) this.#session = null;
            else if (![429, 503].includes(answer.status)) documentOf(answer);
            else why = answer.document.detail ?? why;
          }
        } catch (error) {
          // A stream that is cut is resumed.
          if (over.signal.aborted) return;
          if (error instanceof ArbiterError && !(error instanceof Unreachable)) throw error;
          if (!silent.signal.aborted) why = reasonOf(error);
        } finally {
          clearTimeout(timer);
          both.release();
          silent.abort();
        }
        failed(why);
        cut();
        // The last attempt is made when the patience is over.
        await sleep(Math.min(delays.next().value, deadline === null ? Infinity : Math.max(0, deadline - now())), over.signal);
      }
    } finally {
      over.release();
    }
  }

  #neverOpened(path, why) {
    return new Unreachable(`GET ${path} at ${this.url}: ${why}; the stream has never opened`);
  }

  // Scenes, for `Scene` and `Hierarchy`

  sceneEvents(name, { since = null, attached = false, signal } = {}) {
    const isShared = this.#shared && since === null && !attached;
    if (!isShared) return this.stream(scenePath(name, '/events'), { since, attached, signal });
    this.#checkOpen();
    return this.#sharedSceneEvents(name, signal);
  }

  /** A `reset` with the scene as it is, and what happens after it; `note` is told when the stream opens, and when it is cut. */
  async *wholeScene(name, signal, note) {
    if (this.#shared) {
      yield* this.#sharedSceneEvents(name, signal, note);
      return;
    }
    const scene = await this.#scene(name, signal);
    yield resetOf(name, scene);
    const [opened, cut] = [() => note(true), () => note(false)];
    yield* this.stream(scenePath(name, '/events'), { since: String(scene.lastEvent), signal, opened, cut });
  }

  /** The events of a scene out of the stream that windows share; with `note`, a `reset` comes first. */
  async *#sharedSceneEvents(name, signal, note = null) {
    const over = this.#abortedWith(signal);
    let timer = null;
    const feed = new Feed(this.#shared, over.signal, isOpen => {
      if (isOpen) clearTimeout(timer);
      note?.(isOpen);
    });
    if (!this.#shared.isOpen) {
      const fail = () => feed.fail(this.#neverOpened('/events', 'nothing came'));
      timer = setTimeout(fail, Math.min(this.patience * 1000, LONGEST_TIMER));
    }
    try {
      // What is told from now on waits in the feed.
      let scene = await this.#scene(name, signal);
      let known = scene.lastEvent;
      if (note) yield resetOf(name, scene);
      note?.(this.#shared.isOpen);
      for await (const event of feed) {
        const { scene: of, number } = event.data;
        const isNew = of === name && event.name !== 'reset' && number > known;
        if (event.name === GAP.name || (isNew && scene === NO_SCENE)) {
          const before = scene;
          scene = await this.sceneAgain(name, over.signal);
          if (scene && scene !== NO_SCENE && (scene.lastEvent !== known || before === NO_SCENE)) {
            known = scene.lastEvent;
            yield resetOf(name, scene);
          } else if (scene === NO_SCENE && before !== NO_SCENE) {
            known += 1;
            yield { name: 'scene.deleted', data: { scene: name, number: known }, id: null };
          }
        } else if (isNew) {
          known = number;
          if (event.name === 'scene.deleted') scene = NO_SCENE;
          yield { ...event, id: String(number) };
        } else if (of === name && number === undefined) {
          yield event;
        }
      }
    } finally {
      clearTimeout(timer);
      feed.end();
      over.release();
    }
  }

  /** The document of a scene with its hierarchy, and the number of the last event that it includes. */
  async #scene(name, signal) {
    const answer = await this.ask('GET', scenePath(name), undefined, { signal });
    return answer.document.code === 'unknown-scene' ? NO_SCENE : documentOf(answer);
  }

  /** The same, as often as it takes; null if the signal is aborted. */
  async sceneAgain(name, signal) {
    for (const delay of backoff()) {
      try {
        return await this.#scene(name, signal);
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof Unreachable || [429, 503].includes(error.status))) throw error;
      }
      await sleep(delay, signal);
    }
  }
}

const NO_SCENE = { revision: 0, lastEvent: 0 };

const scenePath = (name, rest = '') => `/scenes/${inPath('The name of a scene', name)}${rest}`;

/**
 * An id as a part of a path.
 * @throws TypeError for what is no text; RangeError for an empty one, which would be another path
 */
function inPath(name, value) {
  if (typeof value !== 'string') throw new TypeError(`${name} is a text, not ${value === null ? null : typeof value}`);
  if (!value) throw new RangeError(`${name} is empty`);
  return encodeURIComponent(value);
}

/** @throws TypeError for options that do not exist */
function noOthers(options) {
  const [name] = Object.keys(options);
  if (name !== undefined) throw new TypeError(`There is no option ${name} here`);
}

const resetOf = (name, scene) =>
  ({ name: 'reset', data: { ...scene, scene: name, number: scene.lastEvent }, id: String(scene.lastEvent) });

/** What was given to a function of a body: options, if there are some, and the body. */
function bodyOf(given) {
  const body = given.at(-1);
  if (typeof body !== 'function' || given.length > 2) throw new TypeError('The last argument is the body, a function');
  return [given.length > 1 ? optionsOf(given[0]) : {}, body];
}

/** @throws TypeError for what is no object, such as the name of a scene */
function optionsOf(given) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const kind = given === null ? null : Array.isArray(given) ? 'array' : typeof given;
    throw new TypeError(`The options are an object, not ${kind}; a scene is named by arbiter.scene(name)`);
  }
  return given;
}

/** Runs what a transition is held for. */
const inBody = (transition, body) =>
  (bodies ? bodies.run(new Set(bodies.getStore()).add(transition.id), body) : body());

/** Runs the body, and ends the transition, if there is one. */
async function holding(transition, body) {
  let result;
  try {
    result = await (transition ? inBody(transition, () => body(transition)) : body(transition));
  } catch (error) {
    // What the body threw is what the caller has to know.
    await transition?.endAfterBody({ failed: true }).catch(() => {});
    throw error;
  }
  await transition?.endAfterBody({ failed: false });
  return result;
}

export class Scene {
  constructor(arbiter, name) {
    this.arbiter = arbiter;
    this.name = name;
  }

  async start(given = {}) {
    const { signal, ...options } = optionsOf(given);
    const ticket = new Ticket(this.name, options);
    const isGranted = await this.#givingUp(ticket, () => this.arbiter.start(ticket, signal));
    return isGranted ? new Transition(this.arbiter, ticket) : null;
  }

  async serialize(given = {}) {
    const { signal, timeout, waiting, waitForSelf, ...options } = optionsOf(given);
    if (timeout != null) checkedSeconds('timeout', timeout);
    const ticket = new Ticket(this.name, options);
    await this.#givingUp(ticket, () => this.arbiter.serialize(ticket, { timeout, waiting, waitForSelf, signal }));
    return new Transition(this.arbiter, ticket);
  }

  async startInteractive(given = {}) {
    const { signal, ...options } = optionsOf(given);
    const ticket = new Ticket(this.name, { ...options, interactive: true });
    const isGranted = await this.#givingUp(ticket, () => this.arbiter.start(ticket, signal));
    if (!isGranted) return null;
    const finger = new Finger(this.arbiter, ticket);
    return new InteractiveTransition(ticket, finger, Promise.resolve(new Transition(this.arbiter, ticket, finger)));
  }

  serializeInteractive(given = {}) {
    const { signal, timeout, waiting, ...options } = optionsOf(given);
    if (timeout != null) checkedSeconds('timeout', timeout);
    const ticket = new Ticket(this.name, { ...options, interactive: true });
    let [hasAsked, hasFailed] = [];
    const asked = new Promise((resolve, reject) => { [hasAsked, hasFailed] = [resolve, reject]; });
    const finger = new Finger(this.arbiter, ticket, asked);
    const turn = {
      timeout, signal, waitForSelf: !!bodies,
      waiting: shown => {
        hasAsked();
        waiting?.(shown);
      },
    };
    const granted = this.#givingUp(ticket, () => this.arbiter.serialize(ticket, turn))
      .then(() => new Transition(this.arbiter, ticket, finger));
    granted.then(hasAsked, hasFailed);
    return new InteractiveTransition(ticket, finger, granted);
  }

  async withTransition(...given) {
    const [options, body] = bodyOf(given);
    return holding(await this.serialize(options), body);
  }

  async tryTransition(...given) {
    const [options, body] = bodyOf(given);
    return holding(await this.start(options), body);
  }

  async controller(id) {
    return documentOf(await this.arbiter.ask('GET', scenePath(this.name, `/controllers/${inPath('The id', id)}`)));
  }

  async untilIdle(given = {}) {
    const { controller, quiet = 0, timeout, signal, ...others } = optionsOf(given);
    noOthers(others);
    checkedSeconds('quiet', quiet);
    // Of a part, the time of quiet begins with each request.
    const longest = controller == null ? LONGEST_WAIT : Math.min(quiet + LONGEST_WAIT, MOST_WAIT);
    if (timeout != null) checkedSeconds('timeout', timeout);
    const deadline = timeout == null ? Infinity : now() + timeout;
    for (;;) {
      const wait = Math.max(0, Math.min(longest, deadline - now()));
      const asked = { ...(controller == null ? {} : { controller }), until: 'idle', quietSeconds: quiet.toFixed(3), wait: wait.toFixed(3) };
      const query = new URLSearchParams(asked);
      const found = documentOf(await this.arbiter.ask('GET', scenePath(this.name, `/await?${query}`), undefined, { wait, signal }));
      if (found.idle) return found;
      if (now() >= deadline) {
        const { idleFor, busy = [] } = found;
        const names = busy.map(({ id, client }) => `${client ?? 'somebody'} (${id})`).join(', ');
        const why = idleFor === undefined ? `busy: ${names}` : `it has been idle for ${idleFor} s only`;
        throw new TimedOut(`${controller ?? this.name} was not idle in time: ${why}`);
      }
    }
  }

  async untilController(id, given = {}) {
    const { is, not, timeout, signal, ...others } = optionsOf(given);
    noOthers(others);
    if ((is === undefined) === (not === undefined)) throw new TypeError('Either is or not is given');
    if (timeout != null) checkedSeconds('timeout', timeout);
    const path = `/controllers/${inPath('The id', id)}/await`;
    const deadline = timeout == null ? Infinity : now() + timeout;
    for (;;) {
      const wait = Math.max(0, Math.min(LONGEST_WAIT, deadline - now()));
      const query = new URLSearchParams({ ...defined({ is, not }), wait: wait.toFixed(3) });
      const found = documentOf(await this.arbiter.ask('GET', scenePath(this.name, `${path}?${query}`), undefined, { wait, signal }));
      if (found.holds) return found;
      if (now() >= deadline) throw new TimedOut(`${id} in ${this.name} was ${is ? `not ${is}` : `still ${not}`} in time`);
    }
  }

  async dryRun(call, given = {}) {
    if (!['start', 'serialize'].includes(call)) throw new TypeError('The call of a dry run is start or serialize');
    const body = { ...wireFields(optionsOf(given)), scene: this.name };
    if (call === 'start') for (const name of ['whenBusy', 'unmet']) delete body[name];
    return documentOf(await this.arbiter.ask('POST', `/transitions/${call}?dryRun=true`, body));
  }

  revoke({ reason, client }) {
    return this.arbiter.revokeAll(this.name, { reason, client });
  }

  addGuard(controllers, { onSilence = 'proceed' } = {}) {
    if (!Array.isArray(controllers)) throw new TypeError('controllers is a list');
    return this.arbiter.guard('POST', scenePath(this.name, '/guards'), { controllers, onSilence });
  }

  async removeGuard(id) {
    if (typeof id !== 'string' || !id) throw new TypeError('The id of a guard is a text');
    const path = scenePath(this.name, `/guards/${encodeURIComponent(id)}`);
    try {
      await this.arbiter.guard('DELETE', path);
    } catch (error) {
      if (!['not-found', 'unknown-scene'].includes(error.code)) throw error;
    }
  }

  async patchStoryboard(changes) {
    return documentOf(await this.arbiter.ask('PATCH', scenePath(this.name, '/storyboard'), changes));
  }

  async declare(storyboard, { ifUndeclared = false, dryRun = false } = {}) {
    const headers = ifUndeclared ? { 'If-None-Match': '*' } : {};
    const path = scenePath(this.name, dryRun ? '/storyboard?dryRun=true' : '/storyboard');
    try {
      return documentOf(await this.arbiter.ask('PUT', path, storyboard, { headers }));
    } catch (error) {
      if (ifUndeclared && error instanceof Refused && error.code === 'already-declared') return null;
      throw error;
    }
  }

  async read() {
    return documentOf(await this.arbiter.ask('GET', scenePath(this.name)));
  }

  async hierarchy({ signal } = {}) {
    const stop = linked(signal);
    try {
      return await Hierarchy.begin(note => this.arbiter.wholeScene(this.name, stop.signal, note), stop,
        () => this.arbiter.sceneAgain(this.name, stop.signal));
    } catch (error) {
      stop.release();
      throw error;
    }
  }

  events(options) {
    return this.arbiter.sceneEvents(this.name, options);
  }

  async #givingUp(ticket, body) {
    try {
      return await body();
    } catch (error) {
      if (ticket.mayWaitAfter(error)) await this.arbiter.giveUp(ticket);
      throw error;
    }
  }
}

export class Hierarchy {
  #snapshot;
  #first;
  #stop;
  /** The number of the last event that the last reading includes. */
  #known;
  #isOver = false;
  #error = null;
  #waiting = [];

  #isOpen = false;
  /** Whether it has to be read again, because an event did not fit. */
  #isBehind = false;

  constructor(stop) {
    this.#stop = stop;
  }

  /** Reads a scene, and returns when its stream has opened. */
  static async begin(follow, stop, readAgain) {
    const hierarchy = new Hierarchy(stop);
    const events = follow(isOpen => hierarchy.#note(isOpen));
    const { value: first } = await events.next();
    hierarchy.#read(first.data);
    hierarchy.#follow(events, readAgain);
    await hierarchy.#until(() => hierarchy.#isOpen);
    if (!hierarchy.#isOpen) throw hierarchy.#error ?? (stop.signal.reason || new Closed());
    hierarchy.#first = hierarchy.#snapshot;
    return hierarchy;
  }

  get snapshot() {
    return this.#snapshot;
  }

  get root() {
    return this.#snapshot.root;
  }

  get revision() {
    return this.#snapshot.revision;
  }

  get isCurrent() {
    return this.#isOpen && !this.#isBehind;
  }

  controller(id) {
    return this.#snapshot.controller(id);
  }

  async *changes() {
    let seen = this.#first;
    for (;;) {
      await this.#until(() => this.#snapshot !== seen);
      if (this.#isOver) break;
      seen = this.#snapshot;
      yield seen;
    }
    if (this.#error) throw this.#error;
  }

  close() {
    this.#stop.abort();
  }

  #read(scene) {
    const [before, snapshot] = [this.#snapshot, snapshotOf(scene)];
    this.#known = scene.lastEvent;
    const isSame = !snapshot.root && !before?.root && snapshot.revision === before?.revision;
    if (!isSame) this.#show(snapshot);
  }

  #show({ root, revision }) {
    this.#snapshot = new HierarchySnapshot(root, revision, this.isCurrent);
  }

  /** Takes notice that its stream has opened, or was cut. */
  #note(isOpen) {
    if (isOpen === this.#isOpen || this.#stop.signal.aborted) return;
    this.#isOpen = isOpen;
    this.#update();
  }

  #update() {
    if (this.#snapshot && this.#snapshot.isCurrent !== this.isCurrent) this.#show(this.#snapshot);
    this.#tell();
  }

  /** Returns when the condition holds, or it is over. */
  async #until(condition) {
    while (!condition() && !this.#isOver) await new Promise(resolve => this.#waiting.push(resolve));
  }

  async #follow(events, readAgain) {
    try {
      for await (const event of events) {
        await this.#take(event, readAgain);
        this.#tell();
      }
    } catch (error) {
      if (!(error instanceof Closed)) this.#error = error;
    }
    this.#isOver = true;
    this.#stop.release();
    this.#isOpen = false;
    this.#tell();
  }

  async #take(event, readAgain) {
    if (event.name === 'reset') {
      this.#read(event.data);
    } else if (event.data.number > this.#known) {
      try {
        const snapshot = after(this.#snapshot, event);
        if (snapshot !== this.#snapshot) this.#show(snapshot);
      } catch (error) {
        if (!(error instanceof Inapplicable)) throw error;
        this.#isBehind = true;
        this.#update();
        const scene = await readAgain();
        this.#isBehind = !scene;
        if (scene) this.#read(scene);
        this.#update();
      }
    }
  }

  #tell() {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Gives back what nobody refers to any more. */
const forgotten = new FinalizationRegistry(holding => holding.forget());

/** What is known of a transition while it is held. It does not refer to the `Transition`, so that this can be forgotten. */
class Holding {
  #arbiter;
  #ticket;
  /** Aborted when it need not be kept any longer, because its owner ends it or has lost it. */
  #over = new AbortController();
  #lost = new AbortController();
  #interrupted = new AbortController();
  interruption = null;
  #keeper = Promise.resolve();
  /** Whether its owner ends it now. What is heard of its end meanwhile is the owner's, or waits for a refusal. */
  #isEnding = false;
  #unseen = [];
  #isForgotten = false;

  constructor(arbiter, ticket) {
    this.#arbiter = arbiter;
    this.#ticket = ticket;
    this.ended = ticket.hasEnded ? ticket.shown : null;
    if (ticket.hasEnded) return;
    // The answer that claims the grant may have been the first to say so.
    if (ticket.document.interruption) this.#interrupt(ticket.document.interruption);
    this.#keeper = this.#keep();
  }

  get signal() {
    return this.#lost.signal;
  }

  get interruptSignal() {
    return this.#interrupted.signal;
  }

  async end(outcome) {
    this.signal.throwIfAborted();
    this.#isEnding = true;
    try {
      this.ended = await this.#arbiter.end(this.#ticket, outcome);
      this.#over.abort();
      this.#interrupted.abort();
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.#over.abort();
        this.#interrupted.abort();
        throw error;
      }
      // It goes on, as far as is known, and is kept.
      this.#isEnding = false;
      if (this.#unseen.length) this.#lose(this.#unseen[0]);
      if (this.#isForgotten) this.forget();
      throw error;
    }
    // Its await is answered by the end, so that no connection is cut.
    await this.#keeper;
    return this.ended;
  }

  /** Says that it ends with its session, which is given up. */
  loseSession() {
    this.#lose({ ...this.#ticket.shown, state: 'ended', outcome: 'expired', reason: 'session-lost' });
  }

  forget() {
    this.#isForgotten = true;
    if (this.#isEnding || this.#over.signal.aborted) return;
    console.warn(`${this.#ticket.document.id} was not ended before it was collected; it is given back`);
    this.giveBack();
  }

  giveBack() {
    this.#lose({ ...this.#ticket.shown, state: 'ended', outcome: 'cancelled' });
    this.#arbiter.giveUp(this.#ticket);
  }

  async #keep() {
    const letGo = this.#arbiter.hold(this, this.#ticket);
    try {
      this.#lose(await this.#arbiter.keep(this.#ticket, this.#over.signal, interruption => this.#interrupt(interruption)));
    } catch (error) {
      // It has been lost with the session.
      if (!(error instanceof Closed)) throw error;
    } finally {
      letGo();
    }
  }

  #interrupt(interruption) {
    this.interruption ??= interruption;
    this.#interrupted.abort(interruption);
  }

  /** Says that it has ended without its owner, unless its owner is ending it. */
  #lose(ended) {
    if (this.#isEnding) return void this.#unseen.push(ended);
    if (this.#over.signal.aborted) return;
    this.ended = ended;
    this.#over.abort();
    this.#lost.abort(new TransitionEnded(ended));
    this.#interrupted.abort(this.#lost.signal.reason);
  }
}

/** Whether a position came after the decision or the end. */
const isLate = error => error.code === 'already-decided'
  || (error instanceof TransitionEnded && ['completed', 'cancelled'].includes(error.outcome));

/** The finger of a gesture: one of its positions is on its way at a time, and the newest waits for that. */
class Finger {
  #arbiter;
  #ticket;
  /** When its ticket has an id. */
  #asked;
  #number = 0;
  #next = null;
  #sending = null;
  /** The newest position, which the release has too: it may overtake what is on its way. */
  #last = {};
  #isReleased = false;

  constructor(arbiter, ticket, asked = Promise.resolve()) {
    this.#arbiter = arbiter;
    this.#ticket = ticket;
    this.#asked = asked;
    // Who asks for something is told.
    asked.catch(() => {});
  }

  get asked() {
    return this.#asked;
  }

  /** The answer to the request with this position, or with a newer one. */
  async move({ sequence = this.#number + 1, ...position }) {
    if (this.#isReleased || sequence <= this.#number) return this.#ignored();
    this.#number = sequence;
    this.#last = defined(position);
    this.#next = { ...this.#last, sequence };
    this.#sending ??= this.#send();
    return this.#sending;
  }

  async release(fields) {
    this.#isReleased = true;
    try {
      await this.#asked;
      // There was nothing to do, and so nothing is decided.
      if (this.#ticket.document.noop) return this.#ticket.shown;
      const released = await this.#arbiter.drive(this.#ticket, 'release', { ...this.#last, ...defined(fields) });
      this.#ticket.decision = released.decision;
      return released;
    } catch (error) {
      this.#isReleased = this.#ticket.decision !== null;
      throw error;
    }
  }

  async #send() {
    try {
      let answer;
      await this.#asked;
      while (this.#next) {
        const position = this.#next;
        this.#next = null;
        answer = await this.#arbiter.drive(this.#ticket, 'progress', position).catch(error => {
          // What the release, or an end by its owner, has overtaken does not count.
          if (this.#isReleased || isLate(error)) return this.#ignored();
          // What failed is replaced by the next position.
          if (!this.#next) throw error;
        });
      }
      return answer;
    } finally {
      this.#sending = null;
    }
  }

  #ignored() {
    return { ...this.#ticket.shown, applied: false };
  }
}

export class Transition {
  #arbiter;
  #ticket;
  #holding;
  #finger;

  constructor(arbiter, ticket, finger = new Finger(arbiter, ticket)) {
    this.#arbiter = arbiter;
    this.#ticket = ticket;
    this.#finger = finger;
    this.#holding = new Holding(arbiter, ticket);
    if (!ticket.hasEnded) forgotten.register(this, this.#holding);
  }

  get id() {
    return this.#ticket.document.id;
  }

  get fence() {
    return this.#ticket.document.fence ?? null;
  }

  get duration() {
    return this.#ticket.isAnimated ? this.#ticket.document.animation?.duration ?? 0 : 0;
  }

  get noop() {
    return this.#ticket.document.noop ?? false;
  }

  get document() {
    return this.ended ?? this.#ticket.shown;
  }

  get decision() {
    return this.#ticket.decision;
  }

  get signal() {
    return this.#holding.signal;
  }

  get interruptSignal() {
    return this.#holding.interruptSignal;
  }

  get interruption() {
    return this.#holding.interruption;
  }

  get ended() {
    return this.#holding.ended;
  }

  async perform(operation, { expect, animated = true, ignoreGuards } = {}) {
    this.signal.throwIfAborted();
    const performed = await this.#arbiter.perform(this.#ticket, { ...asked(operation), expect, ignoreGuards });
    if (!performed.noop) this.#ticket.isAnimated = animated;
    return performed;
  }

  update(animation) {
    return this.#arbiter.update(this.#ticket, animation);
  }

  complete() {
    return this.#end('completed');
  }

  cancel() {
    return this.#end('cancelled');
  }

  progress(fraction, { velocity, sequence } = {}) {
    checkedNumber('fraction', fraction);
    if (velocity !== undefined) checkedNumber('velocity', velocity);
    const moved = this.#finger.move({ fraction, velocity, sequence });
    // What handles the events of a finger does not wait for each. Whoever does is told what went wrong.
    moved.catch(() => {});
    return moved;
  }

  release({ decision, fraction, velocity, cancelled, completionSpeed } = {}) {
    return this.#finger.release({ decision, fraction, velocity, cancelled, completionSpeed });
  }

  /** Ends it as its gesture was decided, if it was, unless its owner has ended it. */
  async endAfterBody({ failed }) {
    if (this.ended && !this.signal.aborted) return;
    try {
      await this.#end(this.decision ? undefined : failed ? 'cancelled' : 'completed');
    } catch (error) {
      // It would go on, but nobody holds it any more.
      if (error instanceof Refused) this.#holding.giveBack();
      throw error;
    }
  }

  async #end(outcome) {
    return this.noop ? this.document : this.#holding.end(outcome);
  }
}

export class InteractiveTransition {
  #ticket;
  #finger;
  #turn;
  /** The transition, once its turn has come. */
  #transition = null;
  /** Why its turn does not come. */
  #failure = null;
  /** Whether it has finished, when its rest has been played. */
  #played = null;

  constructor(ticket, finger, turn) {
    this.#ticket = ticket;
    this.#finger = finger;
    this.#turn = turn;
    // A gesture that is cancelled before its turn does not wait for that.
    turn.then(transition => { this.#transition = transition; }, error => { this.#failure = error; });
  }

  get granted() {
    return this.#granted();
  }

  async #granted() {
    await this.#checkNesting();
    return this.#turn;
  }

  update(fraction, given = {}) {
    const { velocity } = optionsOf(given);
    checkedNumber('fraction', fraction);
    if (velocity !== undefined) checkedNumber('velocity', velocity);
    // What cannot be sent is replaced by the next position.
    this.#finger.move({ fraction, velocity }).catch(() => {});
  }

  async finish(rest) {
    await this.#settle('finish', rest);
  }

  async cancel(rest) {
    await this.#settle('cancel', rest);
  }

  release(rest) {
    return this.#settle(undefined, rest);
  }

  async #settle(decision, rest = (remaining, { signal }) => sleep(remaining, signal)) {
    if (typeof rest !== 'function') throw new TypeError(`rest is a function, not ${rest === null ? null : typeof rest}`);
    if (this.#failure) {
      if (decision === 'cancel') return false;
      throw this.#failure;
    }
    if (decision !== 'cancel') await this.#checkNesting();
    // What is lost must not be decided: that would count when its lease runs out.
    this.#transition?.signal.throwIfAborted();
    const { state, outcome, remaining } = await this.#finger.release({ decision });
    // It has left the queue before its turn, or was released and has ended before.
    if (state === 'ended' && !this.#ticket.document.noop) return outcome === 'completed';
    this.#played ??= this.#play(rest, remaining);
    return this.#played;
  }

  /** Plays the rest when its turn has come, ends it, and says whether it has finished. */
  async #play(rest, remaining) {
    const transition = await this.#turn;
    transition.signal.throwIfAborted();
    try {
      // A finger that left before the turn has drawn nothing.
      await inBody(transition, () => rest(remaining ?? transition.duration, transition));
    } catch (error) {
      // The decision stands, however the animation went.
      await transition.endAfterBody({ failed: true }).catch(() => {});
      throw error;
    }
    await transition.endAfterBody({ failed: false });
    return transition.document.outcome === 'completed' && !transition.noop;
  }

  /** @throws BlockedBySelf in the body of a transition that is in its way, after which it has left the queue */
  async #checkNesting() {
    await this.#finger.asked;
    if (this.#transition) return;
    try {
      this.#ticket.checkNesting();
    } catch (error) {
      await this.#finger.release({ decision: 'cancel' }).catch(() => {});
      throw error;
    }
  }
}

// Not every browser has it.
if (Symbol.asyncDispose) {
  Transition.prototype[Symbol.asyncDispose] = function () {
    return this.endAfterBody({ failed: true });
  };
}

/** Resolves when the signal is aborted. In a constructor it would refer to what is made there, which could not be forgotten. */
const whenAborted = signal => new Promise(resolve => {
  if (signal.aborted) resolve();
  else signal.addEventListener('abort', () => resolve(), { once: true });
});

/** What a request says of an operation, or of several as one. */
const asked = operation => (Array.isArray(operation) ? { operations: operation } : { operation });

/** A transition that was begun without an operation, and may be given one. */
class OpenTransition {
  #last = Promise.resolve();
  #isPerformed = false;
  #lost;
  /** Why its operation was not drawn to the end, or may have been accepted unheard, so that it is not to be applied. */
  failure = null;
  isOpen = true;

  constructor(transition, lock) {
    this.transition = transition;
    this.lock = lock;
    this.#lost = whenAborted(transition.signal);
    this.completed = new Promise(resolve => {
      /** It gets no operation any more, and its block is over. */
      this.complete = () => {
        this.isOpen = false;
        resolve();
      };
    });
  }

  /** Performs an operation as its own, one after the other: what it removes. */
  async perform(operation, options, draw) {
    // Not after what is drawn now, which may be what asks.
    this.#checkBare();
    const performed = this.#last.then(() => this.#perform(operation, options, draw));
    this.#last = performed.catch(() => {});
    return performed;
  }

  async #perform(operation, options, draw) {
    this.#checkBare();
    const { noop, removed } = await this.#ask(operation, options);
    if (noop) return [];
    try {
      await (drawings ? drawings.run(this, draw, this.transition) : draw(this.transition));
      this.transition.signal.throwIfAborted();
    } catch (error) {
      this.failure = error;
      throw error;
    }
    return removed;
  }

  #checkBare() {
    this.transition.signal.throwIfAborted();
    if (!this.#isPerformed) return;
    // The daemon takes the same one for a repetition.
    const detail = 'A transition has one operation: ask for another transition';
    throw new Refused(409, { code: 'already-performed', detail });
  }

  async #ask(operation, options) {
    try {
      const performed = await this.transition.perform(operation, options);
      if (!performed.noop) {
        this.#isPerformed = true;
        // What was asked before was not accepted, or was this.
        this.failure = null;
      }
      return performed;
    } catch (error) {
      const isUndecided = error instanceof Refused && [429, 503].includes(error.status) && error.code !== 'older-rules';
      if (isUndecided || error instanceof Unreachable) this.failure = error;
      throw error;
    }
  }

  /** Returns when what it was asked has been performed, it is lost, or this code is what draws. */
  async untilPerformed() {
    if (drawings?.getStore() !== this) await Promise.race([this.#last, this.#lost]);
  }

  async end() {
    await this.untilPerformed();
    await this.transition.endAfterBody({ failed: !!this.failure });
  }
}

export class TransitionLock {
  #scene;
  #options;
  #timeout;
  #draw;
  /** What `startTransition` began, and whose block runs. */
  #started = null;
  #running = null;
  /**
   * When the last request has its place in the queue, or how it could not reach the daemon: they are asked in the order of the
   * calls.
   */
  #asked = Promise.resolve(null);
  #ending = Promise.resolve();

  constructor(scene, { perform = ({ duration, signal }) => sleep(duration, signal), timeout, ...options } = {}) {
    this.#scene = scene;
    this.#draw = perform;
    this.#timeout = timeout;
    this.#options = options;
  }

  async startTransition() {
    await this.#ending;
    const transition = this.#started ? null : await this.#scene.start(this.#options);
    if (!transition) return false;
    if (this.#started) {
      // The lock was lost between two calls at once.
      await transition.cancel();
      return false;
    }
    this.#started = new OpenTransition(transition, this);
    return true;
  }

  endTransition() {
    const started = this.#started;
    this.#started = null;
    started?.complete();
    const ended = this.#ending.then(() => started?.end());
    this.#ending = ended.catch(() => {});
    return ended;
  }

  async serializeTransition(block) {
    let ran;
    const removed = await this.#turn(this.#options, async transition => {
      const open = new OpenTransition(transition, this);
      this.#running = open;
      // A transition that is lost is complete, whatever the block still does.
      if (transition.signal.aborted) open.complete();
      transition.signal.addEventListener('abort', open.complete);
      try {
        ran = (async () => (blocks ? blocks.run(open, block) : block()))();
        await Promise.race([open.completed, ran.then(() => open.completed)]);
      } finally {
        transition.signal.removeEventListener('abort', open.complete);
        if (this.#running === open) this.#running = null;
        open.complete();
        await open.untilPerformed();
      }
      if (open.failure) throw open.failure;
    });
    // What it does after it has completed its transition is no part of that.
    await ran;
    return removed;
  }

  transitionComplete() {
    this.#current()?.complete();
  }

  async perform(operation, { animated = true, expect } = {}) {
    const open = this.#belongs();
    if (open) return open.perform(operation, { expect, animated }, this.#draw);
    const options = { ...this.#options, ...asked(operation) };
    if (expect) options.expect = [options.expect ?? [], expect].flat();
    if (!animated) options.animation = { ...options.animation, duration: 0 };
    return this.#turn(options, transition => (transition.noop ? undefined : this.#draw(transition)));
  }

  performSegue(identifier, { source, destination, ...options }) {
    return this.perform(operations.segue(identifier, { source, destination }), options);
  }

  push(controller, { navigation, ...options }) {
    return this.perform(operations.push(controller, { navigation }), options);
  }

  pop(navigation, options) {
    return this.perform(operations.pop(navigation), options);
  }

  popTo(controller, { navigation, ...options }) {
    return this.perform(operations.popTo(controller, { navigation }), options);
  }

  popToRoot(navigation, options) {
    return this.perform(operations.popToRoot(navigation), options);
  }

  present(controller, { presenter, ...options } = {}) {
    return this.perform(operations.present(controller, { presenter }), options);
  }

  dismiss(controller, options) {
    return this.perform(operations.dismiss(controller), options);
  }

  select(tabs, { index, controller, offset, ...options }) {
    return this.perform(operations.select(tabs, { index, controller, offset }), options);
  }

  /** The transition of the block that runs, or of the one that this code is in, if that is lost; null in any other block. */
  #current() {
    const within = blocks?.getStore();
    if (within?.lock !== this || within === this.#running) return this.#running;
    return within.transition.signal.aborted ? within : null;
  }

  /** What an operation that is asked for now belongs to, if anything; what is asked of one that is lost fails as it does. */
  #belongs() {
    const isLost = open => open?.transition.signal.aborted;
    const running = this.#current();
    if (isLost(running)) return running;
    // Two do not hold the lock: the one that was granted before has lost it, although that may not have been heard yet.
    const fence = open => open?.transition.fence ?? 0;
    const open = fence(running) > fence(this.#started) ? running : this.#started ?? running;
    return open?.isOpen || isLost(open) ? open : null;
  }

  /** Waits for a turn, and holds it while the body runs: what its operation has removed. */
  async #turn(options, body) {
    const before = this.#asked;
    let note;
    const asked = new Promise(resolve => { note = resolve; });
    this.#asked = asked;
    let transition;
    try {
      // What waits behind one that could not reach the daemon has been in vain for as long.
      const failure = await before;
      if (failure) throw failure;
      // Who asks in a body does not wait for it; a browser cannot tell, and warns.
      const waiting = { timeout: this.#timeout, waiting: () => note(null), waitForSelf: !!bodies };
      transition = await this.#scene.serialize({ ...options, ...waiting });
    } catch (error) {
      note(error instanceof Unreachable ? error : null);
      throw error;
    } finally {
      note(null);
      if (this.#asked === asked) this.#asked = Promise.resolve(null);
    }
    await holding(transition, body);
    // Its gesture may have been decided otherwise.
    if (transition.ended.outcome !== 'completed') throw new TransitionEnded(transition.ended);
    return transition.ended.removed ?? [];
  }
}
