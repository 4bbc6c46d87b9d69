// swift-tools-version: 6.2

import PackageDescription

/// The strictness every target of the package is built with.
let strictness: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

// ThreadSanitizer needs locks that it understands; `make sanitize` says so here.
let sanitizesThreads = Context.environment["ARBITER_SANITIZE"] == "thread"
// libFuzzer needs to see where an input leads; `make fuzz` says so here.
let fuzzes = Context.environment["ARBITER_FUZZ"] != nil
let strict =
    strictness + (sanitizesThreads ? [.define("ARBITER_SANITIZE_THREAD")] : [])
    + (fuzzes ? [.unsafeFlags(["-sanitize-coverage=edge,inline-8bit-counters,pc-table,trace-cmp"])] : [])

// What tests run millions of times is optimized in builds for debugging too.
let optimized = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

// Not all of Collections, whose larger parts take minutes to build.
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
    name: "transition-arbiter",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .executable(name: "arbiterd", targets: ["arbiterd"]),
        .executable(name: "arbiterctl", targets: ["arbiterctl"]),
        .library(name: "ArbiterClient", targets: ["ArbiterClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        // In the order a request travels: the C door, the core that decides, the engine around it, the HTTP shell.
        .target(name: "CMicroHTTPD"),
        .systemLibrary(
            name: "CGnuTLS",
            pkgConfig: "gnutls",
            providers: [.apt(["libgnutls28-dev"])]
        ),
        .systemLibrary(name: "CLinux"),
        // The files that the daemon serves.
        .target(name: "CResources"),
        .target(
            name: "ArbiterCore",
            dependencies: [deque, heap],
            swiftSettings: optimized
        ),
        .target(
            name: "ArbiterEngine",
            dependencies: ["ArbiterCore", "CLinux", deque, logging],
            swiftSettings: strict
        ),
        // Requests that another node serves, or nobody yet.
        .target(
            name: "ArbiterRelay",
            dependencies: ["ArbiterCore", "ArbiterEngine"],
            swiftSettings: strict
        ),
        .target(
            name: "ArbiterHTTP",
            dependencies: [
                "ArbiterCore", "ArbiterEngine", "ArbiterRelay", "ArbiterTransfers", "CGnuTLS", "CLinux", "CMicroHTTPD",
                "CResources",
                deque, heap, logging, yams,
            ],
            exclude: ["Page"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "arbiterd",
            dependencies: [
                "ArbiterCluster", "ArbiterCore", "ArbiterEngine", "ArbiterHTTP", "ArbiterRelay", "ArbiterTransfers",
                "CLinux", logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        // The client: on Apple's platforms nothing but Foundation, on Linux libcurl.
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-gnutls-dev"])]
        ),
        .target(
            name: "ArbiterTransfers",
            dependencies: [.target(name: "CCurl", condition: .when(platforms: [.linux]))],
            swiftSettings: strict
        ),
        // Several nodes on etcd.
        .target(
            name: "ArbiterCluster",
            dependencies: ["ArbiterCore", "ArbiterEngine", "ArbiterRelay", "ArbiterTransfers", logging],
            swiftSettings: strict
        ),
        .target(
            name: "ArbiterClient",
            dependencies: ["ArbiterTransfers"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "arbiterctl",
            dependencies: [
                "ArbiterClient", "CLinux", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "conformance-agent",
            dependencies: ["ArbiterClient"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "example-view",
            dependencies: ["ArbiterClient"],
            path: "Examples",
            exclude: [
                "README.md", "device-farm", "example.bash", "kiosk/README.md", "kiosk/page", "kiosk/run",
                "requirements.txt", "silly-transitions", "tab-bar", "transition-blocks", "transition-lock/README.md",
                "transition-lock/run", "view.py",
            ],
            swiftSettings: strict
        ),
        // For the tests: a client on the bare wire, clocks that stand still, and a process that stands in for a view.
        .target(
            name: "ArbiterTestKit",
            dependencies: ["ArbiterCore", "ArbiterEngine"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "standin-view",
            dependencies: ["ArbiterCore", "ArbiterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterCoreTests",
            dependencies: ["ArbiterCore", "ArbiterModel", "ArbiterTestKit"],
            exclude: ["Transcripts/Stories"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterEngineTests",
            dependencies: ["ArbiterCore", "ArbiterEngine", "ArbiterTestKit", logging],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterRelayTests",
            dependencies: ["ArbiterCore", "ArbiterEngine", "ArbiterRelay", "ArbiterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterClusterTests",
            dependencies: [
                "ArbiterCluster", "ArbiterCore", "ArbiterEngine", "ArbiterRelay", "ArbiterTestKit", "ArbiterTransfers",
                logging,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterTransfersTests",
            dependencies: ["ArbiterEngine", "ArbiterTestKit", "ArbiterTransfers"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterHTTPTests",
            dependencies: [
                "ArbiterCore", "ArbiterEngine", "ArbiterHTTP", "ArbiterRelay", "ArbiterTestKit", "ArbiterTransfers",
                logging, yams,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterClientTests",
            dependencies: ["ArbiterClient", "ArbiterEngine", "ArbiterTestKit", "ArbiterTransfers", "arbiterd"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArbiterTestKitTests",
            dependencies: ["ArbiterTestKit"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "ArbiterCore", "ArbiterEngine", "ArbiterHTTP", "ArbiterRelay", "ArbiterTestKit", "arbiterd", logging,
                "standin-view",
            ],
            swiftSettings: strict
        ),
        // The naive model of the rules, which the core's tests compare with the core as well.
        .target(
            name: "ArbiterModel",
            dependencies: ["ArbiterCore"],
            swiftSettings: optimized
        ),
        .target(
            name: "ArbiterSimulation",
            dependencies: ["ArbiterCore", "ArbiterEngine", "ArbiterModel", "ArbiterTestKit", logging],
            swiftSettings: optimized
        ),
        .target(
            name: "ArbiterClusterSimulation",
            dependencies: [
                "ArbiterCluster", "ArbiterCore", "ArbiterEngine", "ArbiterRelay", "ArbiterSimulation", "ArbiterTestKit",
                heap, logging,
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "simulate",
            dependencies: ["ArbiterClusterSimulation", "ArbiterSimulation"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["ArbiterClusterSimulation", "ArbiterEngine", "ArbiterModel", "ArbiterSimulation"],
            path: "Tests/SimulationTests",
            swiftSettings: strict
        ),
    ]
)

// `make fuzz` builds one target more, with libFuzzer in it; it is of no use to anybody else.
if fuzzes {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["ArbiterCore", "ArbiterEngine", "ArbiterHTTP", "ArbiterRelay", logging],
            swiftSettings: strict + [.unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]
        ))
}
