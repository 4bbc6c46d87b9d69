// Uses what client.d.ts declares, for `deno check`; nothing here is executed.
// @ts-types="./client.d.ts"
import { Arbiter, operations, Refused, TimedOut, TransitionEnded } from './client.js';

const arbiter: Arbiter = new Arbiter({ client: 'sidebar', patience: 5, headers: { traceparent: '' } });
const scene = arbiter.scene('main');

const count: number = await scene.withTransition({ operation: operations.pop('nav'), timeout: 5 }, async transition => {
  const fence: number | null = transition.fence;
  transition.signal.addEventListener('abort', () => {});
  await transition.progress(0.5, { velocity: 1 });
  await transition.release({ decision: 'finish' });
  return fence ?? 0;
});
const nothing: void = await scene.withTransition(() => {});
const tried = await scene.start({ scope: 'operation' });
await tried?.complete();
for await (const event of scene.events({ since: '0', attached: true, signal: AbortSignal.timeout(1000) })) {
  const name: string = event.name;
  console.log(name, event.data.id, count, nothing);
}
try {
  await scene.serialize();
} catch (error) {
  if (error instanceof Refused) console.log(error.code);
  if (error instanceof TransitionEnded) console.log(error.outcome);
  if (error instanceof TimedOut) console.log(error.message);
}
// @ts-expect-error: it is not an option.
await scene.start({ scopes: [] });
