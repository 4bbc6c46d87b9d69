/*
 * How long an await on a granted transition may be parked: point 8 of the protocol.
 *
 * The owner of the shard is well. One client holds the lock and keeps it by one await after the other, without a
 * pause. It counts its lease from when it sent the last word that was answered. A message takes up to DELAY steps.
 *
 * - holds   safety
 * - finds   PARK_HALF
 * - reaches parkedFull slowBothWays
 */

#define LEASE 15
#define DELAY 1
#ifdef PARK_HALF
#define PARK (LEASE / 2)
#else
#define PARK (LEASE / 3)
#endif

mtype = { nothing, parkedFull, slowBothWays };
#ifndef REACH
#define REACH nothing
#endif
#define reached(name) assert(name != REACH)

mtype = { there, parked, back };
mtype place = there;      /* of the await */
byte time;                /* how long it has been in this place */
byte since;               /* how long ago it was sent */
byte slow;                /* messages that took DELAY */
byte belief = LEASE;      /* the await is sent when the grant arrives, which was asked for just then */

active proctype Client() {
end:
    do
    /* No message and no parked await is later than its limit. */
    :: d_step {
        time < (place == parked -> PARK : DELAY) ->
            time++;
            since++;
            assert(belief > 0);
            belief--
        }
    :: d_step {
        place == there ->
            if :: time == DELAY -> slow++ :: else fi;
            place = parked;
            time = 0
        }
    :: d_step {
        place == parked ->
            if :: time == PARK -> reached(parkedFull) :: else fi;
            place = back;
            time = 0
        }
    :: d_step {
        place == back ->
            if :: time == DELAY && slow == 1 -> reached(slowBothWays) :: else fi;
            belief = LEASE - since;
            place = there;
            time = 0;
            since = 0;
            slow = 0
        }
    od
}
