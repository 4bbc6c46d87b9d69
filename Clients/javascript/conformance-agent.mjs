// The agent of the JavaScript client for Clients/conformance; with `--shared` it shares a stream as windows do.
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  Arbiter, BlockedBySelf, Closed, Refused, TimedOut, TransitionEnded, TransitionLock, Unreachable,
} from './client.js';

const SECRET = '5ec2e7';

const [url, client, options] = process.argv.slice(2).filter(argument => argument !== '--shared');
const shared = process.argv.includes('--shared');
if (shared) {
  // Node 20 has none. One process has one client, so nobody else asks for the lock.
  globalThis.navigator ??= {};
  globalThis.navigator.locks ??= { request: async (name, body) => body() };
}
const arbiter = new Arbiter({ url, client, shared, ...JSON.parse(options) });
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const transitions = new Map();
const gestures = new Map();
const streams = new Map();
const hierarchies = new Map();

const held = (command, transition) => {
  transitions.set(command.as, transition);
  return transition ? { transition: transition.document, duration: transition.duration } : { transition: null };
};

const kept = ({ root, revision }) => ({ hierarchy: { root, revision } });

/** The first hierarchy for which the condition holds, from the one that is kept now. */
async function first(name, condition) {
  const hierarchy = hierarchies.get(name);
  if (condition(hierarchy)) return kept(hierarchy);
  for await (const snapshot of hierarchy.changes()) if (condition(snapshot)) return kept(snapshot);
}

/** What must be refused at once. */
const wrongUses = {
  'a token with a line break': () => new Arbiter({ url, token: `${SECRET}\nX: y` }),
  'a header field with a line break': () => new Arbiter({ url, headers: { Authorization: `${SECRET}\r\nX: y` } }),
  'a name of a header field with a space': () => new Arbiter({ url, headers: { 'X Y': SECRET } }),
  'another scheme': () => new Arbiter({ url: `unix:/${SECRET}` }),
  'a URL with a password': () => new Arbiter({ url: `http://user:${SECRET}@127.0.0.1` }),
  'an id of an event with a line break': () => arbiter.scene().events({ since: '1\n2' }),
  'a body that is no JSON': () => arbiter.scene('misused').start({ operation: { type: 1n } }),
  'a storyboard that is no JSON': () => arbiter.scene('misused').declare({ root: 1n }),
  'the name of a scene instead of options': () => arbiter.scene().withTransition('misused', () => {}),
  'options of a try that are none': () => arbiter.scene().tryTransition(null, () => {}),
  'a start of a scene by its name': () => arbiter.scene().start('misused'),
  'a transition without a body': () => arbiter.scene('misused').withTransition({ timeout: 1 }),
};

// What can be no duration, whether of a turn, of an option or of the client.
const turn = options => arbiter.scene('misused').serialize(options);
for (const value of [NaN, Infinity, -Infinity, -1, -0.001, true, '1', [1], 1n]) {
  const shown = `${typeof value} ${value}`;
  wrongUses[`patience ${shown}`] = () => new Arbiter({ url, patience: value });
  wrongUses[`timeout ${shown}`] = () => turn({ timeout: value });
  wrongUses[`quiet ${shown}`] = () => arbiter.scene('misused').untilIdle({ quiet: value });
  wrongUses[`animation ${shown}`] = () => turn({ animation: { duration: value } });
  for (const name of ['leaseSeconds', 'maxHoldSeconds', 'ticketSeconds', 'queueSeconds', 'readySeconds']) {
    wrongUses[`${name} ${shown}`] = () => turn({ [name]: value });
  }
}
wrongUses['an infinite number'] = () => turn({ policy: { fraction: Infinity } });

const commands = {
  start: async command => held(command, await arbiter.scene(command.scene).start(command.options)),
  async serialize(command) {
    const waited = [];
    const options = { timeout: command.timeout, waiting: ticket => waited.push(ticket), ...command.options };
    return { ...held(command, await arbiter.scene(command.scene).serialize(options)), waited };
  },
  complete: async command => ({ transition: await transitions.get(command.as).complete() }),
  cancel: async command => ({ transition: await transitions.get(command.as).cancel() }),
  document: async command => ({ transition: transitions.get(command.as).document }),
  progress: async command => ({ answer: await transitions.get(command.as).progress(command.fraction) }),
  release: async command => ({ answer: await transitions.get(command.as).release({ decision: command.decision }) }),
  /** Gestures that end before any of their positions is answered. */
  async flick({ scene, fraction, count, raw }) {
    let finished = 0;
    for (let number = 0; number < count; number += 1) {
      const gesture = await (raw ? arbiter.scene(scene).start({ interactive: true }) : arbiter.scene(scene).startInteractive());
      for (let step = 1; step <= 20; step += 1) gesture[raw ? 'progress' : 'update'](fraction * step / 20);
      if (raw) {
        const { decision } = await gesture.release();
        finished += decision === 'finish';
        await (decision === 'finish' ? gesture.complete() : gesture.cancel());
      } else {
        finished += await gesture.release(() => {});
      }
    }
    return { finished };
  },
  async drag({ as, scene, options, timeout }) {
    gestures.set(as, arbiter.scene(scene).serializeInteractive({ ...options, timeout }));
    return {};
  },
  async move({ as, fraction }) {
    gestures.get(as).update(fraction);
    return {};
  },
  async letGo({ as, decision }) {
    const played = [];
    const rest = (remaining, transition) => {
      played.push(transition.decision);
      return new Promise(resolve => { setTimeout(resolve, remaining * 1000); });
    };
    const finished = await gestures.get(as)[decision ?? 'release'](rest);
    return { ...(decision ? {} : { finished }), played };
  },
  granted: async ({ as }) => ({ transition: (await gestures.get(as).granted).document }),
  async perform({ as, operation, operations, expect }) {
    return { answer: await transitions.get(as).perform(operations ?? operation, { expect }) };
  },
  /** The first example of TransitionLock. */
  async performSegue({ scene }) {
    const lock = new TransitionLock(arbiter.scene(scene));
    if (!await lock.startTransition()) return { started: false };
    try {
      return { removed: await lock.performSegue('mySegue', { source: 'list' }) };
    } finally {
      await lock.endTransition();
    }
  },
  /** The second one. */
  async dismissInTurn({ scene, then }) {
    const lock = new TransitionLock(arbiter.scene(scene));
    const answer = {};
    answer.removed = await lock.serializeTransition(async () => {
      answer.dismissed = await lock.dismiss('list');
      answer.again = await lock.dismiss('list').catch(({ code }) => code);
      lock.transitionComplete();
      // A transition of its own, which comes after the one of the block.
      await lock.push(then, { navigation: 'nav' });
    });
    return answer;
  },
  /** A block whose transition is lost while its operation is drawn, and that goes on. */
  async loseInTurn({ scene }) {
    const untilLost = ({ signal }) => new Promise(resolve => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', resolve);
    });
    const lock = new TransitionLock(arbiter.scene(scene), { perform: untilLost });
    const pushed = [];
    let ran;
    const turn = lock.serializeTransition(() => {
      ran = (async () => {
        for (const controller of ['editor', 'note']) {
          await lock.push(controller, { navigation: 'nav' }).catch(({ outcome }) => pushed.push(outcome));
        }
      })();
      return ran;
    });
    const outcome = await turn.catch(error => error.outcome);
    await ran;
    return { turn: outcome, pushed };
  },
  async startInLock({ as, scene, options }) {
    const lock = new TransitionLock(arbiter.scene(scene), options);
    transitions.set(as, lock);
    return { started: await lock.startTransition() };
  },
  async hold({ scene, options, calls }) {
    await arbiter.scene(scene).withTransition(options, async transition => {
      for (const { do: call, ...fields } of calls) await transition[call](fields);
    });
    return {};
  },
  async attempt({ scene, fails }) {
    let isHeld;
    const failure = new Error('of the body');
    await arbiter.scene(scene).tryTransition(transition => {
      isHeld = transition !== null;
      if (fails) throw failure;
    }).catch(error => {
      if (error !== failure) throw error;
    });
    return { held: isHeld };
  },
  async nest({ scene: name, timeout, waits, gesture }) {
    const scene = arbiter.scene(name);
    await scene.withTransition(() => (gesture
      ? scene.serializeInteractive({ timeout }).finish()
      : scene.withTransition({ timeout, waitForSelf: waits }, () => {})));
    return {};
  },
  async drop(command) {
    transitions.delete(command.as);
    // What was used in this turn of the loop is kept until it is over.
    for (let round = 0; round < 10; round += 1) {
      await new Promise(setImmediate);
      collect();
    }
    return {};
  },
  async interrupted(command) {
    const transition = transitions.get(command.as);
    const signal = transition.interruptSignal;
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve));
    return { interruption: transition.interruption };
  },
  async lost(command) {
    const { signal } = transitions.get(command.as);
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve));
    return { outcome: signal.reason.outcome, reason: signal.reason.reason };
  },
  ready: async command => ({ transition: await arbiter.ready(command.id) }),
  veto: async command => ({ transition: await arbiter.veto(command.id, { reason: command.reason }) }),
  revokeAll: async ({ scene, client, reason }) => ({ revoked: await arbiter.scene(scene).revoke({ client, reason }) }),
  update: async command => ({ transition: await transitions.get(command.as).update(command.animation) }),
  addGuard: async ({ scene, controllers, onSilence }) => (
    { guard: await arbiter.scene(scene).addGuard(controllers, { onSilence }) }),
  async removeGuard({ scene, id }) {
    await arbiter.scene(scene).removeGuard(id);
    return {};
  },
  declare: async ({ scene, storyboard, dryRun }) => ({ answer: await arbiter.scene(scene).declare(storyboard, { dryRun }) }),
  untilIdle: async ({ scene, id, quiet, timeout }) => (
    { answer: await arbiter.scene(scene).untilIdle({ controller: id, quiet, timeout }) }),
  untilController: async ({ scene, id, is, not, timeout }) => (
    { answer: await arbiter.scene(scene).untilController(id, { is, not, timeout }) }
  ),
  controller: async ({ scene, id }) => ({ answer: await arbiter.scene(scene).controller(id) }),
  dryRun: async ({ scene, call, options }) => ({ answer: await arbiter.scene(scene).dryRun(call, options) }),
  patchStoryboard: async ({ scene, changes }) => ({ answer: await arbiter.scene(scene).patchStoryboard(changes) }),
  read: async ({ id }) => ({ answer: await arbiter.read(id) }),
  listed: async ({ scene, state, limit }) => ({ answer: await arbiter.transitions({ scene, state, limit }) }),
  scenes: async () => ({ answer: await arbiter.scenes() }),
  revoke: async ({ id, reason }) => ({ answer: await arbiter.revoke(id, { reason }) }),
  async follow(command) {
    const stream = command.scene === null
      ? arbiter.events() : arbiter.scene(command.scene).events({ attached: command.attached, since: '0' });
    // It begins with the first event that is asked for, so ask for one.
    const first = stream.next();
    // Whoever asks for it is told what went wrong.
    first.catch(() => {});
    streams.set(command.as, (async function* () {
      const { value, done } = await first;
      if (!done) yield value;
      yield* stream;
    })());
    return {};
  },
  async next(command) {
    const stream = streams.get(command.as);
    for (;;) {
      const { value } = await stream.next();
      if (value.name === command.name) return { event: value };
    }
  },
  async hierarchy(command) {
    const hierarchy = await arbiter.scene(command.scene).hierarchy();
    hierarchies.set(command.as, hierarchy);
    return kept(hierarchy);
  },
  revision: command => first(command.as, ({ revision }) => revision >= command.at),
  current: command => first(command.as, ({ isCurrent }) => isCurrent === command.is),
  emptied: command => first(command.as, ({ root }) => root === null),
  async close() {
    await arbiter.close();
    return {};
  },
  async misuse() {
    const accepted = [];
    for (const [name, use] of Object.entries(wrongUses)) {
      const refusal = await (async () => use())().then(() => null, error => error);
      const isRight = refusal instanceof TypeError || refusal instanceof RangeError;
      if (!isRight || refusal.message.includes(SECRET)) accepted.push(name);
    }
    return { accepted };
  },
};

function failure(error) {
  if (error instanceof Refused) return { error: 'refused', code: error.code };
  if (error instanceof TransitionEnded) {
    return { error: 'ended', outcome: error.outcome, reason: error.reason, code: error.code };
  }
  if (error instanceof TimedOut) return { error: 'timedOut' };
  if (error instanceof BlockedBySelf) return { error: 'blockedBySelf' };
  if (error instanceof Unreachable) return { error: 'unreachable' };
  if (error instanceof Closed) return { error: 'closed' };
  throw error;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { n, do: name, ...command } = JSON.parse(line);
  commands[name](command).catch(failure).then(answer => console.log(JSON.stringify({ n, ...answer })));
}
