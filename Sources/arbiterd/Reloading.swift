internal import ArbiterHTTP
internal import Logging

/// Reads the files again that the settings name, when the daemon gets SIGHUP.
struct Reloading {
    let options: Options
    let access: AccessControl
    let hub: EventHub
    let logger: Logger

    /// A file that is wrong changes nothing.
    func reload() {
        guard let path = options.access else { return logger.notice("there is nothing to reload") }
        do throws(SettingsFile.Malformed) {
            try access.replace(with: SettingsFile.read(path, upTo: AccessFile.fileBytes))
            hub.endRevoked()
            logger.notice(
                "the access file has been read again",
                metadata: ["file": "\(path)", "entries": "\(access.entryCount ?? 0)"])
        } catch {
            logger.error(
                "the access file is wrong, and the entries stay as they were: \(error.description(in: path))")
        }
    }
}
