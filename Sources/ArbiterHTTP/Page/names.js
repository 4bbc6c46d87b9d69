// @ts-check
// Names and texts of others, as they stand in the page's own sentences: none of them changes how the rest is read.

import { NAME_SHOWN } from './limits.js';

/**
 * Characters that cannot be seen, and those that change the order of others: control and format characters, lines, halves of
 * characters, and letters that are blank. Within words and emoji, U+200C and U+200D belong to what is seen.
 */
const HIDDEN = new RegExp(
  '(?![\\n\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u2800\\u3164\\uffa0]'
  + '|(?<![\\p{L}\\p{M}\\p{Extended_Pictographic}\\p{Emoji_Modifier}])[\\u200c\\u200d]', 'gu');
/** Letters that are read from right to left, and take the signs beside them along. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A text with what is hidden in it as JSON writes it: `\u202e`. @param {string} text */
export const escaped = text => String(text).replace(HIDDEN, found => Array.from({ length: found.length }, (_, index) => (
  `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`)).join(''));

/** A text as it stands in a sentence, whose order it leaves as it is. @param {string} text */
export function inWords(text) {
  const safe = escaped(text);
  return RIGHT_TO_LEFT.test(safe) ? `\u2068${safe}\u2069` : safe;
}

/** The same for a name, which may be long. @param {string} name */
export function shortened(name) {
  const letters = [...escaped(name)];
  return inWords(letters.length > NAME_SHOWN ? `${letters.slice(0, NAME_SHOWN - 1).join('')}…` : letters.join(''));
}

/** Several names in one phrase. @param {string[]} names @param {number} most */
export const listOf = (names, most = 4) => list(names.map(inWords), most);

/** Several phrases in one. @param {string[]} phrases @param {number} most */
export function list(phrases, most = 4) {
  const shown = phrases.slice(0, most);
  const more = phrases.length - shown.length;
  if (more > 0) return `${shown.join(', ')} and ${more} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** Whose a transition is. */
export function who({ client, id }) {
  if (client === undefined || client === null) return `a client without a name (${inWords(id)})`;
  return client.trim() ? shortened(client) : `“${client}”`;
}

/** Whether a scene can have this name. @param {string} name */
export const isSceneName = name => /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(name);
