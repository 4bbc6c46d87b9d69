// What the errors of the JavaScript client say, and what it refuses before it sends anything: `node --test Clients/javascript`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as client from './client.js';
import { Arbiter, Repeats, silenceSaidBy, TransitionEnded, TransitionLock, Unreachable } from './client.js';

const url = 'http://127.0.0.1:1';

/** A client whose requests are answered by a function of the path: a status and a document. */
function answered(answer) {
  const asked = [];
  const fetch = async (address, { signal, body }) => {
    const path = address.slice(url.length);
    asked.push(path);
    const [status, document, headers] = await answer(path, signal, body);
    return new Response(typeof document === 'string' ? document : JSON.stringify(document), { status, headers });
  };
  return { arbiter: new Arbiter({ url, patience: 0, fetch }), asked };
}

test('a list is read page by page, until there are enough', async () => {
  const { arbiter, asked } = answered(path => {
    const after = Number(new URLSearchParams(path.split('?')[1]).get('after') ?? 9);
    const next = after > 3 ? { Link: `<${path.split('?')[0]}?limit=3&after=${after - 3}>; rel="next"` } : {};
    const page = [after - 2, after - 1, after];
    return [200, { transitions: page, scenes: page.map(number => ({ name: `s${number}` })) }, next];
  });
  assert.deepEqual(await arbiter.transitions({ client: 'a&b', limit: 5 }), [5, 6, 7, 8, 9]);
  assert.deepEqual(asked, ['/transitions?client=a%26b&limit=5', '/transitions?limit=3&after=6']);
  assert.deepEqual(await arbiter.transitions({ limit: 100 }), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual((await arbiter.scenes()).map(({ name }) => name), ['s7', 's8', 's9', 's4', 's5', 's6', 's1', 's2', 's3']);
});

test('everything that is exported is declared', () => {
  const declarations = readFileSync(new URL('client.d.ts', import.meta.url), 'utf8');
  const declared = declarations.matchAll(/^export (?:class|const|function) (\w+)/gm);
  assert.deepEqual(Array.from(declared, ([, name]) => name).sort(), Object.keys(client).sort());
});

const granted = { id: 't-1', token: 'secret', state: 'running', fence: 1, leaseSeconds: 10 };

test('what can be no duration is refused before anything is sent', async () => {
  const { arbiter, asked } = answered(() => [200, {}]);
  const scene = arbiter.scene();
  const wrong = [
    [NaN, RangeError], [Infinity, RangeError], [-1, RangeError], [-0.001, RangeError], [true, TypeError], ['1', TypeError],
    [1n, TypeError]];
  const names = ['leaseSeconds', 'maxHoldSeconds', 'ticketSeconds', 'queueSeconds', 'readySeconds'];
  for (const [value, name] of wrong) {
    assert.throws(() => new Arbiter({ url, patience: value }), name);
    await assert.rejects(scene.serialize({ timeout: value }), name);
    await assert.rejects(scene.withTransition({ timeout: value }, () => {}), name);
    for (const options of [...names.map(each => ({ [each]: value })), { animation: { duration: value } }]) {
      await assert.rejects(scene.start(options), name);
      await assert.rejects(scene.serialize(options), name);
    }
  }
  assert.throws(() => new Arbiter({ url, patience: null }), TypeError);
  await assert.rejects(scene.start({ leaseSeconds: null }), TypeError);
  await assert.rejects(scene.start({ leaseSeconds: 0 }), RangeError);
  await assert.rejects(scene.start({ policy: { fraction: NaN } }), RangeError);
  await assert.rejects(scene.declare({ defaults: { duration: Infinity } }), RangeError);
  assert.deepEqual(asked, []);
});

test('an error says where the daemon was looked for, and why there was no answer', async () => {
  await assert.rejects(new Arbiter({ url, patience: 0 }).scene().read(), error => {
    assert(error instanceof Unreachable);
    assert.match(error.message, /^GET \/scenes\/main at http:\/\/127\.0\.0\.1:1: ./);
    assert.doesNotMatch(error.message, /fetch failed/);
    return true;
  });
});

test('what waits behind what could not reach the daemon fails with it', async () => {
  const { arbiter, asked } = answered(() => {
    throw new Error('a test');
  });
  const lock = new TransitionLock(arbiter.scene());
  const [first, ...others] = await Promise.allSettled([1, 2, 3].map(() => lock.pop('nav')));
  assert(first.reason instanceof Unreachable);
  assert.deepEqual(others, [first, first]);
  assert.deepEqual(asked, ['/sessions']);
  await assert.rejects(lock.pop('nav'), Unreachable);
  assert.deepEqual(asked, ['/sessions', '/sessions']);
});

test('an answer with many levels is read, and one that is cut off is not', async () => {
  const deep = `{"hierarchy":${'['.repeat(5000)}${']'.repeat(5000)}}`;
  const whole = answered(() => [200, deep]);
  assert((await whole.arbiter.scene().read()).hierarchy);
  const cut = answered(() => [200, deep.slice(0, -1)]);
  await assert.rejects(cut.arbiter.scene().read(), /an answer of status 200 is not one of the daemon/);
});

test('what the daemon has forgotten is not called unreachable', async () => {
  const unknown = { status: 404, code: 'unknown-transition', detail: 'No transition t-1 is known.' };
  const { arbiter } = answered(path => {
    if (path === '/sessions') return [201, { token: 'session' }];
    return path === '/transitions/start' ? [201, granted] : [404, unknown];
  });
  const transition = await arbiter.scene().start();
  if (!transition.signal.aborted) await new Promise(resolve => transition.signal.addEventListener('abort', resolve));
  await assert.rejects(transition.complete(), error => {
    assert(error instanceof TransitionEnded);
    assert.deepEqual([error.outcome, error.reason, error.document.id], ['expired', 'forgotten', 't-1']);
    assert.equal(error.document.token, undefined);
    assert.match(error.message, /no longer knows/);
    return true;
  });
});

test('the time of a suspended machine counts against a lease', async t => {
  const day = Date.now;
  t.after(() => { Date.now = day; });
  const busy = { status: 503, code: 'journal-unavailable', detail: 'Later.' };
  const { arbiter } = answered(path => {
    if (path === '/sessions') return [201, { token: 'session' }];
    if (path === '/transitions/start') return [201, granted];
    Date.now = () => day() + 60_000;
    return [503, busy];
  });
  const transition = await arbiter.scene().start();
  const begun = performance.now();
  if (!transition.signal.aborted) await new Promise(resolve => transition.signal.addEventListener('abort', resolve));
  assert(performance.now() - begun < granted.leaseSeconds * 1000);
  await assert.rejects(transition.complete(), { reason: 'unreachable' });
});

test('a body that has nothing to hold runs without a lock', async () => {
  const noop = { id: 't-1', token: 'secret', state: 'ended', outcome: 'completed', noop: true };
  const { arbiter, asked } = answered(path => [201, path === '/sessions' ? { token: 'session' } : noop]);
  const seen = await arbiter.scene().withTransition(({ noop: isNoop, fence }) => [isNoop, fence]);
  assert.deepEqual(seen, [true, null]);
  assert.deepEqual(asked, ['/sessions', '/transitions/serialize']);
});

test('what a resumed stream repeats is left out', () => {
  const repeats = new Repeats();
  const event = (scene, number, name = 'transition.ended') => repeats.isNew({ name, data: { scene, number } });
  assert.deepEqual([event('a', 1), event('b', 1), event('a', 2)], [true, true, true]);
  // Resumed a little before its end.
  assert.deepEqual([event('a', 2), event('b', 1), event('b', 2), event('a', 3)], [false, false, true, true]);
  // What is momentary has no number.
  assert.ok(event('a', undefined, 'transition.progress'));
  // A reset counts anew: also a scene that it does not name.
  assert.ok(event('a', 1, 'reset'));
  assert.ok(repeats.isNew({ name: 'reset.end', data: { scenes: 1 } }));
  assert.deepEqual([event('a', 1), event('a', 2), event('b', 1)], [false, true, true]);
});

test('two comments of a stream may be missing', () => {
  const silence = text => silenceSaidBy(new Headers(text === undefined ? {} : { 'Arbiter-Heartbeat-Seconds': text }));
  assert.deepEqual(['15', '1.25', '0.5'].map(silence), [31, 3.5, 3]);
  assert.deepEqual([undefined, '', '0', '-1', 'NaN', 'Infinity', 'often'].map(silence), Array(7).fill(null));
});

test('what is no stream of events', async () => {
  const fetch = async () => new Response('<html>\n\n', { headers: { 'Content-Type': 'text/html' } });
  await assert.rejects(new Arbiter({ url, patience: 0, fetch }).scene().events().next(), /no stream of events/);
});

test('what is of no use is said at once', async () => {
  const { arbiter, asked } = answered(() => [200, {}]);
  const scene = arbiter.scene();
  const uses = [
    () => scene.controller(), () => scene.controller(''), () => arbiter.read(3), () => arbiter.transitions({ scen: 'x' }),
    () => arbiter.transitions({ limit: 0 }), () => scene.untilIdle(5), () => scene.untilIdle({ quietSeconds: 5 }),
    () => scene.start([]), () => scene.start({ participants: 'menu' }), () => scene.dryRun('start#')];
  for (const use of uses) await assert.rejects(use, error => error instanceof TypeError || error instanceof RangeError, `${use}`);
  assert.deepEqual(asked, []);
});

test('the time that a reader takes is no silence of its stream', async () => {
  let streams = 0;
  const fetch = async () => {
    streams += 1;
    const lines = [1, 2].map(number => `id: ${number}\nevent: transition.ended\ndata: {"number":${number}}\n\n`).join('');
    return new Response(lines, { headers: { 'Content-Type': 'text/event-stream', 'Arbiter-Heartbeat-Seconds': '0.5' } });
  };
  const events = new Arbiter({ url, patience: 0, fetch }).scene().events();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const timers = new Map();
  globalThis.setTimeout = (body, milliseconds) => {
    const timer = set(() => { timers.delete(timer); body(); }, milliseconds);
    timers.set(timer, milliseconds);
    return timer;
  };
  globalThis.clearTimeout = timer => { timers.delete(timer); clear(timer); };
  try {
    assert.equal((await events.next()).value.id, '1');
    // Nothing counts while it has the event.
    assert.deepEqual([...timers.values()], []);
    assert.equal((await events.next()).value.id, '2');
    assert.equal(streams, 1);
  } finally {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
    await events.return();
  }
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

/** Collects what nothing refers to; what was used in this turn of the loop is kept until it is over. */
async function collectGarbage() {
  for (let round = 0; round < 10; round += 1) {
    await new Promise(setImmediate);
    collect();
  }
}

function gate() {
  let open;
  const opened = new Promise(resolve => { open = resolve; });
  return { open, opened };
}

/** A client of a daemon that grants everything. What asks for the end is answered when `answer` is open; so is what waits for it. */
function granting(answer = null) {
  const asked = gate();
  const { arbiter } = answered(async path => {
    if (path === '/sessions') return [201, { token: 'session' }];
    if (path === '/transitions/start') return [201, granted];
    if (path === '/transitions/end') asked.open();
    await (answer ?? asked).opened;
    return [200, { ...granted, state: 'ended', outcome: 'cancelled' }];
  });
  return { arbiter, ended: asked.opened };
}

test('a try that finds another one in the way has a body too', async () => {
  const { arbiter } = answered(path => path === '/sessions' ? [201, { token: 'session' }] : [409, { code: 'busy' }]);
  assert.equal(await arbiter.scene().tryTransition(transition => transition), null);
  assert.equal(await arbiter.scene().tryTransition({ scope: 'operation' }, () => 1), 1);
});

test('a try ends with its body', async () => {
  const first = granting();
  const held = await first.arbiter.scene().tryTransition(transition => transition);
  assert(held.ended);
  const second = granting();
  await assert.rejects(second.arbiter.scene().tryTransition(() => { throw new Error('of the body'); }), /of the body/);
  await second.ended;
});

test('of the positions of a finger only the newest is sent, and the release has it', async () => {
  const [moved, released] = [[], []];
  const ended = gate();
  let goOn;
  const { arbiter } = answered(async (path, signal, body) => {
    if (path === '/sessions') return [201, { token: 'session' }];
    if (path === '/transitions/start') return [201, granted];
    if (path === '/transitions/progress') {
      moved.push(JSON.parse(body));
      return new Promise(resolve => { goOn = () => resolve([200, { ...granted, applied: true }]); });
    }
    if (path === '/transitions/release') {
      released.push(JSON.parse(body));
      return [200, { ...granted, decision: 'finish', remaining: 0 }];
    }
    if (path === '/transitions/end') ended.open();
    await ended.opened;
    return [200, { ...granted, state: 'ended', outcome: 'completed' }];
  });
  const untilMoved = async count => {
    while (moved.length < count) await new Promise(setImmediate);
  };
  const drag = await arbiter.scene().startInteractive();
  drag.update(0.1, { velocity: 1 });
  await untilMoved(1);
  for (const fraction of [0.2, 0.3, 0.4]) drag.update(fraction);
  goOn();
  await untilMoved(2);
  assert.deepEqual(
    moved.map(({ fraction, velocity, sequence }) => [fraction, velocity, sequence]), [[0.1, 1, 1], [0.4, undefined, 4]]);
  drag.update(0.5, { velocity: 2 });
  for (const wrong of [NaN, Infinity]) assert.throws(() => drag.update(wrong), RangeError);
  for (const wrong of ['1', null, undefined, 1n]) assert.throws(() => drag.update(wrong), TypeError);
  assert.throws(() => drag.update(0.6, { velocity: NaN }), RangeError);
  assert.equal(await drag.release(() => {}), true);
  assert.deepEqual(released.map(({ fraction, velocity }) => [fraction, velocity]), [[0.5, 2]]);
  assert.equal((await (await drag.granted).progress(0.1)).applied, false);
});

test('an operation belongs to what was granted last, also before the loss of the other is heard', async () => {
  const performed = [];
  let granted = 0;
  const { arbiter } = answered(async (path, signal, body) => {
    const { id } = JSON.parse(body);
    if (path === '/sessions') return [201, { token: 'session' }];
    if (path === '/transitions/perform') performed.push(id);
    else if (id && path !== '/transitions/end') return new Promise(() => {});
    else if (!id) granted += 1;
    const own = id ?? `t-${granted}`;
    const document = { id: own, token: 'secret', state: 'running', fence: Number(own.slice(2)), leaseSeconds: 300 };
    return [200, path === '/transitions/end' ? { ...document, state: 'ended', outcome: 'completed' } : document];
  });
  const lock = new TransitionLock(arbiter.scene());
  assert(await lock.startTransition());
  const turn = lock.serializeTransition(() => lock.push('editor', { navigation: 'nav' }).then(() => lock.transitionComplete()));
  while (!performed.length) await new Promise(setImmediate);
  assert.deepEqual(performed, ['t-2']);
  turn.catch(() => {});
});

test('the end of a block ends what it holds', { skip: !Symbol.asyncDispose }, async () => {
  const { arbiter } = granting();
  const transition = await arbiter.scene().start();
  await transition[Symbol.asyncDispose]();
  assert.equal(transition.ended.outcome, 'cancelled');
  await transition[Symbol.asyncDispose]();
});

test('what is collected while it is being ended is not given back', async t => {
  const answer = gate();
  const { arbiter, ended } = granting(answer);
  const warned = t.mock.method(console, 'warn', () => {});
  const ending = arbiter.scene().start().then(transition => transition.complete());
  await ended;
  await collectGarbage();
  answer.open();
  await ending;
  assert.equal(warned.mock.callCount(), 0);
});

test('what is collected while it is held is given back', async t => {
  const { arbiter, ended } = granting();
  const warned = t.mock.method(console, 'warn', () => {});
  const { signal } = await arbiter.scene().start();
  while (!signal.aborted) await collectGarbage();
  await ended;
  assert.match(warned.mock.calls[0].arguments[0], /^t-1 was not ended/);
  assert.equal(signal.reason.outcome, 'cancelled');
});
