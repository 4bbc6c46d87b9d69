internal import Foundation
internal import Glibc

/// Paths without a symbolic link that another user made.
///
/// Who can put a link where the journal is expected could otherwise have a daemon with more rights write elsewhere.
enum TrustedPath {
    /// As many as Linux follows (path_resolution(7)).
    private static let linksFollowed = 40

    /// The same place, by a path without symbolic links; what is not there stays as it is.
    ///
    /// - Throws: `JournalError` if a link on the way belongs neither to this process's user nor to root.
    static func resolve(_ path: String) throws(JournalError) -> String {
        var rest = path.split(separator: "/").map(String.init)
        rest.reverse()
        var resolved =
            path.hasPrefix("/")
            ? [] : FileManager.default.currentDirectoryPath.split(separator: "/").map(String.init)
        var links = 0
        while let name = rest.popLast() {
            guard name != "." else { continue }
            guard name != ".." else {
                _ = resolved.popLast()
                continue
            }
            let place = "/" + (resolved + [name]).joined(separator: "/")
            guard let target = try target(of: place) else {
                resolved.append(name)
                continue
            }
            links += 1
            guard links <= linksFollowed else { throw JournalError(reason: "\(path) leads through too many links") }
            if target.hasPrefix("/") { resolved = [] }
            rest += target.split(separator: "/").map(String.init).reversed()
        }
        return "/" + resolved.joined(separator: "/")
    }

    /// Where a link leads; `nil` for anything else.
    private static func target(of path: String) throws(JournalError) -> String? {
        var status = Glibc.stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw JournalError(
                reason: "\(path) is a symbolic link that another user made: remove it, or name the place itself")
        }
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else {
            throw JournalError(reason: "\(path) is a symbolic link that cannot be read")
        }
        return target
    }

    /// - Throws: `JournalError` if there is a link at any of these places.
    static func expectNoLinks(at paths: [String]) throws(JournalError) {
        for path in paths {
            var status = Glibc.stat()
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { continue }
            throw JournalError(reason: "\(path) is a symbolic link, and no journal has one there: remove it")
        }
    }
}
