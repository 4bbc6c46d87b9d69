/*
 * Snapshots, trimming and claims of one shard: points 5, 7 and 10 of the protocol.
 *
 * A snapshot is written in two chunks while commits go on; then one transaction puts the manifest and deletes the
 * older chunks and the log up to it. Requests are late or lost, so those of an earlier tenure arrive in a later one.
 * Every claim, at any moment, must find all of the shard's history at its revision.
 *
 * - holds   safety
 * - finds   TRIM_BEFORE_MANIFEST MANIFEST_UNGUARDED MANIFEST_BEFORE_CHUNKS CHUNKS_UNGUARDED READ_AT_TWO_REVISIONS
 * - finds   TRIMMED_IS_ABSENT
 * - reaches twice lateChunk lateManifest grownMeanwhile unresolved
 */

#define TENURES 3
#define HISTORY 4

mtype = { nothing, twice, lateChunk, lateManifest, grownMeanwhile, unresolved };
#ifndef REACH
#define REACH nothing
#endif
#define reached(name) assert(name != REACH)

/* etcd. The manifest, and each chunk, say of which tenure they are, and up to which sequence. */
byte tenure = 1;                    /* create_revision of the owner key; only its owner commits */
byte head;
bool log[HISTORY + 1];              /* is log/<sequence> there? */
byte author[HISTORY + 1];           /* the tenure that has committed it: what a record says, as far as it matters */
byte manifestAt;
byte manifestTenure;
byte chunkAt[2];
byte chunkTenure[2];
byte olderAt[2];                    /* the chunks of the snapshot before, which the manifest deletes */
byte olderTenure[2];

/* The writer of snapshots in each tenure. */
byte snapshotAt[TENURES + 1];       /* up to where it writes; 0: it doesn't */
byte sentChunks[TENURES + 1];       /* a bit each */
byte putChunks[TENURES + 1];
bool sentManifest[TENURES + 1];
byte manifests;

/* An owner that doesn't know the outcome of its commit: its tenure and the sequence. */
byte doubtful;
byte doubtfulAt;

byte each;

#define isFound(at, tenureOfIt, number) \
    ((chunkAt[number] == at && chunkTenure[number] == tenureOfIt) || \
        (olderAt[number] == at && olderTenure[number] == tenureOfIt))

/* What a claim at this revision would find. */
inline checkRecoverable() {
    assert(manifestAt == 0 || (isFound(manifestAt, manifestTenure, 0) && isFound(manifestAt, manifestTenure, 1)));
    for (each : 1 .. HISTORY) {
        assert(each > head || each <= manifestAt || log[each])
    }
    each = 0
}

#ifdef MANIFEST_UNGUARDED
#define manifestPasses(era) true
#else
#define manifestPasses(era) (era == tenure)
#endif
#ifdef CHUNKS_UNGUARDED
#define chunkPasses(era) true
#else
#define chunkPasses(era) (era == tenure)
#endif
#ifdef MANIFEST_BEFORE_CHUNKS
#define chunksArePut(era) (sentChunks[era] == 3)
#else
#define chunksArePut(era) (putChunks[era] == 3)
#endif

inline trim(at) {
    for (each : 1 .. at) { log[each] = false }
    each = 0
}

/* Chunk keys are named by number and by which of two generations they are of, not by tenure. */
inline putChunk(era, number) {
    if
    :: chunkPasses(era) ->
        if :: era != tenure -> reached(lateChunk) :: else fi;
        chunkAt[number] = snapshotAt[era];
        chunkTenure[number] = era;
        putChunks[era] = putChunks[era] | (1 << number)
    :: else -> reached(lateChunk)
    fi
}

proctype Snapshot(byte era) {
end:
    do
    :: d_step {
        era == tenure && snapshotAt[era] == 0 && head > manifestAt && manifests < 2 ->
            snapshotAt[era] = head;
            /* The chunks in use stay until the manifest names others. */
            if
            :: manifestAt != 0 && chunkAt[0] == manifestAt && chunkTenure[0] == manifestTenure &&
                chunkAt[1] == manifestAt && chunkTenure[1] == manifestTenure ->
                for (each : 0 .. 1) {
                    olderAt[each] = chunkAt[each];
                    olderTenure[each] = chunkTenure[each];
                    chunkAt[each] = 0;
                    chunkTenure[each] = 0
                }
                each = 0
            :: else
            fi
        }
    :: d_step {
        snapshotAt[era] != 0 && !(sentChunks[era] & 1) && era == tenure ->
            sentChunks[era] = sentChunks[era] | 1
        }
    :: d_step {
        snapshotAt[era] != 0 && !(sentChunks[era] & 2) && era == tenure ->
            sentChunks[era] = sentChunks[era] | 2
        }
    :: d_step { (sentChunks[era] & 1) && !(putChunks[era] & 1) -> putChunk(era, 0); checkRecoverable() }
    :: d_step { (sentChunks[era] & 2) && !(putChunks[era] & 2) -> putChunk(era, 1); checkRecoverable() }
    :: d_step {
        snapshotAt[era] != 0 && chunksArePut(era) && era == tenure && !sentManifest[era] ->
            sentManifest[era] = true;
            if :: head > snapshotAt[era] -> reached(grownMeanwhile) :: else fi;
#ifdef TRIM_BEFORE_MANIFEST
            trim(snapshotAt[era]);
            checkRecoverable();
#endif
        }
    :: d_step {
        sentManifest[era] ->
            if
            :: manifestPasses(era) ->
                if :: manifestAt != 0 -> reached(twice) :: else fi;
                manifestAt = snapshotAt[era];
                manifestTenure = era;
                olderAt[0] = 0; olderTenure[0] = 0;
                olderAt[1] = 0; olderTenure[1] = 0;
                trim(snapshotAt[era]);
                manifests++
            :: else -> reached(lateManifest)
            fi;
            /* This tenure's next snapshot. */
            sentManifest[era] = false;
            snapshotAt[era] = 0;
            sentChunks[era] = 0;
            putChunks[era] = 0;
            checkRecoverable()
        }
    od
}

proctype Shard() {
end:
    do
    :: d_step { head < HISTORY -> head++; log[head] = true; author[head] = tenure }
    :: d_step { tenure < TENURES -> tenure++; checkRecoverable() }
    /* A commit is applied, and its node doesn't hear of it. Or it isn't, and its node doesn't know either. */
    :: d_step {
        doubtful == 0 && head < HISTORY ->
            doubtful = tenure;
            doubtfulAt = head + 1;
            head++;
            log[head] = true;
            author[head] = tenure
        }
    :: d_step { doubtful == 0 && head < HISTORY -> doubtful = tenure; doubtfulAt = head + 1 }
    /* create_revision has changed, so that what is in the log is final. What is no longer in the log isn't. */
    :: d_step {
        doubtful != 0 && doubtful < tenure ->
#ifdef TRIMMED_IS_ABSENT
            if
            :: !log[doubtfulAt] -> assert(doubtfulAt > head || author[doubtfulAt] != doubtful)
            :: else
            fi;
#else
            if
            :: doubtfulAt <= manifestAt -> reached(unresolved)
            :: doubtfulAt > manifestAt && !log[doubtfulAt] -> assert(doubtfulAt > head)
            :: else
            fi;
#endif
            doubtful = 0;
            doubtfulAt = 0
        }
    od
}

#ifdef READ_AT_TWO_REVISIONS
/* The fault: a node that prepares itself reads the manifest, and later the log as it is then. */
active proctype Reader() {
    byte at;
    at = manifestAt;
    d_step {
        for (each : 1 .. HISTORY) {
            assert(each > head || each <= at || log[each])
        }
        each = 0
    }
}
#endif

init {
    byte number;
    atomic {
        for (number : 1 .. TENURES) { run Snapshot(number) }
        number = 0;
        run Shard()
    }
}
