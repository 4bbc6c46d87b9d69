// Taps tabs faster than they can be animated: node hand.mjs NAME TAB...
import { setTimeout as sleep } from 'node:timers/promises';
import { Arbiter, TransitionEnded } from '../../Clients/javascript/client.js';
import { declare, say, select } from './view.mjs';

const [name, ...tabs] = process.argv.slice(2);
const arbiter = new Arbiter({ client: name });
const scene = arbiter.scene();

async function tap(tab) {
  say(name, `taps     ${tab}`);
  // Of the taps that wait, with the same key, only the last one remains, whichever hand it is of.
  const options = { operation: select(tab), coalesce: { key: 'selection' } };
  try {
    await scene.withTransition(options, async transition => {
      if (transition.noop) return say(name, `nothing  ${tab} is selected already`);
      say(name, `runs     ${tab}`);
      await sleep(transition.document.animation.duration * 1000);
      say(name, `ended    ${tab}`);
    });
  } catch (error) {
    if (!(error instanceof TransitionEnded && error.outcome === 'superseded')) throw error;
    say(name, `dropped  ${tab}, for a later tap`);
  }
}

await declare(scene);
const taps = [];
for (const tab of tabs) {
  taps.push(tap(tab));
  await sleep(100);
}
await Promise.all(taps);
// Without it, the session would end two seconds later.
await arbiter.close();
