/// What a segue became at its grant, when its containers decided what it does; or another operation beside one in a list.
package struct ResolvedSegue: Hashable, Sendable {
    private let kept: KeptOperation
    package let form: Form

    /// What the operation stands for.
    package enum Form: String, Hashable, Sendable, CaseIterable {
        /// The operation itself.
        case operation
        /// `show` in a split that is not collapsed, under the first rules: `showDetail` for the primary column.
        case show
        /// The dismissal and pops that lead back to the controller that the operation, a `dismiss`, names.
        case unwind
    }

    init(_ course: Storyboard.Course) {
        let (operation, form): (Operation, Form) =
            switch course {
            case .operation(let operation): (operation, .operation)
            case .replaceColumn(_, let split, let arrival, .first):
                (.showDetail(split: split, controller: arrival), .show)
            case .replaceColumn(let column, let split, let arrival, _):
                (.setColumn(split: split, column, controller: arrival), .operation)
            case .unwind(let destination): (.dismiss(destination), .unwind)
            }
        kept = KeptOperation(operation).packed
        self.form = form
    }

    package var operation: Operation { kept.operation }
    /// See `TransitionRequest.operationOutline`.
    package var outline: Operation { kept.outline }
    package var arrivalCounts: ArrivalCounts { kept.arrivalCounts }
    /// An estimate of the bytes that it takes.
    var byteCount: Int { kept.byteCount }
}

extension ResolvedSegue: BinaryCodable {
    package func encode(to writer: inout BinaryWriter) {
        writer.writeWord(form)
        writer.write(operation)
    }

    package init(from reader: inout BinaryReader) throws(BinaryDecodingError) {
        form = try reader.readWord()
        kept = KeptOperation(try reader.read()).packed
    }
}
