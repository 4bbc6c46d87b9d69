/// `/`, and what it is made of: the page for people, which needs nothing from elsewhere.
enum PageEndpoints {
    /// What the page may do: run its own scripts, and talk to the daemon.
    private static let headers = [
        HeaderField(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        HeaderField("X-Content-Type-Options", "nosniff"),
        HeaderField("Referrer-Policy", "no-referrer"),
    ]

    @Sendable static func show(_ call: Call) throws(Problem) {
        respond(call, .html, PackageResources.page_html)
    }

    @Sendable static func style(_ call: Call) throws(Problem) {
        respond(call, .css, PackageResources.page_css)
    }

    @Sendable static func script(_ call: Call) throws(Problem) {
        respond(call, .javascript, PackageResources.page_js)
    }

    @Sendable static func module(_ call: Call) throws(Problem) {
        let name = call.parameters["module"] ?? ""
        guard let bytes = modules[name] else {
            throw Problem(.notFound, "The page has no module \(quoted(name)).")
        }
        respond(call, .javascript, bytes)
    }

    /// The header fields of a refusal at a path: a browser must not take one for the page, or for a part of it, either.
    static func headersOfRefusal(at path: String) -> [HeaderField] {
        path == "/" || path == "/page.css" || path == "/page.js" || path.hasPrefix("/page/") ? headers : []
    }

    private static func respond(_ call: Call, _ type: ContentType, _ body: [UInt8]) {
        call.respond(Response(200, type, body: body, headers: headers))
    }

    /// The modules that the script imports, by their names.
    private static let modules: [String: [UInt8]] = [
        "actions.js": PackageResources.actions_js,
        "answers.js": PackageResources.answers_js,
        "blockers.js": PackageResources.blockers_js,
        "cluster-view.js": PackageResources.cluster_view_js,
        "dom.js": PackageResources.dom_js,
        "hierarchy.js": PackageResources.hierarchy_js,
        "lanes-view.js": PackageResources.lanes_view_js,
        "limits.js": PackageResources.limits_js,
        "live.js": PackageResources.live_js,
        "messages.js": PackageResources.messages_js,
        "model.js": PackageResources.model_js,
        "names.js": PackageResources.names_js,
        "now-view.js": PackageResources.now_view_js,
        "own-transitions.js": PackageResources.own_transitions_js,
        "past-view.js": PackageResources.past_view_js,
        "record-view.js": PackageResources.record_view_js,
        "recording-form.js": PackageResources.recording_form_js,
        "recording-order.js": PackageResources.recording_order_js,
        "recording.js": PackageResources.recording_js,
        "scenes-view.js": PackageResources.scenes_view_js,
        "start-dialog.js": PackageResources.start_dialog_js,
        "storyboard-dialog.js": PackageResources.storyboard_dialog_js,
        "timeline-drawing.js": PackageResources.timeline_drawing_js,
        "timeline-rows.js": PackageResources.timeline_rows_js,
        "timeline-view.js": PackageResources.timeline_view_js,
        "tree-view.js": PackageResources.tree_view_js,
        "unfinished.js": PackageResources.unfinished_js,
        "verdict.js": PackageResources.verdict_js,
        "wires-view.js": PackageResources.wires_view_js,
        "words.js": PackageResources.words_js,
    ]
}
