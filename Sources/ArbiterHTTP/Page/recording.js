// @ts-check
// A recording: the answer to GET /trace, which is looked at without a daemon.

import { BASE, RECORDING_BYTES, RECORDING_SILENCE, TOKEN } from './limits.js';
import { instant, SceneModel } from './model.js';
import { isEvent, isHead } from './recording-form.js';
import { Disorder, RecordingOrder } from './recording-order.js';

/** The form of recordings that this page can read. */
const FORM = 1;

/** Why a recording cannot be shown, in words for the user. */
export class Unreadable extends Error {}

/**
 * `dropped` events are gone from before the first one.
 * @typedef {{at: number, dropped: number, scenes: Map<string, SceneModel>}} Recording
 */

/**
 * Reads a recording from a path of the page's own origin.
 * @param {string} path @returns {Promise<Recording>} @throws {Unreadable}
 */
export async function fetchRecording(path) {
  if (!path.trim()) throw new Unreadable('The address ends with “trace=”, where the path of a recording has to be.');
  // Below the daemon, also if that is behind a path of a proxy, which an address that was copied has already.
  const isBelow = path.startsWith('/') && !path.startsWith('//') && !path.startsWith(new URL(`${BASE}/`).pathname);
  const from = isBelow ? BASE + path : path;
  const url = URL.canParse(from, location.href) ? new URL(from, location.href) : null;
  if (url?.origin !== location.origin) {
    throw new Unreadable('A recording can only be read from this daemon itself. Save it, and drop the file here.');
  }
  return readRecording(await fetchFile(url, checkPieces()));
}

/** What has happened in a scene, as a file that can be opened as a recording. @param {string} scene @throws {Unreadable} */
export function fetchTrace(scene) {
  return fetchFile(new URL(`${BASE}/scenes/${encodeURIComponent(scene)}/trace`));
}

/**
 * Reads an answer, which need not end.
 * @param {URL} url of this origin, because the token goes with the request
 * @param {(piece: Uint8Array) => void} check throws if the answer is not wanted
 * @returns {Promise<Blob>} @throws {Unreadable}
 */
async function fetchFile(url, check = () => {}) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const silent = new AbortController();
  let timer = 0;
  const came = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silent.abort(), RECORDING_SILENCE);
  };
  try {
    came();
    const response = await fetch(url, { cache: 'no-store', headers, signal: silent.signal });
    came();
    if (response.status === 401) {
      throw new Unreadable('The daemon wants a token. Close the recording, give the token, and open it again.');
    }
    if (!response.ok) throw new Unreadable(`There is no recording at ${url.pathname}: the answer was ${response.status}.`);
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
      throw new Unreadable('This is a stream of events, which has no end. A recording is at /trace.');
    }
    const pieces = [];
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      came();
      pieces.push(read.value);
      check(read.value);
    }
    return new Blob(pieces);
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    if (silent.signal.aborted) {
      throw new Unreadable(`The answer at ${url.pathname} has no end: nothing came for ${RECORDING_SILENCE / 1000} seconds.`);
    }
    throw new Unreadable(`The daemon at ${location.host} does not answer.`);
  } finally {
    clearTimeout(timer);
    silent.abort();
  }
}

/** Checks, piece by piece, whether what comes may be a recording: how long it is, and its first line. */
function checkPieces() {
  const decoder = new TextDecoder();
  let [size, beginning, isJudged] = [0, '', false];
  return piece => {
    size += piece.length;
    checkSize(size);
    if (isJudged) return;
    beginning += decoder.decode(piece, { stream: true });
    isJudged = piece.includes(0x0a);
    if (isJudged) checkHead(beginning);
  };
}

function checkSize(bytes) {
  if (bytes > RECORDING_BYTES) throw new Unreadable(`The file is larger than ${RECORDING_BYTES / 1024 / 1024} MB.`);
}

/** What the first line of a recording says. @param {string} text which has that line whole @throws {Unreadable} */
function checkHead(text) {
  const head = parsed(text.split('\n', 1)[0], 1);
  if (head?.trace !== 'transition-arbiter') {
    throw new Unreadable('This is no recording of a transition arbiter: its first line does not say so.');
  }
  if (head.form !== FORM) throw new Unreadable(`The recording has the form ${head.form}, and this page knows form ${FORM} only.`);
  if (!isHead(head)) throw new Unreadable('Line 1 does not say what a recording has to say.');
  return head;
}

/** @param {Blob} file @returns {Promise<Recording>} @throws {Unreadable} */
export async function readRecording(file) {
  checkSize(file.size);
  const text = await file.text().catch(() => { throw new Unreadable('The file could not be read.'); });
  if (!text.trim()) throw new Unreadable('The file is empty.');
  const head = checkHead(text);
  const lines = text.split('\n');
  const at = instant(head.at) ?? 0;
  const { scenes: states, dropped = 0 } = head;
  /** @type {Map<string, SceneModel>} */
  const scenes = new Map();
  const model = name => {
    const known = scenes.get(name) ?? new SceneModel(name, { clock: () => at });
    scenes.set(name, known);
    return known;
  };
  for (const { name } of states) model(name);
  const order = inOrder(() => new RecordingOrder(head));
  for (let index = 1; index < lines.length; index += 1) {
    if (!lines[index].trim()) continue;
    const line = parsed(lines[index], index + 1);
    if (!isEvent(line)) throw new Unreadable(`Line ${index + 1} is no event that this page knows.`);
    inOrder(() => order.take(index + 1, line));
    model(line.data.scene).takeEvent({ name: line.event, data: line.data });
  }
  inOrder(() => order.finish());
  // The events come first: the states are what they led to, but for what has happened while they were written.
  for (const state of states) if (model(state.name).lastNumber <= state.lastEvent) model(state.name).takeScene(state);
  if (!scenes.size) throw new Unreadable('Nothing happened in this recording: it has no scene.');
  return { at, dropped, scenes };
}

/** @template Result @param {() => Result} body @returns {Result} @throws {Unreadable} */
function inOrder(body) {
  try {
    return body();
  } catch (error) {
    throw error instanceof Disorder ? new Unreadable(error.message) : error;
  }
}

function parsed(line, number) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Unreadable(`Line ${number} of the file is no JSON.`);
  }
}
