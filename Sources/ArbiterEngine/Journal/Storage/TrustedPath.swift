internal import Foundation
internal import Glibc

/// Refuses paths with a symbolic link that another user made.
///
/// A user who can place a link where the journal is expected could otherwise make a daemon with more rights write to
/// another file.
enum TrustedPath {
    /// The number of links that Linux follows (path_resolution(7)).
    private static let linksFollowed = 40

    /// The path with all symbolic links resolved; a part that does not exist stays as it is.
    ///
    /// - Throws: `JournalError` if a link in the path belongs neither to this process's user nor to root.
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

    /// The destination of a symbolic link; `nil` for any other file.
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
}
