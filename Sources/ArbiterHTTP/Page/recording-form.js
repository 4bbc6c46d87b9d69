// @ts-check
// What the lines of a recording have to be, as far as the page relies on it. A file comes from anybody.

/** @typedef {(value: any) => boolean} Check */

const isText = value => typeof value === 'string';
const isNumber = value => Number.isFinite(value);
const isCount = value => Number.isInteger(value) && value >= 0;
const isFlag = value => typeof value === 'boolean';
const isInstant = value => isText(value) && !Number.isNaN(Date.parse(value));
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value);
/** @param {...string} values @returns {Check} */
const oneOf = (...values) => value => values.includes(value);
/** @param {Check} check @returns {Check} */
const maybe = check => value => value === undefined || value === null || check(value);
/** @param {Check} check @returns {Check} */
const listOf = check => value => Array.isArray(value) && value.every(check);
/** @param {...Check} checks @returns {Check} */
const either = (...checks) => value => checks.some(check => check(value));
/** Further members may be there. @param {Record<string, Check>} members @returns {Check} */
const objectWith = members => value => isObject(value) && Object.entries(members).every(([name, check]) => check(value[name]));

const isNames = listOf(isText);

const isNode = objectWith({
  id: isText, kind: maybe(isText), presentationStyle: maybe(isText), selected: maybe(isCount), collapsed: maybe(isFlag),
});
const COLUMNS = ['primary', 'supplementary', 'secondary', 'presented'];

/** A node with everything below it, which may be nested too deeply for recursion. @type {Check} */
function isTree(root) {
  const waiting = [root];
  while (waiting.length) {
    const node = waiting.pop();
    if (!isNode(node) || !maybe(Array.isArray)(node.children)) return false;
    for (const child of node.children ?? []) waiting.push(child);
    for (const column of COLUMNS) if (node[column] !== undefined) waiting.push(node[column]);
  }
  return true;
}

const isOperation = objectWith({
  type: isText, controller: maybe(either(isText, objectWith({ id: isText }))),
  controllers: maybe(listOf(either(isText, objectWith({ id: isText })))), index: maybe(isNumber), offset: maybe(isNumber),
});

const isTransition = objectWith({
  id: isText, state: oneOf('queued', 'preparing', 'running', 'ended'), requestedAt: isInstant, grantedAt: maybe(isInstant),
  endedAt: maybe(isInstant), outcome: maybe(isText), reason: maybe(isText), client: maybe(isText),
  scope: either(isText, isNames, objectWith({ anyOf: isNames })), mode: maybe(isText),
  locks: maybe(isNames), blockers: maybe(isNames), operation: maybe(isOperation), operations: maybe(listOf(isOperation)),
  inserted: maybe(isNames), removed: maybe(isNames), laggards: maybe(isNames), participants: maybe(listOf(objectWith({ client: isText, state: isText }))),
  interaction: maybe(objectWith({ fraction: maybe(isNumber) })), coalesce: maybe(objectWith({ key: isText })),
  unmetExpectation: maybe(objectWith({ expected: isText, actual: isText })),
  priority: maybe(isNumber), interruptedBy: maybe(isText),
  interruption: maybe(objectWith({ by: isText, client: maybe(isText), graceRemaining: isNumber })),
  animation: maybe(isObject), leaseSeconds: maybe(isNumber), leaseRemaining: maybe(isNumber), ticketRemaining: maybe(isNumber),
  queueRemaining: maybe(isNumber), readyRemaining: maybe(isNumber), waiting: maybe(isCount),
});

const isPlace = objectWith({ type: isText, parent: maybe(isText) });

/** @type {Record<string, Check>} */
const CHANGES = {
  replace: objectWith({ root: maybe(isTree) }), insert: objectWith({ controller: isTree, place: isPlace }),
  move: objectWith({ id: isText, place: isPlace }), select: objectWith({ id: isText, selected: isCount }),
  arrange: objectWith({ id: isText, children: isNames, selected: maybe(isCount) }),
};
/** Of a change of another type the tree takes no more than an id, or does not follow it. */
const isChange = value => isObject(value) && isText(value.type)
  && (!Object.hasOwn(CHANGES, value.type) || CHANGES[value.type](value));

const isSceneState = objectWith({
  name: isText, revision: isCount, lastEvent: isCount, runningCount: isCount, queuedCount: isCount,
  hierarchy: maybe(isTree), running: listOf(isTransition), queue: listOf(isTransition),
});

/** The first line, once it is known to be that of a recording. @type {Check} */
export const isHead = objectWith({
  at: isInstant, scene: value => value === undefined || isText(value), dropped: maybe(isCount), scenes: listOf(isSceneState),
});

const ofScene = objectWith({ scene: isText, at: maybe(isInstant), number: maybe(isCount) });
const isProgress = objectWith({ transition: isText, fraction: isNumber });
const isTreeChange = objectWith({
  revision: isCount, transition: maybe(isText), changes: listOf(isChange), inserted: maybe(isNames), removed: maybe(isNames),
});

/** Any later line. @type {Check} */
export function isEvent(line) {
  if (!isObject(line) || !isText(line.event) || !ofScene(line.data)) return false;
  const { event, data } = line;
  if (event === 'transition.progress') return isProgress(data);
  if (event.startsWith('transition.')) return isTransition(data);
  if (event === 'hierarchy.changed') return isTreeChange(data);
  if (event === 'reset') return isSceneState(data);
  return true;
}
