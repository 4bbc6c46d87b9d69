// The agent of the JavaScript client for Clients/conformance.
import { createInterface } from 'node:readline';
import { Arbiter, Refused, TimedOut, TransitionEnded, Unreachable } from './client.js';

const [url, client, options] = process.argv.slice(2);
const arbiter = new Arbiter({ url, client, ...JSON.parse(options) });
const transitions = new Map();
const streams = new Map();

const held = (command, transition) => {
  transitions.set(command.as, transition);
  return { transition: transition?.document ?? null };
};

const commands = {
  start: async command => held(command, await arbiter.scene(command.scene).start(command.options)),
  serialize: async command =>
    held(command, await arbiter.scene(command.scene).serialize({ timeout: command.timeout, ...command.options })),
  complete: async command => ({ transition: await transitions.get(command.as).complete() }),
  cancel: async command => ({ transition: await transitions.get(command.as).cancel() }),
  progress: async command => ({ answer: await transitions.get(command.as).progress(command.fraction) }),
  release: async command => ({ answer: await transitions.get(command.as).release() }),
  async lost(command) {
    const { signal } = transitions.get(command.as);
    if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve));
    return { outcome: signal.reason.outcome, reason: signal.reason.reason };
  },
  ready: async command => ({ transition: await arbiter.ready(command.id) }),
  declare: async command => ({ answer: await arbiter.scene(command.scene).declare(command.storyboard) }),
  async follow(command) {
    streams.set(command.as, arbiter.scene(command.scene).events({ attached: command.attached, since: '0' }));
    // It begins with the first event that is asked for, so ask for one.
    const stream = streams.get(command.as);
    const first = stream.next();
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
};

function failure(error) {
  if (error instanceof Refused) return { error: 'refused', code: error.code };
  if (error instanceof TransitionEnded) {
    return { error: 'ended', outcome: error.outcome, reason: error.reason, code: error.code };
  }
  if (error instanceof TimedOut) return { error: 'timedOut' };
  if (error instanceof Unreachable) return { error: 'unreachable' };
  throw error;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { n, do: name, ...command } = JSON.parse(line);
  commands[name](command).catch(failure).then(answer => console.log(JSON.stringify({ n, ...answer })));
}
