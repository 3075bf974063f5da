# syntax=docker/dockerfile:1
# The images of a release: goreleaser builds them from the binaries of its archives. deploy/Dockerfile builds the same
# images from the sources.

# The directory that the controller writes to.
FROM --platform=$BUILDPLATFORM debian:12-slim AS data
RUN mkdir /data

FROM debian:12-slim AS up
ARG TARGETPLATFORM
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl git jq && rm -rf /var/lib/apt/lists/*
COPY deploy/ci/*.sh /usr/local/bin/
COPY $TARGETPLATFORM/headgate /usr/local/bin/headgate
COPY --from=data --chown=65532:65532 /data /data
ENV XDG_STATE_HOME=/data
USER 65532:65532
ENTRYPOINT ["headgate"]

FROM gcr.io/distroless/static-debian12:nonroot AS controller
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/headgate /usr/local/bin/headgate
COPY --from=data --chown=65532:65532 /data /data
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/headgate"]
CMD ["controller", "--serve=flux"]
