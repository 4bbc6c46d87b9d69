// @ts-check
// Draws the timeline on its canvas: instants, names, bars, and marks where the tree changed.

import { escaped } from './names.js';
import { clockTime, hasFailed } from './words.js';

export const ROW = 20;
export const BAR = 12;
/** The height of the line of instants at the top. */
export const AXIS = 20;
/** What is left free at the right, for half of the label at the last instant. */
const MARGIN = 26;
const FONT = '11.5px system-ui, sans-serif';
/** The distances between two instants of the axis, in seconds. */
const STEPS = [0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 43200, 86400];
const COLOURS = [
  'ink', 'soft', 'line', 'sheet', 'sunken', 'accent', 'on-accent', 'wait', 'wait-fill', 'wait-soft', 'prepare-fill', 'run-fill', 'good',
  'bad', 'layer-1-line',
];
/** The lines that say how a transition ended. @type {Record<string, number[][][]>} */
const MARKS = {
  good: [[[1, 0], [3, 3], [7, -4]]], bad: [[[1, -3], [7, 3]], [[7, -3], [1, 3]]], soft: [[[1, 0], [7, 0]]],
  wait: [[[1, -3], [4, 0], [1, 3]], [[5, -3], [8, 0], [5, 3]]],
};

/**
 * @typedef {import('./model.js').Transition} Transition @typedef {import('./model.js').SceneModel} SceneModel
 * @typedef {{x: number, y: number, width: number, row: number, transition: Transition}} Bar
 * @typedef {{x: number, revision: any}} RevisionMark
 * @typedef {{model: SceneModel, rows: import('./timeline-rows.js').Rows, scale: Scale, height: number, now: number,
 *   nowWord: string, viewing: {at: number} | null, isMarked: (id: string) => boolean}} Picture
 *   `nowWord` stands at the instant `now`; `viewing` is the revision that is looked at
 */

/** Which instants are in sight, and where they are. */
export class Scale {
  /** @param {number} begin @param {number} end @param {number} width of the canvas, with the names at its left */
  constructor(begin, end, width) {
    this.begin = begin;
    this.end = end;
    this.width = width;
    /** Where the names end. */
    this.gutter = Math.min(130, width * 0.28);
    this.perPixel = (end - begin) / Math.max(1, width - this.gutter - MARGIN);
  }

  x(at) {
    return this.gutter + (at - this.begin) / this.perPixel;
  }

  at(x) {
    return this.begin + (x - this.gutter) * this.perPixel;
  }
}

export class TimelineDrawing {
  #canvas;
  /** @type {Record<string, any>} */
  #colours = {};

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
  }

  /** Reads the colours again when it draws next. */
  forgetColours() {
    this.#colours = {};
  }

  /** Draws everything, and says where the bars and the marks of revisions are. @param {Picture} picture */
  draw(picture) {
    const pen = this.#pen(picture.scale.width, picture.height);
    this.#drawInstants(pen, picture);
    this.#drawNames(pen, picture);
    const bars = this.#drawBars(pen, picture);
    const revisions = this.#drawRevisions(pen, picture);
    this.#drawNow(pen, picture);
    return { bars, revisions };
  }

  /** The canvas in its size, and empty. @returns {any} */
  #pen(width, height) {
    const canvas = this.#canvas;
    const density = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * density) || canvas.height !== Math.round(height * density)) {
      canvas.width = Math.round(width * density);
      canvas.height = Math.round(height * density);
      canvas.style.height = `${height}px`;
    }
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = FONT;
    pen.textBaseline = 'middle';
    return pen;
  }

  #colour(name) {
    if (!this.#colours.ink) {
      const style = getComputedStyle(document.documentElement);
      for (const each of COLOURS) this.#colours[each] = style.getPropertyValue(`--${each}`).trim();
    }
    return this.#colours[name];
  }

  #drawInstants(pen, { scale, height, now, nowWord }) {
    const { begin, end, width, gutter } = scale;
    const step = (STEPS.find(each => each * 1000 / scale.perPixel >= 90) ?? 86400) * 1000;
    const label = this.#nowLabel(pen, scale, now, nowWord);
    pen.textAlign = 'center';
    for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
      pen.fillStyle = this.#colour('line');
      pen.fillRect(Math.round(scale.x(at)), AXIS - 2, 1, height);
      const text = clockTime(at).slice(0, step < 1000 ? undefined : 8);
      const half = pen.measureText(text).width / 2;
      const x = Math.max(gutter + half, Math.min(scale.x(at), width - half - 4));
      if (label && Math.abs(x - label.x) < half + label.half + 4) continue;
      pen.fillStyle = this.#colour('soft');
      pen.fillText(text, x, AXIS / 2);
    }
    if (now > end) return;
    pen.fillStyle = this.#colour('sunken');
    pen.fillRect(scale.x(now) + 1, AXIS - 2, width, height);
  }

  /** Where the label of the instant `now` is, if that is in sight. */
  #nowLabel(pen, scale, now, word) {
    if (now < scale.begin || now > scale.end) return null;
    const half = pen.measureText(word).width / 2 + 6;
    return { half, x: Math.min(scale.x(now), scale.width - half - 4) };
  }

  /** What has not happened yet begins here. It is drawn last, so that no bar covers it. */
  #drawNow(pen, { scale, height, now, nowWord }) {
    const label = this.#nowLabel(pen, scale, now, nowWord);
    if (!label) return;
    pen.fillStyle = this.#colour('accent');
    pen.fillRect(Math.round(scale.x(now)), AXIS - 3, 2, height);
    pen.beginPath();
    pen.roundRect(label.x - label.half, 2, label.half * 2, AXIS - 5, 4);
    pen.fill();
    pen.fillStyle = this.#colour('on-accent');
    pen.textAlign = 'center';
    pen.fillText(nowWord, label.x, AXIS / 2);
  }

  #drawNames(pen, { scale: { width, gutter }, rows: { groups } }) {
    pen.textAlign = 'left';
    for (const { name, first, rows } of groups) {
      const y = AXIS + first * ROW;
      pen.fillStyle = this.#colour('line');
      pen.fillRect(0, y + rows * ROW, width, 1);
      pen.fillStyle = this.#colour('ink');
      pen.fillText(shortened(pen, name.trim() ? escaped(name) : name ? `“${name}”` : 'no name', gutter - 18), 12, y + ROW / 2 + 1);
    }
  }

  /** @returns {Bar[]} */
  #drawBars(pen, { scale, rows, height, now, isMarked }) {
    const bars = [];
    /** @type {Bar[]} */
    const ends = [];
    pen.save();
    pen.beginPath();
    pen.rect(scale.gutter, 0, scale.width - scale.gutter, height);
    pen.clip();
    for (const { placed } of rows.groups) {
      // The pixel at which the last bar of each row ends: what would only be drawn over it is left out.
      const drawnTo = new Map();
      for (const { transition, row } of placed) {
        const { ended } = transition;
        const pixel = ended === null ? null : Math.round(scale.x(ended));
        if (pixel !== null && drawnTo.get(row) === pixel && !isMarked(transition.id)) continue;
        drawnTo.set(row, pixel);
        const bar = this.#drawBar(pen, scale, transition, row, now);
        if (ended !== null) ends.push(bar);
        if (isMarked(transition.id)) {
          pen.strokeStyle = this.#colour('ink');
          pen.lineWidth = 2;
          pen.strokeRect(bar.x - 2, bar.y - 2, bar.width + 4, BAR + 4);
        }
        bars.push(bar);
      }
    }
    // Last, because the next transition of a client may begin where one has ended.
    for (const { transition: { document, ended }, y } of ends) this.#drawEnd(pen, document, scale.x(ended ?? 0), y);
    pen.restore();
    return bars;
  }

  /** @param {Transition} transition @returns {Bar} */
  #drawBar(pen, scale, transition, row, now) {
    const { requested, granted, running, ended, document } = transition;
    const y = AXIS + row * ROW + (ROW - BAR) / 2 + 1;
    const last = ended ?? Math.max(now, requested);
    const piece = (from, to, fill) => {
      if (to < scale.begin || from > scale.end) return;
      const left = Math.max(scale.x(from), scale.gutter - 2);
      pen.fillStyle = fill;
      pen.fillRect(left, y, Math.max(1, Math.min(scale.x(to), scale.width + 2) - left), BAR);
    };
    piece(requested, granted ?? last, this.#stripes(pen));
    if (granted !== null) {
      const began = running ?? (document.state === 'preparing' ? last : granted);
      piece(granted, began, this.#colour('prepare-fill'));
      piece(began, last, this.#colour('run-fill'));
    }
    const x = scale.x(requested);
    return { x, y, width: Math.max(3, scale.x(last) - x), row, transition };
  }

  /** Says by a colour and a shape how it ended. */
  #drawEnd(pen, document, x, y) {
    const { outcome } = document;
    const kind = outcome === 'completed' ? 'good' : outcome === 'superseded' ? 'wait' : hasFailed(document) ? 'bad' : 'soft';
    pen.fillStyle = this.#colour('sheet');
    pen.fillRect(x - 1, y - 1, 2, BAR + 2);
    pen.beginPath();
    const middle = y + BAR / 2;
    for (const line of MARKS[kind]) {
      const [start, ...rest] = line.map(([right, down]) => [x + right, middle + down]);
      pen.moveTo(...start);
      for (const point of rest) pen.lineTo(...point);
    }
    // With a border, because it may stand on another bar.
    for (const [colour, width] of [['sheet', 4.5], [kind, 1.8]]) {
      pen.strokeStyle = this.#colour(colour);
      pen.lineWidth = width;
      pen.stroke();
    }
  }

  /** @returns {RevisionMark[]} */
  #drawRevisions(pen, { scale, height, model, viewing }) {
    pen.fillStyle = this.#colour('layer-1-line');
    // One without an event was only read then.
    const marks = model.revisions.filter(({ at, event }) => event && at >= scale.begin && at <= scale.end)
      .map(revision => ({ x: scale.x(revision.at), revision }));
    for (const { x } of marks) pen.fillRect(Math.round(x) - 1, AXIS - 6, 3, 6);
    if (viewing) pen.fillRect(Math.round(scale.x(viewing.at)) - 1, AXIS - 6, 2, height);
    return marks;
  }

  #stripes(pen) {
    if (!this.#colours.stripes) {
      const tile = new OffscreenCanvas(8, 8);
      const brush = /** @type {any} */ (tile.getContext('2d'));
      brush.fillStyle = this.#colour('wait-soft');
      brush.fillRect(0, 0, 8, 8);
      brush.strokeStyle = this.#colour('wait-fill');
      brush.lineWidth = 3.2;
      for (const at of [-8, 0, 8]) { brush.beginPath(); brush.moveTo(at - 1, 9); brush.lineTo(at + 9, -1); brush.stroke(); }
      this.#colours.stripes = pen.createPattern(tile, 'repeat');
    }
    return this.#colours.stripes;
  }
}

function shortened(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && pen.measureText(`${text.slice(0, end)}…`).width > width) end -= 1;
  return `${text.slice(0, end)}…`;
}
