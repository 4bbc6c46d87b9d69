/// What is known of the program itself.
enum Tool {
    static let version = "0.1.0"

    /// Checks that the arguments begin with the name of the program.
    ///
    /// - Throws: `Failure` if it is empty, as Linux makes it where there are no arguments at all (execve(2)), or an option,
    ///   which would not be read as one.
    static func checkName() throws(Failure) {
        guard let name = CommandLine.arguments.first, !name.isEmpty, !name.hasPrefix("-") else {
            throw Failure(code: Exit.misused, text: "the name of the program is missing before its arguments (argv[0])")
        }
    }
}
