/// What is known of the program itself.
enum Tool {
    static let version = "0.1.0"
}
