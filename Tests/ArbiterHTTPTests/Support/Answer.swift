import ArbiterCore
import Testing

@testable import ArbiterHTTP

/// A response, after what is true of every response has been checked.
struct Answer {
    let response: Response
    let body: JSON

    var status: Int { response.status }

    init(_ response: Response, sourceLocation: SourceLocation) throws {
        self.response = response
        guard response.contentType != nil else {
            body = .null
            #expect([204, 304].contains(response.status) && response.body.isEmpty, sourceLocation: sourceLocation)
            try checkHeaders(sourceLocation)
            return
        }
        guard response.contentType == .json || response.contentType == .problem else {
            body = .null
            try checkHeaders(sourceLocation)
            return
        }
        body = try JSON(response.body)
        try checkHeaders(sourceLocation)
        let isProblem = response.status >= 400
        #expect((response.contentType == .problem) == isProblem, sourceLocation: sourceLocation)
        if isProblem { checkProblem(sourceLocation) }
    }

    /// The values of a header field.
    func headers(_ name: String) -> [String] {
        response.allHeaders.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The code of a problem.
    var code: String? { body["code"]?.text }
    /// The field that a problem names.
    var field: String? { body["field"]?.text }

    private func checkHeaders(_ sourceLocation: SourceLocation) throws {
        #expect(headers("Cache-Control") == ["no-store"], sourceLocation: sourceLocation)
        let ids = headers("X-Request-Id")
        #expect(ids.count == 1 && ids.first?.isEmpty == false, sourceLocation: sourceLocation)
    }

    /// RFC 9457, and what api.md says of it.
    private func checkProblem(_ sourceLocation: SourceLocation) {
        let code = Problem.Code(rawValue: code ?? "")
        #expect(body["type"]?.text == "urn:arbiter:problem:\(self.code ?? "")", sourceLocation: sourceLocation)
        #expect(code?.statuses.contains(status) == true, sourceLocation: sourceLocation)
        #expect(body["status"]?.number == Double(status), sourceLocation: sourceLocation)
        #expect(body["title"]?.text?.isEmpty == false, sourceLocation: sourceLocation)
        // UIKit's own words end as they do.
        let isUIKits = OperationRefusal.Code(rawValue: self.code ?? "") != nil
        #expect(isUIKits || body["detail"]?.text?.hasSuffix(".") == true, "\(body)", sourceLocation: sourceLocation)
        let retry = headers("Retry-After")
        #expect(retry.isEmpty == (body["retryAfter"] == nil), sourceLocation: sourceLocation)
        #expect(retry.isEmpty == ![429, 503].contains(status), sourceLocation: sourceLocation)
        if let seconds = body["retryAfter"]?.number {
            #expect(retry == ["\(Int(seconds))"], sourceLocation: sourceLocation)
        }
    }
}
