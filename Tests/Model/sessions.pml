/*
 * A session's home and a guest of it: point 9 of the protocol, without time.
 *
 * The session is a record in its home's shard, the guest one in another shard. Either shard changes its owner at any
 * moment; what its engine had in memory and on its way is then lost, but the home before it may be frozen and answer
 * later. Commits of a stale engine fail (commits.pml), so that the model just doesn't let it commit. A session's id
 * is never used again, and is told to nobody before it is committed.
 *
 * - holds   safety
 * - holds   noGuestRemains
 * - finds   SILENCE_IS_ABSENCE HOME_ANSWERS_UNREAD HOME_ANSWERS_UNCOMMITTED
 * - finds   NO_POLLS for noGuestRemains
 * - reaches endByPoll endByPush pushTooEarly guestOfTheDead homeDiedFirst silenced endUndone
 */

#define TENURES 3                /* of the home */
#define USES 2                   /* requests that use the session at the other shard */
#define LOSSES 2                 /* answers to polls and to admissions that are lost */
#define FAILOVERS 1              /* of the guest's shard */

mtype = { nothing, endByPoll, endByPush, pushTooEarly, guestOfTheDead, homeDiedFirst, silenced, endUndone };
#ifndef REACH
#define REACH nothing
#endif
#define reached(name) assert(name != REACH)

mtype = { none, alive, ended };
mtype session = none;            /* in the log of the home's shard */
mtype guest = none;              /* in the log of the guest's shard */

byte owner = 1;                  /* the home's tenure */
typedef Home {
    bool runs;
    mtype session = none;        /* what its engine says */
    bool ending;                 /* the end isn't committed yet */
    bool tells                   /* the end is committed, and its word to the guests' owners isn't sent */
}
Home home[TENURES + 1];

/* A message from the guest's owner to a home, and back. */
mtype = { absent, asked, yes, no };
mtype admission = absent;
mtype poll = absent;
byte admissionTo, pollTo;        /* the tenure that answers it */
bool push;                       /* a word that the session has ended is on its way */
byte uses, losses, failovers;

#define H home[tenure]

#ifdef HOME_ANSWERS_UNREAD
#define mayAnswer(tenure) true
#else
#define mayAnswer(tenure) (owner == tenure)
#endif
#ifdef HOME_ANSWERS_UNCOMMITTED
#define isSettled(tenure) true
#else
#define isSettled(tenure) (!H.ending)
#endif

/* Computed and released: releasing takes a reading of the owner key that is sent later. answers.pml has the two apart;
   here, the state of a stale engine doesn't change, so that it is all the same. */
inline answer(tenure, message) {
    message = (H.session == alive -> yes : no)
}

inline loseMessages(tenure) {
    if :: pollTo == tenure && poll == asked -> poll = absent; pollTo = 0 :: else fi;
    if :: admissionTo == tenure && admission == asked -> admission = absent; admissionTo = 0 :: else fi
}

proctype Answers(byte tenure) {
end:
    do
    :: d_step {
        H.runs && poll == asked && pollTo == tenure && mayAnswer(tenure) && isSettled(tenure) ->
            answer(tenure, poll);
            pollTo = 0
        }
    :: d_step {
        H.runs && admission == asked && admissionTo == tenure && mayAnswer(tenure) && isSettled(tenure) ->
            answer(tenure, admission);
            admissionTo = 0
        }
    /* It hears that it isn't the owner any more. */
    :: d_step {
        H.runs && owner != tenure ->
            if
            :: (poll == asked && pollTo == tenure) || (admission == asked && admissionTo == tenure) -> reached(silenced)
            :: else
            fi;
            if :: H.tells -> reached(homeDiedFirst) :: else fi;
            if :: H.ending && session == alive -> reached(endUndone) :: else fi;
            H.runs = false;
            H.session = none;
            H.ending = false;
            H.tells = false;
            loseMessages(tenure)
        }
    od
}

/* Begins and ends of the session, by its client or because it is silent. */
proctype Life(byte tenure) {
end:
    do
    :: d_step { owner == tenure && !H.runs -> H.runs = true; H.session = session }
    :: d_step { owner == tenure && H.runs && H.session == none -> session = alive; H.session = alive }
    :: d_step { H.runs && H.session == alive -> H.session = ended; H.ending = true }
    :: d_step { owner == tenure && H.ending -> session = ended; H.ending = false; H.tells = true }
    od
}

proctype Tells(byte tenure) {
end:
    do
    :: d_step { H.runs && H.tells -> H.tells = false; push = true }
    od
}

inline endGuest(how) {
    if
    :: guest == alive ->
        assert(session == ended);        /* no guest of a live session is ended */
        reached(how);
        guest = ended
    :: else
    fi
}

/* The guest's owner: admission. The client may name the session once it has heard of it. */
proctype Admission() {
end:
    do
    :: d_step {
        uses < USES && session != none && guest == none && admission == absent && home[owner].runs ->
            uses++;
            admission = asked;
            admissionTo = owner
        }
    :: d_step { admission == no -> admission = absent }
    :: d_step {
        admission == yes ->
            admission = absent;
            if :: session == ended -> reached(guestOfTheDead) :: else fi;
            guest = alive
        }
    od
}

/* The request may go to a node that doesn't own the home's shard any more, and doesn't know. */
proctype StaleAdmission(byte tenure) {
end:
    do
    :: d_step {
        uses < USES && session != none && guest == none && admission == absent &&
            home[tenure].runs && tenure != owner ->
            uses++;
            admission = asked;
            admissionTo = tenure
        }
    od
}

#ifndef NO_POLLS
proctype Polls() {
end:
    do
    :: d_step { guest == alive && poll == absent && home[owner].runs -> poll = asked; pollTo = owner }
    :: d_step { poll == yes -> poll = absent }
    :: d_step { poll == no -> poll = absent; endGuest(endByPoll) }
    od
}

proctype StalePolls(byte tenure) {
end:
    do
    :: d_step {
        guest == alive && poll == absent && home[tenure].runs && tenure != owner && losses < LOSSES ->
            losses++;
            poll = asked;
            pollTo = tenure
        }
    od
}
#endif

#ifdef SILENCE_IS_ABSENCE
proctype Impatience() {
end:
    do
    :: d_step { guest == alive && poll == asked -> endGuest(endByPoll) }
    od
}
#endif

proctype Pushes() {
end:
    do
    :: d_step {
        push ->
            push = false;
            if :: guest == none && admission == yes -> reached(pushTooEarly) :: else fi;
            endGuest(endByPush)
        }
    od
}

/* Failovers, and what is lost. None of them has to happen. */
active proctype Faults() {
end:
    do
    :: d_step { owner < TENURES -> owner++ }
    :: d_step { losses < LOSSES && poll != absent -> losses++; poll = absent; pollTo = 0 }
    :: d_step { losses < LOSSES && admission != absent -> losses++; admission = absent; admissionTo = 0 }
    :: d_step { losses < LOSSES && push -> losses++; push = false }
    :: d_step {
        failovers < FAILOVERS ->
            failovers++;
            poll = absent; pollTo = 0;
            admission = absent; admissionTo = 0;
            push = false
        }
    :: break
    od
}

/* Time goes on, so that nothing more happening is a behaviour too, and fairness says something about it. */
active proctype Time() {
    bit time;
    do
    :: time = 1 - time
    od
}

/* No guest of a dead session lives for ever. */
ltl noGuestRemains { <>[] !(session == ended && guest == alive) }

init {
    byte number;
    atomic {
        for (number : 1 .. TENURES) {
            run Answers(number);
            run Life(number);
            run Tells(number);
            run StaleAdmission(number);
#ifndef NO_POLLS
            run StalePolls(number);
#endif
        }
        number = 0;
        run Admission();
#ifndef NO_POLLS
        run Polls();
#endif
#ifdef SILENCE_IS_ABSENCE
        run Impatience();
#endif
        run Pushes()
    }
}
