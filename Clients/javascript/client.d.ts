/// <reference lib="esnext.disposable" />
/**
 * A client of `arbiterd`, the lock of user interface transitions, for browsers and Node 20. Durations are seconds: finite
 * numbers, 0 or more. Another number is a RangeError, and another type a TypeError, before anything is sent.
 *
 * ```js
 * import { Arbiter } from 'http://127.0.0.1:8080/client.js';
 * const arbiter = new Arbiter({ client: 'sidebar' });
 * await arbiter.scene('main').withTransition(async transition => {
 *   await animate({ signal: transition.signal });
 * });
 * ```
 */

/** A document of the wire; openapi.yaml of the daemon says what each has. */
export type Document = Record<string, any>;

/** The id of a controller, or a node with children. */
export type Controller = string | Document;

/** What a transition does to the hierarchy; `operations` makes them. */
export type Operation = { type: string } & Document;

/** A column of a split. */
export type SplitColumn = 'primary' | 'supplementary' | 'secondary';

export interface ArbiterOptions {
  /**
   * Where the daemon listens: `http://…` or `https://…`. By default the page's own origin, or in Node `ARBITER_URL`, or
   * `http://127.0.0.1:8080`.
   */
  url?: string;
  /** A bearer token. */
  token?: string;
  /** The name by which people, and transitions with participants, know this client. */
  client?: string;
  /** How long a request is repeated while the daemon cannot be reached, or is starting: 30 unless set. */
  patience?: number;
  /** Header fields of every request, for example `traceparent`. */
  headers?: Record<string, string>;
  /**
   * Whether all windows of the origin share one stream of events instead of parking a request each, because a browser opens
   * six connections to a host. By default where there are windows, `BroadcastChannel` and `navigator.locks`.
   */
  shared?: boolean;
  /** What sends the requests, instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/**
 * What may be asked of a transition; everything has a default. Names and values are those of the wire. Durations are seconds. A
 * participant may also be the name of its client, and `coalesce` the key.
 */
export interface TransitionOptions {
  operation?: Operation;
  /** Several as one, in place of `operation`: each on the hierarchy that those before it leave, all at the end, or none. */
  operations?: Operation[];
  /** What is locked: the whole scene unless set. Of several names with `anyOf`, it is one. */
  scope?: 'scene' | 'operation' | string[] | { anyOf: string[] };
  /** Which others it conflicts with: all, unless set, or `exclusive` ones only. */
  mode?: 'exclusive' | 'shared';
  /** How urgent it is, from -1000 to 1000: a higher priority is served first. The scene's default unless set, which is mostly 0. */
  priority?: number;
  /**
   * Whether it may be interrupted, and how it ends then: once its interruption begins, it goes on for `graceSeconds`, 0.5 unless
   * set. The scene's default unless set, by which mostly it may not.
   */
  interruptible?: false | { by: 'higher' | 'equal'; graceSeconds?: number; as?: 'completed' | 'cancelled' };
  /** Conditions that must hold when the turn comes. */
  expect?: Document[];
  animation?: Document;
  /** Whether a finger drives it. */
  interactive?: boolean;
  policy?: Document;
  participants?: (string | { client: string; required?: boolean; mayVeto?: boolean })[];
  readySeconds?: number;
  onUnready?: 'proceed' | 'abort';
  /** Whether it removes what others guard without asking them; it needs the role `design`. */
  ignoreGuards?: boolean;
  /** Why it is held, for people. */
  note?: string;
  leaseSeconds?: number;
  maxHoldSeconds?: number;
  onExpiry?: 'discard' | 'complete';
  ticketSeconds?: number;
  queueSeconds?: number;
  coalesce?: string | { key: string; keep?: 'latest' | 'first'; among?: 'queued' | 'unfinished' };
  client?: string;
  /** Gives the ticket up when it is aborted. */
  signal?: AbortSignal;
}

export interface TurnOptions extends TransitionOptions {
  /** Whether it ends what is in its way and is `interruptible`, instead of waiting for it. */
  whenBusy?: 'wait' | 'interrupt';
  /** Whether it waits, for `queueSeconds` at most, if something that it expects does not hold when its turn comes. */
  unmet?: 'reject' | 'wait';
  /** How long the turn may take to come, in seconds; for ever unless set, or if it is null. */
  timeout?: number | null;
  /**
   * Called with the ticket whenever the daemon says that it still waits, at least every 10 seconds: its `state`, and while that
   * is `queued` its `position` and `blockers`. If it throws, the ticket is given up.
   */
  waiting?: (ticket: Document) => void;
  /**
   * Whether it waits also in the body of a transition that is in its way, because this code is not what that body waits for. A
   * browser cannot tell, and warns on the console if only transitions of this client are in the way.
   */
  waitForSelf?: boolean;
}

/** What a controller may be. */
export type Condition = 'exists' | 'absent' | 'visible' | 'presented' | 'presenting' | 'top' | 'selected';

export interface StreamOptions {
  /** The id of the last event that is known: the stream continues after it. */
  since?: string | null;
  /** Whether the stream keeps the session alive: a client that takes part in the transitions of others has one. */
  attached?: boolean;
  /** Ends the iteration when it is aborted. */
  signal?: AbortSignal;
}

/** Something that happened. */
export interface ArbiterEvent {
  /** For example `transition.ended`; `reset`, with the scene as it is, after a gap that cannot be filled. */
  name: string;
  data: Document;
  /** What a stream is resumed after; null for what is momentary, such as `transition.progress`, and
   *  for all events of `arbiter.events()` from a cluster of several shards, where the place in the stream comes apart. */
  id: string | null;
}

/** A controller with everything below it; `Controller` in openapi.yaml says what it has. It is frozen. */
export type Node = Readonly<Document>;

/** A hierarchy as it was at one moment. */
export interface HierarchySnapshot {
  /** The tree; null while it is empty, and while there is no such scene. What has not changed since is the same object. */
  readonly root: Node | null;
  /** The revision of the tree. */
  readonly revision: number;
  /** Whether its events arrived then, so that nothing newer was known. */
  readonly isCurrent: boolean;
  /** The controller of this id with everything below it; null if there is none. */
  controller(id: string): Node | null;
}

/**
 * A client of a daemon.
 *
 * All its transitions are bound to one session: if its process dies, they end within two seconds; in the moment between the
 * grant and the first parked request, where windows share a stream, and behind a proxy that keeps their connections, when the
 * lease has run out. A page that is left, or goes into the back/forward cache, gives its session up, and so loses what it holds;
 * when it is shown again, its client works with another session.
 */
export class Arbiter {
  /**
   * @throws TypeError for another kind of URL, and for a token or a header field that cannot be sent; TypeError or RangeError for
   *   a patience that is no duration
   */
  constructor(options?: ArbiterOptions);
  readonly url: string;
  readonly client?: string;
  readonly patience: number;
  /** A scene by its name, `main` unless given; nothing is asked. */
  scene(name?: string): Scene;
  /** What happens in all scenes; see `Scene.events`. */
  events(options?: StreamOptions): AsyncGenerator<ArbiterEvent, void>;
  /**
   * Says that this client, by its name, is ready for a transition in which it takes part.
   * @throws Refused, Unreachable
   */
  ready(id: string): Promise<Document>;
  /**
   * Says that a transition in which this client takes part must not run; only one that may veto is heard.
   * It ends as `rejected` with the reason `vetoed`.
   */
  veto(id: string, options?: { reason?: string }): Promise<Document>;
  /**
   * A transition by its id, also one of others, and one that has ended a while ago.
   * @throws Refused, for example `unknown-transition`; Unreachable
   */
  read(id: string): Promise<Document>;
  /**
   * The newest transitions of these, `limit` at most (100 unless set), oldest first; each is a summary.
   * @throws Refused, Unreachable
   */
  transitions(query?: {
    scene?: string; state?: 'queued' | 'preparing' | 'running' | 'ended'; client?: string; limit?: number;
  }): Promise<Document[]>;
  /**
   * All scenes, by their names: how many transitions run and wait in each.
   * @throws Refused, Unreachable
   */
  scenes(): Promise<Document[]>;
  /**
   * Takes a transition from its owner, or a ticket out of the queue: the transition. An administrator takes any, others those of their own
   * principal.
   * @throws Refused, for example `already-ended`; Unreachable
   */
  revoke(id: string, options: { reason: string }): Promise<Document>;
  /**
   * Ends the session, and with it what is still held: that is lost at once. Streams end. Calls that still wait reject with
   * `Closed`, and so do all later ones.
   */
  close(): Promise<void>;
}

/** One arbitrated interface. */
export class Scene {
  readonly arbiter: Arbiter;
  readonly name: string;
  /**
   * Tries at once: the transition, or null if another one is in the way. Then the event is dropped. If there was nothing to do,
   * the transition has ended with `noop`: it has no lock and no `fence`.
   * @throws Refused if what it asks for is impossible; TransitionEnded if it ended before it ran; Unreachable; TypeError or
   *   RangeError for what can never be sent
   */
  start(options?: TransitionOptions): Promise<Transition | null>;
  /**
   * Waits for its turn, first come, first served among equal priorities: a transition that runs, or has ended with `noop` if there was
   * nothing to do: then it has no lock and no `fence`.
   * @throws TimedOut; TransitionEnded if it is impossible when its turn comes; Refused if it cannot even queue; Unreachable;
   *   BlockedBySelf in the body of a transition that is in its way; TypeError or RangeError for what can never be sent
   */
  serialize(options?: TurnOptions): Promise<Transition>;
  /**
   * Tries at once to begin a transition that a finger drives: null if another one is in the way. Then the gesture does not begin.
   * @throws as `start`
   */
  startInteractive(options?: Omit<TransitionOptions, 'interactive'>): Promise<InteractiveTransition | null>;
  /**
   * Asks for the turn of a transition that a finger drives, and does not wait for it. What goes wrong then rejects `granted`, and
   * what is asked of the gesture.
   * @throws TypeError or RangeError for what can never be sent
   */
  serializeInteractive(options?: Omit<TurnOptions, 'interactive' | 'waitForSelf'>): InteractiveTransition;
  /**
   * Waits for its turn, and holds it while the body runs. It is completed when the body returns, and cancelled if it throws;
   * one whose gesture was decided ends as that was, and one that the body has ended is left alone. The body is told by
   * `transition.signal` if it is lost. If its operation has nothing to do, the body runs all the same, without a lock:
   * `transition.noop` is true, and `transition.fence` is null.
   * @returns what the body returns
   * @throws what the body throws, and as `serialize`; TransitionEnded if it was lost meanwhile
   */
  withTransition<Result>(body: (transition: Transition) => Result | Promise<Result>): Promise<Result>;
  withTransition<Result>(
    options: TurnOptions, body: (transition: Transition) => Result | Promise<Result>): Promise<Result>;
  /**
   * Tries at once, as `start` does, and holds it while the body runs: with null if another one is in the way. Otherwise it ends
   * as that of `withTransition` does.
   * @returns what the body returns
   * @throws what the body throws, and as `start`; TransitionEnded if it was lost meanwhile
   */
  tryTransition<Result>(body: (transition: Transition | null) => Result | Promise<Result>): Promise<Result>;
  tryTransition<Result>(
    options: TransitionOptions, body: (transition: Transition | null) => Result | Promise<Result>): Promise<Result>;
  /**
   * Declares the hierarchy, segues, transition types and defaults. With `ifUndeclared` only if nobody has, so that one of several
   * processes that start together does it; for the others the answer is null. It is sent again if its answer is lost: then it may
   * be null for the one that did it too, and may replace what others have changed in between. A `dryRun` changes nothing, and
   * returns the whole storyboard.
   * @throws Refused, for example `busy` while a transition is unfinished; Unreachable
   */
  declare(storyboard: Document, options?: { ifUndeclared?: boolean; dryRun?: boolean }): Promise<Document | null>;
  /**
   * Adds, replaces and removes segues, transition types and defaults, also while transitions run; null removes an entry.
   * @throws Refused, for example `in-use`; Unreachable
   */
  patchStoryboard(changes: Document): Promise<Document>;
  /**
   * Takes all unfinished transitions here, or those of a client, from their owners, in one step: their ids. An administrator takes
   * everybody's, others those of their own principal. It is sent once: after `Unreachable` it may have happened.
   * @throws Refused, Unreachable
   */
  revoke(options: { reason: string; client?: string }): Promise<string[]>;
  /**
   * Asks to be asked before these controllers, or any above them, are removed, until the session of this client ends: the guard, with its
   * `id`. There may be no such controllers yet. Then `transition.preparing` names this client among the `participants`, with the `guard`:
   * answer with `ready` or `veto` within two seconds. Otherwise `onSilence` counts: the transition runs, unless it is `abort`. A
   * stream of events that is `attached` keeps the session alive. The same call again returns the same guard.
   * @throws Refused, for example `queue-full`; Unreachable
   */
  addGuard(controllers: string[], options?: { onSilence?: 'proceed' | 'abort' }): Promise<Document>;
  /**
   * Takes a guard back; nothing if it has ended.
   * @throws Refused, Unreachable
   */
  removeGuard(id: string): Promise<void>;
  /**
   * What would come of `start`, or of `serialize`, now: `wouldRun`, `blockers`, what comes and goes. Nothing changes.
   * @throws Refused for what would be refused; Unreachable
   */
  dryRun(call: 'start' | 'serialize', options?: Omit<TransitionOptions, 'signal'>): Promise<Document>;
  /**
   * Waits until nothing here, or below a `controller`, is unfinished, and has not been for `quiet` seconds: how it is.
   * @throws TimedOut; Refused, Unreachable
   */
  untilIdle(options?: { controller?: string; quiet?: number; timeout?: number | null; signal?: AbortSignal }): Promise<Document>;
  /**
   * Waits until a controller is so (`is`), or is not so any more (`not`); it need not exist. `holds`, and the `controller`, if it
   * exists. It is no lock.
   * @throws TimedOut; Refused, Unreachable
   */
  untilController(
    id: string, options: ({ is: Condition } | { not: Condition }) & { timeout?: number | null; signal?: AbortSignal },
  ): Promise<Document>;
  /**
   * One controller, with its path, its conditions, and the transitions that lock it.
   * @throws Refused, for example `unknown-controller`; Unreachable
   */
  controller(id: string): Promise<Document>;
  /**
   * Its hierarchy, who runs and who waits.
   * @throws Refused, for example `unknown-scene`; Unreachable
   */
  read(): Promise<Document>;
  /**
   * Reads its hierarchy, and keeps it by events until it is closed or the signal is aborted. A scene that does not exist is
   * empty. Windows of one origin share one stream for this.
   * @throws Refused; Unreachable, also if the stream does not open within the patience of the client
   */
  hierarchy(options?: { signal?: AbortSignal }): Promise<Hierarchy>;
  /**
   * What happens here, from now on or after `since`, until the iteration is left. A stream that is cut is resumed without a
   * gap. Windows of one origin share one stream for this; one that is `attached`, or has `since`, takes a connection.
   * @throws Refused; Unreachable if the stream does not open for the first time within the patience of the client; TypeError if
   *   `since` cannot be an id
   */
  events(options?: StreamOptions): AsyncGenerator<ArbiterEvent, void>;
}

/** The hierarchy of a scene, kept by its events. */
export class Hierarchy implements HierarchySnapshot {
  private constructor();
  /** Whether its events arrive: while the daemon is gone, or something keeps them back, it may be an old one. */
  readonly isCurrent: boolean;
  /** The hierarchy as it is: its tree, with the revision of that tree. */
  readonly snapshot: HierarchySnapshot;
  readonly root: Node | null;
  readonly revision: number;
  controller(id: string): Node | null;
  /**
   * The hierarchy after each change, until it is closed. It changes too when it begins or ceases to be current. If several changes
   * came since the last step, only the newest hierarchy is shown.
   * @throws Refused if the daemon does not let it be followed any more
   */
  changes(): AsyncGenerator<HierarchySnapshot, void>;
  /** Keeps it no longer; iterations end. */
  close(): void;
}

/**
 * A transition that this client holds, until it ends it. One that is collected before is given back, with a warning on the
 * console.
 */
export class Transition {
  readonly id: string;
  /**
   * Grows with every grant of the scene: what is written with a lower one is from an earlier holder. Null if it is a `noop`,
   * which has no lock.
   */
  readonly fence: number | null;
  /** How many seconds its animation takes, as the daemon has resolved it; 0 if it has none. */
  readonly duration: number;
  /** Whether there was nothing to do: then it has completed already, and has no lock and no `fence`. */
  readonly noop: boolean;
  /** The transition as it was granted, or given its operation, without its token; after its end the ended one. */
  readonly document: Document;
  /** How its gesture was decided; null before that, and if there was nothing to do. */
  readonly decision: 'finish' | 'cancel' | null;
  /** Aborted with `TransitionEnded` as soon as it has ended without its owner: what was begun must not be continued. */
  readonly signal: AbortSignal;
  /**
   * Aborted as soon as its interruption begins, or it is over. An interrupted one ends when its grace is over, or when its owner ends
   * it: put the screen in order until then.
   */
  readonly interruptSignal: AbortSignal;
  /** `by`, `client` and `graceRemaining`, as they were when the interruption was heard of; null before that. */
  readonly interruption: Document | null;
  /** How it ended; null while it runs, and if its lease ran out unseen. */
  readonly ended: Document | null;
  /**
   * Gives it the operation, or several as one, that it was begun without, which is applied when it completes: the transition, with what the
   * operation will have `inserted` and `removed`, or `noop` if it would change nothing. Then another one may follow. `expect` is
   * what must hold now. If it is not `animated`, the `duration` is 0 here from now on, though not for others.
   * @throws Refused if the operation is not possible now, with `already-performed` if it has another one, with
   * `outside-scope`, and, unless it is to `ignoreGuards`, with `guarded`; TransitionEnded if it has ended; Unreachable
   */
  perform(operation: Operation | Operation[], options?: PerformOptions & { ignoreGuards?: boolean }): Promise<Document>;
  /**
   * Changes the `duration`, `curve`, `completionSpeed` or `userInfo` of its animation: the transition.
   * @throws TransitionEnded if it has ended; Refused, Unreachable
   */
  update(animation: { duration?: number; curve?: string; completionSpeed?: number; userInfo?: unknown }): Promise<Document>;
  /**
   * Ends it, and applies its operation: the transition, with what was inserted and removed.
   * @throws TransitionEnded if it has ended without its owner; Refused if its gesture was decided otherwise; Unreachable
   */
  complete(): Promise<Document>;
  /**
   * Ends it without applying its operation.
   * @throws as `complete`
   */
  cancel(): Promise<Document>;
  /**
   * Where the finger is, from 0 to 1, of an interactive transition. `velocity` is fractions a second. It need not be awaited: one
   * position is sent at a time, and while it is on its way, only the newest is kept. The answer says whether this position or a
   * newer one was `applied`; a late one is no error. `sequence`, a number that grows, is for positions that do not come here in
   * their order.
   * @throws TypeError or RangeError at once for what is no finite number; Refused, Unreachable
   */
  progress(fraction: number, options?: { velocity?: number; sequence?: number }): Promise<Document>;
  /**
   * The finger has left: decides, once, whether an interactive transition will finish or cancel. Without a `decision`, the
   * transition's policy decides, by the newest `fraction` and `velocity` or those given here. The answer has the decision, and in
   * `remaining` how many seconds the rest of the animation takes, which `completionSpeed` divides.
   * @throws Refused, Unreachable
   */
  release(options?: {
    decision?: 'finish' | 'cancel'; fraction?: number; velocity?: number; cancelled?: boolean; completionSpeed?: number;
  }): Promise<Document>;
  /**
   * The end of a block with `await using transition = await scene.start()`: ends it as its gesture was decided, and otherwise
   * cancels it, unless it has been ended.
   * @throws as `cancel`
   */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A transition that a finger drives, from the request on. `update` says where the finger is. `finish`, `cancel` and `release` say
 * that it has left, play the rest of the animation, and end the transition. All of that may come before its turn.
 *
 * `rest` plays the rest of the animation, or the way back: it gets the seconds that this takes, and the transition, whose `signal`
 * says if it is lost. Unless given, the seconds pass.
 */
export class InteractiveTransition {
  private constructor();
  /**
   * The transition, when its turn has come.
   * @throws as `serialize`
   */
  get granted(): Promise<Transition>;
  /**
   * Where the finger is: `fraction` is from 0 to 1, and what is less or more counts as 0 or 1; `velocity` is fractions a second. It
   * returns at once. Only the newest position is sent, and what cannot be sent is replaced by the next one.
   * @throws TypeError or RangeError for what is no finite number
   */
  update(fraction: number, options?: { velocity?: number }): void;
  /**
   * The finger has left, and the transition finishes. If its turn does not come in time, this throws, and the transition finishes
   * at its turn all the same, without its animation.
   * @throws what `rest` throws: it ends as decided nevertheless; TransitionEnded if it was lost, or could not run when its turn came;
   * TimedOut, BlockedBySelf; Refused, with `already-decided` if it goes back; Unreachable
   */
  finish(rest?: Rest): Promise<void>;
  /**
   * The finger has left, and the transition goes back; its operation is not applied. Before its turn, it leaves the queue, and
   * `rest` is not called.
   * @throws as `finish`; nothing if it has left the queue already
   */
  cancel(rest?: Rest): Promise<void>;
  /**
   * The finger has left, and the policy of the transition decides, by the newest position. What is released a second time, while
   * the rest is played or afterwards, waits for that, and does not play it again.
   * @returns whether it has finished; not if there was nothing to do, for which `rest` plays the way back
   * @throws as `finish`
   */
  release(rest?: Rest): Promise<boolean>;
}

/** Plays the rest of an animation, which takes so many seconds: back, unless `transition.decision` is `finish`. */
export type Rest = (remaining: number, transition: Transition) => unknown;

/** How an operation is performed. */
export interface PerformOptions {
  /** What must hold, as `expect` of the wire. */
  expect?: Document | Document[];
  /** Whether it is drawn; it is, unless this is false. */
  animated?: boolean;
}

/**
 * The lock of a scene in the words of TransitionLock for iOS: one transition of this object at a time, begun in one place and
 * completed in another.
 *
 *     if (await lock.startTransition()) {
 *       await lock.performSegue('mySegue', { source: 'list' }).finally(() => lock.endTransition());
 *     }
 *     await lock.serializeTransition(async () => {
 *       await lock.dismiss('menu');
 *       lock.transitionComplete();
 *     });
 *
 * An operation that is asked for while a transition of `startTransition`, or a block, has this lock belongs to that transition,
 * which gets one operation; a second one is refused with `already-performed`. Otherwise an operation waits for a transition of its
 * own. The promise of an operation is its completion: it has the controllers that were popped or dismissed, in that order, and
 * it is rejected if the operation is not applied.
 */
export class TransitionLock {
  /**
   * `perform` draws an operation while its transition is held; unless given, its duration passes. It returns when the transition is
   * lost, and does not wait for `endTransition`, which would wait for it in a browser. `timeout` is how many seconds a turn may take to
   * come. The other options are asked of every transition.
   */
  constructor(scene: Scene, options?: Omit<TurnOptions, 'operation' | 'operations' | 'signal' | 'timeout' | 'waiting' | 'waitForSelf'> & {
    perform?: (transition: Transition) => unknown; timeout?: number | null;
  });
  /**
   * Tries to begin a transition: whether it has begun. If not, another one is in the way, or the last one has not been ended, and the
   * event is to be dropped.
   * @throws as `Scene.start`
   */
  startTransition(): Promise<boolean>;
  /**
   * Ends what `startTransition` began; nothing if there is none.
   * @throws TransitionEnded if it was lost; Unreachable
   */
  endTransition(): Promise<void>;
  /**
   * Runs a block when it is its turn, first come, first served among equal priorities; the lock is held until `transitionComplete`. The promise
   * has what its operation has removed, when the lock is free again.
   * @throws what the block throws, and as `Scene.withTransition`
   */
  serializeTransition(block: () => unknown): Promise<string[]>;
  /**
   * The block that runs has completed its transition. A block that has lost it, and says so late, completes no other one; in a
   * browser, which cannot tell, it may.
   */
  transitionComplete(): void;
  /** @throws as `Transition.perform`, and as `Scene.withTransition`; so do all operations */
  perform(operation: Operation | Operation[], options?: PerformOptions): Promise<string[]>;
  performSegue(identifier: string, options: { source: string; destination?: Controller } & PerformOptions): Promise<string[]>;
  push(controller: Controller, options: { navigation: string } & PerformOptions): Promise<string[]>;
  pop(navigation: string, options?: PerformOptions): Promise<string[]>;
  popTo(controller: string, options: { navigation: string } & PerformOptions): Promise<string[]>;
  popToRoot(navigation: string, options?: PerformOptions): Promise<string[]>;
  present(controller: Controller, options?: { presenter?: string } & PerformOptions): Promise<string[]>;
  dismiss(controller: string, options?: PerformOptions): Promise<string[]>;
  /** Exactly one of the index, the controller and the offset from the selected tab. */
  select(
    tabs: string, options: { index?: number; controller?: string; offset?: number } & PerformOptions): Promise<string[]>;
}

/** Makes the operations of transitions; docs/hierarchy.md describes each. */
export const operations: {
  /** Without a `presenter`, over the controller in front. */
  present(controller: Controller, fields?: { presenter?: string }): Operation;
  dismiss(controller: string): Operation;
  push(controller: Controller, fields: { navigation: string }): Operation;
  pop(navigation: string): Operation;
  popTo(controller: string, fields: { navigation: string }): Operation;
  popToRoot(navigation: string): Operation;
  setStack(controllers: Controller[], fields: { navigation: string }): Operation;
  /** Exactly one of the index, the controller and the offset from the selected tab. */
  select(tabs: string, fields: { index?: number; controller?: string; offset?: number }): Operation;
  segue(identifier: string, fields: { source: string; destination?: Controller }): Operation;
  showDetail(controller: Controller, fields: { split: string }): Operation;
  /** Replaces a column of a split; `null` empties it. */
  setColumn(column: SplitColumn, controller: Controller | null, fields: { split: string }): Operation;
  /** Shows a column of a collapsed split. */
  showColumn(column: SplitColumn, fields: { split: string }): Operation;
  /** The columns up to the top one go onto the stack of the primary column. */
  collapse(split: string, fields?: { topColumn?: SplitColumn }): Operation;
  expand(split: string): Operation;
  /** `selected` is the index of the tab that is selected then. */
  setTabs(tabs: string, controllers: Controller[], fields?: { selected?: number }): Operation;
  /** Without an index, it becomes the last tab. */
  insertTab(controller: Controller, fields: { tabs: string; index?: number }): Operation;
  removeTab(controller: string, fields: { tabs: string }): Operation;
  setRoot(controller: Controller): Operation;
};

/** Every error of this module. */
export class ArbiterError extends Error {}

/** No answer came from the daemon within `patience`. */
export class Unreachable extends ArbiterError {}

/** The turn did not come within `timeout`; the ticket has been given up. */
export class TimedOut extends ArbiterError {}

/**
 * The turn would never come, because it is asked for in the body of a transition that is in its way: locks are not re-entrant. The
 * ticket has been given up.
 */
export class BlockedBySelf extends ArbiterError {
  /** The ticket as the daemon showed it. */
  readonly document: Document;
}

/** The client has been closed, before the call or while it waited. */
export class Closed extends ArbiterError {}

/** The daemon refused a request, as a problem of RFC 9457. */
export class Refused extends ArbiterError {
  readonly status: number;
  /** For programs, for example `queue-full`. */
  readonly code: string;
  /** A sentence for people. */
  readonly detail: string;
  readonly problem: Document;
}

/** The transition ended without its owner, before or after its turn came. */
export class TransitionEnded extends ArbiterError {
  /** `expired`, `rejected`, `superseded` or `revoked`; `cancelled` or `completed` if somebody with its token ended it. */
  readonly outcome: string;
  /**
   * For example `session-lost`; `unreachable` if its lease ran out unseen, because no answer of the daemon kept it; `forgotten`
   * if the daemon answers that it does not know the transition, as after a restart without its journal.
   */
  readonly reason: string | null;
  /** Which refusal it was: of a rejected one, or of what keeps the lease. */
  readonly code: string | null;
  /** The transition; null if its lease ran out unseen. */
  readonly document: Document | null;
}

/** For how many seconds a stream with this head may be silent, or null if it does not say so. For the tests of this module. */
export function silenceSaidBy(headers: Headers): number | null;

/** What a resumed stream repeats. For the tests of this module. */
export class Repeats {
  /** Whether the event was not there before. */
  isNew(event: ArbiterEvent): boolean;
}
