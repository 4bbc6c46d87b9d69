extension Record: BinaryCodable {
    /// The first byte of a record; a code is never changed or used again, so that every journal can be read.
    private enum Code {
        static let start: UInt8 = 0
        static let serialize: UInt8 = 1
        static let end: UInt8 = 2
        static let expire: UInt8 = 3
        static let distrust: UInt8 = 4
        static let resume: UInt8 = 5
        static let declare: UInt8 = 6
        static let delete: UInt8 = 7
        static let decide: UInt8 = 8
        static let markReady: UInt8 = 9
        static let timeOutParticipants: UInt8 = 10
        static let openSession: UInt8 = 11
        static let endSession: UInt8 = 12
        static let revoke: UInt8 = 13
        static let skipFences: UInt8 = 14
        static let stop: UInt8 = 15
        static let expireUnclaimed: UInt8 = 16
        static let patch: UInt8 = 17
        static let adopt: UInt8 = 18
        static let perform: UInt8 = 19
        static let markGone: UInt8 = 20
        static let interrupt: UInt8 = 21
        static let endInterrupted: UInt8 = 22
        static let veto: UInt8 = 23
        static let answerGuards: UInt8 = 24
        static let addGuard: UInt8 = 25
        static let removeGuard: UInt8 = 26
        static let revokeAll: UInt8 = 27
        static let update: UInt8 = 28
    }

    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .start(let request, let id, let token):
            writer.write(Code.start)
            writer.write(request)
            writer.write(id)
            writer.write(token)
        case .serialize(let request, let id, let token):
            writer.write(Code.serialize)
            writer.write(request)
            writer.write(id)
            writer.write(token)
        case .end(let id, let token, let outcome):
            writer.write(Code.end)
            writer.write(id)
            writer.write(token)
            writer.write(outcome)
        case .revoke(let id, let revocation):
            writer.write(Code.revoke)
            writer.write(id)
            writer.write(revocation)
        case .revokeAll(let scene, let client, let principal, let revocation):
            writer.write(Code.revokeAll)
            writer.write(scene)
            writer.write(client)
            writer.write(principal)
            writer.write(revocation)
        case .update(let id, let update):
            writer.write(Code.update)
            writer.write(id)
            writer.write(update)
        case .expire(let id, let reason):
            writer.write(Code.expire)
            writer.write(id)
            writer.write(reason)
        case .expireUnclaimed(let ids):
            writer.write(Code.expireUnclaimed)
            writer.write(ids)
        case .declare(let scene, let storyboard):
            writer.write(Code.declare)
            writer.write(scene)
            writer.write(storyboard)
        case .patch(let scene, let patch):
            writer.write(Code.patch)
            writer.write(scene)
            writer.write(patch)
        case .delete(let scene):
            writer.write(Code.delete)
            writer.write(scene)
        case .decide(let id, let gesture):
            writer.write(Code.decide)
            writer.write(id)
            writer.write(gesture)
        case .perform(let id, let operation):
            writer.write(Code.perform)
            writer.write(id)
            writer.write(operation)
        case .veto(let id, let client, let reason):
            writer.write(Code.veto)
            writer.write(id)
            writer.write(client)
            writer.write(reason)
        case .answerGuards(let id, let session):
            writer.write(Code.answerGuards)
            writer.write(id)
            writer.write(session)
        case .addGuard(let scene, let new):
            writer.write(Code.addGuard)
            writer.write(scene)
            writer.write(new)
        case .removeGuard(let scene, let id):
            writer.write(Code.removeGuard)
            writer.write(scene)
            writer.write(id)
        case .markReady(let id, let client):
            writer.write(Code.markReady)
            writer.write(id)
            writer.write(client)
        case .markGone(let id, let client):
            writer.write(Code.markGone)
            writer.write(id)
            writer.write(client)
        case .timeOutParticipants(let id):
            writer.write(Code.timeOutParticipants)
            writer.write(id)
        case .interrupt(let id):
            writer.write(Code.interrupt)
            writer.write(id)
        case .endInterrupted(let id):
            writer.write(Code.endInterrupted)
            writer.write(id)
        case .openSession(let client, let timeToLive, let id, let token, let caller):
            writer.write(Code.openSession)
            writer.write(client)
            writer.write(timeToLive)
            writer.write(id)
            writer.write(token)
            writer.write(caller)
        case .endSession(let id, let ending):
            writer.write(Code.endSession)
            writer.write(id)
            writer.writeWord(ending)
        case .distrust(let holdsGrants):
            writer.write(Code.distrust)
            writer.write(holdsGrants)
        case .adopt(let retention):
            writer.write(Code.adopt)
            writer.write(retention)
        case .skipFences:
            writer.write(Code.skipFences)
        case .resume:
            writer.write(Code.resume)
        case .stop:
            writer.write(Code.stop)
        }
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        switch try reader.read(UInt8.self) {
        case Code.start:
            self = .start(try reader.read(), id: try reader.read(), token: try reader.read())
        case Code.serialize:
            self = .serialize(try reader.read(), id: try reader.read(), token: try reader.read())
        case Code.end:
            self = .end(try reader.read(), token: try reader.read(), try reader.read())
        case Code.revoke:
            self = .revoke(try reader.read(), try reader.read())
        case Code.revokeAll:
            self = .revokeAll(
                try reader.read(), client: try reader.readOptional(), ownedBy: try reader.readOptional(),
                try reader.read())
        case Code.update: self = .update(try reader.read(), try reader.read())
        case Code.expire:
            self = .expire(try reader.read(), try reader.read())
        case Code.expireUnclaimed:
            self = .expireUnclaimed(try reader.readArray())
        case Code.declare:
            self = .declare(try reader.read(), try reader.read())
        case Code.patch:
            self = .patch(try reader.read(), try reader.read())
        case Code.delete:
            self = .delete(try reader.read())
        case Code.decide:
            self = .decide(try reader.read(), try reader.read())
        case Code.perform:
            self = .perform(try reader.read(), try reader.read())
        case Code.veto: self = .veto(try reader.read(), by: try reader.read(), try reader.readOptional())
        case Code.answerGuards: self = .answerGuards(try reader.read(), try reader.read())
        case Code.addGuard: self = .addGuard(try reader.read(), try reader.read())
        case Code.removeGuard: self = .removeGuard(try reader.read(), try reader.read())
        case Code.markReady:
            self = .markReady(try reader.read(), client: try reader.read())
        case Code.markGone:
            self = .markGone(try reader.read(), client: try reader.read())
        case Code.timeOutParticipants:
            self = .timeOutParticipants(try reader.read())
        case Code.interrupt:
            self = .interrupt(try reader.read())
        case Code.endInterrupted:
            self = .endInterrupted(try reader.read())
        case Code.openSession:
            self = .openSession(
                client: try reader.readOptional(), timeToLive: try reader.read(), id: try reader.read(),
                token: try reader.read(), by: try reader.read())
        case Code.endSession:
            self = .endSession(try reader.read(), try reader.readWord())
        case Code.distrust:
            self = .distrust(holdsGrants: try reader.readBool())
        case Code.adopt:
            self = .adopt(try reader.readOptional())
        case Code.skipFences:
            self = .skipFences
        case Code.resume:
            self = .resume
        case Code.stop:
            self = .stop
        default:
            throw reader.malformed("a record")
        }
    }
}
