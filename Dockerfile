# syntax=docker/dockerfile:1
# The program on Debian, for pipelines and clusters:
#
#   docker build --tag evaluations .
#   docker run --rm --volume evaluations:/data evaluations sample --skip-qa
#
# Runs, indexes and the hub's cache are in the volume /data. docs/install.md shows how to run it without a network.

# Debian 12 for both stages: the program needs the C library that it was linked with, or a newer one.
FROM rust:1.95-bookworm AS build
# Any version of Debian 12 will do.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends libprotobuf-dev protobuf-compiler python3 && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# The caches are no part of an image, so a later build compiles only what has changed.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    DIST=/out scripts/build-release archive && \
    mkdir /program && \
    tar --extract --gzip --strip-components=1 --directory /program --file /out/evaluations-*.tar.gz

# The commands of targets (`exec:…`) and job containers need a shell, so this is no image without one.
FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --uid 10001 --create-home evaluations && \
    install --directory --owner evaluations --group evaluations /data /data/huggingface /work
COPY --from=build /program/evaluations /usr/local/bin/evaluations
COPY --from=build /program/LICENSE /program/NOTICE /program/THIRD-PARTY.txt /usr/share/doc/evaluations/
COPY --from=build /program/crates/evals-html/fonts/LICENSE /usr/share/doc/evaluations/crates/evals-html/fonts/LICENSE
ENV EVALUATIONS_DATA_DIR=/data \
    HF_HOME=/data/huggingface
USER 10001
WORKDIR /work
VOLUME /data
ENTRYPOINT ["evaluations"]
CMD ["--help"]
