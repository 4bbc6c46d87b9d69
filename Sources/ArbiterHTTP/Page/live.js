// @ts-check
// The daemon: asks it, follows one scene by the stream that all windows share, and says whether it is there.

import { Arbiter, Refused } from '/client.js';
import {
  ASK_AGAIN_EVERY, ASK_EVERY, MISSING_ASKED, OWN_TRANSITIONS, PAST_READ, PATIENCE, SCENES_SHOWN, SKEW_IGNORED, TOKEN,
} from './limits.js';
import { SceneModel } from './model.js';

export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The daemon answered ${status}.`);
    this.status = status;
    this.problem = problem;
  }
}

const UNFINISHED = ['running', 'preparing', 'queued'];
/** How many transitions of a state the daemon shows at once. */
const SHOWN_AT_ONCE = 100;
const scenePath = (scene, rest = '') => `/scenes/${encodeURIComponent(scene)}${rest}`;

export class Live {
  /** `connecting`, `connected`, `lost`, `refused` (a token is needed) or `denied` (the role is missing). */
  status = 'connecting';
  /** @type {{roles: string[], principal?: string, version?: string, scenes?: any}} */
  identity = { roles: [] };
  /** Transitions that were requested here, by their ids. */
  own = new Map();
  #token = sessionStorage.getItem(TOKEN);
  /** @type {any} */
  #arbiter = null;
  #stop = new AbortController();
  #isClosed = false;
  /** The transition of this page that is being asked for, until its id is known. */
  #requesting = null;
  /** How many times in a row the tree was of another revision than the daemon's list says. */
  #suspicion = 0;
  #timer = 0;
  /** Answers to what was asked in an earlier round come too late. */
  #round = 0;
  /** How much this machine's clock is ahead of the daemon's, in milliseconds, if that is more than a little. */
  #skew = 0;
  /** @type {SceneModel | null} */
  #model = null;
  /** Whether the past of the scene has been read. */
  #isLoaded = false;
  /** Whether it has been seen that nothing is missing between the past and the stream. */
  #isComplete = false;
  /** Whether the daemon has known the token that is used. */
  isTokenKnown = false;

  /**
   * @param {{status: () => void, scenes: (scenes: any[], isWhole: boolean, newest: string | null) => void,
   *   changed: (kind: string) => void, notice: (kind: string, transition: any) => void}} heard
   */
  constructor(heard) {
    this.heard = heard;
    document.addEventListener('visibilitychange', () => this.#askNow());
  }

  get hasToken() {
    return this.#token !== null;
  }

  /** Begins, or begins again with another token, which is kept for this tab only. @param {string | null} token */
  connect(token = this.#token) {
    this.#token = token;
    this.isTokenKnown = false;
    if (token === null) sessionStorage.removeItem(TOKEN);
    else sessionStorage.setItem(TOKEN, token);
    this.#stop.abort();
    this.#arbiter?.close();
    this.own.clear();
    this.#set('connecting');
    try {
      /** @type {any} */
      const options = { client: 'page', token: token ?? undefined, fetch: (...request) => this.#fetch(...request) };
      this.#arbiter = new Arbiter(options);
    } catch {
      this.#set('refused');
      return;
    }
    this.#ask();
  }

  /** Asks nothing any more. */
  close() {
    this.#isClosed = true;
    this.#round += 1;
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#arbiter?.close();
  }

  /** Follows a scene, and no other. @param {string} name @returns {SceneModel} */
  follow(name) {
    let isLoaded = false;
    const model = this.#model = new SceneModel(name, {
      clock: () => Date.now() - this.#skew, notice: (...what) => { if (isLoaded) this.heard.notice(...what); },
    });
    model.presence = 'loading';
    this.#begin(model, () => { isLoaded = true; });
    return model;
  }

  #begin(model, loaded = () => {}) {
    this.#stop.abort();
    this.#isLoaded = false;
    this.#isComplete = false;
    const stop = this.#stop = new AbortController();
    this.#follow(model, stop.signal, loaded).catch(error => {
      if (stop.signal.aborted) return;
      if (error.status === 403) {
        model.presence = 'forbidden';
        this.heard.changed('scene');
      } else {
        this.#fail(error);
      }
    });
  }

  async #follow(model, signal, loaded) {
    const scene = this.#arbiter.scene(model.name);
    const events = scene.events({ signal });
    // It listens from here on; what comes while the past is read waits in it.
    let next = events.next();
    // Why it cannot be followed is also why its past cannot be read.
    next.catch(() => {});
    await this.#readPast(model, scene, signal);
    if (signal.aborted) return;
    this.#isLoaded = true;
    loaded();
    this.heard.changed('scene');
    for (;;) {
      const { value, done } = await next;
      if (done || signal.aborted) return;
      next = events.next();
      await this.#take(model, scene, value, signal);
      this.heard.changed(value.name);
    }
  }

  /** Reads what has happened since the last known event: by events, and the transitions that have none from a list. */
  async #readPast(model, scene, signal) {
    const document = await this.#askUntilAnswered(scenePath(model.name), signal);
    if (signal.aborted) return;
    if (document === null || document.lastEvent < model.lastNumber) {
      // There was another daemon before, or another scene of this name.
      if (document) model.takeScene(document);
      else model.takeAbsence();
    } else if (document.lastEvent > model.lastNumber) {
      await this.#catchUp(model, scene, String(model.lastNumber), document.lastEvent, signal);
    }
    if (document === null) return;
    model.presence = 'known';
    const { transitions } = await this.get(`/transitions?scene=${encodeURIComponent(model.name)}&limit=${PAST_READ}`);
    for (const each of transitions) model.take(each);
    model.takeUnfinished(document);
  }

  async #catchUp(model, scene, since, until, signal) {
    for await (const event of scene.events({ since, signal })) {
      model.takeEvent(event);
      if (model.lastNumber >= until) return;
    }
  }

  async #take(model, scene, event, signal) {
    const { number } = event.data;
    if (number > model.lastNumber + 1 && event.name !== 'reset') {
      await this.#catchUp(model, scene, String(model.lastNumber), number - 1, signal);
    }
    model.takeEvent(event, { isLive: true });
    if (model.isTreeKnown) return;
    const document = await this.#askUntilAnswered(scenePath(model.name), signal);
    if (document) model.takeScene(document);
  }

  /** A document, or null if there is no such thing. */
  async #askUntilAnswered(path, signal) {
    while (!signal.aborted) {
      try {
        return await this.get(path);
      } catch (error) {
        if (signal.aborted || error.status === 404) return null;
        if (error instanceof Refusal && error.status < 500 && error.status !== 429) throw error;
        await new Promise(resolve => { setTimeout(resolve, ASK_AGAIN_EVERY); });
      }
    }
    return null;
  }

  // Asking

  /** @param {string} path @returns {Promise<any>} @throws {Refusal} */
  get(path) {
    return this.send('GET', path);
  }

  /** Sends a request, and reads the document of its answer. @returns {Promise<any>} @throws {Refusal} */
  async send(method, path, body, headers = {}) {
    return (await this.ask(method, path, body, headers)).document;
  }

  /** The same, with the tag of the document. @returns {Promise<{document: any, tag: string | null}>} @throws {Refusal} */
  async ask(method, path, body = undefined, headers = {}) {
    const response = await this.#fetch(path, {
      method, cache: 'no-store', signal: AbortSignal.timeout(PATIENCE),
      headers: {
        ...headers, ...(this.#token ? { Authorization: `Bearer ${this.#token}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    }, true);
    const text = await response.text();
    let document = {};
    try {
      document = text ? JSON.parse(text) : {};
    } catch {
      // The status says enough.
    }
    if (!response.ok) throw new Refusal(response.status, document);
    return { document, tag: response.headers.get('ETag') };
  }

  /** Every request of the page goes through here, those of the client too: so it is seen whether the daemon is there. */
  async #fetch(url, options, isAsking = false) {
    let response;
    try {
      response = await fetch(url, options);
    } catch (error) {
      if (!options?.signal?.aborted) this.#set('lost');
      throw error;
    }
    const date = Date.parse(response.headers.get('Date') ?? '');
    if (Math.abs(Date.now() - date - this.#skew) > SKEW_IGNORED) this.#skew = Date.now() - date;
    if (response.status === 401 && !options?.headers?.['Arbiter-Session']) this.#set('refused');
    else if (this.status === 'lost' && response.ok && !isAsking) this.#askNow();
    if (this.#requesting && response.ok && /\/transitions\/(start|serialize)$/.test(String(url))) {
      const requested = this.#requesting;
      this.#requesting = null;
      response.clone().json().then(({ id }) => {
        requested.id = id;
        this.own.set(id, requested);
        this.heard.changed('own');
      }, () => {});
    }
    return response;
  }

  #set(status) {
    if (this.#isClosed) return;
    if (this.status === status || (status === 'lost' && this.status === 'refused')) return;
    this.status = status;
    this.heard.status();
  }

  #fail(error) {
    if (error.status === 401) this.#set('refused');
    else if (error.status === 403) this.#set('denied');
    else if (!(error instanceof Refused || error instanceof Refusal)) this.#set('lost');
  }

  #askNow() {
    if (this.#arbiter && !this.#isClosed) this.#ask();
  }

  /** Asks for what no event tells, again and again: who the page is, the scenes, leases and places in the queue. */
  async #ask() {
    clearTimeout(this.#timer);
    const round = this.#round += 1;
    if (document.hidden && this.status === 'connected') return;
    try {
      if (this.status !== 'connected') this.identity = await this.get('/whoami');
      this.isTokenKnown = this.hasToken;
      const { scenes } = await this.get(`/scenes?limit=${SCENES_SHOWN}`);
      const newest = this.#model ? null : await this.#newestScene();
      if (round !== this.#round) return;
      // Another daemon may be there now, which counts its events anew.
      if (this.status === 'lost' && this.#model) this.#begin(this.#model);
      this.#set('connected');
      this.heard.scenes(scenes, scenes.length < SCENES_SHOWN, newest);
      if (this.#isLoaded) await this.#askForScene(scenes);
      else if (this.#model?.presence === 'forbidden' && scenes.some(each => each.name === this.#model?.name)) this.#begin(this.#model);
    } catch (error) {
      if (round === this.#round) this.#fail(error);
    }
    if (round !== this.#round || this.status === 'refused') return;
    this.#timer = window.setTimeout(() => this.#ask(), this.status === 'connected' ? ASK_EVERY : ASK_AGAIN_EVERY);
  }

  async #askForScene(scenes) {
    const model = this.#model;
    if (!model) return;
    const summary = scenes.find(each => each.name === model.name);
    if (!this.#isComplete || (summary && model.presence === 'unknown')) await this.#complete(model);
    // Events come before answers; a tree that is behind twice has missed one.
    this.#suspicion = summary && summary.revision !== model.revision ? this.#suspicion + 1 : 0;
    if (this.#suspicion > 1) {
      this.#suspicion = 0;
      model.takeScene(await this.get(scenePath(model.name)));
      this.heard.changed('reset');
    }
    const { running, queued } = model.counts;
    if (running + queued === 0 && !summary?.runningCount && !summary?.queuedCount) return;
    const before = [...model.unfinished.keys()];
    const state = await this.#unfinished(model.name);
    if (this.#model !== model) return;
    const missing = new Set(model.takeUnfinished(state));
    for (const id of before.filter(each => missing.has(each)).slice(0, MISSING_ASKED)) await this.#askFor(model, id);
    this.heard.changed('leases');
  }

  /** Reads what has happened while the past was read and the stream began, which may be in neither. */
  async #complete(model) {
    const { signal } = this.#stop;
    const document = await this.#askUntilAnswered(scenePath(model.name), signal);
    if (signal.aborted) return;
    this.#isComplete = true;
    if (!document || document.lastEvent <= model.lastNumber) return;
    await this.#catchUp(model, this.#arbiter.scene(model.name), String(model.lastNumber), document.lastEvent, signal);
    this.heard.changed('reset');
  }

  /** What runs and waits: from the lists, which show the newest, or if there are too many from the scene, which shows the first. */
  async #unfinished(scene) {
    const lists = await Promise.all(UNFINISHED.map(
      state => this.get(`/transitions?scene=${encodeURIComponent(scene)}&state=${state}&limit=${SHOWN_AT_ONCE}`)));
    const [running, preparing, queue] = lists.map(each => each.transitions);
    if (lists.some(each => each.transitions.length >= SHOWN_AT_ONCE)) return this.get(scenePath(scene));
    const granted = [...running, ...preparing];
    return { running: granted, queue, runningCount: granted.length, queuedCount: queue.length };
  }

  /** The scene in which something has happened last; null if nothing has happened. @returns {Promise<string | null>} */
  async #newestScene() {
    const { transitions: [newest] } = await this.get('/transitions?limit=1');
    return newest?.scene ?? null;
  }

  async #askFor(model, id) {
    try {
      model.take(await this.get(`/transitions/${encodeURIComponent(id)}`));
    } catch (error) {
      if (error.status !== 404) throw error;
      model.forget(id);
    }
  }

  // Transitions of this page

  /** Why this page cannot ask for a transition now, in a sentence; nothing if it can. */
  whyNoMore() {
    if (this.own.size >= OWN_TRANSITIONS) return `This page has ${this.own.size} transitions already: end one of them first.`;
    return this.#requesting ? 'The daemon has not yet answered what this page asked before: try again.' : '';
  }

  /**
   * Asks for a transition, which this page keeps until it ends it.
   * @param {string} scene @param {any} options @param {boolean} isQueueing
   * @returns {Promise<string>} why there is no such transition, in a sentence; nothing if there is one, or was
   */
  async request(scene, options, isQueueing) {
    const full = this.whyNoMore();
    if (full) throw new Error(full);
    const giveUp = new AbortController();
    const own = this.#requesting = { id: null, giveUp, held: null };
    const target = this.#arbiter.scene(scene);
    try {
      own.held = await (isQueueing ? target.serialize({ ...options, signal: giveUp.signal }) : target.start(options));
      if (!own.held) return 'Another transition is in the way, so nothing was done.';
      if (own.held.noop) return 'There was nothing to change.';
      own.held.signal.addEventListener('abort', () => this.#drop(own));
      this.heard.changed('own');
      return '';
    } catch (error) {
      this.#drop(own);
      if (giveUp.signal.aborted) return '';
      throw error;
    } finally {
      if (this.#requesting === own) this.#requesting = null;
      if (!own.held || own.held.noop) this.#drop(own);
    }
  }

  /** Ends one of this page's transitions. @param {string} id @param {'end' | 'cancel'} kind */
  async end(id, kind) {
    const own = this.own.get(id);
    if (!own) return;
    if (!own.held) own.giveUp.abort();
    else await (kind === 'end' ? own.held.complete() : own.held.cancel());
    this.#drop(own);
  }

  #drop(own) {
    this.own.delete(own.id);
    this.heard.changed('own');
  }
}
