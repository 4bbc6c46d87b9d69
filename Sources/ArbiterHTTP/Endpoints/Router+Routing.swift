// From path to route.

extension Router {
    func route(for request: Request) throws(Problem) -> (Route, [String: String]) {
        // HEAD works where GET does.
        let method = request.method == "HEAD" ? "GET" : request.method
        let path = PercentEncoding.path(ofTarget: request.path)
        if let methods = plain[path] {
            if let route = methods[method] { return (route, [:]) }
            throw notAllowed(request, methods.values.map(\.method))
        }
        let matches = templates.compactMap { route in route.match(path).map { (route, $0) } }
        guard !matches.isEmpty else { throw nothing(at: request) }
        guard let match = matches.first(where: { $0.0.method == method }) else {
            throw notAllowed(request, matches.map(\.0.method))
        }
        return match
    }

    /// The methods of the path that the request goes to.
    func methods(for request: Request) throws(Problem) -> [String] {
        let path = PercentEncoding.path(ofTarget: request.path)
        let methods = plain[path].map { Array($0.keys) } ?? templates.filter { $0.match(path) != nil }.map(\.method)
        guard !methods.isEmpty else { throw nothing(at: request) }
        return Self.withHead(methods)
    }

    func nothing(at request: Request) -> Problem {
        Problem(.notFound, "There is nothing at \(quoted(request.path)); /openapi.yaml says what there is.")
    }

    private func notAllowed(_ request: Request, _ methods: [String]) -> Problem {
        var problem = Problem(
            .methodNotAllowed, "\(quoted(request.path)) does not know the method \(quoted(request.method)).")
        problem.allowedMethods = Self.withHead(methods)
        return problem
    }

    /// HEAD works where GET does.
    private static func withHead(_ methods: [String]) -> [String] {
        (methods + (methods.contains("GET") ? ["HEAD"] : [])).sorted()
    }
}
