// Storyboards, animations, expectations, and what became of transitions.

extension Storyboard: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(hierarchy)
        writer.write(segues)
        writer.write(transitionTypes)
        writer.write(defaults.duration)
        writer.writeWord(defaults.curve)
        writer.write(defaults.lease)
        writer.writeWord(defaults.scope)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        let hierarchy: Hierarchy = try reader.read()
        let segues: [Segue] = try reader.readArray()
        let types: [TransitionType] = try reader.readArray()
        let defaults = Defaults(
            duration: try reader.read(), curve: try reader.readWord(), lease: try reader.read(),
            scope: try reader.readWord())
        do throws(StoryboardFault) {
            try self.init(hierarchy: hierarchy, segues: segues, transitionTypes: types, defaults: defaults)
        } catch {
            throw reader.malformed("a storyboard: \(error)")
        }
    }
}

extension Segue: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(identifier)
        writer.write(source)
        writer.writeWord(kind)
        writer.write(destination)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            identifier: try reader.read(), source: try reader.read(), kind: try reader.readWord(),
            destination: try reader.read())
    }
}

extension TransitionType: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(name)
        writer.write(duration)
        writer.writeWord(curve)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(name: try reader.read(), duration: try reader.readOptional(), curve: try reader.readOptionalWord())
    }
}

extension AnimationRequest: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(type)
        writer.write(duration)
        writer.writeWord(curve)
        writer.write(completionSpeed)
        writer.write(bytes: userInfo)
        writer.write(isReversed)
        writer.writeWord(direction)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            type: try reader.readOptional(), duration: try reader.readOptional(), curve: try reader.readOptionalWord(),
            completionSpeed: try reader.readOptional(), userInfo: try reader.readOptionalBytes(),
            isReversed: try reader.readOptional(), direction: try reader.readOptionalWord())
    }
}

extension Animation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(type)
        writer.write(duration)
        writer.writeWord(curve)
        writer.write(completionSpeed)
        writer.write(bytes: userInfo)
        writer.write(isReversed)
        writer.writeWord(direction)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(
            type: try reader.readOptional(), duration: try reader.read(), curve: try reader.readWord(),
            completionSpeed: try reader.read(), userInfo: try reader.readOptionalBytes(),
            isReversed: try reader.readBool(), direction: try reader.readWord())
    }
}

extension Expectation: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .controller(let controller, let condition):
            writer.write(UInt8(0))
            writer.write(controller)
            writer.writeWord(condition)
        case .revision(let revision):
            writer.write(UInt8(1))
            writer.write(revision)
        }
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        switch try reader.read(UInt8.self) {
        case 0: self = .controller(try reader.read(), is: try reader.readWord())
        case 1: self = .revision(try reader.read())
        default: throw reader.malformed("an expectation")
        }
    }
}

extension AppearanceEvent: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(controller)
        writer.writeWord(change)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(try reader.read(), try reader.readWord())
    }
}

extension Transition.Change: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.write(revision)
        writer.write(inserted)
        writer.write(removed)
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        self.init(revision: try reader.read(), inserted: try reader.readArray(), removed: try reader.readArray())
    }
}

extension Rejection: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        switch self {
        case .expectationFailed(let failure):
            writer.write(UInt8(0))
            writer.write(failure.expectation)
            writer.write(failure.actual)
        case .invalidOperation(let refusal):
            writer.write(UInt8(1))
            writer.writeWord(refusal.code)
            writer.write(refusal.detail)
        case .scopeGone(let controller):
            writer.write(UInt8(2))
            writer.write(controller)
        }
    }

    package init(from reader: inout BinaryReader) throws(DecodingError) {
        switch try reader.read(UInt8.self) {
        case 0:
            self = .expectationFailed(
                FailedExpectation(expectation: try reader.read(), actual: try reader.readText()))
        case 1:
            self = .invalidOperation(OperationRefusal(code: try reader.readWord(), detail: try reader.readText()))
        case 2: self = .scopeGone(try reader.read())
        default: throw reader.malformed("a rejection")
        }
    }
}
