// The operations of the JavaScript client make what openapi.yaml shows, of what client.d.ts says: `node --test Clients/javascript`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { operations } from './client.js';

const read = path => readFileSync(new URL(path, import.meta.url), 'utf8');
const examples = Array.from(read('../../openapi.yaml').matchAll(/^ +- (\{"type": .*\})$/gm), ([, text]) => JSON.parse(text));

/** The names of the parameters of each operation, in their order; those that are given as one object are in a list. */
function declared() {
  const [, block] = read('client.d.ts').match(/^export const operations: \{\n(.*?)^\};/ms);
  return Object.fromEntries(Array.from(block.matchAll(/^ {2}(\w+)\((.*)\): Operation;$/gm), ([, type, parameters]) => [
    type,
    Array.from(parameters.matchAll(/\bfields\??: \{(.*?)\}|(\w+): /g), ([, fields, name]) => (
      fields ? Array.from(fields.matchAll(/(\w+)\??:/g), ([, field]) => field) : name)),
  ]));
}

test('every operation is declared, and has an example', () => {
  assert.deepEqual(Object.keys(declared()).sort(), Object.keys(operations).sort());
  assert.deepEqual([...new Set(examples.map(({ type }) => type))].sort(), Object.keys(operations).sort());
});

for (const example of examples) {
  test(`it makes ${JSON.stringify(example)}`, () => {
    const parameters = declared()[example.type];
    const given = parameters.map(parameter => (Array.isArray(parameter)
      ? Object.fromEntries(parameter.filter(name => name in example).map(name => [name, example[name]])) : example[parameter]));
    assert.deepEqual(operations[example.type](...given), example);
    assert.deepEqual(Object.keys(example).filter(name => name !== 'type' && !parameters.flat().includes(name)), []);
  });
}
