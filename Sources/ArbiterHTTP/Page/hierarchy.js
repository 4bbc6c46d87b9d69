// @ts-check
// The tree of controllers of a scene: changed by events, and kept as it was at earlier revisions.

/** @typedef {{id: string, kind?: string, children?: Node[], primary?: Node, supplementary?: Node, secondary?: Node,
 *   presented?: Node, presentationStyle?: string, selected?: number, collapsed?: boolean,
 *   pushed?: {supplementary?: string, secondary?: string}}} Node */

const COLUMNS = /** @type {const} */ (['primary', 'supplementary', 'secondary']);
const SINGLE = /** @type {const} */ ([...COLUMNS, 'presented']);
/** The styles that hide what is below. */
const COVERING = new Set(['fullScreen', 'currentContext']);

/** A change that does not fit the tree: then the whole has to be read again. */
export class Inapplicable extends Error {}

/**
 * A tree whose nodes are never changed: a change copies the nodes from the changed one up to the root, and all others are
 * shared with the tree before. So the roots of earlier revisions cost little.
 */
export class Hierarchy {
  /** @type {Node | null} */
  root = null;
  /** @type {Map<string, Node>} */
  #nodes = new Map();
  /** @type {Map<string, string | null>} */
  #parents = new Map();

  get size() {
    return this.#nodes.size;
  }

  /** @param {Node | null} root */
  replace(root) {
    this.root = root;
    this.#nodes.clear();
    this.#parents.clear();
    if (root) this.#enter(root, null);
  }

  /**
   * Applies the `changes` of a `hierarchy.changed`, in their order.
   * @param {any[]} changes
   * @throws {Inapplicable}
   */
  apply(changes) {
    for (const change of changes) this.#apply(change);
  }

  /** Whether one of the two is the other, or stands above it. @param {string} a @param {string} b */
  overlaps(a, b) {
    return this.#isWithin(a, b) || this.#isWithin(b, a);
  }

  #isWithin(id, above) {
    for (let each = id; each != null; each = this.#parents.get(each) ?? null) if (each === above) return true;
    return false;
  }

  #apply(change) {
    const { type, id } = change;
    if (type === 'replace') {
      this.replace(change.root ?? null);
    } else if (type === 'insert') {
      this.#attach(change.controller, change.place);
    } else if (type === 'remove') {
      this.#leave(this.#detach(id));
    } else if (type === 'move') {
      this.#attach(this.#detach(id), change.place, true);
    } else if (type === 'select') {
      this.#exchange(id, { ...this.#node(id), selected: change.selected });
    } else if (type === 'arrange') {
      const node = this.#node(id);
      const children = change.children.map(child => this.#node(child));
      this.#exchange(id, { ...node, children, ...(change.selected === undefined ? {} : { selected: change.selected }) });
    } else if (type === 'collapse' || type === 'expand') {
      const { pushed, ...node } = this.#node(id);
      this.#exchange(id, { ...node, collapsed: type === 'collapse', ...(change.pushed ? { pushed: change.pushed } : {}) });
    } else {
      throw new Inapplicable(`There is a change ${type}`);
    }
  }

  #node(id) {
    const node = this.#nodes.get(id);
    if (!node) throw new Inapplicable(`There is no ${id}`);
    return node;
  }

  #enter(top, above) {
    const waiting = [[top, above]];
    while (waiting.length) {
      const [node, parent] = /** @type {[Node, string | null]} */ (waiting.pop());
      this.#nodes.set(node.id, node);
      this.#parents.set(node.id, parent);
      for (const child of below(node)) waiting.push([child, node.id]);
    }
  }

  #leave(top) {
    const waiting = [top];
    while (waiting.length) {
      const node = /** @type {Node} */ (waiting.pop());
      this.#nodes.delete(node.id);
      this.#parents.delete(node.id);
      waiting.push(...below(node));
    }
  }

  #attach(node, place, isKnown = false) {
    const { type, parent = null } = place ?? {};
    if (type === 'root') {
      this.root = node;
    } else {
      const holder = this.#node(parent);
      if (type === 'top' || type === 'tab') this.#exchange(parent, { ...holder, children: [...(holder.children ?? []), node] });
      else if (SINGLE.includes(type)) this.#exchange(parent, { ...holder, [type]: node });
      else throw new Inapplicable(`There is a place ${type}`);
    }
    if (isKnown) this.#parents.set(node.id, parent);
    else this.#enter(node, parent);
  }

  /** Takes a node out of its place; it stays known. */
  #detach(id) {
    const node = this.#node(id);
    const parent = this.#parents.get(id) ?? null;
    if (parent === null) {
      this.root = null;
      return node;
    }
    const holder = this.#node(parent);
    if (holder.children?.includes(node)) {
      this.#exchange(parent, { ...holder, children: holder.children.filter(child => child !== node) });
    } else {
      const without = { ...holder };
      for (const member of SINGLE) if (without[member] === node) delete without[member];
      this.#exchange(parent, without);
    }
    return node;
  }

  /** Puts a changed copy in the place of a node, and copies everything above it. */
  #exchange(id, copy) {
    let [old, fresh] = [this.#node(id), copy];
    for (;;) {
      this.#nodes.set(fresh.id, fresh);
      const parent = this.#parents.get(fresh.id) ?? null;
      if (parent === null) {
        this.root = fresh;
        return;
      }
      const holder = this.#node(parent);
      const next = { ...holder };
      const member = SINGLE.find(name => holder[name] === old);
      if (member) next[member] = fresh;
      else next.children = holder.children?.map(child => (child === old ? fresh : child));
      [old, fresh] = [holder, next];
    }
  }
}

/** The children of a node, and then what it presents. @param {Node} node @returns {Node[]} */
export function below(node) {
  const children = node.children ? [...node.children] : [];
  for (const member of SINGLE) if (node[member]) children.push(/** @type {Node} */ (node[member]));
  return children;
}

/**
 * `layer` counts the presentations that a controller stands in, and `layerLevel` is the level of the last one.
 * @typedef {{node: Node, level: number, position: number, count: number, place: string, isVisible: boolean,
 *   isCovered: boolean, layer: number, layerLevel: number, isOpen: boolean | null, lockers: any[], isLockRoot: boolean}} Row
 */

/**
 * The rows of the tree, from the root down, with what is to be said about each.
 * @param {Node | null} root
 * @param {{isClosed?: (id: string) => boolean, locks?: {id: string, locks?: string[]}[]}} options
 *   `locks` are the granted transitions.
 * @returns {Row[]}
 */
export function rowsOf(root, { isClosed = () => false, locks = [] } = {}) {
  if (!root) return [];
  const rows = [];
  const everywhere = locks.filter(each => !each.locks);
  /** @type {Map<string, any[]>} */
  const lockers = new Map();
  for (const each of locks) for (const id of each.locks ?? []) lockers.set(id, [...(lockers.get(id) ?? []), each]);
  const top = { node: root, level: 1, position: 1, count: 1, place: 'root', isPlaced: true, layer: 0, layerLevel: 1, above: everywhere };
  const waiting = [top];
  while (waiting.length) {
    const { node, isPlaced, above, ...row } = /** @type {any} */ (waiting.pop());
    const isCovered = isPlaced && !!node.presented && COVERING.has(node.presented.presentationStyle ?? 'fullScreen');
    const isVisible = isPlaced && !isCovered;
    const own = lockers.get(node.id);
    const all = own ? [...above, ...own] : above;
    const children = placesBelow(node);
    const isOpen = children.length ? !isClosed(node.id) : null;
    rows.push({ ...row, node, isVisible, isCovered, isOpen, lockers: all, isLockRoot: !!own || row.place === 'root' });
    if (!isOpen) continue;
    for (let index = children.length - 1; index >= 0; index -= 1) {
      const { child, place, isShown } = children[index];
      const isPresented = place === 'presented';
      waiting.push({
        node: child, level: row.level + 1, position: index + 1, count: children.length, place,
        isPlaced: isPresented ? isPlaced : isVisible && isShown, above: all,
        layer: row.layer + (isPresented ? 1 : 0), layerLevel: isPresented ? row.level + 1 : row.layerLevel,
      });
    }
  }
  return rows;
}

/** @param {Node} node */
function placesBelow(node) {
  const children = node.children ?? [];
  const selected = node.kind === 'tabs' ? node.selected ?? 0 : children.length - 1;
  /** @type {{child: Node, place: string, isShown: boolean}[]} */
  const places = children.map((child, index) => {
    const isShown = index === selected;
    return { child, place: node.kind === 'tabs' ? (isShown ? 'selected' : 'tab') : isShown ? 'top' : 'stack', isShown };
  });
  for (const column of COLUMNS) {
    const child = node[column];
    if (child) places.push({ child, place: column, isShown: column === 'primary' || !node.collapsed });
  }
  if (node.presented) places.push({ child: node.presented, place: 'presented', isShown: true });
  return places;
}
