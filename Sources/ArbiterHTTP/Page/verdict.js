// @ts-check
// What a dialog says about its fields.

import { byId, setText } from './dom.js';

/** @param {string} dialog @param {'good' | 'bad' | ''} kind @param {string} text */
export function verdict(dialog, kind, text) {
  const check = byId(`${dialog}-check`);
  check.className = `check ${kind}`;
  setText(check, text);
}
