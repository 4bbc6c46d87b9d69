/*
 * Ownership and commits of one shard: points 4, 5 and 7 of the protocol.
 *
 * etcd is one linearizable store. Nodes claim the shard and commit to its log. A request to etcd that was sent once
 * may be carried out at any moment from then on, any number of times: so it is late, doubled, sent again, or lost.
 * Answers are late or lost. Leases end at any moment; nodes stop, and claim again, at any moment. Clients ask for
 * each operation until it is acknowledged, at any node that serves.
 *
 * - holds   safety
 * - finds   GUARD_BY_VALUE GUARD_WITHOUT_HEAD RESOLVE_BY_READING RESOLVE_BY_READING_AS_OWNER SERVE_TENURE_AGAIN
 * - finds   ACKNOWLEDGE_EARLY
 * - reaches late repeated refusedForGood committedThoughOver sameNodeAgain claimedUnawares everything
 */

#define NODES 2
#define TENURES 3
#define OPERATIONS 3
#define REQUESTS (TENURES * OPERATIONS)

mtype = { nothing, late, repeated, refusedForGood, committedThoughOver, sameNodeAgain, claimedUnawares, everything };
#ifndef REACH
#define REACH nothing
#endif
/* What the model must be able to do: a run with -DREACH= this name has to fail. */
#define reached(name) assert(name != REACH)

/* A tenure commits each operation at most once, so tenure and operation stand for the bytes of a commit; 0 is none. */
#define requestOf(tenure, operation) (((tenure) - 1) * OPERATIONS + (operation))
#define tenureOf(request) (((request) - 1) / OPERATIONS + 1)
#define operationOf(request) (((request) - 1) % OPERATIONS + 1)
#define bit(operation) (1 << ((operation) - 1))

/* etcd. */
byte owner;                    /* create_revision of the owner key, which names the tenure; 0: there is no such key */
byte claims;                   /* the last create_revision given */
byte nodeOf[TENURES + 1];      /* the value of the owner key in a tenure */
byte headAt[TENURES + 1];      /* head at the revision of the claim */
byte head;
byte log[REQUESTS + 2];        /* the bytes under log/<sequence>; 0: there is no such key */

/* The network. */
bool sent[REQUESTS + 1];       /* a commit has been sent, and copies of it may be on their way */
byte previous[REQUESTS + 1];   /* the head that it compares */

/* The nodes. */
byte serving[NODES];           /* the tenure that a node believes itself in; 0: none */
byte served[NODES];            /* the last tenure that it has served */
byte headOf[NODES];            /* the last sequence of its engine */
byte state[NODES];             /* the operations that its engine has applied, a bit each */
byte flight[NODES];            /* the commit in flight; 0: none */

/* What was concluded. */
bool refused[REQUESTS + 1];    /* a node takes it that this commit is not in the log and never will be */
byte acknowledged;             /* operations of which a client has heard that they are committed, a bit each */

byte sequence;

#ifdef GUARD_BY_VALUE
#define ownerMatches(request) (owner != 0 && nodeOf[owner] == nodeOf[tenureOf(request)])
#else
#define ownerMatches(request) (owner == tenureOf(request))
#endif
#ifdef GUARD_WITHOUT_HEAD
#define headMatches(request) true
#else
#define headMatches(request) (head == previous[request])
#endif
#ifdef SERVE_TENURE_AGAIN
#define mayServe(node, tenure) true
#else
#define mayServe(node, tenure) (tenure > served[node])
#endif

/* etcd carries out one copy of a commit. */
inline carryOut(request) {
    if
    :: ownerMatches(request) && headMatches(request) ->
        assert(tenureOf(request) == owner);        /* no commit of an old tenure is applied after a new claim */
        assert(previous[request] == head);         /* no holes, and the head doesn't go back */
        assert(log[previous[request] + 1] == 0);   /* nothing is overwritten */
        assert(!refused[request]);                 /* what was taken for refused stays so */
        for (sequence : 1 .. head) {
            /* No operation is applied twice. */
            assert(operationOf(log[sequence]) != operationOf(request))
        }
        if :: flight[nodeOf[tenureOf(request)]] != request -> reached(late) :: else fi;
        head = previous[request] + 1;
        log[head] = request;
        if :: head == OPERATIONS && owner == TENURES -> reached(everything) :: else fi
    :: else ->
        if :: owner == tenureOf(request) -> reached(repeated) :: else fi;
        /* While its tenure lasts, a commit fails only because it has been applied. */
        assert(owner != tenureOf(request) || log[previous[request] + 1] == request)
    fi;
    sequence = 0
}

/* The copies of one commit. */
proctype Commit(byte request) {
end:
    do
    :: d_step { sent[request] -> carryOut(request) }
    od
}

/* A node stops and discards its engine, whatever is on its way. */
inline stop(node) {
    served[node] = serving[node];
    serving[node] = 0;
    headOf[node] = 0;
    state[node] = 0;
    flight[node] = 0
}

inline start(node) {
    serving[node] = owner;
    /* It reads snapshot and log at the claim's revision. (An engine that serves a tenure again, which is a fault, reads
       them as they are now.) */
    headOf[node] = (owner == served[node] -> head : headAt[owner]);
    for (sequence : 1 .. headOf[node]) {
        state[node] = state[node] | bit(operationOf(log[sequence]))
    }
    sequence = 0
}

inline commit(node, operation) {
    /* While it owns the shard, a node's engine is what is in the log. */
    assert(serving[node] != owner || headOf[node] == head);
    for (sequence : 1 .. headOf[node]) {
        assert(state[node] & bit(operationOf(log[sequence])))
    }
    sequence = 0;
    flight[node] = requestOf(serving[node], operation);
    previous[flight[node]] = headOf[node];
    sent[flight[node]] = true;
#ifdef ACKNOWLEDGE_EARLY
    acknowledged = acknowledged | bit(operation)
#endif
}

#define mayCommit(node, operation) \
    (serving[node] != 0 && flight[node] == 0 && !(state[node] & bit(operation)) && \
        !sent[requestOf(serving[node], operation)])

proctype Node(byte node) {
end:
    do
    /* A claim of this node succeeds: one that it has just sent, or one of which it has long heard "unknown". */
    :: d_step {
        owner == 0 && claims < TENURES ->
            claims++;
            owner = claims;
            nodeOf[owner] = node;
            headAt[owner] = head;
            if :: owner > 1 && nodeOf[owner - 1] == node -> reached(sameNodeAgain) :: else fi;
            if :: serving[node] != 0 -> reached(claimedUnawares) :: else fi
        }
    /* Its lease ends, whatever its clock says; or it deletes the key of a tenure whose engine is discarded. */
    :: d_step { owner != 0 && nodeOf[owner] == node -> owner = 0 }
    /* It learns that the key is there and its own, from the answer or by reading. */
    :: d_step { serving[node] == 0 && owner != 0 && nodeOf[owner] == node && mayServe(node, owner) -> start(node) }

    :: d_step { mayCommit(node, 1) -> commit(node, 1) }
    :: d_step { mayCommit(node, 2) -> commit(node, 2) }
    :: d_step { mayCommit(node, 3) -> commit(node, 3) }

    /* etcd has answered "succeeded", or else that the log key holds these bytes. */
    :: d_step {
        flight[node] != 0 && log[previous[flight[node]] + 1] == flight[node] ->
            headOf[node]++;
            assert(headOf[node] == previous[flight[node]] + 1);
            state[node] = state[node] | bit(operationOf(flight[node]));
            acknowledged = acknowledged | bit(operationOf(flight[node]));
            flight[node] = 0
        }
    /* create_revision has changed: now, and only now, is what the log says final. */
    :: d_step {
        flight[node] != 0 && owner != serving[node] ->
            if
            :: log[headOf[node] + 1] == flight[node] ->
                acknowledged = acknowledged | bit(operationOf(flight[node]));
                reached(committedThoughOver)
            :: else ->
                refused[flight[node]] = true;
                reached(refusedForGood)
            fi;
            stop(node)
        }
#ifdef RESOLVE_BY_READING
    :: d_step { flight[node] != 0 && log[headOf[node] + 1] == 0 -> refused[flight[node]] = true; flight[node] = 0 }
#endif
#ifdef RESOLVE_BY_READING_AS_OWNER
    /* The same reading says that the node still owns the shard, and yet it proves nothing. */
    :: d_step {
        flight[node] != 0 && log[headOf[node] + 1] == 0 && owner == serving[node] ->
            refused[flight[node]] = true;
            flight[node] = 0
        }
#endif

    /* A client asks again for what the engine has applied. (May the answer leave? See answers.pml.) */
    :: d_step { (state[node] & ~acknowledged) != 0 -> acknowledged = acknowledged | state[node] }

    /* Its clock stops it, or its process dies. */
    :: d_step { serving[node] != 0 -> stop(node) }
    od
}

/* At any moment: the log has no hole, and everything that was acknowledged is in it. */
proctype Watch() {
    byte present;
    d_step {
        for (sequence : 1 .. head) {
            assert(log[sequence] != 0);
            present = present | bit(operationOf(log[sequence]))
        }
        assert((acknowledged & ~present) == 0);
        sequence = 0;
        present = 0
    }
}

init {
    byte number;
    atomic {
        for (number : 1 .. REQUESTS) { run Commit(number) }
        for (number : 0 .. NODES - 1) { run Node(number) }
        number = 0;
        run Watch()
    }
}
