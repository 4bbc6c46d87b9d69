// @ts-check
// The daemon: asks it, follows one scene by the stream that all windows share, and says whether it is there.

import { Arbiter, Refused } from '../client.js';
import { answerOf, Refusal, Unanswered } from './answers.js';
import {
  ASK_AGAIN_AFTER, ASK_AGAIN_EVERY, ASK_EVERY, ASKED_OF_LEASE, BASE, MISSING_ASKED, PAST_READ, PATIENCE, SCENES_SHOWN, SKEW_IGNORED, TOKEN,
  WITHHELD_TOLERANCE,
} from './limits.js';
import { SceneModel } from './model.js';
import { isSceneName } from './names.js';
import { OwnTransitions } from './own-transitions.js';
import { newestScene, scenePath, unfinishedIn } from './unfinished.js';
import { lossOf } from './words.js';

/**
 * How long nothing is asked, in milliseconds: until only a little is left of the first lease, if nobody has renewed it meanwhile.
 * @param {Transition[]} granted @param {number} now
 */
export function pauseOf(granted, now) {
  const losses = granted.map(each => lossOf(each).at - now).filter(left => left > -ASK_EVERY);
  return Math.max(ASK_AGAIN_AFTER, Math.min(ASK_EVERY, ...losses.map(left => left * ASKED_OF_LEASE)));
}

export class Live {
  /** `connecting`, `connected`, `lost`, `refused` (a token is needed) or `denied` (the role is missing). */
  status = 'connecting';
  /** @type {{roles: string[], principal?: string, version?: string, scenes?: any}} */
  identity = { roles: [] };
  /** Transitions that were requested here. */
  own = new OwnTransitions({ scene: name => this.#arbiter.scene(name), changed: () => this.heard.changed('own') });
  #token = sessionStorage.getItem(TOKEN);
  /** @type {any} */
  #arbiter = null;
  #stop = new AbortController();
  #isClosed = false;
  /** How many times in a row the tree was of another revision than the daemon's list says. */
  #suspicion = 0;
  #timer = 0;
  /** When the next round is due, by the clock of the machine. */
  #due = 0;
  /** Answers to what was asked in an earlier round come too late. */
  #round = 0;
  /** How much this machine's clock is ahead of the daemon's, in milliseconds, if that is more than a little. */
  #skew = 0;
  /** When the daemon went away, by its clock, which stands still until it returns: no lease runs out meanwhile. */
  /** @type {number | null} */
  #stopped = null;
  /** @type {SceneModel | null} */
  #model = null;
  /** Whether the past of the scene has been read. */
  #isLoaded = false;
  /** Whether it has been seen that nothing is missing between the past and the stream. */
  #isComplete = false;
  /** Whether the daemon has known the token that is used. */
  isTokenKnown = false;
  /** Until when nothing is granted, because the daemon may have forgotten who holds locks; 0 if transitions are granted. */
  withheldUntil = 0;

  /**
   * @param {{status: () => void, identity: () => void, scenes: (scenes: any[], isWhole: boolean, newest: string | null) => void,
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
      const options = { url: BASE, client: 'page', token: token ?? undefined, fetch: (...request) => this.#fetch(...request) };
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
      clock: () => this.#stopped ?? Date.now() - this.#skew, notice: (...what) => { if (isLoaded) this.heard.notice(...what); },
    });
    if (isSceneName(name)) {
      model.presence = 'loading';
      this.#begin(model, () => { isLoaded = true; });
    } else {
      this.#leave();
      model.takeAbsence();
    }
    return model;
  }

  /** Follows nothing any more. */
  #leave() {
    this.#stop.abort();
    this.#isLoaded = false;
    this.#isComplete = false;
  }

  #begin(model, loaded = () => {}) {
    this.#leave();
    const stop = this.#stop = new AbortController();
    this.#follow(model, stop.signal, loaded).catch(error => {
      if (stop.signal.aborted) return;
      if (error.status === 403) {
        this.#stopped = null;
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
    if (document === null) {
      this.#stopped = null;
      return;
    }
    model.presence = 'known';
    const { transitions } = await this.get(`/transitions?scene=${encodeURIComponent(model.name)}&limit=${PAST_READ}`);
    this.#stopped = null;
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
    model.takeEvent(event, { isLive: this.#stopped === null });
    if (event.name === 'transition.preparing' || event.name === 'transition.running') this.#askSoon(event.data);
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
    const response = await this.#fetch(BASE + path, {
      method, cache: 'no-store', signal: AbortSignal.timeout(PATIENCE),
      headers: {
        ...headers, ...(this.#token ? { Authorization: `Bearer ${this.#token}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: typeof body === 'string' || body === undefined ? body : JSON.stringify(body),
    }, true).catch(() => { throw new Unanswered(); });
    return answerOf(response);
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
    if (response.ok) this.own.note(String(url), response);
    return response;
  }

  #set(status) {
    if (this.#isClosed) return;
    if (this.status === status || (status === 'lost' && this.status === 'refused')) return;
    this.status = status;
    if (status === 'lost') this.#stopped = Date.now() - this.#skew;
    // What a scene was has to be known anew before its clock goes on.
    else if (!this.#model) this.#stopped = null;
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
      await this.#identify();
      const isSeen = [...(this.#model?.unfinished.values() ?? [])].some(({ document }) => document.resumeRemaining);
      if (this.status !== 'connected' || this.withheldUntil || isSeen) await this.#askWhetherAnythingIsGranted();
      const { scenes } = await this.get(`/scenes?limit=${SCENES_SHOWN}`);
      const newest = this.#model ? null : await newestScene(path => this.get(path));
      if (round !== this.#round) return;
      // Another daemon may be there now, which counts its events anew.
      if (this.status === 'lost' && this.#model && isSceneName(this.#model.name)) this.#begin(this.#model);
      this.#set('connected');
      this.heard.scenes(scenes, scenes.length < SCENES_SHOWN, newest);
      if (this.#isLoaded) await this.#askForScene(scenes);
      else if (this.#model?.presence === 'forbidden' && scenes.some(each => each.name === this.#model?.name)) this.#begin(this.#model);
    } catch (error) {
      if (round === this.#round) this.#fail(error);
    }
    if (round !== this.#round || this.status === 'refused') return;
    this.#askIn(this.status === 'connected' ? pauseOf(this.#model?.granted ?? [], this.#model?.now() ?? 0) : ASK_AGAIN_EVERY);
  }

  #askIn(milliseconds) {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#due = Date.now() + milliseconds;
    this.#timer = window.setTimeout(() => this.#ask(), milliseconds);
  }

  /** Does not wait for long, where an event does not tell what is left of a lease: after a wait, or if it is short. */
  #askSoon({ grantedAt, requestedAt, leaseSeconds }) {
    const isSoon = grantedAt !== requestedAt || leaseSeconds * 1000 < ASK_EVERY;
    if (isSoon && this.status === 'connected' && this.#due > Date.now() + ASK_AGAIN_AFTER) this.#askIn(ASK_AGAIN_AFTER);
  }

  /** Who the page is may change at any time. */
  async #identify() {
    const before = JSON.stringify(this.identity);
    this.identity = await this.get('/whoami');
    this.isTokenKnown = this.hasToken;
    if (JSON.stringify(this.identity) !== before) this.heard.identity();
  }

  async #askWhetherAnythingIsGranted() {
    const before = this.withheldUntil;
    const left = await this.get('/readyz').then(() => 0, error => {
      if (!(error instanceof Refusal)) throw error;
      return error.problem.code === 'recovering' ? error.problem.retryAfter : 0;
    });
    const until = left ? Date.now() + left * 1000 : 0;
    // Who listens to the page hears it once.
    if (Math.abs(until - before) < WITHHELD_TOLERANCE) return;
    this.withheldUntil = until;
    this.heard.status();
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
    const state = await unfinishedIn(path => this.get(path), model.name);
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
    model.claimSeconds = document?.limits?.claimSeconds ?? model.claimSeconds;
    if (!document || document.lastEvent <= model.lastNumber) return;
    await this.#catchUp(model, this.#arbiter.scene(model.name), String(model.lastNumber), document.lastEvent, signal);
    this.heard.changed('reset');
  }

  async #askFor(model, id) {
    try {
      model.take(await this.get(`/transitions/${encodeURIComponent(id)}`));
    } catch (error) {
      if (error.status !== 404) throw error;
      model.forget(id);
    }
  }
}
