// Draws the tab bar, as often as it changes, until so many hands have gone: node bar.mjs HANDS
import { Arbiter } from '../../Clients/javascript/client.js';
import { TABS, declare, drawn, say } from './view.mjs';

let hands = Number(process.argv[2]);
const arbiter = new Arbiter({ client: 'bar' });
const scene = arbiter.scene();
let selected = 'home';

await declare(scene);
for await (const { name, data } of scene.events({ since: '0' })) {
  switch (name) {
    case 'transition.queued':
      say('bar', `waiting  ${data.operation.controller}`);
      break;
    case 'transition.running':
      say('bar', `moving   ${drawn(selected)} -> ${data.operation.controller}`);
      break;
    case 'hierarchy.changed':
      for (const change of data.changes) {
        if (change.type === 'select') selected = TABS[change.selected];
      }
      say('bar', `shows    ${drawn(selected)}`);
      break;
    case 'session.ended':
      hands -= 1;
      break;
  }
  if (hands === 0) break;
}
