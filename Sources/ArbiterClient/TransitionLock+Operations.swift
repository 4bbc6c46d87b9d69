// The operations of a lock, each with a completion.

extension TransitionLock {
    /// Performs a segue of the storyboard.
    ///
    /// - Parameters:
    ///   - identifier: the segue.
    ///   - sender: its source.
    ///   - destination: what comes in instead of what the storyboard says.
    ///   - animated: whether it is drawn.
    ///   - expecting: what must hold when it is performed, as `expect` of the wire; so for all operations.
    ///   - completion: called when it has been performed; the lock is still held, if it belongs to a transition that was begun
    ///     before.
    public func performSegue(
        _ identifier: String, sender: String, to destination: ControllerNode? = nil, animated: Bool = true,
        expecting: JSONValue? = nil, @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.segue(identifier, from: sender, to: destination), animated, expecting, completion)
    }

    /// Pushes a controller onto a navigation.
    public func push(
        _ controller: ControllerNode, onto navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.push(controller, onto: navigation), animated, expecting, completion)
    }

    /// Pops the top of a navigation.
    public func pop(
        _ navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.pop(navigation), animated, expecting, completion)
    }

    /// Pops until a controller is at the top of a navigation.
    public func popTo(
        _ controller: String, of navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.popTo(controller, of: navigation), animated, expecting, completion)
    }

    /// Pops until the root is at the top of a navigation.
    public func popToRoot(
        _ navigation: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.popToRoot(navigation), animated, expecting, completion)
    }

    /// Presents a controller, modally.
    public func present(
        _ controller: ControllerNode, by presenter: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.present(controller, by: presenter), animated, expecting, completion)
    }

    /// Dismisses what a controller presents, or the layer that it is in.
    public func dismiss(
        _ controller: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.dismiss(controller), animated, expecting, completion)
    }

    /// Selects a tab by its controller.
    public func select(
        _ controller: String, of tabs: String, animated: Bool = true, expecting: JSONValue? = nil,
        @_inheritActorContext completion: @escaping Handler = { _ in }
    ) {
        ask(.select(controller, of: tabs), animated, expecting, completion)
    }

    private func ask(
        _ operation: TransitionOperation, _ isAnimated: Bool, _ expectations: JSONValue?,
        _ completion: @escaping Handler
    ) {
        if let open = openTransition(),
            let performed = open.perform(operation, expectations, isAnimated, by: perform)
        {
            Task { await finish(performed, in: open, completion) }
            return
        }
        var options = options
        options.operation = operation
        if let expectations { options.further["expect"] = .array(options.expectations + expectations.listed) }
        if !isAnimated { options.duration = .zero }
        enqueue(options, completion) { [perform] transition in
            if !transition.isNoop { try await perform(transition) }
        }
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
