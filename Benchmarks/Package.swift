// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "transition-arbiter-benchmarks",
    targets: [
        // The bare libmicrohttpd handler that everything is measured against.
        .executableTarget(name: "floor", linkerSettings: [.linkedLibrary("microhttpd")]),
        // Clients that start and end transitions as fast as they can.
        .executableTarget(name: "cycles", linkerSettings: [.linkedLibrary("pthread")]),
        // Clients that wait, by the thousand.
        .executableTarget(name: "parked", dependencies: ["wire"]),
        // Clients that are killed, and clients that follow a scene.
        .executableTarget(name: "handover", dependencies: ["wire"]),
        .target(name: "wire"),
    ]
)
