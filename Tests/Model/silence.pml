/*
 * How long a session may be silent: point 9 of the protocol, with time.
 *
 * A client uses its session at another shard than its home: by a stream through a relay, or by words at most TTL
 * apart. The guest's owner polls the home and says whether it has heard the client since the last poll. The relay,
 * the guest's owner and the home may be lost, LOSSES times in all. The session of a living client must not end; that
 * of a dead one must, in time.
 *
 * Time is a step of everything. What has to happen within a limit happens before the step that would exceed it.
 *
 * - holds   safety with LOSSES=2
 * - holds   safety with LOSSES=0 POLLS=2
 * - finds   GRACE_AFTER_RELAY TTL_WITHOUT_POLLS ONLY_TWO_POLLS OWNER_LOST_UNSEEN TWO_POLLS_MISSED NEW_OWNER_HEARD_NOBODY
 * - reaches relayLost ownerLost homeLost endedByGrace endedByTTL wordLost putBack
 */

#define TTL 8
#define POLL 2                   /* the time between polls: a quarter of the TTL */
#define DELAY 1                  /* of a poll, at most */
#define GRACE 1
#define NOTICE 4                 /* a client's time to miss two comments of its stream */
#define FAILOVER 3
#ifndef LOSSES
#define LOSSES 1
#endif
#ifdef TTL_WITHOUT_POLLS
#define FULL TTL
#else
/* As many polls as a session is given besides. */
#ifdef ONLY_TWO_POLLS
#define POLLS 2
#endif
#ifndef POLLS
#define POLLS 3
#endif
#define FULL (TTL + POLLS * POLL)
#endif
/* When the home takes the guest's owner for lost: so long after its last poll has arrived. */
#ifdef TWO_POLLS_MISSED
#define OVERDUE (2 * POLL + DELAY)
#else
#define OVERDUE (POLL + DELAY + 1)
#endif

mtype = { nothing, relayLost, ownerLost, homeLost, endedByGrace, endedByTTL, wordLost, putBack };
#ifndef REACH
#define REACH nothing
#endif
#define reached(name) assert(name != REACH)

/* The client. */
bool dead;
byte deadFor;
bool streams;                    /* its stream is open as far as the guest's owner */
bool thinksStreams;              /* it believes so */
byte brokenFor;
byte silentFor;                  /* since its last word or the end of its stream, as it knows it */

/* The guest's owner. */
byte ownerDownFor;               /* 0: it is up */
bool heard;                      /* since the last poll */
bool sawClose;
byte sincePoll;
byte pollUnderWay;               /* how long, plus 1; 0: there is none */
bool pollHeard;

/* The home. */
byte homeDownFor;                /* 0: it is up */
byte left = FULL;
byte sinceReport;                /* since the last poll of the guest's owner arrived */
bool ended;

byte losses;

#define hears (ownerDownFor == 0)
#define lives (!dead && !ended)
#define mustSpeak (!thinksStreams && silentFor >= TTL)

#ifdef OWNER_LOST_UNSEEN
#define isPutBack false
#else
#define isPutBack (!putBackAlready)
#endif
#ifdef NEW_OWNER_HEARD_NOBODY
#define beginsAfresh false
#else
#define beginsAfresh true
#endif
bool putBackAlready;             /* for this loss */

/* Nothing is beyond its limit. */
#define mayPass (!ended && left > 0 && pollUnderWay <= DELAY && ownerDownFor <= FAILOVER && homeDownFor <= FAILOVER && \
    !(lives && mustSpeak && hears) && !(lives && thinksStreams && !streams && brokenFor >= NOTICE) && \
    !(hears && sincePoll >= POLL) && !(homeDownFor == 0 && sinceReport >= OVERDUE && isPutBack) && \
    !(sawClose && deadFor >= DELAY))

inline loseOwner() {
    ownerDownFor = 1;
    if :: heard && !streams -> reached(wordLost) :: else fi;
    heard = false;
    sawClose = false;
    sincePoll = 0;
    streams = false;
    /* The relay closes its client's stream, since it has lost what is behind it. */
    thinksStreams = false
}

active proctype Everything() {
    bool first = true;
end:
    do
    :: d_step {
        mayPass ->
            first = false;
            if :: dead -> deadFor++ :: else fi;
            /* A dead client's session ends in time. */
            assert(deadFor <= 2 * FULL + 2 * POLL + DELAY);
            if :: thinksStreams && !streams -> brokenFor++ :: else fi;
            if :: !thinksStreams && silentFor < TTL -> silentFor++ :: else fi;
            if :: ownerDownFor != 0 -> ownerDownFor++ :: else -> sincePoll++ fi;
            if :: pollUnderWay != 0 -> pollUnderWay++ :: else fi;
            if
            :: homeDownFor != 0 -> homeDownFor++
            :: else ->
                left--;
                if :: sinceReport < OVERDUE -> sinceReport++ :: else fi
            fi;
            if :: streams && !dead -> heard = true :: else fi
        }

    /* The client says a word. */
    :: d_step {
        lives && hears && !thinksStreams && (silentFor != 0 || first) ->
            silentFor = 0;
            heard = true;
            first = false
        }
    /* It opens a stream, the first time or again. */
    :: d_step {
        lives && hears && (!thinksStreams || !streams) ->
            streams = true;
            thinksStreams = true;
            brokenFor = 0;
            silentFor = 0;
            heard = true
        }
    /* It misses comments. */
    :: d_step { lives && thinksStreams && !streams -> thinksStreams = false; brokenFor = 0; silentFor = TTL }
    /* It ends its stream by itself: its last word is of now. */
    :: d_step { lives && hears && streams -> streams = false; thinksStreams = false; silentFor = 0; heard = true }
    /* It dies. The relay sees the connection close and says so, if there is one; the guest's owner hands that on. */
    :: d_step {
        lives && hears && losses == 0 ->
            dead = true;
            sawClose = streams;
            streams = false;
            thinksStreams = false
        }
    :: d_step {
        sawClose && homeDownFor == 0 && pollUnderWay == 0 ->
            sawClose = false;
            left = (left < GRACE -> left : GRACE);
            heard = false;
            putBackAlready = true;
            reached(endedByGrace)
        }

    /* A poll is sent; it arrives; without a home, it is lost. */
    :: d_step {
        hears && sincePoll != 0 && pollUnderWay == 0 ->
            sincePoll = 0;
            pollUnderWay = 1;
            pollHeard = heard;
            heard = false
        }
    :: d_step {
        pollUnderWay != 0 ->
            if
            :: homeDownFor == 0 ->
                left = (pollHeard -> FULL : left);
                sinceReport = 0;
                putBackAlready = false
            :: else ->
                /* It isn't answered: what was heard is said again. */
                heard = heard || pollHeard
            fi;
            pollUnderWay = 0;
            pollHeard = false
        }

    /* Losses. */
    :: d_step {
        losses < LOSSES && !dead && streams ->
            losses++;
            reached(relayLost);
#ifdef GRACE_AFTER_RELAY
            left = GRACE;
#endif
            streams = false
        }
    :: d_step { losses < LOSSES && !dead && hears -> losses++; reached(ownerLost); loseOwner() }
    /* The next owner finds the guest in its log, and doesn't know when its client was heard: it says, just now. */
    :: d_step { ownerDownFor > 1 -> ownerDownFor = 0; heard = beginsAfresh }
    :: d_step { losses < LOSSES && !dead && homeDownFor == 0 -> losses++; reached(homeLost); homeDownFor = 1 }
    /* A new home begins afresh, at full length. */
    :: d_step { homeDownFor > 1 -> homeDownFor = 0; left = FULL; sinceReport = 0; putBackAlready = false }

    /* The home misses the polls of the guest's owner: back on the full TTL, once. */
    :: d_step {
        homeDownFor == 0 && sinceReport >= OVERDUE && isPutBack ->
            putBackAlready = true;
            reached(putBack);
            left = FULL
        }
    :: d_step {
        left == 0 && homeDownFor == 0 && !ended && pollUnderWay <= DELAY ->
            /* The session of a living client doesn't end. */
            assert(dead);
            reached(endedByTTL);
            ended = true
        }
    od
}
