# One program of this repository, built statically: the worker, or what the
# build argument PACKAGE names.
#
#   docker build -t effectonce-worker .
#   docker build -t effectonce-provider --build-arg PACKAGE=./internal/provider/cmd/provider .

FROM golang:1.26.8-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG PACKAGE=./worker
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/program "$PACKAGE"

# Alpine rather than an empty image: health checks use its wget and netstat.
FROM alpine:3.22.2
RUN addgroup -S -g 10001 effectonce \
    && adduser -S -D -H -u 10001 -G effectonce effectonce \
    && mkdir /data && chown effectonce:effectonce /data
COPY --from=build /out/program /usr/local/bin/program
USER 10001:10001
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/program"]
