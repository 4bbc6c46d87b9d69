// @ts-check
// Draws what waited, prepared and ran, as bars over time: a row for each client, on a canvas.

import { byId, setHidden, setText } from './dom.js';
import { TIMELINE_CLIENTS, TIMELINE_ROWS_PER_CLIENT } from './limits.js';
import { clockTime, duration, hasFailed, lifeWords } from './words.js';

const ROW = 20;
const BAR = 12;
const AXIS = 20;
const LENGTHS = [5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400];
const COLOURS = [
  'ink', 'soft', 'line', 'sheet', 'sunken', 'accent', 'wait-fill', 'wait-soft', 'prepare-fill', 'run-fill', 'good', 'bad',
  'layer-1-line',
];

/** The lines that say how a transition ended. @type {Record<string, number[][][]>} */
const MARKS = {
  good: [[[1, 0], [3, 3], [7, -4]]], bad: [[[1, -3], [7, 3]], [[7, -3], [1, 3]]], soft: [[[1, 0], [7, 0]]],
};

/** @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel */

export class TimelineView {
  #chart = byId('chart');
  #canvas = byId('bars');
  #length = 60;
  /** The instant at the right edge; null while the newest is followed. */
  #end = null;
  /**
   * What was drawn last, for the mouse and the keys.
   * @type {{x: number, y: number, width: number, row: number, transition: Transition}[]}
   */
  #drawn = [];
  #revisions = [];
  /** The clients in the order in which they appeared. @type {Map<string, number>} */
  #clients = new Map();
  #current = null;
  #hovered = null;
  #colours = {};
  /** @type {SceneModel | null} */
  #model = null;
  #drag = null;

  /** @param {{open: (id: string) => void, changed: () => void, scrub: (revision: any) => void}} options */
  constructor({ open, changed, scrub }) {
    this.open = open;
    this.changed = changed;
    this.scrub = scrub;
    byId('zoom-in').addEventListener('click', () => this.#zoom(-1));
    byId('zoom-out').addEventListener('click', () => this.#zoom(1));
    byId('follow').addEventListener('click', () => this.#follow(this.#end !== null));
    this.#chart.addEventListener('keydown', event => this.#press(event));
    this.#chart.addEventListener('blur', () => this.#mark(null));
    const canvas = this.#canvas;
    canvas.addEventListener('pointermove', event => this.#move(event));
    canvas.addEventListener('pointerleave', () => this.#hover(null));
    canvas.addEventListener('pointerdown', event => this.#grab(event));
    canvas.addEventListener('pointerup', event => this.#drop(event));
    canvas.addEventListener('wheel', event => this.#wheel(event), { passive: false });
    new ResizeObserver(() => changed()).observe(this.#chart);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.#colours = {}; changed(); });
  }

  /** Shows the whole of a recording. @param {SceneModel} model */
  showAll(model) {
    this.#clients.clear();
    const seconds = Math.max(1, (model.span.to - model.span.from) / 1000);
    this.#length = LENGTHS.find(each => each >= seconds * 1.05) ?? /** @type {number} */ (LENGTHS.at(-1));
    this.#end = model.span.to + this.#length * 25;
    this.#follow(false);
  }

  reset() {
    this.#clients.clear();
    this.#current = null;
    this.#follow(true);
  }

  get isFollowing() {
    return this.#end === null;
  }

  /** @param {SceneModel} model @param {{at: number, revision: number} | null} viewing the revision that is looked at */
  draw(model, viewing) {
    this.#model = model;
    const end = this.#end ?? model.now();
    const begin = end - this.#length * 1000;
    const rows = this.#rows(begin, end);
    const scale = window.devicePixelRatio || 1;
    const width = this.#chart.clientWidth;
    const height = Math.max(this.#chart.clientHeight - 1, AXIS + rows.count * ROW + 6);
    const canvas = this.#canvas;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = `${height}px`;
    }
    const gutter = Math.min(130, width * 0.28);
    const view = { begin, end, gutter, width, height, x: at => gutter + (at - begin) / (end - begin) * (width - gutter - 10) };
    const pen = canvas.getContext('2d');
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = '11.5px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    this.#drawAxis(pen, view, model);
    this.#drawNames(pen, view, rows);
    this.#drawBars(pen, view, rows, model);
    this.#drawRevisions(pen, view, model, viewing);
    setText(byId('zoom'), duration(this.#length * 1000));
    const older = rows.hidden ? `${rows.hidden} more clients are not shown. ` : '';
    setText(byId('timeline-note'), older + (model.unfinished.size + model.ended.length ? '' : 'Nothing has happened yet.'));
  }

  /** The bars in sight, in rows by their clients; what overlaps stands in several. */
  #rows(begin, end) {
    const model = /** @type {SceneModel} */ (this.#model);
    const byClient = new Map();
    const all = [];
    // Sorted by their ends, so what ended before the beginning stands at the front.
    for (let index = model.ended.length - 1; index >= 0; index -= 1) {
      const each = model.ended[index];
      if ((each.ended ?? 0) < begin) break;
      if (each.requested <= end) all.push(each);
    }
    all.reverse();
    for (const each of model.unfinished.values()) if (each.requested <= end) all.push(each);
    for (const each of all) {
      const name = each.document.client ?? '';
      if (!this.#clients.has(name)) this.#clients.set(name, this.#clients.size);
      const bars = byClient.get(name);
      if (bars) bars.push(each);
      else byClient.set(name, [each]);
    }
    if (this.#clients.size > 1000) this.#clients = new Map([...byClient.keys()].map((name, index) => [name, index]));
    const order = name => this.#clients.get(name) ?? 0;
    let names = [...byClient.keys()];
    const hidden = Math.max(0, names.length - TIMELINE_CLIENTS);
    if (hidden) names = names.slice(-TIMELINE_CLIENTS);
    names.sort((a, b) => order(a) - order(b));
    const groups = [];
    let count = 0;
    for (const name of names) {
      const bars = byClient.get(name).sort((a, b) => a.requested - b.requested);
      const free = [];
      const placed = bars.map(transition => {
        let row = free.findIndex(until => until <= transition.requested);
        if (row < 0) row = free.length < TIMELINE_ROWS_PER_CLIENT ? free.length : TIMELINE_ROWS_PER_CLIENT - 1;
        free[row] = transition.ended ?? Infinity;
        return { transition, row: count + row };
      });
      groups.push({ name, first: count, rows: free.length, placed });
      count += free.length;
    }
    return { groups, count, hidden };
  }

  #colour(name) {
    if (!this.#colours.ink) {
      const style = getComputedStyle(document.documentElement);
      for (const each of COLOURS) this.#colours[each] = style.getPropertyValue(`--${each}`).trim();
    }
    return this.#colours[name];
  }

  #drawAxis(pen, { begin, end, x, width, height, gutter }, model) {
    const steps = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 43200].map(each => each * 1000);
    const step = steps.find(each => (end - begin) / each <= (width - gutter) / 90) ?? 86400000;
    pen.textAlign = 'center';
    for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
      pen.fillStyle = this.#colour('line');
      pen.fillRect(Math.round(x(at)), AXIS - 2, 1, height);
      pen.fillStyle = this.#colour('soft');
      const text = clockTime(at);
      pen.fillText(step < 1000 ? text : text.slice(0, 8), Math.max(gutter + 26, Math.min(x(at), width - 32)), AXIS / 2);
    }
    const now = model.now();
    if (now > end) return;
    pen.fillStyle = this.#colour('sunken');
    pen.fillRect(x(now) + 1, AXIS - 2, width, height);
    pen.fillStyle = this.#colour('accent');
    pen.fillRect(Math.round(x(now)), AXIS - 2, 1, height);
  }

  #drawNames(pen, { width, gutter }, { groups }) {
    pen.textAlign = 'left';
    for (const { name, first, rows } of groups) {
      const y = AXIS + first * ROW;
      pen.fillStyle = this.#colour('line');
      pen.fillRect(0, y + rows * ROW, width, 1);
      pen.fillStyle = this.#colour('ink');
      pen.fillText(shortened(pen, name || 'no name', gutter - 18), 12, y + ROW / 2 + 1);
    }
  }

  #drawBars(pen, { begin, end, x, gutter, width }, { groups }, model) {
    this.#drawn = [];
    pen.save();
    pen.beginPath();
    pen.rect(gutter, 0, width - gutter, 1e5);
    pen.clip();
    const now = model.now();
    for (const { placed } of groups) {
      // The pixel at which the last bar of each row ends: what would only be drawn over it is left out.
      const drawnTo = new Map();
      for (const { transition, row } of placed) {
        const { requested, granted, running, ended, document } = transition;
        const pixel = ended === null ? null : Math.round(x(ended));
        if (pixel !== null && drawnTo.get(row) === pixel) continue;
        drawnTo.set(row, pixel);
        const y = AXIS + row * ROW + (ROW - BAR) / 2 + 1;
        const last = ended ?? Math.max(now, requested);
        const piece = (from, to, fill) => {
          if (from === null || to < begin || from > end) return;
          const left = Math.max(x(from), gutter - 2);
          pen.fillStyle = fill;
          pen.fillRect(left, y, Math.max(1, Math.min(x(to), width + 2) - left), BAR);
        };
        piece(requested, granted ?? last, this.#stripes(pen));
        const began = running ?? (document.state === 'preparing' ? last : granted);
        if (granted !== null) piece(granted, began ?? last, this.#colour('prepare-fill'));
        if (granted !== null && began !== null) piece(began, last, this.#colour('run-fill'));
        const [left, right] = [x(requested), x(last)];
        if (ended !== null) this.#drawEnd(pen, document, right, y);
        if (transition.id === this.#current || transition.id === this.#hovered) {
          pen.strokeStyle = this.#colour('ink');
          pen.lineWidth = 2;
          pen.strokeRect(left - 2, y - 2, Math.max(3, right - left) + 4, BAR + 4);
        }
        this.#drawn.push({ x: left, y, width: Math.max(6, right - left), row, transition });
      }
    }
    pen.restore();
  }

  /** Says by a colour and a shape how it ended. */
  #drawEnd(pen, document, x, y) {
    const kind = document.outcome === 'completed' ? 'good' : hasFailed(document) ? 'bad' : 'soft';
    pen.fillStyle = this.#colour('sheet');
    pen.fillRect(x - 1, y - 1, 2, BAR + 2);
    pen.strokeStyle = this.#colour(kind);
    pen.lineWidth = 1.8;
    pen.beginPath();
    const middle = y + BAR / 2;
    for (const line of MARKS[kind]) {
      const [start, ...rest] = line.map(([right, down]) => [x + right, middle + down]);
      pen.moveTo(...start);
      for (const point of rest) pen.lineTo(...point);
    }
    pen.stroke();
  }

  #drawRevisions(pen, { begin, end, x, height }, model, viewing) {
    this.#revisions = [];
    pen.fillStyle = this.#colour('layer-1-line');
    for (const each of model.revisions) {
      if (each.at < begin || each.at > end) continue;
      this.#revisions.push({ x: x(each.at), each });
      pen.fillRect(Math.round(x(each.at)) - 1, AXIS - 6, 3, 6);
    }
    if (!viewing) return;
    pen.fillRect(Math.round(x(viewing.at)) - 1, AXIS - 6, 2, height);
  }

  #stripes(pen) {
    if (!this.#colours.stripes) {
      const tile = new OffscreenCanvas(6, 6);
      const brush = /** @type {any} */ (tile.getContext('2d'));
      brush.fillStyle = this.#colour('wait-soft');
      brush.fillRect(0, 0, 6, 6);
      brush.strokeStyle = this.#colour('wait-fill');
      brush.lineWidth = 2.4;
      for (const at of [-6, 0, 6]) { brush.beginPath(); brush.moveTo(at - 1, 7); brush.lineTo(at + 7, -1); brush.stroke(); }
      this.#colours.stripes = pen.createPattern(tile, 'repeat');
    }
    return this.#colours.stripes;
  }

  // Moving in time

  #zoom(by, around = null) {
    const at = LENGTHS.findIndex(each => each >= this.#length);
    const length = LENGTHS[Math.max(0, Math.min(at + by, LENGTHS.length - 1))];
    if (this.#end !== null && around !== null) this.#end = around + (this.#end - around) * length / this.#length;
    this.#length = length;
    this.changed();
  }

  #follow(isFollowing) {
    if (isFollowing) this.#end = null;
    else this.#end ??= this.#model?.now() ?? Date.now();
    byId('follow').setAttribute('aria-pressed', String(isFollowing));
    this.changed();
  }

  /** Moves so far that an instant can be seen. */
  #reveal(from, to) {
    const end = this.#end ?? this.#model?.now() ?? 0;
    const length = this.#length * 1000;
    if (to <= end && from >= end - length) return;
    this.#follow(false);
    this.#end = to > end ? to + length * 0.1 : from + length * 0.9;
  }

  #timeAt(x) {
    const width = this.#chart.clientWidth;
    const gutter = Math.min(130, width * 0.28);
    const end = this.#end ?? this.#model?.now() ?? 0;
    return end - this.#length * 1000 * (1 - (x - gutter) / (width - gutter - 10));
  }

  // Mouse

  #at(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (y < AXIS) return { revision: this.#revisions.findLast(each => Math.abs(each.x - x) < 6)?.each };
    const isHit = bar => y >= bar.y - 4 && y <= bar.y + BAR + 4 && x >= bar.x - 3 && x <= bar.x + bar.width + 8;
    const hits = this.#drawn.filter(isHit);
    return { bar: hits.at(-1) };
  }

  #move(event) {
    if (this.#drag) {
      const moved = event.clientX - this.#drag.x;
      if (Math.abs(moved) > 4) this.#drag.hasMoved = true;
      if (!this.#drag.hasMoved) return;
      this.#follow(false);
      this.#end = this.#drag.end - moved * this.#length * 1000 / this.#chart.clientWidth;
      this.changed();
      return;
    }
    this.#hover(event);
  }

  #hover(event) {
    const { bar, revision } = event ? this.#at(event) : {};
    const tip = byId('tip');
    const click = revision ? `Revision ${revision.revision}: click to see the tree as it was.` : '';
    const text = bar ? lifeWords(bar.transition, this.#model?.now() ?? 0) : click;
    setHidden(tip, !text);
    this.#canvas.style.cursor = text ? 'pointer' : '';
    if (text) {
      setText(tip, text);
      tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 340)}px`;
      tip.style.top = `${event.clientY - tip.offsetHeight - 12}px`;
    }
    if (this.#hovered === (bar?.transition.id ?? null)) return;
    this.#hovered = bar?.transition.id ?? null;
    this.changed();
  }

  #grab(event) {
    this.#drag = { x: event.clientX, end: this.#end ?? this.#model?.now() ?? 0, hasMoved: false };
    this.#canvas.setPointerCapture(event.pointerId);
  }

  #drop(event) {
    const hasMoved = this.#drag?.hasMoved;
    this.#drag = null;
    if (hasMoved) return;
    const { bar, revision } = this.#at(event);
    if (bar) this.open(bar.transition.id);
    else if (revision) this.scrub(revision);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (event.ctrlKey) {
      this.#zoom(Math.sign(event.deltaY), this.#timeAt(event.offsetX));
    } else {
      this.#follow(false);
      this.#end = (this.#end ?? 0) + (event.deltaX || event.deltaY) * this.#length;
      this.changed();
    }
  }

  // Keyboard

  #press(event) {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (event.key === '+' || event.key === '=') this.#zoom(-1);
    else if (event.key === '-') this.#zoom(1);
    else if (event.key === 'Enter' && this.#current) this.open(this.#current);
    else if (['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) this.#step(event.key);
    else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') this.#change(event.key === 'ArrowUp' ? -1 : 1);
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
  #change(by) {
    const from = this.#drawn.find(bar => bar.transition.id === this.#current);
    if (!from) return this.#step('End');
    const rows = this.#drawn.filter(bar => Math.sign(bar.row - from.row) === by);
    if (!rows.length) return undefined;
    const row = by > 0 ? Math.min(...rows.map(bar => bar.row)) : Math.max(...rows.map(bar => bar.row));
    const near = rows.filter(bar => bar.row === row).sort((a, b) => Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0];
    return this.#mark(near.transition);
  }

  #mark(transition) {
    this.#current = transition?.id ?? null;
    if (transition) {
      this.#reveal(transition.requested, transition.ended ?? transition.requested);
      setText(byId('chart-said'), lifeWords(transition, this.#model?.now() ?? 0));
    }
    this.changed();
  }
}

function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}
