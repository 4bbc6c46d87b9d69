// @ts-check
// A recording: the answer to GET /trace?format=jsonl, which is looked at without a daemon.

import { RECORDING_BYTES, TOKEN } from './limits.js';
import { instant, SceneModel } from './model.js';

export class Unreadable extends Error {}

/**
 * @typedef {{at: number, version: string, dropped: number, scenes: Map<string, SceneModel>}} Recording
 */

/** Reads a recording from a path of the page's own origin. @param {string} path @returns {Promise<Recording>} */
export async function fetchRecording(path) {
  const url = new URL(path, location.href);
  if (url.origin !== location.origin) {
    throw new Unreadable('A recording can only be read from this daemon itself. Save it, and drop the file here.');
  }
  return readRecording(await fetchFile(url));
}

/** What has happened in a scene, as a file that can be opened as a recording. @param {string} scene */
export function fetchTrace(scene) {
  return fetchFile(new URL(`/scenes/${encodeURIComponent(scene)}/trace?format=jsonl`, location.origin));
}

/** @param {URL} url of this origin, because the token goes with the request */
async function fetchFile(url) {
  const token = sessionStorage.getItem(TOKEN);
  const response = await fetch(url, { cache: 'no-store', headers: token ? { Authorization: `Bearer ${token}` } : {} });
  if (!response.ok) throw new Unreadable(`There is no recording at ${url.pathname}: the answer was ${response.status}.`);
  return response.blob();
}

/** @param {Blob} file @returns {Promise<Recording>} */
export async function readRecording(file) {
  if (file.size > RECORDING_BYTES) throw new Unreadable(`The file is larger than ${RECORDING_BYTES / 1024 / 1024} MB.`);
  const lines = (await file.text()).split('\n');
  const head = parsed(lines[0], 1);
  if (head.trace !== 'transition-arbiter') {
    throw new Unreadable('This is no recording of a transition arbiter: its first line does not say so.');
  }
  if (head.form !== 1) throw new Unreadable(`The recording has the form ${head.form}, and this page knows form 1 only.`);
  const at = instant(head.at) ?? 0;
  /** @type {Map<string, SceneModel>} */
  const scenes = new Map();
  const model = name => {
    if (!scenes.has(name)) scenes.set(name, new SceneModel(name, { clock: () => at }));
    return /** @type {SceneModel} */ (scenes.get(name));
  };
  for (const scene of head.scenes ?? []) model(scene.name);
  lines.forEach((line, index) => {
    if (index === 0 || !line) return;
    const { event, data } = parsed(line, index + 1);
    if (typeof event !== 'string' || typeof data?.scene !== 'string') throw new Unreadable(`Line ${index + 1} is no event.`);
    model(data.scene).takeEvent({ name: event, data });
  });
  for (const scene of head.scenes ?? []) finish(model(scene.name), scene, head.dropped ?? 0);
  return { at, version: head.version, dropped: head.dropped ?? 0, scenes };
}

function parsed(line, number) {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    throw new Unreadable(`Line ${number} of the file is no JSON.`);
  }
}

function finish(model, scene, dropped) {
  model.dropped = dropped;
  model.takeScene(scene);
}
