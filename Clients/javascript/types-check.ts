// Uses what client.d.ts declares, for `deno check`; nothing here is executed.
// @ts-types="./client.d.ts"
import {
  Arbiter, BlockedBySelf, Closed, type HierarchySnapshot, type Node, operations, Refused, TimedOut, TransitionEnded,
  TransitionLock,
} from './client.js';

const arbiter: Arbiter = new Arbiter({ client: 'sidebar', patience: 5, headers: { traceparent: '' } });
const scene = arbiter.scene('main');

const count: number = await scene.withTransition({ operation: operations.pop('nav'), timeout: 5 }, async transition => {
  const fence: number | null = transition.fence;
  transition.signal.addEventListener('abort', () => {});
  await transition.progress(0.5, { velocity: 1 });
  await transition.release({ decision: 'finish' });
  return fence ?? 0;
});
const drag = scene.serializeInteractive({ operation: operations.pop('nav'), timeout: 5 });
drag.update(0.3, { velocity: -1 });
const isGone: boolean = await drag.release((remaining, { signal }) => console.log(remaining, signal.aborted));
const begun = await scene.startInteractive();
await begun?.finish();
await begun?.cancel();
console.log(isGone, (await drag.granted).fence);
const hierarchy = await scene.hierarchy({ signal: AbortSignal.timeout(1000) });
const root: Node | null = hierarchy.root;
for await (const snapshot of hierarchy.changes()) {
  const known: HierarchySnapshot = snapshot.revision > hierarchy.revision ? snapshot : hierarchy;
  console.log(known.controller('nav')?.children, root?.id);
}
// @ts-expect-error: a node does not change.
if (root) root.id = 'other';
hierarchy.close();
const nothing: void = await scene.withTransition(() => {});
const done: boolean = await scene.tryTransition({ scope: 'operation' }, async transition => {
  await transition?.complete();
  return transition !== null;
});
await scene.tryTransition(transition => console.log(transition?.fence, done));
{
  await using held = await scene.start();
  await held?.complete();
}
const tried = await scene.start({ scope: 'operation', participants: ['part', { client: 'other', required: false }] });
const seconds: number | undefined = tried?.duration;
await scene.serialize({ coalesce: 'selection', waitForSelf: true, waiting: ({ position }) => console.log(position, seconds) });
await scene.start({ operation: operations.setTabs('tabs', ['first', { id: 'second' }], { selected: 1 }) });
await tried?.complete();
for await (const event of scene.events({ since: '0', attached: true, signal: AbortSignal.timeout(1000) })) {
  const name: string = event.name;
  console.log(name, event.data.id, count, nothing);
}
try {
  await scene.serialize({ timeout: null });
} catch (error) {
  if (error instanceof Refused) console.log(error.code);
  if (error instanceof TransitionEnded) console.log(error.outcome);
  if (error instanceof TimedOut) console.log(error.message);
  if (error instanceof BlockedBySelf) console.log(error.document.id);
  if (error instanceof Closed) console.log(error.message);
}
const lock = new TransitionLock(scene, { scope: ['nav'], timeout: 5, perform: ({ duration }) => console.log(duration) });
if (await lock.startTransition()) {
  const removed: string[] = await lock.performSegue('show', { source: 'list', expect: { controller: 'list', is: 'top' } });
  await lock.endTransition();
  console.log(removed);
}
await lock.serializeTransition(async () => {
  await lock.pop('nav', { animated: false });
  lock.transitionComplete();
});
// @ts-expect-error: it is not an option.
await scene.start({ scopes: [] });
