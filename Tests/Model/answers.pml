/*
 * What is answered, and what clients believe: points 2, 7 and 8 of the protocol.
 *
 * One lock, two clients, and the tenures of its shard one after the other, each with an engine of its own. (Which
 * node an engine is on doesn't matter here.) The lease of a tenure in etcd ends at any moment, and its engine
 * doesn't notice: it is frozen for as long as it likes, at every step, since nothing obliges a process to go on. No
 * engine looks at a clock to know whether it is still the owner.
 *
 * Time is a step of all timers together. A client counts its lease from when it sent its word, and believes that it
 * holds the lock while that lasts. An engine counts the same length on its own clock, which may be late but isn't
 * early: an expiry happens at any moment after its timer has ended.
 *
 * - holds   safety
 * - finds   ANSWER_WITHOUT_READING READING_OF_BEFORE LEASES_GO_ON COUNT_FROM_ANSWER PARKED_IS_HELD EARLY_CLOCK
 * - finds   ANSWER_BEFORE_COMMIT
 * - reaches renewed renewedAfterClaim grantedByLater silenced released byCommit parkedLong
 */

#ifndef TENURES
#define TENURES 2
#endif
/* The lease of the lock, in steps. */
#ifndef LEASE
#define LEASE 2
#endif
#define CLIENTS 2

mtype = { nothing, renewed, renewedAfterClaim, grantedByLater, silenced, released, byCommit, parkedLong };
#ifndef REACH
#define REACH nothing
#endif
#define reached(name) assert(name != REACH)

/* Where a client's word to an engine, or the answer to it, is. One that is cleared arrives later. */
mtype = { absent, asked, parked, computed, gathered, cleared };

byte owner;                          /* create_revision of the owner key, which names the tenure; 0: there is none */
byte claims;
byte holder;                         /* in the log: the client that has been granted the lock, from 1; 0: none */

typedef Word {
    mtype stage = absent;
    byte left;                       /* of the lease that its client counts from having sent it */
}
typedef Engine {
    bool runs;
    byte holder;
    byte lease;                      /* what is left of the holder's lease */
    bool gathers;                    /* there are changes that no commit has been sent with */
    bool commits;                    /* a commit is on its way */
    byte committing;                 /* the holder in it */
    bool hasRead;                    /* used by a fault only */
    Word word[CLIENTS]
}
Engine engine[TENURES + 1];
byte belief[CLIENTS];                /* how long a client still believes that it holds the lock */

byte each, number;

#define E engine[tenure]

inline forget(tenure, client) {
    E.word[client].stage = absent;
    E.word[client].left = 0
}

/* The engine is discarded, and its answers with it. */
inline stop(tenure) {
    E.runs = false;
    E.holder = 0;
    E.lease = 0;
    E.gathers = false;
    E.commits = false;
    E.committing = 0;
    E.hasRead = false;
    forget(tenure, 0);
    forget(tenure, 1)
}

inline advance(tenure, from, to) {
    if :: E.word[0].stage == from -> E.word[0].stage = to :: else fi;
    if :: E.word[1].stage == from -> E.word[1].stage = to :: else fi
}

#define isParked(tenure, client) (E.word[client].stage == parked)
/* While the holder's await is parked, its lease doesn't run. */
#define runsOut(tenure) \
    (E.holder != 0 && E.lease == 0 && !isParked(tenure, E.holder - 1))

#ifdef ANSWER_BEFORE_COMMIT
#define isSettled(tenure) E.runs
#else
#define isSettled(tenure) (E.runs && !E.gathers && !E.commits)
#endif
#ifdef ANSWER_WITHOUT_READING
#define mayAnswer(tenure) true
#else
#define mayAnswer(tenure) (owner == tenure)
#endif

proctype Owner(byte tenure) {
end:
    do
    /* The claim; and later, the beginning. */
    :: d_step { owner == 0 && claims == tenure - 1 -> claims = tenure; owner = tenure }
    :: d_step {
        owner == tenure && !E.runs ->
            E.runs = true;
            E.holder = holder;
#ifdef LEASES_GO_ON
            /* The fault: what the owner before it had left. */
            E.lease = engine[tenure - 1].lease
#else
            E.lease = (holder != 0 -> LEASE : 0)
#endif
        }
    /* The end of its lease in etcd. */
    :: d_step { owner == tenure -> owner = 0 }
    /* It stops, because etcd has shown it another owner. (If its clock stops it earlier, that is as if it were frozen
       until then.) */
    :: d_step {
        E.runs && owner != tenure ->
            if :: E.word[0].stage == computed || E.word[1].stage == computed -> reached(silenced) :: else fi;
            stop(tenure)
        }

    /* What is due. */
    :: d_step { E.runs && runsOut(tenure) -> E.holder = 0; E.gathers = true }

    /* A commit. It counts as a reading for what was computed before it was sent. */
    :: d_step {
        E.gathers && !E.commits ->
            E.gathers = false;
            E.commits = true;
            E.committing = E.holder;
            advance(tenure, computed, gathered)
        }
    :: d_step {
        E.commits && owner == tenure ->
            holder = E.committing;
            E.committing = 0;
            E.commits = false;
            if :: E.word[0].stage == gathered || E.word[1].stage == gathered -> reached(byCommit) :: else fi;
            advance(tenure, gathered, cleared)
        }

    /* A reading of the owner key, sent after these answers were computed, shows this tenure. What was computed from
       changes that aren't committed waits for their commit. */
    :: d_step { isSettled(tenure) && mayAnswer(tenure) -> advance(tenure, computed, cleared) }
#ifdef READING_OF_BEFORE
    /* The fault: the reading may have been sent before. */
    :: d_step { E.runs && owner == tenure -> E.hasRead = true }
    :: d_step { isSettled(tenure) && E.hasRead -> E.hasRead = false; advance(tenure, computed, cleared) }
#endif
    od
}

/* What one client and one engine have to do with each other. */
proctype Conversation(byte tenure; byte client) {
end:
    do
    /* It asks for the lock, or says that it is still there. The owner isn't known to it: it asks anybody. */
    :: d_step { E.runs && E.word[client].stage == absent -> E.word[client].stage = asked; E.word[client].left = LEASE }
    /* Granted, or renewed. */
    :: d_step {
        E.word[client].stage == asked && E.holder == 0 ->
            E.holder = client + 1;
            E.lease = LEASE;
            E.gathers = true;
            E.word[client].stage = computed
        }
    :: d_step {
        E.word[client].stage == asked && E.holder == client + 1 ->
            E.lease = LEASE;
            E.word[client].stage = computed
        }
    /* An await on the granted transition is parked; it is answered any time later. The lease starts full then. */
    :: d_step { E.word[client].stage == asked && E.holder == client + 1 -> E.lease = 0; E.word[client].stage = parked }
    :: d_step {
        E.word[client].stage == parked ->
            E.lease = LEASE;
            E.word[client].stage = computed;
            if :: E.word[client].left < LEASE -> reached(parkedLong) :: else fi
        }
    /* The answer arrives. */
    :: d_step {
        E.word[client].stage == cleared ->
            if :: belief[client] != 0 && E.word[client].left > belief[client] -> reached(renewed) :: else fi;
            if :: tenure > 1 && belief[client] == 0 && engine[1].runs -> reached(grantedByLater) :: else fi;
            if :: owner != tenure -> reached(renewedAfterClaim) :: else fi;
#ifdef COUNT_FROM_ANSWER
            belief[client] = LEASE;
#else
            belief[client] = (E.word[client].left > belief[client] -> E.word[client].left : belief[client]);
#endif
            forget(tenure, client);
            assert(belief[0] == 0 || belief[1] == 0)
        }
    /* It ends its transition: it stops believing first, and no longer listens to earlier answers. */
    :: d_step {
        E.runs && belief[client] != 0 && E.holder == client + 1 ->
            reached(released);
            belief[client] = 0;
            E.holder = 0;
            E.lease = 0;
            E.gathers = true;
            for (number : 1 .. TENURES) {
                engine[number].word[client].stage = absent;
                engine[number].word[client].left = 0
            }
            number = 0
        }
    od
}

#define pass(timer) timer = (timer != 0 -> timer - 1 : 0)
#ifdef PARKED_IS_HELD
/* The fault: a client believes that its lease doesn't run while its await is out, as on a single node. */
#define isOut(client) \
    (engine[1].word[client].stage == parked || engine[TENURES].word[client].stage == parked)
#else
#define isOut(client) false
#endif

/* A word whose lease has run out says nothing any more, except that a parked one keeps the engine's lease full. */
inline passWord(tenure, client) {
    if :: !isOut(client) -> pass(E.word[client].left) :: else fi;
    if
    :: E.word[client].left == 0 ->
        if :: E.word[client].stage == parked -> E.lease = LEASE :: else fi;
        E.word[client].stage = absent
    :: else
    fi
}

proctype Clock() {
end:
    do
    :: d_step {
        true ->
            for (each : 0 .. CLIENTS - 1) {
                if :: !isOut(each) -> pass(belief[each]) :: else fi
            }
            each = 0;
            for (number : 1 .. TENURES) {
                pass(engine[number].lease);
#ifdef EARLY_CLOCK
                pass(engine[number].lease);
#endif
                passWord(number, 0);
                passWord(number, 1)
            }
            number = 0
        }
    od
}

init {
    byte tenure;
    atomic {
        for (tenure : 1 .. TENURES) {
            run Owner(tenure);
            run Conversation(tenure, 0);
            run Conversation(tenure, 1)
        }
        tenure = 0;
        run Clock()
    }
}
