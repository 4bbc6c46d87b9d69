internal import ArbiterCore
internal import Dispatch
internal import Logging

// Commits groups of records.

extension LogJournal {
    /// What the queue does next.
    private enum Step {
        case task(@Sendable () -> Void)
        case group([JournalEntry])
    }

    /// Commits on the journal's queue until nothing is pending.
    func commitPending() {
        while let step = nextStep() {
            switch step {
            case .task(let task): task()
            case .group(let records): commit(records)
            }
        }
    }

    /// Commits on the thread that flushes; what has gathered after a few groups is left to the queue.
    func commitAtOnce() {
        for _ in 0..<Self.groupsAtOnce {
            guard let records = state.withLock({ $0.isFree ? nextGroup(in: &$0) : nil }) else { break }
            commit(records)
        }
        let isDone = state.withLock { state in
            state.isCommitting = !state.pending.isEmpty || !state.tasks.isEmpty
            return !state.isCommitting
        }
        if !isDone { queue.async { self.commitPending() } }
    }

    private func nextStep() -> Step? {
        state.withLock { state in
            guard state.tasks.isEmpty else { return .task(state.tasks.removeFirst()) }
            let records = nextGroup(in: &state)
            state.isCommitting = records != nil
            return records.map { .group($0) }
        }
    }

    /// The pending records, up to the limit of a group or a change of the rules; `nil` if there are none.
    private func nextGroup(in state: inout State) -> [JournalEntry]? {
        guard !state.pending.isEmpty else { return nil }
        let count = min(Self.recordsInGroup, RecordBatch.lengthUnderSameRules(state.pending))
        guard count < state.pending.count else {
            defer { (state.pending, state.spare) = (state.spare, []) }
            return state.pending
        }
        defer { state.pending.removeFirst(count) }
        return Array(state.pending.prefix(count))
    }

    /// Commits a group and reports it; or reports that it cannot be committed.
    private func commit(_ records: consuming [JournalEntry]) {
        let begun = ContinuousClock.now
        guard let last = records.last?.sequence else { return }
        let bytes: Int
        do throws(JournalError) {
            bytes = try write(records)
        } catch {
            return fail(error)
        }
        let committed = state.withLock { state in
            state.last = last
            state.bytes += bytes
            return state.committed
        }
        metrics.commits.observe(begun.duration(to: .now))
        metrics.groups.observe(records.count)
        metrics.bytes.add(bytes)
        committed(.success(last))
        takeBack(records)
        compactIfDue()
    }

    /// Appends a group to the log, which the first one begins.
    ///
    /// - Returns: the bytes of the records.
    private func write(_ records: [JournalEntry]) throws(JournalError) -> Int {
        guard state.withLock({ $0.header != nil }) else { return try beginLog(with: records) }
        return try output.withLock { writer throws(JournalError) in
            // Appending in place: a copy of the writer would copy its memory.
            guard let bytes = try writer?.append(records, synchronizing: durability == .power) else {
                throw Self.vanished(storage)
            }
            guard writer?.isInPlace == true else { throw Self.vanished(storage) }
            return bytes
        }
    }

    /// Keeps the memory of a group that is committed, unless it is large.
    private func takeBack(_ records: consuming [JournalEntry]) {
        guard records.capacity <= Self.recordsKept else { return }
        records.removeAll(keepingCapacity: true)
        let emptied = records
        state.withLock { $0.spare = emptied }
    }

    /// Stops after a failed write: the pending records are dropped, and nothing is committed any more.
    func fail(_ error: JournalError) {
        let committed = state.withLock { state -> (@Sendable (Result<UInt64, JournalError>) -> Void)? in
            state.pending = []
            return state.life.advance(to: .failed) ? state.committed : nil
        }
        guard let committed else { return }
        metrics.failures.add()
        logger.critical("the journal cannot be written", metadata: ["reason": "\(error.reason)"])
        committed(.failure(error))
    }

    /// Runs a closure on the journal's queue, between two commits.
    func betweenCommits(_ task: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            state.tasks.append(task)
            defer { state.isCommitting = true }
            return !state.isCommitting
        }
        if isIdle { queue.async { self.commitPending() } }
    }

    /// Runs a closure when everything that is pending has been committed, and waits for it.
    func betweenCommitsAndWait(_ task: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        betweenCommits {
            while let records = self.state.withLock({ self.nextGroup(in: &$0) }) { self.commit(records) }
            task()
            done.signal()
        }
        done.wait()
    }
}

// MARK: - The log of this process

extension LogJournal {
    /// Begins the log of this process with its first group.
    ///
    /// If records may be missing, that group has the record that makes up for them, so the log gets its name with the group
    /// in it: until then, a start would find everything as this one did.
    private func beginLog(with records: [JournalEntry]) throws(JournalError) -> Int {
        let found = try read()
        guard isInPlace(found.newest) else { throw Self.vanished(storage) }
        let old = found.newest?.file
        if let old, let range = found.tail.range {
            try keep(old.read(range.count, at: range.lowerBound), after: found.last)
        }
        // What was committed without waiting for the disk must not be lost when what follows is not.
        if let old { try store(old, found) }
        for name in try LogFiles(in: storage).unfinished.logs { try storage.remove(name) }
        let header = LogHeader(
            journal: found.journal ?? .random(in: 1 ... .max), boot: boot, first: found.last + 1, durability: durability
        )
        let writer = try LogWriter(header, records, in: storage)
        let bytes = writer.end - LogFormat.headerBytes - LogFormat.groupFrameBytes
        // The closing group goes: if the new log is lost, the journal must not seem to have been closed.
        if let closing = found.closing, writer.name != found.newest?.name { try old?.truncate(to: closing) }
        let isInPlace = writer.isInPlace
        output.withLock { output in
            output?.close()
            output = writer
        }
        state.withLock { state in
            state.header = header
            // The file may go now.
            state.found?.newest = nil
            if state.needed.logs.last != header.first { state.needed.logs.append(header.first) }
        }
        guard isInPlace else { throw Self.vanished(storage) }
        compaction.async { self.removeReplaced() }
        return bytes
    }

    /// What the files have, which are read if they have not been.
    private func read() throws(JournalError) -> LogReader.Found {
        if let found = state.withLock({ $0.found }) { return found }
        _ = try replay { _ in
        } _: { _ in
        }
        return state.withLock { $0.found } ?? LogReader.Found()
    }

    /// Has the groups of an earlier log on the disk, before another log goes on behind them.
    ///
    /// When the disk has refused a part of a file, Linux takes that part for stored: it is read as it was written until the
    /// machine dies, and no synchronization stores it. Nobody knows whether that has happened to the process before, so the
    /// groups are written again, as they are. After a boot they come from the disk, and the one that closes a log is only kept if
    /// the disk has everything.
    private func store(_ old: any StoredFile, _ found: LogReader.Found) throws(JournalError) {
        if found.header?.boot == boot, found.closing == nil {
            for start in stride(from: 0, to: found.end, by: LogFormat.bytesAtOnce) {
                try old.write(try old.read(min(LogFormat.bytesAtOnce, found.end - start), at: start), at: start)
            }
        }
        try old.synchronize()
    }

    /// Stores the end of a log that is cut off, where a person can examine it.
    private func keep(_ torn: [UInt8], after last: UInt64) throws(JournalError) {
        let name = LogFormat.torn(last + 1)
        logger.warning(
            "the end of the journal is torn and is cut off",
            metadata: ["after": "\(last)", "bytes": "\(torn.count)", "kept": "\(storage.path)/\(name)"])
        let file = try storage.create(name, appends: false)
        defer { file.close() }
        try file.write(torn, at: 0)
        try file.synchronize()
    }

    /// Ends the log, and notes in it that the journal was closed.
    ///
    /// If that cannot be written, the next start takes this process for one that was killed.
    func finish() {
        let isWhole = state.withLock { $0.header != nil && $0.life < .failed }
        do {
            try output.withLock { writer throws(JournalError) in
                defer {
                    writer?.close()
                    writer = nil
                }
                guard isWhole, writer?.isBroken == false else { return }
                try writer?.finish()
                _ = try writer?.append([], synchronizing: true)
            }
        } catch {
            logger.error("the journal was not closed", metadata: ["reason": "\(error.reason)"])
        }
    }
}

// MARK: - Looking

extension LogJournal {
    /// Checks at intervals that the files are those that a start would find.
    func lookLater() {
        guard let lookEvery else { return }
        let next = DispatchTime.now() + .nanoseconds(Int(lookEvery.wholeNanoseconds))
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: next) { [weak self] in
            guard let self, state.withLock({ $0.life == .open }) else { return }
            betweenCommits { [weak self] in self?.look() }
        }
    }

    private func look() {
        guard state.withLock({ $0.life == .open }) else { return }
        guard isUnchanged() else { return fail(Self.vanished(storage)) }
        lookLater()
    }

    /// Whether the newest log is the one that was read, if it has been read and nothing was written since.
    private func isInPlace(_ newest: (file: any StoredFile, name: String, size: Int)?) -> Bool {
        newest.map { $0.file.isInPlace(as: $0.name, size: $0.size) } ?? true
    }

    private func isUnchanged() -> Bool {
        let (header, needed, newest) = state.withLock { ($0.header, $0.needed, $0.found?.newest) }
        if let header {
            guard output.withLock({ $0?.isUnchanged(header) }) == true else { return false }
        }
        guard isInPlace(newest) else { return false }
        // If the directory cannot be listed, for want of descriptors perhaps, the next look tells.
        guard let files = try? LogFiles(in: storage) else { return true }
        let isComplete =
            Set(files.logs).isSuperset(of: needed.logs)
            && (needed.snapshot == 0 || files.snapshots.contains(needed.snapshot))
        // A compaction may have removed what was needed before.
        return isComplete || state.withLock { $0.needed } != needed
    }
}
