ARG SWIFT_IMAGE=swift:6.3-bookworm
ARG RUNTIME_IMAGE=debian:bookworm-slim

FROM ${SWIFT_IMAGE} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl4-gnutls-dev libgnutls28-dev libmicrohttpd-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# The build folder is kept from one build of the image to the next, so that only what changed is compiled again.
RUN --mount=type=cache,id=transition-arbiter-build,target=/build/.build,sharing=locked \
    scripts/build-release arbiterd arbiterctl \
    && install -D --strip --target-directory /out .build/release/arbiterd .build/release/arbiterctl

FROM ${RUNTIME_IMAGE}
LABEL org.opencontainers.image.title="Transition Arbiter" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl3-gnutls libgnutls30 libmicrohttpd12 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin arbiter \
    && install -d -o arbiter -g arbiter -m 0700 /data
COPY --from=build /out/arbiterd /out/arbiterctl /usr/local/bin/
USER arbiter
WORKDIR /data
# A container's own loopback can't be published, so the daemon listens on every address of the container;
# whoever publishes the port decides who reaches it.
ENV ARBITERD_LISTEN=0.0.0.0:8080 \
    ARBITERD_DATA=/data \
    ARBITERD_INSECURE=true \
    ARBITERD_LOG_FORMAT=json
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["bash", "-c", "\
    exec 3<>/dev/tcp/127.0.0.1/${ARBITERD_LISTEN##*:} \
    && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 \
    && read -r _ status _ <&3 && [[ $status == 200 ]]"]
ENTRYPOINT ["arbiterd"]
