// @ts-check
// The page at /: puts the parts together, for a daemon or for a recording.

import { Actions } from './page/actions.js';
import { byId, el, keep, Painter, setHidden, setText } from './page/dom.js';
import { LanesView } from './page/lanes-view.js';
import { ANNOUNCE_EVERY, CHANGES_SHOWN, DRAW_EVERY, TICK_EVERY } from './page/limits.js';
import { NowView } from './page/now-view.js';
import { fetchRecording, fetchTrace, readRecording } from './page/recording.js';
import { RecordView } from './page/record-view.js';
import { TimelineView } from './page/timeline-view.js';
import { TreeView } from './page/tree-view.js';
import { changeWords, clockTime, duration, endWords, hasFailed, holdWords, outcomeWord, plural, who } from './page/words.js';

const ALL = ['status', 'scenes', 'now', 'tree', 'past', 'lanes', 'timeline', 'record'];

class Page {
  /** @type {any} The daemon; null while a recording is shown. */
  live = null;
  /** @type {import('./page/recording.js').Recording | null} */
  recording = null;
  /** @type {import('./page/model.js').SceneModel | null} */
  model = null;
  sceneName = new URLSearchParams(location.search).get('scene');
  scenes = [];
  isWhole = true;
  /** The revision that is looked at; null for the newest. @type {any} */
  viewing = null;
  /** @type {Actions | null} */
  actions = null;
  /** Whether the banner says something that went wrong, and keeps it until the next change of the connection. */
  problem = false;
  painter = new Painter();
  #news = [];
  #newsTimer = 0;

  constructor() {
    const changed = name => () => this.painter.changed(name);
    const open = id => this.record.open(id);
    this.record = new RecordView({ read: id => this.#readWhole(id), changed: changed('record') });
    this.tree = new TreeView({ open, changed: changed('tree') });
    this.now = new NowView({ open });
    this.lanes = new LanesView({
      open, act: (kind, transition) => this.actions?.act(kind, transition),
      can: (kind, transition) => !!this.actions?.can(kind, transition),
    });
    this.timeline = new TimelineView({ open, changed: changed('timeline'), scrub: revision => this.#view(revision) });
    const { painter } = this;
    painter.add('status', 0, () => this.#drawStatus());
    painter.add('scenes', DRAW_EVERY, () => this.#drawScenes());
    painter.add('now', DRAW_EVERY, () => this.model && this.now.draw(this.model));
    painter.add('tree', DRAW_EVERY, () => this.#drawTree());
    painter.add('past', DRAW_EVERY, () => this.#drawPast());
    painter.add('lanes', DRAW_EVERY, () => this.model && this.lanes.draw(this.model));
    painter.add('timeline', DRAW_EVERY, () => this.model && this.timeline.draw(this.model, this.viewing));
    painter.add('record', DRAW_EVERY, () => this.model && this.record.draw(this.model));
    this.#listen();
    setInterval(() => this.#tick(), TICK_EVERY);
  }

  async begin() {
    const trace = new URLSearchParams(location.search).get('trace');
    if (trace === null) await this.#connect();
    else await this.#open(() => fetchRecording(trace));
  }

  // Live

  async #connect() {
    const { Live } = await import('./page/live.js');
    this.live = new Live({
      status: () => this.#statusChanged(),
      scenes: (scenes, isWhole) => this.#takeScenes(scenes, isWhole),
      changed: kind => this.#heard(kind),
      notice: (kind, transition) => this.#notice(kind, transition),
    });
    this.actions = new Actions({
      live: this.live, scene: () => this.sceneName ?? 'main', follow: name => this.follow(name), say: text => this.#say(text),
      name: id => who(this.model?.transition(id)?.document ?? { id }),
    });
    await this.live.connect();
  }

  /** Shows a scene. @param {string} name */
  follow(name) {
    this.sceneName = name;
    this.viewing = null;
    this.timeline.reset();
    this.model = this.recording ? this.recording.scenes.get(name) ?? null : this.live.follow(name);
    if (this.recording && this.model) this.timeline.showAll(this.model);
    document.title = `${name} · Transition Arbiter`;
    const url = new URL(location.href);
    url.searchParams.set('scene', name);
    history.replaceState(null, '', url);
    this.painter.changed(...ALL);
  }

  #takeScenes(scenes, isWhole) {
    this.scenes = scenes;
    this.isWhole = isWhole;
    if (!this.model) this.follow(this.sceneName ?? busiest(scenes)?.name ?? 'main');
    this.painter.changed('scenes');
  }

  #heard(kind) {
    if (kind === 'transition.progress') this.painter.changed('lanes', 'now', 'record');
    else if (['hierarchy.changed', 'reset', 'scene', 'scene.deleted'].includes(kind)) this.painter.changed(...ALL);
    else if (!kind.startsWith('controller.')) this.painter.changed('now', 'tree', 'lanes', 'timeline', 'record');
  }

  #statusChanged() {
    const { status } = this.live;
    if (status === 'refused') this.#askForToken();
    else if (byId('token').open) byId('token').close();
    if (status === 'lost') this.#say('The connection to the daemon is lost.');
    if (status === 'connected') this.#say('Connected.');
    this.painter.changed('status', 'lanes');
  }

  #askForToken() {
    setText(byId('token-why'), this.live.hasToken ? 'It does not know the token that was used until now.'
      : 'It has access control, and does not show anything to those it does not know.');
    byId('token-text').value = '';
    if (!byId('token').open) byId('token').showModal();
  }

  async #readWhole(id) {
    return this.live ? this.live.get(`/transitions/${encodeURIComponent(id)}`) : null;
  }

  // Recordings

  /** @param {() => Promise<import('./page/recording.js').Recording>} read */
  async #open(read) {
    try {
      const recording = await read();
      this.live?.close();
      this.live = null;
      this.actions = null;
      this.recording = recording;
      this.scenes = [...recording.scenes.values()].map(model => ({
        name: model.name, runningCount: model.counts.running, queuedCount: model.counts.queued,
      }));
      const first = this.scenes.find(each => each.name === this.sceneName) ?? busiest(this.scenes);
      if (first) this.follow(first.name);
      for (const name of ['start-open', 'storyboard-open', 'recording-save', 'token-forget']) byId(name).hidden = true;
      if (byId('token').open) byId('token').close();
      this.#say('The recording is open.');
    } catch (error) {
      banner('lost', error instanceof Error ? error.message : String(error));
      this.problem = true;
    }
    this.painter.changed(...ALL);
  }

  /** Saves what has happened in the scene as a file. */
  async #save() {
    try {
      const url = URL.createObjectURL(await fetchTrace(this.sceneName ?? 'main'));
      el('a', { href: url, download: `${this.sceneName ?? 'main'}.jsonl` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch (error) {
      banner('lost', error instanceof Error ? error.message : String(error));
    }
  }

  // Drawing

  #drawStatus() {
    const { recording, live } = this;
    const status = byId('status');
    setHidden(byId('recording-close'), !recording && !location.search.includes('trace='));
    if (recording) {
      status.dataset.is = 'recording';
      setText(status, `A recording, ended on ${new Date(recording.at).toLocaleString('en-GB')}`);
      const gone = recording.dropped ? ` It begins late: ${plural(recording.dropped, 'event')} before it ${recording.dropped === 1 ? 'was' : 'were'} not kept.` : '';
      banner('recording', `This is a recording, not a daemon. Nothing here changes any more.${gone}`);
      return;
    }
    if (!live) return;
    status.dataset.is = live.status;
    const { version, principal, roles } = live.identity;
    setText(status, {
      connecting: 'Connecting…', lost: 'Not connected', refused: 'A token is needed', denied: 'Not allowed to look',
      connected: `Connected to ${location.host}${version ? `, version ${version}` : ''}${principal ? `, as ${principal}` : ''}`,
    }[live.status]);
    if (live.status === 'lost') {
      banner('lost', `Not connected: the daemon at ${location.host} does not answer. What you see is what was known last. `
        + 'The page tries again every second.');
    } else if (live.status === 'denied') {
      banner('lost', `You are known as ${principal ?? 'nobody'}, with the roles ${roles.join(', ') || 'none'}. `
        + (roles.includes('observe') ? `The scene ${this.sceneName} is not among your scenes.` : 'To look, the role observe is needed.'));
    } else if (!this.problem) {
      banner('', '');
    }
    this.problem = false;
    setHidden(byId('token-forget'), !live.hasToken);
    setHidden(byId('recording-save'), live.status !== 'connected');
    this.actions?.draw(live.status === 'connected');
  }

  #drawScenes() {
    const shown = this.scenes.some(each => each.name === this.sceneName) || !this.sceneName
      ? this.scenes : [{ name: this.sceneName, runningCount: 0, queuedCount: 0 }, ...this.scenes];
    const make = ({ name }) => el('li', {}, el('button', { type: 'button', on: { click: () => this.follow(name) } },
      el('span', { class: 'name', text: name, title: name }), el('span', { class: 'counts' })));
    keep(byId('scene-list'), shown, each => each.name, make, (item, each) => {
      const button = item.firstChild;
      button.setAttribute('aria-current', String(each.name === this.sceneName));
      const counts = [['runs', each.runningCount, 'running'], ['waits', each.queuedCount, 'waiting']].filter(([, count]) => count);
      const makeCount = ([kind, , word]) => el('span', { class: kind && `chip ${kind}` },
        el('span'), el('span', { class: kind && 'unseen', text: ` ${word} ` }));
      keep(button.lastChild, counts.length ? counts : [['', 0, 'idle']], ([kind]) => kind, makeCount,
        (chip, [, count]) => setText(chip.firstChild, count ? String(count) : ''));
    });
    const note = byId('scenes-note');
    setText(note, this.isWhole ? '' : 'There are more scenes. Add ?scene=NAME to the address to see one of them.');
    setHidden(note, this.isWhole);
  }

  #drawTree() {
    const { model, viewing } = this;
    if (!model) return;
    const isKnown = viewing ? viewing.isKnown : true;
    const root = viewing ? viewing.root : model.hierarchy.root;
    this.tree.draw(model.name, root, viewing ? model.grantedAt(viewing.at) : model.granted);
    let note = `${plural(model.hierarchy.size, 'controller')}. ● visible, ○ not visible.`;
    if (viewing && isKnown) note = `As it was from ${clockTime(viewing.at)} on.`;
    else if (viewing) note = 'What was before it is not known, so neither is this tree: only its changes are.';
    else if (model.isDeleted) note = 'The scene has been deleted.';
    else if (!root) note = 'Nobody has declared a tree in this scene. Transitions lock the whole scene.';
    setText(byId('tree-note'), note);
  }

  #drawPast() {
    const { model, viewing } = this;
    if (!model) return;
    const { revisions } = model;
    const last = revisions.length - 1;
    const at = viewing ? revisions.indexOf(viewing) : last;
    // The oldest revisions are forgotten while one looks at them.
    if (viewing && at < 0) this.viewing = null;
    const slider = byId('revision');
    slider.max = String(Math.max(0, last));
    slider.value = String(Math.max(0, at));
    const shown = viewing ?? revisions[last];
    slider.setAttribute('aria-valuetext', shown ? `Revision ${shown.revision}, ${clockTime(shown.at)}` : 'No revision');
    setText(byId('revision-label'), viewing ? `Revision ${shown.revision}` : `Revision ${model.revision}, now`);
    slider.disabled = last < 1;
    byId('revision-back').disabled = at <= 0;
    byId('revision-on').disabled = at >= last;
    setHidden(byId('revision-now'), !viewing);
    setHidden(byId('changes'), !viewing);
    if (viewing) byId('changes').replaceChildren(...changesOf(viewing, model));
  }

  #tick() {
    if (document.hidden || !this.model) return;
    const isBusy = this.model.unfinished.size > 0;
    if (this.live && (isBusy || this.timeline.isFollowing)) this.painter.changed('timeline');
    if (this.live) this.painter.changed('now', 'lanes', 'record');
  }

  /** @param {any} revision */
  #view(revision) {
    this.viewing = revision === this.model?.revisions.at(-1) ? null : revision;
    this.painter.changed('tree', 'past', 'timeline');
  }

  // What is said

  #notice(kind, transition) {
    const { document } = transition;
    const why = hasFailed(document) ? ` ${endWords(document)}` : '';
    if (kind === 'running') this.#news.push(`${who(document)} ${holdWords(transition)}.`);
    else if (kind === 'ended') this.#news.push(`${who(document)} ended, ${outcomeWord(document).toLowerCase()}.${why}`);
    else return;
    if (this.#news.length > 1000) this.#news.splice(0, 500);
    this.#newsTimer ||= window.setTimeout(() => {
      const news = this.#news.splice(0);
      this.#newsTimer = 0;
      this.#say(news.length <= 3 ? news.join(' ') : `${news.length} grants and ends. The last: ${news.at(-1)}`);
    }, ANNOUNCE_EVERY);
  }

  #say(text) {
    setText(byId('said'), text);
  }

  // What is done to the page

  #listen() {
    const step = by => () => {
      const revisions = this.model?.revisions ?? [];
      const at = this.viewing ? revisions.indexOf(this.viewing) : revisions.length - 1;
      if (revisions[at + by]) this.#view(revisions[at + by]);
    };
    byId('revision').addEventListener('input', event => this.#view(this.model?.revisions[event.target.value] ?? null));
    byId('revision-back').addEventListener('click', step(-1));
    byId('revision-on').addEventListener('click', step(1));
    byId('revision-now').addEventListener('click', () => { this.#view(null); byId('revision').focus(); });
    byId('recording-open').addEventListener('click', () => byId('recording-file').click());
    byId('recording-file').addEventListener('change', event => {
      const [file] = event.target.files;
      if (file) this.#open(() => readRecording(file));
      event.target.value = '';
    });
    byId('recording-save').addEventListener('click', () => this.#save());
    byId('recording-close').addEventListener('click', () => { location.href = '/'; });
    byId('token-form').addEventListener('submit', event => {
      event.preventDefault();
      byId('token').close();
      this.model = null;
      this.live.connect(byId('token-text').value.trim());
    });
    byId('token').addEventListener('cancel', event => event.preventDefault());
    byId('token-forget').addEventListener('click', () => { this.live.connect(null).then(() => location.reload()); });
    for (const name of ['dragover', 'dragleave', 'drop']) {
      document.addEventListener(name, event => {
        const { files } = /** @type {DragEvent} */ (event).dataTransfer ?? { files: [] };
        event.preventDefault();
        document.body.classList.toggle('drops', name === 'dragover');
        if (name === 'drop' && files.length) this.#open(() => readRecording(files[0]));
      });
    }
  }
}

function changesOf({ event, at, isKnown }, model) {
  if (!event) return [el('p', { class: 'calm', text: 'This is the first tree that is known here.' })];
  const transition = event.transition ? model.transition(event.transition) : null;
  const by = transition ? `${who(transition.document)}, ${duration(at - transition.requested)} after its request`
    : event.transition ?? 'a declaration';
  const changes = event.changes ?? [];
  const more = changes.length - CHANGES_SHOWN;
  return [
    el('p', { text: `Changed at ${clockTime(at)} by ${by}${isKnown ? '' : ', in a tree that is not in the recording'}:` }),
    el('ul', {}, ...changes.slice(0, CHANGES_SHOWN).map(change => el('li', { text: `· ${changeWords(change)}` })),
      more > 0 ? el('li', { text: `· and ${plural(more, 'more change')}` }) : null),
  ];
}

const busiest = scenes => [...scenes].sort((a, b) => b.runningCount + b.queuedCount - a.runningCount - a.queuedCount)[0];

function banner(kind, text) {
  const element = byId('banner');
  element.dataset.is = kind;
  setText(element, text);
  setHidden(element, !text);
}

new Page().begin();
