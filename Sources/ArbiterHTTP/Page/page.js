// @ts-check
// The page at /: puts the parts together, for a daemon or for a recording.

import { Actions } from './page/actions.js';
import { ClusterView } from './page/cluster-view.js';
import { byId, el, Painter, setHidden, setText } from './page/dom.js';
import { LanesView } from './page/lanes-view.js';
import { BASE, DRAW_EVERY, SCENES_SHOWN, TICK_EVERY } from './page/limits.js';
import { Messages } from './page/messages.js';
import { inWords, shortened, who } from './page/names.js';
import { NowView } from './page/now-view.js';
import { PastView } from './page/past-view.js';
import { fetchRecording, fetchTrace, readRecording, Unreadable } from './page/recording.js';
import { RecordView } from './page/record-view.js';
import { firstScene, ScenesView } from './page/scenes-view.js';
import { TimelineView } from './page/timeline-view.js';
import { TreeView } from './page/tree-view.js';
import { absenceWords, clockTime, plural } from './page/words.js';

/** The parts of the page that are drawn on their own. */
const ALL = ['status', 'scenes', 'now', 'tree', 'past', 'lanes', 'timeline', 'record'];

class Page {
  /** @type {any} The daemon; null while a recording is shown. */
  live = null;
  /** @type {import('./page/recording.js').Recording | null} */
  recording = null;
  /** @type {import('./page/model.js').SceneModel | null} */
  model = null;
  /** @type {string | null} */
  sceneName = new URLSearchParams(location.search).get('scene') || null;
  /** The scene of the daemon that was shown before a recording. @type {string | null} */
  #sceneBefore = null;
  scenes = [];
  /** Whether `scenes` is all there are. */
  isWhole = true;
  /** The revision that is looked at; null for the newest. @type {any} */
  viewing = null;
  /** @type {Actions | null} */
  actions = null;
  painter = new Painter();
  messages = new Messages();
  /** How many recordings were to be opened; the last one is shown, whichever is read first. */
  #openings = 0;

  constructor() {
    const changed = name => () => this.painter.changed(name);
    const open = id => this.record.open(id);
    const view = revision => this.#view(revision);
    this.record = new RecordView({
      read: id => this.#readWhole(id), changed: changed('record'), origin: () => (this.live ? BASE : null),
    });
    this.tree = new TreeView({ open, changed: changed('tree') });
    this.now = new NowView({ open });
    this.lanes = new LanesView({
      open, act: (kind, transition) => this.actions?.act(kind, transition),
      can: (kind, transition) => !!this.actions?.can(kind, transition), isLive: () => this.live?.status === 'connected',
    });
    this.timeline = new TimelineView({ open, changed: changed('timeline'), view });
    this.past = new PastView({ view });
    this.cluster = new ClusterView({ changed: changed('cluster') });
    this.scenesView = new ScenesView({ follow: name => this.follow(name) });
    const { painter } = this;
    painter.add('status', 0, () => this.#drawStatus());
    painter.add('cluster', DRAW_EVERY, () => this.cluster.draw());
    painter.add('scenes', DRAW_EVERY, () => this.#drawScenes());
    painter.add('now', DRAW_EVERY, () => this.model && this.now.draw(this.model, Boolean(this.live?.withheldUntil)));
    painter.add('tree', DRAW_EVERY, () => this.#drawTree());
    painter.add('past', DRAW_EVERY, () => this.model && this.past.draw(this.model, this.viewing));
    painter.add('lanes', DRAW_EVERY, () => this.model && this.lanes.draw(this.model));
    painter.add('timeline', DRAW_EVERY, () => this.model && this.timeline.draw(this.model, this.viewing));
    painter.add('record', DRAW_EVERY, () => this.model && this.record.draw(this.model));
    // From here on the page itself says what is missing.
    banner('', '');
    this.#listen();
    setInterval(() => this.#tick(), TICK_EVERY);
  }

  async begin() {
    const trace = new URLSearchParams(location.search).get('trace');
    if (trace !== null) await this.#open(() => fetchRecording(trace));
    else await this.#connect().catch(() => banner('lost', 'A part of the page could not be loaded. Load the page again.'));
  }

  // Live

  async #connect() {
    const { Live } = await import('./page/live.js');
    this.live = new Live({
      status: () => this.#statusChanged(),
      identity: () => this.painter.changed('status', 'lanes'),
      scenes: (scenes, isWhole, newest) => this.#takeScenes(scenes, isWhole, newest),
      changed: kind => this.#heard(kind),
      notice: (kind, transition) => this.messages.notice(kind, transition),
    });
    this.actions = new Actions({
      live: this.live, scene: () => this.sceneName ?? 'main', follow: name => this.follow(name),
      messages: this.messages, name: id => who(this.model?.transition(id)?.document ?? { id }),
    });
    this.live.connect();
    this.painter.changed('status');
  }

  /** Shows a scene. @param {string} name */
  follow(name) {
    this.sceneName = name;
    this.messages.untell();
    this.viewing = null;
    this.timeline.reset();
    this.model = this.recording ? this.recording.scenes.get(name) ?? null : this.live.follow(name);
    if (this.recording && this.model) this.timeline.showAll(this.model);
    document.title = `${shortened(name)} · Transition Arbiter`;
    const url = new URL(location.href);
    url.searchParams.set('scene', name);
    history.replaceState(null, '', url);
    this.painter.changed(...ALL);
  }

  #takeScenes(scenes, isWhole, newest) {
    this.scenes = scenes;
    this.isWhole = isWhole;
    if (!this.model) this.follow(this.sceneName ?? firstScene(scenes, newest));
    this.painter.changed('scenes');
    this.cluster.ask(path => this.live.get(path));
  }

  #heard(kind) {
    if (kind.startsWith('transition.') || kind === 'hierarchy.changed') this.actions?.changed();
    if (kind === 'transition.progress') this.painter.changed('lanes', 'now', 'record');
    else if (['hierarchy.changed', 'reset', 'scene', 'scene.deleted'].includes(kind)) this.painter.changed(...ALL);
    else if (!kind.startsWith('controller.')) this.painter.changed('scenes', 'now', 'tree', 'lanes', 'timeline', 'record');
  }

  #statusChanged() {
    const { status } = this.live;
    if (status === 'refused') this.#askForToken();
    else if (byId('token').open) byId('token').close();
    if (status === 'lost') this.messages.say('The connection to the daemon is lost.');
    if (status === 'connected') this.messages.say('Connected.');
    this.painter.changed('status', 'lanes');
  }

  #askForToken() {
    setText(byId('token-why'), this.live.isTokenKnown ? 'It no longer knows the token that was used until now.'
      : this.live.hasToken ? 'It does not know this token. Look whether it is whole.'
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
    const opening = this.#openings += 1;
    try {
      const recording = await read();
      if (opening !== this.#openings) return;
      const count = this.live?.own.size ?? 0;
      const are = count === 1 ? 'ends and counts' : 'end and count';
      if (!count) this.#show(recording);
      else this.messages.tell(`This page has ${plural(count, 'transition')}, which ${are} as failed if the recording is opened here.`,
        { text: 'Open it nevertheless', act: () => this.#show(recording) });
    } catch (error) {
      if (opening === this.#openings) this.#fail(error);
    }
  }

  /** @param {import('./page/recording.js').Recording} recording */
  #show(recording) {
    if (this.live) this.#sceneBefore = this.sceneName;
    this.live?.close();
    this.live = null;
    this.cluster.close();
    this.actions = null;
    this.recording = recording;
    const scenes = [...recording.scenes.values()].map(({ name, counts }) => (
      { name, runningCount: counts.running, queuedCount: counts.queued }));
    this.scenes = scenes.slice(0, SCENES_SHOWN);
    this.isWhole = scenes.length <= SCENES_SHOWN;
    const first = scenes.find(each => each.name === this.sceneName)?.name ?? firstScene(scenes, null);
    this.follow(first);
    for (const name of ['start-open', 'storyboard-open', 'recording-save', 'token-open', 'token-forget']) byId(name).hidden = true;
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    this.messages.untell();
    this.messages.say('The recording is open.');
  }

  /** Saves what has happened in the scene as a file. */
  async #save() {
    try {
      const url = URL.createObjectURL(await fetchTrace(this.sceneName ?? 'main'));
      el('a', { href: url, download: `${this.sceneName ?? 'main'}.jsonl` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
      this.messages.untell();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error) {
    const text = error instanceof Unreadable ? inWords(error.message) : `Something went wrong in the page: ${error.message}`;
    // Without a daemon or a recording there is nothing else to be seen.
    if (this.live || this.recording) this.messages.tell(text);
    else {
      status('lost', 'There is no recording');
      banner('lost', text);
    }
    this.painter.changed('status');
  }

  // Drawing

  #drawStatus() {
    const { recording, live } = this;
    setHidden(byId('recording-close'), !recording && !new URLSearchParams(location.search).has('trace'));
    if (recording) this.#drawRecordingStatus(recording);
    else if (live) this.#drawLiveStatus(live);
  }

  /** @param {import('./page/recording.js').Recording} recording */
  #drawRecordingStatus({ at, dropped }) {
    status('recording', `A recording, ended on ${new Date(at).toLocaleString('en-GB')}`);
    const gone = dropped ? ` It begins late: ${plural(dropped, 'event')} before it ${dropped === 1 ? 'was' : 'were'} not kept.` : '';
    banner('recording', `This is a recording, not a daemon. Nothing here changes any more.${gone}`);
  }

  #drawLiveStatus(live) {
    const { version, principal, roles } = live.identity;
    status(live.status, {
      connecting: 'Connecting…', lost: 'Not connected', refused: 'A token is needed', denied: 'Not allowed to look',
      connected: `Connected to ${location.host}${version ? `, version ${version}` : ''}${principal ? `, as ${inWords(principal)}` : ''}`,
    }[live.status]);
    const known = `You are known as ${inWords(principal ?? 'nobody')}`;
    const isForbidden = live.status === 'connected' && this.model?.presence === 'forbidden';
    const withheld = live.withheldUntil ? `Nothing is granted until ${new Date(live.withheldUntil).toLocaleTimeString('en-GB')}: the `
      + 'machine died, or the journal lost its end, and clients may hold locks of which the daemon does not know.' : undefined;
    const reason = isForbidden ? `${known}, and the scene ${this.sceneName} is not among your scenes.` : {
      lost: `Not connected: the daemon at ${location.host} does not answer. What you see is what was known last. `
        + 'The page tries again every second.',
      refused: 'This daemon shows nothing without a token. “Give a token…” asks for it again.',
      denied: `${known}, with the roles ${roles.join(', ') || 'none'}. To look, the role observe is needed.`,
      connected: withheld,
    }[live.status];
    banner(reason ? 'lost' : '', reason ?? '');
    setHidden(byId('token-forget'), !live.hasToken);
    setHidden(byId('token-open'), live.status !== 'refused');
    // It keeps its place, so that the buttons beside it do not move away under the pointer when a scene comes into being.
    setHidden(byId('recording-save'), live.status !== 'connected');
    byId('recording-save').disabled = this.model?.presence !== 'known';
    this.actions?.draw(live.status === 'connected');
  }

  #drawScenes() {
    const hint = this.recording ? 'There are more scenes in the recording.' : 'There are more scenes.';
    const { model } = this;
    // Of a recording, one looks at those that are gone, too.
    const scenes = this.recording ? this.scenes
      : this.scenes.filter(({ name }) => name !== model?.name || model.presence === 'known');
    // Of the scene that is followed, more is known than the list said last.
    const shown = scenes.map(each => (each.name === model?.name
      ? { ...each, runningCount: model.counts.running, queuedCount: model.counts.queued } : each));
    this.scenesView.draw(shown, model,
      this.isWhole ? '' : `${hint} Add scene=NAME to the query of the address to see one of them.`);
  }

  #drawTree() {
    const { model, viewing } = this;
    if (!model) return;
    byId('tree').classList.toggle('earlier', !!viewing);
    const isKnown = viewing ? viewing.isKnown : true;
    const root = viewing ? viewing.root : model.hierarchy.root;
    this.tree.draw(model.name, root, viewing ? model.grantedAt(viewing.at) : model.granted);
    let note = `${plural(model.hierarchy.size, 'controller')}. ● visible, ○ not visible.`;
    if (viewing && !isKnown) note = 'What was before it is not known, so neither is this tree: only its changes are.';
    else if (viewing?.event) note = `As it was from ${clockTime(viewing.at)} on.`;
    else if (viewing) note = `As it was at ${clockTime(viewing.at)}. Since when is not known here.`;
    else if (model.presence !== 'known') note = absenceWords(model);
    else if (!root) note = 'Nobody has declared a tree in this scene. Transitions lock the whole scene.';
    setText(byId('tree-note'), note);
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

  // What is done to the page

  #listen() {
    byId('recording-open').addEventListener('click', () => byId('recording-file').click());
    byId('recording-file').addEventListener('change', event => {
      const [file] = event.target.files;
      if (file) this.#open(() => readRecording(file));
      event.target.value = '';
    });
    byId('recording-save').addEventListener('click', () => this.#save());
    byId('recording-close').addEventListener('click', () => {
      location.href = this.#sceneBefore === null ? './' : `./?scene=${encodeURIComponent(this.#sceneBefore)}`;
    });
    byId('token-form').addEventListener('submit', event => {
      event.preventDefault();
      byId('token').close();
      this.model = null;
      this.live.connect(byId('token-text').value.trim());
    });
    byId('token').addEventListener('cancel', event => event.preventDefault());
    byId('token-open').addEventListener('click', () => this.#askForToken());
    byId('token-forget').addEventListener('click', () => {
      this.live.connect(null);
      location.reload();
    });
    for (const name of ['dragover', 'dragleave', 'drop']) {
      document.addEventListener(name, event => this.#drag(/** @type {DragEvent} */ (event)));
    }
  }

  /** A file that is dragged is a recording; a text may be dragged into a field. */
  #drag(event) {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    document.body.classList.toggle('drops', event.type === 'dragover');
    if (event.type !== 'drop') return;
    const { files } = event.dataTransfer;
    this.#open(async () => {
      if (files.length !== 1) throw new Unreadable('Drop one recording, and nothing else.');
      return readRecording(files[0]);
    });
  }
}

function status(kind, text) {
  const element = byId('status');
  element.dataset.is = kind;
  setText(element, text);
}

function banner(kind, text) {
  const element = byId('banner');
  element.dataset.is = kind;
  setText(element, text);
  setHidden(element, !text);
}

new Page().begin();
