// @ts-check
// Making and keeping elements. Text is only ever set as text, so that a name full of HTML stays a name.

/**
 * @param {string} tag
 * @param {Record<string, any>} properties `class`, `text`, `on` (listeners), or attributes
 * @param {...(Node | string | null)} children
 * @returns {any}
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'class') element.className = value;
    else if (name === 'text') element.textContent = value;
    else if (name === 'on') for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}

/** @param {string} id @returns {any} */
export const byId = id => document.getElementById(id);

/** Sets a text only if it is another one, so that nothing is laid out or announced for nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setHidden(element, isHidden) {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/**
 * Makes the children of an element those of the items, in their order; an item keeps its element as long as its key is there.
 * @template Item
 * @param {HTMLElement} container
 * @param {Item[]} items
 * @param {(item: Item) => string} key
 * @param {(item: Item) => HTMLElement} make
 * @param {(element: any, item: Item, index: number) => void} update
 */
export function keep(container, items, key, make, update) {
  /** @type {Map<string, any>} */
  const known = /** @type {any} */ (container).kept ??= new Map();
  const wanted = new Set(items.map(key));
  for (const [name, element] of known) {
    if (wanted.has(name)) continue;
    element.remove();
    known.delete(name);
  }
  let next = container.firstElementChild;
  items.forEach((item, index) => {
    const name = key(item);
    let element = known.get(name);
    if (!element) known.set(name, element = make(item));
    if (element === next) next = next.nextElementSibling;
    else container.insertBefore(element, next);
    update(element, item, index);
  });
}

/** Draws each part at the next frame after it has changed, and no more often than it may be drawn. */
export class Painter {
  #parts = new Map();
  #frame = 0;

  /** @param {string} name @param {number} every milliseconds between two drawings @param {() => void} draw */
  add(name, every, draw) {
    this.#parts.set(name, { every, draw, isDue: false, last: -Infinity });
  }

  /** Says that parts have changed. @param {...string} names */
  changed(...names) {
    for (const name of names) this.#parts.get(name).isDue = true;
    this.#frame ||= requestAnimationFrame(now => this.#paint(now));
  }

  #paint(now) {
    this.#frame = 0;
    for (const part of this.#parts.values()) {
      if (!part.isDue) continue;
      if (now - part.last < part.every) {
        this.#frame ||= requestAnimationFrame(next => this.#paint(next));
        continue;
      }
      part.isDue = false;
      part.last = now;
      part.draw();
    }
  }
}
