// @ts-check
// The timeline: which time is in sight, and what mouse and keys do with it. What it shows is drawn by `TimelineDrawing`.

import { byId, setHidden, setText } from './dom.js';
import { AXIS, BAR, ROW, Scale, TimelineDrawing } from './timeline-drawing.js';
import { TimelineRows } from './timeline-rows.js';
import { duration, lifeWords, plural } from './words.js';

/** The lengths of time that can be shown, in seconds. */
const LENGTHS = [5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400];
/** How far the mouse may move, in pixels, and it is still a click. */
const STILL = 4;

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

export class TimelineView {
  #chart = byId('chart');
  #canvas = byId('bars');
  #drawing = new TimelineDrawing(this.#canvas);
  #rows = new TimelineRows();
  /** @type {SceneModel | null} */
  #model = null;
  /** How much time is in sight, in seconds. */
  #length = 60;
  /** The instant at the right edge; null while the newest is followed. @type {number | null} */
  #end = null;
  /** What the instant is called at which everything ends that is known. */
  #nowWord = 'now';
  /** What was drawn last, for the mouse and the keys. @type {import('./timeline-drawing.js').Bar[]} */
  #bars = [];
  /** @type {import('./timeline-drawing.js').RevisionMark[]} */
  #revisions = [];
  /** The id of the transition that the keyboard is at. @type {string | null} */
  #current = null;
  /** The id of the one that the mouse is at. @type {string | null} */
  #hovered = null;
  /** Where the mouse was pressed, and which instant was at the right edge. */
  #drag = null;

  /** @param {{open: (id: string) => void, changed: () => void, view: (revision: any) => void}} options */
  constructor({ open, changed, view }) {
    this.open = open;
    this.changed = changed;
    this.view = view;
    byId('zoom-in').addEventListener('click', () => this.#zoom(-1));
    byId('zoom-out').addEventListener('click', () => this.#zoom(1));
    byId('follow').addEventListener('click', () => this.#follow(!this.isFollowing));
    this.#chart.addEventListener('keydown', event => this.#press(event));
    this.#chart.addEventListener('blur', () => this.#mark(null));
    const canvas = this.#canvas;
    canvas.addEventListener('pointermove', event => this.#move(event));
    canvas.addEventListener('pointerleave', () => this.#hover(null));
    canvas.addEventListener('pointerdown', event => this.#grab(event));
    canvas.addEventListener('pointerup', event => this.#drop(event));
    canvas.addEventListener('pointercancel', () => { this.#drag = null; });
    canvas.addEventListener('wheel', event => this.#wheel(event), { passive: false });
    new ResizeObserver(() => changed()).observe(this.#chart);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#drawing.forgetColours();
      changed();
    });
  }

  /** Begins with another scene, and follows what happens in it. */
  reset() {
    this.#rows.reset();
    this.#current = null;
    this.#nowWord = 'now';
    this.#follow(true);
  }

  /** Shows the whole of a recording. @param {SceneModel} model */
  showAll(model) {
    this.reset();
    const to = Math.max(model.span.to, model.now());
    const seconds = Math.max(1, (to - model.span.from) / 1000);
    this.#length = LENGTHS.find(each => each >= seconds * 1.05) ?? /** @type {number} */ (LENGTHS.at(-1));
    this.#nowWord = 'end of the recording';
    this.#follow(false);
    this.#end = to + this.#length * 25;
  }

  get isFollowing() {
    return this.#end === null;
  }

  /** @param {SceneModel} model @param {{at: number} | null} viewing the revision that is looked at */
  draw(model, viewing) {
    this.#model = model;
    const now = model.now();
    const scale = this.#scale(this.#end ?? now);
    const rows = this.#rows.place(model, scale.begin, scale.end);
    const height = Math.max(this.#chart.clientHeight - 1, AXIS + rows.count * ROW + 6);
    const isMarked = id => id === this.#current || id === this.#hovered;
    const drawn = this.#drawing.draw({ model, rows, scale, height, now, nowWord: this.#nowWord, viewing, isMarked });
    this.#bars = drawn.bars;
    this.#revisions = drawn.revisions;
    setText(byId('zoom'), duration(this.#length * 1000));
    const hidden = rows.hidden ? `${plural(rows.hidden, 'more client')} ${rows.hidden === 1 ? 'is' : 'are'} not shown.` : '';
    setText(byId('timeline-note'), model.unfinished.size + model.ended.length ? hidden : 'Nothing has happened yet.');
  }

  // Moving in time

  #lastInstant() {
    return this.#end ?? this.#model?.now() ?? Date.now();
  }

  #scale(end = this.#lastInstant()) {
    return new Scale(end - this.#length * 1000, end, this.#chart.clientWidth);
  }

  /** @param {number} by steps to longer times @param {number | null} around the instant that stays where it is */
  #zoom(by, around = null) {
    const at = LENGTHS.findIndex(each => each >= this.#length);
    const length = LENGTHS[Math.max(0, Math.min(at + by, LENGTHS.length - 1))];
    if (this.#end !== null && around !== null) this.#end = around + (this.#end - around) * length / this.#length;
    this.#length = length;
    setText(byId('chart-said'), `${duration(length * 1000)} are shown.`);
    this.changed();
  }

  #follow(isFollowing) {
    this.#end = isFollowing ? null : this.#lastInstant();
    byId('follow').setAttribute('aria-pressed', String(isFollowing));
    this.changed();
  }

  /** Moves so far that an instant can be seen. */
  #reveal(from, to) {
    const { begin, end } = this.#scale();
    if (to <= end && from >= begin) return;
    this.#follow(false);
    const margin = this.#length * 100;
    this.#end = to > end ? to + margin : from + this.#length * 1000 - margin;
  }

  // Mouse

  /** The bar, or the mark of a revision, that the mouse is at. */
  #at(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (y < AXIS) return { revision: this.#revisions.findLast(mark => Math.abs(mark.x - x) < 6)?.revision };
    const isHit = bar => y >= bar.y - 4 && y <= bar.y + BAR + 4 && x >= bar.x - 3 && x <= bar.x + bar.width + 8;
    return { transition: this.#bars.findLast(isHit)?.transition };
  }

  #grab(event) {
    if (event.button !== 0) return;
    this.#drag = { x: event.clientX, end: this.#lastInstant(), hasMoved: false };
    this.#canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    if (!this.#drag) {
      this.#hover(event);
      return;
    }
    const moved = event.clientX - this.#drag.x;
    this.#drag.hasMoved ||= Math.abs(moved) > STILL;
    if (!this.#drag.hasMoved) return;
    this.#follow(false);
    this.#end = this.#drag.end - moved * this.#scale().perPixel;
  }

  #drop(event) {
    const drag = this.#drag;
    this.#drag = null;
    if (!drag || drag.hasMoved) return;
    const { transition, revision } = this.#at(event);
    if (transition) this.open(transition.id);
    else if (revision) this.view(revision);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    const scale = this.#scale();
    if (event.ctrlKey) {
      this.#zoom(Math.sign(event.deltaY), scale.at(event.offsetX));
    } else {
      this.#follow(false);
      this.#end = scale.end + (event.deltaX || event.deltaY) * scale.perPixel;
    }
  }

  /** @param {PointerEvent | null} event */
  #hover(event) {
    /** @type {{transition?: Transition, revision?: any}} */
    const { transition, revision } = event ? this.#at(event) : {};
    const text = transition ? lifeWords(transition, this.#model?.now() ?? 0)
      : revision ? `Revision ${revision.revision}: click to see the tree as it was.` : '';
    const tip = byId('tip');
    setText(tip, text);
    setHidden(tip, !text);
    this.#canvas.style.cursor = text ? 'pointer' : '';
    if (event && text) {
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - 340))}px`;
      tip.style.top = `${Math.max(4, event.clientY - tip.offsetHeight - 12)}px`;
    }
    if (this.#hovered === (transition?.id ?? null)) return;
    this.#hovered = transition?.id ?? null;
    this.changed();
  }

  // Keyboard

  #press(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (event.key === '+' || event.key === '=') this.#zoom(-1);
    else if (event.key === '-') this.#zoom(1);
    else if (event.key === 'Enter' && this.#current) this.open(this.#current);
    else if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) this.#step(event.key);
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') this.#changeRow(event.key === 'ArrowUp' ? -1 : 1);
    else return;
    event.preventDefault();
  }

  #step(key) {
    const model = this.#model;
    if (!model) return;
    const all = [...model.ended, ...model.unfinished.values()].sort((a, b) => a.requested - b.requested);
    if (!all.length) return;
    const at = all.findIndex(each => each.id === this.#current);
    const last = all.length - 1;
    // Where none is marked yet, it begins with the newest.
    const to = { Home: 0, End: last, ArrowLeft: at < 0 ? last : at - 1, ArrowRight: at < 0 ? last : at + 1 }[key] ?? 0;
    this.#mark(all[Math.max(0, Math.min(to, last))]);
  }

  /** Goes to the nearest bar of the row above or below. */
  #changeRow(by) {
    const { begin, end } = this.#scale();
    // All that are in sight, because those that are dense are not all drawn.
    const bars = this.#model ? this.#rows.place(this.#model, begin, end).groups.flatMap(({ placed }) => placed) : [];
    const from = bars.find(bar => bar.transition.id === this.#current);
    if (!from) {
      this.#step('End');
      return;
    }
    const beyond = bars.filter(bar => Math.sign(bar.row - from.row) === by);
    const distance = bar => Math.abs(bar.row - from.row);
    const apart = bar => Math.abs(bar.transition.requested - from.transition.requested);
    const [nearest] = beyond.sort((a, b) => distance(a) - distance(b) || apart(a) - apart(b));
    if (nearest) this.#mark(nearest.transition);
  }

  /** @param {Transition | null} transition */
  #mark(transition) {
    this.#current = transition?.id ?? null;
    if (transition) {
      this.#reveal(transition.requested, transition.ended ?? transition.requested);
      setText(byId('chart-said'), lifeWords(transition, this.#model?.now() ?? 0));
    }
    this.changed();
  }
}
