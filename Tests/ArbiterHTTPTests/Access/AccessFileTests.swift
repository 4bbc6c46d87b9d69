import Testing

@testable import ArbiterCore
@testable import ArbiterHTTP

/// A file of two entries, by what is special in them.
private func both(_ first: String, _ second: String) -> String {
    "principals: [{\(first), roles: observe, scenes: a}, {\(second), roles: observe, scenes: a}]"
}

private let digest = SecretDigest(of: "secret")

struct AccessFileTests {

    private func table(_ fields: String...) throws -> AccessTable {
        try AccessFile.table("principals:\n  - " + fields.joined(separator: "\n    "))
    }

    @Test func `an entry says what a client is known by, and what it may do`() throws {
        let table = try table(
            "name: kiosk", "token: \(digest)", "roles: [observe, transition]", "scenes: [main, kiosk-*]")
        let entry = try #require(table.entries.first)
        #expect(entry.name == "kiosk")
        #expect(entry.proof == .token([digest]))
        #expect(entry.roles == [.observe, .transition])
        #expect(entry.scenes.contains(SceneName(unchecked: "kiosk-7")))
        #expect(!entry.scenes.contains(SceneName(unchecked: "garage")))
        let permission = try #require(table.permission(ofSecret: "secret"))
        #expect(permission.caller.principal?.description == "token:kiosk")
        #expect(table.permission(ofSecret: "Secret") == nil)
        #expect(table.permission(ofSecret: "") == nil)
    }

    @Test func `SHA-256 is that of the standard`() {
        // FIPS 180-4, the example of one block.
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(SecretDigest(of: "abc").description == expected)
        #expect(SecretDigest(expected) == SecretDigest(of: "abc"))
        #expect(SecretDigest(of: "abd") != SecretDigest(of: "abc"))
    }

    @Test(arguments: [
        "", "sha256:", "ba7816bf", "sha256:" + String(repeating: "g", count: 64),
        "sha256:" + String(repeating: "a", count: 63), "sha256:" + String(repeating: "a", count: 65), "sha1:00",
    ])
    func `what is no digest is refused`(text: String) {
        #expect(SecretDigest(text) == nil)
    }

    @Test func `a user's own entry counts before those of its groups, and of those the first`() throws {
        let table = try AccessFile.table(
            """
            principals:
              - {name: first, group: 7, roles: observe, scenes: a}
              - {name: second, group: 8, roles: admin, scenes: b}
              - {name: own, user: 1000, roles: design, scenes: "*"}
            """)
        let own = try #require(table.permission(of: LocalUser(user: 1000, groups: [7, 8])))
        try own.check(.design)
        #expect(own.caller.principal?.description == "uid:1000")
        let member = try #require(table.permission(of: LocalUser(user: 1001, groups: [8, 7])))
        try member.check(.observe)
        #expect(throws: Problem.self) { try member.check(.admin) }
        #expect(member.caller.principal?.description == "uid:1001")
        #expect(table.permission(of: LocalUser(user: 1002, groups: [9])) == nil)
        let users = ["root", "0"].compactMap {
            try? self.table("name: r", "user: \($0)", "roles: admin", "scenes: \"*\"")
        }
        #expect(users.map { $0.entries.first?.proof } == [.user(0), .user(0)])
    }

    @Test(
        arguments: [
            ("principal: []", "there is no entry principal: did you mean principals?"),
            ("principals: {}", "principals must be a list"),
            ("principals: [{roles: observe, scenes: a, user: 1}]", "the entry has no name"),
            ("principals: [{name: a b, roles: observe, scenes: a, user: 1}]", "name must be"),
            (
                "principals: [{name: a, roles: observe, scenes: a}]",
                "a must have either token, user, group or certificate"
            ),
            ("principals: [{name: a, user: 1, group: 1, roles: observe, scenes: a}]", "a must have either"),
            ("principals: [{name: a, user: 1, scenes: a}]", "a has no roles"),
            ("principals: [{name: a, user: 1, roles: observe}]", "a has no scenes"),
            ("principals: [{name: a, user: 1, roles: root, scenes: a}]", "there is no role root"),
            ("principals: [{name: a, user: 1, roles: observe, scenes: 'a b'}]", "scenes must be names"),
            ("principals: [{name: a, user: no-such-user, roles: observe, scenes: a}]", "there is no user no-such-user"),
            ("principals: [{name: a, group: no-such, roles: observe, scenes: a}]", "there is no group no-such"),
            ("principals: [{name: a, token: hunter2, roles: observe, scenes: a}]", "token must be sha256:"),
            ("principals: [{name: a, tokn: x, roles: observe, scenes: a}]", "did you mean token?"),
            ("principals: [{name: a, user: 1, roles: [], scenes: a}]", "roles must name at least one role"),
            ("principals: [{name: a, certificate: '', roles: observe, scenes: a}]", "certificate must be"),
            ("principals: [{name: a, user: 1, roles: observe, scenes: []}]", "scenes must be 1 to 100"),
            ("principals: [{name: a, user: 1, roles: observe, scenes: a, maxPriority: 1001}]", "maxPriority must be"),
            ("principals: [{name: a, user: 1, roles: observe, scenes: a, maxPriority: high}]", "maxPriority must be"),
            (
                "principals: [{name: a, user: 1, roles: observe, scenes: [\(String(repeating: "x,", count: 101))]}]",
                "scenes must be 1 to 100"
            ),
            (both("name: a, user: 1", "name: a, user: 2"), "several entries with the name a"),
            (both("name: a, user: 0", "name: b, user: root"), "b has the same user as a"),
            (both("name: a, group: 0", "name: b, group: root"), "b has the same group as a"),
            (both("name: a, certificate: x", "name: b, certificate: x"), "b has the same certificate as a"),
            (both("name: a, token: '\(digest)'", "name: b, token: '\(digest)'"), "b has the same token as a"),
            (both("name: a, token: ['\(digest)', '\(digest)']", "name: b, user: 1"), "a has the same token as a"),
        ])
    func `what is wrong is said, and never a secret`(text: String, reason: String) {
        do throws(SettingsFile.Malformed) {
            _ = try AccessFile.table(text)
            Issue.record("it is read")
        } catch {
            #expect(error.reason.contains(reason), "\(error.reason)")
            #expect(!error.reason.contains("hunter2"))
            #expect(error.line == 1)
        }
    }

    @Test func `entries are appended to a file, and read back`() throws {
        var text = ""
        for (name, field, value) in [
            ("kiosk", "token", digest.description), ("root", "user", "root"), ("hmi", "certificate", #"a "b\c"#),
        ] {
            let entry = AccessFileText.entry(
                name: name, proof: (field, value), roles: ["observe", "admin"], scenes: ["main", "a-*"],
                highestPriority: name == "root" ? -3 : nil)
            text = try AccessFileText.appending(entry, to: text)
        }
        #expect(
            try AccessFileText.lines(of: text) == [
                "kiosk  token  observe,admin  main,a-*", "root  user 0  observe,admin  main,a-*  maxPriority -3",
                #"hmi  certificate a "b\c  observe,admin  main,a-*"#,
            ])
    }

    @Test(arguments: [
        "# mine\nprincipals:\n", "principals: []", "principals:\n  - {name: kiosk, user: 1, roles: admin, scenes: a}",
    ])
    func `an entry that cannot be appended changes nothing`(text: String) {
        let entry = AccessFileText.entry(name: "kiosk", proof: ("user", "1"), roles: ["observe"], scenes: ["*"])
        let result = try? AccessFileText.appending(entry, to: text)
        #expect((result == nil) == (text != "# mine\nprincipals:\n"))
    }

    @Test func `an entry for a user that has one is refused with both names`() throws {
        let file = "principals:\n  - {name: a, user: 0, roles: admin, scenes: a}\n"
        let entry = AccessFileText.entry(name: "b", proof: ("user", "root"), roles: ["admin"], scenes: ["a"])
        do throws(SettingsFile.Malformed) {
            _ = try AccessFileText.appending(entry, to: file)
            Issue.record("it is appended")
        } catch {
            #expect(error.reason == "b has the same user as a")
            #expect(error.line == nil)
        }
    }

    @Test func `secrets are drawn, and are long`() {
        let secrets = (0..<100).map { _ in Secret.draw() }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.hasPrefix("arbiter_") && $0.count == 8 + 64 })
    }
}
