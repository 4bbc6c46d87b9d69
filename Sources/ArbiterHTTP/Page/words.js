// @ts-check
// What the page says, in plain sentences.

import { NAME_SHOWN } from './limits.js';

/** What is closer to one another than this is taken to be the same instant, in milliseconds. */
const CLOSE = 250;

/** @typedef {import('./model.js').Transition} Transition */

/** Whose a transition is. */
export function who({ client, id }) {
  if (client === undefined || client === null) return `a client without a name (${id})`;
  return client.trim() ? shortened(client) : `“${client}”`;
}

/** A name as it stands in a sentence. @param {string} name */
export const shortened = name => (name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN - 1)}…` : name);

const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Why nothing is shown of a scene. @param {import('./model.js').SceneModel} model */
export function absenceWords({ name, presence, isDeleted }) {
  if (presence === 'loading') return 'What has happened is being read.';
  if (presence === 'forbidden') return `You may not see the scene ${name}.`;
  if (!NAME.test(name)) return `No scene can have the name “${shortened(name)}”.`;
  return isDeleted ? `The scene ${name} has been deleted.` : `There is no scene ${name} yet: its first transition makes it, or its storyboard.`;
}

/** When a granted transition loses its lock, and whether renewing would not help. @param {Transition} transition */
export function lossOf({ document, granted, until }) {
  const { maxHoldSeconds } = document;
  const hold = maxHoldSeconds === undefined || granted === null ? Infinity : granted + maxHoldSeconds * 1000;
  const lease = until.lease ?? Infinity;
  // The daemon says what is left of the lease, which ends with the longest hold; its answer takes a while.
  const isFinal = hold < lease + CLOSE;
  return { at: isFinal ? hold : lease, isFinal };
}

/** How an owner loses its lock. @param {Transition} transition @param {number} now */
export function lossWords(transition, now) {
  const { at, isFinal } = lossOf(transition);
  const left = duration(at - now);
  const { maxHoldSeconds } = transition.document;
  return isFinal ? `It loses the lock in ${left}, even if its owner renews it: it may hold it for ${duration(maxHoldSeconds * 1000)} at most`
    : `It loses the lock in ${left} unless its owner renews it`;
}

/** Several names in one phrase. @param {string[]} names @param {number} most */
export function list(names, most = 4) {
  const shown = names.slice(0, most);
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** A number of milliseconds as people say it. @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  // A number and its unit stay on one line.
  const unit = (number, name) => `${number}\u00a0${name}`;
  if (seconds < 0.01) return unit(0, 's');
  if (seconds < 1) return unit(Math.round(seconds * 1000), 'ms');
  if (seconds < 9.95) return unit(seconds.toFixed(1), 's');
  if (seconds < 120) return unit(Math.round(seconds), 's');
  const minutes = Math.floor(seconds / 60);
  const rest = (number, name) => (number ? ` ${unit(number, name)}` : '');
  if (minutes < 60) return unit(minutes, 'min') + rest(Math.floor(seconds % 60), 's');
  return unit(Math.floor(minutes / 60), 'h') + rest(minutes % 60, 'min');
}

/** @param {number} at */
export const clockTime = at => `${new Date(at).toLocaleTimeString('en-GB')}.${String(Math.floor(at) % 1000).padStart(3, '0')}`;

/** What an operation does, after "to". */
export function operationWords(operation) {
  if (!operation) return 'animate without changing the tree';
  const { type } = operation;
  const arriving = idOf(operation.controller);
  const stack = operation.controllers?.map(idOf);
  switch (type) {
    case 'present': return `present ${arriving} from ${operation.presenter}`;
    case 'dismiss': return `dismiss ${arriving}, or what it presents`;
    case 'push': return `push ${arriving} onto ${operation.navigation}`;
    case 'pop': return `pop the top of ${operation.navigation}`;
    case 'popTo': return `pop ${operation.navigation} back to ${arriving}`;
    case 'popToRoot': return `pop ${operation.navigation} back to its root`;
    case 'setStack': return `give ${operation.navigation} another stack (${stack ? list(stack) : `${operation.controllerCount} controllers`})`;
    case 'select': return `select ${tabOf(operation, arriving)} of ${operation.tabs}`;
    case 'showDetail': return `show ${arriving} as the detail of ${operation.split}`;
    case 'collapse': return `collapse ${operation.split}`;
    case 'expand': return `expand ${operation.split}`;
    case 'setTabs': return `give ${operation.tabs} other tabs`;
    case 'setRoot': return `make ${arriving} the whole tree`;
    case 'segue': return `perform the segue ${operation.identifier} of ${operation.source}`;
    default: return `perform ${type}`;
  }
}

const idOf = controller => (typeof controller === 'string' ? controller : controller?.id);

function tabOf({ index, offset }, controller) {
  if (controller) return `the tab ${controller}`;
  if (index !== undefined) return `tab ${index + 1} (index ${index})`;
  if (Math.abs(offset) === 1) return offset > 0 ? 'the next tab' : 'the previous tab';
  return `the tab ${Math.abs(offset)} ${offset > 0 ? 'further' : 'back'}`;
}

/** What a transition locks. */
export function lockWords(document) {
  if (document.locks) return list(document.locks);
  // An ended one does not say any more what its operation had touched.
  if (document.state === 'ended' && document.scope !== 'scene') {
    return document.scope === 'operation' ? 'what its operation touched' : list(document.scope);
  }
  return 'the whole scene';
}

/** What a granted transition is doing. @param {Transition} transition */
export function holdWords({ document, fraction }) {
  if (document.state === 'preparing') {
    const missing = missingOf(document);
    return missing.length ? `has the lock, and waits for ${list(missing)} to be ready` : 'has the lock, and is about to run';
  }
  if (document.interaction?.phase === 'released') {
    return document.interaction.decision === 'finish' ? 'lets the finger’s gesture finish' : 'takes the finger’s gesture back';
  }
  if (document.interactive) return fraction === null ? 'follows a finger' : `follows a finger, at ${Math.round(fraction * 100)} %`;
  return 'is running';
}

/** Required participants that are not ready. @returns {string[]} */
export const missingOf = document =>
  (document.participants ?? []).filter(each => each.required && each.state === 'waiting').map(each => each.client);

/**
 * Why a ticket waits for others, in a sentence.
 * @param {any} ticket @param {any[]} blockers @param {(a: string, b: string) => boolean} overlaps
 */
export function waitWords(ticket, blockers, overlaps) {
  const reasons = blockers.map(blocker => {
    const takes = what => (blocker.state === 'queued'
      ? `${who(blocker)}, which asked before it, wants ${what}` : `${who(blocker)} has locked ${what}`);
    if (!blocker.locks) return takes('the whole scene');
    if (!ticket.locks) return takes(list(blocker.locks));
    const shared = blocker.locks.filter(id => ticket.locks.some(other => overlaps(id, other)));
    return shared.length ? takes(list(shared)) : `${who(blocker)} brings in a controller that it names`;
  });
  const isWide = !ticket.locks && blockers.some(blocker => blocker.locks);
  return `It waits because ${isWide ? 'it needs the whole scene, and ' : ''}${list(reasons, 2)}.`;
}

const OUTCOMES = new Map(Object.entries({
  completed: 'Completed', cancelled: 'Cancelled', expired: 'Expired', rejected: 'Rejected', superseded: 'Superseded',
  revoked: 'Revoked', unknown: 'Ended',
}));
const FAILURES = new Set(['expired', 'rejected', 'revoked', 'unknown']);

export const outcomeWord = document => OUTCOMES.get(document.outcome) ?? document.outcome;

/** Whether it ended against the will of its owner. */
export const hasFailed = document => FAILURES.has(document.outcome);

/** Why it ended as it did, in a sentence. */
export function endWords(document) {
  switch (document.outcome) {
    case 'completed': return completedWords(document);
    case 'cancelled':
      return document.interaction?.decision === 'cancel'
        ? 'The finger let go too early, so the gesture was taken back. The tree stayed as it was.'
        : 'Its owner gave it up. The tree stayed as it was.';
    case 'expired': return expiredWords(document) + (document.inserted ? ' Its operation was applied nevertheless.' : '');
    case 'rejected': return rejectedWords(document);
    case 'superseded':
      return document.coalesce?.keep === 'first'
        ? `An older ticket for the same thing (${document.coalesce.key}) was waiting already.`
        : `A newer ticket for the same thing (${document.coalesce?.key}) took its place in the queue.`;
    case 'revoked': return `${document.revokedBy ?? 'An administrator'} took it away: “${document.reason}”.`;
    default: return 'The daemon no longer knows how it ended: it has started without its journal, or has forgotten it.';
  }
}

function completedWords(document) {
  if (document.noop) return 'There was nothing to change.';
  const changes = [];
  if (document.inserted?.length) changes.push(`${list(document.inserted)} came`);
  if (document.removed?.length) changes.push(`${list(document.removed)} went`);
  const late = document.laggards?.length ? ` It ran without ${list(document.laggards)}, not ready in time.` : '';
  if (changes.length) return `Its owner finished: ${changes.join(', ')}.${late}`;
  return `Its owner finished.${late}`;
}

function expiredWords(document) {
  switch (document.reason) {
    case 'lease': return `Its owner said nothing for the ${document.leaseSeconds} s of its lease, so it lost the lock.`;
    case 'abandoned': return 'Its owner went away, or was silent for too long, while it waited.';
    case 'unclaimed': return 'Its turn came, but its owner was not there to take it.';
    case 'queue-timeout': return `Its turn did not come within the ${document.queueSeconds} s that it was willing to wait.`;
    case 'session-lost': return document.fence
      ? 'The process that held it died or went away: its session ended.'
      : 'The process that waited died or went away: its session ended.';
    case 'hold': return `It held the lock for ${document.maxHoldSeconds} s, the longest that it may.`;
    case 'participants': return `${list(document.laggards ?? missingOf(document))} was not ready within ${document.readySeconds} s.`;
    default: return `Its time ran out (${document.reason}).`;
  }
}

function rejectedWords(document) {
  const found = document.expected ? ` Expected was ${document.expected}, found was ${document.actual}.` : '';
  return `When its turn came it was impossible: ${document.detail ?? document.code}${found}`;
}

/** What a change of the tree did. */
export function changeWords(change) {
  switch (change.type) {
    case 'replace': return change.root ? `the whole tree is ${change.root.id} with everything in it` : 'the tree is empty';
    case 'insert': return `${change.controller.id} came ${placeWords(change.place)}`;
    case 'remove': return `${change.id} went`;
    case 'move': return `${change.id} moved ${placeWords(change.place)}`;
    case 'select': return `tab ${change.selected + 1} (index ${change.selected}) of ${change.id} was selected`;
    case 'arrange': return `the children of ${change.id} were put in another order`;
    case 'collapse': return `${change.id} collapsed`;
    case 'expand': return `${change.id} expanded`;
    default: return `there was a change ${change.type}`;
  }
}

function placeWords({ type, parent }) {
  switch (type) {
    case 'root': return 'as the root';
    case 'top': return `on top of ${parent}`;
    case 'tab': return `as a tab of ${parent}`;
    case 'presented': return `presented by ${parent}`;
    default: return `as the ${type} column of ${parent}`;
  }
}

export const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

/** The life of a transition so far, in a few sentences. @param {Transition} transition @param {number} now */
export function lifeWords(transition, now) {
  const { document, requested, granted, ended } = transition;
  const first = `${who(document)}, to ${operationWords(document.operation)}, asked at ${clockTime(requested)}.`;
  const waited = (granted ?? ended ?? now) - requested;
  const wait = waited > 20 ? ` It ${granted === null && ended === null ? 'has waited' : 'waited'} ${duration(waited)}.` : '';
  if (ended === null && granted === null) return first + wait;
  if (ended === null) return `${first}${wait} It ${holdWords(transition)}, for ${duration(now - (granted ?? now))} now.`;
  const held = granted === null ? ' It never had the lock.' : ` It had the lock for ${duration(ended - granted)}.`;
  return `${first}${wait}${held} ${outcomeWord(document)}: ${endWords(document)}`;
}
