// The operations of a lock, each with a completion.

extension TransitionLock {
    /// Performs an operation.
    ///
    /// - Parameters:
    ///   - operation: what it does to the hierarchy.
    ///   - animated: whether it is drawn.
    ///   - expecting: what must hold when it is performed, as `expect` of the wire; so for all operations.
    ///   - completion: called when it has been performed; the lock is still held, if it belongs to a transition that was begun
    ///     before.
    public func perform(
        _ operation: TransitionOperation, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        if let open = openTransition(), let performed = open.perform(operation, expecting, animated, by: draw) {
            Task { await finish(performed, in: open, completion) }
            return
        }
        var options = options
        options.operation = operation
        if let expecting { options.further["expect"] = .array(options.expectations + expecting.listed) }
        if !animated { options.duration = .zero }
        enqueue(options, completion) { [draw] transition in
            if !transition.isNoop { try await draw(transition) }
        }
    }

    /// Performs a segue of the storyboard from a source; `destination` comes in instead of what the storyboard says.
    public func performSegue(
        _ identifier: String, sender: String, to destination: ControllerNode? = nil, animated: Bool = true,
        expecting: JSONValue? = nil, @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(
            .segue(identifier, from: sender, to: destination), animated: animated, expecting: expecting,
            completion: completion)
    }

    /// Pushes a controller onto a navigation.
    public func push(
        _ controller: ControllerNode, onto navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.push(controller, onto: navigation), animated: animated, expecting: expecting, completion: completion)
    }

    /// Pops the top of a navigation.
    public func pop(
        _ navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.pop(navigation), animated: animated, expecting: expecting, completion: completion)
    }

    /// Pops until a controller is at the top of a navigation.
    public func popTo(
        _ controller: String, of navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.popTo(controller, of: navigation), animated: animated, expecting: expecting, completion: completion)
    }

    /// Pops until the root is at the top of a navigation.
    public func popToRoot(
        _ navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.popToRoot(navigation), animated: animated, expecting: expecting, completion: completion)
    }

    /// Presents a controller, modally; without a presenter, over the controller in front.
    public func present(
        _ controller: ControllerNode, by presenter: String? = nil, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.present(controller, by: presenter), animated: animated, expecting: expecting, completion: completion)
    }

    /// Dismisses what a controller presents, or the layer that it is in.
    public func dismiss(
        _ controller: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.dismiss(controller), animated: animated, expecting: expecting, completion: completion)
    }

    /// Selects a tab by its controller.
    public func select(
        _ controller: String, of tabs: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        perform(.select(controller, of: tabs), animated: animated, expecting: expecting, completion: completion)
    }

    /// Calls the completion of an operation of a transition that was begun without one.
    private func finish(
        _ performed: Task<[String], any Error>, in open: OpenTransition, _ completion: Handler
    ) async {
        let result: Completion
        switch await performed.result {
        case .success(let removed): result = .finished(removed: removed)
        case .failure(let error): result = .cancelled(error)
        }
        await Self.$current.withValue(open) { await completion(result) }
    }
}

extension TransitionOptions {
    /// What must hold, as a list.
    fileprivate var expectations: [JSONValue] { further["expect"]?.listed ?? [] }
}

extension JSONValue {
    /// Its elements, if it is a list; otherwise itself.
    fileprivate var listed: [JSONValue] { array ?? [self] }
}
