// @ts-check
// What runs and waits at the daemon, as its lists say.

const STATES = ['running', 'preparing', 'queued'];
/** How many transitions of a state the daemon shows at once. */
const SHOWN_AT_ONCE = 100;

/** @typedef {(path: string) => Promise<any>} Get asks the daemon */

/** The path of a scene. @param {string} scene */
export const scenePath = (scene, rest = '') => `/scenes/${encodeURIComponent(scene)}${rest}`;

/**
 * What runs and waits in a scene: from the lists, which show the newest, or if there are too many from the scene, which shows
 * the first.
 * @param {Get} get @param {string} scene
 */
export async function unfinishedIn(get, scene) {
  const lists = await Promise.all(STATES.map(
    state => get(`/transitions?scene=${encodeURIComponent(scene)}&state=${state}&limit=${SHOWN_AT_ONCE}`)));
  const [running, preparing, queue] = lists.map(each => each.transitions);
  if (lists.some(each => each.transitions.length >= SHOWN_AT_ONCE)) return get(scenePath(scene));
  const granted = [...running, ...preparing];
  return { running: granted, queue, runningCount: granted.length, queuedCount: queue.length };
}

/** The scene in which something has happened last; null if nothing has happened. @param {Get} get @returns {Promise<string | null>} */
export async function newestScene(get) {
  const { transitions: [newest] } = await get('/transitions?limit=1');
  return newest?.scene ?? null;
}
