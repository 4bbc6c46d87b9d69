internal import ArbiterEngine
internal import CMicroHTTPD

/// Knows whether bytes of clients lie in the sockets of this process's servers, because their threads are busy.
///
/// What lies in a connection that is not accepted yet, or behind a request that is not answered yet, is not known.
package struct MicroHTTPDHearing: Hearing {
    /// Hears for all servers of the process.
    package init() {}

    package var lag: Duration { .nanoseconds(arbiter_MHD_unheard()) }
}
