// @ts-check
// The nodes of a cluster: which shards each serves, those that nobody serves, and which have moved.

import { byId, el, keep, setHidden, setText } from './dom.js';
import { MOVES_SHOWN } from './limits.js';
import { escaped } from './names.js';
import { clockTime, plural } from './words.js';

/**
 * @typedef {{shard: number, node: string, tenure: number}} Owner
 * @typedef {{at: string, shard: number, from?: string, to: string, tenure: number}} Move
 * @typedef {{shards: number, node?: string, nodes: {address: string, version: string}[], owners: Owner[], moves: Move[],
 *   unserved?: {shard: number, node: string, reason: string}[], waitsFor?: string}} Cluster
 */

export class ClusterView {
  /** Null before it is known; without nodes, it is a single daemon. @type {Cluster | null} */
  #cluster = null;
  #isClosed = false;

  /** @param {{changed: () => void}} options */
  constructor({ changed }) {
    this.changed = changed;
    byId('cluster-open').addEventListener('click', () => byId('cluster').showModal());
    byId('cluster-close').addEventListener('click', () => byId('cluster').close());
  }

  /** Asks a node; a daemon that is none never becomes one. @param {(path: string) => Promise<Cluster>} get */
  async ask(get) {
    if (this.#cluster && !this.#cluster.nodes.length) return;
    // Why there is no answer is seen by what else is asked.
    const cluster = await get('/cluster').catch(() => this.#cluster);
    if (this.#isClosed || JSON.stringify(cluster) === JSON.stringify(this.#cluster)) return;
    this.#cluster = cluster;
    this.changed();
  }

  /** Shows and asks nothing any more. */
  close() {
    this.#isClosed = true;
    this.#cluster = null;
    this.changed();
  }

  draw() {
    const cluster = this.#cluster;
    const isCluster = !!cluster?.nodes.length;
    setHidden(byId('cluster-open'), !isCluster);
    if (!cluster || !isCluster) {
      if (byId('cluster').open) byId('cluster').close();
      return;
    }
    const missing = unowned(cluster);
    byId('cluster-open').dataset.is = missing.length ? 'lost' : '';
    setText(byId('cluster-open'), plural(cluster.nodes.length, 'node')
      + (missing.length ? `, ${plural(missing.length, 'shard')} not served` : ''));
    setText(byId('cluster-note'), noteOf(cluster, missing));
    const rows = cluster.nodes.map(node => ({ ...node, owners: cluster.owners.filter(each => each.node === node.address) }));
    keep(byId('cluster-nodes'), rows, ({ address }) => address, makeRow, (row, { address, version, owners }) => {
      const [name, count, shards, program] = row.children;
      setText(name, escaped(address) + (address === cluster.node ? ' (answers this page)' : ''));
      setText(count, String(owners.length));
      setText(shards, ranges(owners.map(({ shard }) => shard)));
      setText(program, escaped(version));
    });
    const moves = cluster.moves.slice(0, MOVES_SHOWN);
    keep(byId('cluster-moves'), moves, ({ shard, tenure }) => `${tenure} ${shard}`, () => el('li'),
      (item, move) => setText(item, moveWords(move)));
    setHidden(byId('cluster-still'), moves.length > 0);
  }
}

function makeRow() {
  return el('tr', {}, el('th', { scope: 'row' }), el('td'), el('td'), el('td'));
}

/** @param {Cluster} cluster */
function unowned({ shards, owners }) {
  const owned = new Set(owners.map(({ shard }) => shard));
  return [...Array(shards).keys()].filter(shard => !owned.has(shard));
}

/** @param {Cluster} cluster @param {number[]} missing */
function noteOf({ shards, unserved, waitsFor }, missing) {
  const served = missing.length ? `Nobody serves ${plural(missing.length, 'shard')} of ${shards}: ${ranges(missing)}.`
    : `Each of the ${plural(shards, 'shard')} is served.`;
  const reasons = (unserved ?? []).map(({ shard, node, reason }) =>
    `${escaped(node)} cannot serve shard ${shard}: ${escaped(reason)}.`);
  const waiting = waitsFor ? [`This node waits for ${escaped(waitsFor)}.`] : [];
  return [served, ...reasons, ...waiting].join(' ');
}

/** @param {Move} move */
function moveWords({ at, shard, from, to, tenure }) {
  const way = from === undefined ? `to ${escaped(to)}`
    : from === to ? `to ${escaped(to)} again` : `from ${escaped(from)} to ${escaped(to)}`;
  return `${clockTime(Date.parse(at))}: shard ${shard} ${way}, tenure ${tenure}`;
}

/** Numbers in words: `0–3, 7`. @param {number[]} numbers in their order */
export function ranges(numbers) {
  /** @type {[number, number][]} */
  const found = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ');
}
