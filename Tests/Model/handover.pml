/*
 * Handing a shard over, planned or not: points 3, 5 and 7 of the protocol.
 *
 * Two clients queue for one lock; their tickets and ends are records in the log. Node 0 or 1 owns the shard. It may
 * hand it over to the other, which prepares itself first, and either may crash and come back. A client that is told
 * "not-owner", or whose connection breaks, asks again with its idempotency key.
 *
 * - holds   noDeadlock
 * - holds   noCycle
 * - finds   SERVE_PREPARED TAIL_ONLY CLOSED_IS_LEFT
 * - finds   ONE_SUCCESSOR for noDeadlock
 * - finds   LEAVE_PARKED for noDeadlock
 * - reaches handedOver placeKept crashedBetween tail trimmedMeanwhile flightAtStop
 */

#define NODES 2
#define CLIENTS 2
#define RECORDS 6
#ifndef HANDOVERS
#define HANDOVERS 3
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define SNAPSHOTS 2

mtype = { nothing, handedOver, placeKept, crashedBetween, tail, trimmedMeanwhile, flightAtStop };
#ifndef REACH
#define REACH nothing
#endif
#define reached(name) assert(name != REACH)

/* Records: a client's ticket is queued; its transition ends; its ticket is given up because it has left. */
#define ticketOf(client) ((client) + 1)
#define endOf(client) ((client) + 3)
#define leftOf(client) ((client) + 5)

/* etcd. */
byte owner;                      /* 0: there is no owner key; else the tenure */
byte ownerNode;
byte claims;
byte head;
byte history[RECORDS + 1];       /* everything committed; what of it is in the log begins after the snapshot */
byte snapshotAt;
byte snapshots;
byte tenureOfFlight[NODES];      /* a commit that is on its way to etcd; 0: none */
byte recordInFlight[NODES];

typedef Node {
    bool crashed;
    byte serving;                /* the tenure; 0: none */
    bool loaded;
    bool stops;                  /* admission is stopped, for a planned handing over */
    byte prepared;               /* up to where it has read ahead; only the successor does */
    bool isPrepared;
    byte length;                 /* of what its engine has applied */
    byte record[RECORDS + 1]
}
Node node[NODES];
byte asks[CLIENTS];              /* the node that a client waits for, plus 1; 0: none */
bool granted[CLIENTS];           /* it has been told so */
bool done[CLIENTS];              /* it has been told that its transition has ended */
byte handovers;
byte crashes;
bool calm;                       /* there are no more wishes, snapshots and crashes */

byte each;

#define N node[self]
#define accepts(n) (node[n].serving != 0 && node[n].loaded && !node[n].stops && !node[n].crashed)

/* What the engine of a node knows. */
#define isAt(n, place, kind) (node[n].length >= place && node[n].record[place] == kind)
#define knows(n, kind) \
    (isAt(n, 1, kind) || isAt(n, 2, kind) || isAt(n, 3, kind) || \
        isAt(n, 4, kind) || isAt(n, 5, kind) || isAt(n, 6, kind))
#define isQueued(n, client) (knows(n, ticketOf(client)) && !knows(n, endOf(client)) && !knows(n, leftOf(client)))
/* The first ticket in the log that hasn't ended is granted. */
#define placeOf(n, client) \
    (isAt(n, 1, ticketOf(client)) -> 1 : (isAt(n, 2, ticketOf(client)) -> 2 : (isAt(n, 3, ticketOf(client)) -> 3 : 4)))
#define isGranted(n, client) \
    (isQueued(n, client) && (!isQueued(n, 1 - client) || placeOf(n, client) < placeOf(n, 1 - client)))

#ifdef ONE_SUCCESSOR
/* The fault: after a planned handing over, only the node that has prepared itself claims. */
byte successor;
#define mayClaim(n) (successor == 0 || successor == n + 1)
#define nameSuccessor(n) successor = n + 1
#else
#define mayClaim(n) true
#define nameSuccessor(n) skip
#endif
#ifdef LEAVE_PARKED
#define isToBeAnswered false
#define areAnswered(self) true
#else
#define isToBeAnswered true
#define areAnswered(self) (asks[0] != self + 1 && asks[1] != self + 1)
#endif

/* The engine of an owner is what has been committed. */
inline checkEngine(self) {
    if
    :: N.serving == owner && tenureOfFlight[self] == 0 ->
        assert(N.length == head);
        for (each : 1 .. head) { assert(N.record[each] == history[each]) }
        each = 0
    :: else
    fi
}

inline send(self, what) {
    tenureOfFlight[self] = N.serving;
    recordInFlight[self] = what
}

inline discard(self) {
    N.serving = 0;
    N.loaded = false;
    N.stops = false;
    N.length = 0;
    for (each : 1 .. RECORDS) { N.record[each] = 0 }
    each = 0
}

/* Its clients hear "not-owner", or that the connection is closed. */
inline release(self) {
    for (each : 0 .. CLIENTS - 1) {
        if :: asks[each] == self + 1 -> asks[each] = 0 :: else fi
    }
    each = 0
}

#define mayAct(self, client) (asks[client] == self + 1 && accepts(self) && tenureOfFlight[self] == 0)

/* What the engine of `self` does about the client that waits for it. */
proctype Engine(byte self; byte client) {
end:
    do
    :: d_step {
        mayAct(self, client) && !knows(self, endOf(client)) &&
            !isQueued(self, client) ->
            checkEngine(self);
            send(self, ticketOf(client))
        }
    :: d_step {
        mayAct(self, client) && isGranted(self, client) && owner == N.serving &&
            !granted[client] ->
            checkEngine(self);
            /* Who queued first, according to what was committed, is first. */
            for (each : 1 .. head) {
                if
                :: history[each] == ticketOf(client) -> break
                :: else ->
                    assert(history[each] != ticketOf(1 - client) || knows(self, endOf(1 - client)))
                fi
            }
            each = 0;
            assert(!granted[1 - client] || done[1 - client] || knows(self, endOf(1 - client)));
            if :: claims > 1 && crashes == 0 -> reached(placeKept) :: else fi;
            granted[client] = true;
            asks[client] = 0
        }
    /* It has asked for the end. */
    :: d_step {
        mayAct(self, client) && isGranted(self, client) && granted[client] ->
            send(self, endOf(client))
        }
    :: d_step {
        mayAct(self, client) && knows(self, endOf(client)) && owner == N.serving ->
            assert(granted[client]);
            done[client] = true;
            asks[client] = 0
        }
    /* Admission is stopped: those that are parked are answered. */
    :: d_step {
        asks[client] == self + 1 && N.stops && tenureOfFlight[self] == 0 && isToBeAnswered ->
#ifdef CLOSED_IS_LEFT
            if :: isQueued(self, client) && !granted[client] -> send(self, leftOf(client)) :: else fi;
#endif
            asks[client] = 0
        }
    od
}

/* A client asks whoever would take it, until its transition has ended. */
proctype Client(byte client) {
    do
    :: done[client] -> break
    :: d_step { !done[client] && asks[client] == 0 && accepts(0) -> asks[client] = 1 }
    :: d_step { !done[client] && asks[client] == 0 && accepts(1) -> asks[client] = 2 }
    od
}

/* The commit of a node, in etcd; and what the node hears of it. */
proctype Commit(byte self) {
end:
    do
    :: d_step {
        tenureOfFlight[self] != 0 && tenureOfFlight[self] == owner ->
            assert(head < RECORDS);
            head++;
            history[head] = recordInFlight[self];
            /* A client that asks again keeps its place; nothing is done twice. */
            assert(recordInFlight[self] < leftOf(0));
            for (each : 1 .. head - 1) { assert(history[each] != history[head]) }
            each = 0;
            if
            :: N.serving == owner -> N.length++; N.record[N.length] = recordInFlight[self]
            :: else
            fi;
            tenureOfFlight[self] = 0;
            recordInFlight[self] = 0
        }
    :: d_step {
        tenureOfFlight[self] != 0 && tenureOfFlight[self] != owner ->
            if :: N.serving == tenureOfFlight[self] -> discard(self); release(self) :: else fi;
            tenureOfFlight[self] = 0;
            recordInFlight[self] = 0
        }
    od
}

proctype Shard(byte self) {
end:
    do
    :: d_step {
        owner == 0 && !N.crashed && N.serving == 0 && mayClaim(self) ->
            claims++;
            owner = claims;
            assert(claims < 10);
            ownerNode = self;
            N.serving = owner;
            N.stops = false;
            /* The one that has read ahead is late: it begins again, or no longer wants the shard. (Were it to ask the
               claimer at once, the shard could go back and forth for ever.) */
            node[1 - self].isPrepared = false;
            node[1 - self].prepared = 0
        }
    /* It reads what it doesn't have, at the claim's revision. */
    :: d_step {
        N.serving != 0 && !N.loaded ->
            if
            :: N.isPrepared && N.prepared < head -> reached(tail)
            :: else
            fi;
            if
            :: N.isPrepared && N.prepared < snapshotAt -> reached(trimmedMeanwhile)
            :: else
            fi;
            for (each : 1 .. head) {
                N.record[each] = history[each];
#ifdef TAIL_ONLY
                /* What is in a snapshot isn't in the log. */
                if :: N.isPrepared && each > N.prepared && each <= snapshotAt -> N.record[each] = 0 :: else fi;
#endif
            }
            each = 0;
#ifdef SERVE_PREPARED
            N.length = (N.isPrepared -> N.prepared : head);
#else
            N.length = head;
#endif
            N.isPrepared = false;
            N.prepared = 0;
            N.loaded = true
        }

    /* The successor has read ahead: the owner is asked to stop. */
    :: d_step {
        N.isPrepared && accepts(1 - self) ->
            node[1 - self].stops = true;
            if :: tenureOfFlight[1 - self] != 0 -> reached(flightAtStop) :: else fi
        }
    /* The parked are answered and the commit has finished: it deletes its key. */
    :: d_step {
        N.serving != 0 && N.stops && tenureOfFlight[self] == 0 && areAnswered(self) ->
            if :: owner == N.serving -> owner = 0; nameSuccessor(1 - self); reached(handedOver) :: else fi;
            discard(self)
        }
    od
}

/* A wish to take the shard from the other node; the state is read ahead. */
proctype Wish(byte self) {
end:
    do
    :: d_step {
        !calm && accepts(1 - self) && owner == node[1 - self].serving && N.serving == 0 && !N.crashed &&
            !N.isPrepared && handovers < HANDOVERS ->
            handovers++;
            N.isPrepared = true;
            N.prepared = head
        }
    od
}

/* Snapshots, where they matter; crashes, and the ends of leases. After any number of wishes,
   snapshots and crashes there may be no more. (Where deadlocks are sought, what can happen counts as something that
   will.) */
active proctype Calm() {
end:
    calm = true
}

proctype Snapshots() {
end:
    do
    :: d_step {
        !calm && snapshots < SNAPSHOTS && owner != 0 && head > snapshotAt &&
            (node[0].isPrepared || node[1].isPrepared) ->
            snapshots++;
            snapshotAt = head
        }
    od
}

proctype Crashes(byte self) {
end:
    do
    :: d_step {
        !calm && crashes < CRASHES && !N.crashed ->
            if :: owner == 0 && handovers > 0 && N.isPrepared -> reached(crashedBetween) :: else fi;
            crashes++;
            N.crashed = true;
            N.isPrepared = false;
            N.prepared = 0;
            discard(self);
            release(self)
        }
    od
}

proctype Lease(byte self) {
end:
    do
    :: d_step { N.crashed && owner != 0 && ownerNode == self -> owner = 0 }
    od
}

init {
    byte number;
    atomic {
        claims = 1;
        owner = 1;
        node[0].serving = 1;
        node[0].loaded = true;
        for (number : 0 .. 1) {
            run Engine(number, 0);
            run Engine(number, 1);
            run Client(number);
            run Commit(number);
            run Shard(number);
            run Wish(number);
            run Crashes(number);
            run Lease(number)
        }
        number = 0;
        run Snapshots()
    }
}
