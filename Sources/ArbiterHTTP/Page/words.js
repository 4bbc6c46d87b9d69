// @ts-check
// What the page says, in plain sentences.

import { priorityOf } from './model.js';
import { inWords, isSceneName, list, listOf, shortened, who } from './names.js';
import { operationWords } from './operations.js';

/** What is closer to one another than this is taken to be the same instant, in milliseconds. */
const CLOSE = 250;

/** @typedef {import('./model.js').Transition} Transition */

/** Why nothing is shown of a scene. @param {import('./model.js').SceneModel} model */
export function absenceWords({ name, presence, isDeleted }) {
  if (presence === 'loading') return 'What has happened is being read.';
  if (!isSceneName(name)) return `No scene can have the name “${shortened(name)}”.`;
  if (presence === 'forbidden') return `You may not see the scene ${name}.`;
  return isDeleted ? `The scene ${name} has been deleted.` : `There is no scene ${name} yet: its first transition makes it, or its storyboard.`;
}

/**
 * When a granted transition loses its lock; whether renewing would not help, and whether its owner has yet to take its turn.
 * @param {Transition} transition
 */
export function lossOf({ document, granted, until, claim }) {
  const { maxHoldSeconds } = document;
  const hold = maxHoldSeconds === undefined || granted === null ? Infinity : granted + maxHoldSeconds * 1000;
  const lease = until.lease ?? Infinity;
  // The daemon says what is left of the lease, which ends with the longest hold; its answer takes a while.
  const isFinal = hold < lease + CLOSE;
  const isClaim = !isFinal && (claim ?? null) !== null && Math.abs(lease - claim) < CLOSE;
  return { at: isFinal ? hold : lease, isFinal, isClaim };
}

/** How an owner loses its lock. @param {Transition} transition @param {number} now */
export function lossWords(transition, now) {
  const { at, isFinal, isClaim } = lossOf(transition);
  const left = duration(at - now);
  const { leaseSeconds, maxHoldSeconds } = transition.document;
  if (isFinal) return `It loses the lock in ${left}, even if its owner renews it: it may hold it for ${duration(maxHoldSeconds * 1000)} at most`;
  if (isClaim) return at > now ? `It has ${left} to take its turn` : 'Its time to take its turn is over. Nothing newer is known';
  return at > now ? `It loses the lock in ${left} unless its owner renews it`
    : `Its lease of ${duration(leaseSeconds * 1000)} is over, unless its owner has renewed it. Nothing newer is known`;
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

/** What a transition locks, or wants to lock. */
export function lockWords(document) {
  const words = lockedWords(document);
  return document.mode === 'shared' ? `${words} (shared)` : words;
}

function lockedWords(document) {
  if (document.scope?.anyOf) return `one of ${listOf(document.scope.anyOf)}`;
  if (document.locks) return listOf(document.locks);
  // An ended one does not say any more what its operation had touched.
  if (document.state === 'ended' && document.scope !== 'scene') {
    return document.scope === 'operation' ? 'what its operation touched' : listOf(document.scope);
  }
  return 'the whole scene';
}

/** What a granted transition is doing. @param {Transition} transition */
export function holdWords({ document, fraction }) {
  if (document.state === 'preparing') {
    const missing = missingOf(document);
    return missing.length ? `has the lock, and waits for ${listOf(missing)} to be ready` : 'has the lock, and is about to run';
  }
  if (document.interaction?.phase === 'released') {
    return document.interaction.decision === 'finish' ? 'lets the finger’s gesture finish' : 'takes the finger’s gesture back';
  }
  if (document.interactive) return fraction === null ? 'follows a finger' : `follows a finger, at ${Math.round(fraction * 100)} %`;
  return 'is running';
}

/** For whom a transition is interrupted. */
export const interrupterOf = ({ interruption: { by, client } }) => inWords(client ?? by);

/** Required participants that are not ready. @returns {string[]} */
export const missingOf = document =>
  [...new Set((document.participants ?? []).filter(each => each.required && each.state === 'waiting').map(each => each.client))];

/**
 * Why a ticket waits for others, in a sentence.
 * @param {any} ticket @param {any[]} blockers @param {(a: string, b: string) => boolean} overlaps
 */
export function waitWords(ticket, blockers, overlaps) {
  const reasons = blockers.map(blocker => {
    const why = priorityOf(blocker) > priorityOf(ticket) ? 'is more urgent' : 'asked before it';
    const takes = what => (
      blocker.state === 'queued' ? `${who(blocker)}, which ${why}, wants ${what}` : `${who(blocker)} has locked ${what}`);
    if (!blocker.locks) return takes('the whole scene');
    if (!ticket.locks) return takes(listOf(blocker.locks));
    const shared = blocker.locks.filter(id => ticket.locks.some(other => overlaps(id, other)));
    return shared.length ? takes(listOf(shared)) : `${who(blocker)} brings in a controller that it names`;
  });
  const isWide = !ticket.locks && blockers.some(blocker => blocker.locks);
  return `It waits because ${isWide ? 'it needs the whole scene, and ' : ''}${list(reasons, 2)}.`;
}

const OUTCOMES = new Map(Object.entries({
  completed: 'Completed', cancelled: 'Cancelled', expired: 'Expired', rejected: 'Rejected', superseded: 'Superseded',
  revoked: 'Revoked', unknown: 'Ended',
}));
const FAILURES = new Set(['expired', 'rejected', 'revoked', 'unknown']);

export const outcomeWord = document => OUTCOMES.get(document.outcome) ?? inWords(document.outcome);

/** Whether it is known when it ended. */
export const isEndKnown = document => document.outcome !== 'unknown';

/** Whether it ended against the will of its owner. */
export const hasFailed = document => FAILURES.has(document.outcome);

/** Why it ended as it did, in a sentence. */
export function endWords(document) {
  switch (document.outcome) {
    case 'completed': return completedWords(document);
    case 'cancelled':
      if (document.interruptedBy) return `${inWords(document.interruptedBy)} interrupted it. The tree stayed as it was.`;
      return document.interaction?.decision === 'cancel'
        ? 'The finger let go too early, so the gesture was taken back. The tree stayed as it was.'
        : 'Its owner gave it up. The tree stayed as it was.';
    case 'expired': return expiredWords(document) + (document.inserted ? ' Its operation was applied nevertheless.' : '');
    case 'rejected': return rejectedWords(document);
    case 'superseded':
      return document.coalesce?.keep === 'first'
        ? `An older one for the same thing (${inWords(document.coalesce.key)}) was there already.`
        : `A newer one for the same thing (${inWords(document.coalesce?.key)}) took its place${document.fence ? ' before it ran' : ' in the queue'}.`;
    case 'revoked': return `${inWords(document.revokedBy ?? 'An administrator')} took it away: “${inWords(document.reason)}”.`;
    default: return 'The daemon no longer knows how it ended: it has started without its journal, or has forgotten it. '
      + 'It is not known when it ended.';
  }
}

function completedWords(document) {
  if (document.noop) return 'There was nothing to change.';
  const changes = [];
  if (document.inserted?.length) changes.push(`${listOf(document.inserted)} came`);
  if (document.removed?.length) changes.push(`${listOf(document.removed)} went`);
  const late = document.laggards?.length ? ` It ran without ${listOf(document.laggards)}, not ready in time.` : '';
  const end = document.interruptedBy ? `${inWords(document.interruptedBy)} interrupted it, and it finished` : 'Its owner finished';
  if (changes.length) return `${end}: ${changes.join(', ')}.${late}`;
  return `${end}.${late}`;
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
    case 'participants': return `${listOf(document.laggards ?? missingOf(document))} was not ready in time.`;
    default: return `Its time ran out (${inWords(document.reason)}).`;
  }
}

function rejectedWords({ code, detail, expected, actual, vetoedBy, vetoReason }) {
  if (vetoedBy) return `${inWords(vetoedBy)} said that it must not run${vetoReason ? `: ${inWords(vetoReason)}` : '.'}`;
  // Its detail says what was found, too.
  if (detail) return `When its turn came it was impossible: ${inWords(detail)}`;
  const found = expected ? ` Expected was ${inWords(expected)}, found was ${inWords(actual)}.` : '';
  return `When its turn came it was impossible: ${inWords(code)}${found}`;
}

/** What a change of the tree did. */
export function changeWords(change) {
  const id = inWords(change.id ?? change.controller?.id);
  switch (change.type) {
    case 'replace': return change.root ? `the whole tree is ${inWords(change.root.id)} with everything in it` : 'the tree is empty';
    case 'insert': return `${id} came ${placeWords(change.place)}`;
    case 'remove': return `${id} went`;
    case 'move': return `${id} moved ${placeWords(change.place)}`;
    case 'select': return `tab ${change.selected + 1} (index ${change.selected}) of ${id} was selected`;
    case 'arrange': return `the children of ${id} were put in another order`;
    // It also says which columns are on the stack, of a split that was collapsed before.
    case 'collapse': return `${id} is collapsed`;
    case 'expand': return `${id} expanded`;
    default: return `there was a change ${inWords(change.type)}`;
  }
}

function placeWords({ type, parent }) {
  switch (type) {
    case 'root': return 'as the root';
    case 'top': return `on top of ${inWords(parent)}`;
    case 'tab': return `as a tab of ${inWords(parent)}`;
    case 'presented': return `presented by ${inWords(parent)}`;
    default: return `as the ${inWords(type)} column of ${inWords(parent)}`;
  }
}

export const plural = (count, word) => `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;

/** The life of a transition so far, in a few sentences. @param {Transition} transition @param {number} now */
export function lifeWords(transition, now) {
  const { document, requested, granted, ended } = transition;
  const first = `${who(document)}, to ${operationWords(document)}, asked at ${clockTime(requested)}.`;
  const waited = (granted ?? ended ?? now) - requested;
  const wait = waited > 20 && (granted !== null || isEndKnown(document)) ? ` It ${granted === null && ended === null ? 'has waited' : 'waited'} ${duration(waited)}.` : '';
  if (ended === null && granted === null) return first + wait;
  if (ended === null) return `${first}${wait} It ${holdWords(transition)}, for ${duration(now - (granted ?? now))} now.`;
  const held = !isEndKnown(document) ? ''
    : granted === null ? ' It never had the lock.' : ` It had the lock for ${duration(ended - granted)}.`;
  return `${first}${wait}${held} ${outcomeWord(document)}: ${endWords(document)}`;
}
