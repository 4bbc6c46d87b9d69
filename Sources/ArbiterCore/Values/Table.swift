/// A dictionary whose values are changed in place.
///
/// The values are elements of an array, and a key leads to the index of its value. `Dictionary` changes a value through
/// a coroutine with a frame as large as the value, which it allocates for every change.
///
/// The accessors have a single `yield` each and nothing to do after it, and change the array through a span: so they are
/// inlined and need no frame. The type is public, because the compiler specializes no inlinable declaration of the package
/// in another module.
@frozen public struct Table<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline var indices: [Key: Int] = [:]
    /// The values; the first one is never there, and stands for what a missing key leads to.
    @usableFromInline var slots: ContiguousArray<Value?> = [nil]
    /// The indices without a value, to be used again.
    @usableFromInline var vacant: [Int] = []

    /// A table without values.
    @inlinable public init() {}

    package var count: Int { indices.count }

    package var isEmpty: Bool { indices.isEmpty }

    package var keys: some Collection<Key> { indices.keys }

    package var values: some Sequence<Value> { lazy.map(\.value) }

    /// The value of a key; `nil` if there is none, and to remove it.
    ///
    /// A value is inserted or removed only by an assignment; a change in place (`table[key]?.count += 1`) does neither.
    @inlinable public subscript(key: Key) -> Value? {
        @inline(__always) _read {
            let index = indices[key] ?? 0
            yield slots.span[index]
        }
        @inline(__always) _modify {
            let index = indices[key] ?? 0
            var span = slots.mutableSpan
            yield &span[index]
        }
        set {
            if let newValue {
                slots[index(of: key)] = newValue
            } else {
                removeValue(forKey: key)
            }
        }
    }

    /// Whether a key has a value; asked so, the value is not copied.
    @inlinable public func contains(_ key: Key) -> Bool { indices[key] != nil }

    /// Removes the value of a key.
    ///
    /// - Returns: the value; `nil` if there was none.
    @discardableResult
    @inlinable public mutating func removeValue(forKey key: Key) -> Value? {
        guard let index = indices.removeValue(forKey: key) else { return nil }
        vacant.append(index)
        return slots[index].take()
    }

    /// The index of a key's value, which is not there yet if the key is new.
    @usableFromInline mutating func index(of key: Key) -> Int {
        if let index = indices[key] { return index }
        let index = vacant.popLast() ?? slots.count
        if index == slots.count { slots.append(nil) }
        indices[key] = index
        return index
    }
}

extension Table: Sequence {
    /// A key with its value.
    public typealias Element = (key: Key, value: Value)

    /// The keys and values, in no order that has a meaning.
    public func makeIterator() -> some IteratorProtocol<Element> {
        indices.lazy.compactMap { key, index in slots[index].map { (key: key, value: $0) } }.makeIterator()
    }
}

extension Table: Equatable where Value: Equatable {
    /// Whether both have the same values for the same keys.
    public static func == (left: Table, right: Table) -> Bool {
        left.count == right.count && left.allSatisfy { key, value in right[key] == value }
    }
}
