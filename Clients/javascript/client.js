// A client of `arbiterd`, the lock of user interface transitions, for browsers and Node 20. Types and documentation are in
// client.d.ts. The daemon serves this file at /client.js.

/** Refusals that pass: the same request may be accepted later. A queue that is full is the caller's to handle. */
const PASSING = new Set([
  'too-many-requests', 'too-many-connections', 'draining', 'recovering', 'journal-unavailable', 'not-owner',
]);
const SESSION = 'Arbiter-Session';
const LEASE = 10;
/** The longest wait of one request, in seconds. */
const LONGEST_WAIT = 30;
/** What an answer may take besides the wait, in seconds. */
const MARGIN = 5;
/** A comment comes every 15 seconds; after three of them are missing a stream is taken for dead. */
const STREAM_SILENCE = 45;
/** How often a ticket is asked for where no request is parked, in seconds; within the 30 that it lives without a word. */
const SHARED_WAIT = 10;

// Node 18, which Debian 12 has, needs the import.
const crypto = globalThis.crypto ?? (await import('node:crypto')).webcrypto;

export class ArbiterError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class Unreachable extends ArbiterError {}

export class TimedOut extends ArbiterError {}

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
    const { outcome, reason, code, detail } = document ?? { outcome: 'expired', reason: 'unreachable' };
    const why = detail ?? reason;
    super(`The transition is ${outcome}${why ? `: ${why}` : ''}`);
    Object.assign(this, { document: document ?? null, outcome, reason: reason ?? null, code: code ?? null });
  }
}

// Operations

const defined = fields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

export const operations = {
  present: (controller, { presenter }) => ({ type: 'present', presenter, controller }),
  dismiss: controller => ({ type: 'dismiss', controller }),
  push: (controller, { navigation }) => ({ type: 'push', navigation, controller }),
  pop: navigation => ({ type: 'pop', navigation }),
  popTo: (controller, { navigation }) => ({ type: 'popTo', navigation, controller }),
  popToRoot: navigation => ({ type: 'popToRoot', navigation }),
  setStack: (controllers, { navigation }) => ({ type: 'setStack', navigation, controllers }),
  select: (tabs, { index, controller, offset }) => ({ type: 'select', tabs, ...defined({ index, controller, offset }) }),
  segue: (identifier, { source, destination }) => ({ type: 'segue', source, identifier, ...defined({ destination }) }),
  setRoot: controller => ({ type: 'setRoot', controller }),
};

// Time

/** Seconds on a clock that does not jump. */
const now = () => performance.now() / 1000;

/** Delays between attempts in seconds: doubled from 0.1 to 5, each drawn between half and all of it. */
function* backoff() {
  for (let delay = 0.1; ; delay = Math.min(2 * delay, 5)) yield delay * (0.5 + Math.random() / 2);
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

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** The document of an answer; throws the problem that it tells. */
function documentOf(answer) {
  if (answer.status >= 400) throw new Refused(answer.status, answer.document);
  return answer.document;
}

const sessionIsOver = answer => answer.status === 401 && answer.document.field === SESSION;

/** A request on its way, so that it can be given up at any moment. */
class Ticket {
  constructor(scene, options) {
    this.key = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('');
    this.body = { ...options, scene };
    this.headers = null;
    this.document = null;
    /** Until when the lease certainly lasts, by `now`. */
    this.heldUntil = 0;
  }

  /** Takes in what the daemon says of the transition; its token is in the first answer only. */
  note(answer) {
    const token = this.document?.token;
    this.document = documentOf(answer);
    if (token) this.document.token = token;
    this.heldUntil = answer.sent + (this.document.leaseRemaining ?? this.document.leaseSeconds ?? LEASE);
  }

  get lease() {
    return this.document.leaseSeconds ?? LEASE;
  }

  get hasEnded() {
    return this.document?.state === 'ended';
  }

  /** What the daemon said, without the token. */
  get shown() {
    const { token, ...shown } = this.document;
    return shown;
  }

  named(fields) {
    return { id: this.document.id, token: this.document.token, ...fields };
  }
}

// Events

/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
async function* parseEvents(body) {
  const decoder = new TextDecoder();
  let [rest, name, data, id] = ['', '', [], null];
  for await (const chunk of chunks(body)) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (line === '') {
        if (data.length) yield { name: name || 'message', data: parsed(data.join('\n')), id };
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
    // Also a comment shows that the stream lives.
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

/**
 * One stream of all scenes for all windows of an origin, because a browser opens six connections to a host.
 *
 * The window that has the lock reads the stream, and tells the others; when it is closed, the next one continues after the
 * last event.
 */
class SharedEvents extends EventTarget {
  static #all = new Map();

  /** The stream of a daemon, as a client with these headers sees it. */
  static of(arbiter) {
    const key = `arbiter ${arbiter.url} ${JSON.stringify(arbiter.headers)}`;
    if (!this.#all.has(key)) this.#all.set(key, new SharedEvents(arbiter, key));
    return this.#all.get(key);
  }

  constructor(arbiter, key) {
    super();
    this.last = null;
    this.channel = new BroadcastChannel(key);
    this.channel.onmessage = message => this.#take(message.data);
    navigator.locks.request(key, () => this.#lead(arbiter)).catch(() => {});
  }

  async #lead(arbiter) {
    for await (const event of arbiter.stream('/events', { since: this.last })) {
      this.channel.postMessage(event);
      this.#take(event);
    }
  }

  #take(event) {
    this.last = event.id ?? this.last;
    // After a gap, anything may have happened to any transition.
    const id = event.name === 'reset' ? 'reset' : event.data.id;
    if (id) this.dispatchEvent(new Event(id));
  }

  /** Passes so many seconds, or fewer if something is told about a transition. */
  async news(id, seconds, signal) {
    const told = new AbortController();
    const tell = () => told.abort();
    this.addEventListener(id, tell);
    this.addEventListener('reset', tell);
    const both = linked(told.signal, signal);
    try {
      await sleep(seconds, both.signal);
    } finally {
      both.release();
      this.removeEventListener(id, tell);
      this.removeEventListener('reset', tell);
    }
  }
}

const canShare = () => typeof window !== 'undefined' && typeof BroadcastChannel !== 'undefined' && !!globalThis.navigator?.locks;

// The client

export class Arbiter {
  #session = null;
  #opening = null;
  #shared = null;

  constructor({ url, token, client, patience = 30, headers = {}, shared = canShare(), fetch } = {}) {
    this.url = (url ?? globalThis.location?.origin ?? globalThis.process?.env?.ARBITER_URL ?? 'http://127.0.0.1:8080')
      .replace(/\/$/, '');
    this.client = client;
    this.patience = patience;
    this.headers = { ...headers, ...(token ? { Authorization: `Bearer ${token.trim()}` } : {}) };
    this.fetch = fetch ?? globalThis.fetch.bind(globalThis);
    if (shared) this.#shared = SharedEvents.of(this);
    if (typeof window !== 'undefined') addEventListener('pagehide', () => this.close());
  }

  scene(name = 'main') {
    return new Scene(this, name);
  }

  events(options) {
    return this.stream('/events', options);
  }

  async ready(id) {
    const headers = { [SESSION]: await this.#open() };
    return documentOf(await this.ask('POST', '/transitions/ready', { id }, { headers }));
  }

  async close() {
    const session = this.#session;
    this.#session = null;
    if (!session) return;
    try {
      // Without a word, it ends by itself.
      await this.#send('POST', '/sessions/end', undefined, { headers: { [SESSION]: session }, keepalive: true });
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  }

  // Asking

  /** Sends a request once. */
  async #send(method, path, body, { headers, timeout = LONGEST_WAIT, signal, keepalive } = {}) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeout * 1000);
    const both = linked(late.signal, signal);
    const sent = now();
    try {
      const response = await this.fetch(this.url + path, {
        method, keepalive, signal: both.signal, cache: 'no-store',
        headers: { ...this.headers, ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      const retryAfter = Number(response.headers.get('Retry-After')) || 0;
      return { status: response.status, document: parsed(text), retryAfter, sent };
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw new Unreachable(`${method} ${path}: ${error.message}`, { cause: error });
    } finally {
      clearTimeout(timer);
      both.release();
    }
  }

  /** Sends a request that may be repeated, until there is an answer or `patience` seconds are over. */
  async ask(method, path, body, options = {}) {
    const deadline = now() + this.patience;
    for (const delay of backoff()) {
      let after = delay;
      try {
        const answer = await this.#send(method, path, body, options);
        if (![429, 503].includes(answer.status) || !PASSING.has(answer.document.code)) return answer;
        after = Math.max(delay, answer.retryAfter);
        if (now() + after > deadline) return answer;
      } catch (error) {
        if (!(error instanceof Unreachable) || now() + delay > deadline) throw error;
      }
      await sleep(after, options.signal);
      options.signal?.throwIfAborted();
    }
  }

  /** The token of the session, which is opened once if there is none. */
  async #open() {
    if (this.#session) return this.#session;
    this.#opening ??= this.ask('POST', '/sessions', defined({ client: this.client })).finally(() => {
      this.#opening = null;
    });
    this.#session = documentOf(await this.#opening).token;
    return this.#session;
  }

  /** Asks for a transition that is bound to the session; a session that has ended is replaced once. */
  async #askInSession(path, ticket, body, options) {
    for (let attempt = 0; ; attempt += 1) {
      const session = await this.#open();
      options.signal?.throwIfAborted();
      ticket.headers = { [SESSION]: session, 'Idempotency-Key': ticket.key };
      const answer = await this.ask('POST', path, body, { ...options, headers: ticket.headers });
      if (attempt > 0 || !sessionIsOver(answer)) return answer;
      if (this.#session === session) this.#session = null;
    }
  }

  /** Waits for a transition with a parked request, or, where windows share a stream, for news of it. */
  async #park(send, ticket, until, wait, { timeout = wait + MARGIN, signal } = {}) {
    if (this.#shared) await this.#shared.news(ticket.document.id, wait, signal);
    signal?.throwIfAborted();
    return send.call(this, 'POST', '/transitions/await', ticket.named({ until, wait: this.#shared ? 0 : wait }), {
      headers: ticket.headers, timeout, signal,
    });
  }

  // Turns, for `Scene` and `Transition`

  async start(ticket, signal) {
    const answer = await this.#askInSession('/transitions/start', ticket, ticket.body, { timeout: MARGIN, signal });
    if (answer.document.code === 'busy') return false;
    ticket.note(answer);
    await this.#untilRunning(ticket, Infinity, signal);
    return true;
  }

  async serialize(ticket, timeout, signal) {
    const deadline = timeout === undefined ? Infinity : now() + timeout;
    const body = { ...ticket.body, wait: 0 };
    ticket.note(await this.#askInSession('/transitions/serialize', ticket, body, { timeout: MARGIN, signal }));
    await this.#untilRunning(ticket, deadline, signal);
  }

  async #untilRunning(ticket, deadline, signal) {
    while (['queued', 'preparing'].includes(ticket.document.state)) {
      const left = Math.max(0, deadline - now());
      if (left === 0) throw new TimedOut(`The turn in ${ticket.body.scene} did not come in time`);
      const longest = this.#shared ? SHARED_WAIT : LONGEST_WAIT;
      ticket.note(await this.#park(this.ask, ticket, 'running', Math.min(longest, left), { signal }));
    }
    if (!ticket.hasEnded && ticket.heldUntil - now() < ticket.lease / 2) {
      // The answer to a request that was parked for long says nothing about when it was given.
      const body = ticket.named({ until: 'running', wait: 0 });
      ticket.note(await this.ask('POST', '/transitions/await', body, { headers: ticket.headers, timeout: MARGIN, signal }));
    }
    if (ticket.hasEnded && !ticket.document.noop) throw new TransitionEnded(ticket.shown);
  }

  /** Takes back what was asked, wherever it was cut off. */
  async giveUp(ticket) {
    try {
      if (!ticket.document) {
        if (!ticket.headers) return;
        // The request may have arrived: the same key leads to what it made.
        const options = { headers: ticket.headers, timeout: MARGIN };
        ticket.note(await this.#send('POST', '/transitions/serialize', { ...ticket.body, wait: 0 }, options));
      }
      if (ticket.hasEnded) return;
      await this.#send('POST', '/transitions/end', ticket.named({ outcome: 'cancelled' }), { timeout: MARGIN });
    } catch (error) {
      // The ticket ends with the session.
      if (!(error instanceof ArbiterError)) throw error;
    }
  }

  /**
   * Keeps a granted transition until it has ended: its last document, or null if the lease may have run out.
   *
   * Each request is answered within a third of the lease: if none is, the lease is counted from the sending of the last one
   * that was answered.
   */
  async keep(ticket, signal) {
    const { lease } = ticket;
    const wait = Math.min(lease / 3, LONGEST_WAIT);
    let delays = backoff();
    while (!signal.aborted && ticket.heldUntil > now()) {
      let delay = delays.next().value;
      const timeout = Math.min(wait + MARGIN, ticket.heldUntil - now());
      try {
        const answer = await this.#park(this.#send, ticket, 'ended', wait, { timeout });
        if (![429, 503].includes(answer.status)) {
          // The daemon does not know it any more, or says how it ended.
          if (answer.status >= 400) return answer.document.transition ?? null;
          if (answer.document.state === 'ended') return answer.document;
          ticket.heldUntil = answer.sent + lease;
          delays = backoff();
          continue;
        }
        delay = Math.max(delay, answer.retryAfter);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
      }
      await sleep(Math.min(delay, ticket.heldUntil - now()), signal);
    }
    return null;
  }

  async end(ticket, outcome) {
    const answer = await this.ask('POST', '/transitions/end', ticket.named({ outcome }), { timeout: MARGIN });
    if (answer.status >= 400 && answer.document.transition) throw new TransitionEnded(answer.document.transition);
    return documentOf(answer);
  }

  // Streams

  async *stream(path, { since = null, attached = false, signal } = {}) {
    let [last, delays] = [since, backoff()];
    while (!signal?.aborted) {
      const silent = new AbortController();
      const both = linked(silent.signal, signal);
      let timer;
      const listen = () => {
        clearTimeout(timer);
        timer = setTimeout(() => silent.abort(), STREAM_SILENCE * 1000);
      };
      listen();
      try {
        const session = attached ? await this.#open() : null;
        const response = await this.fetch(this.url + path, {
          signal: both.signal, cache: 'no-store',
          headers: {
            ...this.headers, Accept: 'text/event-stream', ...(last === null ? {} : { 'Last-Event-ID': last }),
            ...(session ? { [SESSION]: session } : {}),
          },
        });
        if (response.status === 200) {
          for await (const event of parseEvents(response.body)) {
            listen();
            if (!event) continue;
            last = event.id ?? last;
            delays = backoff();
            yield event;
          }
        } else {
          const answer = { status: response.status, document: parsed(await response.text()) };
          if (session && sessionIsOver(answer)) this.#session = null;
          else if (![429, 503].includes(answer.status)) documentOf(answer);
        }
      } catch (error) {
        // A stream that is cut is resumed.
        if (error instanceof ArbiterError && !(error instanceof Unreachable)) throw error;
        if (signal?.aborted) return;
      } finally {
        clearTimeout(timer);
        both.release();
        silent.abort();
      }
      await sleep(delays.next().value, signal);
    }
  }
}

export class Scene {
  constructor(arbiter, name) {
    this.arbiter = arbiter;
    this.name = name;
  }

  async start({ signal, ...options } = {}) {
    const ticket = new Ticket(this.name, options);
    const isGranted = await this.#givingUp(ticket, () => this.arbiter.start(ticket, signal));
    return isGranted ? new Transition(this.arbiter, ticket) : null;
  }

  async serialize({ signal, timeout, ...options } = {}) {
    const ticket = new Ticket(this.name, options);
    await this.#givingUp(ticket, () => this.arbiter.serialize(ticket, timeout, signal));
    return new Transition(this.arbiter, ticket);
  }

  async withTransition(...given) {
    const body = given.pop();
    const transition = await this.serialize(given[0]);
    let result;
    try {
      result = await body(transition);
    } catch (error) {
      // What the body threw is what the caller has to know.
      await transition.cancel().catch(() => {});
      throw error;
    }
    await transition.complete();
    return result;
  }

  async declare(storyboard, { ifUndeclared = false } = {}) {
    const headers = ifUndeclared ? { 'If-None-Match': '*' } : {};
    return documentOf(await this.arbiter.ask('PUT', this.#path('/storyboard'), storyboard, { headers }));
  }

  async read() {
    return documentOf(await this.arbiter.ask('GET', this.#path()));
  }

  events(options) {
    return this.arbiter.stream(this.#path('/events'), options);
  }

  #path(rest = '') {
    return `/scenes/${encodeURIComponent(this.name)}${rest}`;
  }

  async #givingUp(ticket, body) {
    try {
      return await body();
    } catch (error) {
      if (!(error instanceof Refused || error instanceof TransitionEnded)) await this.arbiter.giveUp(ticket);
      throw error;
    }
  }
}

export class Transition {
  #arbiter;
  #ticket;
  #ending = new AbortController();
  #lost = new AbortController();
  #keeper = Promise.resolve();

  constructor(arbiter, ticket) {
    this.#arbiter = arbiter;
    this.#ticket = ticket;
    this.ended = ticket.hasEnded ? ticket.shown : null;
    if (!ticket.hasEnded) this.#keeper = this.#keep();
  }

  async #keep() {
    const ended = await this.#arbiter.keep(this.#ticket, this.#ending.signal);
    if (this.#ending.signal.aborted) return;
    this.ended = ended;
    this.#lost.abort(new TransitionEnded(ended));
  }

  get id() {
    return this.#ticket.document.id;
  }

  get fence() {
    return this.#ticket.document.fence ?? null;
  }

  get noop() {
    return this.#ticket.document.noop ?? false;
  }

  get document() {
    return this.#ticket.shown;
  }

  get signal() {
    return this.#lost.signal;
  }

  complete() {
    return this.#end('completed');
  }

  cancel() {
    return this.#end('cancelled');
  }

  async progress(fraction, { velocity, sequence } = {}) {
    return this.#drive('progress', { fraction, velocity, sequence });
  }

  async release({ decision, fraction, velocity, cancelled, completionSpeed } = {}) {
    return this.#drive('release', { decision, fraction, velocity, cancelled, completionSpeed });
  }

  async #drive(call, fields) {
    const body = this.#ticket.named(defined(fields));
    return documentOf(await this.#arbiter.ask('POST', `/transitions/${call}`, body, { timeout: MARGIN }));
  }

  async #end(outcome) {
    if (this.noop) return this.document;
    this.signal.throwIfAborted();
    this.#ending.abort();
    this.ended = await this.#arbiter.end(this.#ticket, outcome);
    // Its await is answered by the end, so that no connection is cut.
    await this.#keeper;
    return this.ended;
  }
}
