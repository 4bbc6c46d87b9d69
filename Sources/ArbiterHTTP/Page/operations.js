// @ts-check
// The operations: what the page says of each, and how it asks for one.

import { inWords, listOf } from './names.js';

/**
 * An operation. Without a title, the page does not offer it, because what it needs is more than a few names.
 * @typedef {{title?: string, operands?: string[], words: (operation: any, arriving: string) => string}} Kind
 */

/** By their types, in the order in which the page offers them. @type {Record<string, Kind>} */
export const OPERATIONS = {
  push: {
    title: 'push a controller onto a stack', operands: ['controller', 'navigation'],
    words: ({ navigation }, arriving) => `push ${arriving} onto ${inWords(navigation)}`,
  },
  pop: {
    title: 'pop the top of a stack', operands: ['navigation'],
    words: ({ navigation }) => `pop the top of ${inWords(navigation)}`,
  },
  popTo: {
    title: 'pop a stack back to a controller', operands: ['controller', 'navigation'],
    words: ({ navigation }, arriving) => `pop ${inWords(navigation)} back to ${arriving}`,
  },
  popToRoot: {
    title: 'pop a stack back to its root', operands: ['navigation'],
    words: ({ navigation }) => `pop ${inWords(navigation)} back to its root`,
  },
  setStack: {
    words: operation => `give ${inWords(operation.navigation)} another stack (${stackWords(operation)})`,
  },
  present: {
    title: 'present a controller', operands: ['controller', 'presenter'],
    words: ({ presenter }, arriving) => `present ${arriving} ${presenter ? `from ${inWords(presenter)}` : 'in front'}`,
  },
  dismiss: {
    title: 'dismiss what is presented', operands: ['controller'],
    words: (_, arriving) => `dismiss ${arriving}, or what it presents`,
  },
  select: {
    title: 'select a tab', operands: ['controller', 'tabs'],
    words: (operation, arriving) => `select ${tabOf(operation, arriving)} of ${inWords(operation.tabs)}`,
  },
  setTabs: {
    words: ({ tabs }) => `give ${inWords(tabs)} other tabs`,
  },
  insertTab: {
    title: 'insert a tab', operands: ['controller', 'tabs'],
    words: ({ tabs, index }, arriving) => (
      `insert ${arriving} into the tabs of ${inWords(tabs)}${index === undefined ? '' : ` (index ${index})`}`),
  },
  removeTab: {
    title: 'remove a tab', operands: ['controller', 'tabs'],
    words: ({ tabs }, arriving) => `remove the tab ${arriving} of ${inWords(tabs)}`,
  },
  showDetail: {
    title: 'show the detail of a split', operands: ['controller', 'split'],
    words: ({ split }, arriving) => `show ${arriving} as the detail of ${inWords(split)}`,
  },
  setColumn: {
    title: 'replace a column of a split', operands: ['controller', 'column', 'split'],
    words: ({ split, column, controller }, arriving) => (
      controller ? `make ${arriving} the ${inWords(column)} column of ${inWords(split)}`
        : `empty the ${inWords(column)} column of ${inWords(split)}`),
  },
  showColumn: {
    title: 'show a column of a collapsed split', operands: ['column', 'split'],
    words: ({ split, column }) => `show the ${inWords(column)} column of ${inWords(split)}`,
  },
  collapse: {
    title: 'collapse a split', operands: ['split'],
    words: ({ split, topColumn }) => `collapse ${inWords(split)}${topColumn ? ` onto its ${inWords(topColumn)} column` : ''}`,
  },
  expand: {
    title: 'expand a split', operands: ['split'],
    words: ({ split }) => `expand ${inWords(split)}`,
  },
  setRoot: {
    title: 'replace the whole tree', operands: ['controller'],
    words: (_, arriving) => `make ${arriving} the whole tree`,
  },
  segue: {
    title: 'perform a segue', operands: ['identifier', 'source'],
    words: ({ identifier, source }) => `perform the segue ${inWords(identifier)} of ${inWords(source)}`,
  },
};

/** What the operands are called. @type {Record<string, string>} */
export const LABELS = {
  controller: 'Controller', navigation: 'Stack', presenter: 'Presented by', tabs: 'Tab bar', split: 'Split', column: 'Column', identifier: 'Segue',
  source: 'Of the controller',
};

/** What a transition does to the tree, after "to". */
export function operationWords({ operation, operations = operation ? [operation] : [] }) {
  return operations.length ? operations.map(wordsOf).join(', then ') : 'animate without changing the tree';
}

/** The types of what a transition does to the tree. */
export function operationTypes({ operation, operations = operation ? [operation] : [] }) {
  return operations.length ? operations.map(({ type }) => inWords(type)).join(', ') : 'no operation';
}

function wordsOf(operation) {
  // A newer daemon may have others.
  const kind = Object.hasOwn(OPERATIONS, operation.type) ? OPERATIONS[operation.type] : null;
  return kind ? kind.words(operation, inWords(idOf(operation.controller))) : `perform ${inWords(operation.type)}`;
}

const idOf = controller => (typeof controller === 'string' ? controller : controller?.id);

const stackWords = ({ controllers, controllerCount }) => (
  controllers ? listOf(controllers.map(idOf)) : `${controllerCount} controllers`);

function tabOf({ controller, index, offset }, arriving) {
  if (controller) return `the tab ${arriving}`;
  if (index !== undefined) return `tab ${index + 1} (index ${index})`;
  if (Math.abs(offset) === 1) return offset > 0 ? 'the next tab' : 'the previous tab';
  return `the tab ${Math.abs(offset)} ${offset > 0 ? 'further' : 'back'}`;
}
