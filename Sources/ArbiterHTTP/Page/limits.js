// Every list of the page has an end. These are the ends, in one place, and the names that its parts share.

/** Where the daemon is: the page may be behind a path of a proxy. */
export const BASE = new URL('..', import.meta.url).href.replace(/\/$/, '');

/** Where the token is kept, for the tab only. */
export const TOKEN = 'arbiter.token';

/** Ended transitions that are kept for the timeline and the list of what ended. */
export const ENDED_KEPT = 4000;
/** Revisions of the tree that one can go back to. */
export const REVISIONS_KEPT = 500;
/** Changes that are listed under an earlier revision. */
export const CHANGES_SHOWN = 12;
/** Cards in each of the lanes. */
export const RUNNING_SHOWN = 20;
export const WAITING_SHOWN = 40;
export const ENDED_SHOWN = 40;
/** Clients that have a row of their own in the timeline: those that were active last. */
export const TIMELINE_CLIENTS = 24;
/** Rows that the overlapping transitions of one client may take. */
export const TIMELINE_ROWS_PER_CLIENT = 3;
/** Blockers of one ticket that are looked at, the last ones, to find those that it waits for directly. */
export const BLOCKERS_EXAMINED = 50;
/** Rows of the tree that are drawn beyond the ones in sight, above and below. */
export const TREE_OVERSCAN = 12;
/** Characters of a name that are shown in a sentence. */
export const NAME_SHOWN = 64;
/** Scenes in the list. */
export const SCENES_SHOWN = 200;
/** Moves of shards in the list. */
export const MOVES_SHOWN = 40;
/** Requests that may be unfinished from this page. A browser opens six connections to a host. */
export const OWN_TRANSITIONS = 3;

/** How much time has to pass between two drawings of a part of the page, in milliseconds. */
export const DRAW_EVERY = 100;
/** How often what runs out by itself is drawn: leases and waits. In milliseconds, as all that follow. */
export const TICK_EVERY = 250;
/** How often the daemon is asked for what no event tells: leases, places in the queue, other scenes. */
export const ASK_EVERY = 1500;
/** When the daemon is asked for a short lease, in parts of what is left of it. */
export const ASKED_OF_LEASE = 0.75;
/** The least time between two rounds of asking, when something has happened that no event tells all of. */
export const ASK_AGAIN_AFTER = 500;
/** By how much the time until which nothing is granted has to change before it is said anew. */
export const WITHHELD_TOLERANCE = 5000;
/** How often a daemon that does not answer is asked for. */
export const ASK_AGAIN_EVERY = 1000;
/** The time to claim a grant that the daemon has by default, in seconds, until its own is known. */
export const CLAIM_SECONDS = 5;
/** How long an answer may take. */
export const PATIENCE = 10_000;
/** How many of the transitions that are missing in a list are asked for at once. */
export const MISSING_ASKED = 10;
/** How many transitions that ended before the page was opened are read. */
export const PAST_READ = 1000;
/** Clocks that differ by less are taken to be the same; the `Date` of an answer is a whole second. */
export const SKEW_IGNORED = 3000;
/** How long a message is shown. */
export const TOLD_FOR = 60_000;
/** How long the page collects news before a screen reader says them. */
export const ANNOUNCE_EVERY = 3000;
/** How long the page waits for the next key before a document is checked. */
export const CHECK_AFTER = 250;
/** How long it waits to check a request again, after something has happened in the scene. */
export const CHECK_AGAIN_AFTER = 500;
/** The longest recording that can be opened, in bytes. */
export const RECORDING_BYTES = 256 * 1024 * 1024;
/** How long the answer with a recording may be silent, in milliseconds. */
export const RECORDING_SILENCE = 30_000;
