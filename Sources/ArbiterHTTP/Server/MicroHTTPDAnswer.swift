/// An answer for libmicrohttpd to send.
enum MicroHTTPDAnswer {
    case response(Response)
    /// The answer to `HEAD` where `GET` would stream.
    case headOfStream(Response)
    /// A head, and a body that libmicrohttpd pulls.
    case stream(Response, MicroHTTPDStream)
}
