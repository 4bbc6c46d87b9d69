// What the two kinds of views share.
import { operations } from '../../Clients/javascript/client.js';

export const TABS = ['home', 'search', 'inbox', 'profile'];

/** Writes a line at once, so that the lines of several processes stand in their order. */
export function say(name, text) {
  const { VIEW_COLOUR = '', VIEW_PLAIN = '' } = process.env;
  process.stdout.write(`${VIEW_COLOUR}${name.padEnd(10)}${text}${VIEW_PLAIN}\n`);
}

/** Of the processes that start together, the first one declares the tab bar. */
export async function declare(scene) {
  const storyboard = { root: { id: 'bar', kind: 'tabs', children: TABS }, defaults: { duration: 0.6 } };
  await scene.declare(storyboard, { ifUndeclared: true });
}

export const select = tab => operations.select('bar', { controller: tab });

/** The tab bar, with the selected tab in brackets. */
export const drawn = selected => TABS.map(tab => (tab === selected ? `[${tab}]` : ` ${tab} `)).join('').trimEnd();
