// swift-tools-version: 6.2

import PackageDescription

/// The same settings as in the main package, because ArbiterCore is written for them.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "transition-arbiter-benchmarks",
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        // The bare libmicrohttpd handler that everything is measured against.
        .executableTarget(name: "floor", linkerSettings: [.linkedLibrary("microhttpd")]),
        // The load generator: clients that race for a lock, wait in thousands, follow events.
        .executableTarget(name: "load", linkerSettings: [.linkedLibrary("pthread")]),
        // What the core's decisions cost.
        .executableTarget(name: "cost", dependencies: ["ArbiterCore"], swiftSettings: strict),
        // A symbolic link to the sources of the main package, whose `package` declarations no other package can use.
        .target(
            name: "ArbiterCore",
            dependencies: [.product(name: "Collections", package: "swift-collections")],
            swiftSettings: strict
        ),
    ]
)
