// @ts-check
// Draws the tree of controllers. Only the rows in sight are elements, so that thousands of controllers stay usable.

import { byId, el, setText } from './dom.js';
import { rowsOf } from './hierarchy.js';
import { TREE_OVERSCAN } from './limits.js';
import { escaped, inWords, who } from './names.js';
import { holdWords } from './words.js';

const ROW = 28;
const INDENT = 14;
/** The kinds of controllers that have another name here. */
const KINDS = new Map([['navigation', 'stack']]);

export class TreeView {
  #box = byId('tree-rows');
  #all = el('div', { class: 'all', role: 'none' });
  /** @type {import('./hierarchy.js').Row[]} */
  #rows = [];
  /** @type {Map<string, any>} */
  #elements = new Map();
  /** The places of the rows by id, as they were drawn last. */
  #places = new Map();
  #closed = new Set();
  /** The row that the keyboard is at. */
  #active = null;
  #root = undefined;
  #key = '';

  /** @param {{open: (id: string) => void, changed: () => void}} options */
  constructor({ open, changed }) {
    this.open = open;
    this.changed = changed;
    this.#box.append(this.#all);
    this.#box.addEventListener('scroll', () => this.#place(false));
    this.#box.addEventListener('keydown', event => this.#press(event));
    this.#box.addEventListener('click', event => this.#click(event));
    new ResizeObserver(() => this.#place(false)).observe(this.#box);
  }

  /**
   * @param {string} key what the tree is of; another one is drawn without anything moving
   * @param {any} root
   * @param {import('./model.js').Transition[]} granted
   */
  draw(key, root, granted) {
    const isAnother = key !== this.#key || this.#root == null;
    this.#key = key;
    this.#root = root;
    const locks = granted.map(each => ({ ...each.document, words: holdWords(each) }));
    this.#rows = rowsOf(root, { isClosed: id => this.#closed.has(id), locks });
    if (this.#active === null || !this.#rows.some(row => row.node.id === this.#active)) this.#active = root?.id ?? null;
    this.#all.style.height = `${this.#rows.length * ROW}px`;
    this.#place(!isAnother);
  }

  /** Makes the rows that are in sight elements, and only those. */
  #place(moves) {
    const { scrollTop, clientHeight } = this.#box;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - TREE_OVERSCAN);
    const last = Math.min(this.#rows.length, Math.ceil((scrollTop + clientHeight) / ROW) + TREE_OVERSCAN);
    const places = new Map();
    for (let index = 0; index < this.#rows.length; index += 1) {
      const row = this.#rows[index];
      const id = row.node.id;
      places.set(id, index);
      if ((index < first || index >= last) && id !== this.#active) continue;
      let element = this.#elements.get(id);
      if (!element) {
        const from = this.#places.get(id);
        element = this.#make();
        if (moves && from === undefined) element.classList.add('arrives');
        this.#elements.set(id, element);
        this.#all.append(element);
        if (moves && from !== undefined) this.#jump(element, from);
      }
      element.classList.toggle('jumps', !moves);
      this.#fill(element, row, index);
    }
    for (const [id, element] of this.#elements) {
      const index = places.get(id);
      if (index !== undefined && ((index >= first && index < last) || id === this.#active)) continue;
      this.#elements.delete(id);
      if (moves && index === undefined) this.#leave(element);
      else element.remove();
    }
    this.#places = places;
  }

  #make() {
    return el('div', { class: 'row', role: 'treeitem' },
      el('span', { class: 'twist', 'aria-hidden': 'true' }), el('span', { class: 'eye', 'aria-hidden': 'true' }),
      el('span', { class: 'name' }), el('span', { class: 'what' }),
      el('span', { class: 'chip lock' }, el('span', { class: 'unseen' }), el('span')));
  }

  /** Lets an element begin where its row was. */
  #jump(element, from) {
    element.classList.add('jumps');
    element.style.transform = `translateY(${from * ROW}px)`;
    element.getBoundingClientRect();
  }

  #leave(element) {
    element.classList.add('leaves');
    element.removeAttribute('role');
    element.setAttribute('aria-hidden', 'true');
    element.tabIndex = -1;
    setTimeout(() => element.remove(), 300);
  }

  #fill(element, row, index) {
    const { node, level, position, count, isOpen, isVisible, layer, layerLevel, lockers } = row;
    element.style.transform = `translateY(${index * ROW}px)`;
    element.style.setProperty('--indent', `${Math.min(level - 1, 16) * INDENT}px`);
    element.dataset.id = node.id;
    const words = describe(row);
    element.title = `${inWords(node.id)}: ${words}`;
    element.tabIndex = node.id === this.#active ? 0 : -1;
    attribute(element, 'aria-level', level);
    attribute(element, 'aria-posinset', position);
    attribute(element, 'aria-setsize', count);
    attribute(element, 'aria-expanded', isOpen);
    attribute(element, 'data-layer', layer ? 1 + (layer - 1) % 2 : null);
    if (layer) element.style.setProperty('--layer-indent', `${Math.min(layerLevel - 1, 16) * INDENT}px`);
    element.classList.toggle('seen', isVisible);
    element.classList.toggle('unseen-here', !isVisible);
    const [twist, , name, what, lock] = element.children;
    setText(twist, isOpen === null ? '' : isOpen ? '▾' : '▸');
    setText(name, escaped(node.id));
    setText(what, words);
    const locker = lockers.at(-1);
    lock.hidden = !locker;
    if (!locker) return;
    lock.classList.toggle('inherited', !row.isLockRoot);
    lock.classList.toggle('prepares', locker.state === 'preparing');
    lock.title = lockers.map(each => `${who(each)} ${each.words}`).join('; ');
    // The rows below the one that is locked need not say it again.
    setText(lock.firstChild, 'locked by ');
    setText(lock.lastChild, `${who(locker)}${lockers.length > 1 ? ` and ${lockers.length - 1} more` : ''}`);
    lock.lastChild.className = row.isLockRoot ? '' : 'unseen';
  }

  // Keyboard and mouse

  #click(event) {
    const element = event.target.closest('.row');
    if (!element) return;
    const row = this.#rows.find(each => each.node.id === element.dataset.id);
    if (!row) return;
    this.#go(row.node.id);
    if (event.target.closest('.lock') && row.lockers.length) this.open(row.lockers.at(-1).id);
    else if (event.target.closest('.twist')) this.#toggle(row);
  }

  #press(event) {
    const index = this.#rows.findIndex(row => row.node.id === this.#active);
    const row = this.#rows[index];
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.#box.clientHeight / ROW) - 1);
    const last = this.#rows.length - 1;
    const to = {
      ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last, PageDown: index + page, PageUp: index - page,
    }[event.key];
    if (to !== undefined) {
      this.#go(this.#rows[Math.max(0, Math.min(to, last))].node.id);
    } else if (event.key === 'ArrowRight') {
      if (row.isOpen === false) this.#toggle(row);
      else if (row.isOpen) this.#go(this.#rows[index + 1].node.id);
    } else if (event.key === 'ArrowLeft') {
      if (row.isOpen) this.#toggle(row);
      else this.#go(this.#parentOf(index));
    } else if (event.key === 'Enter' || event.key === ' ') {
      if (row.lockers.length) this.open(row.lockers.at(-1).id);
      else if (row.isOpen !== null) this.#toggle(row);
    } else {
      return;
    }
    event.preventDefault();
  }

  #parentOf(index) {
    const { level, node } = this.#rows[index];
    for (let above = index; above >= 0; above -= 1) if (this.#rows[above].level < level) return this.#rows[above].node.id;
    return node.id;
  }

  #toggle({ node }) {
    if (!this.#closed.delete(node.id)) this.#closed.add(node.id);
    this.changed();
  }

  #go(id) {
    this.#active = id;
    const top = this.#rows.findIndex(row => row.node.id === id) * ROW;
    const { scrollTop, clientHeight } = this.#box;
    if (top < scrollTop) this.#box.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.#box.scrollTop = top + ROW - clientHeight;
    this.#place(false);
    this.#elements.get(id)?.focus({ preventScroll: true });
  }
}

/** What a row says about its controller, besides its name and who locks it. */
function describe({ node, place, isVisible, isCovered, isOpen }) {
  const kind = node.kind ?? 'view';
  const words = [KINDS.get(kind) ?? kind];
  if (isOpen !== null && node.children) words[0] += ` of ${node.children.length}`;
  if (place === 'presented') words.push(`presented ${stylesWords(node.presentationStyle)}`);
  else if (place === 'top') words.push('top');
  else if (place === 'selected') words.push('selected tab');
  else if (place !== 'root' && place !== 'stack' && place !== 'tab') words.push(place);
  if (node.collapsed) words.push('collapsed');
  words.push(isVisible ? 'visible' : isCovered ? `covered by ${inWords(node.presented?.id)}` : 'not visible');
  return words.join(' · ');
}

const stylesWords = (style = 'fullScreen') => `as ${style.replace(/([A-Z])/g, letter => ` ${letter.toLowerCase()}`)}`;

function attribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}
